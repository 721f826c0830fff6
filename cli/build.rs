//! Links libslurm, which `slurm-sys` binds.

fn main() {
    println!("cargo:rerun-if-env-changed=SLURM_LIB_DIR");
    if let Ok(directory) = std::env::var("SLURM_LIB_DIR") {
        println!("cargo:rustc-link-search=native={directory}");
    }
    println!("cargo:rustc-link-arg-bins=-lslurm");
}
