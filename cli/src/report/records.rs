//! Which of slurmdbd's records a report on promises is about, and the reading of them.

use clap::Args;
use command_parts::failure::Failure;
use slurm_sys::client::EndedJobRecord;

use super::past::{Past, PastArguments};
use crate::cluster::ClusterArguments;
use crate::genuine::Genuine;
use crate::selection::{Selection, WhoseArguments};

/// Says which records a report is about.
#[derive(Debug, Args)]
pub(super) struct RecordsArguments {
    #[command(flatten)]
    pub(super) past: PastArguments,

    #[command(flatten)]
    whose: WhoseArguments,

    #[command(flatten)]
    cluster: ClusterArguments,
}

impl RecordsArguments {
    /// Whose jobs are meant.
    ///
    /// # Errors
    /// A user whom this machine does not know, and a cluster that Slurm here does not belong to.
    pub(super) fn selection(&self) -> Result<Selection, Failure> {
        self.cluster.is_of_slurm_here()?;
        self.whose.selection()
    }

    /// Reads the records of a stretch of the past, and tells each that is meant, with its
    /// partition. Gives what is to be said of those that are not believed.
    ///
    /// # Errors
    /// slurmdbd does not answer.
    pub(super) fn read(
        &self,
        cluster: &str,
        past: Past,
        whose: &Selection,
        genuine: &Genuine,
        mut tell: impl FnMut(&EndedJobRecord<'_>, &str),
    ) -> anyhow::Result<Option<String>> {
        let mut unbelieved = 0;
        self.past.read(cluster, past, |record, partition| {
            if !genuine.believes_ended(record) {
                unbelieved += 1;
            } else if whose.means_user(record.user_id) && whose.means_account(record.account.as_deref()) {
                tell(record, partition);
            }
        })?;
        Ok(Genuine::note(unbelieved))
    }
}
