//! The options that sbatch, salloc and srun have.

use super::{CommandLineError, Release};
use crate::problem::closest;
use site_rules::field::Name;

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// The option is a flag and takes no value.
    Nothing,
    /// The option takes a value only behind `=`, or behind its letter without a space.
    Perhaps,
    /// The option needs a value.
    Value,
}

/// What an option says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// A text, as it stands.
    Text(Name),
    /// A path, from the job's directory where it does not begin with `/`.
    Path(Name),
    /// A whole number.
    Number(Name),
    /// A time in Slurm's forms.
    Time(Name),
    /// A moment.
    Moment(Name),
    /// An amount of memory.
    Memory(Name),
    /// That the field is true or false.
    Is(Name, bool),
    /// What is read in a way of its own, by the option's name.
    Own,
    /// Nothing that a job has a field for.
    Nothing,
    /// Something that is not evaluated here.
    Unread,
}

/// An option of sbatch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) name: &'static str,
    pub(super) letter: Option<char>,
    pub(super) takes: Takes,
    pub(super) says: Says,
}

const fn known(name: &'static str, letter: Option<char>, takes: Takes, says: Says) -> Known {
    Known { name, letter, takes, says }
}

use Says::{Is, Memory, Moment, Number, Own, Path, Text, Time, Unread};
use Takes::{Perhaps, Value};

/// All that sbatch has in the releases from 22.05 to 26.05.
pub(super) const KNOWN: &[Known] = &[
    known("account", Some('A'), Value, Text(Name::Account)),
    known("acctg-freq", None, Value, Text(Name::AcctgFreq)),
    known("array", Some('a'), Value, Text(Name::ArrayInx)),
    known("autocomplete", None, Value, Unread),
    known("batch", None, Value, Text(Name::BatchFeatures)),
    known("bb", None, Value, Text(Name::BurstBuffer)),
    known("bbf", None, Value, Unread),
    known("begin", Some('b'), Value, Moment(Name::BeginTime)),
    known("chdir", Some('D'), Value, Own),
    known("cluster", None, Value, Text(Name::Clusters)),
    known("cluster-constraint", None, Value, Text(Name::ClusterFeatures)),
    known("clusters", Some('M'), Value, Text(Name::Clusters)),
    known("comment", None, Value, Text(Name::Comment)),
    known("consolidate-segments", None, Takes::Nothing, Unread),
    known("constraint", Some('C'), Value, Text(Name::Features)),
    known("container", None, Value, Text(Name::Container)),
    known("container-id", None, Value, Text(Name::ContainerId)),
    known("container-type", None, Value, Text(Name::ContainerType)),
    known("context", None, Value, Text(Name::ReqContext)),
    known("contiguous", None, Takes::Nothing, Is(Name::Contiguous, true)),
    known("core-spec", Some('S'), Value, Own),
    known("cores-per-socket", None, Value, Number(Name::CoresPerSocket)),
    known("cpu-freq", None, Value, Own),
    known("cpus-per-gpu", None, Value, Own),
    known("cpus-per-task", Some('c'), Value, Number(Name::CpusPerTask)),
    known("deadline", None, Value, Moment(Name::Deadline)),
    known("delay-boot", None, Value, Time(Name::DelayBoot)),
    known("dependency", Some('d'), Value, Text(Name::Dependency)),
    known("distribution", Some('m'), Value, Own),
    known("error", Some('e'), Value, Path(Name::StdErr)),
    known("exclude", Some('x'), Value, Text(Name::ExcNodes)),
    known("exclusive", None, Perhaps, Own),
    known("export", None, Value, Says::Nothing),
    known("export-file", None, Value, Says::Nothing),
    known("external", None, Takes::Nothing, Unread),
    known("extra", None, Value, Text(Name::Extra)),
    known("extra-node-info", Some('B'), Value, Own),
    known("get-user-env", None, Perhaps, Says::Nothing),
    known("gid", None, Value, Number(Name::GroupId)),
    known("gpu-bind", None, Value, Own),
    known("gpu-freq", None, Value, Own),
    known("gpus", Some('G'), Value, Own),
    known("gpus-per-node", None, Value, Own),
    known("gpus-per-socket", None, Value, Own),
    known("gpus-per-task", None, Value, Own),
    known("gres", None, Value, Own),
    known("gres-flags", None, Value, Own),
    known("help", Some('h'), Takes::Nothing, Unread),
    known("hint", None, Value, Own),
    known("hold", Some('H'), Takes::Nothing, Own),
    known("ignore-pbs", None, Takes::Nothing, Says::Nothing),
    known("input", Some('i'), Value, Path(Name::StdIn)),
    known("job-name", Some('J'), Value, Text(Name::JobName)),
    known("kill-on-invalid-dep", None, Value, Own),
    known("licenses", Some('L'), Value, Text(Name::Licenses)),
    known("mail-type", None, Value, Own),
    known("mail-user", None, Value, Text(Name::MailUser)),
    known("mcs-label", None, Value, Text(Name::McsLabel)),
    known("mem", None, Value, Memory(Name::MemoryPerNode)),
    known("mem-bind", None, Value, Own),
    known("mem-per-cpu", None, Value, Memory(Name::MemoryPerCpu)),
    known("mem-per-gpu", None, Value, Own),
    known("mem-update", None, Value, Own),
    known("mincpus", None, Value, Number(Name::PnMinCpus)),
    known("network", None, Value, Text(Name::Network)),
    known("nice", None, Perhaps, Own),
    known("no-kill", Some('k'), Perhaps, Own),
    known("no-requeue", None, Takes::Nothing, Is(Name::Requeue, false)),
    known("nodefile", Some('F'), Value, Unread),
    known("nodelist", Some('w'), Value, Text(Name::ReqNodes)),
    known("nodes", Some('N'), Value, Own),
    known("ntasks", Some('n'), Value, Number(Name::NumTasks)),
    known("ntasks-per-core", None, Value, Number(Name::NtasksPerCore)),
    known("ntasks-per-gpu", None, Value, Number(Name::NtasksPerTres)),
    known("ntasks-per-node", None, Value, Number(Name::NtasksPerNode)),
    known("ntasks-per-socket", None, Value, Number(Name::NtasksPerSocket)),
    known("ntasks-per-tres", None, Value, Number(Name::NtasksPerTres)),
    known("oom-kill-step", None, Perhaps, Own),
    known("open-mode", None, Value, Own),
    known("output", Some('o'), Value, Path(Name::StdOut)),
    known("overcommit", Some('O'), Takes::Nothing, Is(Name::Overcommit, true)),
    known("oversubscribe", Some('s'), Takes::Nothing, Own),
    known("parsable", None, Takes::Nothing, Says::Nothing),
    known("partition", Some('p'), Value, Text(Name::Partition)),
    known("power", None, Value, Unread),
    known("prefer", None, Value, Text(Name::Prefer)),
    known("priority", None, Value, Own),
    known("profile", None, Value, Own),
    known("propagate", None, Perhaps, Says::Nothing),
    known("qos", Some('q'), Value, Text(Name::Qos)),
    known("quiet", Some('Q'), Takes::Nothing, Says::Nothing),
    known("reboot", None, Takes::Nothing, Is(Name::Reboot, true)),
    known("requeue", None, Perhaps, Is(Name::Requeue, true)),
    known("reservation", None, Value, Text(Name::Reservation)),
    known("resources", None, Value, Own),
    known("resv-ports", None, Perhaps, Own),
    known("segment", None, Value, Number(Name::SegmentSize)),
    known("signal", None, Value, Own),
    known("sockets-per-node", None, Value, Number(Name::SocketsPerNode)),
    known("spread-job", None, Takes::Nothing, Is(Name::SpreadJob, true)),
    known("spread-segments", None, Takes::Nothing, Unread),
    known("stepmgr", None, Takes::Nothing, Unread),
    known("switches", None, Value, Own),
    known("tasks-per-node", None, Value, Number(Name::NtasksPerNode)),
    known("test-only", None, Takes::Nothing, Is(Name::IsTestOnly, true)),
    known("thread-spec", None, Value, Own),
    known("threads-per-core", None, Value, Number(Name::ThreadsPerCore)),
    known("time", Some('t'), Value, Own),
    known("time-min", None, Value, Time(Name::TimeMin)),
    known("tmp", None, Value, Memory(Name::PnMinTmpDisk)),
    known("tres-bind", None, Value, Text(Name::TresBind)),
    known("tres-per-task", None, Value, Own),
    known("uid", None, Value, Number(Name::UserId)),
    known("usage", None, Takes::Nothing, Unread),
    known("use-min-nodes", None, Takes::Nothing, Is(Name::UseMinNodes, true)),
    known("verbose", Some('v'), Takes::Nothing, Says::Nothing),
    known("version", Some('V'), Takes::Nothing, Unread),
    known("wait", Some('W'), Takes::Nothing, Says::Nothing),
    known("wait-all-nodes", None, Value, Own),
    known("wckey", None, Value, Text(Name::Wckey)),
    known("wrap", None, Value, Says::Nothing),
];

/// The options that not every release has: the first and the last release with each
/// (`common_options` in src/common/slurm_opt.c by tag).
const OF_RELEASES: &[(&str, Release, Release)] = &[
    ("autocomplete", Release::new(23, 2), Release::LAST),
    ("consolidate-segments", Release::new(25, 11), Release::LAST),
    ("container-id", Release::new(23, 2), Release::LAST),
    ("container-type", Release::new(26, 5), Release::LAST),
    ("external", Release::new(25, 5), Release::LAST),
    ("extra", Release::new(23, 2), Release::LAST),
    ("mem-update", Release::new(26, 5), Release::LAST),
    ("oom-kill-step", Release::new(24, 11), Release::LAST),
    ("power", Release::FIRST, Release::new(23, 11)),
    ("resources", Release::new(25, 11), Release::LAST),
    ("resv-ports", Release::new(24, 5), Release::LAST),
    ("segment", Release::new(24, 5), Release::LAST),
    ("spread-segments", Release::new(25, 11), Release::LAST),
    ("stepmgr", Release::new(24, 5), Release::LAST),
    ("tres-bind", Release::new(23, 11), Release::LAST),
    ("tres-per-task", Release::new(23, 2), Release::LAST),
];

impl Known {
    /// Whether the programs of a release have this option.
    fn is_in(&self, release: Release) -> bool {
        let of = OF_RELEASES.iter().find(|(name, ..)| *name == self.name);
        of.is_none_or(|(_, first, last)| (*first..=*last).contains(&release))
    }
}

/// The options that only salloc and srun have, as far as they are evaluated.
const OF_INTERACTIVE: &[Known] = &[
    known("bell", None, Takes::Nothing, Says::Nothing),
    known("cpu-bind", None, Value, Says::Nothing),
    known("exact", None, Takes::Nothing, Says::Nothing),
    known("immediate", Some('I'), Perhaps, Is(Name::Immediate, true)),
    known("kill-command", Some('K'), Perhaps, Says::Nothing),
    known("kill-on-bad-exit", Some('K'), Perhaps, Says::Nothing),
    known("label", Some('l'), Takes::Nothing, Says::Nothing),
    known("mpi", None, Value, Says::Nothing),
    known("no-bell", None, Takes::Nothing, Says::Nothing),
    known("no-shell", None, Takes::Nothing, Says::Nothing),
    known("overlap", None, Takes::Nothing, Says::Nothing),
    known("pty", None, Perhaps, Says::Nothing),
    known("unbuffered", Some('u'), Takes::Nothing, Says::Nothing),
];

/// The programs that submit jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    Sbatch,
    Salloc,
    Srun,
}

impl Program {
    /// The program of that name or path.
    pub(super) fn of(path: &str) -> Option<Program> {
        match path.rsplit('/').next()? {
            "sbatch" => Some(Program::Sbatch),
            "salloc" => Some(Program::Salloc),
            "srun" => Some(Program::Srun),
            _ => None,
        }
    }

    /// The options that the program of a release has.
    pub(super) fn options(self, release: Release) -> impl Iterator<Item = &'static Known> {
        let more = if self == Program::Sbatch { &[][..] } else { OF_INTERACTIVE };
        KNOWN.iter().chain(more).filter(move |known| known.is_in(release))
    }
}

/// The option of that name, or the only one that begins with it, as getopt_long(3) has it; beside
/// those of the program also those of its plugins, which are told by their names.
pub(super) fn by_name<'n>(
    program: Program,
    release: Release,
    plugins: &'n [PluginOption],
    name: &str,
) -> Result<Named<'n>, CommandLineError> {
    let written = || format!("--{name}");
    let of_program = || program.options(release).map(Named::Known);
    let all = || of_program().chain(plugins.iter().map(Named::Plugin));
    if let Some(exact) = all().find(|option| option.name() == name) {
        return Ok(exact);
    }
    let mut begun = all().filter(|option| !name.is_empty() && option.name().starts_with(name));
    match (begun.next(), begun.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(CommandLineError::AmbiguousOption(written())),
        _ => {
            if KNOWN.iter().any(|known| known.name == name) {
                return Err(CommandLineError::NotInRelease { option: written(), release });
            }
            let nearest = closest(name, all().map(|option| option.name())).map(|name| format!("--{name}"));
            Err(CommandLineError::UnknownOption { option: written(), nearest })
        }
    }
}

/// An option that was found by its name.
#[derive(Clone, Copy, Debug)]
pub(super) enum Named<'n> {
    Known(&'static Known),
    Plugin(&'n PluginOption),
}

impl<'n> Named<'n> {
    pub(super) fn name(self) -> &'n str {
        match self {
            Named::Known(known) => known.name,
            Named::Plugin(option) => &option.name,
        }
    }

    pub(super) fn takes(self) -> Takes {
        match self {
            Named::Known(known) => known.takes,
            Named::Plugin(option) => option.takes,
        }
    }
}

/// An option that a plugin of sbatch adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginOption {
    /// The option's long name, without the dashes.
    pub name: String,
    /// Whether the option takes a value.
    pub takes: Takes,
}

/// An option of sbatch, as help texts and completions need to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SbatchOption {
    /// The option's long name, without the dashes.
    pub name: &'static str,
    /// The option's letter, where it has one.
    pub letter: Option<char>,
    /// Whether the option takes a value.
    pub takes: Takes,
    /// Whether command lines with it are read. It says nothing that a job has no field for.
    pub is_evaluated: bool,
}

/// All options of the sbatch of a release, in the order of their names.
pub fn sbatch_options(release: Release) -> impl Iterator<Item = SbatchOption> {
    Program::Sbatch.options(release).map(|known| {
        let is_evaluated = known.says != Unread;
        SbatchOption { name: known.name, letter: known.letter, takes: known.takes, is_evaluated }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_letters_of_options_are_unique_and_sorted() {
        assert!(KNOWN.windows(2).all(|pair| pair[0].name < pair[1].name));
        let mut letters: Vec<char> = KNOWN.iter().filter_map(|known| known.letter).collect();
        letters.sort_unstable();
        assert!(letters.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
