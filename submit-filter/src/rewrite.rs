//! Writes a decision into a job description: all of it, or nothing.

use job_types::options::{HOLD_UNTIL_VARIABLE, SHARE_VARIABLE};
use job_types::size::{Size, Unit};
use job_types::time::Seconds;
use predictor_core::decisions::Changes;
use site_rules::field::Name;
use site_rules::value::Value;
use slurm_sys::job_description::JobDescription;
use slurm_sys::text::SlurmText;

/// The variables that sbatch copies the task count into before it submits.
const TASK_VARIABLES: [&str; 2] = ["SLURM_NTASKS", "SLURM_NPROCS"];

/// A rewrite whose strings are all there, so that nothing can fail any more.
#[derive(Debug)]
pub(crate) struct Rewrite {
    changes: Changes,
    min_cpus: Option<u32>,
    variables: Vec<(&'static str, SlurmText)>,
    hold: Option<SlurmText>,
    /// The nodes that it is to run on, by name, and how many they are.
    nodes: Option<(SlurmText, u32)>,
    /// Tells the node that the job has a share of it.
    share: Option<SlurmText>,
    record: Option<SlurmText>,
}

impl Rewrite {
    /// Prepares `changes` of a job whose size was `before`, the names of the nodes that it is given
    /// a share of, and its record; `None` where there is no memory, or no record of what a node is
    /// told.
    pub(crate) fn prepare(
        description: &JobDescription<'_>,
        before: Size,
        unit: Unit,
        changes: Changes,
        nodes: &[&str],
        record: Option<&str>,
    ) -> Option<Rewrite> {
        let mut rewrite = Rewrite { changes, min_cpus: None, variables: Vec::new(), hold: None, nodes: None, share: None, record: None };
        if record.is_none() && (changes.hold_until.is_some() || !nodes.is_empty()) {
            return None;
        }
        if !nodes.is_empty() {
            rewrite.nodes = Some((SlurmText::new(&nodes.join(","))?, u32::try_from(nodes.len()).ok()?));
            rewrite.share = Some(SlurmText::new(&format!("{SHARE_VARIABLE}=1"))?);
        }
        if let Some((size, tasks)) = changes.size {
            rewrite.min_cpus = description.min_cpus().map(|cpus| scaled(cpus, size.count(unit), before.count(unit)));
            for name in TASK_VARIABLES {
                let Some(tasks) = tasks else { continue };
                if description.has_variable(name) {
                    rewrite.variables.push((name, SlurmText::new(&format!("{name}={tasks}"))?));
                }
            }
        }
        if let Some(until) = changes.hold_until {
            rewrite.hold = Some(SlurmText::new(&format!("{HOLD_UNTIL_VARIABLE}={}", until.0))?);
        }
        if let Some(record) = record {
            // What somebody else has written there stays, behind ours.
            rewrite.record = Some(match description.admin_comment() {
                Some(comment) => SlurmText::new(&format!("{record} {comment}"))?,
                None => SlurmText::new(record)?,
            });
        }
        Some(rewrite)
    }

    /// The sizes and limits that it writes, by which the site's own rules may bound a job.
    pub(crate) fn sizes_and_limits(&self, description: &JobDescription<'_>, unit: Unit) -> Vec<(Name, Value<'static>)> {
        let mut written = Vec::new();
        let mut number = |name: Name, number: u32| written.push((name, Value::Integer(i64::from(number))));
        if let Some((size, tasks)) = self.changes.size {
            if unit == Unit::Nodes || description.min_nodes().is_some() {
                number(Name::MinNodes, size.nodes);
                number(Name::MaxNodes, size.nodes);
            }
            tasks.into_iter().for_each(|tasks| number(Name::NumTasks, tasks));
            self.min_cpus.into_iter().for_each(|cpus| number(Name::MinCpus, cpus));
        }
        if let Some((_, count)) = &self.nodes {
            number(Name::MinNodes, *count);
            number(Name::MaxNodes, *count);
        }
        for (name, limit) in [(Name::TimeLimit, self.changes.limit), (Name::TimeMin, self.changes.shortest_limit)] {
            written.extend(limit.map(|limit| (name, Value::Duration(Seconds(i64::from(minutes_of(limit)) * 60)))));
        }
        written
    }

    /// Writes it. `false`, with nothing written, where the node could not be told to hold the job.
    pub(crate) fn write(self, description: &mut JobDescription<'_>, unit: Unit) -> bool {
        // First what can fail, in one step. A job without an environment of its own is told by
        // srun, from the record.
        let told: Vec<SlurmText> = self.hold.into_iter().chain(self.share).collect();
        if !told.is_empty() && description.is_batch() && !description.add_variables(told) {
            return false;
        }
        if let Some((size, tasks)) = self.changes.size {
            if unit == Unit::Nodes || description.min_nodes().is_some() {
                description.set_nodes(size.nodes);
            }
            if let Some(tasks) = tasks {
                description.set_tasks(tasks);
            }
            if let Some(cpus) = self.min_cpus {
                description.set_min_cpus(cpus);
            }
        }
        if let Some((names, count)) = self.nodes {
            description.set_required_nodes(names, count);
        }
        for (name, entry) in self.variables {
            description.replace_variable(name, entry);
        }
        if let Some(limit) = self.changes.limit {
            description.set_time_limit(minutes_of(limit));
        }
        if let Some(shortest) = self.changes.shortest_limit {
            description.set_time_min(minutes_of(shortest));
        }
        if let Some(begin) = self.changes.begin {
            description.set_begin_time(begin.0);
        }
        if self.changes.clears_deadline {
            description.clear_deadline();
        }
        if let Some(record) = self.record {
            description.set_admin_comment(record);
        }
        true
    }
}

fn minutes_of(limit: Seconds) -> u32 {
    u32::try_from(limit.minutes_rounded_up().max(1)).unwrap_or(u32::MAX)
}

/// `number` in the proportion of `after` to `before`, rounded up.
fn scaled(number: u32, after: u32, before: u32) -> u32 {
    let exact = (u64::from(number) * u64::from(after)).div_ceil(u64::from(before.max(1)));
    u32::try_from(exact).unwrap_or(u32::MAX).max(1)
}
