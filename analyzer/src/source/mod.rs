//! Where bytes come from: files, folders, globs, archives and standard input, opened one at a time and never trusted.
