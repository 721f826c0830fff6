//! Logs are replayed under each scheduler, and what is wrong is told.
#![allow(clippy::unwrap_used)]

mod common;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use common::{Said, Site, said};
use serde_json::Value;
use simulator::lublin::{self, Options};
use simulator::swf::{self, Reader};

/// A folder with a made-up log of 300 jobs on 64 processors.
struct Logs(Site);

impl Logs {
    fn new() -> Self {
        let logs = Self(Site::empty());
        let log = lublin::workload(&Options { jobs: 300, processors: 64, users: 8, ..Options::default() }).unwrap();
        swf::write(fs::File::create(logs.path("model.swf")).unwrap(), &log.header, &log.records).unwrap();
        logs
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Said {
        said(self.0.command(&[&["simulate"], arguments].concat()).current_dir(self.0.path()))
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let said = self.run(&[arguments, &["--format=json"]].concat());
        assert_eq!(said.status, 0, "{}", said.error);
        serde_json::from_str(&said.output).unwrap()
    }

    fn refused(&self, arguments: &[&str]) -> String {
        let said = self.run(arguments);
        assert_eq!((said.status, said.output.as_str()), (2, ""), "{}", said.error);
        said.error
    }
}

#[test]
fn jobs_larger_than_the_machine_are_counted_and_told() {
    let logs = Logs::new();
    assert_eq!(logs.run(&["model.swf"]).error, "");
    let said = logs.run(&["model.swf", "--processors=4", "--format=json"]);
    let told = said.error.strip_prefix("queuecast: model.swf: ").unwrap();
    let (records, what) = told.trim_end().split_once(" records ").unwrap();
    assert_eq!(what, "of jobs larger than the machine of 4 processors, which run on all of it");
    let records: u64 = records.parse().unwrap();
    assert!(records > 0 && records < 300, "{records}");
    let report: Value = serde_json::from_str(&said.output).unwrap();
    assert_eq!(report["remarks"][0], serde_json::json!({ "records": records, "what": what }));
}

/// Log, processors; jobs simulated and counted; mean wait and response in minutes, mean bounded
/// slowdown: as the Python Scheduler Simulator (PySS, Hebrew University) has them under EASY.
const REFERENCE: [(&str, u32, u64, u64, [&str; 3]); 6] = [
    ("CEA-Curie-2011-2.1-cln", 93_312, 301_376, 298_289, ["23.283481", "129.337927", "18.518778"]),
    ("HPC2N-2002-2.2-cln", 240, 202_871, 200_840, ["185.921917", "470.160066", "88.660368"]),
    ("KTH-SP2-1996-2.1-cln", 100, 28_473, 28_188, ["115.553486", "264.303869", "93.189357"]),
    ("SDSC-BLUE-2000-4.2-cln", 1_152, 223_790, 221_513, ["128.725387", "201.816896", "35.859286"]),
    ("SDSC-DS-2004-2.1-cln", 1_664, 96_069, 95_103, ["78.264828", "188.739640", "54.430432"]),
    ("SDSC-SP2-1998-4.2-cln", 128, 54_034, 53_474, ["346.902124", "469.241142", "89.246187"]),
];

#[test]
fn easy_has_the_means_of_the_reference_to_six_digits() {
    let Some(folder) = std::env::var_os("QUEUECAST_TRACES") else {
        println!("left out: QUEUECAST_TRACES names no directory of workload logs");
        return;
    };
    let logs = Logs::new();
    for (name, processors, simulated, counted, means) in REFERENCE {
        let path = Path::new(&folder).join(format!("{name}.swf.xz"));
        if !path.exists() {
            println!("left out: {} is not there", path.display());
            continue;
        }
        let report = logs.json(&[path.to_str().unwrap(), "--scheduler=easy", "--processors", &processors.to_string()]);
        let figure = |key: &str, unit: f64| format!("{:.6}", report[key].as_f64().unwrap() / unit);
        let found = [figure("mean_wait_s", 60.0), figure("mean_response_s", 60.0), figure("mean_bounded_slowdown", 1.0)];
        assert_eq!(found, means, "{name}");
        assert_eq!((report["jobs_simulated"].as_u64(), report["jobs_counted"].as_u64()), (Some(simulated), Some(counted)), "{name}");
    }
}

#[test]
fn every_scheduler_runs_every_job_and_backfilling_does_not_lengthen_the_mean_wait() {
    let logs = Logs::new();
    let waits = ["fcfs", "easy", "conservative", "slurm"].map(|scheduler| {
        let report = logs.json(&["model.swf", "--scheduler", scheduler]);
        for key in ["jobs_simulated", "jobs_counted", "mean_response_s", "mean_bounded_slowdown", "utilisation", "makespan_s", "wall_s"] {
            assert!(report[key].as_f64().is_some_and(|figure| figure > 0.0), "{scheduler}: {key}");
        }
        assert_eq!(report["all"]["jobs"], 300);
        report["all"]["wait_s"]["mean"].as_f64().unwrap()
    });
    assert!(waits[1] < waits[0] && waits[2] < waits[0], "{waits:?}");
}

#[test]
fn the_same_options_give_the_same_figures() {
    let logs = Logs::new();
    let figures = || {
        let mut report = logs.json(&["model.swf", "--scheduler=easy", "--estimates=last-two", "--candidates=shortest"]);
        report.as_object_mut().unwrap().remove("wall_s");
        report
    };
    assert_eq!(figures(), figures());
}

#[test]
fn the_report_names_what_it_shows() {
    let said = Logs::new().run(&["model.swf", "--scheduler=conservative", "--from=11", "--to=200"]);
    assert_eq!(said.status, 0, "{}", said.error);
    for text in ["model.swf under conservative", "64 processors", "mean wait", "By size", "By user", "p95"] {
        assert!(said.output.contains(text), "{text}: {}", said.output);
    }
}

#[test]
fn means_of_few_jobs_are_said_to_be_over_all_of_them() {
    // The only job ends after the last submission, which is its own.
    let said = Logs::new().run(&["model.swf", "--to=1"]);
    assert_eq!(said.status, 0, "{}", said.error);
    assert!(said.output.contains("1 simulated, the means are over all of them"), "{}", said.output);
    let mean = said.output.lines().find(|line| line.starts_with("mean wait")).unwrap();
    assert!(mean.ends_with(" 0.0 min"), "{mean}");
}

#[test]
fn a_policy_in_front_changes_jobs_only_where_it_is_adopted() {
    let logs = Logs::new();
    let response = |arguments: &[&str]| logs.json(&[&["model.swf"], arguments].concat())["all"]["response_s"]["mean"].as_f64().unwrap();
    let as_submitted = response(&[]);
    assert_eq!(response(&["--policy=molding", "--adoption=0"]), as_submitted);
    for policy in ["molding", "paper-molding", "paper-deferral"] {
        assert_ne!(response(&["--policy", policy]), as_submitted, "{policy}");
    }
    assert!(logs.refused(&["model.swf", "--adoption=2"]).contains("from 0 to 1"));
}

#[test]
fn a_block_keeps_its_processors_from_jobs() {
    let logs = Logs::new();
    let wait = |arguments: &[&str]| logs.json(&[&["model.swf"], arguments].concat())["all"]["wait_s"]["mean"].as_f64().unwrap();
    assert!(wait(&["--block=0-200h:60"]) > wait(&[]));
}

#[test]
fn slurms_settings_are_read_from_its_configuration() {
    let logs = Logs::new();
    fs::write(logs.path("slurm.conf"), "PriorityWeightAge=1000\nPriorityWeightJobSize=500\nSchedulerParameters=bf_interval=60\n").unwrap();
    let report = logs.json(&["model.swf", "--scheduler=slurm", "--slurm-conf=slurm.conf"]);
    assert_eq!(report["scheduler"], "slurm");
    let error = logs.refused(&["model.swf", "--scheduler=slurm", "--slurm-parameters=bf_nonsense=1"]);
    assert!(error.contains("bf_nonsense"), "{error}");
}

#[test]
fn a_schedule_can_be_read_again() {
    let logs = Logs::new();
    logs.json(&["model.swf", "--write-swf=schedule.swf", "--write-batsim=batsim"]);
    let schedule = Reader::new(fs::read(logs.path("schedule.swf")).unwrap().as_slice()).unwrap().into_log().unwrap();
    assert!(schedule.records.len() == 300 && schedule.records.iter().all(|record| record.wait_time_seconds.is_some()));
    let jobs = fs::read_to_string(logs.path("batsim/jobs.csv")).unwrap();
    assert_eq!(jobs.lines().count(), 301);
    let schedule: Value = serde_json::from_slice(&fs::read(logs.path("batsim/schedule.json")).unwrap()).unwrap();
    assert_eq!(schedule["nb_jobs"], 300);
}

#[test]
fn pictures_are_drawn_as_svg_and_png() {
    let logs = Logs::new();
    logs.json(&["model.swf", "--plot=model.svg", "--window=0-24h"]);
    let svg = fs::read_to_string(logs.path("model.svg")).unwrap();
    for text in ["Utilisation, easy", "jobs waiting", "Wait by job size", "Slowdown", "Jobs on the machine from hour 0 to 24"] {
        assert!(svg.contains(text), "{text}");
    }
    logs.json(&["model.swf", "--plot=model.png"]);
    assert!(fs::read(logs.path("model.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn what_can_not_be_replayed_is_told_with_what_to_do() {
    let logs = Logs::new();
    fs::write(logs.path("headless.swf"), "1 0 5 60 4 -1 -1 4 90 -1 1 3 1 -1 1 -1 -1 -1\n").unwrap();
    assert!(logs.refused(&["headless.swf"]).contains("--processors"));
    fs::write(logs.path("broken.swf"), "1 0 5 sixty 4 -1 -1 4 90 -1 1 3 1 -1 1 -1 -1 -1\n").unwrap();
    assert!(logs.refused(&["broken.swf", "--processors=8"]).contains("line 1: field 4 (run time)"));
    assert!(logs.refused(&["nowhere.swf"]).contains("nowhere.swf"));
    assert!(logs.refused(&["model.swf", "--from=301"]).contains("--from"));
    assert!(logs.refused(&["model.swf", "--block=5"]).contains("24h-2d:64"));
    assert!(logs.refused(&["model.swf", "--plot=waits.pdf"]).contains(".svg or .png"));
}

/// The made-up log with the defects of logs as they are: exit codes in the field of the status, as
/// in the log of Sandia's Ross, more fields than the format has, tabs, other line ends, and no
/// header.
fn with_defects(logs: &Logs, further: &str) -> String {
    let model = fs::read_to_string(logs.path("model.swf")).unwrap();
    let jobs = model.lines().filter(|line| !line.starts_with(';')).enumerate().map(|(place, line)| {
        let mut fields: Vec<&str> = line.split(' ').collect();
        if place % 10 == 0 {
            fields[10] = "265";
        }
        if place % 100 == 0 {
            fields.push("0.5");
        }
        fields.join("\t")
    });
    jobs.chain([further.to_owned()]).collect::<Vec<_>>().join("\r\n")
}

#[test]
fn a_log_with_defects_is_replayed_as_it_would_be_without_and_they_are_told_once_at_the_end() {
    let logs = Logs::new();
    fs::write(logs.path("defects.swf"), with_defects(&logs, "")).unwrap();
    let without = logs.json(&["model.swf", "--processors=64"]);
    let said = logs.run(&["defects.swf", "--processors=64", "--format=json"]);
    assert_eq!(
        said.error,
        "queuecast: defects.swf: 30 records with an undefined status\n\
         queuecast: defects.swf: 3 records with more than 18 fields, of which the first 18 were read\n"
    );
    let with: Value = serde_json::from_str(&said.output).unwrap();
    assert_eq!(with["mean_wait_s"], without["mean_wait_s"]);
    assert_eq!((&without["remarks"], with["remarks"][0]["records"].as_u64()), (&Value::Array(Vec::new()), Some(30)));
    assert!(logs.refused(&["defects.swf"]).contains("--processors"));
}

#[test]
fn lines_that_cannot_be_read_end_the_replay_or_are_left_out_and_counted() {
    let logs = Logs::new();
    let log = with_defects(&logs, "301 9 two-hours 60 4 -1 -1 4 90 -1 1 3 1 -1 1 -1 -1 -1\n302 9 5");
    fs::write(logs.path("defects.swf"), log).unwrap();
    let error = logs.refused(&["defects.swf", "--processors=64"]);
    assert!(error.contains("defects.swf: line 301: field 3 (wait time): \"two-hours\" is not a whole number"), "{error}");
    assert!(error.contains("--bad-lines leave-out"), "{error}");
    let said = logs.run(&["defects.swf", "--processors=64", "--bad-lines=leave-out"]);
    assert_eq!(said.status, 0, "{}", said.error);
    assert!(
        said.error.starts_with("queuecast: defects.swf: 2 records that can't be read, left out; the first: line 301: field 3"),
        "{}",
        said.error
    );
}

#[test]
fn what_sacct_printed_is_replayed_as_the_log_of_the_same_jobs() {
    let logs = Logs::new();
    let model = Reader::new(fs::read(logs.path("model.swf")).unwrap().as_slice()).unwrap().into_log().unwrap();
    let mut printed = "JobIDRaw|User|State|Eligible|Start|End|ReqCPUS|AllocTRES|TimelimitRaw\n".to_owned();
    for record in &model.records {
        let submit = 1_700_000_000 + record.submit_time_seconds.unwrap();
        let (run, cpus) = (record.run_time_seconds.unwrap(), record.allocated_processors.unwrap());
        // Slurm's limits are whole minutes, and so are the model's.
        let limit = record.requested_time_seconds.unwrap() / 60;
        let _ = writeln!(
            printed,
            "{}|u{}|COMPLETED|{submit}|{submit}|{}|{cpus}|cpu={cpus}|{limit}",
            record.job_number,
            record.user.unwrap(),
            submit + run
        );
    }
    fs::write(logs.path("past.txt"), printed).unwrap();
    let arguments = ["--processors=64", "--bad-records=leave-out"];
    let [of_sacct, of_log] = ["past.txt", "model.swf"].map(|log| logs.json(&[&[log], &arguments[..]].concat()));
    for figure in ["jobs_simulated", "mean_wait_s", "mean_response_s", "utilisation"] {
        assert_eq!(of_sacct[figure], of_log[figure], "{figure}");
    }
}

#[test]
fn what_the_simulation_does_not_have_of_slurm_conf_is_told_line_by_line_and_left_out() {
    let logs = Logs::new();
    let write = |parameters: &str| {
        let text = format!(
            "SchedulerParameters={parameters}\nPriorityType=priority/multifactor\nPriorityFlags=MAX_TRES\nPreemptType=preempt/qos\n"
        );
        fs::write(logs.path("slurm.conf"), text).unwrap();
    };
    write("max_rpc_cnt=150,bf_window=60,bf_max_job_user=20");
    let arguments = ["model.swf", "--scheduler=slurm", "--slurm-conf=slurm.conf"];
    let said = logs.run(&[&arguments[..], &["--format=json"]].concat());
    assert_eq!(said.status, 0, "{}", said.error);
    let of = [
        "PreemptType=preempt/qos",
        "SchedulerParameters=max_rpc_cnt=150",
        "SchedulerParameters=bf_max_job_user=20",
        "PriorityFlags=MAX_TRES",
    ];
    let lines: String = of.iter().map(|parameter| format!("queuecast: the simulation has no {parameter}, and goes without it\n")).collect();
    assert_eq!(said.error, lines);
    let report: Value = serde_json::from_str(&said.output).unwrap();
    assert_eq!(report["not_modelled"], serde_json::json!(of));
    assert!(logs.refused(&["model.swf", "--scheduler=slurm", "--slurm-parameters=bf_widow=60"]).contains("bf_widow"));
    assert!(logs.refused(&["model.swf", "--scheduler=slurm", "--slurm-parameters=bf_window=86400"]).contains("1 to 43200"));
}

/// The same settings as slurmctld takes them: plain, continued, quoted, in ISO-8859-1, included.
const SAME_SETTINGS: [&[u8]; 5] = [
    b"ClusterName=x\nSchedulerParameters=bf_window=60,bf_interval=600\nPriorityWeightAge=1000\nPriorityFavorSmall=yes\nPriorityWeightJobSize=5000\n",
    b"ClusterName=x\nSchedulerParameters=bf_window=60,\\\nbf_interval=600\nPriorityWeightAge=1000\nPriorityFavorSmall=true\nPriorityWeightJobSize=5000\n",
    b"ClusterName=x\nSchedulerParameters=\"bf_window=60,bf_interval=600\"\nPriorityWeightAge=1000\nPriorityFavorSmall=up\nPriorityWeightJobSize=5000\n",
    b"# f\xfcr die Warteschlange\nClusterName=x\nSchedulerParameters=bf_window=60,bf_interval=600\nPriorityWeightAge=0x3e8\nPriorityFavorSmall=1\nPriorityWeightJobSize=5000\nPriorityFlags=FAIR_TREE\n",
    b"ClusterName=x\nInclude %c-more.conf\n",
];

#[test]
fn slurm_conf_is_read_as_slurmctld_reads_it() {
    let logs = Logs::new();
    fs::write(logs.path("x-more.conf"), SAME_SETTINGS[0]).unwrap();
    let arguments = ["model.swf", "--scheduler=slurm", "--slurm-conf=slurm.conf", "--format=json"];
    let figures = |text: &[u8]| {
        fs::write(logs.path("slurm.conf"), text).unwrap();
        let said = logs.run(&arguments);
        assert_eq!(said.status, 0, "{}", said.error);
        let report: Value = serde_json::from_str(&said.output).unwrap();
        (report["all"].clone(), said.error)
    };
    let plain = figures(SAME_SETTINGS[0]);
    assert_eq!(plain.1, "");
    for text in SAME_SETTINGS {
        assert_eq!(figures(text), plain, "{}", String::from_utf8_lossy(text));
    }
    assert_ne!(figures(b"ClusterName=x\n").0, plain.0);
}

#[test]
fn a_value_that_slurm_does_not_take_and_a_file_that_is_not_there_are_told_and_end_no_answer() {
    let logs = Logs::new();
    let text = "Include gone.conf\nSchedulerParameters=bf_window=86400,bf_interval=60\nPriorityMaxAge=old\n";
    fs::write(logs.path("slurm.conf"), text).unwrap();
    let said = logs.run(&["model.swf", "--scheduler=slurm", "--slurm-conf=slurm.conf", "--format=json"]);
    assert_eq!(said.status, 0, "{}", said.error);
    let report: Value = serde_json::from_str(&said.output).unwrap();
    let told: Vec<&str> = report["not_modelled"].as_array().unwrap().iter().map(|told| told.as_str().unwrap()).collect();
    assert!(told[0].starts_with("gone.conf: No such file or directory"), "{told:?}");
    assert!(told[1].starts_with("Slurm does not take bf_window=86400 (it has to be from 1 to 43200)"), "{told:?}");
    assert!(told[2].starts_with("slurmctld does not take PriorityMaxAge=old"), "{told:?}");
    assert_eq!((told.len(), said.error.lines().count()), (3, 3));
    fs::write(logs.path("slurm.conf"), "1 0 1 100 4\n").unwrap();
    assert!(logs.refused(&["model.swf", "--slurm-conf=slurm.conf"]).contains("is this a slurm.conf"));
}
