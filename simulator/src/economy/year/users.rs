//! Who owns which jobs.

use rand::Rng;
use rand::seq::SliceRandom;
use rand_distr::{Distribution, StandardNormal};

use super::cells::Cells;
use super::jobs::Work;
use super::published::{JOBS, NODE_SECONDS, TOP_USERS_BY_JOBS, TOP_USERS_BY_NODE_SECONDS, USER_JOBS, USER_NODE_SECONDS, USERS};
use super::quantiles::Quantiles;

/// Users with a mean run time of at least 15 hours, by their places among users by jobs and by
/// node-seconds, from the least: few jobs, and many node-seconds.
const OF_MANY_HOURS: [(usize, usize); 5] = [(14, 70), (16, 72), (18, 74), (20, 77), (22, 80)];
/// Users with a mean run time of at least an hour.
const OF_HOURS: [(usize, usize); 5] = [(26, 61), (28, 63), (30, 66), (33, 68), (36, 71)];
/// How far the places of the others by jobs and by node-seconds lie apart.
const APART: f64 = 6.0;
/// Places among users by jobs of those who use about 32 nodes. With a few others there are about
/// ten who have a mean of sixteen nodes and more.
const WIDE: [usize; 7] = [40, 49, 58, 67, 76, 85, 94];
/// How often the sums of the table are put right.
const ROUNDS: usize = 60;

/// What is known of a user before any job is given to one.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    jobs: f64,
    node_seconds: f64,
    /// The binary logarithm of the size about which the user's jobs lie.
    log_nodes: f64,
    /// How far they lie about it.
    log_nodes_apart: f64,
    /// The logarithm of the usual run time in seconds.
    log_seconds: f64,
    log_seconds_apart: f64,
}

/// The values of all users from the least to the greatest: known at some places, with a known sum
/// of the greatest and of all.
fn ranked(known: &[(usize, f64)], (top, top_sum): (usize, f64), sum: f64) -> Vec<f64> {
    let knots = known.iter().map(|&(above, value)| ((USERS - 1 - above) as f64, value));
    let quantiles = Quantiles::through(knots.chain([(0.0, 1.0)]));
    let values = |places: std::ops::Range<usize>, sum: f64| -> Vec<f64> {
        let bent = |bend: f64| places.clone().map(|place| quantiles.at(place as f64, bend)).collect::<Vec<f64>>();
        let (mut high, mut low) = (0.01_f64, 100.0_f64);
        for _ in 0..60 {
            let middle = (high * low).sqrt();
            if bent(middle).iter().sum::<f64>() > sum { high = middle } else { low = middle }
        }
        bent(high)
    };
    let mut all = values(0..USERS - top, sum - top_sum);
    all.extend(values(USERS - top..USERS, top_sum));
    all
}

/// What each user wants, by the place among users by jobs.
fn wanted(random: &mut impl Rng) -> Vec<Wanted> {
    let jobs = ranked(&USER_JOBS, TOP_USERS_BY_JOBS, JOBS as f64);
    let node_seconds = ranked(&USER_NODE_SECONDS, TOP_USERS_BY_NODE_SECONDS, NODE_SECONDS);
    let fixed: Vec<(usize, usize)> = OF_MANY_HOURS.into_iter().chain(OF_HOURS).collect();
    // The others take the places by node-seconds that are left, nearly in the order of their jobs.
    let mut others: Vec<(f64, usize)> = (0..USERS)
        .filter(|place| fixed.iter().all(|(by_jobs, _)| by_jobs != place))
        .map(|place| {
            let deviation: f64 = StandardNormal.sample(random);
            (place as f64 + APART * deviation, place)
        })
        .collect();
    others.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
    let left = (0..USERS).filter(|place| fixed.iter().all(|(_, by_node_seconds)| by_node_seconds != place));
    let mut places: Vec<(usize, usize)> = others.iter().map(|(_, place)| *place).zip(left).chain(fixed.iter().copied()).collect();
    places.sort_unstable();
    let whole_jobs = whole(&jobs);
    places
        .into_iter()
        .map(|(place, by_node_seconds)| {
            let (jobs, node_seconds) = (whole_jobs[place], node_seconds[by_node_seconds]);
            let is_long = fixed.iter().any(|(by_jobs, _)| *by_jobs == place);
            let log_nodes = if WIDE.contains(&place) {
                5.0
            } else if is_long || random.random::<f64>() < 0.4 {
                0.0
            } else {
                random.random_range(0.0..2.8)
            };
            let log_seconds = (node_seconds / jobs).ln() - log_nodes * std::f64::consts::LN_2 - if is_long { 0.2 } else { 1.0 };
            let log_nodes_apart = if is_long || WIDE.contains(&place) { 0.7 } else { 1.5 };
            Wanted { jobs, node_seconds, log_nodes, log_nodes_apart, log_seconds, log_seconds_apart: if is_long { 0.5 } else { 2.0 } }
        })
        .collect()
}

/// Whole numbers of jobs, at least one each; the greatest takes what is left.
fn whole(jobs: &[f64]) -> Vec<f64> {
    let mut whole: Vec<f64> = jobs.iter().map(|jobs| jobs.round().max(1.0)).collect();
    let sum: f64 = whole.iter().sum();
    // Between two of which the thesis knows the jobs, so that neither is moved.
    if let Some(second) = whole.iter_mut().nth_back(1) {
        *second += JOBS as f64 - sum;
    }
    whole
}

/// Groups of run times and sizes, of which one table says whose they are: an octave of run time,
/// and of size.
fn group(job: &Work) -> (u32, u32) {
    ((job.run_time_milliseconds.max(1) as f64).log2() as u32, job.nodes.ilog2())
}

/// The user of each job, from 1, in the order of the jobs.
pub(super) fn owners(jobs: &[Work], random: &mut impl Rng) -> Vec<u32> {
    let wanted = wanted(random);
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.shuffle(random);
    order.sort_by_key(|place| group(&jobs[*place]));
    let rows: Vec<&[usize]> = order.chunk_by(|one, other| group(&jobs[*one]) == group(&jobs[*other])).collect();
    let in_row: Vec<f64> = rows.iter().map(|row| row.len() as f64).collect();
    let mean = |row: &[usize], of: fn(&Work) -> f64| row.iter().map(|place| of(&jobs[*place])).sum::<f64>() / row.len() as f64;
    let node_seconds: Vec<f64> = rows.iter().map(|row| mean(row, Work::node_seconds)).collect();
    let log_seconds: Vec<f64> = rows.iter().map(|row| mean(row, |job| (job.run_time_milliseconds as f64 / 1000.0).ln())).collect();
    let log_nodes: Vec<f64> = rows.iter().map(|row| mean(row, |job| f64::from(job.nodes).log2())).collect();
    let guess = |row: usize, column: usize| {
        let user = &wanted[column];
        let of_size = (log_nodes[row] - user.log_nodes) / user.log_nodes_apart;
        let of_run_time = (log_seconds[row] - user.log_seconds) / user.log_seconds_apart;
        in_row[row] * (-0.5 * (of_size * of_size + of_run_time * of_run_time)).exp() + 1e-12
    };
    let mut cells = Cells::guessed(rows.len(), USERS, guess);
    let of_user: Vec<f64> = wanted.iter().map(|user| user.jobs).collect();
    let node_seconds_of_user: Vec<f64> = wanted.iter().map(|user| user.node_seconds).collect();
    let logarithms: Vec<f64> = node_seconds.iter().map(|node_seconds| node_seconds.ln()).collect();
    for _ in 0..ROUNDS {
        cells.tilt(|_, column| column, |row, _| node_seconds[row], |row, _| logarithms[row], &node_seconds_of_user);
        cells.scale(|row, _| row, &in_row);
        cells.scale(|_, column| column, &of_user);
    }
    let mut owners_in_order: Vec<u32> = Vec::with_capacity(jobs.len());
    for row in cells.whole(random) {
        let begin = owners_in_order.len();
        owners_in_order.extend((0..).zip(row).flat_map(|(user, jobs)| std::iter::repeat_n(user, jobs)));
        if let Some(here) = owners_in_order.get_mut(begin..) {
            here.shuffle(random);
        }
    }
    let mut owners = vec![0; jobs.len()];
    for (place, owner) in order.iter().zip(owners_in_order) {
        owners[*place] = owner;
    }
    settle(jobs, &mut owners, &node_seconds_of_user, random);
    owners.iter_mut().for_each(|owner| *owner += 1);
    owners
}

/// Exchanges jobs between users until the node-seconds of each are nearly right: of users with few
/// jobs, each counts.
fn settle(jobs: &[Work], owners: &mut [u32], wanted: &[f64], random: &mut impl Rng) {
    const TRIES: usize = 1_000_000;
    const NEAR: f64 = 0.005;
    let mut of_user: Vec<Vec<usize>> = vec![Vec::new(); wanted.len()];
    let mut sums = vec![0.0; wanted.len()];
    for (place, owner) in owners.iter().enumerate() {
        of_user[*owner as usize].push(place);
        sums[*owner as usize] += jobs[place].node_seconds();
    }
    for places in &mut of_user {
        places.sort_unstable_by(|one, other| jobs[*other].node_seconds().total_cmp(&jobs[*one].node_seconds()));
    }
    let distance = |user: usize, sum: f64| (sum / wanted[user]).max(1e-9).ln().powi(2);
    for round in 0..TRIES {
        let one = round % wanted.len();
        if distance(one, sums[one]) < NEAR * NEAR {
            continue;
        }
        // Of a few others the one who is the furthest off on the other side.
        let lacks = |user: usize| (wanted[user] / sums[user]).ln() * (sums[one] - wanted[one]).signum();
        let others: [usize; 6] = std::array::from_fn(|_| random.random_range(0..wanted.len()));
        let Some(other) = others.into_iter().max_by(|one, other| lacks(*one).total_cmp(&lacks(*other))) else { continue };
        let (mine, theirs) = (heavy_first(of_user[one].len(), random), heavy_first(of_user[other].len(), random));
        let (my_job, their_job) = (of_user[one][mine], of_user[other][theirs]);
        // Jobs of one size first, so that users keep the sizes that are theirs.
        if round < TRIES / 4 * 3 && jobs[my_job].nodes.ilog2() != jobs[their_job].nodes.ilog2() {
            continue;
        }
        let more = jobs[their_job].node_seconds() - jobs[my_job].node_seconds();
        let before = distance(one, sums[one]) + distance(other, sums[other]);
        let after = distance(one, sums[one] + more) + distance(other, sums[other] - more);
        if one != other && after < before {
            sums[one] += more;
            sums[other] -= more;
            of_user[one][mine] = their_job;
            of_user[other][theirs] = my_job;
            owners[their_job] = one as u32;
            owners[my_job] = other as u32;
        }
    }
}

/// A place in a list, one near its beginning more often: there are a user's few jobs that have most
/// of the node-seconds.
fn heavy_first(length: usize, random: &mut impl Rng) -> usize {
    let part: f64 = random.random();
    ((length as f64 * part.powi(4)) as usize).min(length.saturating_sub(1))
}
