//! What became of joint reservations, and how far machines depend on each other.

use super::super::outcome::{GivenReservation, Reservations};
use super::process::Given;
use crate::engine::Record;

/// What became of the reservations of one process.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct JointReservations {
    /// What became of them, as of single ones.
    #[serde(flatten)]
    pub found: Reservations,
    /// The number of these reservations for which jobs were submitted to more than one machine.
    pub on_several: usize,
}

/// How far two machines depend on each other, from reservations of which a job was submitted to
/// both, each with the same probability to miss, and nothing was withdrawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Dependence {
    /// The number of pairs of jobs.
    pub pairs: usize,
    /// The part of these pairs in which the job on the first machine had its nodes in time.
    pub first_kept: Option<f64>,
    /// The part of these pairs in which the job on the second machine had its nodes in time.
    pub second_kept: Option<f64>,
    /// The part of these pairs in which at least one of both jobs had its nodes in time.
    pub either_kept: Option<f64>,
    /// What that part would be if the machines did not depend on each other, from the two parts.
    pub either_if_independent: Option<f64>,
    /// The correlation of the misses, -1 to 1; `None` where a machine missed none or all.
    pub correlation: Option<f64>,
}

/// What a replay has left.
pub(super) struct Replayed {
    /// The number of requests.
    pub(super) asked: usize,
    pub(super) given: Vec<Given>,
    /// What became of each job, by machine.
    pub(super) records: Vec<Vec<Record>>,
}

impl Replayed {
    /// What became of the job of a reservation on a machine, if it started there.
    fn ran_on(&self, given: &Given, machine: usize) -> Option<&Record> {
        given.starts.get(machine).copied().flatten()?;
        self.records.get(machine)?.get((*given.jobs.get(machine)?)? as usize)
    }

    /// What became of the reservations.
    pub(super) fn reservations(&self) -> JointReservations {
        let outcome = |given: &Given| {
            let ran = (0..given.jobs.len()).filter_map(|machine| self.ran_on(given, machine));
            GivenReservation::of(given.at, given.probability, ran)
        };
        JointReservations {
            found: Reservations::of(self.asked, &self.given.iter().map(outcome).collect::<Vec<_>>()),
            on_several: self.given.iter().filter(|given| given.jobs.iter().flatten().count() > 1).count(),
        }
    }

    /// How far the first two machines depend on each other.
    pub(super) fn dependence(&self) -> Dependence {
        let is_kept = |given: &Given, machine: usize| {
            given.jobs.get(machine)?.as_ref()?;
            Some(self.ran_on(given, machine).is_some_and(|record| record.has_kept(given.at)))
        };
        let pairs = self.given.iter().filter_map(|given| Some((is_kept(given, 0)?, is_kept(given, 1)?)));
        Dependence::of(&pairs.collect::<Vec<_>>())
    }
}

impl Dependence {
    /// Computes the dependence from pairs: whether each of the two jobs of a reservation had its
    /// nodes in time.
    fn of(pairs: &[(bool, bool)]) -> Self {
        if pairs.is_empty() {
            return Self::default();
        }
        let part = |is: fn(&(bool, bool)) -> bool| pairs.iter().filter(|pair| is(pair)).count() as f64 / pairs.len() as f64;
        let (first, second, either) = (part(|pair| pair.0), part(|pair| pair.1), part(|pair| pair.0 || pair.1));
        let both_missed_if_independent = (1.0 - first) * (1.0 - second);
        // The correlation of two yes-or-no variables.
        let spread = (first * (1.0 - first) * second * (1.0 - second)).sqrt();
        Self {
            pairs: pairs.len(),
            first_kept: Some(first),
            second_kept: Some(second),
            either_kept: Some(either),
            either_if_independent: Some(1.0 - both_missed_if_independent),
            correlation: (spread > 0.0).then(|| (1.0 - either - both_missed_if_independent) / spread),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::time::{Seconds, UnixTime};

    fn given(probability: f64, starts: [Option<i64>; 2]) -> Given {
        let starts = starts.map(|start| start.map(UnixTime)).to_vec();
        Given { at: UnixTime(100), probability, expected: 0, alone: None, jobs: vec![Some(0), Some(0)], starts }
    }

    #[test]
    fn a_joint_reservation_is_kept_by_one_of_its_jobs_and_paid_for_by_all_that_ran() {
        // An hour early on two processors, and an hour's run; withdrawn on the other machine.
        let record = |start, end, held| Record {
            start: UnixTime(start),
            end: UnixTime(end),
            held: Seconds(held),
            processors: 2,
            ..Record::default()
        };
        let records = vec![vec![record(-3_500, 3_700, 3_600)], vec![record(i64::MIN, i64::MIN, 0)]];
        let replayed = Replayed { asked: 3, given: vec![given(0.8, [Some(-3_500), None])], records };
        let found = replayed.reservations();
        assert_eq!(found.on_several, 1);
        let found = found.found;
        assert_eq!((found.requested, found.accepted, found.kept), (3, 1, 1));
        assert_eq!((found.required_processor_hours, found.used_processor_hours, found.cost_ratio), (2.0, 4.0, Some(2.0)));
        let records = vec![vec![record(101, 3_701, 0)], vec![record(200, 3_800, 0)]];
        let late = Replayed { given: vec![given(0.8, [Some(101), Some(200)])], records, ..replayed };
        assert_eq!(late.reservations().found.kept, 0);
    }

    #[test]
    fn misses_that_come_together_are_correlated() {
        let together = Dependence::of(&[(true, true), (true, true), (true, true), (false, false)]);
        assert_eq!((together.either_kept, together.either_if_independent), (Some(0.75), Some(0.9375)));
        assert!((together.correlation.unwrap() - 1.0).abs() < 1e-12);
        let apart = Dependence::of(&[(true, false), (false, true), (true, true), (false, false)]);
        assert_eq!((apart.either_kept, apart.either_if_independent, apart.correlation), (Some(0.75), Some(0.75), Some(0.0)));
        assert_eq!(Dependence::of(&[(true, true)]).correlation, None);
        assert_eq!(Dependence::of(&[]), Dependence::default());
    }
}
