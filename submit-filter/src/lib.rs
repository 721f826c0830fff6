//! The job_submit plugin: reads a submission and the snapshot, decides, rewrites.
