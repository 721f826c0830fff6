//! The Standard Workload Format, read and written.

#![allow(clippy::unwrap_used)] // helpers of tests

use std::io::{Cursor, Write};
use std::path::PathBuf;

use job_types::number::QosIndex;
use proptest::prelude::*;
use simulator::swf::{self, Accounted, Header, ReadError, Reader, Record, Status};

const TWO_JOBS: &str = "\
; Version: 2.2
;  MaxProcs: 128

; Queue:  1  express
1 0 12 3600 16 -1 -1 16 7200 -1 1 3 1 7 1 -1 -1 -1
; a remark between jobs
  2   60  -1  -1  -1 0.5 -1.0  8 -1 -1  5 3 1 -1 1 -1  1 30
";

fn read(text: &str) -> Result<swf::Log, ReadError> {
    Reader::detecting_compression(Cursor::new(text.as_bytes().to_vec()))?.into_log()
}

#[test]
fn minus_one_is_not_known() {
    let log = read(TWO_JOBS).unwrap();
    assert_eq!(
        log.records[1],
        Record {
            job_number: 2,
            submit_time_seconds: Some(60),
            average_cpu_time_seconds: Some(0.5),
            requested_processors: Some(8),
            status: Some(Status::Cancelled),
            user: Some(3),
            group: Some(1),
            queue: Some(1),
            preceding_job: Some(1),
            think_time_seconds: Some(30),
            ..Record::default()
        }
    );
    assert_eq!(log.records[1].processors(), Some(8), "the size asked for stands in for the one allocated");
    assert_eq!(log.header.max_processors(), Some(128));
}

#[test]
fn compression_is_told_by_content() {
    let plain = TWO_JOBS.as_bytes();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(plain).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 1);
    xz.write_all(plain).unwrap();
    let zstd = zstd::encode_all(plain, 1).unwrap();
    for packed in [gzip.finish().unwrap(), xz.finish().unwrap(), zstd, plain.to_vec()] {
        let log = Reader::detecting_compression(Cursor::new(packed)).unwrap().into_log().unwrap();
        assert_eq!(log, read(TWO_JOBS).unwrap());
    }
}

#[test]
fn an_empty_input_is_an_empty_log() {
    assert_eq!(read("").unwrap(), swf::Log::default());
}

#[test]
fn an_error_names_line_field_and_text() {
    let wrong = TWO_JOBS.replace("7200", "2h");
    assert_eq!(
        read(&wrong).unwrap_err().to_string(),
        "line 5: field 9 (requested time): \"2h\" is not a whole number, or -1 for not known"
    );
    let wrong = TWO_JOBS.replace("0.5 -1.0", "half -1.0");
    assert_eq!(read(&wrong).unwrap_err().to_string(), "line 7: field 6 (average CPU time): \"half\" is not a number, or -1 for not known");
}

/// Reads a log whose values may have no meaning; what is to be said of it as lines.
fn read_with_remarks(text: &str) -> (Vec<Record>, Vec<String>) {
    let mut reader = Reader::new(text.as_bytes()).unwrap();
    let records = reader.by_ref().collect::<Result<Vec<_>, _>>().unwrap();
    let told = reader.remarks().iter().map(|remark| format!("{} {}", remark.records.unwrap(), remark.what)).collect();
    (records, told)
}

#[test]
fn a_value_without_meaning_is_not_known_and_counted() {
    // Exit codes in the field of the status, as in the log of Sandia's Ross.
    let (records, told) = read_with_remarks(&TWO_JOBS.replace("-1 1 3 1 7", "-1 265 3 1 7").replace("-1  5 3", "-1  256 3"));
    assert_eq!(records.iter().map(|record| record.status).collect::<Vec<_>>(), [None, None]);
    assert_eq!(told, ["2 with an undefined status"]);
    let read_again = read(TWO_JOBS).unwrap().records;
    assert_eq!(records, read_again.into_iter().map(|record| Record { status: None, ..record }).collect::<Vec<_>>());

    let line = |fields: &str| read_with_remarks(&format!("{fields}\n"));
    let (records, told) = line("-1 0 12 nan 16 -7 inf -16 7200 -1 1 3 99999999999999999999 -2 1 -1 -1 -1");
    assert_eq!(
        told,
        [
            "1 with an undefined job number",
            "1 with an undefined run time",
            "1 with an undefined average CPU time",
            "1 with an undefined used memory",
            "1 with an undefined requested processors",
            "1 with an undefined group",
            "1 with an undefined executable",
        ]
    );
    let known = Record {
        submit_time_seconds: Some(0),
        wait_time_seconds: Some(12),
        allocated_processors: Some(16),
        requested_time_seconds: Some(7_200),
        status: Some(Status::Completed),
        user: Some(3),
        queue: Some(1),
        ..Record::default()
    };
    assert_eq!(records, [known]);
    let (records, told) = line("1 0 12.0 3599.6 16 -1 -1 16 7.2e3 -1 1 3 1 7 1 -1 -1 -1");
    assert_eq!((records[0].wait_time_seconds, records[0].run_time_seconds), (Some(12), Some(3_600)), "fractions are rounded off");
    assert_eq!((records[0].requested_time_seconds, told.len()), (Some(7_200), 0));
}

#[test]
fn fields_behind_the_last_of_the_format_are_passed_over_and_counted() {
    let extended = TWO_JOBS.replace(" -1 -1 -1\n", " -1 -1 -1 17 site 4.5\n");
    let (records, told) = read_with_remarks(&extended);
    assert_eq!(records, read(TWO_JOBS).unwrap().records);
    assert_eq!(told, ["1 with more than 18 fields, of which the first 18 were read"]);
}

#[test]
fn tabs_and_all_line_ends_are_read() {
    let expected = read(TWO_JOBS).unwrap();
    for text in [TWO_JOBS.replace(' ', "\t"), TWO_JOBS.replace('\n', "\r\n"), TWO_JOBS.replace('\n', "\r"), format!("\u{feff}{TWO_JOBS}")] {
        let log = read(&text).unwrap();
        assert_eq!(log.records, expected.records, "{text:?}");
        assert_eq!(log.header.max_processors(), Some(128), "{text:?}");
    }
    let without_header: String = TWO_JOBS.lines().filter(|line| !line.starts_with(';')).map(|line| format!("{line}\n")).collect();
    assert_eq!(read(&without_header).unwrap().records, expected.records);
}

#[test]
fn a_line_without_end_is_an_error_and_the_next_line_is_read() {
    let text = format!("{}\n{TWO_JOBS}", "1 ".repeat(1 << 20));
    let read = Vec::from_iter(Reader::new(text.as_bytes()).unwrap());
    assert!(matches!(read[0], Err(ReadError::LineLength { line: 1 })), "{:?}", read[0]);
    assert_eq!(read.len(), 3);
}

#[test]
fn a_line_with_too_few_fields_is_an_error_and_the_next_line_is_read() {
    let log = TWO_JOBS.replace(" 1 -1 -1 -1\n", "\n");
    let read = Vec::from_iter(Reader::new(log.as_bytes()).unwrap());
    assert!(matches!(read[0], Err(ReadError::FieldCount { line: 5, found: 14 })));
    assert_eq!(read[1].as_ref().unwrap().job_number, 2);
}

#[test]
fn damaged_compression_is_an_error_and_ends_the_log() {
    let mut packed = zstd::encode_all(TWO_JOBS.repeat(1000).as_bytes(), 1).unwrap();
    packed.truncate(packed.len() / 2);
    let mut reader = match Reader::detecting_compression(Cursor::new(packed)) {
        Ok(reader) => reader,
        Err(error) => {
            assert!(matches!(error, ReadError::Input { .. }), "{error}");
            return;
        }
    };
    assert!(reader.any(|record| matches!(record, Err(ReadError::Input { .. }))));
    assert!(reader.next().is_none());
}

#[test]
fn what_the_format_has_no_field_for_is_not_written() {
    let written = |accounted| {
        let mut text = Vec::new();
        swf::write(&mut text, &Header::new(), &[Record { job_number: 1, accounted, ..Record::default() }]).unwrap();
        text
    };
    let known = Accounted { requested_nodes: Some(2), allocated_nodes: Some(4), qos: Some(QosIndex(1)) };
    assert_eq!(written(known), written(Accounted::default()));
}

fn count() -> impl Strategy<Value = Option<u64>> {
    proptest::option::of(0..=i64::MAX as u64)
}

fn real() -> impl Strategy<Value = Option<f64>> {
    proptest::option::of(0.0..1e12)
}

prop_compose! {
    fn any_record()(
        job_number in 0..=i64::MAX as u64,
        counts in proptest::array::uniform13(count()),
        reals in proptest::array::uniform3(real()),
        status in proptest::option::of(0_i64..=5),
    ) -> Record {
        Record {
            job_number,
            submit_time_seconds: counts[0],
            wait_time_seconds: counts[1],
            run_time_seconds: counts[2],
            allocated_processors: counts[3],
            average_cpu_time_seconds: reals[0],
            used_memory_kilobytes: reals[1],
            requested_processors: counts[4],
            requested_time_seconds: counts[5],
            requested_memory_kilobytes: reals[2],
            status: status.and_then(Status::from_number),
            user: counts[6],
            group: counts[7],
            executable: counts[8],
            queue: counts[9],
            partition: counts[10],
            preceding_job: counts[11],
            think_time_seconds: counts[12],
            ..Record::default()
        }
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(records in proptest::collection::vec(any_record(), 0..20), note in "[^\r\n]*") {
        let mut header = Header::new();
        header.push("Note", &note);
        let mut text = Vec::new();
        swf::write(&mut text, &header, &records).unwrap();
        let log = Reader::new(text.as_slice()).unwrap().into_log().unwrap();
        prop_assert_eq!(log.records, records);
        prop_assert_eq!(Vec::from_iter(log.header.notes()), [note.trim()]);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(reader) = Reader::detecting_compression(Cursor::new(bytes)) {
            reader.for_each(drop);
        }
    }

    #[test]
    fn lines_that_are_nearly_jobs_are_read_or_refused_one_by_one(
        lines in proptest::collection::vec("[0-9. \t;a-z\u{e9}-]{0,60}|(-?[0-9.e]{1,22} ){17,20}(\r|\r\n)?", 0..20),
    ) {
        let mut reader = Reader::new(Cursor::new(lines.join("\n"))).unwrap();
        let mut read = 0;
        for record in reader.by_ref() {
            read += 1;
            if let Err(error) = record {
                let is_of_input = matches!(error, ReadError::Input { .. });
                prop_assert!(!is_of_input, "{}", error);
            }
        }
        // A return ends a line as well.
        prop_assert!(read <= 2 * lines.len(), "{} of {}", read, lines.len());
        let told: u64 = reader.remarks().iter().filter_map(|remark| remark.records).sum();
        prop_assert!(told <= 19 * read as u64);
    }
}

/// Jobs and processors of the logs as the Parallel Workloads Archive gives them.
const ARCHIVE: [(&str, usize, u64); 8] = [
    ("CEA-Curie-2011-2.1-cln", 312_826, 93_312),
    ("DAS2-fs1-2003-1", 40_315, 64),
    ("HPC2N-2002-2.2-cln", 202_871, 240),
    ("KTH-SP2-1996-2.1-cln", 28_476, 100),
    ("SDSC-BLUE-2000-4.2-cln", 243_306, 1_152),
    ("SDSC-DS-2004-2.1-cln", 96_069, 1_664),
    ("SDSC-Par-1996-3.1-cln", 32_135, 400),
    ("SDSC-SP2-1998-4.2-cln", 59_715, 128),
];

#[test]
fn logs_of_the_archive_are_read_whole() {
    let Some(directory) = std::env::var_os("QUEUECAST_TRACES").map(PathBuf::from) else {
        eprintln!("SKIPPED: set QUEUECAST_TRACES to a folder of logs of the Parallel Workloads Archive (NAME.swf.xz)");
        return;
    };
    for (name, jobs, processors) in ARCHIVE {
        let path = directory.join(format!("{name}.swf.xz"));
        let Ok(file) = std::fs::File::open(&path) else {
            eprintln!("SKIPPED: {} is not there", path.display());
            continue;
        };
        let log = Reader::detecting_compression(file).unwrap().into_log().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((log.records.len(), log.header.max_processors()), (jobs, Some(processors)), "{name}");
        let mut text = Vec::new();
        swf::write(&mut text, &log.header, &log.records).unwrap();
        assert!(Reader::new(text.as_slice()).unwrap().into_log().unwrap() == log, "{name} is written as it was read");
    }
}
