//! Which side was expected, decided over all failures of one test.

use super::{OrderClass, OrderFinding, Side, compare};

/// Decides the expected side of findings whose assertion did not name it.
///
/// Takes all findings of one test. What a test expects is written in its source, what it observes
/// is not: the side that is the same in every failure, while the other one varies, is the expected
/// one. Findings whose assertion names its sides take part as evidence and are never changed.
/// Where the rule gives the left operand, expected and observed change places and the ranks are
/// computed anew. Where it gives nothing (one failure only, both sides vary, none varies) the
/// findings stay [`Side::Assumed`].
pub fn decide_sides(findings: &mut [&mut OrderFinding]) {
    let labelled = findings.iter().find(|f| f.side == Side::Label && complete(f)).map(|f| f.expected.clone());
    let open: Vec<usize> =
        (0..findings.len()).filter(|&i| findings[i].side == Side::Assumed && complete(findings[i])).collect();
    let Some(&first) = open.first() else {
        return;
    };
    let constant = |side: fn(&OrderFinding) -> &Vec<String>| {
        let model = labelled.as_ref().unwrap_or_else(|| side(findings[first]));
        open.iter().all(|&i| side(findings[i]) == model)
    };
    let swap = match (constant(|f| &f.expected), constant(|f| &f.observed)) {
        (true, false) => false,
        (false, true) => true,
        _ => return,
    };
    for i in open {
        let finding = &mut *findings[i];
        finding.side = Side::NeverVaries;
        if swap {
            std::mem::swap(&mut finding.expected, &mut finding.observed);
            let (kind, ranks, repeated) = compare(&finding.expected, &finding.observed);
            finding.kind = kind;
            finding.ranks = ranks;
            finding.ambiguous |= repeated;
        }
    }
}

/// True where both sequences are wholly visible, so that "does not vary" means something.
fn complete(finding: &OrderFinding) -> bool {
    matches!(finding.class, OrderClass::Full | OrderClass::Hunks) && !finding.expected.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::recover;

    fn rust(left: &str, right: &str) -> OrderFinding {
        let text = format!("assertion `left == right` failed\n  left: {left}\n right: {right}\n");
        recover(&text).expect("two lists differ")
    }

    fn decided(mut findings: Vec<OrderFinding>) -> Vec<(Side, Option<Vec<u32>>)> {
        decide_sides(&mut findings.iter_mut().collect::<Vec<_>>());
        findings.into_iter().map(|f| (f.side, f.ranks)).collect()
    }

    #[test]
    fn the_side_that_never_varies_was_expected() {
        let (abc, bca, cab) = ("[1, 2, 3]", "[2, 3, 1]", "[3, 1, 2]");
        let right = decided(vec![rust(bca, abc), rust(cab, abc)]);
        let left = decided(vec![rust(abc, bca), rust(abc, cab)]);
        let want = vec![(Side::NeverVaries, Some(vec![1, 2, 0])), (Side::NeverVaries, Some(vec![2, 0, 1]))];
        assert_eq!(right, want);
        assert_eq!(left, want);
    }

    #[test]
    fn nothing_decides_where_none_or_both_vary() {
        let same = decided(vec![rust("[2, 1]", "[1, 2]"), rust("[2, 1]", "[1, 2]")]);
        let both = decided(vec![rust("[2, 1]", "[1, 2]"), rust("[4, 3]", "[3, 4]")]);
        let one = decided(vec![rust("[2, 1]", "[1, 2]")]);
        for (side, ranks) in same.into_iter().chain(both).chain(one) {
            assert_eq!((side, ranks), (Side::Assumed, Some(vec![1, 0])));
        }
    }

    #[test]
    fn a_named_side_decides_for_the_others() {
        let mut named = rust("[3, 1, 2]", "[1, 2, 3]");
        named.side = Side::Label;
        let got = decided(vec![named, rust("[1, 2, 3]", "[2, 3, 1]")]);
        assert_eq!(got[0], (Side::Label, Some(vec![2, 0, 1])));
        assert_eq!(got[1], (Side::NeverVaries, Some(vec![1, 2, 0])));
    }

    #[test]
    fn an_empty_slice_is_fine() {
        decide_sides(&mut []);
    }
}
