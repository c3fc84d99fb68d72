//! Which crate may see which: the arrows of `ARCHITECTURE.md`, read off cargo's own dependency tree.

use fate_tests::workspace;
use std::collections::BTreeSet;
use std::process::Command;

/// The packages of a crate's tree on this host, itself included; dev-dependencies left out.
fn tree(package: &str, flags: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--prefix", "none", "--format", "{p}", "-e", "normal,build"])
        .args(["-p", package])
        .args(flags)
        .current_dir(workspace())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    text.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

fn ours(tree: &BTreeSet<String>) -> Vec<&str> {
    tree.iter().map(String::as_str).filter(|name| name.starts_with("fate-")).collect()
}

fn has_polars(tree: &BTreeSet<String>) -> bool {
    tree.iter().any(|name| name == "polars" || name.starts_with("polars-"))
}

#[test]
fn fate_trail_alone_depends_on_nothing_but_std() {
    assert_eq!(tree("fate-trail", &[]), BTreeSet::from(["fate-trail".to_owned()]));
    assert_eq!(tree("fate-fixtures", &[]), BTreeSet::from(["fate-fixtures".to_owned()]));
}

#[test]
fn every_arrow_between_shipped_crates_points_to_fate_trail() {
    assert_eq!(ours(&tree("fate-trail", &["--all-features"])), ["fate-trail"]);
    for package in ["fate-hub", "fate-tui", "fate-analyzer"] {
        let mut expected = [package, "fate-trail"];
        expected.sort_unstable();
        assert_eq!(ours(&tree(package, &["--all-features"])), expected, "tree of {package}");
    }
}

#[test]
fn polars_stands_under_the_analyzers_table_and_nowhere_else() {
    assert!(has_polars(&tree("fate-analyzer", &[])), "the default feature `table` brings polars");
    assert!(!has_polars(&tree("fate-analyzer", &["--no-default-features"])));
    for package in ["fate-trail", "fate-hub", "fate-tui"] {
        assert!(!has_polars(&tree(package, &["--all-features"])), "polars under {package}");
    }
}

/// A ceiling for the crates that each user's build brings in, itself included. Whoever needs more raises the
/// number here, in sight of a reviewer.
#[test]
fn the_dependency_budgets_hold() {
    let budgets = [
        ("fate-trail", &["--features", "otel-metrics,otel-traces,otel-logs"][..], 11),
        ("fate-trail", &["--features", "tracing"][..], 8),
        ("fate-hub", &[][..], 7),
        ("fate-hub", &["--features", "otel"][..], 20),
        ("fate-hub", &["--features", "cli"][..], 80),
        ("fate-analyzer", &["--no-default-features"][..], 70),
        ("fate-tui", &[][..], 90),
    ];
    for (package, flags, budget) in budgets {
        let tree = tree(package, flags);
        assert!(tree.len() <= budget, "{package} brings {} crates, {budget} allowed: {tree:?}", tree.len());
    }
}

/// Where telemetry goes is decided by a program: no library feature brings an SDK, an exporter or a transport.
#[test]
fn libraries_see_the_opentelemetry_api_alone() {
    let trees =
        [tree("fate-trail", &["--all-features"]), tree("fate-hub", &["--features", "otel,tracing,live"])];
    for tree in trees {
        let seen: Vec<_> = tree.iter().filter(|name| name.starts_with("opentelemetry")).collect();
        assert_eq!(seen, ["opentelemetry"]);
        assert!(!tree.contains("ureq") && !tree.contains("tracing-opentelemetry"), "{tree:?}");
    }
}

#[test]
fn one_manifest_alone_names_polars() {
    let naming: Vec<_> = fate_tests::files(&["Cargo.toml"])
        .into_iter()
        .filter(|path| {
            let text = std::fs::read_to_string(workspace().join(path)).expect("manifest");
            text.lines().any(|line| line.trim_start().starts_with("polars"))
        })
        .collect();
    assert_eq!(naming, [std::path::Path::new("analyzer/Cargo.toml")]);
}
