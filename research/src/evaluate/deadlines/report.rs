//! What was found on one log.

use serde::Serialize;
use simulator::deadlines::{Outcome, Point, Spread, statements};
use simulator::remarks::Remarks;

use crate::evaluate::run::OfLogs;

use super::{Arguments, BadRecordsName, LateName, OverrunsName, ProjectionName, Replayed, SpareName};

/// What was found on one log, and how.
#[derive(Debug, Serialize)]
pub(super) struct DeadlineReport {
    pub(super) log: String,
    pub(super) file: String,
    pub(super) jobs: usize,
    pub(super) nodes: u32,
    pub(super) seed: u64,
    pub(super) seeds: usize,
    pub(super) deviation: f64,
    pub(super) spare: SpareName,
    pub(super) late: LateName,
    pub(super) projection: ProjectionName,
    pub(super) bad_records: BadRecordsName,
    pub(super) overruns: OverrunsName,
    pub(super) points: Vec<PointReport>,
    pub(super) statements: Vec<StatementReport>,
    /// What was left out of the log, or taken as not known.
    pub(super) remarks: Remarks,
}

impl OfLogs for DeadlineReport {
    fn logs(&self) -> Vec<(&str, &Remarks)> {
        vec![(&self.file, &self.remarks)]
    }
}

/// A point of a figure: means over the seeds.
#[derive(Debug, Clone, Serialize)]
pub(super) struct PointReport {
    pub(super) figure: u8,
    pub(super) varies: &'static str,
    pub(super) x: f64,
    pub(super) policy: &'static str,
    pub(super) estimates: &'static str,
    pub(super) high_urgency_percent: f64,
    pub(super) fulfilled_percent: f64,
    pub(super) fulfilled_percent_interval: [f64; 2],
    pub(super) mean_slowdown: Option<f64>,
    pub(super) mean_slowdown_interval: Option<[f64; 2]>,
    pub(super) accepted: f64,
    pub(super) late: f64,
}

/// A statement of the publication.
#[derive(Debug, Clone, Serialize)]
pub(super) struct StatementReport {
    pub(super) statement: &'static str,
    pub(super) source: &'static str,
    pub(super) holds: bool,
    pub(super) because: String,
}

impl From<&Point> for PointReport {
    fn from(point: &Point) -> Self {
        let mean = |of: fn(&Outcome) -> usize| Spread::of(&point.values(|outcome| of(outcome) as f64)).map_or(0.0, |spread| spread.mean);
        let interval = |spread: Spread| [spread.lower, spread.upper];
        let fulfilled = point.fulfilled_percent();
        let slowdown = point.mean_slowdown();
        Self {
            figure: point.figure.number(),
            varies: point.figure.varies(),
            x: point.x,
            policy: point.method.name(),
            estimates: point.estimates.name(),
            high_urgency_percent: point.high_urgency_percent,
            fulfilled_percent: fulfilled.map_or(0.0, |spread| spread.mean),
            fulfilled_percent_interval: fulfilled.map_or([0.0; 2], interval),
            mean_slowdown: slowdown.map(|spread| spread.mean),
            mean_slowdown_interval: slowdown.map(interval),
            accepted: mean(|outcome| outcome.accepted),
            late: mean(Outcome::late),
        }
    }
}

impl DeadlineReport {
    /// What the points of a log come to.
    pub(super) fn of(replayed: &Replayed, arguments: &Arguments, points: &[Point]) -> Self {
        let statements = statements(points).into_iter().map(|found| StatementReport {
            statement: found.text,
            source: found.source,
            holds: found.holds,
            because: found.because,
        });
        Self {
            log: replayed.name.clone(),
            file: replayed.source.clone(),
            jobs: replayed.jobs.len(),
            nodes: replayed.nodes,
            seed: arguments.common.seed,
            seeds: arguments.seeds.get(),
            deviation: arguments.deviation,
            spare: arguments.spare,
            late: arguments.late,
            projection: arguments.projection,
            bad_records: arguments.bad_records,
            overruns: arguments.overruns,
            points: points.iter().map(PointReport::from).collect(),
            statements: statements.collect(),
            remarks: replayed.remarks.clone(),
        }
    }

    /// The points of the two parts of each figure: with accurate and with actual estimates, or with
    /// few and with many jobs of high urgency.
    pub(super) fn parts(&self) -> Vec<Vec<&PointReport>> {
        let mut parts: Vec<Vec<&PointReport>> = Vec::new();
        let key = |point: &PointReport| {
            let urgent = if point.figure == 4 { point.high_urgency_percent } else { 0.0 };
            (point.figure, point.estimates, urgent.to_bits())
        };
        for point in &self.points {
            match parts.iter_mut().find(|part| part.first().is_some_and(|first| key(first) == key(point))) {
                Some(part) => part.push(point),
                None => parts.push(vec![point]),
            }
        }
        parts
    }
}

impl PointReport {
    /// What its part of the figure is called.
    pub(super) fn part_name(&self) -> String {
        match self.figure {
            4 => format!("{} % of the jobs of high urgency", self.high_urgency_percent),
            _ => format!("{} estimates", self.estimates),
        }
    }
}
