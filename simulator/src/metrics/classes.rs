//! Jobs by size, and by how much their users use.

use std::collections::HashMap;

use job_types::number::UserId;

use super::{Distribution, bounded_slowdown};
use crate::engine::{Job, Record};

/// What became of one class of jobs.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Class {
    /// The name of the class.
    pub name: String,
    /// The number of jobs in the class.
    pub jobs: usize,
    /// Submission to start.
    pub wait_s: Distribution,
    /// Submission to end.
    pub response_s: Distribution,
    /// Bounded slowdown.
    pub bounded_slowdown: Distribution,
}

impl Class {
    fn of(name: String, records: &[&Record]) -> Self {
        Self {
            name,
            jobs: records.len(),
            wait_s: Distribution::of(records.iter().map(|record| record.wait().0 as f64)),
            response_s: Distribution::of(records.iter().map(|record| record.response().0 as f64)),
            bounded_slowdown: Distribution::of(records.iter().map(|record| bounded_slowdown(record))),
        }
    }
}

/// Groups jobs by size: 1, 2, 3 to 4, 5 to 8 processors, and on by powers of two. Classes without
/// jobs are left out.
#[must_use]
pub fn by_size(records: &[Record]) -> Vec<Class> {
    let name = |power: usize| match power {
        0 | 1 => format!("{}", 1_u64 << power),
        _ => format!("{}-{}", (1_u64 << (power - 1)) + 1, 1_u64 << power),
    };
    let mut classes: [Vec<&Record>; 33] = std::array::from_fn(|_| Vec::new());
    for record in records {
        let power = u64::from(record.processors.max(1)).next_power_of_two().trailing_zeros();
        classes[power as usize].push(record);
    }
    let found = classes.iter().enumerate().filter(|(_, records)| !records.is_empty());
    found.map(|(power, records)| Class::of(name(power), records)).collect()
}

/// Groups jobs by user: the users who together account for the first half of the work when the
/// heaviest come first, those of the next four tenths, and all others. `jobs` and `records` are in
/// the same order.
#[must_use]
pub fn by_user(jobs: &[Job], records: &[Record]) -> Vec<Class> {
    const CLASSES: [(&str, f64); 3] = [("heaviest users", 0.5), ("middle", 0.9), ("lightest users", f64::INFINITY)];
    // Users are numbered in the order in which they come, and worked on by those numbers.
    let mut numbers: HashMap<UserId, usize> = HashMap::new();
    let mut latest = None;
    let users: Vec<usize> = jobs
        .iter()
        .map(|job| {
            let next = numbers.len();
            match latest {
                Some((user, number)) if user == job.user => number,
                _ => {
                    let number = *numbers.entry(job.user).or_insert(next);
                    latest = Some((job.user, number));
                    number
                }
            }
        })
        .collect();
    let mut work = vec![0.0; numbers.len()];
    for (&user, record) in users.iter().zip(records) {
        work[user] += f64::from(record.processors) * record.occupied().0 as f64;
    }
    let total: f64 = work.iter().sum();
    let mut heaviest_first: Vec<usize> = (0..work.len()).collect();
    heaviest_first.sort_by(|&one, &other| work[other].total_cmp(&work[one]));
    let mut class_of = vec![0; work.len()];
    let mut before = 0.0;
    for user in heaviest_first {
        // A user belongs where the first part of their work falls.
        class_of[user] = CLASSES.iter().position(|&(_, part)| before < part * total).unwrap_or(CLASSES.len() - 1);
        before += work[user];
    }
    let mut classes: [Vec<&Record>; CLASSES.len()] = Default::default();
    for (&user, record) in users.iter().zip(records) {
        classes[class_of[user]].push(record);
    }
    let named = CLASSES.iter().zip(&classes).filter(|(_, records)| !records.is_empty());
    named.map(|((name, _), records)| Class::of((*name).to_owned(), records)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::time::{Seconds, UnixTime};

    fn record(processors: u32, run: i64) -> Record {
        Record { end: UnixTime(run), estimate: Seconds(run), processors, ..Record::default() }
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
        let jobs: Vec<Job> = [1, 2, 3].map(|user| Job { user: UserId(user), ..Job::default() }).to_vec();
        let records = [record(1, 60), record(1, 35), record(1, 5)];
        let found: Vec<(String, f64)> = by_user(&jobs, &records).into_iter().map(|class| (class.name, class.response_s.mean)).collect();
        let expected = [("heaviest users", 60.0), ("middle", 35.0), ("lightest users", 5.0)];
        assert_eq!(found, expected.map(|(name, mean)| (name.to_owned(), mean)));
    }
}
