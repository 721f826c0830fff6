//! End to end, on real Slurm clusters.
