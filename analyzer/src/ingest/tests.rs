//! Whole files: what is told from the content, logs with documents in them, input made to hurt.

use proptest::prelude::*;

use super::{FileReport, Format, Wrapper, read};
use crate::model::Outcome;

fn file(bytes: &[u8]) -> FileReport {
    let report = read(&mut &*bytes, "f");
    let listed = |code: &str| crate::complaint::CODES.iter().any(|c| c.code == code);
    assert!(report.complaints.iter().all(|c| listed(c.code)), "{:?}", report.complaints);
    report
}

fn codes(report: &FileReport) -> Vec<&'static str> {
    report.complaints.iter().map(|c| c.code).collect()
}

const JUNIT: &str = "<?xml version=\"1.0\"?>\n<testsuites>\n<testsuite name=\"S\">\n<testcase classname=\"C\" name=\"a\"/>\n\
<testcase classname=\"C\" name=\"b\">\n<failure message=\"m\"><![CDATA[text </testsuites>]]></failure>\n</testcase>\n</testsuite>\n</testsuites>\n";

const TRX: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<TestRun id="1" xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">
  <Times start="2020-04-23T13:43:32.9220803+02:00" />
  <Results>
    <UnitTestResult testId="t1" testName="Fifo" duration="00:00:01.5" outcome="Failed"><Output><StdOut>order</StdOut>
      <ErrorInfo><Message>boom</Message><StackTrace>at X</StackTrace></ErrorInfo></Output></UnitTestResult>
    <UnitTestResult testId="t2" testName="Rows" outcome="Failed"><InnerResults>
      <UnitTestResult testId="t2" testName="Rows (1)" outcome="Passed" />
      <UnitTestResult testId="t2" testName="Rows (2)" outcome="Failed" /></InnerResults></UnitTestResult>
    <UnitTestResult testId="t3" testName="Ns.Q.Slow(x: 1)" outcome="Timeout" />
    <UnitTestResult testId="t4" testName="Odd" outcome="Sideways" />
    <UnitTestResult testId="t4" testName="Ignored" outcome="NotExecuted" />
    <UnitTestResult testId="t4" testName="Broken" outcome="NotRunnable" />
  </Results>
  <TestDefinitions>
    <UnitTest name="Fifo" storage="c:\b\orders.tests.dll" id="t1"><TestMethod codeBase="C:\b\Orders.Tests.dll" className="Ns.Q, Orders.Tests" name="Fifo" /></UnitTest>
    <UnitTest name="Slow" storage="/b/Orders.Tests.dll" id="t3"><TestMethod className="Ns.Q" name="Slow" /></UnitTest>
  </TestDefinitions>
  <ResultSummary outcome="Failed"><Counters total="0" /></ResultSummary>
</TestRun>"#;

fn counts(report: &FileReport) -> [Option<u64>; 6] {
    let c = &report.counts;
    [c.total, c.passed, c.failed, c.errored, c.skipped, c.unknown]
}

#[test]
fn trx_counts_every_result_and_lists_rows_instead_of_their_parent() {
    let report = file(TRX.as_bytes());
    assert_eq!(report.sections[0].format, Format::Trx);
    assert_eq!(counts(&report), [8, 1, 4, 1, 1, 1].map(Some));
    let rows: Vec<_> =
        report.results.iter().map(|r| (r.id.suite.as_str(), r.id.test.as_str(), r.outcome)).collect();
    assert_eq!(
        rows,
        [
            ("Orders.Tests", "Ns.Q.Fifo", Outcome::Failed),
            ("", "Rows (1)", Outcome::Passed),
            ("", "Rows (2)", Outcome::Failed),
            ("Orders.Tests", "Ns.Q.Slow(x: 1)", Outcome::TimedOut),
            ("", "Odd", Outcome::Unknown),
            ("", "Ignored", Outcome::Skipped),
            ("", "Broken", Outcome::Errored),
        ]
    );
    assert_eq!(report.results[0].failure.as_deref(), Some("boom\nat X"));
    assert_eq!(report.results[0].seconds, Some(1.5));
    assert_eq!(report.started_at, "2020-04-23T11:43:32.9220803Z".parse().ok());
    assert!(report.complaints.is_empty(), "{:?}", report.complaints);
}

#[test]
fn a_run_that_failed_outside_its_tests_is_complained_about() {
    let report = file(
        br#"<TestRun><Results><UnitTestResult testName="a" outcome="Passed"/></Results><ResultSummary outcome="Failed">
        <RunInfos><RunInfo outcome="Error"><Text>host crashed</Text></RunInfo></RunInfos></ResultSummary></TestRun>"#,
    );
    assert_eq!(codes(&report), ["run-failed"]);
    assert!(report.complaints[0].text.contains("host crashed"));
}

#[test]
fn what_is_none_of_ours_costs_one_complaint() {
    for (bytes, code) in [
        (&b""[..], "empty"),
        (b" \n\r\n", "empty"),
        (b"this is not XML!", "unrecognised"),
        (b"{\"key\": ", "unrecognised"),
        (b"<?xml version=\"1.0\"?><html/>", "foreign-xml"),
        (b"<?xml version=\"1.0\"?>", "truncated"),
        (b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\x01\0\0\0\x01\0\x08\x06\0\0\0", "binary"),
    ] {
        let report = file(bytes);
        assert_eq!(codes(&report), [code], "{bytes:?}");
        assert!(!report.recognised() && report.results.is_empty(), "{bytes:?}");
        assert_eq!(report.counts.total, Some(0));
    }
}

#[test]
fn a_read_error_keeps_what_was_read() {
    struct Breaks<'a>(&'a [u8]);
    impl std::io::Read for Breaks<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            if self.0.is_empty() {
                return Err(std::io::Error::other("disk gone"));
            }
            self.0.read(to)
        }
    }
    let at = JUNIT.find("<testcase classname=\"C\" name=\"b\"").expect("the second case");
    let report = read(&mut std::io::BufReader::new(Breaks(&JUNIT.as_bytes()[..at])), "f");
    assert_eq!(report.results.len(), 1);
    assert!(report.complaints.iter().any(|c| c.code == "unreadable" && c.text.contains("disk gone")));
}

#[test]
fn any_encoding_gives_the_same_report() {
    let want = file(JUNIT.as_bytes());
    assert_eq!(want.results.len(), 2);
    let units: Vec<u8> =
        [0xFEFF].into_iter().chain(JUNIT.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    assert_eq!(file(&units), want);
    let marked = [b"\xEF\xBB\xBF", JUNIT.as_bytes()].concat();
    assert_eq!(file(&marked), want);
    assert_eq!(file(JUNIT.replace('\n', "\r\n").as_bytes()), want);
}

#[test]
fn documents_inside_a_log_are_read_at_their_lines() {
    let plain = format!("Uploading report:\n{JUNIT}done\n{JUNIT}");
    let stamp = "2024-05-06T07:08:09.1234567Z ";
    let wrapped: String = plain.lines().map(|line| format!("{stamp}{line}\n")).collect();
    for (text, wrapper) in [(plain, Wrapper::None), (format!("\u{FEFF}{wrapped}"), Wrapper::Actions)] {
        let report = file(text.as_bytes());
        let lines: Vec<_> = report.results.iter().map(|r| (r.line, r.outcome)).collect();
        let want = [(5, Outcome::Passed), (6, Outcome::Failed), (15, Outcome::Passed), (16, Outcome::Failed)];
        assert_eq!(lines, want, "{wrapper:?} {:?}", report.complaints);
        assert_eq!(report.sections.len(), 1);
        assert_eq!((report.sections[0].format, report.sections[0].wrapper), (Format::Junit, wrapper));
        assert_eq!(report.counts.total, Some(4));
        assert!(report.complaints.is_empty(), "{:?}", report.complaints);
    }
}

#[test]
fn a_log_that_ends_inside_a_document_says_so() {
    let at = JUNIT.find("<![CDATA[").expect("the text");
    let report = file(format!("log\n{}", &JUNIT[..at]).as_bytes());
    assert_eq!((report.results.len(), codes(&report)), (2, vec!["truncated"]));
    // Markup of another kind is console text and stays that.
    let report = file(b"log\n<?xml version=\"1.0\"?>\n<html>\n</html>\n<testsuiteish>\n");
    assert_eq!(codes(&report), ["unrecognised"]);
}

#[test]
fn the_order_of_a_failure_is_looked_for_in_its_text_and_then_in_its_output() {
    let said = "Expected collection {\"B\", \"C\", \"A\"} to equal {\"A\", \"B\", \"C\"}";
    let escaped = said.replace('"', "&quot;");
    for case in [
        format!("<testcase name='a'><failure message='{escaped}'/></testcase>"),
        format!("<testcase name='a'><failure message='m'>{said}</failure></testcase>"),
        format!("<testcase name='a'><failure/><system-out><![CDATA[log\n{said}]]></system-out></testcase>"),
        format!("<testcase name='a'><system-err>{said}</system-err><failure/></testcase>"),
        format!("<testcase name='a'><flakyFailure><stackTrace>{said}</stackTrace></flakyFailure></testcase>"),
    ] {
        let report = file(format!("<testsuite>{case}</testsuite>").as_bytes());
        let ranks = report.results[0].order.as_ref().and_then(|o| o.ranks.clone());
        assert_eq!(ranks, Some(vec![1, 2, 0]), "{case}");
    }
    // A test that passed may print what it likes.
    let report = file(
        format!("<testsuite><testcase name='a'><system-out>{said}</system-out></testcase></testsuite>")
            .as_bytes(),
    );
    assert_eq!(report.results[0].order, None);
    let trx = TRX.replace("<StdOut>order", &format!("<StdOut>{said}"));
    assert!(file(trx.as_bytes()).results[0].order.is_some());
}

#[test]
fn trails_are_found_in_logs_and_in_documents() {
    let trail =
        "fate 7 at=2026-09-06T14:00:00.000000Z ENQUEUED@orders(+0.000) n=1 | HANDLER_ENTER@orders(+1.500)";
    let log = file(format!("a\n\u{1B}[32mx {trail}\u{1B}[0m\n").as_bytes());
    let xml = file(
        format!(
            "<testsuite>\n<testcase name='a'><system-out>\n{trail}\n</system-out></testcase></testsuite>"
        )
        .as_bytes(),
    );
    for (report, line) in [(&log, 2), (&xml, 3)] {
        assert_eq!(report.trails.len(), 1);
        assert_eq!((report.trails[0].line, report.trails[0].trail.id.as_str()), (line, "7"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        file(&bytes);
    }

    #[test]
    fn arbitrary_markup_never_panics(
        parts in prop::collection::vec(
            prop_oneof![
                Just("<testsuites>"), Just("<testsuite name='a'>"), Just("<testcase name=\"x\">"), Just("</testcase>"), Just("</testsuite>"),
                Just("<failure message='"), Just("<flakyFailure>"), Just("</failure>"), Just("<![CDATA["), Just("]]>"), Just("<!--"),
                Just("-->"), Just("&#x0;"), Just("&lt"), Just("<?xml version='1.0'?>"), Just("\n"), Just("'>"), Just("<TestRun>"),
                Just("<UnitTestResult outcome='Failed'>"), Just("</UnitTestResult>"), Just("<InnerResults>"), Just("</TestRun>"), Just("<!DOCTYPE a ["),
                Just("é\u{1B}["), Just("2024-05-06T07:08:09.1234567Z "), Just("log "), Just("/>"),
            ],
            0..60,
        )
    ) {
        let report = file(parts.concat().as_bytes());
        let c = counts(&report).map(|n| n.unwrap_or(0));
        prop_assert_eq!(c[0], c[1..].iter().sum::<u64>());
    }

    /// Cutting a document anywhere never panics, never invents a result and is never silent.
    #[test]
    fn truncations_never_panic(cut in 0..TRX.len(), junit in any::<bool>(), wrapped in any::<bool>()) {
        let whole = if junit { JUNIT } else { TRX };
        let text = if wrapped { format!("log\n{whole}") } else { whole.to_owned() };
        let end = cut.min(text.len());
        let full = file(text.as_bytes());
        let part = file(&text.as_bytes()[..end]);
        prop_assert!(part.counts.total <= full.counts.total);
        if end < text.trim_end().len() {
            prop_assert_eq!(part.complaints.len(), 1, "{:?}", part.complaints);
        }
    }

    /// However a source hands out its bytes, the report is the same.
    #[test]
    fn block_boundaries_do_not_matter(step in 1_usize..40, junit in any::<bool>()) {
        let text = if junit { JUNIT } else { TRX };
        let mut source = std::io::BufReader::with_capacity(step, text.as_bytes());
        prop_assert_eq!(read(&mut source, "f"), file(text.as_bytes()));
    }
}
