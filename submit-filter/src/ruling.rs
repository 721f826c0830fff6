//! Judges a submission or modification by the site's own rules, and writes what they want.

mod forecasts;
mod states;

use crate::fields::{DirectFields, JobFields, Writes};
use crate::guard::caught;
use crate::rules::{AskedRule, InForce, RuleStore};
use crate::state::{Located, State};
use arrayvec::ArrayVec;
use forecasts::SnapshotForecasts;
use job_types::number::UserId;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::counters::Counter;
use site_rules::apply::{NOT_KNOWN_YET, RULE_FAILED, apply, apply_again};
use site_rules::asked::{AsAsked, Overwritten};
use site_rules::data::DataFile;
use site_rules::fault::Fault;
use site_rules::field::{FieldNumber, Fields, Name};
use site_rules::outcome::{NoObserver, Observer, Refusal, Report, Verdict};
use site_rules::overlay::{Overlay, Write};
use site_rules::refusal_log::RefusedRequest;
use site_rules::resources;
use site_rules::rules::{Mode, OnError, Rule, RuleSet};
use site_rules::scratch::Memory;
use site_rules::steps::Steps;
use site_rules::submission::{Current, Forecasts, NoForecasts, Request, Submission, User, UserJobs};
use site_rules::value::Value;
use site_rules::words;
use slurm_sys::error_number;
use slurm_sys::job_description::{JobDescription, UserMessage};
use slurm_sys::job_fields::TextField;
use slurm_sys::process::own_user;
use states::{LetThrough, MOST_COMPONENTS, named_jobs};
use std::ffi::c_int;
use std::time::Instant;

/// What Slurm answers where a rule names no error: `SLURM_ERROR`, as `slurm.ERROR` in Lua.
const GENERAL_ERROR: c_int = slurm_sys::bindings::SLURM_ERROR;

/// A request as the rules in force judge it.
#[derive(Clone, Copy)]
pub(crate) struct Judged<'a> {
    pub(crate) state: &'a State,
    pub(crate) store: &'a RuleStore,
    pub(crate) in_force: &'a InForce,
    pub(crate) request: Request,
    /// The user who makes the request; the job may be another user's.
    pub(crate) asker: UserId,
    pub(crate) now: UnixTime,
    /// The place of forecasts; `None` if there is none.
    pub(crate) located: Option<&'a Located>,
}

/// A state besides the first in which a job that is to be modified has to be allowed.
struct OtherState<'a> {
    current: Current<'a>,
    /// Whether it is that in which Slurm has refused nothing: of a further component of a job.
    is_certain: bool,
}

/// A refusal of a request by the rules, with Slurm's number of the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) c_int);

/// What is to be done after rules were evaluated; it borrows nothing of the job's description.
#[derive(Default)]
struct Ruled {
    refusal: Option<RuledRefusal>,
    warnings: Vec<String>,
    writes: Option<Writes>,
    applied: Applied,
}

/// What is left behind by rules that let a request through.
#[derive(Default)]
pub(crate) struct Applied {
    /// What they have written over.
    overwritten: Overwritten,
    /// How many steps are left to them.
    left: Steps,
}

/// A refusal by the site's rules.
struct RuledRefusal {
    number: c_int,
    /// The name of the rule, where it is one that refuses.
    rule: Option<String>,
    message: String,
}

impl Judged<'_> {
    /// Evaluates the rules, and writes what they want into the job description: all of it, or
    /// nothing. The user is told what they say. Returns what [`Judged::allows`] has to know of it.
    ///
    /// # Errors
    /// Where they refuse the request.
    pub(crate) fn apply(&self, description: &mut JobDescription<'_>, message: &mut UserMessage<'_>) -> Result<Applied, Refused> {
        let said = message.said();
        // A panic here is an error of the evaluation, and the rules say what becomes of that.
        let ruled = caught(|| self.evaluated(description, said)).unwrap_or_else(|| {
            self.state.count(Counter::Panics);
            let ruled = self.failed("E_RULE_FAILED: the site's rules can't be evaluated");
            let outcome = if ruled.refusal.is_some() { "is refused" } else { "goes on, as the rules pass over errors" };
            slurm_sys::log::error(&format!("job_submit/queuecast: after this error the request, which met the site's rules, {outcome}"));
            ruled
        });
        for warning in &ruled.warnings {
            message.add(warning);
        }
        if let Some(refusal) = ruled.refusal {
            return Err(self.refused(&refusal, message));
        }
        if let Some(writes) = ruled.writes {
            writes.apply(description);
        }
        Ok(ruled.applied)
    }

    /// Tells a refusal to the user and to the log: 22.05's scontrol does not hand it on
    /// (`update_job` in src/slurmctld/job_mgr.c), so that administrators can at least tell.
    fn refused(&self, refusal: &RuledRefusal, message: &mut UserMessage<'_>) -> Refused {
        message.add(&refusal.message);
        self.logged(refusal)
    }

    /// Tells a refusal to the log alone.
    fn logged(&self, refusal: &RuledRefusal) -> Refused {
        let refused = RefusedRequest { user: self.asker, request: self.kind(), rule: refusal.rule.as_deref(), message: &refusal.message };
        let line = self.state.refusal_log.lock().line(&refused, self.now);
        if let Some(line) = line {
            slurm_sys::log::info(&line);
        }
        Refused(refusal.number)
    }

    /// What is asked for, in a word.
    fn kind(&self) -> &'static str {
        match self.request {
            Request::Submit => "submission",
            Request::Modify => "modification",
        }
    }

    /// What becomes of a request that no rule can look at: it is refused with this number of
    /// Slurm's where a rule that is enforced would have been asked, and else only the log says what
    /// would become of it. `told` is where its user is told, if the user is.
    ///
    /// # Errors
    /// It is refused.
    pub(crate) fn not_judged(&self, number: c_int, refusal: String, told: Option<&mut UserMessage<'_>>) -> Result<(), Refused> {
        let mut concerned = self.in_force.rules.set.rules.iter().filter(|rule| self.concerns(rule)).peekable();
        if concerned.peek().is_none() {
            return Ok(());
        }
        if concerned.all(|rule| rule.mode != Mode::Enforce) {
            let (kind, asker) = (self.kind(), self.asker);
            slurm_sys::log::info(&format!(
                "job_submit/queuecast: no rule is enforced; a {kind} by user {asker} would have been refused: {refusal}"
            ));
            return Ok(());
        }
        let refusal = RuledRefusal { number, rule: None, message: refusal };
        Err(match told {
            Some(message) => self.refused(&refusal, message),
            None => self.logged(&refusal),
        })
    }

    /// Keeps what a modification is to write that was let through.
    ///
    /// # Errors
    /// There is no room to keep it, so that it is refused.
    pub(crate) fn keep_change(&self, description: &JobDescription<'_>, message: &mut UserMessage<'_>) -> Result<(), Refused> {
        let kept = caught(|| {
            let named = self.in_force.data.as_deref().map(|data| named_jobs(data, description)).unwrap_or_default();
            let known = named.first().map(|named| &named.job);
            let Some((job, change)) = self.change_to_keep(description, known) else { return Ok(()) };
            self.state.unconfirmed().changes.add(job, self.asker, known.is_some(), change, self.read_at(), self.now)
        });
        if matches!(kept, Some(Ok(()))) {
            return Ok(());
        }
        let message_text = "E_NOT_KNOWN_YET: too much was modified lately that is not confirmed yet: try again in half a minute";
        Err(self.refused(&RuledRefusal { number: not_known_yet(), rule: None, message: message_text.to_owned() }, message))
    }

    /// Counts a job that is let through, until the daemon has read it.
    pub(crate) fn note_let_through(&self, description: &JobDescription<'_>) {
        let Some(data) = self.in_force.data.as_deref() else { return };
        let tasks = description.text(TextField::ArrayInx).and_then(|tasks| resources::array_size(tasks.to_str().ok()?));
        let jobs = u32::try_from(tasks.unwrap_or(1)).unwrap_or(u32::MAX);
        self.store.let_through.lock().note(description.user(), self.now, jobs, data.counted_before());
    }

    /// What becomes of a request where no rule can be told to have failed: it is refused, unless
    /// all rules pass over what can't be evaluated.
    fn failed(&self, refusal: &str) -> Ruled {
        let is_refused = self.in_force.rules.set.rules.iter().any(|rule| self.concerns(rule) && refuses_on_error(rule));
        let refusal = || RuledRefusal { number: named_error(RULE_FAILED), rule: None, message: refusal.to_owned() };
        Ruled { refusal: is_refused.then(refusal), ..Ruled::default() }
    }

    fn concerns(&self, rule: &Rule) -> bool {
        match self.request {
            Request::Submit => rule.on_submit,
            Request::Modify => rule.on_modify,
        }
    }

    /// `said` is what other plugins have told the user.
    fn evaluated(&self, description: &JobDescription<'_>, said: Option<&str>) -> Ruled {
        let set = &self.in_force.rules.set;
        let fields = JobFields::from(description);
        let mut observer = Tally::new(self, &fields, said.unwrap_or_default());
        #[cfg(panics_when_told)]
        assert!(description.name() != Some("queuecast-panics-in-rules"));
        let judged = |submission: &Submission<'_>, observer: &mut dyn Observer, left: Option<Steps>| {
            let mut memory = Memory::default();
            let outcome = match left {
                None => apply(set, submission, &mut memory, observer),
                Some(left) => apply_again(set, submission, &mut memory, observer, left),
            };
            let left = outcome.steps_left;
            let warnings = outcome.warnings.into_iter().map(|warning| warning.message).collect();
            if let Some(refusal) = outcome.refusal {
                let rule = set.rules.get(usize::from(refusal.rule.0)).map(|rule| rule.name.to_string());
                let refusal = RuledRefusal { number: number_of(&refusal), rule, message: refusal.message };
                return Ruled { refusal: Some(refusal), warnings, applied: Applied { left, ..Applied::default() }, ..Ruled::default() };
            }
            if outcome.writes.is_empty() {
                return Ruled { warnings, applied: Applied { left, ..Applied::default() }, ..Ruled::default() };
            }
            let overwritten = Overwritten::by(&outcome.writes, submission.job);
            match Writes::prepare(description, outcome.writes) {
                Ok(writes) => Ruled { refusal: None, warnings, writes: Some(writes), applied: Applied { overwritten, left } },
                Err(error) => {
                    slurm_sys::log::error(&format!("job_submit/queuecast: what the site's rules want can't be written: {error}"));
                    Ruled { warnings, ..self.failed(&format!("E_RULE_FAILED: what the site's rules want can't be written: {error}")) }
                }
            }
        };
        let ruled = self.with_submission(description, &fields, |submission, others| {
            let ruled = judged(submission, &mut observer, None);
            if ruled.refusal.is_some() {
                return ruled;
            }
            // The job has to be allowed in each state that it may be in, with the steps that are
            // left.
            let mut left = ruled.applied.left;
            for OtherState { current, is_certain } in others {
                let in_state = judged(&Submission { current: Some(*current), ..*submission }, &mut NoObserver, Some(left));
                left = in_state.applied.left;
                if let Some(refusal) = in_state.refusal {
                    if *is_certain {
                        return Ruled { refusal: Some(refusal), ..ruled };
                    }
                    let message = format!(
                        "{} (unless what was submitted or modified before is confirmed first: try again in half a minute)",
                        refusal.message
                    );
                    return Ruled { refusal: Some(RuledRefusal { number: not_known_yet(), message, ..refusal }), ..ruled };
                }
            }
            ruled
        });
        observer.hand_over();
        ruled
    }

    /// Whether rules leave a job as it is to be after a decision about it, whose changes are given:
    /// the name of the first rule that would refuse it, write one of the fields, or have too few
    /// steps, of which there are only those that are left. `applied` is what the rules have done
    /// before.
    ///
    /// # Errors
    /// That name.
    pub(crate) fn allows(&self, description: &JobDescription<'_>, applied: &Applied, changes: &[(Name, Value<'_>)]) -> Result<(), String> {
        let set = &self.in_force.rules.set;
        let mut objector = Objector { set, changes, rule: None };
        let asked = caught(|| {
            let fields = JobFields::from(description);
            self.with_submission(description, &fields, |submission, _| {
                let mut overlay = Overlay::new(submission.job);
                for (name, value) in changes {
                    overlay.write(Write { field: FieldNumber::from(*name), value: Some(*value) });
                }
                let asked = AsAsked::new(submission.job, &applied.overwritten);
                let mut memory = Memory::default();
                apply_again(set, &Submission { job: &overlay, asked: &asked, ..*submission }, &mut memory, &mut objector, applied.left);
            });
        });
        match (asked, objector.rule) {
            (Some(()), None) => Ok(()),
            (_, name) => Err(name.unwrap_or_default()),
        }
    }

    /// Gives `work` the submission as rules see it, and of a job that is to be modified the other
    /// states that it may be in.
    fn with_submission<T>(
        &self,
        description: &JobDescription<'_>,
        fields: &JobFields<'_>,
        work: impl FnOnce(&Submission<'_>, &[OtherState<'_>]) -> T,
    ) -> T {
        let (rules, data) = (&*self.in_force.rules, self.in_force.data.as_deref());
        let is_modified = self.request == Request::Modify;
        let named = data.filter(|_| is_modified).map(|data| named_jobs(data, description)).unwrap_or_default();
        let let_through: Vec<LetThrough> = match &*named {
            // What is submitted costs no allocation here.
            [] if !is_modified => Vec::new(),
            [] => vec![self.let_through(description, None)],
            named => named.iter().map(|named| self.let_through(description, Some(named))).collect(),
        };
        let known = |place: usize| named.get(place).map(|named| &named.job);
        let of_each = let_through.iter().enumerate();
        let is_too_many = named.len() > MOST_COMPONENTS;
        let states: Option<Vec<_>> =
            of_each.filter(|_| !is_too_many).map(|(place, let_through)| let_through.states(known(place))).collect();
        let states = states.unwrap_or_default();
        let mut current = None;
        let mut others = Vec::new();
        for (place, job) in states.iter().flat_map(|states| states.iter().enumerate()) {
            let state = Current { fields: job, age: (self.now - job.read_at).max(Seconds::ZERO) };
            match current {
                None => current = Some(state),
                Some(_) => others.push(OtherState { current: state, is_certain: place == 0 }),
            }
        }
        // A text that is not UTF-8 is not converted, because no budget counts that work.
        let read_directly = DirectFields::from(description);
        let forecasts = SnapshotForecasts::new(self.located, &read_directly, self.now);
        let forecasts: &dyn Forecasts = if is_modified { &NoForecasts } else { &forecasts };
        let user = data.and_then(|data| data.user(self.asker));
        let is_root = self.asker == UserId(0) || self.asker == own_user();
        let user = User {
            name: user.map(|user| user.name),
            id: self.asker,
            groups: user.map(|user| user.groups),
            is_root,
            // Slurm takes both for operators (`validate_operator` in src/slurmctld/proc_req.c).
            is_operator: is_root || data.is_some_and(|data| data.is_operator(self.asker)),
            // What no rule asks for is not counted.
            submissions_last_hour: rules.asks_for_submissions.then(|| self.submissions_last_hour()).flatten(),
            jobs: data.filter(|_| rules.asks_for_jobs).and_then(|data| self.jobs(data)),
        };
        let submission = Submission { request: self.request, now: self.now, job: fields, asked: fields, current, user, forecasts };
        work(&submission, &others)
    }

    /// How many jobs the user has submitted within the last hour, where that is known.
    fn submissions_last_hour(&self) -> Option<u32> {
        let counted = self.store.throttle.lock().count(self.asker, self.now)?;
        Some(counted.saturating_add(self.state.unconfirmed().submissions.count(self.asker, self.now)))
    }

    /// How many jobs the user has who asks: as the daemon counted them, and what was let through
    /// since.
    fn jobs(&self, data: &DataFile) -> Option<UserJobs> {
        let since = self.store.let_through.lock().since(self.asker, data.counted_before())?;
        let UserJobs { pending, running } = data.jobs_of(self.asker);
        Some(UserJobs { pending: pending.saturating_add(since), running })
    }
}

fn refuses_on_error(rule: &Rule) -> bool {
    rule.mode == Mode::Enforce && rule.on_error == OnError::Refuse
}

fn number_of(refusal: &Refusal<'_>) -> c_int {
    refusal.error.map_or(GENERAL_ERROR, named_error)
}

/// The number of an error; what this release of Slurm does not know is its general error.
fn named_error(name: &str) -> c_int {
    error_number::of(name).unwrap_or(GENERAL_ERROR)
}

fn not_known_yet() -> c_int {
    named_error(NOT_KNOWN_YET)
}

/// The number of rules that are counted at a time. It is small enough to leave the thread's stack
/// small: glibc gives back what is beyond 16 KiB when the thread ends.
const COUNTED_AT_ONCE: usize = 32;

/// Notes what became of each rule that is asked, and logs what those would do that are observed.
struct Tally<'a> {
    judged: &'a Judged<'a>,
    fields: &'a JobFields<'a>,
    /// What other plugins, such as the site's script, have told the user.
    said: &'a str,
    asked: ArrayVec<AskedRule, COUNTED_AT_ONCE>,
    since: Instant,
}

impl<'a> Tally<'a> {
    fn new(judged: &'a Judged<'a>, fields: &'a JobFields<'a>, said: &'a str) -> Tally<'a> {
        Tally { judged, fields, said, asked: ArrayVec::new(), since: Instant::now() }
    }

    /// Has what was noted counted.
    fn hand_over(&mut self) {
        let Judged { store, in_force, .. } = self.judged;
        store.counting.add(in_force.rules.number, &self.asked);
        self.asked.clear();
    }

    /// Whether the user was told these words already.
    fn is_said(&self, text: &str) -> bool {
        let (said, words): (Vec<&str>, Vec<&str>) = (self.said.split_whitespace().collect(), text.split_whitespace().collect());
        words.is_empty() || said.windows(words.len()).any(|part| part == words)
    }

    /// Logs what an observed rule would do, beside what is there; whether there is anything.
    fn log(&self, rule: &Rule, report: &Report<'_, '_>) -> bool {
        let warning = report.warning.filter(|text| !self.is_said(text));
        let refusal = report.refusal.filter(|text| !rule.only_warns || !self.is_said(text));
        if report.writes.is_empty() && warning.is_none() && refusal.is_none() {
            return false;
        }
        let mut line =
            format!("job_submit/queuecast: rule {} is observed; of a job of user {} it would have", rule.name, self.judged.asker);
        let mut separator = " ";
        for write in report.writes {
            let Some(field) = write.field.get() else { continue };
            line.push_str(&format!("{separator}written {}: ", field.name));
            put(&mut line, write.value);
            line.push_str(", it is ");
            // It was read, and charged, to find out what to write.
            put(&mut line, self.fields.field(write.field));
            separator = "; ";
        }
        let of_refusal = if rule.only_warns { "warned" } else { "refused" };
        for (verb, text) in [("warned", warning), (of_refusal, refusal)] {
            if let Some(text) = text {
                line.push_str(&format!("{separator}{verb}: "));
                words::put(&mut line, Value::Text(text));
                separator = "; ";
            }
        }
        slurm_sys::log::info(&line);
        true
    }
}

fn put(line: &mut String, value: Option<Value<'_>>) {
    match value {
        Some(value) => words::put(line, value),
        None => line.push_str("absent"),
    }
}

impl Observer for Tally<'_> {
    fn rule(&mut self, report: &Report<'_, '_>) {
        let Some(rule) = self.judged.in_force.rules.set.rules.get(usize::from(report.rule.0)) else { return };
        let is_observed = rule.mode == Mode::Observe && self.log(rule, report);
        let warns = report.warning.is_some() || (rule.mode == Mode::Warn && report.refusal.is_some());
        let now = Instant::now();
        let asked = AskedRule {
            rule: report.rule,
            has_matched: report.verdict == Verdict::Matched,
            has_failed: matches!(report.verdict, Verdict::Failed(_)),
            has_refused: rule.mode == Mode::Enforce && report.refusal.is_some(),
            has_warned: rule.mode != Mode::Observe && warns,
            is_observed,
            steps: report.steps,
            nanoseconds: u32::try_from(now.duration_since(self.since).as_nanos()).unwrap_or(u32::MAX),
        };
        self.since = now;
        if self.asked.is_full() {
            self.hand_over();
        }
        // There is room for one now.
        let _ = self.asked.try_push(asked);
    }
}

/// Looks for a rule that does not leave a job as it is.
struct Objector<'a> {
    set: &'a RuleSet,
    changes: &'a [(Name, Value<'a>)],
    /// The name of the first such rule.
    rule: Option<String>,
}

impl Observer for Objector<'_> {
    fn rule(&mut self, report: &Report<'_, '_>) {
        let Some(rule) = self.set.rules.get(usize::from(report.rule.0)) else { return };
        let is_changed = |write: &Write<'_>| self.changes.iter().any(|(name, _)| FieldNumber::from(*name) == write.field);
        let refuses = rule.mode == Mode::Enforce && report.refusal.is_some();
        let writes = rule.mode != Mode::Observe && report.writes.iter().any(is_changed);
        let is_unknown = report.verdict == Verdict::Failed(Fault::Budget);
        if self.rule.is_none() && (refuses || writes || is_unknown) {
            self.rule = Some(rule.name.to_string());
        }
    }
}
