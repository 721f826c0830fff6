//! The statements of Yeo and Buyya 2006, each held against the points of the replays.
//!
//! A statement is a number of comparisons, each at one value of what a figure varies and between
//! two methods or two points, as differences of the replays with the same seed: same jobs, same
//! classes, same deadlines. It holds if all of them do, with the whole of their intervals: fewer
//! replays, whose intervals are wider, never make a statement hold.

use super::figures::{Estimates, Figure, Point};
use super::methods::Method;
use super::outcome::Outcome;
use super::spread::Spread;

use Estimates::{Accurate, Actual};
use Figure::{ArrivalDelay, HighUrgency, Inaccuracy, Ratio};
use Method::{Edf, EdfWithoutAdmission, Libra, LibraRisk};

/// How far two parts of the jobs may be from each other and still be "the same number", in points
/// of a hundred.
const SAME_POINTS: f64 = 3.0;

/// How far two slowdowns may be from each other and still be the same, in per cent.
const SAME_SLOWDOWN_PERCENT: f64 = 5.0;

/// What the difference has to be.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Wanted {
    /// More than this, with the whole interval.
    Above(f64),
    /// Less than this, with the whole interval.
    Below(f64),
    /// Between these, with the whole interval.
    Within(f64, f64),
}

/// One comparison.
#[derive(Debug, Clone)]
struct Check {
    at: String,
    spread: Spread,
    unit: &'static str,
    wanted: Wanted,
}

impl Check {
    fn holds(&self) -> bool {
        let Spread { lower, upper, .. } = self.spread;
        match self.wanted {
            Wanted::Above(least) => lower > least,
            Wanted::Below(most) => upper < most,
            Wanted::Within(least, most) => lower >= least && upper <= most,
        }
    }

    /// How far the mean is on the wrong side of what is wanted; negative on the right one.
    fn misses_by(&self) -> f64 {
        let mean = self.spread.mean;
        match self.wanted {
            Wanted::Above(least) => least - mean,
            Wanted::Below(most) => mean - most,
            Wanted::Within(least, most) => (least - mean).max(mean - most),
        }
    }

    fn text(&self) -> String {
        let Spread { mean, lower, upper } = self.spread;
        format!("{} {mean:+.1}{} ({lower:+.1} to {upper:+.1})", self.at, self.unit)
    }
}

/// A statement of the publication, and whether it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// What is stated.
    pub text: &'static str,
    /// Where the publication states it.
    pub source: &'static str,
    /// Whether it holds.
    pub holds: bool,
    /// The figures that say so: of a statement that holds the closest comparison, of another one
    /// those that fail.
    pub because: String,
}

impl Statement {
    fn of(text: &'static str, source: &'static str, checks: Vec<Option<Check>>) -> Self {
        let Some(mut checks) = checks.into_iter().collect::<Option<Vec<Check>>>() else {
            return Self { text, source, holds: false, because: "a method fulfilled nothing there".to_owned() };
        };
        checks.sort_by(|one, other| other.misses_by().total_cmp(&one.misses_by()));
        let failing: Vec<&Check> = checks.iter().filter(|check| !check.holds()).collect();
        let because = match (failing.as_slice(), checks.first()) {
            ([], Some(closest)) if checks.len() > 1 => format!("closest of {}: {}", checks.len(), closest.text()),
            ([], closest) => closest.map_or_else(String::new, Check::text),
            (failing, _) => {
                let shown: Vec<String> = failing.iter().take(3).map(|check| check.text()).collect();
                format!("{} of {} fail, by most: {}", failing.len(), checks.len(), shown.join("; "))
            }
        };
        Self { text, source, holds: failing.is_empty(), because }
    }
}

/// The points, to be compared.
struct Points<'a>(&'a [Point]);

/// A point without its method.
#[derive(Debug, Clone, Copy)]
struct At(Figure, f64, Estimates, f64);

impl At {
    fn text(self) -> String {
        let Self(figure, x, estimates, urgent) = self;
        let of = if figure == Inaccuracy { format!("{urgent} % urgent") } else { estimates.name().to_owned() };
        format!("at {x} of figure {} ({of})", figure.number())
    }
}

impl Points<'_> {
    fn find(&self, At(figure, x, estimates, urgent): At, method: Method) -> Option<&Point> {
        self.0.iter().find(|point| {
            let is_urgent = figure != Inaccuracy || point.high_urgency_percent == urgent;
            point.figure == figure && point.x == x && point.estimates == estimates && point.method == method && is_urgent
        })
    }

    /// A figure of two points compared seed by seed.
    fn compared(
        &self,
        (at, method): (At, Method),
        (other_at, other): (At, Method),
        of: impl Fn(&Outcome, &Outcome) -> Option<f64>,
    ) -> Option<Spread> {
        let (one, other) = (self.find(at, method)?, self.find(other_at, other)?);
        Spread::of(&one.outcomes.iter().zip(&other.outcomes).map(|(one, other)| of(one, other)).collect::<Option<Vec<f64>>>()?)
    }

    /// Compares by how many percentage points one method fulfils more deadlines than another.
    fn fulfils(&self, method: Method, other: Method, at: At, wanted: Wanted) -> Option<Check> {
        let spread = self.compared((at, method), (at, other), |one, other| Some(one.fulfilled_percent() - other.fulfilled_percent()))?;
        Some(Check { at: format!("{} than {}, {}", method.name(), other.name(), at.text()), spread, unit: " points", wanted })
    }

    /// Compares by how many per cent the slowdown of one method exceeds that of another.
    fn slowdown(&self, method: Method, other: Method, at: At, wanted: Wanted) -> Option<Check> {
        let more = |one: &Outcome, other: &Outcome| Some(100.0 * (one.mean_slowdown? / other.mean_slowdown? - 1.0));
        let spread = self.compared((at, method), (at, other), more)?;
        Some(Check { at: format!("slowdown, {} than {}, {}", method.name(), other.name(), at.text()), spread, unit: " %", wanted })
    }

    /// Compares by how many percentage points a method fulfils more deadlines at one point than at
    /// another.
    fn between(&self, method: Method, at: At, other: At, wanted: Wanted) -> Option<Check> {
        let more = |one: &Outcome, other: &Outcome| Some(one.fulfilled_percent() - other.fulfilled_percent());
        let spread = self.compared((at, method), (other, method), more)?;
        Some(Check { at: format!("{}, {} than {}", method.name(), at.text(), other.text()), spread, unit: " points", wanted })
    }

    /// Returns by how many percentage points the lead of LibraRisk over another method grows with
    /// each ten per cent of inaccuracy, by least squares.
    fn growth(&self, other: Method, urgent: f64) -> Option<Check> {
        let leads = |x: f64| {
            let at = At(Inaccuracy, x, Actual, urgent);
            let (ours, theirs) = (self.find(at, LibraRisk)?, self.find(at, other)?);
            let lead = |(ours, theirs): (&Outcome, &Outcome)| ours.fulfilled_percent() - theirs.fulfilled_percent();
            Some(ours.outcomes.iter().zip(&theirs.outcomes).map(lead).collect::<Vec<f64>>())
        };
        let steps: Vec<f64> = (0..=10).map(f64::from).collect();
        let leads = steps.iter().map(|step| leads(10.0 * step)).collect::<Option<Vec<_>>>()?;
        let seeds = leads.first()?.len();
        let centre = 5.0;
        let squares: f64 = steps.iter().map(|step| (step - centre) * (step - centre)).sum();
        let slope = |seed: usize| steps.iter().zip(&leads).map(|(step, lead)| (step - centre) * lead[seed]).sum::<f64>() / squares;
        let spread = Spread::of(&(0..seeds).map(slope).collect::<Vec<f64>>())?;
        let at = format!("lead over {} for each 10 % of inaccuracy ({urgent} % urgent)", other.name());
        Some(Check { at, spread, unit: " points", wanted: Wanted::Above(0.0) })
    }
}

const ABOVE: Wanted = Wanted::Above(0.0);
const SAME: Wanted = Wanted::Within(-SAME_POINTS, SAME_POINTS);
const SAME_SLOWDOWN: Wanted = Wanted::Within(-SAME_SLOWDOWN_PERCENT, SAME_SLOWDOWN_PERCENT);

/// The tenths from one to another, which the arrival delay factor has.
fn tenths(from: i32, to: i32) -> impl Iterator<Item = f64> + Clone {
    (from..=to).map(|tenth| f64::from(tenth) / 10.0)
}

/// All values of the figures 1 to 3 from a factor on that is not heavy load, with these estimates.
fn lighter(from_tenth: i32, estimates: Estimates) -> Vec<At> {
    let delays = tenths(from_tenth, 10).map(|x| At(ArrivalDelay, x, estimates, 20.0));
    let ratios = (1..=10).map(|x| At(Ratio, f64::from(x), estimates, 20.0));
    let urgencies = (0..=10).map(|x| At(HighUrgency, 10.0 * f64::from(x), estimates, 20.0));
    delays.chain(ratios).chain(urgencies).collect()
}

/// Says of each statement whether it holds.
#[must_use]
pub fn statements(points: &[Point]) -> Vec<Statement> {
    let points = Points(points);
    let both = [Libra, LibraRisk];
    let heavy = |from, to, estimates| tenths(from, to).map(move |x| At(ArrivalDelay, x, estimates, 20.0));
    let over = |ats: Vec<At>, check: &dyn Fn(At) -> Vec<Option<Check>>| ats.into_iter().flat_map(check).collect::<Vec<_>>();
    let edf_against = |ats: Vec<At>, wanted| over(ats, &|at| both.map(|method| points.fulfils(Edf, method, at, wanted)).to_vec());
    let libras = |ats: Vec<At>, wanted| over(ats, &|at| vec![points.fulfils(LibraRisk, Libra, at, wanted)]);
    let all_figures = |estimates| lighter(0, estimates);
    let urgent = |x| At(HighUrgency, x, Actual, 20.0);
    let inaccurate = |urgent| At(Inaccuracy, 100.0, Actual, urgent);
    let below_zero = Wanted::Below(0.0);
    vec![
        Statement::of(
            "with an arrival delay factor below 0.3 EDF fulfils more than Libra and LibraRisk",
            "5.2, figure 1",
            edf_against([Accurate, Actual].into_iter().flat_map(|estimates| heavy(0, 2, estimates)).collect(), ABOVE),
        ),
        Statement::of(
            "beyond 0.3 it fulfils fewer than both",
            "5.2, figure 1",
            edf_against([Accurate, Actual].into_iter().flat_map(|estimates| heavy(4, 10, estimates)).collect(), below_zero),
        ),
        Statement::of(
            "with accurate estimates Libra and LibraRisk fulfil more than EDF (beyond a factor of 0.3)",
            "5.1, figures 1 to 3 (a)",
            edf_against(lighter(4, Accurate), below_zero),
        ),
        Statement::of(
            "with accurate estimates LibraRisk fulfils as many as Libra (within 3 points)",
            "5.1, figures 1 to 3 (a)",
            libras(all_figures(Accurate), SAME),
        ),
        Statement::of(
            "with accurate estimates Libra and LibraRisk have the same slowdown (within 5 %)",
            "5.1, figures 1 to 3 (c)",
            over(all_figures(Accurate), &|at| vec![points.slowdown(LibraRisk, Libra, at, SAME_SLOWDOWN)]),
        ),
        Statement::of(
            "each method fulfils fewer with actual estimates than with accurate ones",
            "5.1, figures 1 to 3",
            over(all_figures(Actual), &|at| {
                [Edf, Libra, LibraRisk].map(|method| points.between(method, at, At(at.0, at.1, Accurate, at.3), below_zero)).to_vec()
            }),
        ),
        Statement::of(
            "with actual estimates Libra is only barely better than EDF (up to 5 points, beyond a factor of 0.3)",
            "5.1, figures 1 to 3 (b)",
            over(lighter(4, Actual), &|at| vec![points.fulfils(Libra, Edf, at, Wanted::Within(0.0, 5.0))]),
        ),
        Statement::of(
            "with actual estimates LibraRisk fulfils more than Libra from a factor of 0.5 on",
            "5.2, figure 1 (b)",
            libras(heavy(5, 10, Actual).collect(), ABOVE),
        ),
        Statement::of(
            "with actual estimates LibraRisk fulfils more than Libra at every ratio",
            "5.3, figure 2 (b)",
            libras((1..=10).map(|x| At(Ratio, f64::from(x), Actual, 20.0)).collect(), ABOVE),
        ),
        Statement::of(
            "with actual estimates LibraRisk has a lower slowdown than Libra (beyond a factor of 0.5)",
            "5.1, figures 1 to 3 (d)",
            over(lighter(6, Actual), &|at| vec![points.slowdown(LibraRisk, Libra, at, below_zero)]),
        ),
        Statement::of(
            "EDF has the lowest slowdown",
            "5.1, figures 1 to 3 (c, d)",
            over([all_figures(Accurate), all_figures(Actual)].concat(), &|at| {
                both.map(|method| points.slowdown(Edf, method, at, below_zero)).to_vec()
            }),
        ),
        Statement::of(
            "at 100 % of high urgency LibraRisk completes close to 40 % of the jobs more than Libra (35 to 45 points)",
            "5.4, figure 3 (b)",
            libras(vec![urgent(100.0)], Wanted::Within(35.0, 45.0)),
        ),
        Statement::of(
            "at 0 % of high urgency it is 20 % (15 to 25 points)",
            "5.4, figure 3 (b)",
            libras(vec![urgent(0.0)], Wanted::Within(15.0, 25.0)),
        ),
        Statement::of(
            "LibraRisk fulfils more the more jobs are of high urgency, EDF and Libra fewer",
            "5.4, figure 3 (b)",
            vec![
                points.between(LibraRisk, urgent(100.0), urgent(0.0), ABOVE),
                points.between(Libra, urgent(100.0), urgent(0.0), below_zero),
                points.between(Edf, urgent(100.0), urgent(0.0), below_zero),
            ],
        ),
        Statement::of(
            "at 80 % of high urgency LibraRisk keeps about what it has at 20 % (within 3 points)",
            "5.5, figure 4 (a, b)",
            vec![points.between(LibraRisk, inaccurate(80.0), inaccurate(20.0), SAME)],
        ),
        Statement::of(
            "there Libra and EDF drop",
            "5.5, figure 4 (a, b)",
            [Libra, Edf].map(|method| points.between(method, inaccurate(80.0), inaccurate(20.0), below_zero)).to_vec(),
        ),
        Statement::of(
            "the lead of LibraRisk over Libra and EDF grows with the inaccuracy",
            "5.5, figure 4 (a, b)",
            [20.0, 80.0].into_iter().flat_map(|urgent| [Libra, Edf].map(|other| points.growth(other, urgent))).collect(),
        ),
        Statement::of(
            "EDF without admission performs much worse than with it (by more than 10 points)",
            "4",
            over([all_figures(Accurate), all_figures(Actual)].concat(), &|at| {
                vec![points.fulfils(EdfWithoutAdmission, Edf, at, Wanted::Below(-10.0))]
            }),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mean: f64, half: f64, wanted: Wanted) -> Check {
        Check { at: "there".to_owned(), spread: Spread { mean, lower: mean - half, upper: mean + half }, unit: " points", wanted }
    }

    #[test]
    fn a_comparison_holds_with_its_whole_interval() {
        assert!(check(2.0, 1.0, ABOVE).holds() && !check(2.0, 2.5, ABOVE).holds() && !check(-2.0, 1.0, ABOVE).holds());
        assert!(check(-2.0, 1.0, Wanted::Below(0.0)).holds() && !check(-2.0, 2.5, Wanted::Below(0.0)).holds());
        assert!(check(2.0, 1.0, SAME).holds() && !check(2.5, 1.0, SAME).holds());
        let about_20 = Wanted::Within(15.0, 25.0);
        assert!(check(24.0, 0.5, about_20).holds() && !check(25.3, 0.4, about_20).holds());
        assert!(!check(24.0, 1.5, about_20).holds(), "a wide interval shows nothing");
    }

    #[test]
    fn a_statement_says_which_comparison_fails_most_or_is_closest() {
        let of = |checks: Vec<Check>| Statement::of("s", "5", checks.into_iter().map(Some).collect());
        let holds = of(vec![check(9.0, 1.0, ABOVE), check(2.0, 1.0, ABOVE)]);
        assert_eq!((holds.holds, holds.because.as_str()), (true, "closest of 2: there +2.0 points (+1.0 to +3.0)"));
        let fails = of(vec![check(9.0, 1.0, ABOVE), check(-2.0, 1.0, ABOVE), check(-3.0, 1.0, ABOVE)]);
        assert!(!fails.holds);
        assert!(fails.because.starts_with("2 of 3 fail, by most: there -3.0 points"), "{}", fails.because);
        assert!(!Statement::of("s", "5", vec![None]).holds);
    }

    /// Points at which LibraRisk fulfils what is given, Libra and both EDF less.
    fn made_up(libra_risk: usize, others: usize) -> Vec<Point> {
        let outcome =
            |fulfilled| Outcome { submitted: 100, completing: 100, accepted: 100, fulfilled, withdrawn: 0, mean_slowdown: Some(2.0) };
        let mut points = Vec::new();
        let actual = |figure, values: Vec<f64>| values.into_iter().map(move |x| (figure, x));
        let inaccuracies = (0..=10).map(|x| 10.0 * f64::from(x)).collect::<Vec<_>>();
        for (figure, x) in actual(ArrivalDelay, tenths(0, 10).collect()).chain(actual(Inaccuracy, inaccuracies)) {
            for high_urgency_percent in [20.0, 80.0] {
                for method in Method::ALL {
                    let lead = if figure == Inaccuracy { (x / 10.0) as usize } else { 0 };
                    let fulfilled = if method == LibraRisk { libra_risk + lead } else { others };
                    points.push(Point {
                        figure,
                        x,
                        estimates: Actual,
                        high_urgency_percent,
                        method,
                        outcomes: vec![outcome(fulfilled); 3],
                    });
                }
            }
        }
        points
    }

    #[test]
    fn statements_follow_from_the_points() {
        let holds =
            |points: &[Point], text: &str| statements(points).into_iter().find(|statement| statement.text.starts_with(text)).unwrap();
        let better = made_up(60, 50);
        let more = holds(&better, "with actual estimates LibraRisk fulfils more than Libra from");
        assert!(more.holds && more.because.contains("+10.0 points"), "{more:?}");
        let grows = holds(&better, "the lead of LibraRisk");
        assert!(grows.holds && grows.because.contains("+1.0 points"), "{grows:?}");
        assert!(holds(&better, "at 80 %").holds);
        assert!(!holds(&better, "there Libra and EDF drop").holds);
        assert!(!holds(&made_up(50, 60), "with actual estimates LibraRisk fulfils more than Libra from").holds);
    }
}
