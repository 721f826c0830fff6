//! queuecast: status, predict, explain, import-swf.

fn main() {}
