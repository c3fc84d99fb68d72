//! Names by pattern: `*` stands for any run of characters, `?` for one.

/// Says whether `name` matches `pattern` as a whole.
///
/// `*` also crosses `/`, because hub names are not paths: `orders*` means every shard of orders.
/// Runs in O(pattern × name), without recursion, so a hostile pattern costs no stack.
pub fn glob_matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    let (mut p, mut n) = (0, 0);
    // Where to resume when a guess for the last `*` turns out too short.
    let mut retry: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                retry = Some((p, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((star, from)) = retry else { return false };
                retry = Some((star, from + 1));
                p = star + 1;
                n = from + 1;
            }
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}
