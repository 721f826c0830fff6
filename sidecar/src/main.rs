//! queuecastd: accounting records in, snapshots out.

fn main() {}
