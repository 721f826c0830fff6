//! Command lines of sbatch as `rules_compiler::command_line` reads them, beside what the plugin
//! gets of them from the real sbatch of the release.

use end_to_end::{Cluster, built};
use job_types::number::UserId;
use job_types::time::UnixTime;
use rules_compiler::command_line::{self, Release, Setting, sbatch_options};
use site_rules::field::{FIELDS, FieldNumber, Fields, Name};
use site_rules::resources;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The command lines that are held against what the real sbatch makes of them, each with the first
/// release whose sbatch takes it.
const COMMAND_LINES: &[(&str, &[&str])] = &[
    (
        "22.05",
        &[
            "--wrap true",
            "-p main -A main -t 90 --time-min=30 --wrap true",
            "-p absent,main --qos=absent -J name --comment='two words' --wrap true",
            "-N2 --wrap true",
            "-N2-4 -n8 -c2 --wrap true",
            "-N4 -n2 --wrap true",
            "-N1-2 -n1 --wrap true",
            "-N2 --ntasks-per-node=4 --wrap true",
            "-N1-2 --ntasks-per-node=4 -c2 --wrap true",
            "--ntasks-per-node=4 -c2 --wrap true",
            "-n7 --ntasks-per-node=2 --wrap true",
            "-N2 --tasks-per-node=3 -O --wrap true",
            "-n4 --mem-per-cpu=2G --tmp=10G --mincpus=2 --wrap true",
            "--mem=1536M --exclusive --wrap true",
            "--mem=0 --exclusive=user --no-requeue --wrap true",
            "--gres=gpu:v100:1 --wrap true",
            "--gres=none --wrap true",
            "--gres=gpu:2 -N2 --wrap true",
            "--gres=gpu:2 --gres-flags=enforce-binding --wrap true",
            "-G2 --cpus-per-gpu=2 --mem-per-gpu=1G --wrap true",
            "-G2 --gpus-per-task=1 --cpus-per-gpu=3 --wrap true",
            "-G v100:2 --gpu-bind=closest --gpu-freq=medium --wrap true",
            "--gpus-per-node=v100:1 -N1 --wrap true",
            "--gpus=4 --gpus-per-node=2 --wrap true",
            "--gpus=4 --gpus-per-node=2 -N1-3 --wrap true",
            "--gpus-per-task=1 -n2 --wrap true",
            "-N2 --gpus-per-task=1 --wrap true",
            "-N2 --gpus-per-task=1 -c2 -n2 --wrap true",
            "-N2 --gpus-per-task=1 --ntasks-per-node=2 --wrap true",
            "-G8 --gpus-per-task=2 --wrap true",
            "--gpus-per-node=4 --gpus-per-task=2 -N2 --wrap true",
            "--gpus-per-socket=1 --sockets-per-node=2 -N2 --wrap true",
            "--gpus-per-socket=1 --sockets-per-node=2 --gpus-per-node=2 -N1 --wrap true",
            "--gpus-per-socket=2 --gpus-per-task=1 --sockets-per-node=1 -n2 --ntasks-per-socket=2 --wrap true",
            "-n2 --ntasks-per-gpu=1 --wrap true",
            "-G4 --ntasks-per-gpu=2 --wrap true",
            "-N2 --ntasks-per-gpu=2 --gpus-per-node=1 --wrap true",
            "-N2 --ntasks-per-gpu=2 --wrap true",
            "-G2 -N1-4 --wrap true",
            "-a 0-9%2 -H --nice=50 --requeue --open-mode=append --wrap true",
            "--nice --priority=5 --open-mode=truncate --wrap true",
            "-d singleton -C absent -L absent:2 --begin=2035-01-01 --deadline=2036-01-01 --wrap true",
            "--dependency=afterok:1 --prefer=absent --cluster-constraint=absent --wrap true",
            "-w n[1-2] -x n3 --contiguous -O -s --wrap true",
            "-w n[1-2] -m arbitrary --wrap true",
            "--mail-type=END,FAIL --mail-user=somebody --signal=B:USR1@120 --switches=1@10 --wrap true",
            "--mail-type=ALL --signal=10 --switches=2 --wrap true",
            "-t UNLIMITED -B 1:2:1 -N1 -m block:cyclic --profile=task --wckey=absent --wrap true",
            "-B 2:*:1 --wrap true",
            "-N2 --sockets-per-node=1 --cores-per-socket=2 --wrap true",
            "--threads-per-core=2 --wrap true",
            "-N2 --threads-per-core=2 --ntasks-per-core=1 --wrap true",
            "--cores-per-socket=2 --ntasks-per-socket=1 --wrap true",
            "-n4 --ntasks-per-socket=2 --ntasks-per-core=1 --wrap true",
            "-N2 --hint=nomultithread --wrap true",
            "--hint=memory_bound --wrap true",
            "--hint=compute_bound -N2 --wrap true",
            "--hint=multithread --wrap true",
            "--hint=nomultithread --threads-per-core=2 --wrap true",
            "--hint=memory_bound --cores-per-socket=2 --wrap true",
            "--reservation=absent --spread-job --kill-on-invalid-dep=yes --wait-all-nodes=1 -k -S1 --wrap true",
            "--kill-on-invalid-dep=no --no-kill=off --thread-spec=1 --use-min-nodes --wrap true",
            "-D /tmp -o out -e /tmp/err -i /dev/zero --network=x --acctg-freq=30 --wrap true",
            "-m plane=2 -n4 --distribution=plane=4 --wrap true",
            "-m cyclic:block,NoPack -n4 --wrap true",
            "--cpu-freq=low --wrap true",
            "--cpu-freq=1000000-high:ondemand --wrap true",
            "--cpu-freq=performance --wrap true",
            "--batch=absent --bb=absent --container=/absent --mcs-label=absent --reboot --wrap true",
            "--delay-boot=10 --export=NONE --get-user-env --ignore-pbs --propagate=NONE --quiet --wrap true",
            "--mem-bind=map_mem:0 --parsable --test-only --wrap true",
            "--uid=0 --gid=0 --verbose --wrap true",
            "--exclusive=mcs --no-kill --wrap true",
            "--oversubscribe --wrap true",
            "--ntasks-per-tres=2 -G1 --wrap true",
            "--clusters=queuecast -G4 --ntasks-per-gpu=2 --wrap true",
            "--cluster=queuecast --wait -C absent --export-file=/dev/null --wrap true",
        ],
    ),
    (
        "23.02",
        &[
            "--tres-per-task=gres/gpu=1 -n2 --wrap true",
            "--container-id=absent --extra=some --wrap true",
            "-N2,4 --wrap true",
            "-w n[1-2] -N1 --wrap true",
            "-N2-8:2 -n8 --wrap true",
            "-N1-3,5 --wrap true",
        ],
    ),
    (
        "24.11",
        &[
            "--tres-per-task=cpu=3 -n2 --wrap true",
            "--tres-per-task=cpu=2,gres/gpu:v100=1 -N2 -n4 --wrap true",
            "--tres-per-task=license/absent=1 -n2 -c2 --wrap true",
            "-N2 -c3 --wrap true",
            "--gpus-per-task=v100:1,a100:1 -n2 --wrap true",
            "--oom-kill-step --wrap true",
            "--oom-kill-step=0 --segment=1 -N2 --wrap true",
            "--tres-bind=gres/gpu:closest -G1 --wrap true",
        ],
    ),
    ("26.05", &["--mem-update=10@5 --wrap true", "-L a:1 --resources=b:1 --wrap true", "--container-type=absent --wrap true"]),
];

/// Scripts with variables before `sbatch` and options behind it, held against the same.
const SCRIPTS: &[(&str, &str, &str)] = &[
    ("#!/bin/sh\n#SBATCH -p main -N2-4 # a note\n#SBATCH --comment='two # words' -J a\\#b\ntrue\n#SBATCH -n 9\n", "", "-t 20"),
    ("#!/bin/sh\n#SBATCH -p absent --exclusive --mem=1G\n", "SBATCH_PARTITION=main SBATCH_EXCLUSIVE=user SBATCH_MEM_PER_CPU=1G", ""),
    ("#!/bin/sh\n\n#SLURM -n 2\n #SBATCH -n 3\n#SBATCH-c 2\n", "SBATCH_TIMELIMIT=1:00:00 SBATCH_REQ_SWITCH=1 SBATCH_WAIT4SWITCH=5", "-c 1"),
    ("#!/bin/sh\n#SBATCH -N\n#SBATCH 3 --no-requeue\n#SBATCH --gres=gpu:1 -O\n", "SBATCH_GRES=gpu:v100:1 SBATCH_OVERCOMMIT=no", "-n3"),
    ("#!/bin/sh\n#SBATCH --comment \"\" -n 4\n#SBATCH --comment=\"it's \\\"so\\\"\"\n", "", ""),
];

/// Command lines that sbatch refuses before anything is sent, in each release.
const REFUSED: &[&str] = &[
    "--gpus=4 --gpus-per-node=3 --wrap true",
    "--gpus=2 --gpus-per-task=4 --wrap true",
    "--gpus-per-task=1 --wrap true",
    "--ntasks-per-gpu=2 --wrap true",
    "-G3 --gpus-per-task=1 -n2 --wrap true",
    "-n3 --ntasks-per-gpu=2 --wrap true",
    "--mem-per-gpu=1G --wrap true",
    "--gpus-per-socket=1 --wrap true",
    "--mem=1G --mem-per-cpu=1G --wrap true",
    "-G2 --cpus-per-gpu=2 -c2 --wrap true",
    "-G4 --ntasks-per-gpu=2 --ntasks-per-node=2 --wrap true",
    "--core-spec=1 --thread-spec=1 --wrap true",
    "--no-such-option --wrap true",
    "-N4-2 --wrap true",
    "-G1 -N3 --wrap true",
];

/// What only the machine knows, or what the releases of Slurm do differently: what sbatch sends of
/// the environment, and the numbers of sessions and groups.
const NOT_COMPARED: &[Name] =
    &[Name::AllocNode, Name::AllocSid, Name::EnvSize, Name::GroupId, Name::SubmitLine, Name::SpankJobEnv, Name::Bitflags];

/// Refused by slurmctld or not, each command line is seen by the plugin, which records it.
pub(crate) fn what_rules_read_of_a_job_is_what_its_command_line_says(cluster: &Cluster, record: &Path) {
    let plugin = cluster.path("plugins/job_submit_queuecast.so");
    let new = plugin.with_extension("new");
    std::fs::copy(built().join("libjob_submit_panicking.so"), &new).unwrap();
    std::fs::rename(&new, &plugin).unwrap();
    cluster.reconfigure(&["--job-submit-plugin", "queuecast"]);
    let version = cluster.output("sbatch", &["--version"]);
    let release: Release = version.rsplit(' ').next().unwrap().parse().unwrap();
    let setting = Setting {
        release,
        now: UnixTime(end_to_end::now()),
        zone: jiff::tz::TimeZone::system(),
        user: UserId(0),
        directory: cluster.path("log").display().to_string(),
        environment: BTreeMap::new(),
    };
    let scripts = tempfile::tempdir().unwrap();
    let in_script = SCRIPTS.iter().enumerate().map(|(number, (text, variables, options))| {
        let path = scripts.path().join(format!("{number}.sh"));
        std::fs::write(&path, text).unwrap();
        format!("{variables} sbatch {options} {}", path.display())
    });
    let typed = COMMAND_LINES.iter().filter(|(since, _)| since.parse::<Release>().unwrap() <= release).flat_map(|(_, lines)| *lines);
    let mut different = Vec::new();
    for line in typed.map(|line| format!("sbatch {line}")).chain(in_script) {
        let (variables, command) = line.split_at(line.find("sbatch").unwrap());
        let variables = variables.split_whitespace().filter_map(|variable| variable.split_once('='));
        let environment = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let setting = Setting { environment, ..setting.clone() };
        let (recorded, said) = sent(cluster, record, &line);
        let read = command_line::parse(command, &setting, |path| std::fs::read_to_string(path).ok());
        let job = match read {
            _ if recorded.is_empty() => {
                different.push(format!("{line} is refused by sbatch: {said}"));
                continue;
            }
            Err(error) => {
                different.push(format!("{line} is not read: {error}"));
                continue;
            }
            Ok(job) => job,
        };
        let seen: BTreeMap<&str, &str> = recorded.lines().filter_map(|line| line.split_once('=')).collect();
        for (field, name) in FIELDS.iter().zip(Name::ALL).filter(|(_, name)| !NOT_COMPARED.contains(name)) {
            let read = job.field(FieldNumber::from(*name)).map(|value| value.to_string().escape_debug().to_string());
            let seen = seen.get(field.name).map(|value| (*value).to_owned());
            if comparable(*name, read.as_deref()) != comparable(*name, seen.as_deref()) {
                different.push(format!("{} of {line}: read as {read:?}, seen as {seen:?}", field.name));
            }
        }
    }
    for line in REFUSED.iter().map(|line| format!("sbatch {line}")) {
        let (recorded, _) = sent(cluster, record, &line);
        let read = command_line::parse(&line, &setting, |_| None);
        if !recorded.is_empty() || read.is_ok() {
            different.push(format!("{line}: refused by sbatch: {}, by the reader: {}", recorded.is_empty(), read.is_err()));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    every_option_of_sbatch_is_known(&cluster.output("sbatch", &["--help"]), release);
}

/// What the plugin recorded of a command, nothing where it was not asked, and what was said.
fn sent(cluster: &Cluster, record: &Path, line: &str) -> (String, String) {
    std::fs::write(record, "").unwrap();
    let sent = cluster.run("sh", &["-c", line]);
    (std::fs::read_to_string(record).unwrap(), String::from_utf8_lossy(&sent.stderr).into_owned())
}

/// Every option that a release documents is known for it, and every option that says something of
/// a job stands in one of the lines above.
fn every_option_of_sbatch_is_known(help: &str, release: Release) {
    let word = |text: &str| text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-')).next().unwrap_or("").to_owned();
    let of_sbatch = help.split("Options provided by plugins").next().unwrap_or(help);
    let documented: BTreeSet<String> = of_sbatch.split("--").skip(1).map(word).filter(|name| !name.is_empty()).collect();
    let known: Vec<_> = sbatch_options(release).collect();
    // The help of 24.11 still has --power, which its sbatch does not take any more.
    let is_gone = |name: &str| name == "power" && release > "23.11".parse().unwrap();
    let unknown: Vec<&String> =
        documented.iter().filter(|name| !is_gone(name) && !known.iter().any(|option| option.name == **name)).collect();
    assert!(documented.len() > 60 && unknown.is_empty(), "sbatch {release} has these as well: {unknown:?}");
    let typed: Vec<String> = COMMAND_LINES.iter().flat_map(|(_, lines)| *lines).map(|line| format!(" {line}")).collect();
    let untried: Vec<&str> = known
        .iter()
        .filter(|option| {
            let long = format!(" --{}", option.name);
            let is_long = |line: &String| line.match_indices(&long).any(|(at, _)| line[at + long.len()..].starts_with([' ', '=']));
            let is_short = |line: &String| option.letter.is_some_and(|letter| line.contains(&format!(" -{letter}")));
            // How Slurm was built decides about a context, and how it is configured about ports.
            let is_elsewhere = ["context", "resv-ports"].contains(&option.name);
            option.is_evaluated && !is_elsewhere && !typed.iter().any(|line| is_long(line) || is_short(line))
        })
        .map(|option| option.name)
        .collect();
    assert!(untried.is_empty(), "no line has {untried:?}");
}

/// What is compared of a value.
fn comparable(name: Name, value: Option<&str>) -> Option<String> {
    let text = value?;
    // sbatch writes the prefix of its release, and since 23.11 the CPUs of a task as well.
    if matches!(name, Name::TresPerJob | Name::TresPerNode | Name::TresPerSocket | Name::TresPerTask | Name::CpusPerTres | Name::MemPerTres)
    {
        let asked = |resource: resources::Resource<'_>| format!("{}:{}:{}", resource.kind, resource.subtype, resource.count);
        let generic: Vec<String> = resources::all(text).filter(|resource| resource.kind != "cpu").map(asked).collect();
        return (!generic.is_empty()).then(|| generic.join(","));
    }
    // And that of the release before what is bound.
    if name == Name::TresBind {
        let bare = |part: &str| part.strip_prefix("gres/").or(part.strip_prefix("gres:")).unwrap_or(part).to_owned();
        return Some(text.split('+').map(bare).collect::<Vec<_>>().join("+"));
    }
    Some(text.to_owned())
}
