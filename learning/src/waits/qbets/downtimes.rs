//! When the machine started nothing although jobs waited: its downtimes, which are not counted as
//! waiting.
//!
//! QBETS (Nurmi, Brevik, Wolski, SIGMETRICS and JSSPP 2007) names an automatic downtime detector
//! among its four parts, beside the bounds, the detection of changes and the clustering: a failure
//! of the whole machine delays every job, and tells nothing of the waits of jobs when it runs. How
//! it decides is not published in detail. Here the same means decides that bounds the waits: the
//! times from one start to the next during which the job that then started had been waiting are a
//! series of their own, over all partitions, and one that is longer than [`TIMES`] the bound on its
//! quantile [`QUANTILE`] is a downtime. So a machine that often starts nothing for hours, because
//! long jobs fill it, needs a longer pause than one that starts a job every minute.

use crate::binomial::upper_bound_rank;
use job_types::time::{Seconds, UnixTime};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The quantile of the pauses that a downtime exceeds. Its bound needs 2,995 of them.
const QUANTILE: f64 = 0.999;

/// Confidence of the bound on that quantile.
const CONFIDENCE: f64 = 0.95;

/// A downtime exceeds the bound by this factor, because one pause in a thousand is longer than the
/// quantile by its definition.
const TIMES: u32 = 2;

/// No pause that is shorter is a downtime.
const SHORTEST: Seconds = Seconds(3_600);

/// Latest pauses that are kept.
const MOST_PAUSES: usize = 16_384;

/// Latest downtimes that are kept. No job waits through more of them.
const MOST_DOWNTIMES: usize = 64;

/// A downtime: from the last start of a job before it to the first one after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Downtime {
    from: UnixTime,
    to: UnixTime,
}

/// The downtimes of a machine, found from its starts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Downtimes {
    last_start: Option<UnixTime>,
    /// The latest pauses between starts in seconds, in order of time.
    pauses_s: VecDeque<u32>,
    ascending_s: Vec<u32>,
    /// Rank of the bound among so many pauses.
    rank: Option<(usize, Option<usize>)>,
    latest: VecDeque<Downtime>,
    found: u32,
    lasted: Seconds,
}

impl Downtimes {
    /// A job that was eligible since a time starts. Returns how much of its wait the machine was
    /// down. Starts are told in order of time; one that comes late is no pause's end.
    pub(super) fn start(&mut self, eligible: UnixTime, start: UnixTime) -> Seconds {
        match self.last_start {
            Some(last) if start >= last => {
                let pause = Seconds((start - last.max(eligible)).0.max(0));
                if pause > SHORTEST && self.usual_s().is_some_and(|usual_s| pause.0 > i64::from(TIMES) * i64::from(usual_s)) {
                    self.push_downtime(Downtime { from: last, to: start });
                }
                self.push_pause(pause.clamped_u32());
                self.last_start = Some(start);
            }
            Some(_) => {}
            None => self.last_start = Some(start),
        }
        let within = |downtime: &Downtime| (downtime.to.0.min(start.0) - downtime.from.0.max(eligible.0)).max(0);
        Seconds(self.latest.iter().map(within).sum())
    }

    /// How many were found, and how long they lasted together.
    pub(super) fn found(&self) -> (u32, Seconds) {
        (self.found, self.lasted)
    }

    fn push_downtime(&mut self, downtime: Downtime) {
        self.found += 1;
        self.lasted = self.lasted + (downtime.to - downtime.from);
        if self.latest.len() == MOST_DOWNTIMES {
            self.latest.pop_front();
        }
        self.latest.push_back(downtime);
    }

    /// Downtimes are pauses like others, so that a machine that often pauses long needs longer
    /// ones.
    fn push_pause(&mut self, pause_s: u32) {
        if self.pauses_s.len() == MOST_PAUSES
            && let Some(oldest_s) = self.pauses_s.pop_front()
            && let Ok(place) = self.ascending_s.binary_search(&oldest_s)
        {
            self.ascending_s.remove(place);
        }
        self.pauses_s.push_back(pause_s);
        self.ascending_s.insert(self.ascending_s.partition_point(|other_s| *other_s <= pause_s), pause_s);
    }

    /// The bound on the quantile of the pauses, in seconds; `None` while they are too few.
    fn usual_s(&mut self) -> Option<u32> {
        let count = self.ascending_s.len();
        let rank = match self.rank {
            Some((of, rank)) if of == count => rank,
            _ => upper_bound_rank(count, QUANTILE, CONFIDENCE),
        };
        self.rank = Some((count, rank));
        self.ascending_s.get(rank? - 1).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A start every ten minutes, each of a job that waited for half an hour, until so many have
    /// been.
    fn busy(starts: i64) -> (Downtimes, UnixTime) {
        let (mut downtimes, mut at) = (Downtimes::default(), UnixTime(1_000_000));
        for _ in 0..starts {
            at = at + Seconds(600);
            assert_eq!(downtimes.start(UnixTime(at.0 - 1_800), at), Seconds::ZERO);
        }
        (downtimes, at)
    }

    #[test]
    fn a_day_without_starts_is_no_part_of_the_waits_of_those_who_waited_through_it() {
        let (mut downtimes, last) = busy(3_000);
        let up = last + Seconds(86_400);
        // The first waited for an hour before and the day; the second came in the middle of the
        // day; the third when all was over.
        assert_eq!(downtimes.start(UnixTime(last.0 - 3_600), up), Seconds(86_400));
        assert_eq!(downtimes.start(UnixTime(up.0 - 40_000), up + Seconds(60)), Seconds(40_000));
        assert_eq!(downtimes.start(up + Seconds(10), up + Seconds(90)), Seconds::ZERO);
        assert_eq!(downtimes.found(), (1, Seconds(86_400)));
    }

    #[test]
    fn a_night_in_which_nobody_waited_is_no_downtime() {
        let (mut downtimes, last) = busy(3_000);
        let morning = last + Seconds(36_000);
        assert_eq!(downtimes.start(morning, morning + Seconds(5)), Seconds::ZERO);
        assert_eq!(downtimes.found().0, 0);
    }

    #[test]
    fn a_machine_that_often_pauses_long_is_not_down_in_another_such_pause() {
        let (mut downtimes, mut at) = (Downtimes::default(), UnixTime(1_000_000));
        for index in 0..4_000 {
            at = at + Seconds(if index % 100 == 0 { 50_000 } else { 60 });
            downtimes.start(UnixTime(at.0 - 60_000), at);
        }
        assert_eq!(downtimes.found().0, 0);
        assert_eq!(downtimes.clone().start(at, at + Seconds(100_000)), Seconds::ZERO);
        assert_eq!(downtimes.start(at, at + Seconds(100_001)), Seconds(100_001));
    }

    #[test]
    fn few_starts_tell_nothing_of_downtimes() {
        let (mut downtimes, last) = busy(2_900);
        assert_eq!(downtimes.start(last, last + Seconds(864_000)), Seconds::ZERO);
    }

    #[test]
    fn the_memory_is_bounded() {
        let (downtimes, _) = busy(20_000);
        assert_eq!((downtimes.pauses_s.len(), downtimes.ascending_s.len()), (MOST_PAUSES, MOST_PAUSES));
    }
}
