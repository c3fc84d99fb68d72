//! One name for one test, whichever format and machine reported it.

use crate::model::TestId;

/// Suite names that runners write for every project; they name no suite.
const CONSTANTS: &[&str] = &[
    "alltests",
    "automation tests",
    "bun test",
    "cli arguments",
    "default",
    "default suite",
    "jest tests",
    "junit",
    "minitest",
    "mocha tests",
    "nextest-run",
    "nosetests",
    "playwright tests",
    "pytest",
    "pytest tests",
    "root suite",
    "rspec",
    "surefire suite",
    "test",
    "test results",
    "test run",
    "tests",
    "undefined",
    "unittest",
    "vitest tests",
];

/// True where `name` is what a runner calls every suite.
pub(crate) fn is_constant(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    CONSTANTS.binary_search(&name.as_str()).is_ok()
}

/// The test's name: class, dot, name; the class is not repeated where the name already begins
/// with it, and stands alone where there is no name (a failure of the class as a whole).
pub(crate) fn test_name(class: &str, name: &str) -> String {
    let (class, name) = (class.trim(), name.trim());
    if class.is_empty() || repeats(class, name) {
        name.to_owned()
    } else if name.is_empty() {
        class.to_owned()
    } else {
        format!("{class}.{name}")
    }
}

/// True where the name begins or, as mocha's full titles may, ends with the class.
fn repeats(class: &str, name: &str) -> bool {
    name.strip_suffix(class).is_some_and(|rest| rest.ends_with(' '))
        || name
            .strip_prefix(class)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// A suite's name without what differs between machines: directories, extension.
pub(crate) fn suite_name(name: &str) -> String {
    let name = name.trim();
    let absolute = name.starts_with('/') || name.get(1..3).is_some_and(|s| s == ":\\" || s == ":/");
    let stem = |file: &str| {
        let lower = file.to_ascii_lowercase();
        let cut = [".dll", ".exe"].iter().find(|e| lower.ends_with(**e)).map_or(0, |e| e.len());
        file[..file.len() - cut].to_owned()
    };
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let short = stem(file);
    if absolute || short.len() < file.len() { short } else { name.to_owned() }
}

/// The identity of a JUnit test case: `suite` is the outermost named suite, which counts only
/// where it is neither the class nor a runner's constant.
pub(crate) fn junit(suite: &str, class: &str, name: &str) -> TestId {
    let suite =
        if is_constant(suite) || suite.trim() == class.trim() { String::new() } else { suite_name(suite) };
    TestId { suite, test: test_name(class, name) }
}

/// The identity of a test of Rust's harness as nextest reports it: the binary id becomes the name
/// that `cargo test` prints for the binary, and the test is its path.
pub(crate) fn nextest(binary_id: &str, path: &str) -> TestId {
    let binary = binary_id.split_once('@').map_or(binary_id, |(binary, _stress)| binary);
    let target = binary
        .split_once("::")
        .map_or(binary, |(_package, target)| target.split_once('/').map_or(target, |(_kind, target)| target));
    // A setup script is no binary.
    let suite = if target.is_empty() { binary_id.to_owned() } else { target.replace('-', "_") };
    TestId { suite, test: path.trim().to_owned() }
}

/// The identity of a test in libtest's own JUnit output: the module path was split off into the
/// class, and stands there as a word where there is none.
pub(crate) fn libtest(class: &str, name: &str) -> TestId {
    let test = match class.trim() {
        "" | "crate" | "unknown" | "integration" | "doc" => name.trim().to_owned(),
        module => format!("{module}::{}", name.trim()),
    };
    TestId { suite: String::new(), test }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_sorted_for_the_search() {
        assert!(CONSTANTS.is_sorted());
        assert!(is_constant("Root Suite") && is_constant("pytest") && !is_constant("Orders.Tests"));
    }

    #[test]
    fn the_class_is_said_once() {
        for (class, name, test) in [
            ("A.B", "C", "A.B.C"),
            ("A.B", "A.B.C(x: 1)", "A.B.C(x: 1)"),
            ("A", "A", "A"),
            ("A", "Apple", "A.Apple"),
            ("opens the page", "Window opens the page", "Window opens the page"),
            ("", "C", "C"),
            (" A ", " b", "A.b"),
            ("test.T", "", "test.T"),
        ] {
            assert_eq!(test_name(class, name), test, "{class} {name}");
        }
    }

    #[test]
    fn suites_lose_what_differs_between_machines() {
        for (name, suite) in [
            ("C:\\a\\Orders.Tests.dll", "Orders.Tests"),
            ("/home/x/Orders.Tests.dll", "Orders.Tests"),
            ("Orders.Tests.dll", "Orders.Tests"),
            ("/home/x/phpunit.xml", "phpunit.xml"),
            ("src/a.spec.ts", "src/a.spec.ts"),
            ("github.com/a/b", "github.com/a/b"),
        ] {
            assert_eq!(suite_name(name), suite, "{name}");
        }
    }

    #[test]
    fn nextest_binaries_are_named_as_cargo_test_names_them() {
        for (binary, suite) in [
            ("fate-hub", "fate_hub"),
            ("fate-hub::end-to-end", "end_to_end"),
            ("fate-hub::bin/fate-hub", "fate_hub"),
            ("nextest-filtering::match@stress-0", "match"),
            ("@setup-script:seed", "@setup-script:seed"),
        ] {
            assert_eq!(
                nextest(binary, "a::b"),
                TestId { suite: suite.to_owned(), test: "a::b".to_owned() },
                "{binary}"
            );
        }
        assert_eq!(libtest("order::tests", "fifo").test, "order::tests::fifo");
        assert_eq!(libtest("crate", "fifo").test, "fifo");
    }
}
