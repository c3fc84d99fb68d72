//! Which run a file belongs to, source by source.

use jiff::Timestamp;

use super::*;
use crate::model::Complaint;
use crate::source::ManifestText;

fn manifest(path: &str, text: &str) -> (Manifest, Vec<Complaint>) {
    Manifest::read(&ManifestText { path: path.to_owned(), bytes: text.as_bytes().to_vec() })
}

fn good(path: &str, text: &str) -> Manifest {
    let (manifest, complaints) = manifest(path, text);
    assert_eq!(complaints, []);
    manifest
}

fn place(path: &str, below: &str) -> Place {
    Place { path: path.to_owned(), below: below.to_owned() }
}

fn time(text: &str) -> Timestamp {
    parse_time(text).expect(text).at
}

fn key(resolved: &Resolved) -> (&str, u32, &str, &str) {
    let key = &resolved.meta.key;
    (&key.run_id, key.attempt, &key.job, &key.shard)
}

fn said(complaints: &[Complaint]) -> Vec<(u64, &'static str)> {
    complaints.iter().map(|complaint| (complaint.line, complaint.code)).collect()
}

#[test]
fn a_manifest_names_members_of_an_archive_beside_it() {
    let text = r#"{"path":"logs.tar!17/**","run_id":"17","attempt":2,"job":"unit","shard":3,"started_at":"2026-09-06T14:00:00Z","commit":"abc","branch":"main","conclusion":"failure"}"#;
    let resolver = Resolver::new(vec![good("d/runs.ndjson", text)], None);
    let resolved = resolver.resolve(&place("d/logs.tar!17/x.log", "17/x.log"), Some(time("2020-01-01")));
    assert_eq!(key(&resolved), ("17", 2, "unit", "3"));
    assert!(resolved.known);
    assert_eq!(
        resolved.meta.started_at,
        Some(time("2026-09-06T14:00Z")),
        "the manifest goes before the file"
    );
    assert_eq!(resolved.meta.commit.as_deref(), Some("abc"));
    assert_eq!(resolved.meta.conclusion.as_deref(), Some("failure"));
    let other = resolver.resolve(&place("d/logs.tar!18/x.log", "18/x.log"), None);
    assert!(!other.known);
}

#[test]
fn a_manifest_may_be_written_in_utf_16() {
    // As `>` of Windows PowerShell writes it.
    for (path, text) in [
        ("d/runs.ndjson", "\u{feff}{\"path\":\"x.log\",\"run_id\":\"17é\"}\r\n"),
        ("d/runs.csv", "\u{feff}path,run_id\r\nx.log,17é\r\n"),
    ] {
        let bytes = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (manifest, complaints) = Manifest::read(&ManifestText { path: path.to_owned(), bytes });
        assert_eq!(complaints, [], "{path}");
        let resolved = Resolver::new(vec![manifest], None).resolve(&place("d/x.log", ""), None);
        assert_eq!(key(&resolved), ("17é", 1, "", ""), "{path}");
    }
}

#[test]
fn csv_says_the_same() {
    let text = "\u{feff}path,run_id,attempt,started_at\r\n17,17,2,2026-09-06T14:00Z\r\n\"18, old\",18,,\r\n";
    let resolver = Resolver::new(vec![good("d/runs.csv", text)], None);
    assert_eq!(key(&resolver.resolve(&place("d/17/x.log", ""), None)), ("17", 2, "", ""));
    let resolved = resolver.resolve(&place("d/18, old/x.log", ""), None);
    assert_eq!(key(&resolved), ("18", 1, "", ""), "an empty cell says nothing");
}

#[test]
fn the_first_that_applies_gives_each_field() {
    let near = good("d/17/runs.ndjson", r#"{"path":"1/**","job":"near"}"#);
    let far = good(
        "d/runs.ndjson",
        "{\"path\":\"17/1/unit/x.log\",\"shard\":\"s\"}\n{\"path\":\"17\",\"job\":\"far\",\"branch\":\"b\"}",
    );
    let resolver = Resolver::new(vec![far, near], None);
    let resolved = resolver.resolve(&place("d/17/1/unit/x.log", "17/1/unit/x.log"), Some(time("2026-01-02")));
    assert_eq!(key(&resolved), ("17", 1, "near", "s"), "run id and attempt are the folders'");
    assert_eq!(resolved.meta.branch.as_deref(), Some("b"));
    assert_eq!(resolved.meta.started_at, Some(time("2026-01-02")), "only the file knows");
}

#[test]
fn of_several_lines_the_first_with_the_field_gives_it() {
    let text = "{\"path\":\"a/x.log\",\"job\":\"one\"}\n{\"path\":\"a\",\"job\":\"two\",\"run_id\":\"9\"}";
    let resolver = Resolver::new(vec![good("runs.ndjson", text)], None);
    assert_eq!(key(&resolver.resolve(&place("a/x.log", ""), None)), ("9", 1, "one", ""));
    assert_eq!(key(&resolver.resolve(&place("a/y.log", ""), None)), ("9", 1, "two", ""));
}

#[test]
fn bad_lines_are_said_with_their_number_and_the_rest_is_used() {
    let text = concat!(
        "{\"path\":\"good\",\"run_id\":\"1\"}\n",
        "\n",
        "{\"path\":\"cut\n",
        "[1]\n",
        "{\"run_id\":\"2\"}\n",
        "{\"path\":\"zero\",\"attempt\":0}\n",
        "{\"path\":\"../up\",\"run_id\":\"3\"}\n",
        "{\"path\":\"t\",\"run_id\":\"4\",\"started_at\":\"soon\"}\n",
        "{\"path\":\"l\",\"run_id\":[5]}\n",
        "{\"path\":\"last\",\"run_id\":6}\n",
    );
    let (manifest, complaints) = manifest("runs.ndjson", text);
    assert_eq!(
        said(&complaints),
        [
            (3, "manifest-line"),
            (4, "manifest-line"),
            (5, "manifest-line"),
            (6, "manifest-line"),
            (7, "manifest-line"),
            (8, "manifest-value"),
            (9, "manifest-value"),
        ]
    );
    let resolver = Resolver::new(vec![manifest], None);
    for (path, run_id) in
        [("good/x", "1"), ("t/x", "4"), ("last/x", "6"), ("zero/x", "zero/x"), ("l/x", "l/x")]
    {
        assert_eq!(resolver.resolve(&place(path, ""), None).meta.key.run_id, run_id);
    }
}

#[test]
fn bad_csv_is_said_with_its_line() {
    let (_, complaints) = manifest("runs.csv", "path,run_id\na,1\nb\nc,2,3\n,4\n");
    assert_eq!(said(&complaints), [(3, "manifest-line"), (4, "manifest-line"), (5, "manifest-line")]);
    let (_, complaints) = manifest("runs.csv", "run_id\n1\n");
    assert_eq!(said(&complaints), [(1, "manifest-line")]);
}

#[test]
fn an_unknown_key_is_kept_and_said_once() {
    let text = "{\"path\":\"a\",\"run_id\":\"1\",\"runner\":\"x\"}\n{\"path\":\"b\",\"run_id\":\"2\",\"runner\":{\"os\":\"y\"}}";
    let (manifest, complaints) = manifest("runs.ndjson", text);
    assert_eq!(said(&complaints), [(1, "manifest-key")]);
    let resolver = Resolver::new(vec![manifest], None);
    assert_eq!(resolver.resolve(&place("b/x", ""), None).meta.key.run_id, "2");
}

#[test]
fn times_without_offset_are_said_once() {
    let text = "{\"path\":\"a\",\"started_at\":\"2026-01-01T00:00Z\"}\n{\"path\":\"b\",\"started_at\":\"2026-01-01\"}\n{\"path\":\"c\",\"started_at\":\"2026-01-01T10:00\"}";
    let (_, complaints) = manifest("runs.ndjson", text);
    assert_eq!(said(&complaints), [(2, "naive-time")]);
    assert!(complaints[0].text.starts_with("2 of the times"), "{}", complaints[0].text);
}

#[test]
fn complaints_about_a_manifest_are_bounded() {
    let (_, complaints) = manifest("runs.ndjson", &"no json\n".repeat(10_000));
    assert_eq!(complaints.len(), crate::limits::MANIFEST_COMPLAINTS_MAX + 1);
    assert_eq!(complaints.last().map(|last| last.code), Some("more"));
}

#[test]
fn ci_speaks_only_for_its_own_run() {
    let vars = |name: &str| {
        let value = match name {
            "GITHUB_ACTIONS" => "true",
            "GITHUB_RUN_ID" => "17",
            "GITHUB_RUN_ATTEMPT" => "2",
            "GITHUB_SHA" => "abc",
            _ => return None,
        };
        Some(value.to_owned())
    };
    let manifest = good(
        "runs.ndjson",
        "{\"path\":\"old.log\",\"run_id\":\"16\"}\n{\"path\":\"first.log\",\"run_id\":\"17\",\"attempt\":1}",
    );
    let resolver = Resolver::new(vec![manifest], CiRun::from_env(&vars));
    let own = resolver.resolve(&place("new.log", ""), None);
    assert_eq!((key(&own), own.meta.commit.as_deref()), (("17", 2, "", ""), Some("abc")));
    let old = resolver.resolve(&place("old.log", ""), None);
    assert_eq!((key(&old), old.meta.commit.as_deref()), (("16", 1, "", ""), None));
    let first = resolver.resolve(&place("first.log", ""), None);
    assert_eq!((key(&first), first.meta.commit.as_deref()), (("17", 1, "", ""), None));
}

#[test]
fn a_file_without_a_run_is_a_run_of_its_own() {
    let resolver = Resolver::default();
    let resolved = resolver.resolve(&place("a.tar!x.log", "x.log"), None);
    assert_eq!((key(&resolved), resolved.known), (("a.tar!x.log", 1, "", ""), false));
}

#[test]
fn files_of_one_run_and_attempt_share_what_they_know() {
    let manifest = good(
        "runs.ndjson",
        "{\"path\":\"17/1/a\",\"started_at\":\"2026-01-05\",\"commit\":\"abc\"}"
            .replace("2026-01-05", "2026-01-05T00:00Z")
            .as_str(),
    );
    let resolver = Resolver::new(vec![manifest], None);
    let resolve = |path: &str, at: Option<&str>| resolver.resolve(&place(path, path), at.map(time));
    let runs = unify(vec![
        resolve("17/1/b/x.log", Some("2026-01-01")),
        resolve("17/1/a/x.log", Some("2026-01-01")),
        resolve("17/2/b/x.log", Some("2026-01-07")),
        resolve("17/2/b/y.log", Some("2026-01-06")),
        resolve("17/2/c/y.log", None),
    ]);
    let starts: Vec<Option<Timestamp>> = runs.iter().map(|run| run.started_at).collect();
    let (fifth, sixth) = (Some(time("2026-01-05")), Some(time("2026-01-06")));
    assert_eq!(starts, [fifth, fifth, sixth, sixth, sixth]);
    assert_eq!(runs[0].commit.as_deref(), Some("abc"));
    assert_eq!((runs[0].key.job.as_str(), runs[1].key.job.as_str()), ("b", "a"), "keys stay");
    assert_eq!(runs[2].commit, None, "another attempt is another run");
}
