//! Which run a file belongs to: manifest, folder layout, CI variables, times inside the file; first that applies, field by field.
