//! Command lines of sbatch as jobs.

#![allow(clippy::unwrap_used, clippy::panic)]

use job_types::number::UserId;
use job_types::time::UnixTime;
use proptest::prelude::*;
use rules_compiler::command_line::{self, CommandLineError, Origin, PluginOption, Release, Setting, Takes};
use rules_compiler::described::DescribedJob;
use rules_compiler::modification;
use site_rules::field::{FIELDS, FieldNumber, Fields, Name};

/// 2026-11-23 09:00 UTC.
const NOW: i64 = 1_795_424_400;

fn setting() -> Setting {
    Setting {
        release: Release::LAST,
        now: UnixTime(NOW),
        zone: jiff::tz::TimeZone::UTC,
        user: UserId(1000),
        directory: "/home/ada".to_owned(),
        environment: [("LANG".to_owned(), "C".to_owned())].into(),
    }
}

fn parse(line: &str) -> Result<DescribedJob, CommandLineError> {
    let script = "#!/bin/sh\n#SBATCH -p short --comment='of the script'\n#SBATCH --mem=4G\nsrun hostname\n";
    command_line::parse(line, &setting(), |name| (name == "job.sh").then(|| script.to_owned()))
}

fn read(job: &DescribedJob, name: Name) -> Option<String> {
    job.field(FieldNumber::from(name)).map(|value| value.to_string())
}

#[test]
fn an_empty_text_is_no_text_as_in_the_plugin() {
    let job = parse("sbatch -A '' --comment= -J '' job.sh").unwrap();
    assert_eq!([Name::Account, Name::Comment].map(|name| read(&job, name)), [None, None]);
    let of_scontrol = ["scontrol", "update", "JobId=12", "Comment=", "Gres="].map(str::to_owned);
    let change = modification::of(&of_scontrol, UnixTime(NOW), &jiff::tz::TimeZone::UTC).unwrap();
    assert_eq!([Name::Comment, Name::TresPerNode].map(|name| read(&change, name)), [None, None]);
}

#[test]
fn options_become_the_fields_that_sbatch_makes_of_them() {
    use Name::*;
    for (line, fields) in [
        (
            "sbatch -p gpu,long -A physics -q high job.sh",
            &[(Partition, "gpu,long"), (Account, "physics"), (Qos, "high"), (JobName, "job.sh")][..],
        ),
        ("sbatch -t 90 --time-min=0:30:30 --wrap hostname", &[(TimeLimit, "5400s"), (TimeMin, "1860s"), (JobName, "wrap")]),
        (
            "sbatch -N2-4 -n8 -c2 --wrap x",
            &[(MinNodes, "2"), (MaxNodes, "4"), (NumTasks, "8"), (MinCpus, "16"), (PnMinCpus, "2"), (Cpus, "16")],
        ),
        ("sbatch -N4 -n2 --wrap x", &[(MinNodes, "2"), (MaxNodes, "2"), (NumTasks, "2")]),
        ("sbatch -N3 --wrap x", &[(MinNodes, "3"), (MaxNodes, "3"), (MinCpus, "3"), (Tasks, "3")]),
        ("sbatch -N2 --ntasks-per-node=4 --wrap x", &[(MinCpus, "8"), (Tasks, "8"), (NtasksPerNode, "4")]),
        ("sbatch -n7 --ntasks-per-node 2 --wrap x", &[(MinNodes, "4"), (NumTasks, "7")]),
        ("sbatch -N1 -B 2:4:1 --wrap x", &[(NumTasks, "8"), (SocketsPerNode, "2"), (CoresPerSocket, "4"), (ThreadsPerCore, "1")]),
        (
            "sbatch --gres=gpu:a100:2,shard:1 -N2 --wrap x",
            &[(Gpus, "4"), (GpusPerNode, "2"), (GpuTypes, "a100"), (TresPerNode, "gres/gpu:a100:2,gres/shard:1")],
        ),
        (
            "sbatch -G8 --cpus-per-gpu=4 --mem-per-gpu=2G --wrap x",
            &[(Gpus, "8"), (Cpus, "32"), (Memory, "17179869184"), (MemPerGpu, "2147483648")],
        ),
        ("sbatch --gpus-per-task=v100:1 -n4 --wrap x", &[(Gpus, "4"), (GpusPerTask, "1"), (GpuTypes, "v100")]),
        ("sbatch --mem=64G -N2 --wrap x", &[(MemoryPerNode, "68719476736"), (Memory, "137438953472"), (MemIsZero, "false")]),
        ("sbatch --mem=0 --wrap x", &[(MemIsZero, "true")]),
        ("sbatch -a 0-99%10 --wrap x", &[(ArrayInx, "0-99%10"), (IsArray, "true"), (ArraySize, "100")]),
        ("sbatch --exclusive --wrap x", &[(Exclusive, "true"), (Shared, "none")]),
        ("sbatch --exclusive=user --wrap x", &[(Exclusive, "false"), (Shared, "user")]),
        ("sbatch -Hs --nice --no-requeue --wrap x", &[(IsHeld, "true"), (Shared, "ok"), (Nice, "100"), (Requeue, "false")]),
        ("sbatch -w n[1-3],m --wrap x", &[(MinNodes, "4"), (ReqNodes, "n[1-3],m")]),
        ("sbatch --begin=now+1hour --deadline=2026-12-01 --wrap x", &[(BeginTime, "@1795428000"), (Deadline, "@1796083200")]),
        (
            "sbatch --signal=B:USR1@120 --switches=1@10:00 --wrap x",
            &[(WarnSignal, "10"), (WarnTime, "120s"), (ReqSwitch, "1"), (Wait4switch, "600s")],
        ),
        ("sbatch --mail-type=END,FAIL --mail-user a@b --wrap x", &[(MailType, "END|FAIL"), (MailUser, "a@b")]),
        ("sbatch -D /data/x -o out/%j --wrap x", &[(WorkDir, "/data/x"), (StdOut, "/data/x/out/%j"), (StdIn, "/dev/null")]),
        ("sbatch job.sh one 'two three'", &[(Argc, "3"), (Argv, "job.sh|one|two three"), (Partition, "short"), (Comment, "of the script")]),
        ("sbatch -p gpu --mem=1G job.sh", &[(Partition, "gpu"), (MemoryPerNode, "1073741824"), (ScriptSize, "84")]),
        ("sbatch -t UNLIMITED --wrap x", &[(TimeLimitIsUnlimited, "true")]),
        ("sbatch --ntasks-per-gpu=2 -n8 --wrap x", &[(Gpus, "4"), (HasUntypedGpus, "true")]),
        ("sbatch --part=gpu --wrap x", &[(Partition, "gpu"), (UserId, "1000"), (IsBatch, "true"), (IsInteractive, "false")]),
    ] {
        let job = parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        for (name, value) in fields {
            assert_eq!(read(&job, *name).as_deref(), Some(*value), "{name:?} of {line}");
        }
    }
}

#[test]
fn what_is_not_said_is_absent() {
    let job = parse("sbatch --mem-per-cpu=1G -t 0 --wrap x").unwrap();
    let absent = [Name::MemoryPerNode, Name::TimeLimit, Name::Account, Name::NumTasks, Name::MinNodes, Name::Requeue, Name::GpusPerTask];
    assert_eq!(absent.map(|name| read(&job, name)), absent.map(|_| None));
    assert_eq!((job.variable("LANG"), job.variable("HOME")), (Some("C"), None));
}

#[test]
fn what_is_not_understood_is_an_error_with_its_name() {
    for (line, message) in [
        ("sbatch --partitoin=gpu --wrap x", "the option --partitoin is not known; did you mean --partition?"),
        ("sbatch --xyzzy --wrap x", "the option --xyzzy is not known"),
        ("sbatch -Z --wrap x", "the option -Z is not known"),
        ("sbatch --bbf=file --wrap x", "the option --bbf is not evaluated here"),
        ("sbatch --mem=64G --mem-per-cpu=1G --wrap x", "--mem and --mem-per-cpu exclude each other"),
        ("sbatch --mem-per-cpu=1G job.sh", "--mem and --mem-per-cpu exclude each other"),
        ("sbatch --mem-p=1 --wrap x", "the option --mem-p could be several"),
        ("sbatch --hold=1 --wrap x", "the option --hold takes no value"),
        ("sbatch -p", "the option -p needs a value"),
        ("sbatch -t soon --wrap x", "the option -t does not take \"soon\": it takes a time such as 90 (minutes), 2:00:00 or 1-12:00:00"),
        ("sbatch -n -4 --wrap x", "the option -n does not take \"-4\": it takes a whole number that is not negative"),
        ("sbatch -N 4-2 --wrap x", "the option -N does not take \"4-2\": it takes a number of nodes or a range such as 2-4"),
        ("sbatch", "there is no script: name one, or give --wrap"),
        ("qsub job.sh", "a command line begins with sbatch, salloc or srun, not with \"qsub\""),
        ("sbatch --wrap 'x", "a quotation mark is not closed in \"sbatch --wrap 'x\""),
        ("sbatch a.sh : b.sh", "components of a heterogeneous job are not evaluated here"),
    ] {
        assert_eq!(parse(line).unwrap_err().to_string(), message, "{line}");
    }
}

proptest! {
    #[test]
    fn any_command_line_is_a_job_or_an_error(
        options in prop::collection::vec(
            prop_oneof![
                "-[a-zA-Z]{1,3}[0-9:,x-]{0,8}",
                "--(gres|gpus|mem|time|nodes|signal|array|begin|switches|nodelist|mem-per-gpu|tres-per-task|ntasks)=[a-z0-9\\[\\]:,@=/-]{0,16}",
                ".{0,20}",
            ],
            0..6,
        ),
        script in "(#SBATCH .{0,30}\n){0,3}",
    ) {
        let words: Vec<String> = std::iter::once("sbatch".to_owned()).chain(options).chain(["job.sh".to_owned()]).collect();
        if let Ok(job) = command_line::of(&words, &setting(), |_| Some(script.clone())) {
            for (field, name) in FIELDS.iter().zip(Name::ALL) {
                let value = job.field(FieldNumber::from(*name)).map(|value| value.to_string());
                prop_assert!(value.is_some() || field.may_be_absent || *name == Name::Environment, "{} is absent", field.name);
            }
        }
    }
}

#[test]
fn jobs_of_salloc_and_srun_are_interactive_and_share_the_options_of_sbatch() {
    let job = parse("salloc -p gpu -N2 --gres=gpu:1 -t 30 -I").unwrap();
    let fields =
        [Name::IsBatch, Name::IsInteractive, Name::JobName, Name::Gpus, Name::TimeLimit, Name::Immediate, Name::Script, Name::StdIn];
    let read_of = |job: &DescribedJob| fields.map(|name| read(job, name).unwrap_or_default());
    assert_eq!(read_of(&job), ["false", "true", "interactive", "2", "1800s", "true", "", ""]);
    let job = parse("/usr/bin/srun --pty --mpi=pmix -u -t 30 /bin/hostname -p x").unwrap();
    assert_eq!(read_of(&job), ["false", "true", "hostname", "0", "1800s", "false", "", ""]);
    assert!(read(&job, Name::Partition).is_none());
    assert_eq!(parse("sbatch --pty job.sh").unwrap_err().to_string(), "the option --pty is not known");
}

fn read_by(line: &[&str], environment: &[(&str, &str)], script: &str, name: Name) -> Option<String> {
    let setting =
        Setting { environment: environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(), ..setting() };
    let words: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
    read(&command_line::of(&words, &setting, |_| Some(script.to_owned())).unwrap(), name)
}

#[test]
fn the_environment_wins_over_the_script_and_the_command_line_over_both() {
    let script = "#!/bin/sh\n#SBATCH -p script --exclusive --overcommit --mem=4G\n";
    let environment =
        [("SBATCH_PARTITION", "environment"), ("SBATCH_OVERCOMMIT", "no"), ("SBATCH_TIMELIMIT", "1:00:00"), ("SBATCH_MEM_PER_CPU", "1G")];
    let line = ["sbatch", "-p", "line", "job.sh"];
    let of = |line: &[&str], environment: &[(&str, &str)], name: Name| read_by(line, environment, script, name).unwrap_or_default();
    let partition = [
        of(&["sbatch", "job.sh"], &[], Name::Partition),
        of(&["sbatch", "job.sh"], &environment, Name::Partition),
        of(&line, &environment, Name::Partition),
    ];
    assert_eq!(partition, ["script", "environment", "line"]);
    let overcommit = [of(&line, &[], Name::Overcommit), of(&line, &environment, Name::Overcommit)];
    assert_eq!(overcommit, ["true", "false"]);
    assert_eq!(of(&line, &environment, Name::TimeLimit), "3600s");
    // Memory of the script excludes that of the environment.
    assert_eq!(
        (of(&line, &environment, Name::MemoryPerNode).as_str(), of(&line, &environment, Name::MemoryPerCpu).as_str()),
        ("4294967296", "")
    );
    assert_eq!(of(&line, &[("SBATCH_EXCLUSIVE", "user")], Name::Shared), "user");
    assert_eq!(of(&line, &[("SBATCH_WAIT4SWITCH", "10")], Name::Wait4switch), "600s");
}

#[test]
fn what_is_wrong_in_the_script_or_the_environment_is_told_with_its_place() {
    let error = |environment: &[(&str, &str)], script: &str| {
        let setting = Setting {
            environment: environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..setting()
        };
        command_line::of(&["sbatch".to_owned(), "job.sh".to_owned()], &setting, |_| Some(script.to_owned())).unwrap_err().to_string()
    };
    for (script, message) in [
        ("#!/bin/sh\n\n#SBATCH --partiton=x\n", "line 3 of the script: the option --partiton is not known; did you mean --partition?"),
        (
            "#!/bin/sh\n#SBATCH -N\n#SBATCH x\n",
            "line 2 of the script: the option -N does not take \"x\": it takes a number of nodes or a range such as 2-4",
        ),
        ("#!/bin/sh\n#SBATCH foo\n", "line 2 of the script: \"foo\" is no option"),
        (
            "#!/bin/sh\n#SBATCH -t 2h\n",
            "line 2 of the script: the option -t does not take \"2h\": it takes a time such as 90 (minutes), 2:00:00 or 1-12:00:00",
        ),
        ("#!/bin/sh\n#SBATCH hetjob\n", "line 2 of the script: components of a heterogeneous job are not evaluated here"),
        (
            "#!/bin/sh\n#PBS -l nodes=2\n",
            "line 2 of the script: sbatch translates #PBS and #BSUB lines, which is not done here; with --ignore-pbs it passes over them",
        ),
    ] {
        assert_eq!(error(&[], script), message);
    }
    let said = error(&[("SBATCH_TIMELIMIT", "soon")], "#!/bin/sh\n");
    assert!(said.starts_with("SBATCH_TIMELIMIT in the environment: the option --time does not take \"soon\""), "{said}");
}

#[test]
fn options_of_plugins_and_what_is_not_evaluated_are_passed_on() {
    let plugins =
        [("auto-mold", Takes::Nothing), ("reserve-at", Takes::Value)].map(|(name, takes)| PluginOption { name: name.to_owned(), takes });
    let words = ["--res", "now"].map(str::to_owned);
    let script = "#!/bin/sh\n#SBATCH --auto-mold -N4\n";
    let with = |words: &[String]| command_line::sbatch(words, &setting(), &plugins, |_| Some(script.to_owned()));
    assert!(matches!(with(&words).unwrap_err(), CommandLineError::AmbiguousOption(_)), "--reservation and others begin so as well");
    let words = ["--reserve-a", "now", "-N2", "--bbf=file", "job.sh"].map(str::to_owned);
    let read_of = with(&words).unwrap();
    let given: Vec<_> =
        read_of.given.iter().map(|given| (given.name.as_str(), given.value.as_deref(), given.origin, given.is_of_plugin())).collect();
    let expected = [
        ("auto-mold", None, Origin::Script(2), true),
        ("nodes", Some("4"), Origin::Script(2), false),
        ("reserve-at", Some("now"), Origin::CommandLine, true),
        ("nodes", Some("2"), Origin::CommandLine, false),
        ("bbf", Some("file"), Origin::CommandLine, false),
    ];
    assert_eq!(given, expected);
    assert_eq!(read(&read_of.job, Name::MinNodes).as_deref(), Some("2"));
    // Without a script there is nothing that it could say.
    assert_eq!(read(&with(&["-n3".to_owned()]).unwrap().job, Name::NumTasks).as_deref(), Some("3"));
}

/// What the sbatch of each release makes of one command line; `tests/tests/lua.rs` holds more lines
/// against the real ones.
#[test]
fn a_command_line_is_read_as_the_sbatch_of_its_release_reads_it() {
    let with = |release: &str, line: &str| {
        let setting = Setting { release: release.parse().unwrap(), ..setting() };
        command_line::parse(line, &setting, |_| None)
    };
    for (line, name, expected) in [
        ("sbatch -N2 --ntasks-per-node=4 --wrap x", Name::NumTasks, [Some("8"), None, None]),
        ("sbatch -n7 --ntasks-per-node=2 --wrap x", Name::MinNodes, [None, Some("4"), Some("4")]),
        ("sbatch -N2 --gpus-per-task=1 --wrap x", Name::NumTasks, [Some("2"); 3]),
        ("sbatch -G8 --gpus-per-task=2 --wrap x", Name::NumTasks, [Some("4"); 3]),
        ("sbatch -G8 --gpus-per-task=2 --wrap x", Name::TresBind, [None, Some("gres/gpu:per_task:2"), Some("gres/gpu:per_task:2")]),
        ("sbatch -G8 --gpus-per-task=2 --gpu-bind=closest --wrap x", Name::TresBind, [Some("gres/gpu:closest"); 3]),
        ("sbatch -G4 --ntasks-per-gpu=2 --wrap x", Name::NumTasks, [Some("8"); 3]),
        ("sbatch --gpus=4 --gpus-per-node=2 --wrap x", Name::MaxNodes, [Some("2"); 3]),
        ("sbatch -G8 --cpus-per-gpu=4 --wrap x", Name::MinCpus, [Some("1"), Some("32"), Some("32")]),
        ("sbatch -G4 --gpus-per-task=1 -c3 --wrap x", Name::MinCpus, [Some("3"), Some("3"), Some("12")]),
        ("sbatch -N2 --threads-per-core=2 --wrap x", Name::NumTasks, [Some("4"); 3]),
        ("sbatch --threads-per-core=2 --wrap x", Name::NumTasks, [None; 3]),
        ("sbatch -B 1:2:1 --wrap x", Name::NumTasks, [Some("2"); 3]),
    ] {
        let read = ["22.05", "24.11", "26.05"].map(|release| read(&with(release, line).unwrap(), name));
        assert_eq!(read, expected.map(|value| value.map(str::to_owned)), "{name:?} of {line}");
    }
    let refused = |release: &str, line: &str| with(release, line).err().map(|error| error.to_string());
    assert_eq!(
        refused("22.05", "sbatch --tres-per-task=cpu=2 --wrap x").as_deref(),
        Some("sbatch of Slurm 22.05 has no option --tres-per-task")
    );
    assert_eq!(refused("26.05", "sbatch --tres-per-task=cpu=2 -n1 --wrap x"), None);
    assert_eq!(
        refused("24.11", "sbatch -G3 --gpus-per-task=2 --wrap x").as_deref(),
        Some("sbatch refuses this: 3 gpus can't be divided into parts of 2")
    );
}
