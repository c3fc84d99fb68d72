//! The report `fate-report/1`: assembled once, then printed as text, JSON or Markdown.
