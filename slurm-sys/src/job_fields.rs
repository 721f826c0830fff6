//! All fields of a job description that mean something to a site, by name: each as it stands in
//! Slurm, without sentinel values and pointers.
//!
//! What a release of Slurm lacks reads as absent there and is not written (`build.rs` finds it in
//! the headers). Texts are not taken for UTF-8 here. Numbers have Slurm's units: minutes, MiB.

use crate::bindings::{self, CORE_SPEC_THREAD, MEM_PER_CPU};
use crate::job_description::{JobDescription, ListField};
use crate::sentinel::{Sentinel, count, from_nice_offset, nice_offset};
use crate::text::SlurmText;
use std::ffi::{CStr, c_char};

/// The bit of `pn_min_memory` by which it is the memory of each CPU.
const OF_EACH_CPU: u64 = MEM_PER_CPU.cast_unsigned();

/// Makes the enumeration of texts and where each of them stands.
macro_rules! texts {
    ($($(#[cfg($on:meta)])? $name:ident $place:ident;)*) => {
        /// A text of a job description, by its name in `job_desc_msg_t`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum TextField {
            $($name,)*
        }

        impl TextField {
            /// All of them.
            pub const ALL: &[TextField] = &[$(TextField::$name,)*];

            /// The field's name in `job_desc_msg_t`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(TextField::$name => stringify!($place),)*
                }
            }

            /// Whether the Slurm that this is built for has it.
            #[must_use]
            pub fn is_known(self) -> bool {
                match self {
                    $(TextField::$name => true $(&& cfg!($on))?,)*
                }
            }
        }

        impl JobDescription<'_> {
            #[inline]
            pub(crate) fn text_place(&self, field: TextField) -> *const c_char {
                #[allow(unreachable_patterns)]
                match field {
                    $($(#[cfg($on)])? TextField::$name => self.0.$place,)*
                    _ => std::ptr::null(),
                }
            }

            pub(crate) fn text_slot(&mut self, field: TextField) -> Option<&mut *mut c_char> {
                #[allow(unreachable_patterns)]
                match field {
                    $($(#[cfg($on)])? TextField::$name => Some(&mut self.0.$place),)*
                    _ => None,
                }
            }
        }
    };
}

texts! {
    Account account;
    AcctgFreq acctg_freq;
    AdminComment admin_comment;
    AllocNode alloc_node;
    ArrayInx array_inx;
    BatchFeatures batch_features;
    BurstBuffer burst_buffer;
    ClusterFeatures cluster_features;
    Clusters clusters;
    Comment comment;
    Container container;
    #[cfg(job_has = "container_id")] ContainerId container_id;
    #[cfg(job_has = "container_type")] ContainerType container_type;
    CpuBind cpu_bind;
    CpusPerTres cpus_per_tres;
    Dependency dependency;
    ExcNodes exc_nodes;
    Extra extra;
    Features features;
    JobIdStr job_id_str;
    #[cfg(job_has = "job_size_str")] JobSizeStr job_size_str;
    Licenses licenses;
    MailUser mail_user;
    McsLabel mcs_label;
    MemBind mem_bind;
    MemPerTres mem_per_tres;
    Name name;
    Network network;
    OriginCluster origin_cluster;
    Partition partition;
    Prefer prefer;
    Qos qos;
    ReqContext req_context;
    ReqNodes req_nodes;
    Reservation reservation;
    Script script;
    SelinuxContext selinux_context;
    StdErr std_err;
    StdIn std_in;
    StdOut std_out;
    SubmitLine submit_line;
    TresBind tres_bind;
    TresFreq tres_freq;
    TresPerJob tres_per_job;
    TresPerNode tres_per_node;
    TresPerSocket tres_per_socket;
    TresPerTask tres_per_task;
    Wckey wckey;
    WorkDir work_dir;
}

/// Makes the enumeration of numbers, where each of them stands, and whether 0 is none.
macro_rules! numbers {
    ($($(#[cfg($on:meta)])? $name:ident $place:ident $zero:ident;)*) => {
        /// A number of a job description, by its name in `job_desc_msg_t`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum NumberField {
            $($name,)*
        }

        impl NumberField {
            /// All of them.
            pub const ALL: &[NumberField] = &[$(NumberField::$name,)*];

            /// The field's name in `job_desc_msg_t`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(NumberField::$name => stringify!($place),)*
                }
            }

            /// Whether the Slurm that this is built for has it.
            #[must_use]
            pub fn is_known(self) -> bool {
                match self {
                    $(NumberField::$name => true $(&& cfg!($on))?,)*
                }
            }
        }

        impl JobDescription<'_> {
            /// A number, in Slurm's unit; `None` where it is unset or unlimited, where it is 0 and
            /// that is none, and where this Slurm has no such field.
            #[must_use]
            #[inline]
            pub fn number(&self, field: NumberField) -> Option<i64> {
                #[allow(unreachable_patterns)]
                match field {
                    $($(#[cfg($on)])? NumberField::$name => self.0.$place.known().filter(zero!($zero)),)*
                    _ => None,
                }
            }

            /// Sets a number, in Slurm's unit. One that C would read as unset or unlimited, or that
            /// has no room, becomes the nearest that it reads as a number.
            pub fn set_number(&mut self, field: NumberField, number: i64) {
                #[allow(unreachable_patterns)]
                match field {
                    $($(#[cfg($on)])? NumberField::$name => self.0.$place = Sentinel::written(number),)*
                    _ => {}
                }
            }

            /// Makes a number what it is where nobody says anything, as
            /// `slurm_init_job_desc_msg` does (src/api/init_msg.c).
            pub fn unset_number(&mut self, field: NumberField) {
                if field.begins_at_zero() {
                    return self.set_number(field, 0);
                }
                #[allow(unreachable_patterns)]
                match field {
                    $($(#[cfg($on)])? NumberField::$name => self.0.$place = Sentinel::UNSET,)*
                    _ => {}
                }
            }
        }
    };
}

/// Whether a number of 0 is one.
macro_rules! zero {
    (is_one) => {
        |_| true
    };
    (is_none) => {
        |number| *number != 0
    };
    // What sbatch sends where no layout is asked for.
    (of_layout) => {
        |number| *number & i64::from(bindings::SLURM_DIST_UNKNOWN) == 0
    };
}

numbers! {
    AllocSid alloc_sid is_one;
    BeginTime begin_time is_none;
    Bitflags bitflags is_one;
    BoardsPerNode boards_per_node is_none;
    Contiguous contiguous is_one;
    CoresPerSocket cores_per_socket is_none;
    CpuFreqGov cpu_freq_gov is_none;
    CpuFreqMax cpu_freq_max is_none;
    CpuFreqMin cpu_freq_min is_none;
    CpusPerTask cpus_per_task is_none;
    Deadline deadline is_none;
    DelayBoot delay_boot is_one;
    EndTime end_time is_none;
    GroupId group_id is_one;
    HetJobOffset het_job_offset is_one;
    Immediate immediate is_one;
    KillOnNodeFail kill_on_node_fail is_one;
    MailType mail_type is_none;
    MaxCpus max_cpus is_none;
    MaxNodes max_nodes is_none;
    #[cfg(job_has = "mem_update_delay")] MemUpdateDelay mem_update_delay is_none;
    #[cfg(job_has = "mem_update_margin")] MemUpdateMargin mem_update_margin is_none;
    MinCpus min_cpus is_none;
    MinNodes min_nodes is_none;
    NtasksPerBoard ntasks_per_board is_none;
    NtasksPerCore ntasks_per_core is_none;
    NtasksPerNode ntasks_per_node is_none;
    NtasksPerSocket ntasks_per_socket is_none;
    NtasksPerTres ntasks_per_tres is_none;
    NumTasks num_tasks is_none;
    #[cfg(job_has = "oom_kill_step")] OomKillStep oom_kill_step is_one;
    OpenMode open_mode is_none;
    Overcommit overcommit is_one;
    PlaneSize plane_size is_none;
    PnMinCpus pn_min_cpus is_none;
    PnMinTmpDisk pn_min_tmp_disk is_none;
    Priority priority is_one;
    Reboot reboot is_one;
    ReqSwitch req_switch is_none;
    Requeue requeue is_one;
    #[cfg(job_has = "resv_port_cnt")] ResvPortCnt resv_port_cnt is_none;
    #[cfg(job_has = "segment_size")] SegmentSize segment_size is_none;
    Shared shared is_one;
    SocketsPerBoard sockets_per_board is_none;
    SocketsPerNode sockets_per_node is_none;
    TaskDist task_dist of_layout;
    ThreadsPerCore threads_per_core is_none;
    TimeLimit time_limit is_one;
    TimeMin time_min is_none;
    UserId user_id is_one;
    Wait4switch wait4switch is_one;
    WaitAllNodes wait_all_nodes is_one;
    WarnSignal warn_signal is_none;
    WarnTime warn_time is_none;
    X11 x11 is_none;
}

/// What a number of a job description counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds, if it is a length of time; else what the number's name says.
    One,
    /// Minutes.
    Minutes,
    /// MiB.
    Mebibytes,
}

impl NumberField {
    /// What it counts.
    #[must_use]
    pub const fn unit(self) -> Unit {
        match self {
            NumberField::MemUpdateDelay | NumberField::TimeLimit | NumberField::TimeMin => Unit::Minutes,
            NumberField::PnMinTmpDisk => Unit::Mebibytes,
            _ => Unit::One,
        }
    }

    /// Whether it is 0 where nobody says anything.
    fn begins_at_zero(self) -> bool {
        matches!(
            self,
            NumberField::Bitflags
                | NumberField::BoardsPerNode
                | NumberField::HetJobOffset
                | NumberField::Immediate
                | NumberField::MemUpdateDelay
                | NumberField::MemUpdateMargin
                | NumberField::NtasksPerBoard
                | NumberField::OomKillStep
                | NumberField::OpenMode
                | NumberField::ResvPortCnt
                | NumberField::SegmentSize
                | NumberField::SocketsPerBoard
                | NumberField::WarnSignal
                | NumberField::WarnTime
                | NumberField::X11
        )
    }
}

/// The memory that a job asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedMemory {
    /// All memory of its nodes.
    Whole,
    /// A number of MiB on each node.
    OfEachNode(u64),
    /// A number of MiB for each CPU.
    ForEachCpu(u64),
}

/// What a job leaves to the system on each of its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Specialised {
    /// A number of cores.
    Cores(u16),
    /// A number of threads.
    Threads(u16),
}

/// Makes the enumeration of flags, with the name and the bit of each.
macro_rules! flags {
    ($($(#[doc = $meaning:literal])* $flag:ident $name:literal $bit:ident;)*) => {
        /// A flag of a job description.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Flag {
            $($(#[doc = $meaning])* $flag,)*
        }

        impl Flag {
            /// All of them.
            pub const ALL: &[Flag] = &[$(Flag::$flag,)*];

            /// The flag's name: Slurm's own name of the flag's bit, in small letters and with
            /// `INV_DEP` written out as `invalid_dependency`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Flag::$flag => $name,)*
                }
            }

            #[allow(clippy::useless_conversion, reason = "the headers of some releases give some of them 64 bits")]
            fn bit(self) -> u64 {
                match self {
                    $(Flag::$flag => u64::from(bindings::$bit),)*
                }
            }
        }
    };
}

flags! {
    /// The job's segments lie in as few blocks as can be.
    ConsolidateSegments "consolidate_segments" LATE_FLAG_CONSOLIDATE_SEGMENTS;
    /// Tasks may use each other's generic resources.
    GresAllowTaskSharing "gres_allow_task_sharing" LATE_FLAG_GRES_ALLOW_TASK_SHARING;
    /// Each task has a shared generic resource of its own.
    GresOneTaskPerSharing "gres_one_task_per_sharing" LATE_FLAG_GRES_ONE_TASK_PER_SHARING;
    /// Each of the job's segments lies in another block.
    SpreadSegments "spread_segments" LATE_FLAG_SPREAD_SEGMENTS;
    /// The job's steps are managed on its first node.
    StepmgrEnabled "stepmgr_enabled" LATE_FLAG_STEPMGR_ENABLED;
    /// CPUs need not be near the generic resources.
    GresDisableBind "gres_disable_bind" FLAG_GRES_DISABLE_BIND;
    /// CPUs must be near the generic resources.
    GresEnforceBind "gres_enforce_bind" FLAG_GRES_ENFORCE_BIND;
    /// A job whose dependency can't be met is ended.
    KillInvalidDependency "kill_invalid_dependency" FLAG_KILL_INVALID_DEPENDENCY;
    /// A job whose dependency can't be met stays.
    NoKillInvalidDependency "no_kill_invalid_dependency" FLAG_NO_KILL_INVALID_DEPENDENCY;
    /// The job is spread over as many nodes as it may have.
    SpreadJob "spread_job" FLAG_SPREAD_JOB;
    /// The job is to have as few nodes as it can.
    UseMinNodes "use_min_nodes" FLAG_USE_MIN_NODES;
}

impl Flag {
    /// Whether the Slurm that this is built for has it.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.bit() != 0
    }
}

impl JobDescription<'_> {
    /// A text; `None` where it is not set or empty, and where this Slurm has no such field.
    #[must_use]
    #[inline]
    pub fn text(&self, field: TextField) -> Option<&CStr> {
        let text = self.text_place(field);
        // SAFETY: a string of the description that is not NULL ends with NUL, and it lives and
        // stays as it is while the description is borrowed; setters take it mutably.
        (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }).filter(|text| !text.is_empty())
    }

    /// Whether a text is given that is empty, by which a modification takes out what was there.
    #[must_use]
    pub fn empties_text(&self, field: TextField) -> bool {
        let text = self.text_place(field);
        // SAFETY: as in [`JobDescription::text`].
        !text.is_null() && unsafe { CStr::from_ptr(text) }.is_empty()
    }

    /// Sets a text, or takes it out. Where this Slurm has no such field nothing is done.
    pub fn set_text(&mut self, field: TextField, text: Option<SlurmText>) {
        let Some(slot) = self.text_slot(field) else { return };
        match text {
            Some(text) => text.put_into(slot),
            None => crate::text::free(slot),
        }
    }

    /// How many entries a list has.
    #[must_use]
    pub fn entries(&self, field: ListField) -> usize {
        self.list_of(field).len()
    }

    /// An entry of a list; `None` behind the last. One that is NULL is empty.
    #[must_use]
    pub fn entry(&self, field: ListField, place: usize) -> Option<&CStr> {
        let entry = *self.list_of(field).get(place)?;
        // SAFETY: as for texts of the description.
        Some(if entry.is_null() { c"" } else { unsafe { CStr::from_ptr(entry) } })
    }

    /// The value of a variable of the job's environment, the last where it stands twice, which is
    /// the one that the job's shell takes.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&CStr> {
        let entry = self.entry(ListField::Environment, self.place_of(name)?)?;
        // The name and `=` stand before it, as it was found by them.
        CStr::from_bytes_with_nul(entry.to_bytes_with_nul().get(name.len() + 1..)?).ok()
    }

    /// The number of the job that is to be modified, or that is asked for.
    #[must_use]
    pub fn job_id(&self) -> Option<u32> {
        #[cfg(job_id_in_step_id)]
        let number = self.0.step_id.job_id;
        #[cfg(not(job_id_in_step_id))]
        let number = self.0.job_id;
        count(number)
    }

    /// Sets the number of the job that is to be modified, for tests of what reads it.
    pub fn set_job_id(&mut self, number: Option<u32>) {
        let number = number.unwrap_or(crate::bindings::NO_VAL);
        #[cfg(job_id_in_step_id)]
        {
            self.0.step_id.job_id = number;
        }
        #[cfg(not(job_id_in_step_id))]
        {
            self.0.job_id = number;
        }
    }

    /// The memory that it asks for.
    #[must_use]
    #[inline]
    pub fn memory(&self) -> Option<AskedMemory> {
        let mebibytes = crate::sentinel::large_number(self.0.pn_min_memory)?;
        Some(match (mebibytes & !OF_EACH_CPU, mebibytes & OF_EACH_CPU != 0) {
            (0, _) => AskedMemory::Whole,
            (mebibytes, true) => AskedMemory::ForEachCpu(mebibytes),
            (mebibytes, false) => AskedMemory::OfEachNode(mebibytes),
        })
    }

    /// Whether it asks for all memory of its nodes.
    #[must_use]
    pub fn wants_all_memory(&self) -> bool {
        self.memory() == Some(AskedMemory::Whole)
    }

    /// Sets the memory that it asks for, or that it says nothing of it.
    pub fn set_memory(&mut self, memory: Option<AskedMemory>) {
        // Above it the greatest is not set, and below it the bit for CPUs.
        let room = |mebibytes: u64| mebibytes.min(OF_EACH_CPU - 3);
        self.0.pn_min_memory = match memory {
            None => Sentinel::UNSET,
            Some(AskedMemory::Whole) => 0,
            Some(AskedMemory::OfEachNode(mebibytes)) => room(mebibytes),
            Some(AskedMemory::ForEachCpu(mebibytes)) => room(mebibytes) | OF_EACH_CPU,
        };
    }

    /// What it leaves to the system.
    #[must_use]
    pub fn specialised(&self) -> Option<Specialised> {
        let threads = CORE_SPEC_THREAD as u16;
        self.0.core_spec.known()?;
        let number = self.0.core_spec & !threads;
        Some(if self.0.core_spec & threads == 0 { Specialised::Cores(number) } else { Specialised::Threads(number) })
    }

    /// Sets what it leaves to the system, or that it says nothing of it.
    pub fn set_specialised(&mut self, left: Option<Specialised>) {
        let threads = CORE_SPEC_THREAD as u16;
        // Below what would read as unset.
        let room = |number: u16| number.min(threads - 3);
        self.0.core_spec = match left {
            None => Sentinel::UNSET,
            Some(Specialised::Cores(number)) => room(number),
            Some(Specialised::Threads(number)) => room(number) | threads,
        };
    }

    /// What is taken from the job's priority.
    #[must_use]
    pub fn nice(&self) -> Option<i64> {
        self.0.nice.known().filter(|nice| *nice != 0).map(|_| from_nice_offset(self.0.nice))
    }

    /// Sets what is taken from the job's priority, or that nothing is said of it.
    pub fn set_nice(&mut self, nice: Option<i64>) {
        self.0.nice = nice.map_or(Sentinel::UNSET, nice_offset);
    }

    /// What the site adds to the job's priority.
    #[must_use]
    pub fn site_factor(&self) -> Option<i64> {
        self.0.site_factor.known().filter(|factor| *factor != 0).map(|_| from_nice_offset(self.0.site_factor))
    }

    /// Sets what the site adds to the job's priority, or that nothing is said of it.
    pub fn set_site_factor(&mut self, factor: Option<i64>) {
        self.0.site_factor = factor.map_or(Sentinel::UNSET, nice_offset);
    }

    /// What is profiled, as bits; 0 where nothing is said, and all for everything.
    #[must_use]
    pub fn profile(&self) -> u32 {
        self.0.profile
    }

    /// Sets what is profiled, as bits.
    pub fn set_profile(&mut self, bits: u32) {
        self.0.profile = bits;
    }

    /// Whether it has a flag.
    #[must_use]
    pub fn has_flag(&self, flag: Flag) -> bool {
        self.0.bitflags & flag.bit() != 0
    }

    /// Sets a flag or takes it away. Where this Slurm has no such flag nothing is done.
    pub fn set_flag(&mut self, flag: Flag, is_set: bool) {
        if is_set {
            self.0.bitflags |= flag.bit();
        } else {
            self.0.bitflags &= !flag.bit();
        }
    }

    /// What sbatch of this Slurm puts before generic resources: `gres:` up to 22.05, which knows no
    /// `container_id` yet, and `gres/` since.
    #[must_use]
    pub fn resource_prefix() -> &'static str {
        if TextField::ContainerId.is_known() { "gres/" } else { "gres:" }
    }
}
