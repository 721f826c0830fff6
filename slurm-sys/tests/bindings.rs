//! The bindings describe the Slurm that is installed.

use std::process::Command;

use slurm_sys::bindings::SLURM_VERSION_NUMBER;

#[test]
fn the_headers_and_the_programs_are_of_one_version() {
    let output = Command::new("slurmctld").arg("-V").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    // "slurm 24.11.5"; Debian's says "slurm-wlm".
    let version = said.split_whitespace().last().unwrap();
    let numbers: Vec<u32> = version.split('.').map(|part| part.parse().unwrap()).collect();
    let [major, minor, micro] = numbers[..] else { panic!("{said}") };
    assert_eq!(SLURM_VERSION_NUMBER, major << 16 | minor << 8 | micro, "{said}");
}
