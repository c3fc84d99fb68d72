//! The command line: raw arguments, one function for each command, exit codes.
