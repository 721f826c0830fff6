//! Workload logs and workload models.
