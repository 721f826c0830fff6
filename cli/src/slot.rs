//! A slot inside a window, as it is asked for on the command line: by `queuecast probe`, which
//! looks for one, and by `queuecast reserve --between`, which reserves it.

use anyhow::{Context, bail};
use clap::Args;
use daemon_api::{Preferred, Probe, Refusal};
use jiff::tz::TimeZone;
use job_types::time::UnixTime;
use job_types::window::Window;
use predictor_core::decisions::{DecisionInputs, Placement, StartBlocker, Submission};
use predictor_core::snapshot::Snapshot;
use queue_plan::placement::Preference;
use slurm_conf::{moment, window};

use crate::api::NotAnswered;
use crate::grid::Order;

/// Says in which window a slot is looked for.
#[derive(Debug, Args)]
pub(crate) struct WindowArguments {
    /// The window: when the job starts at the earliest and when it has ended at the latest, each as
    /// sbatch --begin takes it. Times of day without a date are the next ones: 18:00,06:00 is
    /// tonight.
    #[arg(long, value_name = "EARLIEST,LATEST", help_heading = "Options")]
    between: Option<String>,

    /// Which of several slots that are equally good is the best: earliest, latest, or the one whose
    /// start is nearest to a time [default: earliest]. With --clusters the order in which the slots
    /// of all are taken, however good they are: earliest, latest, a time, availability (the least
    /// harm to others first) or cheapest (the fewest node-hours charged) [default: availability].
    #[arg(long, value_name = "earliest|latest|TIME|availability|cheapest", requires = "between", help_heading = "Options")]
    prefer: Option<String>,
}

impl WindowArguments {
    /// Whether there is a window.
    pub(crate) fn is_given(&self) -> bool {
        self.between.is_some()
    }

    /// The window, and which of several slots that are equally good is the best.
    ///
    /// # Errors
    /// There is no window, or one of the two can't be read.
    pub(crate) fn read(&self, now: UnixTime) -> anyhow::Result<(Window, Preferred)> {
        let (window, order) = self.read_for_clusters(now)?;
        let prefer = match order {
            // The availability comes first on one cluster, whatever is preferred.
            Order::Availability | Order::Start(Preference::Earliest) => Preferred::Earliest,
            Order::Start(Preference::Latest) => Preferred::Latest,
            Order::Start(Preference::Nearest(to)) => Preferred::Nearest(to.0),
            Order::Cheapest => bail!("--prefer cheapest: all slots of one cluster cost the same; name several with --clusters"),
        };
        Ok((window, prefer))
    }

    /// The window, and the order in which the slots of several clusters are taken.
    ///
    /// # Errors
    /// As [`WindowArguments::read`].
    pub(crate) fn read_for_clusters(&self, now: UnixTime) -> anyhow::Result<(Window, Order)> {
        let zone = TimeZone::system();
        let between = self.between.as_deref().context("--between: a window is needed")?;
        let window = window::parse(between, now.0, &zone).context("--between")?;
        let order = match self.prefer.as_deref() {
            None | Some("availability") => Order::Availability,
            Some("cheapest") => Order::Cheapest,
            Some("earliest") => Order::Start(Preference::Earliest),
            Some("latest") => Order::Start(Preference::Latest),
            Some(time) => Order::Start(Preference::Nearest(UnixTime(moment::parse(time, now.0, &zone).context("--prefer")?))),
        };
        Ok((window, order))
    }
}

/// What the daemon is asked, of a job in its partition.
///
/// # Errors
/// The job is none that a slot can be reserved for.
pub(crate) fn request(
    submission: &Submission<'_>,
    situation: &DecisionInputs<'_, Snapshot<Vec<u8>>>,
    window: Window,
    prefer: Preferred,
) -> anyhow::Result<Probe> {
    only_one_job(submission)?;
    let size = submission.size(&situation.partition);
    let is_whole = submission.whole_nodes || situation.partition.whole_nodes;
    Ok(Probe {
        partition: Some(situation.partition.name.to_owned()),
        account: submission.account.map(str::to_owned),
        qos: submission.qos.map(str::to_owned),
        nodes: size.nodes,
        cpus: (!is_whole).then_some(size.cpus),
        limit_s: submission.limit_in(&situation.partition).map(|limit| limit.0),
        earliest: window.earliest.0,
        latest: window.latest.0,
        prefer,
    })
}

/// What the daemon refuses, by the option in the place of the request's key.
pub(crate) fn by_option(error: NotAnswered) -> anyhow::Error {
    let NotAnswered::Refused(Refusal { key: Some(key), allowed: Some(allowed), .. }) = &error else { return error.into() };
    let option = match key.as_str() {
        "earliest" | "latest" => "between",
        "limit_s" => "time",
        "notice_s" => "notice",
        key => key,
    };
    anyhow::anyhow!("--{option}: {allowed}")
}

/// Refuses what no slot can be reserved for.
fn only_one_job(submission: &Submission<'_>) -> anyhow::Result<()> {
    anyhow::ensure!(!submission.is_array, "--array: a slot is for one job");
    if let Some(blocker) = submission.obstacle {
        anyhow::bail!(
            "a slot is for a job that waits for nothing else; leave out {}",
            match blocker {
                StartBlocker::Dependency => "--dependency",
                StartBlocker::Held => "--hold",
                StartBlocker::Reservation => "--reservation",
            }
        );
    }
    // Memory is on all nodes; of the rest the plan knows nothing.
    if let Some(placement) = submission.placement.filter(|placement| *placement != Placement::Memory) {
        anyhow::bail!("{placement}, which the plan does not know: a slot would be of any nodes");
    }
    anyhow::ensure!(submission.asked.reserve_at.is_none(), "--reserve-at: the window says when the job may begin; leave it out");
    anyhow::ensure!(submission.begin.is_none(), "--begin: the window says when the job may begin; leave it out");
    anyhow::ensure!(submission.deadline.is_none(), "--deadline: the window says when the job has to have ended; leave it out");
    anyhow::ensure!(submission.partitions().count() <= 1, "--partition: a slot is in one partition; name one");
    Ok(())
}
