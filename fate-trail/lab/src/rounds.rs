//! Costs side by side: all cases in every round, one after the other, so that whatever the machine
//! does meanwhile hits each of them alike.

use rustix::time::{ClockId, clock_gettime};

/// One thing to measure.
pub struct Case<'a> {
    /// What it is called in the table.
    pub name: String,
    /// Does it that many times.
    pub work: Box<dyn FnMut(u64) + 'a>,
}

impl<'a> Case<'a> {
    /// A case of that name.
    pub fn new(name: impl Into<String>, work: impl FnMut(u64) + 'a) -> Self {
        Case { name: name.into(), work: Box::new(work) }
    }
}

/// Nanoseconds for each time the work was done.
#[derive(Clone, Debug)]
pub struct Cost {
    /// Name of the case.
    pub name: String,
    /// One figure for each round, ascending.
    pub nanos: Vec<f64>,
}

impl Cost {
    /// The middle figure.
    pub fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// The figure that this share of the rounds stays below.
    pub fn quantile(&self, share: f64) -> f64 {
        let last = self.nanos.len().saturating_sub(1);
        self.nanos.get((last as f64 * share).round() as usize).copied().unwrap_or(f64::NAN)
    }
}

/// Nanoseconds that the calling thread has been running, so that a busy machine does not blur what is
/// measured.
fn spent() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let whole = u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000;
    whole + u64::try_from(time.tv_nsec).unwrap_or(0)
}

/// Runs every case `times` times in each of `rounds` rounds, after one round that does not count.
pub fn run(rounds: usize, times: u64, mut cases: Vec<Case<'_>>) -> Vec<Cost> {
    let mut costs: Vec<Cost> =
        cases.iter().map(|case| Cost { name: case.name.clone(), nanos: Vec::new() }).collect();
    for round in 0..=rounds {
        for (case, cost) in cases.iter_mut().zip(&mut costs) {
            let started = spent();
            (case.work)(times);
            if round > 0 {
                cost.nanos.push(spent().saturating_sub(started) as f64 / times as f64);
            }
        }
    }
    for cost in &mut costs {
        cost.nanos.sort_by(f64::total_cmp);
    }
    costs
}

/// The table of costs as ratios to the case called `yardstick`; the spread is that of the middle half of
/// the rounds.
pub fn table(yardstick: &str, costs: &[Cost]) -> String {
    use std::fmt::Write;

    let one = costs.iter().find(|cost| cost.name == yardstick).map_or(f64::NAN, Cost::median);
    let mut text = format!(
        "| | ratio to *{yardstick}* | middle half of the rounds | ns here |\n| --- | --- | --- | --- |\n"
    );
    for cost in costs {
        let ratio = |share| cost.quantile(share) / one;
        let _ = writeln!(
            text,
            "| {} | {:.2} | {:.2}–{:.2} | {:.1} |",
            cost.name,
            ratio(0.5),
            ratio(0.25),
            ratio(0.75),
            cost.median()
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_a_figure_for_each_round_and_a_ratio() {
        let mut done = [0; 2];
        let [one, two] = &mut done;
        let cases = vec![Case::new("one", |times| *one += times), Case::new("two", |times| *two += times)];
        let costs = run(3, 10, cases);
        assert_eq!(done, [40, 40]);
        assert!(costs.iter().all(|cost| cost.nanos.len() == 3 && cost.quantile(0.25) <= cost.median()));
        let known = |name: &str, nanos: &[f64]| Cost { name: name.to_owned(), nanos: nanos.to_vec() };
        let text = table("one", &[known("one", &[2.0, 2.0]), known("two", &[4.0, 5.0, 8.0])]);
        assert!(text.contains("| one | 1.00 |") && text.contains("| two | 2.50 | 2.50–4.00 |"), "{text}");
    }
}
