//! How many tasks, nodes and CPUs sbatch counts from the options of a job (`_opt_verify` in
//! src/sbatch/opt.c, and `slurm_opt_create_job_desc` in src/common/slurm_opt.c).

use super::CommandLineError;
use super::job::Job;
use super::values::named_nodes;
use site_rules::data::OwnedValue;
use site_rules::field::Name;

/// Slurm's number of the layout `arbitrary`, and the part of a layout's number that says so
/// (slurm/slurm.h, `task_dist_states_t`).
const ARBITRARY: i64 = 3;
const FIRST_LEVEL: i64 = 0xf;

/// Counts the tasks, nodes and CPUs of a job whose options were all taken.
///
/// # Errors
/// Where the list of nodes can't be read, or sbatch refuses it.
pub(super) fn count(job: &mut Job<'_>) -> Result<(), CommandLineError> {
    let release = job.release();
    let listed = match job.value(Name::ReqNodes) {
        Some(OwnedValue::Text(list)) => {
            Some(named_nodes(list).ok_or(CommandLineError::NotEvaluated("the list of --nodelist can't be read"))?)
        }
        _ => None,
    };
    if let Some(listed) = listed {
        // If --nodes is given as well, sbatch takes the greater of the list's number and that of
        // --nodes before 23.02, and that of --nodes alone since.
        let beside = job.least_nodes.filter(|least| release.is_since(23, 2) || *least > listed);
        let least = beside.unwrap_or(listed);
        job.least_nodes = Some(least);
        if let Some(most) = job.most_nodes.filter(|most| *most > 0 && *most < least) {
            return Err(CommandLineError::RefusedBySbatch(format!("{listed} nodes are listed, and at most {most} are asked for")));
        }
    }
    let cpus = job.number(Name::CpusPerTask);
    if let Some(cpus) = cpus {
        let of_node = job.number(Name::PnMinCpus).unwrap_or(0).max(cpus);
        job.set(Name::PnMinCpus, OwnedValue::Integer(of_node));
    }
    let has_nodes = job.least_nodes.is_some();
    let least = job.least_nodes.unwrap_or(1);
    let is_one_number = job.most_nodes.is_none_or(|most| most == 0 || most == least);
    let on_each = job.number(Name::NtasksPerNode).filter(|on_each| *on_each > 0);
    let by_nodes = on_each.filter(|_| is_one_number).map(|on_each| least.saturating_mul(on_each));
    let mut tasks = job.number(Name::NumTasks);
    if !release.is_since(23, 2) {
        tasks = tasks.or(by_nodes);
    }
    let mut counted = tasks.unwrap_or(1);
    if (has_nodes || job.has_shape) && is_one_number && tasks.is_none() && (on_each.is_none() || !release.is_since(23, 2)) {
        counted = least.max(1);
        for name in [Name::SocketsPerNode, Name::CoresPerSocket, Name::ThreadsPerCore] {
            if let Some(each) = job.number(name) {
                counted = counted.saturating_mul(each);
                tasks = Some(counted);
            }
        }
    } else if let (true, Some(tasks)) = (has_nodes, tasks) {
        if job.most_nodes.is_some_and(|most| tasks < most) {
            job.most_nodes = Some(tasks);
        }
        if tasks < least {
            (job.least_nodes, job.most_nodes) = (Some(tasks), Some(tasks));
        }
    }
    if let (Some(listed), None) = (listed, tasks)
        && job.number(Name::TaskDist).is_some_and(|layout| layout & FIRST_LEVEL == ARBITRARY)
    {
        (counted, tasks) = (listed, Some(listed));
    }
    if let Some(tasks) = tasks {
        job.set(Name::NumTasks, OwnedValue::Integer(tasks));
        if let (true, None, Some(on_each)) = (release.is_since(23, 11), job.least_nodes, on_each) {
            job.least_nodes = Some(tasks / on_each + i64::from(tasks % on_each > 0));
        }
    }
    let estimated = if tasks.is_none() { by_nodes.unwrap_or(counted) } else { counted };
    let is_overcommitted = job.value(Name::Overcommit) == Some(&OwnedValue::Truth(true));
    let least_cpus = match cpus {
        _ if is_overcommitted => least.max(1),
        Some(cpus) => estimated.saturating_mul(cpus),
        None if has_nodes && least == 0 => 0,
        None => estimated,
    };
    job.set(Name::MinCpus, OwnedValue::Integer(least_cpus));
    for (name, nodes) in [(Name::MinNodes, job.least_nodes), (Name::MaxNodes, job.most_nodes)] {
        if let Some(nodes) = nodes.filter(|nodes| *nodes > 0) {
            job.set(name, OwnedValue::Integer(nodes));
        }
    }
    Ok(())
}
