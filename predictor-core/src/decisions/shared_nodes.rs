//! Nodes whose CPUs jobs share, with what their jobs need: what the methods that share nodes in
//! time decide by ([`crate::decisions::deadline_methods`]).
//!
//! The methods count nodes of one kind, of power one. A node of Slurm's has several CPUs, and a job
//! takes some of them: so a job's share is counted in CPUs, and a node's power is the number of its
//! CPUs. On nodes of one CPU that is the same.

use crate::decisions::deadline_methods::{NeededShare, NodeLoad};
use job_types::share::{WEIGHT_OF_OTHERS, weight_of_cpu};
use job_types::time::UnixTime;
use zerocopy::little_endian::{F64, I64, U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// A node of a partition, as it lies in a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
pub struct SharedNode {
    /// CPUs that the node's jobs need by their shares, in sum: of the means, where run times are
    /// known by distributions.
    needed: F64,
    /// The variance of that sum, in CPUs squared.
    variance: F64,
    /// The earliest deadline of the node's jobs; the end of time without one.
    earliest_deadline: I64,
    /// The latest deadline of the node's jobs; the beginning of time without one.
    latest_deadline: I64,
    /// How many CPUs the node has.
    cpus: U32,
    /// The number of further CPUs of jobs for which Slurm has room on the node.
    room: U32,
    /// How many jobs the node has.
    jobs: U32,
    /// The place at which the node's name begins among the texts, and its length.
    name: [U32; 2],
    /// Unused, zero.
    reserved: [U16; 2],
}

/// A job on a shared node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharingJob {
    /// How many of the node's CPUs the job has.
    pub cpus: u32,
    /// The share that the job needs of each of these CPUs, and the job's deadline; `None` for a job
    /// that was not admitted with a deadline.
    pub admitted: Option<(NeededShare, UnixTime)>,
}

impl SharedNode {
    /// A node of so many CPUs, each of which so many jobs may share, without jobs. Its name lies at
    /// a place among the texts.
    #[must_use]
    pub fn idle(cpus: u32, jobs_to_a_cpu: u16, name: (u32, u32)) -> SharedNode {
        SharedNode {
            needed: 0.0.into(),
            variance: 0.0.into(),
            earliest_deadline: i64::MAX.into(),
            latest_deadline: i64::MIN.into(),
            cpus: cpus.into(),
            room: cpus.saturating_mul(u32::from(jobs_to_a_cpu)).into(),
            jobs: 0.into(),
            name: [name.0.into(), name.1.into()],
            reserved: [U16::ZERO; 2],
        }
    }

    /// Adds a job. One without a deadline takes what its weight gets it beside CPUs that are needed
    /// whole, and nobody waits for its end.
    pub fn add(&mut self, job: SharingJob) {
        let (needed, deadline) = match job.admitted {
            Some((share, deadline)) => (share.of_cpus(job.cpus), deadline),
            None => (NeededShare::sure(WEIGHT_OF_OTHERS / weight_of_cpu(self.cpus.get())), UnixTime(i64::MAX)),
        };
        self.needed = (self.needed.get() + needed.mean).into();
        self.variance = (self.variance.get() + needed.variance).into();
        self.earliest_deadline = self.earliest_deadline.get().min(deadline.0).into();
        self.latest_deadline = self.latest_deadline.get().max(deadline.0).into();
        self.room = self.room.get().saturating_sub(job.cpus).into();
        self.jobs = self.jobs.get().saturating_add(1).into();
    }

    /// How many CPUs the node has.
    #[must_use]
    pub fn cpus(&self) -> u32 {
        self.cpus.get()
    }

    /// CPUs that the node's jobs need by their shares, in sum.
    #[must_use]
    pub fn needed(&self) -> f64 {
        self.needed.get()
    }

    /// Returns the place at which the node's name begins among the texts, and its length.
    #[must_use]
    pub fn name(&self) -> (u32, u32) {
        let [begin, length] = self.name;
        (begin.get(), length.get())
    }

    /// What it has to do, for a job that takes so many of its CPUs; `None` where Slurm has no room
    /// for the job on it.
    ///
    /// The power that the methods take a node to have is 1. What is left of this one's CPUs is left
    /// of that 1, so that a job whose share is counted in CPUs fits into the one where it fits into
    /// the other.
    #[must_use]
    pub fn load(&self, job_cpus: u32) -> Option<NodeLoad> {
        let cpus = self.cpus.get();
        (job_cpus <= cpus && job_cpus <= self.room.get()).then(|| NodeLoad {
            total_share: 1.0 - (f64::from(cpus) - self.needed.get()),
            variance: self.variance.get(),
            earliest_deadline: UnixTime(self.earliest_deadline.get()),
            latest_deadline: UnixTime(self.latest_deadline.get()),
            jobs: self.jobs.get(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_nodes_cpus_is_left_of_the_power_that_the_methods_know() {
        let mut node = SharedNode::idle(4, 2, (0, 0));
        node.add(SharingJob { cpus: 2, admitted: Some((NeededShare::sure(0.75), UnixTime(50))) });
        node.add(SharingJob { cpus: 4, admitted: Some((NeededShare { mean: 0.25, variance: 0.01 }, UnixTime(20))) });
        let load = node.load(2).unwrap();
        assert!((load.total_share - (1.0 - 1.5)).abs() < 1e-12, "of four CPUs 1.5 are left");
        assert!((load.variance - 0.16).abs() < 1e-12, "that of four CPUs of which all need the same");
        assert_eq!((load.earliest_deadline, load.latest_deadline, load.jobs), (UnixTime(20), UnixTime(50), 2));
        assert_eq!(node.load(3), None, "two jobs share each CPU, so that there is room for eight and no more");
    }

    #[test]
    fn an_idle_node_of_one_cpu_is_what_the_methods_call_idle() {
        assert_eq!(SharedNode::idle(1, 2, (0, 0)).load(1), Some(NodeLoad::IDLE));
        assert_eq!(SharedNode::idle(1, 2, (0, 0)).load(2), None);
    }

    #[test]
    fn a_job_without_a_deadline_needs_what_its_weight_gets_it_and_keeps_nobody_waiting() {
        let mut node = SharedNode::idle(4, 2, (0, 0));
        node.add(SharingJob { cpus: 1, admitted: None });
        assert!((node.needed() - 0.1).abs() < 1e-12);
        assert_eq!(node.load(1).unwrap().earliest_deadline, UnixTime(i64::MAX));
        let mut large = SharedNode::idle(128, 2, (0, 0));
        large.add(SharingJob { cpus: 1, admitted: None });
        assert!((large.needed() - 1.0).abs() < 1e-12);
    }
}
