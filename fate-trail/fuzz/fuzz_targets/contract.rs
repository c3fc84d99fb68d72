//! Any two texts as golden copies: a copy agrees with itself, and a difference is told and not panicked about.
#![no_main]

use fate_trail::contract::{self, Row};

fn rows(text: &str) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| !line.contains('\r')) {
        let fields: Vec<&str> = line.split('\t').collect();
        if let [token, since, fate] = fields[..] {
            rows.push(Row { token, since, fate });
        }
    }
    rows
}

libfuzzer_sys::fuzz_target!(|texts: (&str, &str)| {
    let (golden, current) = (rows(texts.0), rows(texts.1));
    let rendered = contract::render(&golden);
    assert_eq!(contract::check(&rendered, &golden), Ok(()));
    if let Err(error) = contract::check(&rendered, &current) {
        assert!(!error.to_string().is_empty());
    }
    let _ = contract::check_tokens(current.iter().map(|row| row.token));
    let _ = contract::check_application_tokens(current.iter().map(|row| row.token));
});
