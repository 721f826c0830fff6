use std::io::{Cursor, Write};

use super::*;

const SWF: &str = "\
; MaxProcs: 128
1 0 12 3600 16 -1 -1 16 7200 -1 265 3 1 7 1 -1 -1 -1
2 60 5 70 8 -1 -1 8 two-hours -1 1 3 1 -1 1 -1 -1 -1
3 90 5 70 8 -1 -1 8 7200 -1 1 3 1 -1 1 -1 -1 -1
";

const SACCT: &str = "\
JobID|User|State|Submit|Start|End|AllocCPUS|Timelimit
17|alice|COMPLETED|1795453200|1795453260|1795456860|4|02:00:00
18|alice|COMPLETED|soon|1795453260|1795456860|4|02:00:00
";

fn read(text: &str, options: &LogFileOptions) -> anyhow::Result<(Vec<Record>, Remarks)> {
    read_bytes(text.as_bytes().to_vec(), options)
}

fn read_bytes(bytes: Vec<u8>, options: &LogFileOptions) -> anyhow::Result<(Vec<Record>, Remarks)> {
    let mut file = LogFile::of(Cursor::new(bytes), "log".to_owned(), options)?;
    let records = file.by_ref().collect::<anyhow::Result<Vec<_>>>()?;
    Ok((records, file.remarks()))
}

fn told(remarks: &Remarks) -> Vec<String> {
    remarks.iter().map(|remark| format!("{:?} {}", remark.records, remark.what)).collect()
}

const LEAVE_OUT: LogFileOptions = LogFileOptions { processors: None, bad_lines: BadLines::LeaveOut };

#[test]
fn a_line_that_cannot_be_read_ends_the_reading_and_the_way_on_is_said() {
    let error = format!("{:#}", read(SWF, &LogFileOptions::default()).unwrap_err());
    assert!(error.contains("line 3: field 9 (requested time): \"two-hours\" is not a whole number, or -1 for not known"), "{error}");
    assert!(error.contains("--bad-lines leave-out"), "{error}");
    let error = format!("{:#}", read(SACCT, &LogFileOptions::default()).unwrap_err());
    assert!(error.contains("line 3: Submit: \"soon\" is not a time as in 2026-03-27T14:30:00"), "{error}");
}

#[test]
fn lines_that_cannot_be_read_are_left_out_and_counted_where_that_is_asked_for() {
    let (records, remarks) = read(SWF, &LEAVE_OUT).unwrap();
    assert_eq!(records.len(), 2);
    let told = told(&remarks);
    assert!(told[0].starts_with("Some(1) that can't be read, left out; the first: line 3: field 9"), "{told:?}");
    assert_eq!(told[1], "Some(1) with an undefined status");
    let (records, remarks) = read(SACCT, &LEAVE_OUT).unwrap();
    assert_eq!((records.len(), remarks.iter().next().unwrap().records), (1, Some(1)));
}

#[test]
fn what_sacct_printed_is_told_by_its_first_line_packed_or_not() {
    let text = SACCT.lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    for bytes in [text.as_bytes().to_vec(), gzip.finish().unwrap(), format!("\n\r\n{}", text.replace('\n', "\r\n")).into_bytes()] {
        let (records, _) = read_bytes(bytes, &LogFileOptions::default()).unwrap();
        assert_eq!((records.len(), records[0].run_time_seconds), (1, Some(3_600)));
    }
}

#[test]
fn what_sacct_printed_without_names_of_columns_is_told_to_be_that() {
    let text = SACCT.lines().skip(1).collect::<Vec<_>>().join("\n");
    let error = format!("{:#}", read(&text, &LogFileOptions::default()).unwrap_err());
    assert!(error.contains("--noheader"), "{error}");
}

#[test]
fn what_is_no_log_is_told_by_its_first_line_with_what_was_expected() {
    let header = SACCT.lines().next().unwrap();
    let message = format!("sacct: accounting_storage/slurmdbd: init: Accounting storage SLURMDBD plugin loaded\n{header}\n");
    let json = "{\"meta\":{\"plugin\":{\"type\":\"openapi\\/dbv0.0.38\"}},\"errors\":[],\"jobs\":[]}\n";
    let swf = "# job submit wait\n1 0 1 10 4 -1 -1 4 600 -1 1 1 -1 -1 -1 -1 -1 -1\n";
    for (text, what, advice) in [
        (message.as_str(), "a message and not the header: \"sacct: accounting_storage", "2>/dev/null"),
        (json, "`sacct --json`", "sacct --allusers --parsable2"),
        (swf, "begins with `#`", "begin with `;`"),
        ("<!DOCTYPE html>\n", "no part of a log: \"<!DOCTYPE html>\"", "18 numbers"),
    ] {
        let error = format!("{:#}", read(text, &LogFileOptions::default()).unwrap_err());
        assert!(error.contains(what) && error.contains(advice), "{error}");
    }
    assert_eq!(read(swf, &LEAVE_OUT).unwrap().0.len(), 1);
}

#[test]
fn an_empty_file_is_an_empty_log() {
    assert!(read("", &LogFileOptions::default()).unwrap().0.is_empty());
}

#[test]
fn the_size_of_the_machine_is_the_one_that_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.swf");
    std::fs::write(&path, SWF.lines().filter(|line| !line.contains("two-hours")).collect::<Vec<_>>().join("\r\n")).unwrap();
    let options = LogFileOptions { processors: NonZeroU32::new(64), ..LogFileOptions::default() };
    assert_eq!(read_log(&path, &options).unwrap().0.header.max_processors(), Some(64));
    assert_eq!(read_workload(&path, &options, &Rules::default()).unwrap().0.processors, 64);
    assert_eq!(read_log(&path, &LogFileOptions::default()).unwrap().0.header.max_processors(), Some(128));
}
