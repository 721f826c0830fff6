//! Which jobs are meant, in the words of squeue.

use std::collections::BTreeSet;

use clap::Args;
use command_parts::failure::Failure;
use job_types::number::{JobId, UserId};

use crate::job_name::JobName;
use crate::user;

/// Says whose jobs are meant.
#[derive(Debug, Args)]
pub(crate) struct WhoseArguments {
    /// Only jobs of these users, by name or number, separated by commas.
    #[arg(short, long, alias = "users", value_name = "USERS", value_delimiter = ',')]
    user: Vec<String>,

    /// Only my jobs: --user with my own name.
    #[arg(long, conflicts_with = "user")]
    me: bool,

    /// Only jobs of these accounts, separated by commas.
    #[arg(short = 'A', long, alias = "accounts", value_name = "ACCOUNTS", value_delimiter = ',')]
    account: Vec<String>,
}

/// Says whose jobs are meant, and those of which partitions.
#[derive(Debug, Args)]
pub(crate) struct SelectionArguments {
    #[command(flatten)]
    whose: WhoseArguments,

    /// Only jobs of these partitions, separated by commas.
    #[arg(short, long, alias = "partitions", value_name = "PARTITIONS", value_delimiter = ',')]
    partition: Vec<String>,
}

/// Says which jobs are meant by their numbers.
#[derive(Debug, Args)]
pub(crate) struct JobsArguments {
    /// Only these jobs, by number, separated by commas; the number of an array means its tasks.
    #[arg(short, long, alias = "job", value_name = "JOBIDS", value_delimiter = ',')]
    jobs: Vec<JobName>,
}

/// Which jobs are meant; where nothing is asked for, all.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    users: Option<BTreeSet<UserId>>,
    jobs: Vec<JobName>,
    accounts: Vec<String>,
    partitions: Vec<String>,
}

impl WhoseArguments {
    /// The jobs that are meant.
    ///
    /// # Errors
    /// A user whom this machine does not know.
    pub(crate) fn selection(&self) -> Result<Selection, Failure> {
        let found = |given: Option<&str>| user::find(given).map(|(number, _)| number).map_err(Failure::Input);
        let users = match (self.me, self.user.is_empty()) {
            (true, _) => Some(BTreeSet::from([found(None)?])),
            (false, true) => None,
            (false, false) => Some(self.user.iter().map(|name| found(Some(name))).collect::<Result<_, _>>()?),
        };
        Ok(Selection { users, accounts: self.account.clone(), ..Selection::default() })
    }
}

impl SelectionArguments {
    /// The jobs that are meant, of those with these numbers.
    ///
    /// # Errors
    /// As [`WhoseArguments::selection`].
    pub(crate) fn selection(&self, jobs: &JobsArguments) -> Result<Selection, Failure> {
        Ok(Selection { jobs: jobs.jobs.clone(), partitions: self.partition.clone(), ..self.whose.selection()? })
    }
}

impl Selection {
    /// Whether all jobs are meant.
    pub(crate) fn is_all(&self) -> bool {
        self.users.is_none() && self.jobs.is_empty() && self.accounts.is_empty() && self.partitions.is_empty()
    }

    /// Whether it takes a job's account to say whether it is meant.
    pub(crate) fn has_accounts(&self) -> bool {
        !self.accounts.is_empty()
    }

    /// Whether it takes a job's user to say whether it is meant.
    pub(crate) fn has_users(&self) -> bool {
        self.users.is_some()
    }

    /// Whether jobs are asked for by their numbers.
    pub(crate) fn has_jobs(&self) -> bool {
        !self.jobs.is_empty()
    }

    /// The partitions that are asked for; none stands for all.
    pub(crate) fn partitions(&self) -> &[String] {
        &self.partitions
    }

    /// Whether jobs of a user are meant.
    pub(crate) fn means_user(&self, user: UserId) -> bool {
        self.users.as_ref().is_none_or(|users| users.contains(&user))
    }

    /// Whether jobs of an account are meant; one that is not known is none of those asked for.
    pub(crate) fn means_account(&self, account: Option<&str>) -> bool {
        self.accounts.is_empty() || account.is_some_and(|account| self.accounts.iter().any(|wanted| wanted == account))
    }

    /// Whether a job with a number is meant, in an array with that one.
    pub(crate) fn means_job(&self, id: JobId, array: Option<JobId>) -> bool {
        self.jobs.is_empty() || self.jobs.iter().any(|name| name.means(id, array))
    }

    /// Whether jobs are meant that may run in one of these partitions, separated by commas.
    pub(crate) fn means_partition(&self, names: &str) -> bool {
        self.partitions.is_empty() || names.split(',').any(|name| self.partitions.iter().any(|wanted| wanted == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_wish_all_jobs_are_meant() {
        let all = Selection::default();
        assert!(all.is_all() && all.means_user(UserId(1)) && all.means_account(None) && all.means_job(JobId(1), None));
        assert!(all.means_partition("a,b"));
    }

    #[test]
    fn an_account_that_is_not_known_and_other_partitions_are_not_meant() {
        let some = Selection { accounts: vec!["physics".into()], partitions: vec!["batch".into()], ..Selection::default() };
        assert!(some.means_account(Some("physics")) && !some.means_account(Some("Physics")) && !some.means_account(None));
        assert!(some.means_partition("debug,batch") && !some.means_partition("debug"));
    }
}
