//! The simulation, from event to event.

use job_types::time::{Seconds, UnixTime};

use super::{Backfill, Cluster, Estimates, Event, Job, JobIndex, Machine, Order, Policy, Record, Revised, Submitted, Waiting};

/// Why a workload cannot be scheduled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("job {number} wants {wanted} processors of a machine that has {available}")]
pub struct DoesNotFit {
    /// The job's number in the log.
    pub number: u32,
    /// Processors that the job asks for.
    pub wanted: u32,
    /// Processors of the machine.
    pub available: u32,
}

/// A scheduler, made of its three parts.
pub struct Scheduler {
    /// The order of the queue.
    pub order: Box<dyn Order>,
    /// The backfilling method, which says which jobs may start now.
    pub backfill: Box<dyn Backfill>,
    /// How long jobs are expected to run.
    pub estimates: Box<dyn Estimates>,
}

/// Runs `jobs` on `machine` under `scheduler`, with `policy` in front. Returns a record for each
/// job, in the order of `jobs`.
///
/// `jobs` are in order of submission; where they are not, a job is taken to be submitted no earlier
/// than the one before it.
///
/// # Errors
///
/// [`DoesNotFit`] for a job larger than the machine, as written or as the policy changed it.
pub fn simulate(
    jobs: &[Job],
    machine: &Machine,
    scheduler: &mut Scheduler,
    policy: &mut (impl Policy + ?Sized),
) -> Result<Vec<Record>, DoesNotFit> {
    let mut simulation = Simulation::new(jobs, machine, scheduler, policy);
    while simulation.step()? {}
    Ok(simulation.into_records())
}

fn block_edges(machine: &Machine) -> Vec<UnixTime> {
    let mut edges: Vec<UnixTime> = machine.blocks.iter().flat_map(|block| [block.start, block.end]).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// A simulation that is gone through event by event, as where several go on side by side.
pub struct Simulation<'a, P: ?Sized> {
    cluster: Cluster,
    scheduler: &'a mut Scheduler,
    policy: &'a mut P,
    next_submission: JobIndex,
    block_edges: Vec<UnixTime>,
    next_edge: usize,
}

impl<'a, P: Policy + ?Sized> Simulation<'a, P> {
    /// Before the first event; what the arguments are is said at [`simulate`].
    pub fn new(jobs: &[Job], machine: &Machine, scheduler: &'a mut Scheduler, policy: &'a mut P) -> Self {
        Self {
            cluster: Cluster::new(jobs, machine),
            scheduler,
            policy,
            next_submission: 0,
            block_edges: block_edges(machine),
            next_edge: 0,
        }
    }

    /// A record for each job, in the order of the jobs, as far as it has come. One that has not
    /// started says nothing of its start and its end.
    #[must_use]
    pub fn into_records(self) -> Vec<Record> {
        self.cluster.records
    }

    /// When the next event is; `None` after the last.
    #[must_use]
    pub fn next_moment(&self) -> Option<UnixTime> {
        let submission = self.cluster.jobs.get(self.next_submission as usize).map(|job| job.submit);
        let release = self.cluster.deferred.first().map(|&(until, _)| until);
        let end = self.cluster.next_end();
        // Nothing else will happen, or only what no job waits for.
        if submission.is_none() && release.is_none() && end.is_none() && self.cluster.waiting().is_empty() {
            return None;
        }
        let outlived = self.cluster.running().soonest_end();
        let edge = self.block_edges.get(self.next_edge).copied();
        let moments = [submission, release, end, outlived, edge, self.scheduler.backfill.wakes_at(), self.policy.wakes_at()];
        Some(moments.into_iter().flatten().min()?.max(self.cluster.now))
    }

    /// Takes a job that has not started back at a moment, which is not after the next event: it
    /// never runs. Returns whether there was such a job.
    pub fn withdraw(&mut self, job: JobIndex, at: UnixTime) -> bool {
        let Some(record) = self.cluster.records.get(job as usize) else { return false };
        let is_deferred = self.cluster.deferred.remove(&(record.eligible, job));
        self.cluster.now = at.max(self.cluster.now);
        let has_waited = !is_deferred && self.cluster.queue.remove(job);
        if is_deferred || has_waited {
            self.policy.withdrawn(job);
        }
        if has_waited {
            self.pass(Event::Revised);
        }
        is_deferred || has_waited
    }

    /// Goes to the next event; false after the last.
    ///
    /// # Errors
    ///
    /// [`DoesNotFit`] for a job that is submitted and is larger than the machine.
    pub fn step(&mut self) -> Result<bool, DoesNotFit> {
        let Some(now) = self.next_moment() else { return Ok(false) };
        let submission = self.cluster.jobs.get(self.next_submission as usize).map(|job| job.submit);
        let release = self.cluster.deferred.first().map(|&(until, _)| until);
        let end = self.cluster.next_end();
        let outlived = self.cluster.running().soonest_end();
        let edge = self.block_edges.get(self.next_edge).copied();
        let revision = self.policy.wakes_at();
        self.cluster.now = now;
        let is_due = |moment: Option<UnixTime>| moment.is_some_and(|moment| moment <= now);
        let event = if is_due(release) {
            self.cluster.deferred.pop_first().map(|(_, job)| self.queue(job))
        } else if is_due(submission) {
            self.submit()?
        } else if is_due(end) {
            self.end()
        } else if is_due(outlived) {
            self.correct()
        } else if is_due(revision) {
            self.revise()
        } else {
            if is_due(edge) {
                self.next_edge += 1;
            }
            Some(Event::Woken)
        };
        if let Some(event) = event {
            self.pass(event);
        }
        Ok(true)
    }

    /// Hands the next submission to the policy; an event unless that holds it back.
    fn submit(&mut self) -> Result<Option<Event>, DoesNotFit> {
        let index = self.next_submission;
        self.next_submission += 1;
        let written = self.cluster.jobs[index as usize];
        let Submitted { job, eligible, hold_until } = self.policy.submit(index, &written, &self.cluster);
        let available = self.cluster.machine.processors;
        if job.processors > available {
            return Err(DoesNotFit { number: job.number, wanted: job.processors, available });
        }
        let eligible = eligible.max(self.cluster.now);
        let record = &mut self.cluster.records[index as usize];
        record.eligible = eligible;
        record.estimate = job.estimate;
        record.processors = job.processors;
        self.cluster.jobs[index as usize] = job;
        if let Some(until) = hold_until {
            self.cluster.hold_until(index, until);
        }
        if eligible > self.cluster.now {
            self.cluster.deferred.insert((eligible, index));
            return Ok(None);
        }
        Ok(Some(self.queue(index)))
    }

    fn queue(&mut self, job: JobIndex) -> Event {
        let described = &self.cluster.jobs[job as usize];
        let expected = self.scheduler.estimates.expect(described).max(Seconds(1));
        let key = self.scheduler.order.key(described, expected, self.cluster.now);
        let entry = Waiting { key, expected, processors: described.processors, job };
        Event::Queued { job, position: self.cluster.queue.insert(entry) }
    }

    fn end(&mut self) -> Option<Event> {
        let event = self.cluster.end_next()?;
        if let Event::Ended { job, .. } = event {
            let (described, record) = (&self.cluster.jobs[job as usize], &self.cluster.records[job as usize]);
            self.scheduler.estimates.ended(described, record);
            self.scheduler.order.ended(described, record);
            self.policy.ended(job, described, record);
        }
        Some(event)
    }

    fn correct(&mut self) -> Option<Event> {
        let (job, expected, corrections) = self.cluster.outlived()?;
        let corrected = self.scheduler.estimates.correct(&self.cluster.jobs[job as usize], expected, corrections);
        Some(self.cluster.expect(job, corrected))
    }

    /// Lets the policy change jobs; an event where that touches one that waits or runs.
    fn revise(&mut self) -> Option<Event> {
        let mut is_seen = false;
        for Revised { job, eligible, estimate } in self.policy.revise(&self.cluster) {
            let record = &mut self.cluster.records[job as usize];
            let is_deferred = self.cluster.deferred.remove(&(record.eligible, job));
            if let Some(eligible) = eligible.filter(|_| is_deferred) {
                record.eligible = eligible.max(self.cluster.now);
            }
            if is_deferred {
                self.cluster.deferred.insert((record.eligible, job));
            }
            if let Some(estimate) = estimate {
                record.estimate = estimate;
                self.cluster.jobs[job as usize].estimate = estimate;
                let expected = self.scheduler.estimates.expect(&self.cluster.jobs[job as usize]).max(Seconds(1));
                is_seen |= !is_deferred && self.cluster.revise(job, expected);
            }
        }
        is_seen.then_some(Event::Revised)
    }

    /// Lets the scheduler start what may start.
    fn pass(&mut self, event: Event) {
        let now = self.cluster.now;
        let Cluster { jobs, queue, .. } = &mut self.cluster;
        let is_reordered = self.scheduler.order.reorder(now, jobs, queue.entries_mut());
        let event = match event {
            // Where everything may have moved, a position means nothing.
            Event::Queued { .. } if is_reordered => Event::Woken,
            event => event,
        };
        self.scheduler.backfill.pass(event, &mut self.cluster);
        for job in self.cluster.queue.started() {
            let (described, record) = (&self.cluster.jobs[job as usize], &self.cluster.records[job as usize]);
            self.scheduler.order.started(described, record);
            self.policy.started(job, described, record);
        }
        self.cluster.queue.close_up();
    }
}
