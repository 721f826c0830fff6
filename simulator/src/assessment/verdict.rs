//! Whether it would pay: one answer, and the figures that it rests on.
//!
//! The rules are few and stand here as constants, so that anybody can disagree with them. Each is
//! about what a person would notice, and none is met by what may be chance.

use job_types::text::count;
use job_types::time::Seconds;
use serde::Serialize;

use super::forecasts::Forecasts;
use super::molding::{Adoption, Molding, Under, mean};
use super::past::Past;
use super::schedulers::{Schedule, Schedulers};
use crate::evaluation::IN_FORCE;
use crate::metrics::Distribution;

/// The fewest jobs that must have run before a verdict is given. Forecasts are made of the past,
/// and a replay of so short a time is one path of many.
pub const FEWEST_JOBS: usize = 2_000;

/// Molding pays if the mean response of all jobs falls by this part at least, in every draw, where
/// all use it, under each scheduler that it is replayed under.
pub const LEAST_GAIN: f64 = 0.05;

/// And by this much time, over the draws.
pub const LEAST_GAIN_TIME: Seconds = Seconds::MINUTE;

/// And if the jobs of those who don't use it, while half of all do, take no longer than this part
/// more: as much as replays differ by chance.
pub const MOST_PRICE: f64 = 0.01;

/// Forecasts of waits are worth showing where jobs wait so long in the mean.
pub const LEAST_WAIT: Seconds = Seconds::MINUTE;

/// And where bounds that should hold with 0.9 and 0.95 held that often, give or take this part.
pub const MOST_COVERAGE_ERROR: f64 = 0.05;

/// The fewest jobs with bounds that tell how often bounds hold, of all jobs or of a part of them.
pub const FEWEST_WITH_BOUNDS: usize = 500;

/// A replay tells little of a cluster where jobs wait by this factor longer or shorter in it than
/// they did.
pub const MOST_WAIT_RATIO: f64 = 4.0;

/// What the answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Molding would bring results sooner, and nobody would pay for it.
    Pays,
    /// Forecasts are worth showing; molding gains too little.
    ForecastsOnly,
    /// Neither.
    DoesNotPay,
    /// The data do not say.
    CannotBeSaid,
}

/// A figure that the answer rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is.
    pub label: &'static str,
    /// The figure, with its unit.
    pub figure: String,
    /// What else is to be known about it.
    pub note: String,
    /// The columns of figures that stand under it; none where there are no rows.
    pub columns: Vec<String>,
    /// The figures that it is made of, or that stand beside it.
    pub rows: Vec<FindingRow>,
}

/// Figures of one kind under a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingRow {
    /// What they are.
    pub name: &'static str,
    /// The figures, one for each column of the finding.
    pub figures: Vec<String>,
}

impl Finding {
    /// A figure by itself.
    fn alone(label: &'static str, figure: String, note: String) -> Self {
        Self { label, figure, note, columns: Vec::new(), rows: Vec::new() }
    }
}

/// Whether it would pay, in one or two sentences.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The answer.
    pub answer: Answer,
    /// The answer in words, with the figures that decide.
    pub sentences: Vec<String>,
    /// The figures that it rests on.
    pub findings: Vec<Finding>,
}

/// A part of a whole, in words: with a digit behind the point below ten per cent.
pub fn percent(part: f64) -> String {
    let percent = 100.0 * part;
    // A percentage that rounds to zero is shown without a sign.
    let percent = if percent.abs() < 0.05 { 0.0 } else { percent };
    if percent.abs() < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// A change, with its sign.
pub fn signed_percent(part: f64) -> String {
    if part > 0.0005 { format!("+{}", percent(part)) } else { percent(part) }
}

/// A time in words.
pub fn time(seconds: f64) -> String {
    match seconds.max(0.0) {
        seconds if seconds < 59.5 => format!("{seconds:.0} s"),
        seconds if seconds < 3_570.0 => format!("{:.0} min", seconds / 60.0),
        seconds if seconds < 35_820.0 => format!("{:.1} h", seconds / 3_600.0),
        seconds if seconds < 172_800.0 => format!("{:.0} h", seconds / 3_600.0),
        seconds => format!("{:.1} days", seconds / 86_400.0),
    }
}

/// The lowest and the highest of some changes, in words.
fn span(changes: impl Iterator<Item = f64> + Clone) -> String {
    let lowest = percent(changes.clone().fold(f64::INFINITY, f64::min));
    let highest = percent(changes.fold(f64::NEG_INFINITY, f64::max));
    if lowest == highest { lowest } else { format!("{} to {highest}", lowest.trim_end_matches(" %")) }
}

/// What was found about molding under one scheduler.
struct MoldingFound<'a> {
    under: Under,
    all: &'a Adoption,
    half: Option<&'a Adoption>,
    pays: bool,
}

impl<'a> MoldingFound<'a> {
    /// Summarises what molding does under each scheduler.
    fn of(molding: &'a Molding) -> Vec<Self> {
        let of = |molded: &'a super::molding::Molded| {
            let (all, half) = (molded.adoptions.last()?, molded.adoptions.first());
            let enough = all.gains().into_iter().all(|gain| gain >= LEAST_GAIN) && all.gain_s() >= LEAST_GAIN_TIME.0 as f64;
            let found = Self { under: molded.under, all, half, pays: enough };
            Some(Self { pays: enough && found.price() <= MOST_PRICE, ..found })
        };
        molding.by_scheduler.iter().filter_map(of).collect()
    }

    /// Returns the part by which the other jobs take longer while half of the jobs use molding.
    fn price(&self) -> f64 {
        self.half.and_then(Adoption::others_change).unwrap_or(0.0)
    }

    /// Mean responses without molding and with it, in seconds, over the draws.
    fn times(&self) -> (f64, f64) {
        let over_draws = |of: fn(&crate::experiment::Comparison) -> f64| mean(self.all.draws.iter().map(of));
        (over_draws(|draw| draw.baseline.mean_response_s), over_draws(|draw| draw.ours.mean_response_s))
    }
}

/// The number of jobs that the default had bounds for.
fn with_bounds(forecasts: &Forecasts) -> usize {
    forecasts.jobs - forecasts.waits.jobs_without_bounds.get("best").copied().unwrap_or(0).min(forecasts.jobs)
}

/// Whether forecasts of waits are worth showing: those that would have been in force, which are
/// what users are told.
pub fn are_forecasts_useful(past: &Past, forecasts: &Forecasts) -> bool {
    let waits = &forecasts.waits;
    let held =
        |level: &str, nominal: f64| waits.in_force_coverage.get(level).is_some_and(|held| (held - nominal).abs() <= MOST_COVERAGE_ERROR);
    let error = |method: &str| waits.aae_hours.get(method).copied();
    let is_ahead = error(IN_FORCE).zip(error("knn")).is_none_or(|(own, nearest)| own <= nearest);
    past.all.mean_wait() >= LEAST_WAIT.0 as f64
        && held("0.9", 0.9)
        && held("0.95", 0.95)
        && is_ahead
        && with_bounds(forecasts) >= FEWEST_WITH_BOUNDS
}

impl Verdict {
    /// Builds the verdict from what was found; a part that is `None` was not found.
    pub(super) fn of(past: &Past, forecasts: Option<&Forecasts>, molding: Option<&Molding>, schedulers: Option<&Schedulers>) -> Self {
        let molding = molding.map(MoldingFound::of).unwrap_or_default();
        let mut findings: Vec<Finding> = past.all.wait_s.as_ref().map(waiting).into_iter().collect();
        findings.extend(forecasts.map(forecast_finding));
        findings.extend(molding_findings(&molding));
        let ratio = schedulers.and_then(|schedulers| nearest_ratio(schedulers, &molding));
        let useful = forecasts.is_some_and(|forecasts| are_forecasts_useful(past, forecasts));
        let pays = !molding.is_empty() && molding.iter().all(|found| found.pays);
        let is_like = ratio.is_none_or(|ratio| (1.0 / MOST_WAIT_RATIO..=MOST_WAIT_RATIO).contains(&ratio));
        let (answer, sentences) = if past.ran >= FEWEST_JOBS && !past.says_waits {
            (Answer::CannotBeSaid, vec![no_waits(), if pays { molding_pays(&molding) } else { molding_falls_short(&molding, pays, ratio) }])
        } else if past.ran < FEWEST_JOBS || forecasts.is_none() {
            (Answer::CannotBeSaid, too_few(past))
        } else if pays && is_like {
            (Answer::Pays, vec![molding_pays(&molding), forecast_sentence(past, forecasts, useful)])
        } else if useful {
            (Answer::ForecastsOnly, vec![forecast_sentence(past, forecasts, true), molding_falls_short(&molding, pays, ratio)])
        } else if pays {
            (Answer::CannotBeSaid, vec![molding_falls_short(&molding, pays, ratio), forecast_sentence(past, forecasts, false)])
        } else {
            (Answer::DoesNotPay, vec![forecast_sentence(past, forecasts, false), molding_falls_short(&molding, pays, ratio)])
        };
        let opening = match answer {
            Answer::Pays => "It would pay here.",
            Answer::ForecastsOnly => "It would pay here for its forecasts alone.",
            Answer::DoesNotPay => "It would not pay here.",
            Answer::CannotBeSaid => "Whether it would pay can't be said from this past.",
        };
        let sentences = std::iter::once(opening.to_owned()).chain(sentences).collect();
        Self { answer, sentences, findings }
    }
}

/// Returns the factor by which jobs wait longer under a schedule than they did in the log. `None`
/// if neither wait is as long as a minute, or if the log does not say how long jobs waited.
#[must_use]
pub fn wait_ratio(schedulers: &Schedulers, schedule: &Schedule) -> Option<f64> {
    let (replayed, logged) = (schedule.wait_s.mean, schedulers.logged_wait_s.as_ref()?.mean);
    (replayed.max(logged) >= LEAST_WAIT.0 as f64).then(|| replayed.max(1.0) / logged.max(1.0))
}

/// Returns the wait ratio that is nearest to 1 among the schedulers that molding is replayed under.
fn nearest_ratio(schedulers: &Schedulers, molding: &[MoldingFound<'_>]) -> Option<f64> {
    let ratios = molding.iter().filter_map(|found| wait_ratio(schedulers, found.under.schedule(schedulers)?));
    ratios.min_by(|one, other| one.ln().abs().total_cmp(&other.ln().abs()))
}

fn waiting(wait: &Distribution) -> Finding {
    let note = format!("half of the jobs wait at most {}, one in twenty more than {}", time(wait.median), time(wait.p95));
    Finding::alone("mean wait", time(wait.mean), note)
}

fn forecast_finding(forecasts: &Forecasts) -> Finding {
    let waits = &forecasts.waits;
    let bounded = with_bounds(forecasts);
    let held = if bounded < FEWEST_WITH_BOUNDS { None } else { waits.in_force_coverage.get("0.95").copied() };
    let error = |method: &str| waits.aae_hours.get(method).map_or_else(|| "-".to_owned(), |hours| time(hours * 3_600.0));
    let median = |method: &str| waits.median_ae_hours_by_method.get(method).map_or_else(|| "-".to_owned(), |hours| time(hours * 3_600.0));
    let by_default = waits.coverage.get("0.95").copied().map_or_else(|| "-".to_owned(), percent);
    let note = format!(
        "mean error {} (default {}, nearest neighbours {}), median error {} (default {})",
        error(IN_FORCE),
        error("best"),
        error("knn"),
        median(IN_FORCE),
        median("best")
    );
    let note = match held {
        Some(_) if bounded == forecasts.jobs => format!("in force, and {by_default} by default; {note}"),
        Some(_) => format!(
            "in force, and {by_default} by default; of {} of {} jobs, the others had no bounds; {note}",
            count(bounded),
            count(forecasts.jobs)
        ),
        None => format!("{}; {note}", too_few_bounds(forecasts)),
    };
    Finding::alone("waits within bounds of 95 %", held.map_or_else(|| "not known".to_owned(), percent), note)
}

fn too_few_bounds(forecasts: &Forecasts) -> String {
    format!(
        "{} of {} jobs had bounds, and how often bounds hold is said of {} at the least",
        count(with_bounds(forecasts)),
        count(forecasts.jobs),
        count(FEWEST_WITH_BOUNDS)
    )
}

/// The figures of the first scheduler, which is the site's or has Slurm's defaults, above those of
/// all, side by side.
fn molding_findings(molding: &[MoldingFound<'_>]) -> Vec<Finding> {
    let Some(first) = molding.first() else { return Vec::new() };
    let columns: Vec<String> = molding.iter().map(|found| found.under.how().to_owned()).collect();
    let row = |name, figure: &dyn Fn(&MoldingFound<'_>) -> Option<String>| FindingRow {
        name,
        figures: molding.iter().map(|found| figure(found).unwrap_or_else(|| "-".to_owned())).collect(),
    };
    let change = |adoption: &Adoption| signed_percent(-mean(adoption.gains().into_iter()));
    let note = format!("replayed {}", first.under.how());
    let mut findings = vec![Finding {
        label: "mean time to a result, all molded",
        figure: change(first.all),
        note: note.clone(),
        columns: columns.clone(),
        rows: vec![
            row("all jobs", &|found| Some(change(found.all))),
            row("draw by draw", &|found| Some(span(found.all.gains().into_iter().map(|gain| -gain)))),
        ],
    }];
    findings.extend(first.half.map(|half| Finding {
        label: "mean time to a result, half molded",
        figure: change(half),
        note,
        columns,
        rows: vec![
            row("all jobs", &|found| found.half.map(change)),
            row("who use it", &|found| Some(signed_percent(found.half?.adopters_change()))),
            row("the others", &|found| found.half?.others_change().map(signed_percent)),
        ],
    }));
    findings
}

fn no_waits() -> String {
    "It does not say how long jobs waited: forecasts of waits can't be tried, and replays can't be held against what happened.".to_owned()
}

fn too_few(past: &Past) -> Vec<String> {
    vec![format!(
        "It has {} jobs that ran, in {:.1} days. Forecasts are made of the past, and a replay of so few jobs is one path of many: {} jobs are the least that an answer is given from, and some months of them are better.",
        count(past.ran),
        past.days,
        count(FEWEST_JOBS)
    )]
}

fn molding_pays(molding: &[MoldingFound<'_>]) -> String {
    let fall = |found: &MoldingFound<'_>| {
        let (from, to) = found.times();
        format!("by {} {} ({} to {})", span(found.all.gains().into_iter()), found.under.how(), time(from), time(to))
    };
    let falls: Vec<String> = molding.iter().map(fall).collect();
    let price = molding.iter().map(MoldingFound::price).fold(f64::NEG_INFINITY, f64::max);
    let others = if price > 0.0 {
        format!("take up to {} longer", percent(price))
    } else {
        format!("be done at least {} sooner as well", percent(-price))
    };
    format!(
        "Were users to let it choose the sizes of their jobs, the mean time from submission to result would fall: replayed, {}. If half of the jobs use it, those of the others would {others}.",
        falls.join(", and ")
    )
}

fn molding_falls_short(molding: &[MoldingFound<'_>], pays: bool, ratio: Option<f64>) -> String {
    if molding.is_empty() {
        return "What molding would do is not known.".to_owned();
    }
    let change = |found: &MoldingFound<'_>| {
        let gain_s = found.all.gain_s();
        let later = if gain_s < 0.0 { "later" } else { "sooner" };
        let changes = span(found.all.gains().into_iter().map(|gain| -gain));
        format!("by {changes} {} ({} {later} in the mean)", found.under.how(), time(gain_s.abs()))
    };
    let changes: Vec<String> = molding.iter().map(change).collect();
    let changes = changes.join(", and ");
    if let (true, Some(ratio)) = (pays, ratio) {
        let how = if ratio > 1.0 { format!("{ratio:.1} times as long as") } else { format!("a {:.1}th of what", 1.0 / ratio) };
        return format!(
            "Molding seems to change the mean time to a result {changes}, but the nearer of these replays has jobs wait {how} they did: it is not this cluster."
        );
    }
    let dearest = molding.iter().max_by(|one, other| one.price().total_cmp(&other.price()));
    let reason = match dearest.filter(|found| found.price() > MOST_PRICE) {
        Some(found) => format!(
            "But while half of the jobs use it, those of the others would take {} longer, replayed {}.",
            percent(found.price()),
            found.under.how()
        ),
        None => format!(
            "It would pay if that were {} in every draw and {} in the mean at the least, by both replays, which is what a person would notice.",
            percent(LEAST_GAIN),
            time(LEAST_GAIN_TIME.0 as f64)
        ),
    };
    format!("Replayed, molding would change the mean time to a result {changes}. {reason}")
}

fn forecast_sentence(past: &Past, forecasts: Option<&Forecasts>, useful: bool) -> String {
    let Some(forecasts) = forecasts else { return "No forecasts could be made.".to_owned() };
    let waits = &forecasts.waits;
    let held = |level: &str| {
        let [in_force, by_default] = [&waits.in_force_coverage, &waits.coverage].map(|coverage| coverage.get(level).copied());
        let shown = |held: Option<f64>| held.map_or_else(|| "-".to_owned(), percent);
        format!("{} (by default {})", shown(in_force), shown(by_default))
    };
    let error = |method: &str| waits.aae_hours.get(method).map_or_else(|| "-".to_owned(), |hours| time(hours * 3_600.0));
    let mean_wait = past.all.mean_wait();
    if mean_wait < LEAST_WAIT.0 as f64 {
        return format!("Jobs hardly wait ({} in the mean), so that there is little to forecast.", time(mean_wait));
    }
    if with_bounds(forecasts) < FEWEST_WITH_BOUNDS {
        return format!("Whether its forecasts of waits hold is not known: {}.", too_few_bounds(forecasts));
    }
    let figures = format!(
        "bounds in force that should hold for 95 % of the waits held for {}, those for 90 % for {}, and the mean error is {} in force and {} by default, against {} of the nearest neighbours",
        held("0.95"),
        held("0.9"),
        error(IN_FORCE),
        error("best"),
        error("knn")
    );
    if useful {
        format!("Its forecasts of waits are worth showing to users: {figures}.")
    } else {
        format!("Its forecasts of waits would not be good enough to show: {figures}.")
    }
}

#[cfg(test)]
mod tests {
    use super::super::molding::Molded;
    use super::*;
    use crate::engine::Job;
    use crate::experiment::{self, Comparison};

    /// Returns an adoption in which the mean response of all jobs fell by `gain` and that of the
    /// other jobs rose by `price`.
    fn adoption(adoption: f64, gain: f64, price: f64) -> Adoption {
        let jobs: Vec<Job> = (0..3).map(|number| Job { number, ..Job::default() }).collect();
        let options = experiment::Options { from: 1, ..experiment::Options::default() };
        let mut draw: Comparison = experiment::compare(&jobs, 8, &options).unwrap();
        (draw.baseline.mean_response_s, draw.ours.mean_response_s) = (10_000.0, 10_000.0 * (1.0 - gain));
        (draw.others.baseline_response_s, draw.others.response_s) = (10_000.0, 10_000.0 * (1.0 + price));
        draw.others.jobs = usize::from(adoption < 1.0);
        Adoption { adoption, draws: vec![draw; 3] }
    }

    fn molded(under: Under, gain: f64, price: f64) -> Molded {
        Molded { under, adoptions: vec![adoption(0.5, gain, price), adoption(1.0, gain, 0.0)] }
    }

    /// Whether molding pays, and what is said of it.
    fn said(slurm: (f64, f64), easy: (f64, f64)) -> (bool, String) {
        let by_scheduler = vec![molded(Under::SlurmDefaults, slurm.0, slurm.1), molded(Under::Easy, easy.0, easy.1)];
        let molding = Molding { history_jobs: 0, jobs: 3, by_scheduler };
        let found = MoldingFound::of(&molding);
        let pays = found.iter().all(|found| found.pays);
        (pays, if pays { molding_pays(&found) } else { molding_falls_short(&found, pays, None) })
    }

    #[test]
    fn molding_pays_only_where_both_replays_say_so() {
        let (pays, sentence) = said((0.06, -0.02), (0.12, -0.01));
        assert!(pays, "{sentence}");
        for part in ["by 6.0 % with Slurm's defaults (2.8 h to 2.6 h), and by 12 % under EASY", "be done at least 1.0 % sooner as well"] {
            assert!(sentence.contains(part), "{sentence}");
        }
        let (pays, sentence) = said((-0.01, -0.02), (0.12, -0.01));
        assert!(
            !pays && sentence.contains("by 1.0 % with Slurm's defaults (2 min later in the mean), and by -12 % under EASY"),
            "{sentence}"
        );
        let (pays, sentence) = said((0.06, -0.02), (0.12, 0.03));
        assert!(!pays && sentence.contains("those of the others would take 3.0 % longer, replayed under EASY"), "{sentence}");
    }

    #[test]
    fn figures_are_written_as_people_read_them() {
        assert_eq!([0.0001, 0.0512, 0.1234, -0.25].map(percent), ["0.0 %", "5.1 %", "12 %", "-25 %"]);
        assert_eq!([0.0001, 0.02, -0.02].map(signed_percent), ["0.0 %", "+2.0 %", "-2.0 %"]);
        assert_eq!([12.4, 125.0, 7_200.0, 86_400.0, 400_000.0].map(time), ["12 s", "2 min", "2.0 h", "24 h", "4.6 days"]);
        assert_eq!(span([0.05, 0.08, 0.06].into_iter()), "5.0 to 8.0 %");
    }
}
