//! Jobs by size, and by how much their users use.

use std::collections::HashMap;

use super::{Distribution, bounded_slowdown};
use crate::engine::{Job, Record};

/// What became of one class of jobs.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Class {
    /// What it is called.
    pub name: String,
    /// How many jobs.
    pub jobs: usize,
    /// Submission to start.
    pub wait_s: Distribution,
    /// Submission to end.
    pub response_s: Distribution,
    /// Bounded slowdown.
    pub bounded_slowdown: Distribution,
}

impl Class {
    fn of<'a>(name: String, records: impl Iterator<Item = &'a Record> + Clone) -> Self {
        Self {
            name,
            jobs: records.clone().count(),
            wait_s: Distribution::of(records.clone().map(|record| record.wait_seconds() as f64)),
            response_s: Distribution::of(records.clone().map(|record| record.response_seconds() as f64)),
            bounded_slowdown: Distribution::of(records.map(bounded_slowdown)),
        }
    }
}

/// By size: 1, 2, 3 to 4, 5 to 8 processors, and on by powers of two; classes without jobs are left out.
#[must_use]
pub fn by_size(records: &[Record]) -> Vec<Class> {
    let power = |record: &Record| record.processors.max(1).next_power_of_two().trailing_zeros();
    let name = |power: u32| match power {
        0 | 1 => format!("{}", 1_u64 << power),
        _ => format!("{}-{}", (1_u64 << (power - 1)) + 1, 1_u64 << power),
    };
    let classes = (0..=32).map(|size| (size, records.iter().filter(move |record| power(record) == size)));
    let classes = classes.filter(|(_, records)| records.clone().next().is_some());
    classes.map(|(size, records)| Class::of(name(size), records)).collect()
}

/// By user: those who together account for the first half of the work when the heaviest come first, those of the next four tenths, and all others. `jobs` and `records` are in the
/// same order.
#[must_use]
pub fn by_user(jobs: &[Job], records: &[Record]) -> Vec<Class> {
    const CLASSES: [(&str, f64); 3] = [("heaviest users", 0.5), ("middle", 0.9), ("lightest users", f64::INFINITY)];
    let mut work: HashMap<u32, f64> = HashMap::new();
    for (job, record) in jobs.iter().zip(records) {
        *work.entry(job.user).or_default() += f64::from(record.processors) * record.run_seconds() as f64;
    }
    let total: f64 = work.values().sum();
    let mut users: Vec<(u32, f64)> = work.into_iter().collect();
    users.sort_by(|(one, work), (other, other_work)| other_work.total_cmp(work).then(one.cmp(other)));
    let mut before = 0.0;
    let mut class_of: HashMap<u32, usize> = HashMap::new();
    for (user, work) in users {
        // A user belongs where the first part of their work falls.
        let class = CLASSES.iter().position(|&(_, part)| before < part * total).unwrap_or(CLASSES.len() - 1);
        class_of.insert(user, class);
        before += work;
    }
    let of_class = |class: usize| {
        let class_of = &class_of;
        let pairs = jobs.iter().zip(records);
        pairs.filter(move |(job, _)| class_of.get(&job.user) == Some(&class)).map(|(_, record)| record)
    };
    let classes = CLASSES.iter().enumerate().map(|(class, (name, _))| Class::of((*name).to_owned(), of_class(class)));
    classes.filter(|class| class.jobs > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(processors: u32, run: i64) -> Record {
        Record { submit_seconds: 0, eligible_seconds: 0, start_seconds: 0, end_seconds: run, estimate_seconds: run, processors }
    }

    #[test]
    fn sizes_go_up_to_a_power_of_two() {
        let records = [1, 2, 3, 4, 5, 8, 9, 64].map(|processors| record(processors, 10));
        let found: Vec<(String, usize)> = by_size(&records).into_iter().map(|class| (class.name, class.jobs)).collect();
        let expected = [("1", 1), ("2", 1), ("3-4", 2), ("5-8", 2), ("9-16", 1), ("33-64", 1)];
        assert_eq!(found, expected.map(|(name, jobs)| (name.to_owned(), jobs)));
    }

    #[test]
    fn users_are_classed_by_their_share_of_the_work() {
        let jobs: Vec<Job> = [1, 2, 3].map(|user| Job { user, ..Job::default() }).to_vec();
        let records = [record(1, 60), record(1, 35), record(1, 5)];
        let found: Vec<(String, f64)> = by_user(&jobs, &records).into_iter().map(|class| (class.name, class.response_s.mean)).collect();
        let expected = [("heaviest users", 60.0), ("middle", 35.0), ("lightest users", 5.0)];
        assert_eq!(found, expected.map(|(name, mean)| (name.to_owned(), mean)));
    }
}
