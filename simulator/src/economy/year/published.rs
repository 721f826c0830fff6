//! What the thesis tells of the year (7.1.1.1, 7.2.1.1 and 7.2.1.2).

/// Days from the first submission to the last.
pub const DAYS: u64 = 359;
/// Nodes of the machine: the size of its widest jobs.
pub const NODES: u32 = 106;
/// Jobs of the year.
pub const JOBS: usize = 528_617;
/// Users of the year.
pub const USERS: usize = 120;
/// What all jobs used, in node-seconds.
pub const NODE_SECONDS: f64 = 348_805_340.0;
/// The mean number of nodes of a job.
pub const MEAN_NODES: f64 = 3.5;

/// Table 7.2-A: the part of all jobs that take less than so many seconds.
pub const RUN_TIMES_SECONDS: [(f64, f64); 14] = [
    (0.1, 0.26),
    (0.2, 0.56),
    (0.3, 1.29),
    (0.4, 3.22),
    (0.5, 7.00),
    (0.6, 18.71),
    (0.7, 36.29),
    (0.8, 77.66),
    (0.9, 150.73),
    (0.95, 222.58),
    (0.975, 564.22),
    (0.99, 1563.59),
    (0.995, 3013.60),
    (0.999, 27_301.40),
];
/// The longest run time, in seconds.
pub const LONGEST_SECONDS: f64 = 583_105.0;

/// Jobs that run for less than so many seconds, and the node-seconds that they use (7.2.1.1).
pub const SHORTER_THAN: [(f64, usize, f64); 5] = [
    (5.0, 243_270, 1_354_443.0),
    (30.0, 353_259, 8_080_453.0),
    (60.0, 403_043, 20_372_025.0),
    (300.0, 508_657, 55_120_498.0),
    (3600.0, 526_382, 141_626_116.0),
];

/// Table 7.2-E: the parts of all jobs that end within 15 minutes, and within a day.
pub const CATEGORY_BORDERS_SECONDS: [(f64, f64); 2] = [(0.984, 900.0), (0.9996, 86_400.0)];

/// Table 7.2-B: the part of all jobs that use less than so many node-seconds.
pub const JOB_NODE_SECONDS: [(f64, f64); 14] = [
    (0.1, 0.26),
    (0.2, 0.63),
    (0.3, 1.83),
    (0.4, 4.55),
    (0.5, 12.46),
    (0.6, 27.93),
    (0.7, 60.34),
    (0.8, 127.91),
    (0.9, 235.80),
    (0.95, 852.66),
    (0.975, 2126.72),
    (0.99, 7147.72),
    (0.995, 11_597.32),
    (0.999, 95_962.80),
];

/// How many users rank above, and how many jobs the user has (table 7.2-C).
pub const USER_JOBS: [(usize, f64); 12] = [
    (107, 2.0),
    (95, 10.0),
    (83, 33.0),
    (71, 92.0),
    (59, 203.0),
    (47, 571.0),
    (35, 1188.0),
    (23, 2143.0),
    (11, 11_173.0),
    (5, 28_436.0),
    (2, 58_947.0),
    (0, 142_096.0),
];
/// Eleven users have so many jobs in all.
pub const TOP_USERS_BY_JOBS: (usize, f64) = (11, 422_949.0);

/// How many users rank above, and how many node-seconds the user's jobs use (table 7.2-D).
pub const USER_NODE_SECONDS: [(usize, f64); 12] = [
    (107, 55.29),
    (95, 1643.17),
    (83, 9853.74),
    (71, 47_343.05),
    (59, 214_996.47),
    (47, 678_868.26),
    (35, 1_649_441.44),
    (23, 3_482_336.09),
    (11, 7_104_234.56),
    (5, 13_013_128.82),
    (2, 27_785_191.47),
    (0, 52_805_002.34),
];
/// Eighteen users use so many node-seconds in all.
pub const TOP_USERS_BY_NODE_SECONDS: (usize, f64) = (18, 281_307_419.0);

/// Jobs of each size that is a power of two (7.1.1.1; those of 64 nodes are what is left of the
/// 495,911 jobs of all such sizes in 7.2.1.1).
pub const POWERS_OF_TWO: [(u32, usize); 7] = [(1, 423_430), (2, 22_187), (4, 16_716), (8, 11_712), (16, 18_848), (32, 2669), (64, 349)];
/// Jobs of more than 65 nodes.
pub const WIDEST: usize = 3747;
