//! What is to be said of how a log was read.

use simulator::remarks::{Remark, Remarks};

use crate::output;

/// Says on standard error what was left out of a log, or taken as not known: a line for each.
pub fn tell(source: &str, remarks: &Remarks) {
    for line in lines(remarks) {
        output::warn(&format!("{source}: {line}"));
    }
}

/// The remarks in words, a line for each.
pub fn lines(remarks: &Remarks) -> Vec<String> {
    remarks.iter().map(line).collect()
}

fn line(remark: &Remark) -> String {
    match remark.records {
        Some(1) => format!("1 record {}", remark.what),
        Some(records) => format!("{} records {}", output::count(records), remark.what),
        None => remark.what.clone().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_remark_is_a_line_with_its_count() {
        let mut remarks = Remarks::default();
        remarks.count(1_562, "with an undefined status");
        remarks.count(0, "of nothing");
        remarks.count(1, "that ran");
        remarks.note("as a whole");
        let told: Vec<String> = remarks.iter().map(line).collect();
        assert_eq!(told, ["1,562 records with an undefined status", "1 record that ran", "as a whole"]);
    }
}
