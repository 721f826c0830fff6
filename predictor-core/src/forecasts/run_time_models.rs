//! Which of the models of run times says how long a job will run.
//!
//! The daemon has a model for each user's jobs of a size and, where there are several, of each of
//! their time limits; for the user's jobs of a limit, whatever their size; and for everybody's jobs
//! of a size and a limit, of a limit, and of a partition. A job takes the first of them that there
//! is, so that the forecast of one whose user has run none of its size is that of others like it.

use super::forecast::{RunTimeForecast, RunTimeQuestion, RunTimeRange, UNBOUNDED_S};
use job_types::number::{PartitionIndex, UserId};
use job_types::size::{Size, Unit};
use job_types::time::Seconds;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The jobs that a model is of: what they have in common. Ordered as in the snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LikeJobs {
    /// Numeric id of their user; `None` for everybody's.
    pub user: Option<UserId>,
    /// Index of their partition.
    pub partition: PartitionIndex,
    /// Their size; `None` for whichever.
    pub size: Option<(Unit, u32)>,
    /// Their time limit in seconds; `None` for whichever.
    pub limit_s: Option<u32>,
}

impl LikeJobs {
    /// A user's jobs of one size in a partition, whatever their limit.
    #[must_use]
    pub fn of_size(user: UserId, partition: PartitionIndex, unit: Unit, count: u32) -> LikeJobs {
        LikeJobs { user: Some(user), partition, size: Some((unit, count)), limit_s: None }
    }

    /// Whether they are a user's jobs of one size, whatever their limit.
    #[must_use]
    pub fn is_users_size(&self) -> bool {
        self.user.is_some() && self.size.is_some() && self.limit_s.is_none()
    }
}

/// What is known of the run times of jobs that have something in common.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunTimeModel {
    /// How many past jobs.
    pub jobs: u32,
    /// Their longest time limit in seconds, [`UNBOUNDED_S`] if one was unlimited.
    pub longest_limit_s: u32,
    /// Disjoint ascending ranges whose probabilities sum to 1.
    pub ranges: Vec<RunTimeRange>,
}

impl RunTimeModel {
    /// What the model forecasts for the jobs that it is of.
    #[must_use]
    pub fn forecast(&self) -> RunTimeForecast<'_> {
        let longest_limit = (self.longest_limit_s != UNBOUNDED_S).then_some(Seconds(i64::from(self.longest_limit_s)));
        RunTimeForecast { jobs: self.jobs, longest_limit, ranges: &self.ranges }
    }
}

/// What was learnt of run times, and what is made of those that are kept where that says nothing:
/// of sizes that were run before the learner knew anything, or too long ago for it to remember.
#[derive(Clone, Copy, Debug)]
pub struct KnownRunTimes<'a> {
    /// What was learnt, if anything was.
    pub learnt: Option<&'a BTreeMap<LikeJobs, Arc<RunTimeModel>>>,
    /// What was made of those that are kept. A user's size that is not among them was let go of.
    pub kept: &'a BTreeMap<LikeJobs, RunTimeModel>,
}

impl<'a> KnownRunTimes<'a> {
    /// The model of some jobs.
    #[must_use]
    pub fn model(&self, like: &LikeJobs) -> Option<&'a RunTimeModel> {
        let kept = self.kept.get(like);
        let learnt = || self.learnt?.get(like).map(Arc::as_ref);
        if like.is_users_size() { kept.map(|kept| learnt().unwrap_or(kept)) } else { learnt().or(kept) }
    }

    /// All models, each with the jobs that it is of, in their order.
    pub fn all(&self) -> impl Iterator<Item = (&'a LikeJobs, &'a RunTimeModel)> + use<'a> {
        let learnt = self.learnt.into_iter().flatten().map(|(like, _)| like);
        let likes: BTreeSet<&LikeJobs> = learnt.chain(self.kept.keys()).collect();
        let known = *self;
        likes.into_iter().filter_map(move |like| Some((like, known.model(like)?)))
    }

    /// The forecast of the run time of a user's job of a size with a time limit; `None` where
    /// nothing is known of any like it.
    #[must_use]
    pub fn of_job(&self, user: UserId, partition: PartitionIndex, size: Size, limit: Option<Seconds>) -> Option<RunTimeForecast<'a>> {
        of_size(size, |unit, count| {
            forecast(&RunTimeQuestion { user, partition, unit, count, limit }, |like| self.model(like).map(RunTimeModel::forecast))
        })
    }
}

/// Of the forecasts for a size by its nodes and by its CPUs the one that rests on the user's own
/// jobs of that size, or else the one by nodes.
pub fn of_size<'a>(size: Size, forecast: impl Fn(Unit, u32) -> Option<RunTimeForecast<'a>>) -> Option<RunTimeForecast<'a>> {
    let by_nodes = forecast(Unit::Nodes, size.nodes);
    if by_nodes.is_some_and(|forecast| forecast.jobs > 0) {
        return by_nodes;
    }
    forecast(Unit::Cpus, size.cpus).filter(|forecast| forecast.jobs > 0 || by_nodes.is_none()).or(by_nodes)
}

/// What is nearest to a job of what is known of jobs like it.
#[derive(Clone, Copy, Debug)]
pub struct Nearest<T> {
    /// The jobs that it is known of.
    pub like: LikeJobs,
    /// What is known of them.
    pub known: T,
    /// What is known of the user's jobs of that size, whatever their limit.
    pub of_size: Option<T>,
}

/// The nearest to a job of what `of` knows; `None` where that is nothing.
pub fn nearest<T: Copy>(asked: &RunTimeQuestion, mut of: impl FnMut(&LikeJobs) -> Option<T>) -> Option<Nearest<T>> {
    let RunTimeQuestion { user, partition, unit, count, limit } = *asked;
    let with_limit = |like: LikeJobs| limit.map(|limit| LikeJobs { limit_s: Some(limit.clamped_u32()), ..like });
    let own = LikeJobs::of_size(user, partition, unit, count);
    let of_size = of(&own);
    if let Some(of_own_size) = of_size {
        let same_limit = with_limit(own).and_then(|like| Some((like, of(&like)?)));
        let (like, known) = same_limit.unwrap_or((own, of_own_size));
        return Some(Nearest { like, known, of_size });
    }
    let everybodys = LikeJobs { user: None, ..own };
    let likes = [
        with_limit(LikeJobs { size: None, ..own }),
        with_limit(everybodys),
        with_limit(LikeJobs { size: None, ..everybodys }),
        Some(LikeJobs { size: None, ..everybodys }),
    ];
    let (like, known) = likes.into_iter().flatten().find_map(|like| Some((like, of(&like)?)))?;
    Some(Nearest { like, known, of_size })
}

/// The forecast of a job's run time from the models that `of` finds; `None` where it finds none.
pub fn forecast<'a>(asked: &RunTimeQuestion, of: impl FnMut(&LikeJobs) -> Option<RunTimeForecast<'a>>) -> Option<RunTimeForecast<'a>> {
    let Nearest { known, of_size, .. } = nearest(asked, of)?;
    Some(match of_size {
        Some(of_size) => RunTimeForecast { ranges: known.ranges, ..of_size },
        None => RunTimeForecast { jobs: 0, longest_limit: None, ranges: known.ranges },
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const USER: UserId = UserId(7);
    const PARTITION: PartitionIndex = PartitionIndex(1);

    fn like(user: Option<UserId>, count: Option<u32>, limit_s: Option<u32>) -> LikeJobs {
        LikeJobs { user, partition: PARTITION, size: count.map(|count| (Unit::Nodes, count)), limit_s }
    }

    /// The run time that is forecast where there are these models, each of the one run time that is
    /// its place among them, and whether it rests on the user's jobs of that size.
    fn forecast_of(models: &[LikeJobs], count: u32, limit_s: Option<i64>) -> Option<(usize, bool)> {
        let ranges: Vec<_> = (0..models.len() as u32).map(|place| [RunTimeRange::new(place, place, 1.0)]).collect();
        let of = |wanted: &LikeJobs| {
            let place = models.iter().position(|model| model == wanted)?;
            Some(RunTimeForecast { jobs: 5, longest_limit: Some(Seconds(600)), ranges: &ranges[place] })
        };
        let asked = RunTimeQuestion { user: USER, partition: PARTITION, unit: Unit::Nodes, count, limit: limit_s.map(Seconds) };
        let found = forecast(&asked, of)?;
        assert_eq!(found.longest_limit.is_some(), found.jobs > 0);
        Some((found.ranges[0].lower().0 as usize, found.jobs > 0))
    }

    #[test]
    fn a_job_takes_the_model_of_the_jobs_that_are_most_like_it() {
        let models = [
            like(Some(USER), Some(2), Some(600)),
            like(Some(USER), Some(2), None),
            like(Some(USER), None, Some(600)),
            like(None, Some(3), Some(900)),
            like(None, None, Some(900)),
            like(None, None, None),
        ];
        let of = |count, limit_s| forecast_of(&models, count, limit_s);
        assert_eq!(of(2, Some(600)), Some((0, true)), "the user's size and limit");
        assert_eq!((of(2, Some(700)), of(2, None)), (Some((1, true)), Some((1, true))), "the user's size, of another limit");
        assert_eq!(of(3, Some(600)), Some((2, false)), "the user's limit at another size");
        assert_eq!(of(3, Some(900)), Some((3, false)), "others' jobs of the size and limit");
        assert_eq!(of(4, Some(900)), Some((4, false)), "others' jobs of the limit");
        assert_eq!((of(4, Some(60)), of(4, None)), (Some((5, false)), Some((5, false))), "all jobs of the partition");
        assert_eq!(forecast_of(&models[..4], 4, Some(60)), None);
    }
}
