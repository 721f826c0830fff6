//! The source of the plugin, with the one line in it that panics, and with what records the fields
//! of each job.

fn main() {
    println!("cargo:rustc-check-cfg=cfg(panics_when_told, records_when_told)");
    println!("cargo:rustc-cfg=panics_when_told");
    println!("cargo:rustc-cfg=records_when_told");
}
