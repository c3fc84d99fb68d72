//! Rows of all files become one history per test: its executions in run order, with what each failure saw.
