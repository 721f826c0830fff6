//! What a replay changes about how a policy stands.

use super::state::{Finding, MOST_REPLAYS, PolicyStanding, Replay, Standing};

/// So many replays in a row have to say that a policy gains nothing before it stands badly, and so
/// many that it pays before it stands well again. Harm to others counts at once.
pub const IN_A_ROW: u32 = 2;

const DAY_SECONDS: i64 = 86_400;

impl PolicyStanding {
    /// Takes up a replay. Returns whether the standing has changed.
    pub fn judged(&mut self, replay: Replay) -> bool {
        let (counts, needed) = match (self.standing, replay.finding) {
            (_, Finding::CannotBeSaid) => (None, IN_A_ROW),
            (Standing::Good, Finding::Harms) => (Some(true), 1),
            (Standing::Good, Finding::NoGain) | (Standing::Bad, Finding::Pays) => (Some(true), IN_A_ROW),
            (Standing::Good, Finding::Pays) | (Standing::Bad, Finding::NoGain | Finding::Harms) => (Some(false), IN_A_ROW),
        };
        match counts {
            Some(true) => self.in_a_row += 1,
            Some(false) => self.in_a_row = 0,
            // What can't be said speaks neither for it nor against it.
            None => {}
        }
        let changes = counts == Some(true) && self.in_a_row >= needed;
        if changes {
            self.standing = match self.standing {
                Standing::Good => Standing::Bad,
                Standing::Bad => Standing::Good,
            };
            self.since = replay.at;
            self.why.clone_from(&replay.why);
            self.in_a_row = 0;
        }
        self.keep(replay);
        changes
    }

    /// Keeps a replay, in the place of an earlier one of the same day.
    fn keep(&mut self, replay: Replay) {
        let day = |replay: &Replay| replay.at.0.div_euclid(DAY_SECONDS);
        if self.replays.last().is_some_and(|last| day(last) == day(&replay)) {
            self.replays.pop();
        }
        self.replays.push(replay);
        let too_many = self.replays.len().saturating_sub(MOST_REPLAYS);
        self.replays.drain(..too_many);
    }
}

#[cfg(test)]
mod tests {
    use super::super::state::GuardedPolicy;
    use super::*;
    use job_types::time::UnixTime;

    fn standing() -> PolicyStanding {
        PolicyStanding {
            partition: "batch".to_owned(),
            policy: GuardedPolicy::Molding,
            standing: Standing::Good,
            since: UnixTime(0),
            why: String::new(),
            in_a_row: 0,
            replays: Vec::new(),
        }
    }

    fn replay(at: i64, finding: Finding) -> Replay {
        Replay {
            at: UnixTime(at),
            first: None,
            last: None,
            days: 28.0,
            jobs: 5_000,
            adoption: 1.0,
            finding,
            why: format!("{finding:?}"),
            draws: Vec::new(),
        }
    }

    /// How it stands after each of the findings, one a day.
    fn after(findings: &[Finding]) -> Vec<Standing> {
        let mut standing = standing();
        let day = |(finding, at)| {
            standing.judged(replay(at * DAY_SECONDS, finding));
            standing.standing
        };
        findings.iter().copied().zip(1..).map(day).collect()
    }

    use Finding::{CannotBeSaid, Harms, NoGain, Pays};
    use Standing::{Bad, Good};

    #[test]
    fn harm_counts_at_once_and_want_of_gain_the_second_time_in_a_row() {
        assert_eq!(after(&[Harms]), [Bad]);
        assert_eq!(after(&[NoGain, NoGain]), [Good, Bad]);
        assert_eq!(after(&[NoGain, Pays, NoGain, NoGain]), [Good, Good, Good, Bad]);
    }

    #[test]
    fn it_comes_back_when_it_has_paid_twice_in_a_row() {
        assert_eq!(after(&[Harms, Pays, Pays]), [Bad, Bad, Good]);
        assert_eq!(after(&[Harms, Pays, NoGain, Pays, Harms, Pays, Pays]), [Bad, Bad, Bad, Bad, Bad, Bad, Good]);
    }

    #[test]
    fn what_cannot_be_said_keeps_the_standing_and_what_was_counted() {
        assert_eq!(after(&[CannotBeSaid; 5]), [Good; 5]);
        assert_eq!(after(&[Harms, CannotBeSaid, CannotBeSaid, Pays, CannotBeSaid, Pays]), [Bad, Bad, Bad, Bad, Bad, Good]);
    }

    #[test]
    fn of_each_day_the_last_replay_is_kept_and_of_so_many_days() {
        let mut standing = standing();
        assert!(!standing.judged(replay(10, Pays)) && standing.judged(replay(20, Harms)));
        assert_eq!((standing.replays.len(), standing.since, standing.why.as_str()), (1, UnixTime(20), "Harms"));
        for day in 1..100 {
            assert!(!standing.judged(replay(day * DAY_SECONDS, CannotBeSaid)));
        }
        assert_eq!((standing.replays.len(), standing.replays[0].at), (MOST_REPLAYS, UnixTime(40 * DAY_SECONDS)));
    }
}
