//! Tables of a run: by job, by user and by hour. The thesis counts 28, 21 and 1,341 figures of
//! these and lists none; these are ours, each with its unit in its name.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Delay, Figures};
use crate::engine::preemptive::{Job, Milliseconds, Record};

const MILLISECONDS_PER_HOUR: u64 = 60 * Milliseconds::MINUTE.0;

/// One job.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct JobRow {
    /// Its number in the log.
    pub job: u64,
    /// The user's number.
    pub user: u32,
    /// Submission, from the beginning of the log.
    pub submit_minutes: f64,
    /// Nodes: n.
    pub nodes: u32,
    /// Alone on its nodes: t.
    pub run_time_minutes: f64,
    /// In credits per node and minute.
    pub bid: f64,
    /// The first start, from the beginning of the log.
    pub first_start_minutes: f64,
    /// The end, from the beginning of the log.
    pub end_minutes: f64,
    /// D_q.
    pub queued_minutes: f64,
    /// D_s.
    pub suspended_minutes: f64,
    /// D_l.
    pub load_delay_minutes: f64,
    /// All three.
    pub delay_minutes: f64,
    /// With t in whole minutes.
    pub dilation: f64,
    /// With t as it is.
    pub exact_dilation: f64,
    /// How often it was suspended.
    pub suspensions: u32,
    /// What was paid for it.
    pub paid_credits: f64,
    /// bid·n·delay.
    pub weighted_delay_credits: f64,
}

impl JobRow {
    /// The row of a job with this number in the log.
    #[must_use]
    pub fn of(number: u64, job: &Job, record: &Record) -> Self {
        let delay = Delay::of(job, record);
        Self {
            job: number,
            user: job.user,
            submit_minutes: job.submit.minutes(),
            nodes: job.nodes,
            run_time_minutes: job.run_time.minutes(),
            bid: record.bid.credits_per_node_minute(),
            first_start_minutes: record.first_start.unwrap_or_default().minutes(),
            end_minutes: record.end.unwrap_or_default().minutes(),
            queued_minutes: delay.queued.minutes(),
            suspended_minutes: delay.suspended.minutes(),
            load_delay_minutes: delay.shared.minutes(),
            delay_minutes: delay.minutes(),
            dilation: delay.dilation(job),
            exact_dilation: delay.exact_dilation(job),
            suspensions: record.suspensions,
            paid_credits: record.paid,
            weighted_delay_credits: record.bid.credits_per_node_minute() * f64::from(job.nodes) * delay.minutes(),
        }
    }
}

/// One user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct UserRow {
    /// The user's number.
    pub user: u32,
    /// Jobs that ended.
    pub jobs: u64,
    /// Σ n·t.
    pub node_minutes: f64,
    /// The mean t.
    pub mean_run_time_minutes: f64,
    /// The mean n.
    pub mean_nodes: f64,
    /// The mean bid, in credits per node and minute.
    pub mean_bid: f64,
    /// The mean delay.
    pub mean_delay_minutes: f64,
    /// The longest delay.
    pub maximum_delay_minutes: f64,
    /// The mean dilation, with t in whole minutes.
    pub mean_dilation: f64,
    /// How often the user's jobs were suspended.
    pub suspensions: u64,
    /// What the user paid.
    pub paid_credits: f64,
    /// Σ bid·n·delay.
    pub weighted_delay_credits: f64,
}

/// The table of users, in the order of their numbers.
#[must_use]
pub fn users(jobs: &[(Job, Record)]) -> Vec<UserRow> {
    let mut users: BTreeMap<u32, UserRow> = BTreeMap::new();
    for (job, record) in jobs {
        let one = JobRow::of(0, job, record);
        let user = users.entry(job.user).or_insert_with(|| UserRow { user: job.user, ..UserRow::default() });
        user.jobs += 1;
        user.node_minutes += f64::from(one.nodes) * one.run_time_minutes;
        user.mean_run_time_minutes += one.run_time_minutes;
        user.mean_nodes += f64::from(one.nodes);
        user.mean_bid += one.bid;
        user.mean_delay_minutes += one.delay_minutes;
        user.maximum_delay_minutes = user.maximum_delay_minutes.max(one.delay_minutes);
        user.mean_dilation += one.dilation;
        user.suspensions += u64::from(one.suspensions);
        user.paid_credits += one.paid_credits;
        user.weighted_delay_credits += one.weighted_delay_credits;
    }
    for user in users.values_mut() {
        let jobs = user.jobs as f64;
        let means = [
            &mut user.mean_run_time_minutes,
            &mut user.mean_nodes,
            &mut user.mean_bid,
            &mut user.mean_delay_minutes,
            &mut user.mean_dilation,
        ];
        means.into_iter().for_each(|sum| *sum /= jobs);
    }
    users.into_values().collect()
}

/// The jobs that are in the system at one moment, each with the delay that it will have had in the
/// end.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HourRow {
    /// The moment: so many hours from the beginning of the log.
    pub hour: u64,
    /// How many jobs were submitted and have not ended.
    pub jobs: usize,
    /// Their bids, in credits per node and minute.
    pub bid: Figures,
    /// Their delays, in minutes.
    pub delay_minutes: Figures,
    /// Their dilations, with t in whole minutes.
    pub dilation: Figures,
}

impl HourRow {
    /// The headings of the table, which are those of [`Self::cells`].
    pub const HEADINGS: [&str; 17] = [
        "hour",
        "jobs",
        "bid_minimum",
        "bid_maximum",
        "bid_mean",
        "bid_median",
        "bid_sum",
        "delay_minutes_minimum",
        "delay_minutes_maximum",
        "delay_minutes_mean",
        "delay_minutes_median",
        "delay_minutes_sum",
        "dilation_minimum",
        "dilation_maximum",
        "dilation_mean",
        "dilation_median",
        "dilation_sum",
    ];

    /// The row as numbers.
    #[must_use]
    pub fn cells(&self) -> Vec<f64> {
        let five = |figures: &Figures| [figures.minimum, figures.maximum, figures.mean, figures.median, figures.sum];
        let figures = [self.bid, self.delay_minutes, self.dilation];
        [self.hour as f64, self.jobs as f64].into_iter().chain(figures.iter().flat_map(five)).collect()
    }
}

/// The table of hours, from the beginning of the log until the last job has ended: what is in the
/// system at the beginning of each. Of it are the graphs over time made (7.2.2.2).
#[must_use]
pub fn hours(jobs: &[(Job, Record)]) -> Vec<HourRow> {
    // A job is in the system at the first whole hour from its submission on, and until its end.
    let first = |job: &Job| job.submit.0.div_ceil(MILLISECONDS_PER_HOUR);
    let after_last = |record: &Record| record.end.unwrap_or_default().0.div_ceil(MILLISECONDS_PER_HOUR);
    let mut by_first: Vec<&(Job, Record)> = jobs.iter().collect();
    by_first.sort_by_key(|(job, _)| first(job));
    let mut coming = by_first.into_iter().peekable();
    let mut present: Vec<&(Job, Record)> = Vec::new();
    let hours = jobs.iter().map(|(_, record)| after_last(record)).max().unwrap_or(0);
    let mut values: Vec<f64> = Vec::new();
    let mut row = |hour: u64| {
        present.retain(|(_, record)| hour < after_last(record));
        while let Some(job) = coming.next_if(|(job, _)| first(job) <= hour) {
            if hour < after_last(&job.1) {
                present.push(job);
            }
        }
        let mut figures = |value: fn(&Job, &Record) -> f64| {
            values.clear();
            values.extend(present.iter().map(|(job, record)| value(job, record)));
            Figures::of(&mut values)
        };
        HourRow {
            hour,
            bid: figures(|_, record| record.bid.credits_per_node_minute()),
            delay_minutes: figures(|job, record| Delay::of(job, record).minutes()),
            dilation: figures(|job, record| Delay::of(job, record).dilation(job)),
            jobs: present.len(),
        }
    };
    (0..hours).map(&mut row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economy::made_up::{at, job, waited};

    #[test]
    fn a_user_has_the_means_and_sums_of_all_jobs() {
        let (short, long, other) = (job(7, 60, 1), job(7, 180, 3), job(3, 60, 1));
        let jobs = [(short, waited(&short, 0, 4.0)), (other, waited(&other, 5, 0.0)), (long, waited(&long, 30, 2.0))];
        let rows = users(&jobs);
        assert_eq!(rows.iter().map(|row| (row.user, row.jobs)).collect::<Vec<_>>(), [(3, 1), (7, 2)]);
        let row = rows[1];
        assert_eq!((row.node_minutes, row.mean_run_time_minutes, row.mean_nodes, row.mean_bid), (10.0, 2.0, 2.0, 3.0));
        assert_eq!((row.mean_delay_minutes, row.maximum_delay_minutes, row.mean_dilation), (15.0, 30.0, 6.0));
        assert_eq!(row.weighted_delay_credits, 180.0);
    }

    #[test]
    fn an_hour_has_the_jobs_that_have_come_and_not_ended() {
        let long = job(1, 7200, 1);
        let short = at(1_800, job(1, 60, 1));
        let late = at(3_600, job(1, 60, 1));
        let jobs = [(long, waited(&long, 10, 1.0)), (short, waited(&short, 0, 9.0)), (late, waited(&late, 60, 3.0))];
        let rows = hours(&jobs);
        // The short one comes and goes between two hours; at the third the late one runs, and the
        // long one has ten minutes left.
        assert_eq!(rows.iter().map(|row| (row.hour, row.jobs)).collect::<Vec<_>>(), [(0, 1), (1, 2), (2, 2)]);
        assert_eq!(rows[1].bid, Figures { minimum: 1.0, maximum: 3.0, mean: 2.0, median: 2.0, sum: 4.0 });
        assert_eq!((rows[1].delay_minutes.sum, rows[0].delay_minutes.sum), (70.0, 10.0));
        assert_eq!(rows[1].cells()[..4], [1.0, 2.0, 1.0, 3.0]);
        assert_eq!(rows[1].cells().len(), HourRow::HEADINGS.len());
        assert!(hours(&[]).is_empty());
    }
}
