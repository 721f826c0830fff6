//! What the site's own rules can ask about users and jobs: the file `rules-data`.
//!
//! The controller's thread hands over what it has read at each round, and goes on; a thread here
//! joins it with the groups of users and writes the file, another one asks for the groups
//! ([`groups`]). All of it rests while the site has no rules in force.

mod counts;
mod groups;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam::channel::{Receiver, Sender, bounded};
use job_types::number::UserId;
use job_types::time::UnixTime;
use parking_lot::Mutex;
use rules_compiler::in_force;
use site_rules::data::{self, DataFile, LeftOut, OwnedValue, SiteData, SiteJob, SiteUser};
use site_rules::field::FieldNumber;
use site_rules::value::Kind;
use slurm_conf::state_directory::{RULES, RULES_DATA};
use slurm_conf::trusted::{is_damage, is_there, present, read_owned};
use slurm_sys::client::controller::{DescribedJob, DescribedValue, UserRecord};
use xxhash_rust::xxh3::xxh3_64;

use crate::failure::Failure;
use crate::known::damaged::keep_aside;
use crate::known::privacy::Privacy;
pub(crate) use counts::Counts;
use groups::{Named, Resolver};

/// The name of the thread that writes the file.
pub(crate) const WRITER: &str = "site-data";

/// The name of the thread that asks for groups.
pub(crate) const RESOLVER: &str = "groups";

/// How old the file may become while nothing changes: rules see how old a job's reading is.
const OLDEST: Duration = Duration::from_secs(60);

/// How long the first file waits for the groups of users.
const FIRST_PATIENCE: Duration = Duration::from_secs(2);

/// The groups of users, as far as they are known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known(Arc<Mutex<HashMap<UserId, Vec<String>>>>);

impl Known {
    fn lock(&self) -> parking_lot::MutexGuard<'_, HashMap<UserId, Vec<String>>> {
        self.0.lock()
    }
}

/// What was read in one round.
#[derive(Debug)]
pub(crate) struct Round {
    pub(crate) read_at: UnixTime,
    pub(crate) users: Arc<[UserRecord]>,
    pub(crate) jobs: Vec<DescribedJob>,
    pub(crate) counts: Counts,
}

/// The end of the channel at which the controller's thread hands rounds over.
#[derive(Debug, Clone)]
pub(crate) struct Rounds {
    rules: PathBuf,
    sender: Sender<Round>,
}

impl Rounds {
    /// Whether there are rules that could ask.
    pub(crate) fn are_wanted(&self) -> bool {
        // If that is not known, the rules in force may ask as before.
        is_there(&self.rules).unwrap_or(true)
    }

    /// Hands over what was read. It is left out if the round before is still being written.
    pub(crate) fn hand_over(&self, round: Round) {
        let _ = self.sender.try_send(round);
    }
}

/// Starts both threads. `start` starts one by its name.
///
/// # Errors
/// The system gives no thread.
pub(crate) fn start(
    directory: &Path,
    privacy: Privacy,
    start: impl Fn(&'static str, Box<dyn FnOnce() + Send>) -> Result<(), Failure>,
) -> Result<Rounds, Failure> {
    let (sender, rounds) = bounded(1);
    let known = Known::default();
    let (resolver, requests) = Resolver::new();
    let of_resolver = Known::clone(&known);
    start(RESOLVER, Box::new(move || groups::run(&requests, &of_resolver)))?;
    let writer =
        Writer { directory: directory.to_owned(), privacy, known, resolver, written: None, left_out: LeftOut::default(), is_told: false };
    start(WRITER, Box::new(move || writer.run(&rounds)))?;
    Ok(Rounds { rules: directory.join(RULES), sender })
}

/// Writes the file.
struct Writer {
    directory: PathBuf,
    privacy: Privacy,
    known: Known,
    resolver: Resolver,
    /// A number of what the file holds, but for moments, and since when.
    written: Option<(u64, Instant)>,
    left_out: LeftOut,
    /// Whether the log says that the file can't be written.
    is_told: bool,
}

impl Writer {
    fn run(mut self, rounds: &Receiver<Round>) {
        self.remember();
        for round in rounds {
            self.take(round);
        }
    }

    /// Takes over what an earlier daemon has found out of groups.
    fn remember(&self) {
        let path = self.directory.join(RULES_DATA);
        let bytes = match present(read_owned(&path, data::LARGEST)) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return,
            Err(error) if is_damage(&error) => return keep_aside(&path, &error),
            Err(error) => return tracing::warn!(%error, "which groups users were in can't be read, and is asked again"),
        };
        let file = match DataFile::decode(bytes) {
            Ok(file) => file,
            Err(error) => return keep_aside(&path, &error),
        };
        let users = file.users().map(|(id, user)| (id, user.groups.iter().map(str::to_owned).collect()));
        self.known.lock().extend(users);
    }

    fn take(&mut self, round: Round) {
        let Round { read_at, users, jobs, counts } = round;
        let named: Arc<[Named]> = users.iter().filter_map(|user| Some((user.id?, user.name.clone()))).collect();
        self.resolver.ask(&named);
        if self.written.is_none() {
            self.await_first_groups(named.len());
        }
        let mut data = SiteData {
            written_at: UnixTime(0),
            operators: users.iter().filter(|user| user.is_operator).filter_map(|user| user.id).collect(),
            users: self.site_users(&named),
            jobs: jobs.into_iter().map(site_job).collect(),
            job_counts: counts.users,
            counted_before: UnixTime(0),
        };
        let number = xxh3_64(&data::encode(&data).bytes);
        if self.written.is_some_and(|(before, at)| before == number && at.elapsed() < OLDEST) {
            return;
        }
        data.written_at = read_at;
        data.counted_before = counts.before;
        data.jobs.iter_mut().for_each(|job| job.read_at = read_at);
        self.write(&data, number);
    }

    /// Lets the first file have the groups of users, where they are quick to be had.
    fn await_first_groups(&self, users: usize) {
        let begin = Instant::now();
        while begin.elapsed() < FIRST_PATIENCE && self.known.lock().len() < users {
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// The users of whose groups something is known. Of the others rules see neither name nor
    /// groups, which is another thing than having none.
    fn site_users(&self, named: &[Named]) -> Vec<SiteUser> {
        let known = self.known.lock();
        let of = |(id, name): &Named| Some(SiteUser { id: *id, name: name.clone(), groups: known.get(id)?.clone() });
        named.iter().filter_map(of).collect()
    }

    fn write(&mut self, data: &SiteData, number: u64) {
        let encoded = data::encode(data);
        if encoded.left_out != self.left_out {
            self.left_out = encoded.left_out;
            let LeftOut { users, jobs } = encoded.left_out;
            tracing::warn!(users, jobs, "not all users and jobs have a place in what rules can ask for");
        }
        match in_force::put_file(&self.directory, RULES_DATA, &encoded.bytes, self.privacy.mode_of_all()) {
            Ok(()) => {
                tracing::debug!(
                    users = data.users.len(),
                    jobs = data.jobs.len(),
                    bytes = encoded.bytes.len(),
                    "wrote what rules can ask for"
                );
                (self.written, self.is_told) = (Some((number, Instant::now())), false);
            }
            Err(error) if !self.is_told => {
                self.is_told = true;
                tracing::warn!(%error, "what rules can ask for is not written: they see what was known before");
            }
            Err(_) => {}
        }
    }
}

/// A job, as of no moment yet.
fn site_job(job: DescribedJob) -> SiteJob {
    let fields = job.fields.into_iter().filter_map(|(name, value)| {
        let number = FieldNumber::of(name)?;
        Some((number, owned(value, number.get()?.kind)))
    });
    SiteJob { number: job.job_id, task: job.task, read_at: UnixTime(0), fields: fields.collect() }
}

fn owned(value: DescribedValue, kind: Kind) -> OwnedValue {
    match value {
        DescribedValue::Truth(truth) => OwnedValue::Truth(truth),
        DescribedValue::Integer(number) => OwnedValue::Integer(number),
        DescribedValue::Text(text) if kind == Kind::Resources => OwnedValue::Resources(text),
        DescribedValue::Text(text) => OwnedValue::Text(text),
        DescribedValue::Duration(duration) => OwnedValue::Duration(duration),
        DescribedValue::Moment(moment) => OwnedValue::Moment(moment),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::number::JobId;
    use job_types::time::Seconds;
    use site_rules::field::{Fields, Name};
    use site_rules::submission::UserJobs;
    use slurm_sys::client::controller::described_fields;
    use std::fs;

    fn writer(directory: &Path) -> (Writer, Receiver<Arc<[Named]>>) {
        let (resolver, requests) = Resolver::new();
        let writer = Writer {
            directory: directory.to_owned(),
            privacy: Privacy::default(),
            known: Known::default(),
            resolver,
            written: None,
            left_out: LeftOut::default(),
            is_told: false,
        };
        (writer, requests)
    }

    fn user(id: u32, name: &str, is_operator: bool) -> UserRecord {
        UserRecord { id: Some(UserId(id)), name: name.to_owned(), is_operator, default_account: None }
    }

    fn job(number: u32, limit: i64) -> DescribedJob {
        let fields = vec![
            ("time_limit", DescribedValue::Duration(Seconds(limit))),
            ("tres_per_node", DescribedValue::Text("gres:gpu:2".to_owned())),
            ("partition", DescribedValue::Text("batch".to_owned())),
        ];
        DescribedJob { job_id: JobId(number), task: None, fields }
    }

    fn round(read_at: i64, limit: i64) -> Round {
        Round {
            read_at: UnixTime(read_at),
            users: [user(7, "anna", true), user(8, "berta", false)].into(),
            jobs: vec![job(12, limit)],
            counts: Counts { before: UnixTime(read_at), users: vec![(UserId(7), UserJobs { pending: 1, running: 0 })] },
        }
    }

    fn read(directory: &Path) -> DataFile {
        DataFile::decode(fs::read(directory.join(RULES_DATA)).unwrap()).unwrap()
    }

    #[test]
    fn each_field_that_slurmctld_tells_is_one_that_rules_read_of_the_same_kind() {
        for (name, value) in described_fields() {
            let number = FieldNumber::of(name).unwrap_or_else(|| panic!("{name} is no field of rules"));
            assert!(!number.name().unwrap().is_derived(), "{name} follows from others");
            let kind = number.get().unwrap().kind;
            let job = SiteJob { fields: vec![(number, owned(value, kind))], ..SiteJob::default() };
            let file = DataFile::decode(data::encode(&SiteData { jobs: vec![job], ..SiteData::default() }).bytes).unwrap();
            assert!(file.job(JobId(0)).is_some_and(|job| job.field(number).is_some()), "{name} is of kind {kind}");
        }
    }

    #[test]
    fn users_with_their_groups_and_jobs_are_written_for_the_rules() {
        let directory = tempfile::tempdir().unwrap();
        let (mut writer, _requests) = writer(directory.path());
        writer.known.lock().insert(UserId(7), vec!["physics".to_owned()]);
        writer.take(round(100, 3_600));
        let file = read(directory.path());
        assert!(file.is_operator(UserId(7)) && !file.is_operator(UserId(8)));
        let anna = file.user(UserId(7)).unwrap();
        assert_eq!((anna.name, anna.groups.iter().collect::<Vec<_>>()), ("anna", vec!["physics"]));
        assert!(file.user(UserId(8)).is_none(), "nothing is known of these groups yet");
        let job = file.job(JobId(12)).unwrap();
        assert_eq!(job.read_at, UnixTime(100));
        assert_eq!((file.jobs_of(UserId(7)).pending, file.counted_before()), (1, UnixTime(100)));
        let value = |name: Name| job.field(name.into()).map(|value| value.to_string());
        assert_eq!(value(Name::TimeLimit).as_deref(), Some("3600s"));
        assert_eq!(value(Name::Gpus).as_deref(), Some("2"));
        // A daemon that is started anew goes on with the groups that were found before.
        let (mut next, _requests) = super::tests::writer(directory.path());
        next.remember();
        next.take(round(200, 3_600));
        assert!(read(directory.path()).user(UserId(7)).is_some());
    }

    #[test]
    fn the_file_is_written_anew_only_when_something_has_changed() {
        let directory = tempfile::tempdir().unwrap();
        let (mut writer, _requests) = writer(directory.path());
        let written = |writer: &mut Writer, read: Round| {
            writer.take(read);
            self::tests::read(directory.path()).written_at().0
        };
        assert_eq!(written(&mut writer, round(100, 3_600)), 100);
        assert_eq!(written(&mut writer, round(110, 3_600)), 100);
        assert_eq!(written(&mut writer, round(120, 7_200)), 120);
        writer.known.lock().insert(UserId(8), Vec::new());
        assert_eq!(written(&mut writer, round(130, 7_200)), 130);
    }
}
