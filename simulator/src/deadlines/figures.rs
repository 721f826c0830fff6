//! The points of the published figures 1 to 4, over several seeds.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use super::methods::{Choices, Method};
use super::outcome::Outcome;
use super::spread::Spread;
use super::workload::{BaseJob, Urgencies};

/// One of the published figures, named after what it varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Figure 1: the arrival delay factor, from 0 to 1.
    ArrivalDelay,
    /// Figure 2: the deadline high:low ratio, from 1 to 10.
    Ratio,
    /// Figure 3: the per cent of jobs of high urgency.
    HighUrgency,
    /// Figure 4: the inaccuracy of the estimates in per cent, with 20 % and with 80 % of the jobs
    /// of high urgency.
    Inaccuracy,
}

/// Which estimates jobs have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Estimates {
    /// The jobs' true run times.
    Accurate,
    /// The run times that users asked for. Figure 4 uses them only as far as its inaccuracy says.
    Actual,
}

impl Estimates {
    /// Returns the name of the estimates.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Figure {
    /// All of them.
    pub const ALL: [Figure; 4] = [Self::ArrivalDelay, Self::Ratio, Self::HighUrgency, Self::Inaccuracy];

    /// Returns the number of the figure in the publication.
    #[must_use]
    pub fn number(self) -> u8 {
        self as u8 + 1
    }

    /// Returns the name of what the figure varies.
    #[must_use]
    pub fn varies(self) -> &'static str {
        match self {
            Self::ArrivalDelay => "arrival delay factor",
            Self::Ratio => "deadline high:low ratio",
            Self::HighUrgency => "high urgency jobs, %",
            Self::Inaccuracy => "inaccuracy of estimates, %",
        }
    }

    /// The values of what it varies.
    fn values(self) -> Vec<f64> {
        let steps = |range: std::ops::RangeInclusive<i32>, step: f64| range.map(|number| f64::from(number) * step).collect();
        match self {
            // The steps are counted in tenths, so that 0.3 is exactly 0.3.
            Self::ArrivalDelay => (0..=10).map(|tenth| f64::from(tenth) / 10.0).collect(),
            Self::Ratio => steps(1..=10, 1.0),
            Self::HighUrgency | Self::Inaccuracy => steps(0..=10, 10.0),
        }
    }

    fn settings(self, urgencies: &Urgencies) -> Vec<Setting> {
        let mut settings = Vec::new();
        for x in self.values() {
            let of = |estimates: Estimates, high_urgency: f64| {
                let inaccuracy = if estimates == Estimates::Accurate { 0.0 } else { 1.0 };
                let defaults = Urgencies { high_urgency, inaccuracy, ..*urgencies };
                let urgencies = match self {
                    Self::ArrivalDelay => Urgencies { arrival_delay: x, ..defaults },
                    Self::Ratio => Urgencies { ratio: x, ..defaults },
                    Self::HighUrgency => Urgencies { high_urgency: x / 100.0, ..defaults },
                    Self::Inaccuracy => Urgencies { inaccuracy: x / 100.0, ..defaults },
                };
                Setting { figure: self, x, estimates, urgencies }
            };
            if self == Self::Inaccuracy {
                settings.extend([0.2, 0.8].map(|high_urgency| of(Estimates::Actual, high_urgency)));
            } else {
                settings.extend([Estimates::Accurate, Estimates::Actual].map(|estimates| of(estimates, urgencies.high_urgency)));
            }
        }
        settings
    }
}

#[derive(Debug, Clone, Copy)]
struct Setting {
    figure: Figure,
    x: f64,
    estimates: Estimates,
    urgencies: Urgencies,
}

/// The settings of a replay.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// How many nodes the machine has.
    pub nodes: usize,
    /// What jobs get where a figure does not vary it.
    pub urgencies: Urgencies,
    /// What the publication leaves open.
    pub choices: Choices,
    /// The first seed; the others follow it.
    pub first_seed: u64,
    /// The number of seeds, at least one.
    pub seeds: usize,
}

/// A point of a figure: one method at one value of what is varied.
#[derive(Debug, Clone)]
pub struct Point {
    /// The figure.
    pub figure: Figure,
    /// The value of what it varies.
    pub x: f64,
    /// Which estimates jobs have.
    pub estimates: Estimates,
    /// The per cent of the jobs that are of high urgency.
    pub high_urgency_percent: f64,
    /// The method.
    pub method: Method,
    /// What the replays came to, one for each seed.
    pub outcomes: Vec<Outcome>,
}

impl Point {
    /// A figure of each replay.
    #[must_use]
    pub fn values(&self, of: impl Fn(&Outcome) -> f64) -> Vec<f64> {
        self.outcomes.iter().map(of).collect()
    }

    /// Per cent of the submitted jobs that were done by their deadlines.
    #[must_use]
    pub fn fulfilled_percent(&self) -> Option<Spread> {
        Spread::of(&self.values(Outcome::fulfilled_percent))
    }

    /// Mean slowdown of these; `None` where a replay had none.
    #[must_use]
    pub fn mean_slowdown(&self) -> Option<Spread> {
        Spread::of(&self.outcomes.iter().map(|outcome| outcome.mean_slowdown).collect::<Option<Vec<f64>>>()?)
    }
}

/// All points of all figures, in the order of the figures, of what they vary, of the estimates and
/// of the methods. Replays go on side by side on the threads of the caller's pool; `progress` is
/// told how many of how many sets of replays are done.
pub fn points(base: &[BaseJob], settings: &Settings, progress: &(dyn Fn(usize, usize) + Sync)) -> Vec<Point> {
    let all: Vec<Setting> = Figure::ALL.into_iter().flat_map(|figure| figure.settings(&settings.urgencies)).collect();
    let seeds: Vec<u64> = (0..settings.seeds.max(1) as u64).map(|place| settings.first_seed.wrapping_add(place)).collect();
    let runs: Vec<(Setting, u64)> = all.iter().flat_map(|setting| seeds.iter().map(|seed| (*setting, *seed))).collect();
    let done = AtomicUsize::new(0);
    let outcomes: Vec<[Outcome; 4]> = runs
        .par_iter()
        .map(|(setting, seed)| {
            let jobs = setting.urgencies.jobs(base, *seed);
            let outcomes = Method::ALL.map(|method| Outcome::of_replay(&jobs, settings.nodes, method, &settings.choices));
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, runs.len());
            outcomes
        })
        .collect();
    let of_settings = all.iter().zip(outcomes.chunks(seeds.len()));
    of_settings
        .flat_map(|(setting, runs)| Method::ALL.into_iter().enumerate().map(|(place, method)| point(setting, method, runs, place)))
        .collect()
}

fn point(setting: &Setting, method: Method, runs: &[[Outcome; 4]], place: usize) -> Point {
    Point {
        figure: setting.figure,
        x: setting.x,
        estimates: setting.estimates,
        high_urgency_percent: (setting.urgencies.high_urgency * 100.0).round(),
        method,
        outcomes: runs.iter().map(|outcomes| outcomes[place]).collect(),
    }
}

#[cfg(test)]
mod tests {
    use job_types::time::{Seconds, UnixTime};

    use super::*;

    fn settings(seeds: usize) -> Settings {
        Settings { nodes: 4, urgencies: Urgencies::default(), choices: Choices::default(), first_seed: 1, seeds }
    }

    fn base() -> Vec<BaseJob> {
        let job = |n: i64| BaseJob {
            submit: UnixTime(100 * n),
            run_time: Seconds(30 + 37 * n % 400),
            estimate: Seconds(600),
            nodes: 1 + (n % 3) as u32,
        };
        (0..60).map(job).collect()
    }

    #[test]
    fn the_figures_have_the_published_axes() {
        let points = points(&base(), &settings(1), &|_, _| ());
        let values = |figure| {
            let mut values: Vec<f64> = points.iter().filter(|point| point.figure == figure).map(|point| point.x).collect();
            values.dedup();
            values
        };
        assert_eq!(values(Figure::ArrivalDelay), [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]);
        assert_eq!(values(Figure::Ratio), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
        assert_eq!(values(Figure::HighUrgency).last(), Some(&100.0));
        let inaccurate: Vec<_> = points.iter().filter(|point| point.figure == Figure::Inaccuracy && point.x == 50.0).collect();
        assert_eq!(
            inaccurate.iter().map(|point| point.high_urgency_percent).collect::<Vec<_>>(),
            [20.0, 20.0, 20.0, 20.0, 80.0, 80.0, 80.0, 80.0]
        );
    }

    #[test]
    fn points_are_the_same_on_any_number_of_threads_and_seeds_follow_one_another() {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| points(&base(), &settings(2), &|_, _| ())).into_iter().map(|point| point.outcomes).collect::<Vec<_>>()
        };
        let (one, two) = (on(1), on(2));
        assert_eq!(one, two);
        let second_alone = points(&base(), &Settings { first_seed: 2, ..settings(1) }, &|_, _| ());
        assert!(one.iter().zip(&second_alone).all(|(both, alone)| both[1] == alone.outcomes[0]));
    }

    /// With no inaccuracy the estimates of figure 4 are the run times, so that its first point is
    /// the default one of figure 1.
    #[test]
    fn where_figures_meet_their_points_agree() {
        let points = points(&base(), &settings(1), &|_, _| ());
        let find = |figure, x: f64, estimates, method| {
            let is_it = |point: &&Point| point.figure == figure && point.x == x && point.estimates == estimates && point.method == method;
            points.iter().find(is_it).unwrap().outcomes.clone()
        };
        for method in Method::ALL {
            let accurate = find(Figure::ArrivalDelay, 1.0, Estimates::Accurate, method);
            assert_eq!(find(Figure::Inaccuracy, 0.0, Estimates::Actual, method), accurate);
            let actual = find(Figure::ArrivalDelay, 1.0, Estimates::Actual, method);
            assert_eq!(find(Figure::Inaccuracy, 100.0, Estimates::Actual, method), actual);
            assert_eq!(find(Figure::Ratio, 4.0, Estimates::Actual, method), actual);
            assert_eq!(find(Figure::HighUrgency, 20.0, Estimates::Actual, method), actual);
        }
    }
}
