//! The report `fate-report/1`: assembled once, then printed as text, JSON or Markdown.
//!
//! [`assemble`] turns histories into [`model::Report`]; the printers are pure functions of that
//! model, so that everything a person reads also stands in the JSON.

mod assemble;
pub mod json;
pub mod markdown;
pub mod model;
mod number;
mod phrase;
pub mod text;
pub mod write;

pub use assemble::{Facts, assemble};
pub use model::Report;
pub use text::Style;
