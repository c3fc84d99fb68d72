//! The list of complaint codes: what each means and what to do about it.
