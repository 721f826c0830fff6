//! The source of the plugin, with the one line in it that panics.

fn main() {
    println!("cargo:rustc-check-cfg=cfg(panics_when_told)");
    println!("cargo:rustc-cfg=panics_when_told");
}
