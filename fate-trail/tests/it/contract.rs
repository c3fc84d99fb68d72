//! Stage tokens against their golden copy.

use std::path::Path;

use fate_trail::contract;
use fate_trail::stage::{DetailKind, REGISTRY, Scope};

#[test]
fn fate_stage_tokens_are_a_contract() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/data/contract/stages.txt");
    if let Err(error) = contract::check_file(&golden, &contract::registry_rows()) {
        panic!("{error}");
    }
}

#[test]
fn tokens_are_spelled_by_the_rules() {
    if let Err(error) = contract::check_tokens(REGISTRY.iter().map(|spec| spec.token)) {
        panic!("{error}");
    }
}

#[test]
fn details_fit_their_entry() {
    for spec in REGISTRY {
        let token = spec.token;
        let bits: u32 = spec.details.iter().map(|d| u32::from(d.bits)).sum();
        match spec.scope {
            Scope::Delivery => assert!(bits <= 64, "{token}: {bits} bits"),
            Scope::Hub => assert!(
                spec.details.len() <= fate_trail::limits::HUB_VALUES,
                "{token}: {} details",
                spec.details.len()
            ),
        }
        for (i, detail) in spec.details.iter().enumerate() {
            assert!((1..=64).contains(&detail.bits), "{token} {}", detail.key);
            assert!(
                spec.details[..i].iter().all(|other| other.key != detail.key),
                "{token} has {} twice",
                detail.key
            );
            assert!(
                detail.key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'),
                "{token} {}",
                detail.key
            );
            if detail.kind != DetailKind::Number {
                assert_eq!(detail.bits, 16, "{token} {}: an index has 16 bits", detail.key);
            }
        }
    }
}

#[test]
fn every_row_explains_itself() {
    for spec in REGISTRY {
        assert!(spec.meaning.ends_with('.'), "{}", spec.token);
        assert_eq!(spec.since.split('.').count(), 2, "{}", spec.token);
        // A trail that may stop here without an end needs a hint where to look.
        let open = spec.fate.is_none() && spec.scope == Scope::Delivery;
        assert!(!open || !spec.likely_cause.is_empty(), "{}", spec.token);
    }
}
