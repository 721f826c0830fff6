//! A job of which options are taken one by one.

use super::given::{Given, Origin};
use super::known::Says;
use super::values::{NodeCounts, cpu_frequency, distribution, mail_types, memory, memory_map, nodes, prefixed, signal, time};
use super::{CommandLineError, Release, Setting, generic_resources, hint, tasks_and_nodes};
use job_types::time::{Seconds, UnixTime};
use site_rules::data::OwnedValue;
use site_rules::field::{Name, PROFILES};
use std::collections::BTreeMap;

/// A job of which options are taken one by one.
pub(super) struct Job<'a> {
    setting: &'a Setting,
    values: BTreeMap<Name, OwnedValue>,
    directory: String,
    paths: BTreeMap<Name, String>,
    pub(super) least_nodes: Option<i64>,
    pub(super) most_nodes: Option<i64>,
    pub(super) gres: Option<String>,
    pub(super) gpus_per_node: Option<String>,
    pub(super) gpus_per_task: Option<String>,
    pub(super) tres_per_task: Option<String>,
    /// Whether `--extra-node-info` says how many sockets, cores or threads a node has.
    pub(super) has_shape: bool,
    resources: Option<String>,
}

impl<'a> Job<'a> {
    pub(super) fn new(setting: &'a Setting) -> Job<'a> {
        let user = OwnedValue::Integer(i64::from(setting.user.0));
        Job {
            setting,
            values: [(Name::UserId, user)].into(),
            directory: setting.directory.clone(),
            paths: [(Name::StdIn, "/dev/null".to_owned())].into(),
            least_nodes: None,
            most_nodes: None,
            gres: None,
            gpus_per_node: None,
            gpus_per_task: None,
            tres_per_task: None,
            has_shape: false,
            resources: None,
        }
    }

    /// Takes options one after the other, each over what was said before.
    ///
    /// # Errors
    /// The first that does not take its value, with the place where it was given.
    pub(super) fn take_all(&mut self, given: &[Given]) -> Result<(), CommandLineError> {
        exclusive(given, self.release())?;
        given.iter().try_for_each(|given| self.take(given).map_err(|error| error.at(given.origin)))?;
        let wrong = |expected| {
            let hint = given.iter().rev().find(|given| given.name == "hint");
            let (option, value) = hint.map(|hint| (hint.written.clone(), hint.value.clone())).unwrap_or_default();
            CommandLineError::WrongValue { option, value: value.unwrap_or_default(), expected }
        };
        hint::take(given, self).map_err(wrong)
    }

    fn take(&mut self, given: &Given) -> Result<(), CommandLineError> {
        let text = given.value.as_deref().unwrap_or_default();
        let wrong = |expected: &str| CommandLineError::WrongValue {
            option: given.written.clone(),
            value: text.to_owned(),
            expected: expected.to_owned(),
        };
        let Some(says) = given.says else { return Ok(()) };
        match says {
            Says::Nothing | Says::Unread => {}
            Says::Text(name) => self.set(name, OwnedValue::Text(text.to_owned())),
            Says::Path(name) => {
                self.paths.insert(name, text.to_owned());
            }
            Says::Number(name) => {
                let number: i64 = text.trim().parse().map_err(|_| wrong("it takes a whole number"))?;
                if number < 0 || number > i64::from(i32::MAX) {
                    return Err(wrong("it takes a whole number that is not negative"));
                }
                self.set(name, OwnedValue::Integer(number));
            }
            Says::Time(name) => {
                let seconds = time(text).flatten().ok_or_else(|| wrong("it takes a time such as 90 (minutes), 2:00:00 or 1-12:00:00"))?;
                let seconds = if name == Name::TimeMin { (seconds + 59) / 60 * 60 } else { seconds };
                self.set(name, OwnedValue::Duration(Seconds(seconds)));
            }
            Says::Moment(name) => {
                let moment = slurm_conf::moment::parse(text, self.setting.now.0, &self.setting.zone);
                let moment = moment.map_err(|error| wrong(&error.to_string()))?;
                self.set(name, OwnedValue::Moment(UnixTime(moment)));
            }
            Says::Memory(name) => {
                let bytes = memory(text).ok_or_else(|| wrong("it takes an amount of memory such as 64G"))?;
                self.set_memory(name, bytes);
            }
            Says::Is(name, truth) => self.set(name, OwnedValue::Truth(truth)),
            Says::Own => self.take_own(&given.name, given.value.as_deref()).map_err(|expected| wrong(&expected))?,
        }
        Ok(())
    }

    /// The release whose program the options are given to.
    pub(super) fn release(&self) -> Release {
        self.setting.release
    }

    /// The value of a field, where the options have said one.
    pub(super) fn value(&self, name: Name) -> Option<&OwnedValue> {
        self.values.get(&name)
    }

    pub(super) fn set(&mut self, name: Name, value: OwnedValue) {
        self.values.insert(name, value);
    }

    pub(super) fn unset(&mut self, name: Name) {
        self.values.remove(&name);
    }

    fn set_memory(&mut self, name: Name, bytes: i64) {
        if name == Name::PnMinTmpDisk {
            if bytes > 0 {
                self.set(name, OwnedValue::Integer(bytes));
            }
            return;
        }
        for other in [Name::MemoryPerNode, Name::MemoryPerCpu, Name::MemIsZero] {
            self.values.remove(&other);
        }
        if bytes == 0 {
            self.set(Name::MemIsZero, OwnedValue::Truth(true));
        } else {
            self.set(name, OwnedValue::Integer(bytes));
        }
    }

    /// The value of a field that holds a number.
    pub(super) fn number(&self, name: Name) -> Option<i64> {
        match self.values.get(&name) {
            Some(OwnedValue::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    /// Takes an option that is read in a way of its own; says what it takes where it does not take
    /// its value.
    fn take_own(&mut self, option: &str, value: Option<&str>) -> Result<(), String> {
        let text = value.unwrap_or_default();
        let whole = || text.parse::<u32>().map(i64::from).map_err(|_| "it takes a whole number".to_owned());
        match option {
            "chdir" => self.directory = text.to_owned(),
            "cpu-freq" => {
                let [least, most, governor] = cpu_frequency(text, self.release())
                    .ok_or("it takes a frequency or a governor, such as 2400000 or low-high:ondemand")?;
                for (name, number) in [(Name::CpuFreqMin, least), (Name::CpuFreqMax, most), (Name::CpuFreqGov, governor)] {
                    self.unset(name);
                    if let Some(number) = number {
                        self.set(name, OwnedValue::Integer(number));
                    }
                }
            }
            "mem-update" => {
                let (margin, delay) = text.split_once('@').ok_or("it takes a margin in percent and a delay, such as 10@5")?;
                let margin: u16 = margin.parse().map_err(|_| "it takes a margin in percent and a delay, such as 10@5")?;
                let delay = time(delay).flatten().ok_or("it takes a margin in percent and a delay, such as 10@5")?;
                self.set(Name::MemUpdateMargin, OwnedValue::Integer(i64::from(margin)));
                self.set(Name::MemUpdateDelay, OwnedValue::Duration(Seconds((delay + 59) / 60 * 60)));
            }
            "oom-kill-step" => {
                let kills = value.map_or(Ok(true), |text| truth(text, "1", "0"))?;
                self.set(Name::OomKillStep, OwnedValue::Truth(kills));
            }
            "resources" => self.resources = Some(text.to_owned()),
            "resv-ports" => {
                let ports = value.map_or(Ok(0), |_| whole())?;
                self.set(Name::ResvPortCnt, OwnedValue::Integer(ports));
            }
            "core-spec" | "thread-spec" => {
                let number = whole()?;
                let (name, other) =
                    if option == "core-spec" { (Name::CoreSpec, Name::ThreadSpec) } else { (Name::ThreadSpec, Name::CoreSpec) };
                self.values.remove(&other);
                self.set(name, OwnedValue::Integer(number));
            }
            "cpus-per-gpu" => {
                let cpus = whole()?;
                self.set(Name::CpusPerTres, OwnedValue::Resources(format!("gres/gpu:{cpus}")));
            }
            "mem-per-gpu" => {
                let bytes = memory(text).ok_or("it takes an amount of memory such as 64G")?;
                self.set(Name::MemPerTres, OwnedValue::Resources(format!("gres/gpu:{}", bytes >> 20)));
            }
            "mem-bind" => {
                self.values.remove(&Name::MemBind);
                if let Some(map) = memory_map(text) {
                    self.set(Name::MemBind, OwnedValue::Text(map.to_owned()));
                }
            }
            "distribution" => {
                let (number, plane) = distribution(text).ok_or("it takes a layout such as block:cyclic or plane=4")?;
                self.set(Name::TaskDist, OwnedValue::Integer(number));
                if let Some(plane) = plane {
                    self.set(Name::PlaneSize, OwnedValue::Integer(plane));
                }
            }
            "exclusive" => {
                let word = match text.to_ascii_lowercase().as_str() {
                    "" | "exclusive" | "allocation" => "none",
                    "oversubscribe" => "ok",
                    "user" => "user",
                    "mcs" => "mcs",
                    "topo" => "topo",
                    _ => return Err("it takes user, mcs or topo, or nothing".to_owned()),
                };
                self.set(Name::Shared, OwnedValue::Text(word.to_owned()));
            }
            "oversubscribe" => self.set(Name::Shared, OwnedValue::Text("ok".to_owned())),
            "extra-node-info" => self.take_shape(text)?,
            "gpu-bind" => self.set(Name::TresBind, OwnedValue::Text(format!("gres/gpu:{text}"))),
            "gpu-freq" => self.set(Name::TresFreq, OwnedValue::Text(format!("gpu:{text}"))),
            "gpus" => self.set(Name::TresPerJob, OwnedValue::Resources(prefixed(text, "gpu:"))),
            "gpus-per-socket" => self.set(Name::TresPerSocket, OwnedValue::Resources(prefixed(text, "gpu:"))),
            "gpus-per-node" => self.gpus_per_node = Some(prefixed(text, "gpu:")),
            "gpus-per-task" => self.gpus_per_task = Some(prefixed(text, "gpu:")),
            "gres" => {
                let list = Some(prefixed(text, "")).filter(|_| !text.eq_ignore_ascii_case("none"));
                // sbatch sends a list without resources as it stands, and slurmctld refuses it.
                if list.as_ref().is_some_and(String::is_empty) {
                    return Err("it takes resources such as gpu:2, or none, and the job is refused without".to_owned());
                }
                self.gres = list;
            }
            "tres-per-task" => self.tres_per_task = Some(text.to_owned()),
            "gres-flags" => {
                for word in text.split(',') {
                    let name = match word.to_ascii_lowercase().as_str() {
                        "disable-binding" => Name::GresDisableBind,
                        "enforce-binding" => Name::GresEnforceBind,
                        "multiple-tasks-per-sharing" | "one-task-per-sharing" => continue,
                        _ => return Err("it takes disable-binding or enforce-binding".to_owned()),
                    };
                    self.set(name, OwnedValue::Truth(true));
                }
            }
            // It is taken when all options are known: see `hint`.
            "hint" => {}
            "hold" => self.set(Name::Priority, OwnedValue::Integer(0)),
            "kill-on-invalid-dep" => {
                let truth = truth(text, "yes", "no")?;
                self.set(Name::KillInvalidDepend, OwnedValue::Truth(truth));
            }
            "mail-type" => {
                let types = mail_types(text).ok_or("it takes words such as END,FAIL")?;
                self.set(Name::MailType, OwnedValue::Texts(types));
            }
            "nice" => {
                let nice: i32 = value.map_or(Ok(100), str::parse).map_err(|_| "it takes a whole number")?;
                self.set(Name::Nice, OwnedValue::Integer(i64::from(nice)));
            }
            "no-kill" => {
                let keeps = value.is_none_or(|word| word.eq_ignore_ascii_case("set"));
                if keeps {
                    self.set(Name::KillOnNodeFail, OwnedValue::Truth(false));
                } else if ["no", "off"].iter().any(|word| text.eq_ignore_ascii_case(word)) {
                    self.values.remove(&Name::KillOnNodeFail);
                } else {
                    return Err("it takes off or no, or nothing".to_owned());
                }
            }
            "nodes" => {
                let NodeCounts { least, most, listed } = nodes(text).ok_or("it takes a number of nodes or a range such as 2-4")?;
                (self.least_nodes, self.most_nodes) = (Some(least), Some(most));
                self.unset(Name::JobSizeStr);
                // Before 23.02 slurmctld is told of the range alone.
                if let Some(listed) = listed.filter(|_| self.release().is_since(23, 2)) {
                    self.set(Name::JobSizeStr, OwnedValue::Text(listed));
                }
            }
            "open-mode" => {
                let word = match text.chars().next().map(|letter| letter.to_ascii_lowercase()) {
                    Some('a') => "append",
                    Some('t') => "truncate",
                    _ => return Err("it takes append or truncate".to_owned()),
                };
                self.set(Name::OpenMode, OwnedValue::Text(word.to_owned()));
            }
            "priority" => {
                let priority = if text.eq_ignore_ascii_case("top") { i64::from(u32::MAX - 2) } else { whole()? };
                self.set(Name::Priority, OwnedValue::Integer(priority));
            }
            "profile" => {
                let words: Vec<String> = text.to_ascii_lowercase().split(',').map(str::to_owned).collect();
                let is_all = words.iter().any(|word| word == "all");
                if words.iter().any(|word| word != "all" && !PROFILES.contains(&word.as_str())) {
                    return Err("it takes words such as energy,task".to_owned());
                }
                let named = PROFILES.iter().filter(|name| words.iter().any(|word| word == *name) || (is_all && **name != "none"));
                self.set(Name::Profile, OwnedValue::Texts(named.map(|name| (*name).to_owned()).collect()));
            }
            "signal" => {
                let (number, seconds) = signal(text).ok_or("it takes a signal and a time, such as USR1@60")?;
                self.set(Name::WarnSignal, OwnedValue::Integer(number));
                self.set(Name::WarnTime, OwnedValue::Duration(Seconds(seconds)));
            }
            "switches" => {
                let (number, wait) = text.split_once('@').map_or((text, None), |(number, wait)| (number, Some(wait)));
                let number: u16 = number.parse().map_err(|_| "it takes a number of switches and a time, such as 1@60")?;
                self.set(Name::ReqSwitch, OwnedValue::Integer(i64::from(number)));
                if let Some(wait) = wait {
                    let seconds = time(wait).flatten().ok_or("it takes a number of switches and a time, such as 1@60")?;
                    self.set(Name::Wait4switch, OwnedValue::Duration(Seconds(seconds)));
                }
            }
            "time" => {
                let seconds = time(text).ok_or("it takes a time such as 90 (minutes), 2:00:00 or 1-12:00:00")?;
                let limit = seconds.map(|seconds| (seconds + 59) / 60 * 60).filter(|limit| *limit > 0);
                self.set(Name::TimeLimitIsUnlimited, OwnedValue::Truth(limit.is_none()));
                self.values.remove(&Name::TimeLimit);
                if let Some(limit) = limit {
                    self.set(Name::TimeLimit, OwnedValue::Duration(Seconds(limit)));
                }
            }
            "wait-all-nodes" => {
                let truth = truth(text, "1", "0")?;
                self.set(Name::WaitAllNodes, OwnedValue::Truth(truth));
            }
            other => return Err(format!("--{other} is not evaluated here")),
        }
        Ok(())
    }

    /// Takes sockets, cores and threads such as `2:8:*`.
    fn take_shape(&mut self, text: &str) -> Result<(), String> {
        let names = [Name::SocketsPerNode, Name::CoresPerSocket, Name::ThreadsPerCore];
        let parts: Vec<&str> = text.split(':').collect();
        if parts.len() > names.len() {
            return Err("it takes sockets:cores:threads".to_owned());
        }
        for (name, part) in names.into_iter().zip(parts) {
            if part != "*" {
                let number: u16 = part.parse().map_err(|_| "it takes sockets:cores:threads")?;
                self.set(name, OwnedValue::Integer(i64::from(number)));
            }
        }
        self.has_shape = true;
        Ok(())
    }

    /// The fields of the job, with what sbatch counts from the options (`_opt_verify` in
    /// src/sbatch/opt.c, and `slurm_opt_create_job_desc` in src/common/slurm_opt.c).
    pub(super) fn finish(mut self) -> Result<BTreeMap<Name, OwnedValue>, CommandLineError> {
        let is_absolute = self.directory.starts_with('/');
        let directory = if is_absolute { self.directory.clone() } else { format!("{}/{}", self.setting.directory, self.directory) };
        for (name, path) in std::mem::take(&mut self.paths) {
            let full = if path.starts_with('/') { path } else { format!("{}/{path}", directory.trim_end_matches('/')) };
            self.set(name, OwnedValue::Text(full));
        }
        self.set(Name::WorkDir, OwnedValue::Text(directory));
        if let Some(resources) = self.resources.take() {
            let licenses = match self.values.remove(&Name::Licenses) {
                Some(OwnedValue::Text(licenses)) => format!("{licenses},{resources}"),
                _ => resources,
            };
            self.set(Name::Licenses, OwnedValue::Text(licenses));
        }
        let refused = CommandLineError::RefusedBySbatch;
        generic_resources::gather(&mut self).map_err(refused)?;
        tasks_and_nodes::count(&mut self)?;
        // Neither sbatch nor this program knows what another cluster has.
        if !self.values.contains_key(&Name::Clusters) {
            generic_resources::count(&mut self).map_err(refused)?;
        }
        // A number of 0 is one that C reads as absent.
        self.values.retain(|name, value| {
            *value != OwnedValue::Integer(0)
                || matches!(name, Name::Priority | Name::CoreSpec | Name::ThreadSpec | Name::UserId | Name::GroupId)
        });
        Ok(self.values)
    }
}

/// Options that sbatch does not take together, of which neither is of the environment
/// (`validate_options_salloc_sbatch_srun` in src/common/slurm_opt.c).
const EXCLUSIVE: &[(&str, &str)] = &[
    ("core-spec", "thread-spec"),
    ("ntasks-per-gpu", "gpus-per-task"),
    ("ntasks-per-gpu", "gpus-per-socket"),
    ("ntasks-per-gpu", "ntasks-per-node"),
    ("ntasks-per-gpu", "tres-per-task"),
    ("cpus-per-task", "cpus-per-gpu"),
    ("bb", "bbf"),
];

fn exclusive(given: &[Given], release: Release) -> Result<(), CommandLineError> {
    let typed = |name: &str| given.iter().find(|given| given.name == name && !matches!(given.origin, Origin::Environment(_)));
    let since_23_02: &[(&str, &str)] = if release.is_since(23, 2) { &[("exclusive", "oversubscribe")] } else { &[] };
    for (one, other) in EXCLUSIVE.iter().chain(since_23_02) {
        if let (Some(one), Some(other)) = (typed(one), typed(other)) {
            return Err(CommandLineError::Exclusive(one.written.clone(), other.written.clone()).at(other.origin));
        }
    }
    Ok(())
}

fn truth(text: &str, yes: &str, no: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase() {
        word if word == yes => Ok(true),
        word if word == no => Ok(false),
        _ => Err(format!("it takes {yes} or {no}")),
    }
}
