//! The fields of a job that rules can read and write.
//!
//! They are those of `job_desc_msg_t` (slurm/slurm.h) under their names there, and what follows
//! from several of them, such as `gpus`. What is an amount of memory is in bytes, what is a time
//! span is a duration, what Slurm encodes in bits is a truth, a word or a list of words, and what
//! Slurm marks as unset, by NULL, by an empty text or by a number such as `NO_VAL`, is absent.
//!
//! Left out is what means nothing to a site (ports for answers, places that slurmctld alone fills)
//! and what is nobody's business (the cookie of X11, certificates).

use crate::fault::Fault;
use crate::resources::{self, Gpus};
use crate::steps::Steps;
use crate::value::{Kind, Resources, Value};
use serde::{Deserialize, Serialize};

/// A field of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name by which rules call the field: Slurm's name in `job_desc_msg_t`, if it has one.
    pub name: &'static str,
    /// What its values are.
    pub kind: Kind,
    /// Whether a job may be without it, so that it must be tested by `has` before it is used.
    pub may_be_absent: bool,
    /// Whether rules may write it.
    pub is_writable: bool,
    /// Why they may not, where it doesn't follow from other fields.
    pub why_not: Option<&'static str>,
    /// The first release of Slurm that has it, as year and month, where the first that is
    /// supported has it not. On an older one it is absent and can't be written.
    pub since: Option<(u32, u32)>,
    /// The words that it can be, where they are few; otherwise empty.
    pub words: &'static [&'static str],
    /// What stands between the parts of a text that is a list, and before what is appended to it.
    pub separator: Option<char>,
    /// What it is, in a line.
    pub meaning: &'static str,
}

/// The place of a field in [`FIELDS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FieldNumber(pub u16);

/// A job of which fields can be read.
pub trait Fields {
    /// What the job has in a field; `None` where it is absent.
    fn field(&self, field: FieldNumber) -> Option<Value<'_>>;

    /// The value of a variable in the job's environment; the last where it stands there twice,
    /// which is the one that the job's shell takes.
    fn variable(&self, name: &str) -> Option<&str>;

    /// Takes what it costs to read a field, before it is read. Where it is at hand, nothing.
    ///
    /// # Errors
    /// [`Fault::Budget`] if it costs more than is left; the field is not to be read then.
    fn charge(&self, _: FieldNumber, _: &mut Steps) -> Result<(), Fault> {
        Ok(())
    }

    /// Takes what it costs to read a variable of the environment, before it is read.
    ///
    /// # Errors
    /// [`Fault::Budget`] if it costs more than is left; the variable is not to be read then.
    fn charge_variable(&self, _: &str, _: &mut Steps) -> Result<(), Fault> {
        Ok(())
    }

    /// Whether the job has something in a field. It costs nothing to say so of a text.
    fn has(&self, field: FieldNumber) -> bool {
        self.field(field).is_some()
    }

    /// Whether all is known of a field, so that a job that has nothing in it is one without it.
    fn knows(&self, _: FieldNumber) -> bool {
        true
    }

    /// What the lists of [`COUNTED_LISTS`] say of GPUs. Who keeps it goes through them once.
    fn gpu_counts(&self) -> GpuCounts {
        gpu_counts(self)
    }
}

/// Goes through the lists of [`COUNTED_LISTS`] for what they say of GPUs.
pub fn gpu_counts<F: Fields + ?Sized>(job: &F) -> GpuCounts {
    COUNTED_LISTS.map(|name| match job.field(FieldNumber::from(name)) {
        Some(Value::Resources(Resources(text))) => resources::gpus(text),
        _ => Gpus::default(),
    })
}

impl Name {
    /// Whether Slurm compares what stands in it without regard to case. It is in small letters
    /// wherever rules read it.
    #[must_use]
    pub fn is_caseless(self) -> bool {
        matches!(self, Name::Account | Name::Qos | Name::QosNames | Name::Wckey)
    }
}

/// The lists of resources in which GPUs are counted: those in which they can be asked for, and what
/// is asked for with each of them.
pub const COUNTED_LISTS: [Name; 6] =
    [Name::TresPerJob, Name::TresPerNode, Name::TresPerSocket, Name::TresPerTask, Name::CpusPerTres, Name::MemPerTres];

/// What each of [`COUNTED_LISTS`] says of GPUs.
pub type GpuCounts = [Gpus; COUNTED_LISTS.len()];

impl Field {
    pub(crate) const fn new(name: &'static str, kind: Kind, meaning: &'static str) -> Field {
        Field { name, kind, may_be_absent: false, is_writable: false, why_not: None, since: None, words: &[], separator: None, meaning }
    }

    pub(crate) const fn absent(self) -> Field {
        Field { may_be_absent: true, ..self }
    }

    const fn written(self) -> Field {
        Field { is_writable: true, ..self }
    }

    const fn read_only(self, why_not: &'static str) -> Field {
        Field { why_not: Some(why_not), ..self }
    }

    const fn since(self, year: u32, month: u32) -> Field {
        Field { since: Some((year, month)), ..self }
    }

    const fn one_of(self, words: &'static [&'static str]) -> Field {
        Field { words, ..self }
    }

    const fn separated(self, separator: char) -> Field {
        Field { separator: Some(separator), ..self }
    }
}

impl FieldNumber {
    /// The field of that name.
    #[must_use]
    pub fn of(name: &str) -> Option<FieldNumber> {
        let place = FIELDS.binary_search_by(|field| field.name.cmp(name)).ok()?;
        u16::try_from(place).ok().map(FieldNumber)
    }

    /// What is known of the field; `None` for a number of none.
    #[must_use]
    pub fn get(self) -> Option<&'static Field> {
        FIELDS.get(usize::from(self.0))
    }

    /// Whether the field is the environment, of which each variable is written by itself: as a text
    /// such as `NAME=value`, or `NAME` alone for one that is taken out.
    #[must_use]
    pub fn is_environment(self) -> bool {
        self == FieldNumber::from(Name::Environment)
    }

    /// The field's name as a value, by which what reads and writes fields tells them apart.
    #[must_use]
    #[inline]
    pub fn name(self) -> Option<Name> {
        Name::ALL.get(usize::from(self.0)).copied()
    }
}

/// The name and the value in what is written into the environment; no value where the variable is
/// taken out.
#[must_use]
pub fn variable(entry: &str) -> (&str, Option<&str>) {
    entry.split_once('=').map_or((entry, None), |(name, value)| (name, Some(value)))
}

impl From<Name> for FieldNumber {
    fn from(name: Name) -> FieldNumber {
        FieldNumber(name as u16)
    }
}

/// Makes [`FIELDS`] and [`Name`] of one list. In each line: the name's value, the name, the kind,
/// what else is to be said of the field, and its meaning.
macro_rules! fields {
    ($($value:ident $name:literal $kind:ident $(.$more:ident($($argument:expr),*))*: $meaning:literal;)*) => {
        /// The names of all fields, in their order.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Name {
            $(#[doc = $meaning] $value,)*
        }

        impl Name {
            /// All of them.
            pub const ALL: &[Name] = &[$(Name::$value,)*];
        }

        /// All fields, in the order of their names. A rule file refers to them by name, and what is
        /// compiled of it by place.
        pub const FIELDS: &[Field] = &[$(Field::new($name, Kind::$kind, $meaning)$(.$more($($argument),*))*,)*];
    };
}

/// Who shares the nodes of a job, by the numbers `JOB_SHARED_NONE` and so on of slurm/slurm.h.
pub const SHARED: &[&str] = &["none", "ok", "user", "mcs", "topo"];

/// When mail is sent, by the bits `MAIL_JOB_BEGIN` and so on of slurm/slurm.h, as `--mail-type`
/// calls them.
pub const MAIL_TYPES: &[&str] = &[
    "BEGIN",
    "END",
    "FAIL",
    "REQUEUE",
    "TIME_LIMIT",
    "TIME_LIMIT_90",
    "TIME_LIMIT_80",
    "TIME_LIMIT_50",
    "STAGE_OUT",
    "ARRAY_TASKS",
    "INVALID_DEPEND",
];

/// What is done with files of output that are there, by `OPEN_MODE_APPEND` and `OPEN_MODE_TRUNCATE`
/// of slurm/slurm.h, which begin at 1.
pub const OPEN_MODES: &[&str] = &["append", "truncate"];

/// What is profiled, by the bits `ACCT_GATHER_PROFILE_NONE` and so on of slurm/slurm.h, as
/// `--profile` calls them.
pub const PROFILES: &[&str] = &["none", "energy", "task", "lustre", "network"];

/// Which nodes forward X11, by the bits `X11_FORWARD_ALL` and so on of slurm/slurm.h, as `--x11`
/// calls them.
pub const X11: &[&str] = &["all", "batch", "first", "last"];

fields! {
    Account "account" Text.absent().written(): "The account that it is charged to, in small letters, as Slurm compares it without regard to case.";
    AcctgFreq "acctg_freq" Text.absent().written(): "How often its use is sampled, such as `task=30`.";
    AdminComment "admin_comment" Text.absent().written(): "The administrator's comment.";
    AllocNode "alloc_node" Text.absent().read_only("it says where the job is submitted"): "The host that it is submitted from.";
    AllocSid "alloc_sid" Integer.absent().read_only("it says where the job is submitted"): "The session that it is submitted from; absent where it is only tested.";
    Argc "argc" Integer.read_only("the script stays as its user wrote it"): "How many arguments the script has, with its own name.";
    Argv "argv" Texts.read_only("the script stays as its user wrote it"): "The script's name and its arguments.";
    ArrayInx "array_inx" Text.absent().written(): "The indices of the job array, such as `0-15%4`.";
    ArraySize "array_size" Integer.absent(): "How many jobs the array has, counted from `array_inx`.";
    BatchFeatures "batch_features" Text.absent().written(): "The features of the node that the batch script runs on.";
    BeginTime "begin_time" Moment.absent().written(): "When it may begin.";
    Bitflags "bitflags" Integer.read_only("write the field of the flag, such as `spread_job`"): "Slurm's bits of flags, for what has no field of its own here.";
    BoardsPerNode "boards_per_node" Integer.absent().written(): "The boards of each node.";
    BurstBuffer "burst_buffer" Text.absent().written(): "The burst buffers.";
    ClusterFeatures "cluster_features" Text.absent().written(): "The features of the cluster of a federation that it runs on.";
    Clusters "clusters" Text.absent().separated(',').written(): "The clusters that it may be sent to, separated by commas.";
    Comment "comment" Text.absent().written(): "The user's comment.";
    ConsolidateSegments "consolidate_segments" Truth.written().since(25, 11): "Whether its segments lie in as few blocks as can be (`--consolidate-segments`).";
    Container "container" Text.absent().written(): "The bundle of a container.";
    ContainerId "container_id" Text.absent().written().since(23, 2): "The name of a container.";
    ContainerType "container_type" Text.absent().written().since(26, 5): "The plugin that runs a container.";
    Contiguous "contiguous" Truth.written(): "Whether its nodes must lie beside each other.";
    CoreSpec "core_spec" Integer.absent().written(): "The cores of each node that are left to the system.";
    CoresPerSocket "cores_per_socket" Integer.absent().written(): "The fewest cores of each socket.";
    CpuBind "cpu_bind" Text.absent().read_only("it goes with a type that no field has"): "The map by which tasks are bound to CPUs.";
    CpuFreqGov "cpu_freq_gov" Integer.absent().written(): "Slurm's number of the governor of the frequency.";
    CpuFreqMax "cpu_freq_max" Integer.absent().written(): "The highest frequency, in kilohertz, or Slurm's number of a word such as `high`.";
    CpuFreqMin "cpu_freq_min" Integer.absent().written(): "The lowest frequency, in kilohertz, or Slurm's number of a word such as `low`.";
    Cpus "cpus" Integer: "The fewest CPUs that it can run with: the most of `min_cpus`, of tasks by `cpus_per_task`, of `gpus` by `cpus_per_gpu`, and of one a node.";
    CpusPerGpu "cpus_per_gpu" Integer.absent(): "The CPUs for each GPU, by `cpus_per_tres`.";
    CpusPerTask "cpus_per_task" Integer.absent().written(): "The CPUs of each task.";
    CpusPerTres "cpus_per_tres" Resources.absent().written(): "The CPUs for each of a generic resource.";
    Deadline "deadline" Moment.absent().written(): "When it must have ended.";
    DelayBoot "delay_boot" Duration.absent().written(): "How long a reboot of nodes for features is put off.";
    Dependency "dependency" Text.absent().written(): "The jobs that it depends on, such as `afterok:12`.";
    EndTime "end_time" Moment.absent().written(): "When a job that runs is to end, where that is what is asked to change.";
    EnvSize "env_size" Integer.read_only("it is counted from `environment`"): "How many variables its environment has; 0 but for batch jobs.";
    Environment "environment" Variables.written(): "The job's environment, of batch jobs alone; of a variable that stands there twice the last, which the shell takes.";
    ExcNodes "exc_nodes" Text.absent().written().separated(','): "The nodes that it must not have.";
    Exclusive "exclusive" Truth: "Whether it asks for nodes of its own: `shared` is `none`.";
    Extra "extra" Text.absent().written(): "A text of the user's, for filters of nodes or for the site.";
    Features "features" Text.absent().written().separated('&'): "The features of nodes that it must have (`--constraint`).";
    GpuTypes "gpu_types" Texts: "The types of GPUs that it asks for, as they are named.";
    Gpus "gpus" Integer: "The fewest GPUs that it can run with: the most of those per job, those per node by nodes, those per task by tasks, and those per socket by sockets.";
    GpusPerNode "gpus_per_node" Integer.absent(): "The GPUs of each node: as given, or from those per socket or task and their number a node, or from all on one node; 0 where it asks for none, and absent where none of these is known.";
    GpusPerSocket "gpus_per_socket" Integer.absent(): "The GPUs of each socket.";
    GpusPerTask "gpus_per_task" Integer.absent(): "The GPUs of each task.";
    GresAllowTaskSharing "gres_allow_task_sharing" Truth.written().since(23, 11): "Whether tasks may use each other's generic resources (`--gres-flags=allow-task-sharing`).";
    GresDisableBind "gres_disable_bind" Truth.written(): "Whether CPUs need not be near the generic resources (`--gres-flags=disable-binding`).";
    GresEnforceBind "gres_enforce_bind" Truth.written(): "Whether CPUs must be near the generic resources (`--gres-flags=enforce-binding`).";
    GresOneTaskPerSharing "gres_one_task_per_sharing" Truth.written().since(23, 11): "Whether each task has a shared resource of its own (`--gres-flags=one-task-per-sharing`).";
    GroupId "group_id" Integer.absent().read_only("slurmctld has checked before who the job is of"): "The number of the group that it runs as.";
    HasUntypedGpus "has_untyped_gpus" Truth: "Whether it asks for GPUs without saying of which type.";
    HetJobOffset "het_job_offset" Integer.absent().read_only("it says what is asked"): "Which component of a heterogeneous job it is.";
    Immediate "immediate" Truth.written(): "Whether it must start at once or fail.";
    IsArray "is_array" Truth: "Whether it is a job array: `array_inx` is given.";
    IsBatch "is_batch" Truth.read_only("it says what is asked"): "Whether it is a batch job, or a component of a heterogeneous one.";
    IsCron "is_cron" Truth.read_only("it says what is asked"): "Whether it is an entry of a scrontab.";
    IsHeld "is_held" Truth: "Whether it is held: `priority` is 0.";
    IsInteractive "is_interactive" Truth: "Whether it is no batch job, as those of salloc and srun and their components are none.";
    IsSiblingCopy "is_sibling_copy" Truth.read_only("it says what is asked"): "Whether another cluster of the federation sent it, whose plugins have seen it before.";
    IsTestOnly "is_test_only" Truth.read_only("it says what is asked"): "Whether it is only asked when it would run (`--test-only`), as far as that can be known.";
    JobId "job_id" Integer.absent().read_only("it says which job is asked about"): "The number of the job that is to be changed, or that is asked for.";
    JobIdStr "job_id_str" Text.absent().read_only("it says which job is asked about"): "The job that is to be changed, in text, such as `12_[3-5]`.";
    JobSizeStr "job_size_str" Text.absent().written().since(23, 2): "The numbers of nodes that it can run with, such as `2,4,8`.";
    KillInvalidDepend "kill_invalid_depend" Truth.absent().written(): "Whether it ends when what it depends on can't be met any more.";
    KillOnNodeFail "kill_on_node_fail" Truth.absent().written(): "Whether it ends when one of its nodes fails.";
    LicenseNames "license_names" Texts: "The names of the licences that it needs, one by one, with the server behind `@` where one is named.";
    Licenses "licenses" Text.absent().written().separated(','): "The licences that it needs, such as `matlab:2`.";
    MailType "mail_type" Texts.written().one_of(MAIL_TYPES): "When mail is sent, in the words of `--mail-type`.";
    MailUser "mail_user" Text.absent().written(): "Who gets mail.";
    MaxCpus "max_cpus" Integer.absent().written(): "The most CPUs.";
    MaxNodes "max_nodes" Integer.absent().written(): "The most nodes.";
    McsLabel "mcs_label" Text.absent().written(): "Its label of multi-category security.";
    MemBind "mem_bind" Text.absent().read_only("it goes with a type that no field has"): "The map by which tasks are bound to memory.";
    MemIsZero "mem_is_zero" Truth.read_only("write `memory_per_node` or `memory_per_cpu`, of which 0 is all memory"): "Whether it asks for all memory of its nodes, by `--mem=0` or `--mem-per-cpu=0`.";
    MemPerGpu "mem_per_gpu" Integer.absent(): "The bytes of memory for each GPU, by `mem_per_tres`.";
    MemPerTres "mem_per_tres" Resources.absent().written(): "The memory for each of a generic resource, in MiB.";
    MemUpdateDelay "mem_update_delay" Duration.absent().written().since(26, 5): "After how long memory that is not used is taken back.";
    MemUpdateMargin "mem_update_margin" Integer.absent().written().since(26, 5): "How much more than it uses is left to it then, in percent.";
    Memory "memory" Integer.absent(): "The fewest bytes of memory on all nodes: of each node by nodes, of each CPU by `cpus`, or of each GPU by `gpus`; absent where none is given or all is asked for.";
    MemoryPerCpu "memory_per_cpu" Integer.absent().written(): "The bytes of memory for each CPU (`--mem-per-cpu`); absent where all is asked for.";
    MemoryPerNode "memory_per_node" Integer.absent().written(): "The bytes of memory of each node (`--mem`); absent where all is asked for.";
    MinCpus "min_cpus" Integer.absent().written(): "The fewest CPUs, which sbatch counts from tasks and CPUs of a task.";
    MinNodes "min_nodes" Integer.absent().written(): "The fewest nodes.";
    JobName "name" Text.absent().written(): "The name of the job.";
    Network "network" Text.absent().written(): "What it needs of the network.";
    Nice "nice" Integer.absent().written(): "What is taken from its priority.";
    NtasksPerBoard "ntasks_per_board" Integer.absent().written(): "The tasks on each board.";
    NtasksPerCore "ntasks_per_core" Integer.absent().written(): "The most tasks on each core.";
    NtasksPerNode "ntasks_per_node" Integer.absent().written(): "The tasks on each node.";
    NtasksPerSocket "ntasks_per_socket" Integer.absent().written(): "The most tasks on each socket.";
    NtasksPerTres "ntasks_per_tres" Integer.absent().written(): "The tasks for each GPU.";
    NumTasks "num_tasks" Integer.absent().written(): "The number of tasks; sbatch sends it where `--ntasks` is given.";
    OomKillStep "oom_kill_step" Truth.absent().written().since(24, 11): "Whether a whole step ends when one of its tasks runs out of memory.";
    OpenMode "open_mode" Text.absent().written().one_of(OPEN_MODES): "What is done with files of output that are there.";
    OriginCluster "origin_cluster" Text.absent().read_only("the cluster fills it in"): "The cluster that it was submitted to.";
    Overcommit "overcommit" Truth.written(): "Whether there may be more tasks than CPUs.";
    Partition "partition" Text.absent().written().separated(','): "The partition, or several separated by commas.";
    Partitions "partitions" Texts: "The partitions that it may run in, one by one: those that it names, or, of a submission that names none, the site's default partition where that is known.";
    PlaneSize "plane_size" Integer.absent().written(): "How many tasks are laid beside each other (`--distribution=plane`).";
    PnMinCpus "pn_min_cpus" Integer.absent().written(): "The fewest CPUs that a node must have (`--mincpus`).";
    PnMinTmpDisk "pn_min_tmp_disk" Integer.absent().written(): "The bytes of temporary disk that a node must have.";
    Prefer "prefer" Text.absent().written().separated('&'): "The features of nodes that it would rather have.";
    Priority "priority" Integer.absent().written(): "Its priority, where it is set by hand; 0 holds it.";
    Profile "profile" Texts.written().one_of(PROFILES): "What is profiled, in the words of `--profile`; all of them for `all`.";
    Qos "qos" Text.absent().written(): "The quality of service, or several between commas, in small letters, as Slurm compares it without regard to case.";
    QosNames "qos_names" Texts: "The qualities of service that it may have, one by one, in small letters: those that `qos` names between commas, which Slurm takes from 24.11 on; none where it names none.";
    Reboot "reboot" Truth.written(): "Whether its nodes are booted before it starts.";
    ReqContext "req_context" Text.absent().written(): "The SELinux context that it asks for.";
    ReqNodes "req_nodes" Text.absent().written().separated(','): "The nodes that it must have.";
    ReqSwitch "req_switch" Integer.absent().written(): "The most switches that its nodes may lie under.";
    Requeue "requeue" Truth.absent().written(): "Whether it may be put back into the queue.";
    Reservation "reservation" Text.absent().written().separated(','): "The reservation that it runs in, or several separated by commas.";
    ResvPortCnt "resv_port_cnt" Integer.absent().written().since(24, 5): "The ports that are kept for MPI on each node.";
    Script "script" Text.absent().read_only("the script stays as its user wrote it"): "The batch script.";
    ScriptSize "script_size" Integer.absent().read_only("the script stays as its user wrote it"): "The bytes of the batch script.";
    SegmentSize "segment_size" Integer.absent().written().since(24, 5): "How many nodes lie in one block.";
    SelinuxContext "selinux_context" Text.absent().written(): "The SELinux context that slurmctld has found for it.";
    Shared "shared" Text.absent().written().one_of(SHARED): "Who may share its nodes: `none` (`--exclusive`), `ok` (`--oversubscribe`), or who is of one user, label or block.";
    SiteFactor "site_factor" Integer.absent().written(): "What the site adds to its priority.";
    SocketsPerBoard "sockets_per_board" Integer.absent().written(): "The sockets of each board.";
    SocketsPerNode "sockets_per_node" Integer.absent().written(): "The fewest sockets of each node.";
    SpankJobEnv "spank_job_env" Texts.read_only("it belongs to the SPANK plugins of the command that submits"): "What SPANK plugins set for prolog and epilog, as `NAME=value`; users can forge it.";
    SpreadJob "spread_job" Truth.written(): "Whether it is spread over as many nodes as it may have.";
    SpreadSegments "spread_segments" Truth.written().since(25, 11): "Whether each of its segments lies in another block (`--spread-segments`).";
    StdErr "std_err" Text.absent().written(): "Where errors are written.";
    StdIn "std_in" Text.absent().written(): "Where input is read.";
    StdOut "std_out" Text.absent().written(): "Where output is written.";
    StepmgrEnabled "stepmgr_enabled" Truth.written().since(24, 5): "Whether its steps are managed on its first node (`--stepmgr`).";
    SubmitLine "submit_line" Text.absent().read_only("it is the record of what was typed"): "The command by which it is submitted.";
    TaskDist "task_dist" Integer.absent().written(): "Slurm's number of the layout of tasks (`--distribution`).";
    Tasks "tasks" Integer: "The fewest tasks: `num_tasks`, or tasks of each node by nodes, or one a node.";
    ThreadSpec "thread_spec" Integer.absent().written(): "The threads of each node that are left to the system.";
    ThreadsPerCore "threads_per_core" Integer.absent().written(): "The fewest threads of each core.";
    TimeLimit "time_limit" Duration.absent().written(): "The time limit; absent where none is given or none is wanted.";
    TimeLimitIsUnlimited "time_limit_is_unlimited" Truth.read_only("write `time_limit`"): "Whether it asks for no time limit, and `time_limit` is absent for that.";
    TimeMin "time_min" Duration.absent().written(): "The shortest time limit that it can do with.";
    TresBind "tres_bind" Text.absent().written(): "How tasks are bound to generic resources.";
    TresFreq "tres_freq" Text.absent().written(): "The frequencies of generic resources.";
    TresPerJob "tres_per_job" Resources.absent().written().separated(','): "The resources of the whole job (`--gpus`).";
    TresPerNode "tres_per_node" Resources.absent().written().separated(','): "The resources of each node (`--gres`, `--gpus-per-node`).";
    TresPerSocket "tres_per_socket" Resources.absent().written().separated(','): "The resources of each socket (`--gpus-per-socket`).";
    TresPerTask "tres_per_task" Resources.absent().written().separated(','): "The resources of each task (`--gpus-per-task`, `--tres-per-task`).";
    UseMinNodes "use_min_nodes" Truth.written(): "Whether it is to have as few nodes as it can.";
    UserId "user_id" Integer.read_only("slurmctld has checked before who the job is of"): "The number of the user that it runs as.";
    Wait4switch "wait4switch" Duration.absent().written(): "How long it waits for as few switches as it asks for.";
    WaitAllNodes "wait_all_nodes" Truth.absent().written(): "Whether it waits until all of its nodes are up.";
    WarnSignal "warn_signal" Integer.absent().written(): "The number of the signal that it gets before it ends.";
    WarnTime "warn_time" Duration.absent().written(): "How long before its end it gets a signal.";
    Wckey "wckey" Text.absent().written(): "The key by which work is accounted, in small letters, as Slurm compares it without regard to case.";
    WorkDir "work_dir" Text.absent().written(): "The directory that it runs in.";
    X11Forward "x11" Text.absent().one_of(X11).read_only("its cookie comes with the command that submits"): "Which nodes forward X11.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_are_sorted_and_no_name_stands_twice() {
        assert!(
            FIELDS.windows(2).all(|pair| pair[0].name < pair[1].name),
            "{:?}",
            FIELDS.windows(2).find(|pair| pair[0].name >= pair[1].name)
        );
    }

    #[test]
    fn a_meaning_is_a_sentence_in_one_line() {
        for Field { name, meaning, .. } in FIELDS {
            assert!(meaning.starts_with(char::is_uppercase) && meaning.ends_with('.') && !meaning.contains('\n'), "{name}: {meaning}");
        }
    }

    #[test]
    fn a_name_is_what_an_expression_takes_as_one() {
        for Field { name, .. } in FIELDS {
            assert!(name.starts_with(|letter: char| letter.is_ascii_lowercase()), "{name}");
            assert!(name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_'), "{name}");
        }
    }

    #[test]
    fn a_field_is_found_by_its_name_and_by_its_number() {
        for (place, name) in Name::ALL.iter().enumerate() {
            let number = FieldNumber::from(*name);
            assert_eq!((usize::from(number.0), number.name()), (place, Some(*name)));
            assert_eq!(FieldNumber::of(FIELDS[place].name), Some(number));
        }
        assert_eq!((FieldNumber::of("nonsense"), FieldNumber(u16::MAX).get(), FieldNumber(u16::MAX).name()), (None, None, None));
    }

    #[test]
    fn what_is_written_can_be_written_as_what_it_is() {
        for field in FIELDS.iter().filter(|field| field.is_writable) {
            assert!(field.kind != Kind::Real && (field.kind != Kind::Texts || !field.words.is_empty()), "{}", field.name);
            assert!(field.kind != Kind::Variables || field.name == "environment", "{}", field.name);
        }
        for field in FIELDS.iter().filter(|field| !field.words.is_empty()) {
            assert!(matches!(field.kind, Kind::Text | Kind::Texts), "{}", field.name);
        }
        for field in FIELDS.iter().filter(|field| field.separator.is_some()) {
            assert!(matches!(field.kind, Kind::Text | Kind::Resources), "{}", field.name);
        }
    }

    #[test]
    fn what_can_not_be_written_follows_from_other_fields_or_has_a_reason() {
        for (field, name) in FIELDS.iter().zip(Name::ALL) {
            let reasons = [field.is_writable, field.why_not.is_some(), name.is_derived()];
            assert_eq!(reasons.iter().filter(|reason| **reason).count(), 1, "{}", field.name);
        }
    }
}
