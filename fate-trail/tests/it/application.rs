//! An application's own stages: declared, stamped, pinned, and every edit of them refused.

use std::fs;
use std::path::Path;

use fate_trail::contract::{self, ContractError};
use fate_trail::stage::{ApplicationStage, DetailKind, ENQUEUED, HANDLER_EXIT, pack};
use fate_trail::{Fate, Handle, Recorder, RecorderConfig, Storage, Trail};

fate_trail::application_stages! {
    /// Every stage of the shop.
    pub static STAGES;
    /// Stock was set aside
    /// for the customer.
    pub RESERVED = "shop.reserved", since "1.0", details [items Number 32, shelf Symbol 16];
    /// The card was charged.
    pub PAID = "shop.paid", since "1.0", fate Answered;
    /// The parcel left.
    SENT = "shop.sent", since "1.1", fate Handled, details [parcels Number 8];
}

#[test]
fn stages_are_pinned() {
    fate_trail::pin_stages!("tests/it/shop-stages.txt", STAGES);
}

#[test]
fn a_declaration_says_what_a_stage_is() {
    let spec = RESERVED.spec();
    assert_eq!((spec.token, spec.since, spec.fate), ("shop.reserved", "1.0", None));
    assert_eq!(spec.meaning, "Stock was set aside for the customer.");
    let details: Vec<_> = spec.details.iter().map(|d| (d.key, d.kind, d.bits)).collect();
    assert_eq!(details, [("items", DetailKind::Number, 32), ("shelf", DetailKind::Symbol, 16)]);
    assert_eq!(SENT.spec().fate, Some(Fate::Handled));
}

#[test]
fn a_stamped_stage_reads_back_from_text_as_itself() {
    let recorder = Recorder::new(RecorderConfig::default());
    let hub = recorder.hub("orders");
    let shelf = recorder.symbol("A 7");
    let mut trail = Handle::begin(&recorder, 7);
    trail.stamp(&recorder, hub, ENQUEUED, pack(ENQUEUED, &[1]));
    trail.stamp(&recorder, hub, RESERVED.id(), pack(RESERVED.id(), &[3, shelf.into()]));
    trail.stamp(&recorder, hub, SENT.id(), pack(SENT.id(), &[255]));
    trail.finish(&recorder);
    let trail = recorder.finished().remove(0);
    let line = trail.to_string();
    assert!(
        line.ends_with(
            "n=1 | shop.reserved@orders(+?) items=3 shelf=A%207 | shop.sent@orders(+?) parcels=255+"
        ),
        "{line}"
    );
    let read: Trail = line.parse().expect("trail text");
    assert_eq!(read, trail);
    assert_eq!((read.fate(), read.stages[1].id()), (Fate::Handled, Some(RESERVED.id())));
    assert_ne!(RESERVED.id(), HANDLER_EXIT);
}

/// A table of stages with the given tokens, all since 1.0 and without a fate.
fn table(tokens: &[&'static str]) -> Vec<ApplicationStage> {
    tokens.iter().map(|token| ApplicationStage::new(token, "1.0", None, &[], "")).collect()
}

fn check(golden: &Path, tokens: &[&'static str]) -> Result<(), ContractError> {
    let table = table(tokens);
    contract::check_stages(golden, &table.iter().collect::<Vec<_>>())
}

#[test]
fn every_edit_is_refused_and_says_what_to_do() {
    let golden = Path::new(env!("CARGO_TARGET_TMPDIR")).join("application-golden.txt");
    fs::write(&golden, "a.one\t1.0\t-\na.two\t1.0\t-\na.three\t1.0\t-\n").expect("the golden copy");
    assert_eq!(check(&golden, &["a.one", "a.two", "a.three"]), Ok(()));
    let cases: [(&[&'static str], &[&str]); 7] = [
        (
            &["a.one", "a.zwei", "a.three"],
            &["add a new one at the end", "`a.two` (line 2) was renamed to `a.zwei`"],
        ),
        (&["a.one", "a.two"], &["`a.three` (line 3) was removed"]),
        (&["a.two", "a.one", "a.three"], &["`a.one` moved from line 1 to line 2"]),
        (&["a.new", "a.one", "a.two", "a.three"], &["`a.new` is new at line 1 and not at the end"]),
        (&["a.one", "a.two", "a.three", "a.four"], &["FATE_BLESS=1", "+ a.four\t1.0\t-"]),
        (&["a.one", "a.two", "a.three", "b.a.one"], &["`b.a.one` ends with `a.one`"]),
        (&["a.one", "a.one"], &["`a.one` stands there twice"]),
    ];
    for (tokens, said) in cases {
        let error = check(&golden, tokens).expect_err("it differs").to_string();
        for part in said {
            assert!(error.contains(part), "{part:?} is not in:\n{error}");
        }
    }
    let nowhere = golden.with_file_name("no-such-golden-copy.txt");
    let error = check(&nowhere, &["a.one"]).expect_err("no copy").to_string();
    assert!(error.contains("FATE_BLESS=1 to make it"), "{error}");
}

#[test]
#[should_panic(expected = "a dotted ASCII word such as `orders.reserved`")]
fn a_token_without_a_dot_is_refused() {
    let _ = table(&["größe"]);
}
