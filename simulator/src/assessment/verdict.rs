//! Whether it would pay: one answer, and the figures that it rests on.
//!
//! The rules are few and stand here as constants, so that anybody can disagree with them. Each is
//! about what a person would notice, and none is met by what may be chance.

use job_types::time::Seconds;
use serde::Serialize;

use super::forecasts::Forecasts;
use super::molding::{Adoption, Molding};
use super::past::Past;
use super::schedulers::{EASY, Schedule, Schedulers};

/// With fewer jobs that ran nothing is said: forecasts are made of the past, and a replay of so
/// short a time is one path of many.
pub const FEWEST_JOBS: usize = 2_000;

/// Molding pays if the mean response of all jobs falls by this part at least, in every draw, where
/// all use it.
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
    // Without the sign of what rounds to nothing.
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

/// What was found about molding.
struct MoldingFound<'a> {
    all: &'a Adoption,
    half: Option<&'a Adoption>,
    pays: bool,
}

impl<'a> MoldingFound<'a> {
    fn of(molding: &'a Molding) -> Option<Self> {
        let (all, half) = (molding.adoptions.last()?, molding.adoptions.first());
        let enough = all.gains().into_iter().all(|gain| gain >= LEAST_GAIN) && all.gain_s() >= LEAST_GAIN_TIME.0 as f64;
        let price = half.and_then(Adoption::others_change).unwrap_or(0.0);
        Some(Self { all, half, pays: enough && price <= MOST_PRICE })
    }

    fn times(&self) -> Option<(f64, f64)> {
        let count = self.all.draws.len().max(1) as f64;
        let mean = |of: fn(&crate::experiment::Comparison) -> f64| self.all.draws.iter().map(of).sum::<f64>() / count;
        Some((mean(|draw| draw.baseline.mean_response_s), mean(|draw| draw.ours.mean_response_s)))
    }
}

/// Whether forecasts of waits are worth showing.
pub fn are_forecasts_useful(past: &Past, forecasts: &Forecasts) -> bool {
    let waits = &forecasts.waits;
    let held = |level: &str, nominal: f64| waits.coverage.get(level).is_some_and(|held| (held - nominal).abs() <= MOST_COVERAGE_ERROR);
    let error = |method: &str| waits.aae_hours.get(method).copied();
    let is_ahead = error("best").zip(error("knn")).is_none_or(|(own, nearest)| own <= nearest);
    past.all.wait_s.mean >= LEAST_WAIT.0 as f64 && held("0.9", 0.9) && held("0.95", 0.95) && is_ahead
}

impl Verdict {
    /// By what was found; what is `None` was not found.
    pub(super) fn of(past: &Past, forecasts: Option<&Forecasts>, molding: Option<&Molding>, schedulers: Option<&Schedulers>) -> Self {
        let molding = molding.and_then(MoldingFound::of);
        let mut findings = vec![waiting(past)];
        findings.extend(forecasts.map(forecast_finding));
        if let Some(found) = &molding {
            findings.extend(molding_findings(found));
        }
        // Molding is replayed under EASY.
        let ratio = schedulers.and_then(|schedulers| wait_ratio(schedulers, schedulers.schedule(EASY)?));
        let useful = forecasts.is_some_and(|forecasts| are_forecasts_useful(past, forecasts));
        let pays = molding.as_ref().is_some_and(|found| found.pays);
        let is_like = ratio.is_none_or(|ratio| (1.0 / MOST_WAIT_RATIO..=MOST_WAIT_RATIO).contains(&ratio));
        let (answer, sentences) = if past.ran < FEWEST_JOBS || forecasts.is_none() {
            (Answer::CannotBeSaid, too_few(past))
        } else if pays && is_like {
            (Answer::Pays, vec![molding_pays(molding.as_ref()), forecast_sentence(past, forecasts, useful)])
        } else if useful {
            (Answer::ForecastsOnly, vec![forecast_sentence(past, forecasts, true), molding_falls_short(molding.as_ref(), pays, ratio)])
        } else if pays {
            (Answer::CannotBeSaid, vec![molding_falls_short(molding.as_ref(), pays, ratio), forecast_sentence(past, forecasts, false)])
        } else {
            (Answer::DoesNotPay, vec![forecast_sentence(past, forecasts, false), molding_falls_short(molding.as_ref(), pays, ratio)])
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

/// By which factor jobs wait longer under a schedule than they did; `None` where neither waits for
/// as much as a minute.
#[must_use]
pub fn wait_ratio(schedulers: &Schedulers, schedule: &Schedule) -> Option<f64> {
    let (replayed, logged) = (schedule.wait_s.mean, schedulers.logged_wait_s.mean);
    (replayed.max(logged) >= LEAST_WAIT.0 as f64).then(|| replayed.max(1.0) / logged.max(1.0))
}

fn waiting(past: &Past) -> Finding {
    let wait = &past.all.wait_s;
    let note = format!("half of the jobs wait at most {}, one in twenty more than {}", time(wait.median), time(wait.p95));
    Finding { label: "mean wait", figure: time(wait.mean), note }
}

fn forecast_finding(forecasts: &Forecasts) -> Finding {
    let waits = &forecasts.waits;
    let held = waits.coverage.get("0.95").copied().unwrap_or_default();
    let error = |method: &str| waits.aae_hours.get(method).map_or_else(|| "-".to_owned(), |hours| time(hours * 3_600.0));
    Finding {
        label: "waits within bounds of 95 %",
        figure: percent(held),
        note: format!(
            "mean error {} (nearest neighbours {}), median error {}",
            error("best"),
            error("knn"),
            time(waits.median_ae_hours * 3_600.0)
        ),
    }
}

fn molding_findings(found: &MoldingFound<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let change = |adoption: &Adoption| -super::molding::mean(adoption.gains().into_iter());
    let draws = |adoption: &Adoption| span(adoption.gains().into_iter().map(|gain| -gain));
    findings.push(Finding {
        label: "mean time to a result, all molded",
        figure: signed_percent(change(found.all)),
        note: format!("{} by draw of how programs scale", draws(found.all)),
    });
    if let Some(half) = found.half {
        let of_users = signed_percent(half.adopters_change());
        findings.push(Finding {
            label: "mean time to a result, half molded",
            figure: signed_percent(change(half)),
            note: format!(
                "{of_users} for those who use it, {} for the others",
                half.others_change().map_or_else(|| "-".to_owned(), signed_percent)
            ),
        });
    }
    findings
}

fn too_few(past: &Past) -> Vec<String> {
    vec![format!(
        "It has {} jobs that ran, in {:.1} days. Forecasts are made of the past, and a replay of so few jobs is one path of many: {FEWEST_JOBS} jobs are the least that an answer is given from, and some months of them are better.",
        past.ran, past.days
    )]
}

fn molding_pays(found: Option<&MoldingFound<'_>>) -> String {
    let Some((found, (from, to))) = found.and_then(|found| Some((found, found.times()?))) else { return String::new() };
    let price = found.half.and_then(Adoption::others_change).map_or_else(String::new, |price| {
        let others =
            if price > 0.0 { format!("take {} longer", percent(price)) } else { format!("be done {} sooner as well", percent(-price)) };
        format!(" If half of the jobs use it, those of the others would {others}.")
    });
    format!(
        "Were users to let it choose the sizes of their jobs, the mean time from submission to result would fall by {} ({} to {}).{price}",
        span(found.all.gains().into_iter()),
        time(from),
        time(to)
    )
}

fn molding_falls_short(found: Option<&MoldingFound<'_>>, pays: bool, ratio: Option<f64>) -> String {
    let Some(found) = found else { return "What molding would do is not known.".to_owned() };
    let change = span(found.all.gains().into_iter().map(|gain| -gain));
    let half_price = found.half.and_then(Adoption::others_change).unwrap_or(0.0);
    match (pays, ratio) {
        (true, Some(ratio)) => {
            let how = if ratio > 1.0 { format!("{ratio:.1} times as long as") } else { format!("a {:.1}th of what", 1.0 / ratio) };
            format!(
                "Molding seems to change the mean time to a result by {change}, but the replay that says so has jobs wait {how} they did: it is not this cluster."
            )
        }
        _ if half_price > MOST_PRICE => format!(
            "Molding would change the mean time to a result by {change}, but while half of the jobs use it those of the others would take {} longer.",
            percent(half_price)
        ),
        _ => format!(
            "Molding would change the mean time to a result by {change} ({} in the mean), less than {} and {} in every draw, which is what a person would notice.",
            time(found.all.gain_s()),
            percent(LEAST_GAIN),
            time(LEAST_GAIN_TIME.0 as f64)
        ),
    }
}

fn forecast_sentence(past: &Past, forecasts: Option<&Forecasts>, useful: bool) -> String {
    let Some(forecasts) = forecasts else { return "No forecasts could be made.".to_owned() };
    let waits = &forecasts.waits;
    let held = |level: &str| waits.coverage.get(level).copied().map_or_else(|| "-".to_owned(), percent);
    let error = |method: &str| waits.aae_hours.get(method).map_or_else(|| "-".to_owned(), |hours| time(hours * 3_600.0));
    if past.all.wait_s.mean < LEAST_WAIT.0 as f64 {
        return format!("Jobs hardly wait ({} in the mean), so that there is little to forecast.", time(past.all.wait_s.mean));
    }
    let figures = format!(
        "bounds that should hold for 95 % of the waits held for {}, those for 90 % for {}, and the mean error is {} against {} of the nearest neighbours",
        held("0.95"),
        held("0.9"),
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
    use super::*;

    #[test]
    fn figures_are_written_as_people_read_them() {
        assert_eq!([0.0001, 0.0512, 0.1234, -0.25].map(percent), ["0.0 %", "5.1 %", "12 %", "-25 %"]);
        assert_eq!([0.0001, 0.02, -0.02].map(signed_percent), ["0.0 %", "+2.0 %", "-2.0 %"]);
        assert_eq!([12.4, 125.0, 7_200.0, 86_400.0, 400_000.0].map(time), ["12 s", "2 min", "2.0 h", "24 h", "4.6 days"]);
        assert_eq!(span([0.05, 0.08, 0.06].into_iter()), "5.0 to 8.0 %");
    }
}
