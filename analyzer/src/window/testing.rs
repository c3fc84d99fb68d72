//! Short spellings for tests: a series of permutations as letters.

/// One label for each letter; `A` is 0.
pub(crate) fn labels(text: &str) -> Vec<u32> {
    text.bytes().map(|byte| u32::from(byte - b'A')).collect()
}
