//! Every assertion family on small texts of our own: text in, sequences and ranks out.

mod corpus;
mod hostile;

use super::*;

/// One case: what it shows, the text, and what must come out.
struct Case {
    name: &'static str,
    text: &'static str,
    want: Want,
}

enum Want {
    /// Class letter, expected, observed.
    Order(&'static str, &'static [&'static str], &'static [&'static str]),
    /// Class letter.
    Suspected(&'static str),
    Lost,
    Nothing,
}

const ABC: &[&str] = &["A", "B", "C"];
const BCA: &[&str] = &["B", "C", "A"];

fn check(cases: &[Case], side: Side) {
    for case in cases {
        let got = recover(case.text);
        let kind = got.as_ref().map(|f| f.kind);
        match (&case.want, got) {
            (Want::Nothing, None) => {}
            (Want::Lost, Some(f)) if f.kind == OrderKind::LostOrExtra => assert_eq!(f.ranks, None),
            (Want::Suspected(class), Some(f)) if f.kind == OrderKind::Suspected => {
                assert_eq!((f.class.as_str(), f.ranks, f.exact), (*class, None, false), "{}", case.name);
            }
            (Want::Order(class, expected, observed), Some(f)) if f.kind == OrderKind::Permutation => {
                assert_eq!(f.expected, *expected, "{}", case.name);
                assert_eq!(f.observed, *observed, "{}", case.name);
                assert_eq!((f.class.as_str(), f.exact, f.side), (*class, true, side), "{}", case.name);
                assert!(f.ranks.is_some(), "{}", case.name);
            }
            (_, got) => panic!("{}: {kind:?}, {got:?}", case.name),
        }
    }
}

macro_rules! case {
    ($name:literal, $text:expr, $want:expr) => {
        Case { name: $name, text: $text, want: $want }
    };
}

#[test]
fn xunit() {
    check(
        &[
            case!(
                "since 2.5",
                "Assert.Equal() Failure: Collections differ\n           ↓ (pos 0)\nExpected: [\"A\", \"B\", \"C\"]\nActual:   [\"B\", \"C\", \"A\"]\n           ↑ (pos 0)\n   at X",
                Want::Order("F", ABC, BCA)
            ),
            case!(
                "types named, attribute without line breaks",
                "Assert.Equal() Failure: Collections differ Expected: string[]     [\"A\", \"B\", \"C\"] Actual:   List<string> [\"B\", \"C\", \"A\"]",
                Want::Order("F", ABC, BCA)
            ),
            case!(
                "up to 2.4",
                "Assert.Equal() Failure\nExpected: Int32[] [1, 2, 3]\nActual:   List<Int32> [3, 1, 2]\n",
                Want::Order("F", &["1", "2", "3"], &["3", "1", "2"])
            ),
            case!(
                "a window around the mismatch",
                "Assert.Equal() Failure: Collections differ\nExpected: [···, \"C\", \"D\", \"E\", ···]\nActual:   [···, \"C\", \"E\", \"D\", ···]\n",
                Want::Suspected("W")
            ),
            case!(
                "a window without a displaced element",
                "Assert.Equal() Failure: Collections differ\nExpected: [···, \"C\", \"D\", ···]\nActual:   [···, \"C\", \"X\", ···]\n",
                Want::Nothing
            ),
            case!(
                "one is lost",
                "Assert.Equal() Failure: Collections differ\nExpected: [\"A\", \"B\"]\nActual:   [\"A\"]\n",
                Want::Lost
            ),
            case!(
                "scalars",
                "Assert.Equal() Failure: Values differ\nExpected: 1\nActual:   2\n",
                Want::Nothing
            ),
            case!(
                "sets have no order",
                "Assert.Equal() Failure: HashSets differ\nExpected: [\"A\", \"B\"]\nActual:   [\"B\", \"C\"]\n",
                Want::Nothing
            ),
            case!(
                "cut off",
                "Assert.Equal() Failure: Collections differ\nExpected: [\"A\", \"B",
                Want::Nothing
            ),
        ],
        Side::Label,
    );
}

#[test]
fn house_form_reads_actual_first_and_never_the_reason() {
    check(
        &[
            case!(
                "reason quotes another order",
                "Expected collection {\"B\", \"C\", \"A\"} to equal {\"A\", \"B\", \"C\"} because on Monday we saw {\"C\", \"B\", \"A\"} and to equal {\"A\"}.",
                Want::Order("F", ABC, BCA)
            ),
            case!(
                "unescaped quotes and brackets",
                "Expected collection {\"say \"B\"}\", \"A\"} to equal {\"A\", \"say \"B\"}\"} because of \"B, A\".",
                Want::Order("F", &["A", "say \"B\"}"], &["say \"B\"}", "A"])
            ),
            case!(
                "cut after ten",
                "Expected collection {\"B\", \"A\", \"C\", …} to equal {\"A\", \"B\", \"C\", …} because x",
                Want::Suspected("W")
            ),
            case!("lost", "Expected collection {\"A\"} to equal {\"A\", \"B\"}.", Want::Lost),
            case!(
                "numbers",
                "Expected collection {2, 1} to equal {1, 2}.",
                Want::Order("F", &["1", "2"], &["2", "1"])
            ),
            case!("unfinished", "Expected collection {\"A\", \"B\"} to equ", Want::Nothing),
        ],
        Side::Label,
    );
}

#[test]
fn fluent_assertions() {
    check(
        &[
            case!(
                "equal",
                "Expected names to be equal to {\"A\", \"B\", \"C\"}, but {\"B\", \"C\", \"A\"} differs at index 0.\n   at X",
                Want::Order("F", ABC, BCA)
            ),
            case!(
                "a reason that looks like the sentence",
                "Expected names to be equal to {\"A\", \"B\", \"C\"} because once it said, but {\"C\", \"B\", \"A\"} differs at index 0, but {\"B\", \"C\", \"A\"} differs at index 0.",
                Want::Order("F", ABC, BCA)
            ),
            case!(
                "several lines",
                "Expected names to be equal to {\n    \"A\",\n    \"B\"\n}, but {\n    \"B\",\n    \"A\"\n} differs at index 0.",
                Want::Order("F", &["A", "B"], &["B", "A"])
            ),
            case!(
                "more than 32",
                "Expected x to be equal to {1, 2, 3, …30 more…}, but {2, 1, 3, …30 more…} differs at index 0.",
                Want::Suspected("W")
            ),
            case!("length", "Expected x to be equal to {1, 2}, but {1} contains 1 item(s) less.", Want::Lost),
            case!(
                "in order",
                "Expected xs {\"B\", \"A\"} to contain items {\"A\", \"B\"} in order, but \"B\" (index 1) did not appear (in the right order).",
                Want::Order("F", &["A", "B"], &["B", "A"])
            ),
            case!(
                "in order, more observed",
                "Expected xs {\"B\", \"X\", \"A\"} to contain {\"A\", \"B\"} in order, but \"B\" (index 1) did not appear (in the right order).",
                Want::Suspected("F")
            ),
            case!(
                "ascending",
                "Expected xs to be in ascending order, but found {2, 1} where item at index 0 is in wrong order.",
                Want::Suspected("1")
            ),
            case!("scalar", "Expected x to be equal to 5, but found 6.", Want::Nothing),
        ],
        Side::Label,
    );
}

#[test]
fn pytest() {
    check(
        &[
            case!(
                "one line below the source",
                "    def test():\n>       assert [3, 1, 2] == sorted(x)\n        assert [9] == [8]\nE       assert [3, 1, 2] == [1, 2, 3]\nE         \nE         At index 0 diff: 3 != 1\nE         Use -v to get more diff",
                Want::Order("F", &["1", "2", "3"], &["3", "1", "2"])
            ),
            case!(
                "message of an XML report",
                "AssertionError: assert ['B', 'C', 'A'] == ['A', 'B', 'C']\n  \n  At index 0 diff: 'B' != 'A'",
                Want::Order("F", ABC, BCA)
            ),
            case!(
                "elided line, block of today",
                "E       AssertionError: in order\nE       assert ['m-1', 'm... ...] == ['m-0', 'm... ...]\nE         \nE         At index 0 diff: 'm-1' != 'm-0'\nE         \nE         Full diff: (-: missing in left side, +: extra in left side)\nE           [\nE         +     'm-1',\nE               'm-0',\nE         -     'm-1',\nE               'm-2',\nE           ]\n",
                Want::Order("H", &["m-0", "m-1", "m-2"], &["m-1", "m-0", "m-2"])
            ),
            case!(
                "block before 5.4: minus is the left side",
                "E       assert ['m-1', ...] == ['m-0', ...]\nE         At index 0 diff: 'm-1' != 'm-0'\nE         Full diff:\nE         - ['m-1', 'm-0', 'm-2']\nE         + ['m-0', 'm-1', 'm-2']\n",
                Want::Order("H", &["m-0", "m-1", "m-2"], &["m-1", "m-0", "m-2"])
            ),
            case!(
                "elided",
                "E       assert ['m-1', ...] == ['m-0', ...]\nE         At index 0 diff: 'm-1' != 'm-0'\n",
                Want::Suspected("1")
            ),
            case!(
                "elided, one more",
                "E       assert ['m-1', ...] == ['m-0', ...]\nE         At index 0 diff: 'm-1' != 'm-0'\nE         Left contains one more item: 'x'\n",
                Want::Lost
            ),
            case!("in the source", ">       assert ['B', 'A'] == ['A', 'B']\n", Want::Nothing),
            case!(
                "in the summary",
                "FAILED t.py::t - AssertionError: assert ['B', 'A'] == ['A', 'B']",
                Want::Nothing
            ),
            case!(
                "a list in a dict",
                "E       AssertionError: assert {'a': [1, 2], 'b': 3} == {'a': [2, 1], 'b': 3}\n",
                Want::Order("F", &["2", "1"], &["1", "2"])
            ),
            case!("a dict has no order", "E  assert {'a': 1, 'b': 2} == {'b': 2, 'a': 1}", Want::Nothing),
        ],
        Side::Assumed,
    );
}

#[test]
fn lines_of_a_string() {
    let text = "E       AssertionError: assert 'x\\ny\\n' == 'y\\nx\\n'\nE         \nE         + x\n";
    let finding = recover(text).expect("lines moved");
    assert_eq!(finding.split, Some(Split::Lines));
    assert_eq!(finding.ranks, Some(vec![1, 0]));
}

#[test]
fn unittest() {
    check(
        &[
            case!(
                "short",
                "AssertionError: Lists differ: ['B', 'C', 'A'] != ['A', 'B', 'C']\n\nFirst differing element 0:\n'B'\n'A'\n\n- ['B', 'C', 'A']\n+ ['A', 'B', 'C'] : reason\n",
                Want::Order("F", ABC, BCA)
            ),
            case!(
                "abbreviated, with hints",
                "09:00:01 AssertionError: Lists differ: ['m-1', '[38 chars]9'] != ['m-0', '[38 chars]9']\n09:00:01 \n09:00:02 First differing element 0:\n09:00:02 'm-1'\n09:00:02 'm-0'\n09:00:02 \n09:00:02 - ['m-1',\n09:00:02 ?     ^\n09:00:02 \n09:00:02 + ['m-0',\n09:00:02 ?     ^\n09:00:02 \n09:00:02 -  'm-0',\n09:00:02 +  'm-1',\n09:00:02    'm-2'] : why\n",
                Want::Order("H", &["m-0", "m-1", "m-2"], &["m-1", "m-0", "m-2"])
            ),
            case!(
                "diff not shown",
                "Lists differ: ['m-1', '[38 chars]9'] != ['m-0', '[38 chars]9']\n\nFirst differing element 0:\n'm-1'\n'm-0'\n\nDiff is 900 characters long. Set self.maxDiff to None to see it.",
                Want::Suspected("1")
            ),
            case!(
                "more in one",
                "Lists differ: ['m-1', '[38 chars]9'] != ['m-0', '[38 chars]9']\n\nFirst differing element 0:\n'm-1'\n'm-0'\n\nSecond list contains 1 additional elements.\nFirst extra element 9:\n'x'\n",
                Want::Lost
            ),
            case!("tuples", "Tuples differ: (2, 1) != (1, 2)\n", Want::Order("F", &["1", "2"], &["2", "1"])),
        ],
        Side::Assumed,
    );
}

#[test]
fn rust() {
    check(
        &[
            case!(
                "today, with a message",
                "thread 'a' (7) panicked at x.rs:1:1:\nassertion `left == right` failed: left over: order\n  left: [\"B\", \"C\", \"A\"]\n right: [\"A\", \"B\", \"C\"]\nnote: run with",
                Want::Order("F", ABC, BCA)
            ),
            case!(
                "until 1.72",
                "assertion failed: `(left == right)`\n  left: `[\"B\", \"C\", \"A\"]`,\n right: `[\"A\", \"B\", \"C\"]`: message', x.rs:1",
                Want::Order("F", ABC, BCA)
            ),
            case!(
                "one line",
                "thread 't' panicked at 'assertion failed: `(left == right)` (left: `[2, 1]`, right: `[1, 2]`)', x.rs:7",
                Want::Order("F", &["1", "2"], &["2", "1"])
            ),
            case!(
                "pretty",
                "assertion `left == right` failed\n  left: [\n    Key {\n        n: 2,\n    },\n    Key {\n        n: 1,\n    },\n]\n right: [\n    Key {\n        n: 1,\n    },\n    Key {\n        n: 2,\n    },\n]\n",
                Want::Order("F", &["Key { n: 1 }", "Key { n: 2 }"], &["Key { n: 2 }", "Key { n: 1 }"])
            ),
            case!(
                "inside a value",
                "assertion `left == right` failed\n  left: Ok(State { seen: [2, 1], n: 3 })\n right: Ok(State { seen: [1, 2], n: 3 })\n",
                Want::Order("F", &["1", "2"], &["2", "1"])
            ),
            case!(
                "pretty_assertions",
                "assertion failed: `(left == right)`\n\nDiff < left / right > :\n [\n<    \"B\",\n     \"A\",\n>    \"B\",\n ]\n\n",
                Want::Order("H", &["A", "B"], &["B", "A"])
            ),
            case!(
                "a pair is no sequence",
                "assertion `left == right` failed\n  left: (1, 2)\n right: (2, 1)\n",
                Want::Nothing
            ),
            case!(
                "scalars",
                "assertion `left == right` failed\n  left: Less\n right: Equal\n",
                Want::Nothing
            ),
            case!("other", "assertion `left == right` failed\n  left: [1, 2]\n right: [1, 3]\n", Want::Lost),
            case!(
                "without line breaks",
                "assertion `left == right` failed   left: [2, 1]  right: [1, 2]",
                Want::Order("F", &["1", "2"], &["2", "1"])
            ),
        ],
        Side::Assumed,
    );
}

#[test]
fn junit_four_and_five() {
    check(
        &[
            case!(
                "five",
                "in order ==> expected: <[A, B, C]> but was: <[B, C, A]>\n\tat x",
                Want::Order("F", ABC, BCA)
            ),
            case!(
                "four",
                "java.lang.AssertionError: expected:<[A, B, C]> but was:<[B, C, A]>",
                Want::Order("F", ABC, BCA)
            ),
            case!(
                "bare against JSON",
                "path expected:<[A, B, C]> but was:<[\"B\",\"C\",\"A\"]>",
                Want::Order("F", ABC, BCA)
            ),
            case!(
                "compacted list",
                "org.junit.ComparisonFailure: expected:<[[A, B], C]> but was:<[[B, A], C]>",
                Want::Order("F", ABC, &["B", "A", "C"])
            ),
            case!(
                "elements that end in brackets are no compaction",
                "expected:<[P[1], P[2]]> but was:<[P[2], P[1]]>",
                Want::Order("F", &["P[1]", "P[2]"], &["P[2]", "P[1]"])
            ),
            case!(
                "compacted lines, ends cut",
                "expected:<...x\ntick [5\ntick 6]\ntick 7\nt...> but was:<...x\ntick [6\ntick 5]\ntick 7\nt...>\n",
                Want::Suspected("E")
            ),
            case!("compacted scalar", "ComparisonFailure: expected:<[Key]> but was:<[Last]>", Want::Nothing),
            case!(
                "index five",
                "iterable contents differ at index [3], expected: <A> but was: <B>",
                Want::Suspected("1")
            ),
            case!(
                "index four",
                "arrays first differed at element [0]; expected:<[A]> but was:<[B]>",
                Want::Suspected("1")
            ),
            case!("lost", "expected: <[A, B]> but was: <[A]>", Want::Lost),
            case!("one element", "expected: <[A]> but was: <[B]>", Want::Nothing),
            case!("alike", "expected: <[A, B]> but was: <[A, B]>", Want::Nothing),
            case!("classes", "expected: <a.X> but was: <b.Y>", Want::Nothing),
            case!("unfinished", "expected: <[A, B]> but was: <[B", Want::Nothing),
        ],
        Side::Label,
    );
}

#[test]
fn junit_strings_are_split() {
    for (text, split, ranks) in [
        ("expected: <{\"a\":1,\"b\":2}> but was: <{\"b\":2,\"a\":1}>", Split::Json, vec![1, 0]),
        ("expected: <<r><a/><b/></r>> but was: <<r><b/><a/></r>>", Split::Xml, vec![1, 0]),
        ("expected: <x&y=2> but was: <y=2&x>", Split::Query, vec![1, 0]),
        ("expected: <x>\ny\nz> but was: <y\nz\nx>>\n\tat X.y", Split::Lines, vec![1, 2, 0]),
        ("expected:<x[\ny]\nz> but was:<x[]\nz>", Split::Lines, vec![]),
    ] {
        let finding = recover(text);
        if ranks.is_empty() {
            assert_eq!(finding, None, "{text}");
            continue;
        }
        let finding = finding.expect(text);
        assert_eq!((finding.split, finding.ranks), (Some(split), Some(ranks)), "{text}");
    }
}

#[test]
fn unquoted_elements_with_blanks_are_flagged() {
    let finding = recover("expected: <[New York, Rome]> but was: <[Rome, New York]>").expect("order");
    assert!(finding.ambiguous && finding.exact);
    let finding = recover("expected: <[York, Rome]> but was: <[Rome, York]>").expect("order");
    assert!(!finding.ambiguous);
    let finding = recover("expected: <[A, A, B]> but was: <[B, A, A]>").expect("order");
    assert!(finding.ambiguous && finding.exact);
    assert_eq!(finding.ranks, Some(vec![2, 0, 1]));
}

#[test]
fn hamcrest_and_assertj() {
    check(
        &[
            case!(
                "equalTo",
                "\nExpected: is <[A, B, C]>\n     but: was <[B, C, A]>\n\tat x",
                Want::Order("F", ABC, BCA)
            ),
            case!(
                "quoted",
                "Expected: is [\"A\", \"B\"]\n     but: was [\"B\", \"A\"]",
                Want::Order("F", &["A", "B"], &["B", "A"])
            ),
            case!(
                "array",
                "Expected: [<1>, <2>]\n     but: was [<2>, <1>]",
                Want::Order("F", &["1", "2"], &["2", "1"])
            ),
            case!(
                "contains",
                "Expected: iterable containing [\"A\", \"B\"]\n     but: item 0: was \"B\"",
                Want::Suspected("1")
            ),
            case!(
                "contains other",
                "Expected: iterable containing [\"A\", \"B\"]\n     but: item 0: was \"X\"",
                Want::Nothing
            ),
            case!(
                "any order",
                "Expected: iterable with items [\"A\", \"B\"] in any order\n     but: not matched: \"X\"",
                Want::Nothing
            ),
            case!(
                "containsExactly",
                "Expecting actual:\n  [\"B\", \"C\", \"A\"]\nto contain exactly (and in same order):\n  [\"A\", \"B\", \"C\"]\nbut there were differences at these indexes:\n  - element at index 0: expected \"A\" but was \"B\"\n",
                Want::Order("F", ABC, BCA)
            ),
            case!(
                "isEqualTo, old",
                "Expecting:\n <[\"B\", \"A\"]>\nto be equal to:\n <[\"A\", \"B\"]>\nbut was not.",
                Want::Order("F", &["A", "B"], &["B", "A"])
            ),
            case!(
                "isEqualTo, new",
                "\nexpected: [1, 2]\n but was: [2, 1]\n\tat x",
                Want::Order("F", &["1", "2"], &["2", "1"])
            ),
            case!(
                "in words",
                "Actual and expected have the same elements but not in the same order, at index 0 actual element was:\n  <2>\nwhereas expected element was:\n  <1>\n",
                Want::Suspected("1")
            ),
            case!(
                "sequence in more",
                "Expecting actual:\n  [1, 2, 3]\nto contain sequence:\n  [2, 1]\nbut sequence was not found.\n",
                Want::Nothing
            ),
        ],
        Side::Label,
    );
}

#[test]
fn mstest() {
    let text = "Assert.AreEqual failed. Expected:<a\nb\n>. Actual:<b\na\n>. \n";
    let finding = recover(text).expect("lines moved");
    assert_eq!((finding.split, finding.ranks), (Some(Split::Lines), Some(vec![1, 0])));
    let text = "CollectionAssert.AreEqual failed. (Element at index 0 do not match.)";
    assert_eq!(recover(text).map(|f| (f.kind, f.class)), Some((OrderKind::Suspected, OrderClass::Nothing)));
}

#[test]
fn the_first_complete_assertion_decides() {
    let text =
        "expected: <1> but was: <2>\nexpected: <[A, B]> but was: <[A]>\nexpected: <[A, B]> but was: <[B, A]>";
    assert_eq!(recover(text).map(|f| f.kind), Some(OrderKind::LostOrExtra));
    let text = "iterable contents differ at index [0], expected: <A> but was: <B>\nexpected: <[A, B]> but was: <[B, A]>";
    assert_eq!(recover(text).map(|f| f.kind), Some(OrderKind::Permutation));
}

#[test]
fn colours_do_not_hide_an_order() {
    let text = "\x1b[31massertion `left == right` failed\x1b[0m\r\n  left: [\x1b[1m2\x1b[0m, 1]\r\n right: [1, 2]\r\n";
    assert_eq!(recover(text).and_then(|f| f.ranks), Some(vec![1, 0]));
}
