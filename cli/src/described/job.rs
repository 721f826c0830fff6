//! The job that is described on the command line, as sbatch would submit it.

use job_types::number::UserId;
use std::num::NonZeroU32;
use std::str::FromStr;

use anyhow::{Context, bail};
use clap::Args;
use jiff::tz::TimeZone;
use job_types::options::Asked;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decision::{NodeRange, Submission, Tie, TimeLimit};
use slurm_conf::{duration, moment};

use crate::user;

/// The job, by options named as sbatch's.
#[derive(Debug, Args)]
#[command(next_help_heading = "The job, by options as sbatch's")]
pub(crate) struct JobArguments {
    /// The partition, or several separated by commas [default: the cluster's default partition].
    #[arg(short, long, value_name = "NAMES")]
    partition: Option<String>,

    /// The account [default: that of the user's last job].
    #[arg(short = 'A', long, value_name = "NAME")]
    account: Option<String>,

    /// The quality of service [default: that of the user's last job].
    #[arg(short, long, value_name = "NAME")]
    qos: Option<String>,

    /// Nodes: a number, or the least and the most, as 2-8.
    #[arg(short = 'N', long, value_name = "N[-MAX]")]
    nodes: Option<NodesArgument>,

    /// Tasks.
    #[arg(short = 'n', long, value_name = "N")]
    ntasks: Option<NonZeroU32>,

    /// CPUs of each task.
    #[arg(short, long, value_name = "N")]
    cpus_per_task: Option<NonZeroU32>,

    /// Tasks on each node.
    #[arg(long, value_name = "N")]
    ntasks_per_node: Option<NonZeroU32>,

    /// Ask for whole nodes.
    #[arg(long)]
    exclusive: bool,

    /// Time limit: minutes, minutes:seconds, hours:minutes:seconds, days-hours, ..., or UNLIMITED
    /// [default: the partition's].
    #[arg(short, long, value_name = "TIME")]
    time: Option<LimitArgument>,

    /// Whose past run times to forecast from, by name or number [default: you].
    #[arg(short, long, value_name = "USER")]
    user: Option<String>,

    /// When the job must have ended, as sbatch --deadline takes it: 18:00, 2026-03-27T14:30,
    /// now+2hours.
    #[arg(long, value_name = "TIME")]
    deadline: Option<String>,

    /// When the job may begin at the earliest, as sbatch --begin takes it.
    #[arg(short, long, value_name = "TIME")]
    begin: Option<String>,
}

/// A node count, or a range of them.
#[derive(Debug, Clone, Copy)]
struct NodesArgument(NodeRange);

impl FromStr for NodesArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<NonZeroU32>().map(NonZeroU32::get);
        let (least, most) = text.split_once('-').unwrap_or((text, text));
        match (number(least), number(most)) {
            (Ok(least), Ok(most)) if least <= most => Ok(Self(NodeRange { least, most })),
            _ => Err("use a number of nodes, as 4, or the least and the most, as 2-8".to_owned()),
        }
    }
}

/// A time limit as sbatch takes it: no time at all means that there is none.
#[derive(Debug, Clone, Copy)]
struct LimitArgument(TimeLimit);

impl FromStr for LimitArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if ["unlimited", "infinite"].contains(&text.to_ascii_lowercase().as_str()) {
            return Ok(Self(TimeLimit::Unlimited));
        }
        match duration::parse(text) {
            Ok(0) => Ok(Self(TimeLimit::Unlimited)),
            Ok(seconds) => Ok(Self(TimeLimit::Limited(Seconds(seconds).rounded_up_to_minutes()))),
            Err(error) => Err(format!("{error}, or UNLIMITED")),
        }
    }
}

/// A described job.
#[derive(Debug)]
pub(crate) struct Job {
    user: UserId,
    /// The user's name, where there is one.
    pub(crate) user_name: Option<String>,
    partition: Option<String>,
    account: Option<String>,
    qos: Option<String>,
    nodes: Option<NodeRange>,
    tasks: Option<u32>,
    tasks_per_node: Option<u32>,
    cpus_per_task: Option<u32>,
    min_cpus: u32,
    whole_nodes: bool,
    limit: TimeLimit,
    begin: Option<UnixTime>,
    deadline: Option<UnixTime>,
    asked: Asked,
}

impl JobArguments {
    /// Whether a user is named.
    pub(crate) fn is_of_another_user(&self) -> bool {
        self.user.is_some()
    }

    /// The same options for sbatch; which user's past is looked at is none of them.
    pub(crate) fn for_sbatch(&self) -> Vec<String> {
        let Self { partition, account, qos, nodes, ntasks, cpus_per_task, ntasks_per_node, exclusive, time, user: _, deadline, begin } =
            self;
        let text = |name: &str, value: &Option<String>| value.as_ref().map(|value| format!("--{name}={value}"));
        let number = |name: &str, value: &Option<NonZeroU32>| value.map(|value| format!("--{name}={value}"));
        let limit = time.map(|LimitArgument(limit)| match limit {
            TimeLimit::Limited(limit) => format!("--time={}", limit.minutes_rounded_up()),
            TimeLimit::Unlimited | TimeLimit::Unset => "--time=UNLIMITED".to_owned(),
        });
        let options = [
            text("partition", partition),
            text("account", account),
            text("qos", qos),
            nodes.map(|NodesArgument(nodes)| format!("--nodes={}-{}", nodes.least, nodes.most)),
            number("ntasks", ntasks),
            number("cpus-per-task", cpus_per_task),
            number("ntasks-per-node", ntasks_per_node),
            exclusive.then(|| "--exclusive".to_owned()),
            limit,
            text("deadline", deadline),
            text("begin", begin),
        ];
        options.into_iter().flatten().collect()
    }

    /// The job, with what sbatch adds: tasks from the tasks per node of a fixed number of nodes,
    /// and the fewest CPUs from the tasks, of which there is one on each node where none are given
    /// (src/sbatch/opt.c, src/sbatch/sbatch.c).
    pub(crate) fn job(&self, asked: &Asked, now: UnixTime) -> anyhow::Result<Job> {
        let (user, user_name) = user::find(self.user.as_deref())?;
        let number = |number: Option<NonZeroU32>| number.map(NonZeroU32::get);
        let nodes = self.nodes.map(|nodes| nodes.0);
        let tasks_per_node = number(self.ntasks_per_node);
        let fixed = nodes.filter(|nodes| nodes.least == nodes.most).map(|nodes| nodes.least);
        let tasks = number(self.ntasks).or_else(|| Some(fixed?.saturating_mul(tasks_per_node?)));
        let cpus_per_task = number(self.cpus_per_task);
        let tasks_at_least = tasks.or(nodes.map(|nodes| nodes.least)).unwrap_or(1);
        let moment_of = |text: Option<&str>, name: &str| {
            let parse = |text: &str| moment::parse(text, now.0, &TimeZone::system()).with_context(|| format!("--{name}"));
            text.map(parse).transpose().map(|seconds| seconds.map(UnixTime))
        };
        let deadline = moment_of(self.deadline.as_deref(), "deadline")?;
        if let Some(deadline) = deadline.filter(|deadline| *deadline <= now) {
            bail!("--deadline: {} ago; sbatch refuses a deadline that has passed", now - deadline);
        }
        Ok(Job {
            user,
            user_name,
            partition: self.partition.clone(),
            account: self.account.clone(),
            qos: self.qos.clone(),
            nodes,
            tasks,
            tasks_per_node,
            cpus_per_task,
            min_cpus: tasks_at_least.saturating_mul(cpus_per_task.unwrap_or(1)),
            whole_nodes: self.exclusive,
            limit: self.time.map_or(TimeLimit::Unset, |limit| limit.0),
            begin: moment_of(self.begin.as_deref(), "begin")?,
            deadline,
            asked: asked.clone(),
        })
    }
}

impl Job {
    /// The submission that the filter would see.
    pub(crate) fn submission(&self) -> Submission<'_> {
        Submission {
            user: self.user,
            partition: self.partition.as_deref(),
            account: self.account.as_deref(),
            qos: self.qos.as_deref(),
            nodes: self.nodes,
            tasks: self.tasks,
            tasks_per_node: self.tasks_per_node,
            cpus_per_task: self.cpus_per_task,
            min_cpus: Some(self.min_cpus),
            whole_nodes: self.whole_nodes,
            limit: self.limit,
            shortest_limit: None,
            begin: self.begin,
            deadline: self.deadline,
            is_array: false,
            is_immediate: false,
            is_interactive: false,
            chooses_clusters: false,
            obstacle: None,
            placement: None,
            tie: self.partition.as_deref().is_some_and(|names| names.contains(',')).then_some(Tie::SeveralPartitions),
            asked: self.asked.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_counts_are_numbers_or_ranges() {
        let read = |text: &str| text.parse::<NodesArgument>().map(|nodes| (nodes.0.least, nodes.0.most));
        assert_eq!((read("4"), read("2-8")), (Ok((4, 4)), Ok((2, 8))));
        for wrong in ["0", "8-2", "a", "2-", "-2", ""] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sbatch_is_given_the_options_that_the_job_was_described_by() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            job: JobArguments,
        }
        let described = |arguments: &[&str]| {
            let line = <Line as clap::Parser>::try_parse_from([&["queuecast"], arguments].concat()).unwrap();
            (line.job.for_sbatch(), line.job.is_of_another_user())
        };
        let (all, _) = described(&["-pbatch", "-Aacct", "-qlong", "-N2", "-n8", "-c2", "--ntasks-per-node=4", "--exclusive", "-t1:00:30"]);
        let expected = ["partition=batch", "account=acct", "qos=long", "nodes=2-2", "ntasks=8", "cpus-per-task=2", "ntasks-per-node=4"];
        assert_eq!(all[..7], expected.map(|option| format!("--{option}")));
        assert_eq!(all[7..], ["--exclusive", "--time=61"]);
        assert_eq!(
            described(&["-t0", "--user=1", "--deadline=now+2hours"]),
            (vec!["--time=UNLIMITED".to_owned(), "--deadline=now+2hours".to_owned()], true)
        );
    }

    #[test]
    fn a_limit_is_whole_minutes_and_none_is_unlimited() {
        let read = |text: &str| text.parse::<LimitArgument>().unwrap().0;
        assert_eq!(read("0:30"), TimeLimit::Limited(Seconds(60)));
        assert_eq!((read("0"), read("Unlimited")), (TimeLimit::Unlimited, TimeLimit::Unlimited));
    }
}
