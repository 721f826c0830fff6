//! Jobs of which one is enough: the same nodes reserved on several clusters (Nurmi, Wolski and
//! Brevik 2008, 4.6).
//!
//! Which jobs belong together stands in the comment of each (`--comment` of Slurm), where their
//! user may write, as the last of its words: `queuecast-joint=east:12,west:34`. A comment is what
//! anybody can forge for jobs of their own, so that nothing is read of it but names and numbers in
//! their proper form, and whoever acts on it has to see that the jobs are of one user.

use crate::cluster_name::is_cluster_name;
use crate::number::JobId;
use std::fmt;

/// What the word in the comment begins with.
const PREFIX: &str = "queuecast-joint=";

/// The most jobs that belong together.
pub const MOST_JOINT_JOBS: usize = 16;

/// A job of a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClusterJob {
    /// The cluster's name.
    pub cluster: String,
    /// The job's number there.
    pub job: JobId,
}

/// The jobs that belong together, in the order in which they were written: at least two, each on a
/// cluster of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointJobs(Vec<ClusterJob>);

impl JointJobs {
    /// These jobs; `None` where they are fewer than two or too many, where two are on one cluster,
    /// or where a name is none of a cluster.
    #[must_use]
    pub fn new(jobs: Vec<ClusterJob>) -> Option<JointJobs> {
        let is_named = |place: usize, job: &ClusterJob| {
            is_cluster_name(&job.cluster) && job.job.0 > 0 && jobs.iter().take(place).all(|other| other.cluster != job.cluster)
        };
        let is_good = (2..=MOST_JOINT_JOBS).contains(&jobs.len()) && jobs.iter().enumerate().all(|(place, job)| is_named(place, job));
        is_good.then_some(JointJobs(jobs))
    }

    /// The jobs that a job's comment names.
    #[must_use]
    pub fn of_comment(comment: &str) -> Option<JointJobs> {
        let jobs = comment.split_ascii_whitespace().next_back()?.strip_prefix(PREFIX)?;
        let job = |text: &str| {
            let (cluster, number) = text.split_once(':')?;
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            Some(ClusterJob { cluster: cluster.to_owned(), job: JobId(number.parse().ok().filter(|_| is_number)?) })
        };
        // One more than are allowed is enough to see that there are too many.
        JointJobs::new(jobs.split(',').take(MOST_JOINT_JOBS + 1).map(job).collect::<Option<_>>()?)
    }

    /// A comment with these jobs named behind what stood there before.
    #[must_use]
    pub fn in_comment(&self, before: &str) -> String {
        format!("{before}{}{self}", if before.is_empty() { "" } else { " " })
    }

    /// The other jobs, where the one given is among them: a comment may have been copied from job
    /// to job.
    #[must_use]
    pub fn others(&self, cluster: &str, job: JobId) -> Option<impl Iterator<Item = &ClusterJob>> {
        let own = self.0.iter().find(|known| known.cluster == cluster && known.job == job)?;
        Some(self.0.iter().filter(move |known| *known != own))
    }
}

impl fmt::Display for JointJobs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(PREFIX)?;
        for (place, ClusterJob { cluster, job }) in self.0.iter().enumerate() {
            write!(formatter, "{}{cluster}:{job}", if place == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jobs(named: &[(&str, u32)]) -> Option<JointJobs> {
        JointJobs::new(named.iter().map(|(cluster, job)| ClusterJob { cluster: (*cluster).to_owned(), job: JobId(*job) }).collect())
    }

    #[test]
    fn what_is_written_into_a_comment_is_read_back_from_it() {
        let joint = jobs(&[("east", 12), ("west-2", 34)]).unwrap();
        for before in ["", "a comment of the user's own"] {
            let comment = joint.in_comment(before);
            assert!(comment.starts_with(before) && comment.ends_with("queuecast-joint=east:12,west-2:34"), "{comment}");
            assert_eq!(JointJobs::of_comment(&comment), Some(joint.clone()));
        }
    }

    #[test]
    fn a_job_knows_the_others_only_where_it_is_one_of_them() {
        let joint = jobs(&[("east", 12), ("west", 34), ("north", 5)]).unwrap();
        let others: Vec<u32> = joint.others("west", JobId(34)).unwrap().map(|other| other.job.0).collect();
        assert_eq!(others, [12, 5]);
        assert!(joint.others("west", JobId(12)).is_none(), "the comment of another job");
        assert!(joint.others("south", JobId(34)).is_none());
    }

    #[test]
    fn what_is_no_set_of_jobs_is_none() {
        let many = (0..17).map(|number| format!("c{number}:1")).collect::<Vec<_>>().join(",");
        for jobs in ["east:12", "east:12,east:13", "east:12,west", "east:12,west:-3", "east:12,west:+3", "east:0,west:3", &many, ""] {
            assert_eq!(JointJobs::of_comment(&format!("{PREFIX}{jobs}")), None, "{jobs}");
        }
        for comment in ["", "east:12,west:3", "queuecast-joint=east:12,west:3 and more", "Queuecast-joint=east:12,west:3"] {
            assert_eq!(JointJobs::of_comment(comment), None, "{comment}");
        }
    }

    #[test]
    fn a_name_that_could_be_more_than_a_name_is_none() {
        for name in ["", "e\"ast", &"e".repeat(41)] {
            assert!(JointJobs::of_comment(&format!("{PREFIX}{name}:1,west:3")).is_none(), "{name}");
        }
    }
}
