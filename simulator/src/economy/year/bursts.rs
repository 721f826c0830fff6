//! When jobs are submitted: in bursts of one user's alike jobs, on days of very unequal traffic.

use rand::Rng;
use rand_distr::{Distribution, StandardNormal};

use super::jobs::Work;
use super::published::{DAYS, NODES};
use super::{Habit, Shape};
use crate::engine::preemptive::{Job, Milliseconds};

const MILLISECONDS_PER_DAY: f64 = 86_400_000.0;
const YEAR_MILLISECONDS: f64 = DAYS as f64 * MILLISECONDS_PER_DAY;
/// No day's traffic is further from the middle than this many times the spread.
const MOST_TRAFFIC: f64 = 2.0;
/// Jobs from this many milliseconds on are long.
const LONG_MILLISECONDS: u64 = 3_600_000;
/// Jobs of this many nodes and more are wide.
const WIDE_NODES: u32 = 33;

/// Kinds of jobs that are submitted in different ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Serial,
    Parallel,
    Wide,
    Long,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Serial, Self::Parallel, Self::Wide, Self::Long];

    fn of(job: &Work) -> Self {
        match job {
            Work { run_time_milliseconds: LONG_MILLISECONDS.., .. } => Self::Long,
            Work { nodes: WIDE_NODES.., .. } => Self::Wide,
            Work { nodes: 2.., .. } => Self::Parallel,
            Work { .. } => Self::Serial,
        }
    }

    fn habit(self, shape: &Shape) -> Habit {
        match self {
            Self::Serial => shape.serial,
            Self::Parallel => shape.parallel,
            Self::Wide => shape.wide,
            Self::Long => shape.long,
        }
    }
}

/// How much happens on each day, as a logarithm: a random walk that returns to its middle. Whatever
/// way it takes, its mean is 0 and its spread 1, so that years differ less.
fn traffic(shape: &Shape, random: &mut impl Rng) -> Vec<f64> {
    let mut logarithm = 0.0;
    let spread = (1.0 - shape.day_like_the_last * shape.day_like_the_last).sqrt();
    let day = |_| {
        let deviation: f64 = StandardNormal.sample(random);
        logarithm = shape.day_like_the_last * logarithm + spread * deviation;
        logarithm
    };
    let walk: Vec<f64> = (0..DAYS).map(day).collect();
    let mean = walk.iter().sum::<f64>() / DAYS as f64;
    let square = walk.iter().map(|logarithm| (logarithm - mean).powi(2)).sum::<f64>() / DAYS as f64;
    walk.iter().map(|logarithm| ((logarithm - mean) / square.sqrt().max(1e-9)).clamp(-MOST_TRAFFIC, MOST_TRAFFIC)).collect()
}

/// Days drawn by how much happens on them.
struct Days {
    /// The sums of the weights of all days up to each.
    sums: Vec<f64>,
}

impl Days {
    fn new(traffic: &[f64], habit: Habit) -> Self {
        let mut sum = 0.0;
        let add = |logarithm: &f64| {
            sum += (habit.unequal_days * logarithm).exp();
            sum
        };
        Self { sums: traffic.iter().map(add).collect() }
    }

    /// A moment of the year, in milliseconds: on a day twice as often in the second half as in the
    /// first.
    fn draw(&self, random: &mut impl Rng) -> f64 {
        let wanted = random.random::<f64>() * self.sums.last().copied().unwrap_or(0.0);
        let day = self.sums.partition_point(|sum| *sum < wanted);
        let part: f64 = random.random::<f64>().powf(0.7);
        (day as f64 + part) * MILLISECONDS_PER_DAY
    }
}

/// The number of jobs of a burst, by Pareto's law up to the longest.
fn burst_length(shape: &Shape, random: &mut impl Rng) -> usize {
    let rank: f64 = 1.0 - random.random::<f64>();
    (rank.powf(-1.0 / shape.burst_tail) as usize).clamp(1, shape.longest_burst)
}

/// A job in the order of which bursts are cut.
struct Ordered<'a> {
    user: u32,
    size: i64,
    run_time: f64,
    job: &'a Work,
}

/// The jobs of each user, so that those that are alike stand side by side.
fn ordered<'a>(shape: &Shape, jobs: &'a [Work], owners: &[u32], random: &mut impl Rng) -> Vec<Ordered<'a>> {
    let mut order: Vec<Ordered<'a>> = jobs
        .iter()
        .zip(owners)
        .map(|(job, user)| {
            let [of_size, of_run_time]: [f64; 2] = std::array::from_fn(|_| StandardNormal.sample(random));
            let size = (f64::from(job.nodes).log2() + shape.unlike_sizes * of_size).floor() as i64;
            let run_time = (job.run_time_milliseconds.max(1) as f64).ln() + shape.unlike_run_times * of_run_time;
            Ordered { user: *user, size, run_time, job }
        })
        .collect();
    order.sort_by(|one, other| (one.user, one.size).cmp(&(other.user, other.size)).then(one.run_time.total_cmp(&other.run_time)));
    order
}

/// Submits the jobs of all users. In the order of submission.
pub(super) fn submitted(shape: &Shape, jobs: &[Work], owners: &[u32], random: &mut impl Rng) -> Vec<Job> {
    let traffic = traffic(shape, random);
    let by_kind = Kind::ALL.map(|kind| (kind.habit(shape), Days::new(&traffic, kind.habit(shape))));
    let order = ordered(shape, jobs, owners, random);
    let mut submitted: Vec<Job> = Vec::with_capacity(jobs.len());
    for of_user in order.chunk_by(|one, other| one.user == other.user) {
        let mut rest = of_user;
        while let Some(first) = rest.first() {
            let (burst, after) = rest.split_at(burst_length(shape, random).min(rest.len()));
            rest = after;
            // The one in the middle says of which kind the burst is.
            let (habit, days) = &by_kind[Kind::of(burst.get(burst.len() / 2).unwrap_or(first).job) as usize];
            let mut at = days.draw(random);
            let is_at_once = random.random::<f64>() < habit.at_once;
            for Ordered { user, job: Work { run_time_milliseconds, nodes }, .. } in burst {
                let submit = Milliseconds((at % YEAR_MILLISECONDS) as u64);
                let run_time = Milliseconds(*run_time_milliseconds);
                submitted.push(Job { user: *user, submit, run_time, nodes: *nodes, is_io_bound: false });
                let part_of_machine = f64::from(*nodes) / f64::from(NODES);
                at += *run_time_milliseconds as f64 * if is_at_once { part_of_machine / habit.pressure } else { 1.0 };
            }
        }
    }
    submitted.sort_by_key(|job| job.submit);
    submitted
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn shape(at_once: f64) -> Shape {
        let habit = Habit { unequal_days: 0.0, at_once, pressure: 2.0 };
        // One burst of all jobs: none is shorter than its longest.
        Shape { burst_tail: 1e-6, unlike_run_times: 0.0, unlike_sizes: 0.0, serial: habit, parallel: habit, ..Shape::default() }
    }

    fn gaps(at_once: f64, job: Work) -> Vec<u64> {
        let jobs = submitted(&shape(at_once), &[job; 4], &[7; 4], &mut ChaCha8Rng::seed_from_u64(1));
        assert!(jobs.iter().all(|job| job.user == 7));
        jobs.windows(2).map(|pair| (pair[1].submit - pair[0].submit).0).collect()
    }

    #[test]
    fn a_burst_at_once_comes_as_much_faster_than_the_machine_could_run_it_as_is_said() {
        let job = Work { run_time_milliseconds: 106_000, nodes: 2 };
        assert!(gaps(1.0, job).iter().all(|gap| gap.abs_diff(1000) <= 1));
    }

    #[test]
    fn jobs_one_by_one_come_when_the_one_before_would_have_ended() {
        let job = Work { run_time_milliseconds: 5000, nodes: 1 };
        assert!(gaps(0.0, job).iter().all(|gap| gap.abs_diff(5000) <= 1));
    }

    #[test]
    fn days_with_much_traffic_are_drawn_more_often() {
        let days = Days::new(&[0.0, 1.0, 0.0], Habit { unequal_days: 5.0, at_once: 0.0, pressure: 1.0 });
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let on_the_second = (0..1000).filter(|_| (1.0..2.0).contains(&(days.draw(&mut random) / MILLISECONDS_PER_DAY))).count();
        assert!(on_the_second > 950);
    }
}
