//! What the counts allow to say next: clean runs that would prove a fix, and how far one single order carries.

/// Clean runs in a row after which a fault at the plug-in rate `failed`/`executed` would have shown
/// itself with probability `level`: ⌈ln(1−level) / ln(1−rate)⌉.
///
/// `None` if nothing failed or nothing was executed: there is no fault to wait for.
pub fn clean_runs(failed: u64, executed: u64, level: f64) -> Option<u64> {
    if failed == 0 || executed == 0 {
        return None;
    }
    if failed >= executed {
        return Some(1);
    }
    let rate = failed as f64 / executed as f64;
    Some(((1.0 - level).ln() / (-rate).ln_1p()).ceil().max(1.0) as u64)
}

/// Sceptical posterior of "one single reorder" after `k` failures that all saw the same order.
///
/// Prior ½ against a two-way window with Dirichlet(1) weights, which lets all `k` agree with
/// probability 2/(k+1); the posterior is (k+1)/(k+3). Of the usual alternatives (equal weights,
/// Ewens) this one believes in a single reorder last.
pub fn posterior_single(k: u64) -> f64 {
    (k as f64 + 1.0) / (k as f64 + 3.0)
}

/// Upper bound at `level` on the share of failures that other orders may have, after `k` failures
/// that all saw the same one: 1 − (1−level)^(1/k). 1 for k = 0.
pub fn other_share_bound(k: u64, level: f64) -> f64 {
    if k == 0 {
        return 1.0;
    }
    1.0 - (1.0 - level).powf(1.0 / k as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_runs_have_their_golden_values() {
        assert_eq!(clean_runs(9, 965, 0.95), Some(320));
        assert_eq!(clean_runs(9, 965, 0.99), Some(492));
        assert_eq!(clean_runs(6, 628, 0.95), Some(313));
        assert_eq!(clean_runs(3, 337, 0.95), Some(336));
        // All of 805 tests screened at once (Bonferroni), and all of 5 000.
        assert_eq!(clean_runs(9, 965, 1.0 - 0.05 / 805.0), Some(1034));
        assert_eq!(clean_runs(9, 965, 1.0 - 0.05 / 5000.0), Some(1229));
    }

    #[test]
    fn clean_runs_have_their_ends() {
        assert_eq!(clean_runs(0, 965, 0.95), None);
        assert_eq!(clean_runs(0, 0, 0.95), None);
        assert_eq!(clean_runs(4, 4, 0.95), Some(1));
        assert_eq!(clean_runs(1, 2, 0.95), Some(5));
    }

    #[test]
    fn posterior_of_a_single_reorder_has_its_golden_values() {
        let golden = [
            (2, 0.600),
            (3, 0.667),
            (4, 0.714),
            (6, 0.778),
            (10, 0.846),
            (20, 0.913),
            (29, 0.938),
            (59, 0.968),
        ];
        for (k, expected) in golden {
            assert!((posterior_single(k) - expected).abs() < 5.1e-4, "k = {k}: {}", posterior_single(k));
        }
    }

    #[test]
    fn other_share_bound_has_its_golden_values() {
        let golden = [
            (2, 0.776),
            (3, 0.632),
            (4, 0.527),
            (6, 0.393),
            (10, 0.259),
            (20, 0.139),
            (29, 0.098),
            (59, 0.050),
        ];
        for (k, expected) in golden {
            assert!(
                (other_share_bound(k, 0.95) - expected).abs() < 5.1e-4,
                "k = {k}: {}",
                other_share_bound(k, 0.95)
            );
        }
        assert_eq!(other_share_bound(0, 0.95), 1.0);
    }
}
