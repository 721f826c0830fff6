//! The daemon talks to slurmdbd and slurmctld through libslurm.

fn main() {
    println!("cargo:rustc-link-arg=-lslurm");
}
