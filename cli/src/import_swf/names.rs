//! What the log's numbers are called: users, accounts, partitions.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use anyhow::{anyhow, ensure};
use nix::unistd;
use simulator::swf::Header;

use super::past::Job;

/// Users of the log get numbers from here on, which neither people, services nor containers have
/// (systemd's table of user ids: none of its ranges reaches from 1,879,048,192 to 2,147,483,647).
const FIRST_USER_ID: u32 = 1_900_000_000;
const USER_IDS: u64 = 200_000_000;
/// The account of jobs whose group is not known.
const ACCOUNT_WITHOUT_GROUP: &str = "imported";

/// A user of the log, as the command line names one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogUser {
    Number(u64),
    /// 1 is the user with most jobs.
    Rank(usize),
}

/// A user of the log whose jobs go to a user of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MappedUser {
    log_user: LogUser,
    local_user: String,
}

impl FromStr for MappedUser {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (log_user, local_user) = text.split_once(':').filter(|(_, local)| !local.is_empty())?;
            let log_user = match log_user.strip_prefix('@') {
                Some(rank) => LogUser::Rank(rank.parse().ok().filter(|&rank| rank > 0)?),
                None => LogUser::Number(log_user.parse().ok()?),
            };
            Some(Self { log_user, local_user: local_user.to_owned() })
        };
        read().ok_or_else(|| "give a user's number in the log and a user of this machine, such as 12:alice or @1:alice".into())
    }
}

/// A user whom jobs are given to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct User {
    pub(super) name: String,
    pub(super) user_id: u32,
    pub(super) group_id: u32,
}

/// What the command line says of names.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choices<'a> {
    pub(super) mapped_users: &'a [MappedUser],
    pub(super) user_prefix: &'a str,
    pub(super) account: Option<&'a str>,
    pub(super) partition: Option<&'a str>,
    pub(super) queues_as_partitions: bool,
}

/// The origin of the partitions' names.
#[derive(Debug)]
enum Partitions {
    /// All jobs are in the cluster's default partition.
    Default,
    One(String),
    ByQueue(BTreeMap<u64, String>),
    ByPartition(BTreeMap<u64, String>),
}

/// The names of all that the jobs refer to.
#[derive(Debug)]
pub(super) struct Names {
    users: BTreeMap<Option<u64>, User>,
    accounts: BTreeMap<Option<u64>, String>,
    partitions: Partitions,
}

impl Names {
    /// Names what these jobs refer to.
    pub(super) fn new(jobs: &[Job], header: &Header, choices: Choices<'_>) -> anyhow::Result<Self> {
        check_name("--user-prefix", choices.user_prefix)?;
        for (option, name) in [("--account", choices.account), ("--partition", choices.partition)] {
            name.map_or(Ok(()), |name| check_name(option, name))?;
        }
        let groups: BTreeSet<Option<u64>> = jobs.iter().map(|job| job.group).collect();
        let account = |group: Option<u64>| match (choices.account, group) {
            (Some(account), _) => account.to_owned(),
            (None, Some(group)) => format!("g{group}"),
            (None, None) => ACCOUNT_WITHOUT_GROUP.to_owned(),
        };
        let partitions = if choices.queues_as_partitions {
            named_partitions(jobs, header)?
        } else {
            choices.partition.map_or(Partitions::Default, |name| Partitions::One(name.to_owned()))
        };
        Ok(Self { users: users(jobs, choices)?, accounts: groups.into_iter().map(|group| (group, account(group))).collect(), partitions })
    }

    /// The user of a job; `None` only for a job that the names were not made for.
    pub(super) fn user(&self, job: &Job) -> Option<&User> {
        self.users.get(&job.user)
    }

    /// The account of a job.
    pub(super) fn account(&self, job: &Job) -> Option<&str> {
        self.accounts.get(&job.group).map(String::as_str)
    }

    /// The partition of a job; `None` is the cluster's default partition.
    pub(super) fn partition(&self, job: &Job) -> Option<&str> {
        match &self.partitions {
            Partitions::Default => None,
            Partitions::One(name) => Some(name),
            Partitions::ByQueue(names) => names.get(&job.queue?).map(String::as_str),
            Partitions::ByPartition(names) => names.get(&job.partition?).map(String::as_str),
        }
    }

    /// The names of all users.
    pub(super) fn user_names(&self) -> BTreeSet<&str> {
        self.users.values().map(|user| user.name.as_str()).collect()
    }

    /// The names of all accounts.
    pub(super) fn account_names(&self) -> BTreeSet<&str> {
        self.accounts.values().map(String::as_str).collect()
    }

    /// Every account and user that some job has.
    pub(super) fn memberships<'a>(&'a self, jobs: &'a [Job]) -> BTreeSet<(&'a str, &'a str)> {
        jobs.iter().filter_map(|job| Some((self.account(job)?, self.user(job)?.name.as_str()))).collect()
    }
}

fn users(jobs: &[Job], choices: Choices<'_>) -> anyhow::Result<BTreeMap<Option<u64>, User>> {
    let mut counts: BTreeMap<Option<u64>, u64> = BTreeMap::new();
    for job in jobs {
        *counts.entry(job.user).or_default() += 1;
    }
    let mut users: BTreeMap<Option<u64>, User> = counts
        .keys()
        .map(|&number| {
            let name = match number {
                Some(number) => format!("{}{number}", choices.user_prefix),
                None => format!("{}-unknown", choices.user_prefix),
            };
            let id = FIRST_USER_ID + u32::try_from(number.unwrap_or(0) % USER_IDS).unwrap_or(0);
            (number, User { name, user_id: id, group_id: id })
        })
        .collect();
    let mut by_rank: Vec<Option<u64>> = counts.keys().copied().filter(Option::is_some).collect();
    by_rank.sort_by_key(|number| std::cmp::Reverse(counts.get(number)));
    for mapped in choices.mapped_users {
        let (number, called) = match mapped.log_user {
            LogUser::Number(number) => (Some(number), format!("user {number}")),
            LogUser::Rank(rank) => (by_rank.get(rank - 1).copied().flatten(), format!("user of rank {rank}")),
        };
        let user = number
            .and_then(|number| users.get_mut(&Some(number)))
            .ok_or_else(|| anyhow!("--map-user: the jobs to be imported have no {called}"))?;
        *user = local_user(&mapped.local_user)?;
    }
    Ok(users)
}

fn local_user(name: &str) -> anyhow::Result<User> {
    let found =
        unistd::User::from_name(name).map_err(|error| anyhow!("--map-user: cannot look up user {name:?} on this machine: {error}"))?;
    let user = found.ok_or_else(|| anyhow!("--map-user: this machine has no user {name:?}"))?;
    Ok(User { name: user.name, user_id: user.uid.as_raw(), group_id: user.gid.as_raw() })
}

/// Names that Slurm takes everywhere: it makes lower case of accounts' and users' names.
fn check_name(option: &str, name: &str) -> anyhow::Result<()> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    ensure!(
        !name.is_empty() && name.len() <= 64 && name.bytes().all(plain),
        "{option}: {name:?} is not a name of at most 64 letters, digits, and the characters _ - ."
    );
    Ok(())
}

fn named_partitions(jobs: &[Job], header: &Header) -> anyhow::Result<Partitions> {
    let numbers = |of: fn(&Job) -> Option<u64>| jobs.iter().filter_map(of).collect::<BTreeSet<u64>>();
    let name = |kind: &str, number: u64, text: Option<&String>| {
        let word = text.and_then(|text| text.split_whitespace().next()).unwrap_or_default();
        let word = word.trim_matches(|character: char| !character.is_ascii_alphanumeric());
        let usable = !word.is_empty() && check_name(kind, word).is_ok();
        if usable { word.to_owned() } else { format!("{kind}{number}") }
    };
    let (queues, partitions) = (numbers(|job| job.queue), numbers(|job| job.partition));
    ensure!(!queues.is_empty() || !partitions.is_empty(), "--queues-as-partitions: the log knows neither queues nor partitions");
    let (queue_names, partition_names) = (header.queues(), header.partitions());
    // Logs from sites with partitions often say that there is one queue.
    if queues.len() >= 2 || partitions.len() < 2 && !queues.is_empty() {
        let names = queues.into_iter().map(|number| (number, name("queue", number, queue_names.get(&number)))).collect();
        Ok(Partitions::ByQueue(names))
    } else {
        let names = partitions.into_iter().map(|number| (number, name("partition", number, partition_names.get(&number)))).collect();
        Ok(Partitions::ByPartition(names))
    }
}

#[cfg(test)]
mod tests {
    use simulator::swf::Header;
    use slurm_sys::accounting::{EndState, TimeLimit};

    use super::super::past::Job;
    use super::{Choices, MappedUser, Names};

    fn job(user: u64, group: Option<u64>, queue: u64, partition: u64) -> Job {
        Job {
            number: 1,
            user: Some(user),
            group,
            executable: None,
            queue: Some(queue),
            partition: Some(partition),
            requested: (1, 1),
            allocated: None,
            time_limit: TimeLimit::NotGiven,
            end_state: EndState::Completed,
            submitted: 0,
            started: None,
            ended: 0,
        }
    }

    const CHOICES: Choices<'static> =
        Choices { mapped_users: &[], user_prefix: "u", account: None, partition: None, queues_as_partitions: false };

    #[test]
    fn users_and_groups_of_the_log_become_users_and_accounts() {
        let jobs = [job(12, Some(3), 1, 1), job(7, None, 1, 1)];
        let names = Names::new(&jobs, &Header::new(), CHOICES).unwrap();
        assert_eq!(Vec::from_iter(names.memberships(&jobs)), [("g3", "u12"), ("imported", "u7")]);
        assert_eq!(names.user(&jobs[0]).unwrap().user_id, 1_900_000_012);
        assert_eq!(names.partition(&jobs[0]), None, "the cluster's default partition");
    }

    #[test]
    fn a_user_is_mapped_by_number_or_by_rank() {
        let jobs = [job(12, None, 1, 1), job(7, None, 1, 1), job(7, None, 1, 1)];
        for (argument, log_user) in [("@1:root", 7), ("@2:root", 12), ("12:root", 12)] {
            let mapped_users = [argument.parse().unwrap()];
            let names = Names::new(&jobs, &Header::new(), Choices { mapped_users: &mapped_users, ..CHOICES }).unwrap();
            let mapped = jobs.iter().find(|job| names.user(job).unwrap().name == "root").unwrap();
            assert_eq!((mapped.user, names.user(mapped).unwrap().user_id), (Some(log_user), 0), "{argument}");
        }
    }

    #[test]
    fn a_mapping_that_cannot_be_is_an_error() {
        let jobs = [job(12, None, 1, 1)];
        for argument in ["13:root", "@2:root", "12:no-such-user-here"] {
            let mapped_users = [argument.parse().unwrap()];
            assert!(Names::new(&jobs, &Header::new(), Choices { mapped_users: &mapped_users, ..CHOICES }).is_err());
        }
        for argument in ["", "12", "12:", ":root", "@0:root", "u12:root"] {
            assert!(argument.parse::<MappedUser>().is_err(), "{argument:?}");
        }
    }

    #[test]
    fn queues_become_partitions_by_their_names_in_the_header() {
        let mut header = Header::new();
        ["1  express", "2 [fque:1]", "3"].iter().for_each(|value| header.push("Queue", value));
        let jobs = [job(1, None, 1, 1), job(1, None, 2, 1), job(1, None, 3, 1), job(1, None, 4, 1)];
        let names = Names::new(&jobs, &header, Choices { queues_as_partitions: true, ..CHOICES }).unwrap();
        let found = jobs.each_ref().map(|job| names.partition(job).unwrap());
        assert_eq!(found, ["express", "queue2", "queue3", "queue4"]);
    }

    #[test]
    fn a_log_of_one_queue_has_its_partitions_taken() {
        let mut header = Header::new();
        header.push("Queue", "1  ");
        ["2  parallel", "10 standard"].iter().for_each(|value| header.push("Partition", value));
        let jobs = [job(1, None, 1, 2), job(1, None, 1, 10)];
        let names = Names::new(&jobs, &header, Choices { queues_as_partitions: true, ..CHOICES }).unwrap();
        assert_eq!(jobs.each_ref().map(|job| names.partition(job).unwrap()), ["parallel", "standard"]);
    }
}
