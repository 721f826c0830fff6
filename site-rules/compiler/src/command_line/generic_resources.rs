//! What sbatch makes of the generic resources of a job: it gathers them from their options, and
//! counts tasks, nodes and CPUs from them (`_validate_tres_per_task` in src/common/slurm_opt.c,
//! `gres_job_state_validate` in src/interfaces/gres.c).

use super::job::Job;
use site_rules::data::OwnedValue;
use site_rules::field::Name;
use site_rules::resources::{self, Resource};

/// A generic resource that a job asks for, by each option that can ask for it.
struct Wanted {
    kind: String,
    subtype: String,
    for_job: i64,
    on_node: i64,
    on_socket: i64,
    for_task: i64,
    /// How many there are in all, as far as it can be counted.
    total: i64,
}

impl Wanted {
    fn is_gpu(&self) -> bool {
        self.kind == "gpu"
    }
}

/// Puts the resources of several options into the fields in which they are sent.
///
/// # Errors
/// Why sbatch refuses what was asked for together.
pub(super) fn gather(job: &mut Job<'_>) -> Result<(), String> {
    let release = job.release();
    let has_gpus_on_nodes = job.gpus_per_node.is_some();
    if release.is_since(26, 5) && has_gpus_on_nodes && job.gres.as_deref().is_some_and(|gres| gres.contains("gres/gpu")) {
        return Err("--gpus-per-node and --gres=gpu are mutually exclusive".to_owned());
    }
    let of_nodes = joined([job.gpus_per_node.take(), job.gres.take()]);
    let mut gpus = job.gpus_per_task.take();
    if let Some(list) = gpus.as_mut().filter(|_| release.is_since(23, 11)) {
        // If there are several types, sbatch sends only the first up to 24.11, and all of them in
        // the reverse order since.
        let mut parts: Vec<&str> = list.split(',').collect();
        if release.is_since(25, 5) {
            parts.reverse();
        } else {
            parts.truncate(1);
        }
        *list = parts.join(",");
    }
    let of_tasks = job.tres_per_task.take();
    if let Some(of_tasks) = &of_tasks {
        if gpus.is_some() && resources::count(of_tasks, "gpu") > 0 {
            return Err("--tres-per-task=gres/gpu and --gpus-per-task both say how many GPUs a task has: use one of them".to_owned());
        }
        if let Some(cpus) = resources::all(of_tasks).find(|resource| resource.kind == "cpu").filter(|_| release.is_since(23, 11)) {
            if job.number(Name::CpusPerTask).is_some() {
                return Err("--tres-per-task=cpu and --cpus-per-task both say how many CPUs a task has: use one of them".to_owned());
            }
            job.set(Name::CpusPerTask, OwnedValue::Integer(cpus.count));
        }
    }
    let of_tasks = joined([gpus, of_tasks]);
    if let Some(of_tasks) = of_tasks.as_deref().filter(|_| release.is_since(23, 11)) {
        bind_to_tasks(job, of_tasks);
    }
    for (name, list) in [(Name::TresPerNode, of_nodes), (Name::TresPerTask, of_tasks)] {
        if let Some(list) = list {
            job.set(name, OwnedValue::Resources(list));
        }
    }
    Ok(())
}

/// Binds to each task what it asks for of GPUs, unless another binding of them is said, as sbatch
/// has done since 23.11.
fn bind_to_tasks(job: &mut Job<'_>, of_tasks: &str) {
    for kind in ["gpu", "shard"] {
        let count = resources::count(of_tasks, kind);
        let said = match job.value(Name::TresBind) {
            Some(OwnedValue::Text(said)) => said.clone(),
            _ => String::new(),
        };
        let kind = format!("gres/{kind}:");
        if count > 0 && !said.contains(&kind) {
            let between = if said.is_empty() { "" } else { "+" };
            job.set(Name::TresBind, OwnedValue::Text(format!("{said}{between}{kind}per_task:{count}")));
        }
    }
}

fn joined(parts: [Option<String>; 2]) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| parts.join(","))
}

/// Counts from the generic resources what other options have not said.
///
/// # Errors
/// Why sbatch refuses what was asked for together.
pub(super) fn count(job: &mut Job<'_>) -> Result<(), String> {
    let release = job.release();
    let for_each_gpu = job.number(Name::NtasksPerTres).filter(|tasks| *tasks > 0);
    // Since 23.11 the CPUs of a task are sent there as well.
    let has_task_resources =
        job.value(Name::TresPerTask).is_some() || (release.is_since(23, 11) && job.number(Name::CpusPerTask).is_some());
    if let (true, None, Some(nodes)) = (has_task_resources || for_each_gpu.is_some(), job.number(Name::NumTasks), fixed_nodes(job)) {
        let tasks = match (for_each_gpu, job.number(Name::NtasksPerNode), job.number(Name::CpusPerTask)) {
            (Some(each), ..) | (None, Some(each), _) => Some(nodes.saturating_mul(each)),
            (None, None, None) => Some(nodes),
            (None, None, Some(_)) => None,
        };
        if let Some(tasks) = tasks {
            job.set(Name::NumTasks, OwnedValue::Integer(tasks));
        }
    }
    let mut wanted = wanted(job);
    let has_gpus = wanted.iter().any(Wanted::is_gpu);
    if let Some(each) = for_each_gpu {
        tasks_for_gpus(job, &mut wanted, has_gpus, each)?;
    }
    let cpus_for_gpu = greatest(job, Name::CpusPerTres);
    let has_gpus = wanted.iter().any(Wanted::is_gpu);
    for (name, option) in [(Name::MemPerTres, "--mem-per-gpu"), (Name::CpusPerTres, "--cpus-per-gpu")] {
        let is_checked = name == Name::MemPerTres || release.is_since(23, 2);
        if is_checked && job.value(name).is_some() && !has_gpus {
            return Err(format!("{option} is for jobs that ask for GPUs"));
        }
    }
    let mut cpus_of_gpus = 0_i64;
    for wanted in &wanted {
        hold_together(job, wanted, cpus_for_gpu)?;
        if let Some(cpus) = cpus_for_gpu.filter(|_| wanted.is_gpu()) {
            cpus_of_gpus = cpus_of_gpus.saturating_add(cpus.saturating_mul(wanted.total));
        }
    }
    let mut least_cpus = job.number(Name::MinCpus).unwrap_or(0);
    if release.is_since(24, 5) {
        least_cpus = least_cpus.max(cpus_of_gpus);
    }
    if let (true, false, Some(cpus), Some(tasks)) =
        (release.is_since(25, 5), wanted.is_empty(), job.number(Name::CpusPerTask), job.number(Name::NumTasks))
    {
        least_cpus = least_cpus.max(cpus.saturating_mul(tasks));
    }
    job.set(Name::MinCpus, OwnedValue::Integer(least_cpus));
    Ok(())
}

/// The nodes of a job that asks for one number of them.
fn fixed_nodes(job: &Job<'_>) -> Option<i64> {
    job.number(Name::MinNodes).filter(|nodes| job.number(Name::MaxNodes) == Some(*nodes))
}

fn list(job: &Job<'_>, name: Name) -> String {
    match job.value(name) {
        Some(OwnedValue::Resources(list)) => list.clone(),
        _ => String::new(),
    }
}

/// The greatest count in a field.
fn greatest(job: &Job<'_>, name: Name) -> Option<i64> {
    resources::all(&list(job, name)).map(|resource| resource.count).max()
}

/// All generic resources that a job asks for, in the order in which Slurm comes upon them.
fn wanted(job: &Job<'_>) -> Vec<Wanted> {
    let nodes = job.number(Name::MinNodes);
    let tasks = job.number(Name::NumTasks);
    let sockets = match (nodes, job.number(Name::SocketsPerNode), tasks, job.number(Name::NtasksPerSocket)) {
        (Some(nodes), Some(sockets), ..) => nodes.saturating_mul(sockets),
        (_, _, Some(tasks), Some(on_socket)) if on_socket > 0 => tasks / on_socket + i64::from(tasks % on_socket > 0),
        (_, Some(sockets), ..) if job.release().is_since(23, 2) => sockets,
        _ => 1,
    };
    let mut all: Vec<Wanted> = Vec::new();
    let mut add = |name: Name, times: i64, field: fn(&mut Wanted) -> &mut i64| {
        for resource in resources::all(&list(job, name)).filter(is_generic) {
            let place = all.iter().position(|wanted| wanted.kind == resource.kind && wanted.subtype == resource.subtype);
            let place = place.unwrap_or_else(|| {
                let (kind, subtype) = (resource.kind.to_owned(), resource.subtype.to_owned());
                all.push(Wanted { kind, subtype, for_job: 0, on_node: 0, on_socket: 0, for_task: 0, total: 0 });
                all.len() - 1
            });
            if let Some(wanted) = all.get_mut(place) {
                *field(wanted) = resource.count;
                wanted.total = wanted.total.max(resource.count.saturating_mul(times));
            }
        }
    };
    add(Name::TresPerJob, 1, |wanted| &mut wanted.for_job);
    add(Name::TresPerNode, nodes.unwrap_or(1), |wanted| &mut wanted.on_node);
    add(Name::TresPerSocket, sockets, |wanted| &mut wanted.on_socket);
    add(Name::TresPerTask, tasks.unwrap_or(1), |wanted| &mut wanted.for_task);
    all
}

fn is_generic(resource: &Resource<'_>) -> bool {
    resource.kind != "cpu" && !resource.kind.contains('/')
}

/// Counts the tasks that run so many to a GPU, or the GPUs that so many tasks need.
fn tasks_for_gpus(job: &mut Job<'_>, wanted: &mut Vec<Wanted>, has_gpus: bool, each: i64) -> Result<(), String> {
    let gpus = wanted.iter().filter(|wanted| wanted.is_gpu()).fold(0_i64, |sum, wanted| sum.saturating_add(wanted.total));
    if has_gpus && gpus > 0 {
        job.set(Name::NumTasks, OwnedValue::Integer(gpus.saturating_mul(each)));
        return Ok(());
    }
    let Some(tasks) = job.number(Name::NumTasks).filter(|tasks| *tasks > 0) else {
        return Err("--ntasks-per-gpu needs a number of GPUs, of tasks or of nodes beside it".to_owned());
    };
    let gpus = tasks / each;
    let (kind, subtype) = ("gpu".to_owned(), String::new());
    wanted.push(Wanted { kind, subtype, for_job: gpus, on_node: 0, on_socket: 0, for_task: 0, total: gpus });
    Ok(())
}

/// Holds what was asked for of one resource by several options together, and counts from it what
/// was not said (`_test_gres_cnt` in src/interfaces/gres.c).
fn hold_together(job: &mut Job<'_>, wanted: &Wanted, cpus_for_gpu: Option<i64>) -> Result<(), String> {
    let Wanted { kind, for_job, on_node, on_socket, for_task, .. } = wanted;
    let (mut for_job, on_node, on_socket, for_task) = (*for_job, *on_node, *on_socket, *for_task);
    let is_more = |part: i64, whole: i64| whole > 0 && part > whole;
    if [on_node, on_socket, for_task].iter().any(|part| is_more(*part, for_job))
        || is_more(on_socket, on_node)
        || is_more(for_task, on_node)
    {
        return Err(format!("there are more {kind}s in a part of the job than in the whole"));
    }
    if on_socket > 0 && job.number(Name::SocketsPerNode).is_none() {
        return Err(format!("--{kind}s-per-socket needs --sockets-per-node"));
    }
    if cpus_for_gpu.is_some() && wanted.is_gpu() && job.number(Name::CpusPerTask).is_some() {
        return Err(format!("--cpus-per-{kind} and --cpus-per-task are mutually exclusive"));
    }
    let divided = |whole: i64, part: i64| match whole % part {
        0 => Ok(whole / part),
        _ => Err(format!("{whole} {kind}s can't be divided into parts of {part}")),
    };
    if for_job > 0 && on_node > 0 {
        let nodes = divided(for_job, on_node)?;
        let least = job.number(Name::MinNodes);
        if least.is_some_and(|least| nodes < least) || job.number(Name::MaxNodes).is_some_and(|most| nodes > most) {
            return Err(format!("{for_job} {kind}s with {on_node} on each node are on {nodes} nodes, and --nodes says otherwise"));
        }
        job.set(Name::MinNodes, OwnedValue::Integer(nodes));
        job.set(Name::MaxNodes, OwnedValue::Integer(nodes));
    }
    if on_node > 0 && on_socket > 0 {
        settle(job, Name::SocketsPerNode, divided(on_node, on_socket)?, "--sockets-per-node")?;
    }
    if let (Some(each), Some(tasks)) = (job.number(Name::NtasksPerTres).filter(|each| *each > 0), job.number(Name::NumTasks)) {
        divided(tasks, each).map_err(|_| format!("--ntasks has to be a multiple of --ntasks-per-{kind}"))?;
    }
    if for_task > 0 {
        if for_job > 0 {
            settle(job, Name::NumTasks, divided(for_job, for_task)?, "--ntasks")?;
        } else {
            let tasks = job.number(Name::NumTasks);
            let tasks = tasks.ok_or_else(|| format!("--{kind}s-per-task needs --{kind}s, --ntasks or --nodes beside it"))?;
            for_job = tasks.saturating_mul(for_task);
        }
        if on_node > 0 {
            settle(job, Name::NtasksPerNode, divided(on_node, for_task)?, "--ntasks-per-node")?;
        }
        if on_socket > 0 {
            settle(job, Name::NtasksPerSocket, divided(on_socket, for_task)?, "--ntasks-per-socket")?;
        }
        if let Some(cpus) = cpus_for_gpu.filter(|_| wanted.is_gpu()) {
            settle(job, Name::CpusPerTask, cpus.saturating_mul(for_task), "--cpus-per-task")?;
        }
    }
    if for_job > 0 {
        if job.number(Name::MinNodes).is_some_and(|least| for_job < least) {
            return Err(format!("there are fewer {kind}s than nodes"));
        }
        if job.number(Name::MaxNodes).is_some_and(|most| for_job < most) {
            job.set(Name::MaxNodes, OwnedValue::Integer(for_job));
        }
    }
    Ok(())
}

/// Sets a number where it was not said.
fn settle(job: &mut Job<'_>, name: Name, number: i64, option: &str) -> Result<(), String> {
    match job.number(name).filter(|said| *said > 0) {
        None => job.set(name, OwnedValue::Integer(number)),
        Some(said) if said == number => {}
        Some(said) => return Err(format!("{option} says {said}, and the generic resources make it {number}")),
    }
    Ok(())
}
