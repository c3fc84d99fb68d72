//! The folder layout `<run-id>/<attempt>/<job>/…`.

/// Reads run id, attempt and job out of a path below the PATH argument.
///
/// Applies only where the file lies in at least three folders and the second is a positive integer
/// in digits; otherwise folders mean nothing and `None` is returned.
pub fn layout(below: &str) -> Option<(&str, u32, &str)> {
    let mut parts = below.split('/');
    let (run_id, attempt, job) = (parts.next()?, parts.next()?, parts.next()?);
    parts.next()?;
    if run_id.is_empty() || job.is_empty() || !attempt.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match attempt.parse() {
        Ok(attempt @ 1..) => Some((run_id, attempt, job)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::layout;

    #[test]
    fn three_folders_with_a_positive_attempt() {
        assert_eq!(layout("17/2/unit/x.log"), Some(("17", 2, "unit")));
        assert_eq!(layout("abc/1/unit/deep/er/x.log"), Some(("abc", 1, "unit")));
    }

    #[test]
    fn anything_else_means_nothing() {
        for below in [
            "",
            "x.log",
            "17/2/x.log",
            "17/0/unit/x.log",
            "17/+1/unit/x.log",
            "17/one/unit/x.log",
            "/1/unit/x.log",
            "17//unit/x.log",
            "17/99999999999/unit/x.log",
        ] {
            assert_eq!(layout(below), None, "{below}");
        }
    }
}
