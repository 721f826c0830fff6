//! Tells whether a submission is decided about at all, before [`decide`](super::decide) looks at
//! it.

use super::submission::Submission;
use super::{is_in_question, mode_of};
use crate::decisions::counters::Counter;
use job_types::options::{Mode, OptionError, UserOptions};
use job_types::policy::{Admission, Policy, WithoutForecast};
use job_types::time::{Seconds, UnixTime};
use std::fmt;

/// A submission, as far as the gate looks at it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// What its user asked of us, or why that can't be read.
    pub asked: Result<&'a UserOptions, &'a OptionError>,
    /// Whether it has a deadline.
    pub has_deadline: bool,
    /// Whether it is an entry of scrontab, which is submitted once and run many times, at its own
    /// times.
    pub is_cron: bool,
    /// Whether it is a copy from the cluster of a federation that took the job and has decided
    /// about it.
    pub is_sibling_copy: bool,
    /// Whether it says on which clusters of a federation it may run (`--cluster-constraint`).
    pub chooses_clusters: bool,
    /// What the site says of its partition, as far as that is known where nothing is known of the
    /// state of the cluster; looked at only where it has a deadline or asks for a promise.
    pub configured: Option<Policy>,
}

/// What the gate sees of a submission that goes to this cluster alone.
impl<'a> From<&'a Submission<'_>> for Arrival<'a> {
    fn from(submission: &'a Submission<'_>) -> Self {
        Arrival {
            asked: Ok(&submission.asked),
            has_deadline: submission.deadline.is_some(),
            is_cron: false,
            is_sibling_copy: false,
            chooses_clusters: submission.chooses_clusters,
            configured: None,
        }
    }
}

impl<'a> Arrival<'a> {
    /// What is to be done with its deadline where there is nothing to decide from: `None` where
    /// that is nothing, because the site does not enforce that jobs with deadlines are admitted.
    fn admission_without_forecast(&self, asked: &UserOptions) -> Option<WithoutForecast> {
        let policy = self.admitting()?;
        (mode_of(asked, &policy) == Mode::Enforce).then_some(policy.admission_without_forecast)
    }

    /// The policy, where it is in question whether the job is admitted with its deadline.
    fn admitting(&self) -> Option<Policy> {
        self.configured.filter(|policy| self.has_deadline && policy.admission != Admission::Off)
    }
}

/// What holds for every submission at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterState {
    /// Whether the administrator's kill switch is on.
    pub is_off: bool,
    /// Whether the policy of the site or of some partition rewrites jobs whose users asked for
    /// nothing.
    pub is_transparent: bool,
}

/// How far ahead of a reader's clock a state of the cluster may be dated: clocks of one machine
/// agree, and are set back by little.
pub const MOST_AHEAD: Seconds = Seconds(60);

/// Whether a state of the cluster may be decided from, by its time of publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timeliness {
    /// The state may be used.
    Current,
    /// The state is older than the site allows.
    TooOld,
    /// It is dated more than [`MOST_AHEAD`] ahead. Nobody knows how old it is, and it would not
    /// become too old for long.
    Ahead,
}

impl Timeliness {
    /// Compares a state's time of publication with `now`. A state older than `maximum_age` is too
    /// old.
    #[must_use]
    pub fn of(published_at: UnixTime, now: UnixTime, maximum_age: Seconds) -> Timeliness {
        if published_at - now > MOST_AHEAD {
            Timeliness::Ahead
        } else if (now - published_at).max(Seconds::ZERO) > maximum_age {
            Timeliness::TooOld
        } else {
            Timeliness::Current
        }
    }
}

/// Why there is no state of the cluster to decide from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoState {
    /// No configuration names a state directory.
    NotSetUp,
    /// No state has been published yet.
    Absent,
    /// The state that was published is damaged.
    Damaged,
    /// The state is dated ahead of the clock.
    Ahead,
    /// The state is older than the site allows.
    TooOld,
    /// The state does not have the partition.
    UnknownPartition,
}

impl fmt::Display for NoState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoState::NotSetUp => "queuecast is not set up on this cluster",
            NoState::Absent => "there is no forecast yet",
            NoState::Damaged => "the forecast is damaged",
            NoState::Ahead => "the forecast is dated ahead of slurmctld's clock",
            NoState::TooOld => "the forecast is too old to rely on",
            NoState::UnknownPartition => "nothing is known of its partition",
        })
    }
}

/// Why nothing is decided about a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Why {
    /// It asks for nothing, and no policy applies to it unasked.
    NothingAsked,
    /// The kill switch is on.
    KillSwitch,
    /// What its user asked for can't be read.
    Malformed(OptionError),
    /// There is nothing to decide from.
    NoState(NoState),
    /// The mode is off, by the site's policy or by its user's wish.
    ModeOff,
    /// Another cluster of the federation has decided.
    SiblingCopy,
    /// Another cluster of the federation may get the job.
    ChoosesClusters,
}

/// What becomes of a submission before anything is decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    /// It is decided about, as far as this mode goes.
    Decide(Mode),
    /// It passes as written. What its user is told of that, if anything, follows.
    Leave(Why, Option<String>),
    /// It is refused, because it asks for a promise that can't be given.
    Refuse(Why, Option<String>),
    /// It is refused, because whether its deadline can be kept is not decided, and the site wants
    /// that known. What its user is told follows.
    NotAdmitted(Why, String),
}

impl Gate {
    /// What is counted; nothing where the submission goes on to be decided about, or where there is
    /// nothing to count in.
    pub fn counters(&self) -> impl Iterator<Item = Counter> + use<> {
        let (why, refused) = match self {
            Gate::Decide(_) => (None, false),
            Gate::Leave(why, _) => (Some(why.clone()), false),
            Gate::Refuse(why, _) => (Some(why.clone()), true),
            Gate::NotAdmitted(why, _) => (Some(why.clone()), true),
        };
        let by_reason = why.as_ref().and_then(|why| match why {
            Why::NothingAsked => Some(Counter::NothingAsked),
            Why::KillSwitch | Why::ModeOff => Some(Counter::Off),
            Why::Malformed(_) => Some(Counter::OptionsMalformed),
            Why::NoState(NoState::NotSetUp) => None,
            Why::NoState(NoState::Absent) => Some(Counter::SnapshotAbsent),
            Why::NoState(NoState::Damaged) => Some(Counter::SnapshotDamaged),
            Why::NoState(NoState::Ahead) => Some(Counter::SnapshotAhead),
            Why::NoState(NoState::TooOld) => Some(Counter::SnapshotTooOld),
            Why::NoState(NoState::UnknownPartition) => Some(Counter::PartitionUnknown),
            Why::SiblingCopy => (!refused).then_some(Counter::Unchanged),
            Why::ChoosesClusters => None,
        });
        let is_counted = refused && why != Some(Why::NoState(NoState::NotSetUp));
        let not_admitted = matches!(self, Gate::NotAdmitted(..)) && is_counted;
        by_reason.into_iter().chain(is_counted.then_some(Counter::Refused)).chain(not_admitted.then_some(Counter::NotAdmitted))
    }

    /// What the user is told, without a line end.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        match self {
            Gate::Decide(_) => None,
            Gate::Leave(_, message) | Gate::Refuse(_, message) => message.as_deref(),
            Gate::NotAdmitted(_, message) => Some(message),
        }
    }
}

/// Says whether a submission is decided about. `standing` is `None` where nothing is set up;
/// `policy` looks up the policy of the partition that forecasts are about, and is called only where
/// the answer depends on it.
///
/// A promise that can't be given for want of a state is refused, unless the site is known to give
/// none; a wish is left, and a deadline as the site says.
pub fn gate(arrival: &Arrival<'_>, standing: Option<FilterState>, policy: impl FnOnce() -> Result<Policy, NoState>) -> Gate {
    let Some(standing) = standing else {
        return match arrival.asked {
            Ok(asked) => without_state(arrival, asked, NoState::NotSetUp),
            Err(error) => Gate::Leave(Why::Malformed(error.clone()), None),
        };
    };
    let nothing_asked = arrival.asked.is_ok_and(UserOptions::is_empty) && !arrival.has_deadline;
    if (nothing_asked && !standing.is_transparent) || arrival.is_cron {
        return Gate::Leave(Why::NothingAsked, None);
    }
    if standing.is_off {
        let message = "switched off by the administrator: the job was submitted as you wrote it";
        return Gate::Leave(Why::KillSwitch, arrival.asked.is_ok_and(asks_for_something).then(|| message.to_owned()));
    }
    let asked = match arrival.asked {
        Ok(asked) => asked,
        Err(error) => return malformed(arrival, error),
    };
    let policy = match policy() {
        Ok(policy) => policy,
        Err(why) => return without_state(arrival, asked, why),
    };
    let mode = mode_of(asked, &policy);
    if mode == Mode::Off {
        let message = "switched off in this partition: the job was submitted as you wrote it";
        let is_told = asks_for_something(asked) && asked.mode != Some(Mode::Off);
        return Gate::Leave(Why::ModeOff, is_told.then(|| message.to_owned()));
    }
    if !is_in_question(asked, arrival.has_deadline, &policy) {
        return Gate::Leave(Why::NothingAsked, None);
    }
    let is_reserved = asked.reserve_at.is_some() && mode == Mode::Enforce;
    let promises = is_reserved || (asked.reserve_window.is_some() && mode == Mode::Enforce);
    if arrival.is_sibling_copy {
        // The cluster of a federation that took the job has decided about it already, and its user
        // was told what. A promise is kept there: were the copy to start here, as it was written,
        // it would be broken; and a copy of a job with a window would start before that.
        return if promises { Gate::Refuse(Why::SiblingCopy, None) } else { Gate::Leave(Why::SiblingCopy, None) };
    }
    if is_reserved && arrival.chooses_clusters {
        let message = "no reservation: --cluster-constraint may send the job to another cluster; leave one of the two out";
        return Gate::Refuse(Why::ChoosesClusters, Some(message.to_owned()));
    }
    Gate::Decide(mode)
}

fn asks_for_something(asked: &UserOptions) -> bool {
    asked.auto_mold || asked.auto_defer || asked.reserve_at.is_some() || asked.reserve_window.is_some()
}

/// The answer where what was asked can't be read. No control variable that somebody has forged gets
/// a deadline past a site that enforces that it is admitted.
fn malformed(arrival: &Arrival<'_>, error: &OptionError) -> Gate {
    let why = Why::Malformed(error.clone());
    let is_enforced = arrival.admitting().is_some_and(|policy| policy.mode == Mode::Enforce);
    if is_enforced && !arrival.is_sibling_copy {
        return Gate::NotAdmitted(why, format!("not admitted: {error}; submit without --deadline, or correct that"));
    }
    Gate::Leave(why, Some(format!("the job is left as it is: {error}")))
}

/// The answer where there is nothing to decide from.
fn without_state(arrival: &Arrival<'_>, asked: &UserOptions, why: NoState) -> Gate {
    if asked.mode == Some(Mode::Off) {
        return Gate::Leave(Why::NoState(why), None);
    }
    let deadline = arrival.admission_without_forecast(asked).filter(|_| asked.reserve_at.is_none());
    if deadline == Some(WithoutForecast::Refuse) && !arrival.is_sibling_copy {
        let message = format!("not admitted: {why}; submit without --deadline, or try again later");
        return Gate::NotAdmitted(Why::NoState(why), message);
    }
    if !asks_for_something(asked) {
        let message = || format!("the deadline is left to Slurm: {why}");
        return Gate::Leave(Why::NoState(why), deadline.map(|_| message()));
    }
    // If the site's mode is not known, the job's own counts, or else the site is taken to keep
    // promises.
    let mode = arrival.configured.map_or_else(|| asked.mode.unwrap_or(Mode::Enforce), |policy| mode_of(asked, &policy));
    if asked.reserve_at.is_some() && mode == Mode::Enforce {
        let message = format!("no reservation: {why}; submit without --reserve-at, or try again later");
        return Gate::Refuse(Why::NoState(why), Some(message));
    }
    // The window says when the job may begin at the earliest, which nothing would keep.
    if asked.reserve_window.is_some() && !asked.is_default_window && mode == Mode::Enforce {
        let message = format!("no firm slot: {why}; submit without --reserve-window, or try again later");
        return Gate::Refuse(Why::NoState(why), Some(message));
    }
    Gate::Leave(Why::NoState(why), Some(format!("the job was submitted as you wrote it: {why}")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use job_types::policy::When;
    use job_types::window::Window;

    const STANDING: FilterState = FilterState { is_off: false, is_transparent: false };

    fn enforced() -> Result<Policy, NoState> {
        Ok(Policy { mode: Mode::Enforce, ..Policy::default() })
    }

    fn mold() -> UserOptions {
        UserOptions { auto_mold: true, ..UserOptions::default() }
    }

    fn reserve() -> UserOptions {
        UserOptions { reserve_at: Some(1_000), ..UserOptions::default() }
    }

    fn of(asked: &UserOptions) -> Arrival<'_> {
        Arrival { asked: Ok(asked), has_deadline: false, is_cron: false, is_sibling_copy: false, chooses_clusters: false, configured: None }
    }

    fn counted(gate: &Gate) -> Vec<Counter> {
        gate.counters().collect()
    }

    #[test]
    fn nothing_is_looked_up_where_nothing_is_asked_and_no_policy_is_transparent() {
        let asked = UserOptions::default();
        let found = gate(&of(&asked), Some(STANDING), || unreachable!("no policy matters"));
        assert_eq!(found, Gate::Leave(Why::NothingAsked, None));
        assert_eq!(counted(&found), [Counter::NothingAsked]);
        let cron = Arrival { is_cron: true, ..of(&asked) };
        assert_eq!(gate(&cron, Some(STANDING), enforced), Gate::Leave(Why::NothingAsked, None));
    }

    #[test]
    fn a_transparent_policy_elsewhere_does_not_concern_this_partition() {
        let asked = UserOptions::default();
        let standing = Some(FilterState { is_transparent: true, ..STANDING });
        assert_eq!(gate(&of(&asked), standing, enforced), Gate::Leave(Why::NothingAsked, None));
        let here = || Ok(Policy { mold: When::Always, ..enforced()? });
        assert_eq!(gate(&of(&asked), standing, here), Gate::Decide(Mode::Enforce));
    }

    #[test]
    fn a_deadline_alone_is_in_question() {
        let asked = UserOptions::default();
        let arrival = Arrival { has_deadline: true, ..of(&asked) };
        assert_eq!(gate(&arrival, Some(STANDING), enforced), Gate::Decide(Mode::Enforce));
    }

    #[test]
    fn the_kill_switch_goes_before_what_was_asked_and_is_told_to_those_who_asked() {
        let off = Some(FilterState { is_off: true, is_transparent: true });
        let asked = reserve();
        let found = gate(&of(&asked), off, || unreachable!("it is off"));
        assert!(matches!(&found, Gate::Leave(Why::KillSwitch, Some(message)) if message.starts_with("switched off by the administrator")));
        assert_eq!(counted(&found), [Counter::Off]);
        let nothing = UserOptions::default();
        assert_eq!(gate(&of(&nothing), off, enforced), Gate::Leave(Why::KillSwitch, None));
    }

    #[test]
    fn without_a_state_a_promise_is_refused_and_a_wish_is_left() {
        for (why, counter) in [
            (NoState::Absent, Counter::SnapshotAbsent),
            (NoState::Damaged, Counter::SnapshotDamaged),
            (NoState::Ahead, Counter::SnapshotAhead),
            (NoState::TooOld, Counter::SnapshotTooOld),
            (NoState::UnknownPartition, Counter::PartitionUnknown),
        ] {
            let refused = gate(&of(&reserve()), Some(STANDING), || Err(why));
            assert!(matches!(&refused, Gate::Refuse(Why::NoState(found), Some(_)) if *found == why));
            assert_eq!(counted(&refused), [counter, Counter::Refused]);
            let left = gate(&of(&mold()), Some(STANDING), || Err(why));
            assert!(left.message().unwrap().starts_with("the job was submitted as you wrote it: "));
            assert_eq!(counted(&left), [counter]);
            let observed = UserOptions { mode: Some(Mode::Observe), ..reserve() };
            assert!(matches!(gate(&of(&observed), Some(STANDING), || Err(why)), Gate::Leave(..)));
            let off = UserOptions { mode: Some(Mode::Off), ..reserve() };
            assert_eq!(gate(&of(&off), Some(STANDING), || Err(why)).message(), None);
        }
    }

    fn slot(is_default_window: bool) -> UserOptions {
        let window = Window { earliest: UnixTime(1_000), latest: UnixTime(9_000) };
        UserOptions { reserve_window: Some(window), is_default_window, ..UserOptions::default() }
    }

    #[test]
    fn without_a_state_a_window_is_refused_and_a_default_one_is_left() {
        let refused = gate(&of(&slot(false)), Some(STANDING), || Err(NoState::TooOld));
        let message = "no firm slot: the forecast is too old to rely on; submit without --reserve-window, or try again later";
        assert_eq!(refused, Gate::Refuse(Why::NoState(NoState::TooOld), Some(message.to_owned())));
        let left = Gate::Leave(
            Why::NoState(NoState::TooOld),
            Some("the job was submitted as you wrote it: the forecast is too old to rely on".to_owned()),
        );
        assert_eq!(gate(&of(&slot(true)), Some(STANDING), || Err(NoState::TooOld)), left);
        let advised = UserOptions { mode: Some(Mode::Advise), ..slot(false) };
        assert_eq!(gate(&of(&advised), Some(STANDING), || Err(NoState::TooOld)), left);
    }

    #[test]
    fn a_window_is_decided_about_and_no_copy_of_its_job_starts_before_it() {
        let asked = slot(false);
        assert_eq!(gate(&of(&asked), Some(STANDING), enforced), Gate::Decide(Mode::Enforce));
        let chooses = Arrival { chooses_clusters: true, ..of(&asked) };
        assert_eq!(gate(&chooses, Some(STANDING), enforced), Gate::Decide(Mode::Enforce), "the decision says why not");
        let copy = Arrival { is_sibling_copy: true, ..of(&asked) };
        assert_eq!(gate(&copy, Some(STANDING), enforced), Gate::Refuse(Why::SiblingCopy, None));
        let advised = || Ok(Policy { mode: Mode::Advise, ..enforced()? });
        assert_eq!(gate(&copy, Some(STANDING), advised), Gate::Leave(Why::SiblingCopy, None));
    }

    #[test]
    fn without_a_state_a_site_that_gives_no_promises_refuses_none() {
        let promise = reserve();
        let of_site = |mode| {
            let configured = Some(Policy { mode, ..Policy::default() });
            gate(&Arrival { configured, ..of(&promise) }, Some(STANDING), || Err(NoState::TooOld))
        };
        for mode in [Mode::Off, Mode::Observe, Mode::Advise] {
            let message = "the job was submitted as you wrote it: the forecast is too old to rely on";
            assert_eq!(of_site(mode), Gate::Leave(Why::NoState(NoState::TooOld), Some(message.to_owned())), "{mode:?}");
        }
        assert!(matches!(of_site(Mode::Enforce), Gate::Refuse(..)));
    }

    #[test]
    fn without_a_state_a_deadline_passes_or_is_refused_as_the_site_says() {
        let configured =
            |admission, admission_without_forecast, mode| Some(Policy { mode, admission, admission_without_forecast, ..Policy::default() });
        let nothing = UserOptions::default();
        let due = |configured| Arrival { has_deadline: true, configured, ..of(&nothing) };
        let without = |arrival: &Arrival<'_>| gate(arrival, Some(STANDING), || Err(NoState::TooOld));
        let refused = without(&due(configured(Admission::Edf, WithoutForecast::Refuse, Mode::Enforce)));
        let message = "not admitted: the forecast is too old to rely on; submit without --deadline, or try again later";
        assert_eq!(refused, Gate::NotAdmitted(Why::NoState(NoState::TooOld), message.to_owned()));
        assert_eq!(counted(&refused), [Counter::SnapshotTooOld, Counter::Refused, Counter::NotAdmitted]);
        let left = without(&due(configured(Admission::Edf, WithoutForecast::Pass, Mode::Enforce)));
        let message = "the deadline is left to Slurm: the forecast is too old to rely on";
        assert_eq!(left, Gate::Leave(Why::NoState(NoState::TooOld), Some(message.to_owned())));
        // Nobody is promised anything by a site that does not enforce, or without a deadline.
        let left = Gate::Leave(Why::NoState(NoState::TooOld), None);
        for mode in [Mode::Off, Mode::Observe, Mode::Advise] {
            assert_eq!(without(&due(configured(Admission::Edf, WithoutForecast::Refuse, mode))), left);
        }
        assert_eq!(without(&due(configured(Admission::Off, WithoutForecast::Refuse, Mode::Enforce))), left);
        assert_eq!(without(&due(None)), left);
        let strict = configured(Admission::Edf, WithoutForecast::Refuse, Mode::Enforce);
        assert_eq!(without(&Arrival { has_deadline: false, ..due(strict) }), Gate::Leave(Why::NothingAsked, None));
        let by_mode = |mode| {
            let asked = UserOptions { mode: Some(mode), ..UserOptions::default() };
            gate(&Arrival { asked: Ok(&asked), ..due(strict) }, Some(STANDING), || Err(NoState::TooOld))
        };
        assert_eq!([by_mode(Mode::Off), by_mode(Mode::Advise)], [left.clone(), left.clone()]);
        // The cluster of a federation that took the job has said what becomes of its deadline.
        let copy = without(&Arrival { is_sibling_copy: true, ..due(strict) });
        assert!(matches!(copy, Gate::Leave(..)), "{copy:?}");
    }

    #[test]
    fn where_nothing_is_set_up_nothing_is_counted() {
        let refused = gate(&of(&reserve()), None, enforced);
        assert!(refused.message().unwrap().contains("queuecast is not set up on this cluster"));
        assert_eq!(counted(&refused), []);
        assert_eq!(gate(&of(&UserOptions::default()), None, enforced).message(), None);
    }

    #[test]
    fn a_mode_of_off_leaves_the_job_and_is_told_where_the_site_says_so() {
        let off = || Ok(Policy { mode: Mode::Off, ..Policy::default() });
        let by_site = gate(&of(&mold()), Some(STANDING), off);
        assert!(by_site.message().unwrap().starts_with("switched off in this partition"));
        let asked = UserOptions { mode: Some(Mode::Off), ..mold() };
        let by_user = gate(&of(&asked), Some(STANDING), enforced);
        assert_eq!((&by_user, counted(&by_user)), (&Gate::Leave(Why::ModeOff, None), vec![Counter::Off]));
    }

    #[test]
    fn a_user_may_lower_the_mode_only() {
        let asked = UserOptions { mode: Some(Mode::Advise), ..mold() };
        assert_eq!(gate(&of(&asked), Some(STANDING), enforced), Gate::Decide(Mode::Advise));
        let observed = || Ok(Policy { mode: Mode::Observe, ..Policy::default() });
        assert_eq!(gate(&of(&asked), Some(STANDING), observed), Gate::Decide(Mode::Observe));
    }

    #[test]
    fn in_a_federation_a_promise_is_given_by_one_cluster() {
        let asked = reserve();
        let copy = Arrival { is_sibling_copy: true, ..of(&asked) };
        let refused = gate(&copy, Some(STANDING), enforced);
        assert_eq!((&refused, counted(&refused)), (&Gate::Refuse(Why::SiblingCopy, None), vec![Counter::Refused]));
        let wish = mold();
        let copy = Arrival { is_sibling_copy: true, ..of(&wish) };
        assert_eq!(counted(&gate(&copy, Some(STANDING), enforced)), [Counter::Unchanged]);
        let choosing = Arrival { chooses_clusters: true, ..of(&asked) };
        let refused = gate(&choosing, Some(STANDING), enforced);
        assert!(refused.message().unwrap().contains("--cluster-constraint"));
        assert_eq!(counted(&refused), [Counter::Refused]);
        let wishing = Arrival { chooses_clusters: true, ..of(&wish) };
        assert_eq!(gate(&wishing, Some(STANDING), enforced), Gate::Decide(Mode::Enforce));
    }

    #[test]
    fn a_state_is_used_up_to_its_age_and_a_minute_before_its_date() {
        let at = |now| Timeliness::of(UnixTime(1_000), UnixTime(now), Seconds(600));
        assert_eq!([at(1_600), at(1_601)], [Timeliness::Current, Timeliness::TooOld]);
        assert_eq!([at(940), at(939)], [Timeliness::Current, Timeliness::Ahead]);
    }

    #[test]
    fn options_that_cannot_be_read_are_told() {
        let error = UserOptions::default().set("QUEUECAST_MODE", "nonsense").unwrap_err();
        let arrival = Arrival { asked: Err(&error), ..of(&UserOptions::default()) };
        let found = gate(&arrival, Some(STANDING), enforced);
        assert!(found.message().unwrap().starts_with("the job is left as it is: "));
        assert_eq!(counted(&found), [Counter::OptionsMalformed]);
    }

    #[test]
    fn options_that_cannot_be_read_get_no_deadline_past_a_site_that_enforces_admission() {
        let error = UserOptions::default().set("QUEUECAST_MODE", "nonsense").unwrap_err();
        let nothing = UserOptions::default();
        let due = |admission, mode| {
            let configured = Some(Policy { mode, admission, ..Policy::default() });
            Arrival { asked: Err(&error), has_deadline: true, configured, ..of(&nothing) }
        };
        let strict = due(Admission::Edf, Mode::Enforce);
        let refused = gate(&strict, Some(STANDING), enforced);
        assert!(matches!(refused, Gate::NotAdmitted(Why::Malformed(_), _)), "{refused:?}");
        assert!(refused.message().unwrap().starts_with("not admitted: ") && refused.message().unwrap().contains("nonsense"));
        assert_eq!(counted(&refused), [Counter::OptionsMalformed, Counter::Refused, Counter::NotAdmitted]);
        let others = [
            due(Admission::Off, Mode::Enforce),
            due(Admission::Edf, Mode::Advise),
            Arrival { has_deadline: false, ..strict },
            Arrival { is_sibling_copy: true, ..strict },
            Arrival { configured: None, ..strict },
        ];
        for arrival in others {
            let left = gate(&arrival, Some(STANDING), enforced);
            assert!(left.message().unwrap().starts_with("the job is left as it is: "), "{left:?}");
            assert_eq!(counted(&left), [Counter::OptionsMalformed]);
        }
    }
}
