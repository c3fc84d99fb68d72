//! Documents of the producers' dialects, written for these tests.

use crate::ingest::{FileReport, read};
use crate::model::{Outcome, TestResult};

fn file(text: &str) -> FileReport {
    read(&mut text.as_bytes(), "r.xml")
}

/// total, passed, failed, errored, skipped, unknown, flaky.
fn counts(report: &FileReport) -> [u64; 7] {
    let c = &report.counts;
    [c.total, c.passed, c.failed, c.errored, c.skipped, c.unknown, c.flaky]
        .map(|n| n.expect("elements are counted"))
}

fn dialect(report: &FileReport) -> Option<&'static str> {
    report.sections.first().and_then(|s| s.dialect)
}

fn codes(report: &FileReport) -> Vec<&'static str> {
    report.complaints.iter().map(|c| c.code).collect()
}

fn shape(results: &[TestResult]) -> Vec<(&str, Outcome, u32)> {
    results.iter().map(|r| (r.id.test.as_str(), r.outcome, r.try_number)).collect()
}

use Outcome::{Errored, Failed, Passed, Skipped, TimedOut, Unknown};

#[test]
fn headers_are_not_trusted_and_the_worst_child_wins() {
    let report = file(
        r#"<testsuites tests="99"><testsuite name="S" failures="42">
          <testcase classname="C" name="a"/>
          <testcase classname="C" name="b"><skipped/><failure>x</failure><error>y</error></testcase>
          <testcase classname="C" name="c"><skipped/><failure message="m"/></testcase>
          <testcase classname="C" name="d"><skipped message="later"/></testcase>
          <testcase classname="C" name="e" status="notrun"/>
          <testsuite name="inner"><testcase name="f"/></testsuite>
        </testsuite></testsuites>"#,
    );
    assert_eq!(counts(&report), [6, 2, 1, 1, 2, 0, 0]);
    assert_eq!(
        shape(&report.results),
        [
            ("C.a", Passed, 1),
            ("C.b", Errored, 1),
            ("C.c", Failed, 1),
            ("C.d", Skipped, 1),
            ("C.e", Skipped, 1),
            ("f", Passed, 1)
        ]
    );
    assert!(report.results.iter().all(|r| r.id.suite == "S"));
    assert_eq!(report.results[1].failure.as_deref(), Some("x\ny"));
    assert_eq!(report.results[2].failure.as_deref(), Some("m"));
    assert_eq!(report.results[5].line, 7);
    assert!(report.complaints.is_empty(), "{:?}", report.complaints);
}

#[test]
fn surefire_reruns_become_tries() {
    let report = file(
        r#"<testsuite name="a.T" xsi:noNamespaceSchemaLocation="x/surefire-test-report.xsd">
          <testcase classname="a.T" name="flaky" time="0.5">
            <flakyFailure message="one"><stackTrace>t1</stackTrace><system-out>o</system-out></flakyFailure>
            <flakyError message="two"><stackTrace>t2</stackTrace></flakyError>
          </testcase>
          <testcase classname="a.T" name="broken">
            <failure message="first">f</failure><rerunFailure message="second"><stackTrace>s</stackTrace></rerunFailure>
            <rerunError message="third"/>
          </testcase></testsuite>"#,
    );
    assert_eq!(dialect(&report), Some("surefire"));
    assert_eq!(counts(&report), [2, 1, 1, 0, 0, 0, 1]);
    assert_eq!(
        shape(&report.results),
        [
            ("a.T.flaky", Failed, 1),
            ("a.T.flaky", Errored, 2),
            ("a.T.flaky", Passed, 3),
            ("a.T.broken", Failed, 1),
            ("a.T.broken", Failed, 2),
            ("a.T.broken", Errored, 3),
        ]
    );
    assert_eq!(report.results[0].failure.as_deref(), Some("one\nt1"));
    assert_eq!((report.results[0].seconds, report.results[2].seconds), (None, Some(0.5)));
    assert_eq!(report.results[0].id.suite, "", "the suite only repeats the class");
}

#[test]
fn nextest_names_tests_as_cargo_test_does() {
    let report = file(
        r#"<testsuites name="nextest-run" uuid="u" timestamp="2024-01-09T07:50:12.664+00:00">
          <testsuite name="my-hub::fifo-tests@stress-0">
            <testcase name="a::b" classname="my-hub::fifo-tests"><failure type="test timeout"/></testcase>
            <testcase name="c" classname="my-hub::fifo-tests">
              <failure type="flaky failure"/><flakyFailure type="test failure">x</flakyFailure></testcase>
          </testsuite>
          <testsuite name="my-hub::fifo-tests@stress-1">
            <testcase name="a::b" classname="my-hub::fifo-tests"/></testsuite></testsuites>"#,
    );
    assert_eq!(dialect(&report), Some("nextest"));
    assert_eq!(counts(&report), [3, 1, 2, 0, 0, 0, 0]);
    assert_eq!(
        shape(&report.results),
        [("a::b", TimedOut, 1), ("c", Failed, 1), ("c", Failed, 2), ("a::b", Passed, 2)]
    );
    assert!(report.results.iter().all(|r| r.id.suite == "fifo_tests"));
    assert_eq!(report.started_at, "2024-01-09T07:50:12.664Z".parse().ok());
}

#[test]
fn repeated_cases_are_tries_where_the_dialect_means_that() {
    let go = file(
        r#"<testsuites><testsuite name="x/y" time="0.100000"><properties><property name="go.version" value="1"/></properties>
          <testcase classname="x/y" name="T"><failure>f</failure></testcase><testcase classname="x/y" name="T"/></testsuite></testsuites>"#,
    );
    assert_eq!(dialect(&go), Some("gotestsum"));
    assert_eq!(shape(&go.results), [("x/y.T", Failed, 1), ("x/y.T", Passed, 2)]);
    let gradle = file(
        r#"<testsuite name="a.T" timestamp="2024-01-01T00:00:00" hostname="h"><properties/>
          <testcase classname="a.T" name="p"/><testcase classname="a.T" name="p"/>
          <testcase classname="a.T" name="r"><failure/></testcase><testcase classname="a.T" name="r"/></testsuite>"#,
    );
    assert_eq!(dialect(&gradle), Some("gradle"));
    assert_eq!(
        shape(&gradle.results),
        [("a.T.p", Passed, 1), ("a.T.p", Passed, 1), ("a.T.r", Failed, 1), ("a.T.r", Passed, 2)]
    );
    assert_eq!(codes(&gradle), ["naive-time"]);
    let other = file(
        r#"<testsuite name="s"><testcase name="T"><failure/></testcase><testcase name="T"/></testsuite>"#,
    );
    assert_eq!(shape(&other.results), [("T", Failed, 1), ("T", Passed, 1)]);
}

#[test]
fn silence_of_a_test_that_pytest_lists_twice_is_no_pass() {
    let report = file(
        r#"<testsuites><testsuite name="pytest">
          <testcase classname="m" name="rerun"/><testcase classname="m" name="rerun"/>
          <testcase classname="m" name="worse"/><testcase classname="m" name="worse"><failure message="f"/></testcase>
          <testcase classname="m" name="once"/></testsuite></testsuites>"#,
    );
    assert_eq!(dialect(&report), Some("pytest"));
    assert_eq!(counts(&report), [5, 1, 1, 0, 0, 3, 0]);
    let unknown = report.results.iter().filter(|r| r.outcome == Unknown && r.flags.attempts_unknown).count();
    assert_eq!((unknown, codes(&report)), (3, vec!["attempts-unknown"]));
    assert_eq!(report.results[0].id.suite, "");
}

#[test]
fn text_in_many_nodes_is_whole() {
    let report = file(
        "<testsuite><testcase name='a'><failure message='x&#10;y &quot;q&quot;'>a<![CDATA[<b>]]>]]&gt;<!-- no -->&#10;c &lt;[1]&gt; &unknown; \
         A & B</failure></testcase></testsuite>",
    );
    assert_eq!(report.results[0].failure.as_deref(), Some("x\ny \"q\"\na<b>]]>\nc <[1]> &unknown; A & B"));
    assert!(!report.results[0].flags.repaired);
}

#[test]
fn illegal_characters_are_repaired_and_marked() {
    let report = file(
        "<testsuite><testcase name='a'><failure>\u{1B}[31mred\u{1B}[0m &#27;[1mx&#0;</failure></testcase><testcase name='b'/></testsuite>",
    );
    assert_eq!(report.results[0].failure.as_deref(), Some("red x\u{FFFD}"));
    assert!(report.results[0].flags.repaired && !report.results[1].flags.repaired);
}

#[test]
fn a_cut_file_keeps_what_was_complete() {
    let whole = r#"<testsuites><testsuite name="S"><testcase name="a"/><testcase name="b"><failure>long text</failure></testcase></testsuite></testsuites>"#;
    let at = whole.find("text</failure>").expect("the text");
    let report = file(&whole[..at]);
    assert_eq!(counts(&report), [2, 1, 1, 0, 0, 0, 0]);
    assert_eq!(codes(&report), ["truncated"]);
    assert_eq!(report.results[1].failure.as_deref(), Some("long "));
    assert!(report.results[1].flags.truncated && !report.results[0].flags.truncated);
    // A case that was cut before it could say anything did not pass.
    let at = whole.find("<failure>").expect("the failure");
    assert_eq!(counts(&file(&whole[..at])), [2, 1, 0, 0, 0, 1, 0]);
    // In a tag, and inside CDATA.
    assert_eq!(counts(&file(&whole[..at + 4])), [2, 1, 0, 0, 0, 1, 0]);
    let report = file("<testsuite><testcase name='b'><failure><![CDATA[half");
    assert_eq!(report.results[0].failure.as_deref(), Some("half"));
}

#[test]
fn entities_are_never_expanded() {
    let report = file(
        r#"<!DOCTYPE t [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>
        <testsuite><testcase name="&b;"><failure>&b;&f;</failure></testcase></testsuite>"#,
    );
    assert_eq!(report.results[0].id.test, "&b;");
    assert_eq!(report.results[0].failure.as_deref(), Some("&b;&f;"));
}

#[test]
fn nesting_without_end_is_refused_and_broken_nesting_is_read_over() {
    let mut deep = "<testsuite><testcase name='a'/>".to_owned();
    deep.push_str(&"<x>".repeat(100_000));
    let report = file(&deep);
    assert_eq!((counts(&report)[0], codes(&report)), (1, vec!["xml-too-deep"]));
    let report = file(
        "<testsuite><testcase name='a'><failure>x</testcase></nonsense><testcase name='b'/></testsuite>",
    );
    assert_eq!(counts(&report), [2, 1, 1, 0, 0, 0, 0]);
    assert_eq!(codes(&report), ["xml-mismatch"]);
}

#[test]
fn one_endless_text_costs_itself_only() {
    let long = "x".repeat(crate::limits::XML_TOKEN_MAX);
    for (open, close) in [("<![CDATA[", "]]>"), ("", ""), ("<!--", "-->")] {
        let text = format!(
            "<testsuite><testcase name='a'><system-out>{open}{long}{long}{close}</system-out><failure>f</failure></testcase>\n\
             <testcase name='b'/></testsuite>"
        );
        let report = file(&text);
        assert_eq!(counts(&report), [2, 1, 1, 0, 0, 0, 0], "{open}");
        assert_eq!((codes(&report), report.results[1].line), (vec!["text-too-long"], 2), "{open}");
    }
    let report = file(&format!("<testsuite><testcase name='a'/><testcase name='{long}'/></testsuite>"));
    assert_eq!((counts(&report)[0], codes(&report)), (1, vec!["xml-too-long"]));
}

#[test]
fn without_a_class_the_inner_suite_tells_equal_names_apart() {
    let report = file(
        r#"<testsuites name="jest tests"><testsuite name="a.test.js"><testcase classname="" name="works"/></testsuite>
        <testsuite name="b.test.js"><testcase classname="" name="works"/><testcase classname="B" name="x"/></testsuite></testsuites>"#,
    );
    let ids: Vec<_> = report.results.iter().map(|r| (r.id.suite.as_str(), r.id.test.as_str())).collect();
    assert_eq!(ids, [("a.test.js", "works"), ("b.test.js", "works"), ("", "B.x")]);
}

#[test]
fn nested_cases_and_documents_in_a_row_are_all_counted() {
    let text = "<testsuite name='s'><testcase name='a'><testcase name='b'><failure>x</failure></testcase><skipped/></testcase></testsuite>";
    let report = file(text);
    assert_eq!(shape(&report.results), [("b", Failed, 1), ("a", Skipped, 1)]);
    let report = file(&format!("<?xml version='1.0'?>{text}\n<?xml version='1.0'?>\n{text}"));
    assert_eq!(counts(&report), [4, 0, 2, 0, 2, 0, 0]);
    assert!(report.complaints.is_empty(), "{:?}", report.complaints);
    // What follows and is no document is not read, which is said once.
    let report = file(&format!("{text}\nDone.\n{text}\nBye.\n"));
    assert_eq!((counts(&report)[0], codes(&report)), (4, vec!["xml-trailing"]));
}

#[test]
fn output_stands_in_for_a_silent_failure() {
    let report = file(
        r#"<testsuites><testsuite name="test" package="test"><testcase classname="m::t" name="b"><failure type="assert"/>
        <system-out>
          <![CDATA[thread 'b' panicked]]>&#xA;<![CDATA[at x]]></system-out></testcase></testsuite></testsuites>"#,
    );
    assert_eq!(report.results[0].id.test, "m::t::b");
    assert_eq!(report.results[0].failure.as_deref(), Some("thread 'b' panicked\nat x"));
}

#[test]
fn producers_are_told_apart() {
    for (text, want) in [
        (r#"<testsuites name="jest tests"><testsuite name="a.test.js"/></testsuites>"#, Some("jest")),
        (r#"<testsuites name="vitest tests"/>"#, Some("vitest")),
        (
            r#"<testsuites id="" name="" tests="1"><testsuite name="a.spec.ts"/></testsuites>"#,
            Some("playwright"),
        ),
        (r#"<testsuites name="AllTests"/>"#, Some("gtest")),
        (r#"<testsuites><testsuite name="Elixir.A"/></testsuites>"#, Some("exunit")),
        (r#"<testsuites><testsuite name="test" package="test" id="0"/></testsuites>"#, Some("libtest")),
        (
            r#"<testsuite name="T-20230222165213"><testcase classname="T" name="a"/></testsuite>"#,
            Some("unittest"),
        ),
        (r#"<testsuites name="xcresult: Plan"/>"#, Some("xcresult")),
        (r#"<testsuites><testsuite name="A.dll"/></testsuites>"#, Some("dotnet")),
        (r#"<testsuites><testsuite name="A"/></testsuites>"#, None),
    ] {
        let report = file(text);
        assert!(report.recognised(), "{text}");
        assert_eq!(dialect(&report), want, "{text}");
    }
    let report = file(r#"<testsuite name="T-20230222165213"><testcase classname="T" name="a"/></testsuite>"#);
    assert_eq!((report.results[0].id.suite.as_str(), report.results[0].id.test.as_str()), ("", "T.a"));
}
