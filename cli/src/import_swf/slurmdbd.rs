//! The jobs' way into slurmdbd.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::{Context, anyhow, ensure};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;
use slurm_sys::accounting::{AccountingWriter, KnownCluster, NewAssociation, PastJob};
use slurm_sys::client::{self, controller};

use super::names::Names;
use super::past::Job;

/// Records to a message. slurmdbd's time for one grows with the square of their number, and that of
/// the connection with the number of messages.
const BATCH: usize = 2_000;
/// Users or associations to a message.
const NAMES_BATCH: usize = 200;
/// Imports begin at job numbers that lie this far apart, so that those of the past are found by a
/// few questions.
const SLOT: u32 = 100_000;
/// Below the default of MaxJobId (0x03ff0000).
const LAST_JOB_ID: u32 = 67_000_000;

/// The records that an import is to write into slurmdbd.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan<'a> {
    pub(super) log_name: &'a str,
    pub(super) jobs: &'a [Job],
    pub(super) names: &'a Names,
    pub(super) cluster: Option<&'a str>,
    pub(super) first_job_id: u32,
    /// Whether to add the records where slurmdbd holds records of the log already.
    pub(super) is_repeated: bool,
    pub(super) show_progress: bool,
}

/// How much was written into slurmdbd.
#[derive(Debug, Serialize)]
pub(super) struct Written {
    pub(super) cluster: String,
    pub(super) first_job_id: u32,
    pub(super) last_job_id: u32,
    pub(super) new_users: usize,
    pub(super) new_accounts: usize,
}

/// Records that an import left: consecutive job numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    log_name: String,
    first: u32,
    last: u32,
}

/// Writes the jobs, all or none.
pub(super) fn write(plan: &Plan<'_>) -> anyhow::Result<Written> {
    // This comes before libslurm can end the process because of a slurm.conf that it cannot use.
    let site = client::site()?;
    let mut slurmdbd = AccountingWriter::open().context("cannot connect to slurmdbd")?;
    let cluster = cluster_for_imports(&slurmdbd.clusters()?, plan.cluster)?;
    let default_partition = default_partition(plan, &site.cluster)?;
    let blocks = blocks(&mut slurmdbd, &cluster, plan.first_job_id)?;
    let earlier: Vec<&Block> = blocks.iter().filter(|block| block.log_name == plan.log_name).collect();
    ensure!(plan.is_repeated || earlier.is_empty(), already_there(&earlier, &cluster, plan.log_name));
    let first = free_numbers(&blocks, plan.first_job_id, plan.jobs.len())?;
    let new = Associations::make(&mut slurmdbd, &cluster, plan)?;
    let progress = progress(plan);
    let mut next = first;
    for batch in plan.jobs.chunks(BATCH) {
        let comments: Vec<String> = batch.iter().zip(next..).map(|(job, id)| mark(job, plan, id - first)).collect();
        let job_names: Vec<String> = batch.iter().map(job_name).collect();
        let records = batch
            .iter()
            .zip(next..)
            .zip(comments.iter().zip(&job_names))
            .map(|((job, job_id), (comment, name))| past_job(job, job_id, plan.names, &new, &default_partition, name, comment))
            .collect::<anyhow::Result<Vec<_>>>()?;
        slurmdbd.add_jobs(&cluster, &records)?;
        next += batch.len() as u32;
        progress.inc(batch.len() as u64);
    }
    slurmdbd.commit()?;
    progress.finish_and_clear();
    let last = next - 1;
    // A connection that was lost and made again on the way has lost what came before.
    ensure!(
        slurmdbd.jobs(&cluster, &[first, last])?.len() == [first, last].len().min(plan.jobs.len()),
        "jobs {first} to {last} are not in slurmdbd after the import: was slurmdbd restarted meanwhile? run the import again"
    );
    Ok(Written { cluster, first_job_id: first, last_job_id: last, new_users: new.new_users, new_accounts: new.new_accounts })
}

/// The cluster that is to hold the records, if it may: one that slurmdbd knows, and that no
/// slurmctld ever registered. The records of a real cluster are what its site accounts by, and
/// nobody could take imported ones out from between them.
fn cluster_for_imports(clusters: &[KnownCluster], name: Option<&str>) -> anyhow::Result<String> {
    let names = |clusters: &mut dyn Iterator<Item = &KnownCluster>| {
        let names: Vec<&str> = clusters.map(|cluster| cluster.name.as_str()).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    let Some(name) = name else {
        return Err(anyhow!(
            "say with --cluster which cluster the records become: one that is there for imports alone (there are: {}); sacctmgr add \
             cluster NAME makes one",
            names(&mut clusters.iter().filter(|cluster| !cluster.is_live))
        ));
    };
    let Some(cluster) = clusters.iter().find(|cluster| cluster.name == name) else {
        return Err(anyhow!(
            "slurmdbd does not know cluster {name:?} (it knows: {}); sacctmgr add cluster {name} makes it",
            names(&mut clusters.iter())
        ));
    };
    ensure!(
        !cluster.is_live,
        "cluster {name:?} is a real one, as a slurmctld has registered there: imported records would be counted among its own, and could \
         not be taken out again; make a cluster for them (sacctmgr add cluster NAME), which queuecastd reads beside its own \
         ([history] earlier_clusters)"
    );
    Ok(cluster.name.clone())
}

/// The partition of jobs whose names do not give one: the default partition of the cluster of
/// slurm.conf, whose past they are to be. Asks slurmctld only where there are such jobs.
fn default_partition(plan: &Plan<'_>, own_cluster: &str) -> anyhow::Result<String> {
    if plan.jobs.iter().all(|job| plan.names.partition(job).is_some()) {
        return Ok(String::new());
    }
    let partitions = controller::partitions().context("cannot ask for the default partition; name one with --partition")?;
    let default = partitions.into_iter().find(|partition| partition.is_default);
    default
        .map(|partition| partition.name)
        .ok_or_else(|| anyhow!("cluster {own_cluster:?} has no default partition: choose one with --partition"))
}

/// Returns the places of the imports of the past. Every import begins at the start of a slot. If an
/// import fills more than one slot, the first number of each slot is its own.
fn blocks(slurmdbd: &mut AccountingWriter, cluster: &str, first_job_id: u32) -> anyhow::Result<Vec<Block>> {
    let slots: Vec<u32> = (first_job_id..=LAST_JOB_ID).step_by(SLOT as usize).collect();
    let mut blocks: Vec<Block> = Vec::new();
    for (slot, mark) in slurmdbd.jobs(cluster, &slots)? {
        // What carries no mark is somebody else's, and not to be touched.
        let block = read_mark(&mark.system_comment, slot).unwrap_or_else(|| Block { log_name: String::new(), first: slot, last: slot });
        if blocks.last() != Some(&block) {
            blocks.push(block);
        }
    }
    Ok(blocks)
}

/// The lowest slots that are free for so many jobs; the first number of them.
fn free_numbers(blocks: &[Block], first_job_id: u32, jobs: usize) -> anyhow::Result<u32> {
    let jobs = u32::try_from(jobs).unwrap_or(u32::MAX);
    let mut first = first_job_id;
    let mut in_the_way = true;
    while in_the_way {
        ensure!(
            first.checked_add(jobs).is_some_and(|end| end <= LAST_JOB_ID),
            "no room for {jobs} records between job numbers {first_job_id} and {LAST_JOB_ID}: choose a lower --first-job-id, or fewer \
             jobs with --jobs or --last"
        );
        let last = first + (jobs - 1);
        in_the_way = false;
        for block in blocks {
            if block.first <= last && first <= block.last {
                in_the_way = true;
                first = block.last - (block.last - first_job_id) % SLOT + SLOT;
                break;
            }
        }
    }
    Ok(first)
}

fn already_there(earlier: &[&Block], cluster: &str, log_name: &str) -> String {
    let records: u64 = earlier.iter().map(|block| u64::from(block.last - block.first) + 1).sum();
    let ranges: Vec<String> = earlier.iter().map(|block| format!("{} to {}", block.first, block.last)).collect();
    format!(
        "cluster {cluster:?} already holds {records} records of {log_name} (jobs {}); add --again to add the log once more, or import it \
         into another cluster (sacctmgr add cluster NAME; --cluster NAME), and remove this one (sacctmgr delete cluster {cluster})",
        ranges.join(", ")
    )
}

/// How the system comment of an imported record begins.
const MARK: &str = "queuecast import: job ";

/// What every record carries in its system comment: where it is from, and its place among the
/// import's records.
fn mark(job: &Job, plan: &Plan<'_>, position: u32) -> String {
    format!("{MARK}{} of {}, record {} of {}", job.number, plan.log_name, position + 1, plan.jobs.len())
}

/// The block that a marked record is of.
fn read_mark(comment: &str, job_id: u32) -> Option<Block> {
    let (_, rest) = comment.strip_prefix(MARK)?.split_once(" of ")?;
    let (log_name, place) = rest.split_once(", record ")?;
    let (position, count) = place.split_once(" of ")?;
    let (position, count): (u32, u32) = (position.parse().ok()?, count.parse().ok()?);
    let first = job_id.checked_sub(position.checked_sub(1)?)?;
    Some(Block { log_name: log_name.into(), first, last: first.checked_add(count.checked_sub(1)?)? })
}

/// Jobs of one application have one name.
fn job_name(job: &Job) -> String {
    job.executable.map_or_else(|| "imported".into(), |number| format!("app{number}"))
}

fn past_job<'a>(
    job: &Job,
    job_id: u32,
    names: &'a Names,
    associations: &Associations,
    default_partition: &'a str,
    name: &'a str,
    comment: &'a str,
) -> anyhow::Result<PastJob<'a>> {
    let named = || {
        let (user, account) = (names.user(job)?, names.account(job)?);
        let association_id = *associations.ids.get(&(account.to_owned(), user.name.clone()))?;
        Some((user, account, association_id))
    };
    let (user, account, association_id) =
        named().ok_or_else(|| anyhow!("slurmdbd has no association for job {} of the log", job.number))?;
    Ok(PastJob {
        job_id,
        association_id,
        account,
        name,
        user_id: user.user_id,
        group_id: user.group_id,
        partition: names.partition(job).unwrap_or(default_partition),
        requested: job.requested,
        allocated: job.allocated,
        end_state: job.end_state,
        time_limit: job.time_limit,
        submitted: job.submitted,
        eligible: job.submitted,
        started: job.started,
        ended: job.ended,
        comment,
    })
}

/// slurmdbd's numbers for the accounts and users of the jobs.
struct Associations {
    /// slurmdbd's numbers of associations, by account and user.
    ids: BTreeMap<(String, String), u32>,
    new_users: usize,
    new_accounts: usize,
}

impl Associations {
    /// Makes what is missing of accounts, users and associations, and commits it.
    fn make(slurmdbd: &mut AccountingWriter, cluster: &str, plan: &Plan<'_>) -> anyhow::Result<Self> {
        let wanted = plan.names.memberships(plan.jobs);
        let (known_accounts, known_users) = (slurmdbd.accounts()?, slurmdbd.users()?);
        let found = slurmdbd.associations(cluster)?;
        let new_accounts: Vec<&str> = plan.names.account_names().into_iter().filter(|name| !known_accounts.contains(*name)).collect();
        slurmdbd.add_accounts(&new_accounts, "imported from a workload log")?;
        let on_cluster: BTreeSet<&str> = found.iter().filter(|found| found.user.is_none()).map(|found| found.account.as_str()).collect();
        let of_accounts: Vec<NewAssociation<'_>> = plan
            .names
            .account_names()
            .into_iter()
            .filter(|account| !on_cluster.contains(account))
            .map(|account| NewAssociation { account, user: None, is_default: false })
            .collect();
        slurmdbd.add_associations(cluster, &of_accounts)?;
        // Since 24.11, slurmdbd looks for an account's association among those that are committed
        // when it makes those of the account's users.
        slurmdbd.commit()?;
        // The first account of a new user is the default one.
        let mut new_users: BTreeMap<&str, &str> = BTreeMap::new();
        for &(account, user) in wanted.iter().filter(|(_, user)| !known_users.contains(*user)) {
            new_users.entry(user).or_insert(account);
        }
        let with_account: Vec<(&str, &str)> = new_users.iter().map(|(&user, &account)| (user, account)).collect();
        for batch in with_account.chunks(NAMES_BATCH) {
            slurmdbd.add_users(batch)?;
        }
        let members: BTreeSet<(&str, &str)> = found
            .iter()
            .filter(|found| found.partition.is_none())
            .filter_map(|found| Some((found.account.as_str(), found.user.as_deref()?)))
            .collect();
        let of_users: Vec<NewAssociation<'_>> = wanted
            .iter()
            .filter(|member| !members.contains(*member))
            .map(|&(account, user)| {
                let is_default = new_users.get(user) == Some(&account);
                NewAssociation { account, user: Some(user), is_default }
            })
            .collect();
        for batch in of_users.chunks(NAMES_BATCH) {
            slurmdbd.add_associations(cluster, batch)?;
        }
        slurmdbd.commit()?;
        let ids = slurmdbd
            .associations(cluster)?
            .into_iter()
            .filter(|association| association.partition.is_none())
            .filter_map(|association| Some(((association.account, association.user?), association.id)))
            .collect();
        Ok(Self { ids, new_users: new_users.len(), new_accounts: new_accounts.len() })
    }
}

/// A bar on a terminal, nothing elsewhere. It has no thread of its own, because standard error is
/// closed while libslurm works.
fn progress(plan: &Plan<'_>) -> ProgressBar {
    let target = if plan.show_progress { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(plan.jobs.len() as u64), target);
    let style = ProgressStyle::with_template("{wide_bar} {human_pos}/{human_len} jobs, {per_sec}, {eta} left");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.tick();
    bar.with_elapsed(Duration::ZERO)
}

#[cfg(test)]
mod tests {
    use super::{Block, KnownCluster, cluster_for_imports, free_numbers, read_mark};

    fn block(first: u32, last: u32) -> Block {
        Block { log_name: "log".into(), first, last }
    }

    #[test]
    fn only_a_cluster_that_no_slurmctld_ever_registered_is_imported_into() {
        let cluster = |name: &str, is_live| KnownCluster { name: name.into(), is_live };
        let clusters = [cluster("live", true), cluster("past", false)];
        assert_eq!(cluster_for_imports(&clusters, Some("past")).unwrap(), "past");
        for (name, said) in [
            (Some("live"), "\"live\" is a real one"),
            (Some("elsewhere"), "(it knows: live, past)"),
            (None, "for imports alone (there are: past)"),
        ] {
            let error = cluster_for_imports(&clusters, name).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
        assert!(cluster_for_imports(&clusters[..1], None).unwrap_err().to_string().contains("(there are: none)"));
    }

    #[test]
    fn a_record_tells_the_whole_import_it_is_of() {
        let comment = "queuecast import: job 17 of my-log, record 5 of 100";
        let expected = Block { log_name: "my-log".into(), first: 50_000_000, last: 50_000_099 };
        assert_eq!(read_mark(comment, 50_000_004), Some(expected));
        assert_eq!(read_mark("something else", 50_000_004), None);
        assert_eq!(read_mark("queuecast import: job 17 of my-log, record 0 of 0", 1), None);
    }

    #[test]
    fn an_import_goes_into_the_lowest_slots_that_hold_it() {
        let blocks = [block(50_000_000, 50_099_999), block(50_300_000, 50_512_825)];
        assert_eq!(free_numbers(&[], 50_000_000, 1).unwrap(), 50_000_000);
        assert_eq!(free_numbers(&blocks, 50_000_000, 200_000).unwrap(), 50_100_000);
        assert_eq!(free_numbers(&blocks, 50_000_000, 200_001).unwrap(), 50_600_000);
        assert!(free_numbers(&blocks, 50_000_000, 20_000_000).is_err());
    }
}
