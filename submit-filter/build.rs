//! Tests and benchmarks of the plugin are programs, which link libslurm; the plugin itself does not.

fn main() {
    println!("cargo:rustc-link-arg-tests=-lslurm");
    println!("cargo:rustc-link-arg-benches=-lslurm");
}
