//! The cluster, and what it says of its scheduling.

use crate::{Cluster, Options};
use job_types::number::UserId;
use simulator::engine::backfill::SlurmParameters;
use simulator::engine::order::{Associations, PrioritySettings};

/// Nodes of the cluster, of one CPU each.
pub const NODES: u32 = 16;

/// Lines of slurm.conf. Times are short because jobs are; a setting that is not here has Slurm's
/// default.
const CONFIGURATION: [&str; 12] = [
    // The log then tells when the nodes of a job are free again.
    "DebugFlags=TraceJobs",
    "SlurmctldDebug=verbose",
    // Without this setting, Slurm forgets at the end of a job what it has used since the last
    // calculation.
    "AccountingStorageEnforce=limits",
    "PriorityType=priority/multifactor",
    "PriorityCalcPeriod=1",
    "PriorityDecayHalfLife=00:20:00",
    "PriorityMaxAge=00:10:00",
    "PriorityWeightAge=1000",
    "PriorityWeightFairshare=2000",
    "PriorityWeightJobSize=500",
    "PriorityWeightPartition=400",
    "PriorityWeightQOS=800",
];
const SCHEDULER_PARAMETERS: &str = "SchedulerParameters=bf_interval=5,bf_resolution=10,bf_window=120,bf_max_job_test=200,sched_interval=30";
/// The partitions of slurm.conf, both of all nodes.
const PARTITIONS: [&str; 2] = ["main Default=YES MaxTime=01:00:00 PriorityJobFactor=1", "express MaxTime=01:00:00 PriorityJobFactor=10"];

/// What commands of a cluster printed, with times in Unix seconds.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Printed {
    /// `sinfo --version`.
    pub version: String,
    /// `scontrol show config`: the lines that have to do with scheduling.
    pub configuration: String,
    /// `sshare -a -n -P -o Account,User,RawShares`.
    pub shares: String,
    /// `scontrol show partition --oneliner`.
    pub partitions: String,
    /// `sacctmgr -n -P list qos format=name,priority`.
    pub qos: String,
}

/// How a cluster schedules, as it says itself. Times are seconds since `epoch`.
#[derive(Clone, Debug)]
pub struct Site {
    /// The output of the site's own commands.
    pub printed: Printed,
    /// The beginning of an hour before all that happens, in Unix seconds: multiples of
    /// `bf_resolution` are then the same on both clocks.
    pub epoch: i64,
    /// When slurmctld started, which is when it calculated priorities first.
    pub booted_seconds: i64,
    /// Whether the cluster runs an epilog on the nodes.
    pub has_epilog: bool,
    /// How the cluster's main scheduler and backfill scheduler are set.
    pub parameters: SlurmParameters,
    /// How the cluster calculates priorities.
    pub priorities: PrioritySettings,
    /// The cluster's accounts and users.
    pub associations: Associations,
    pub(super) accounts: Names,
    pub(super) users: Names,
    pub(super) partitions: Names,
    pub(super) qos: Names,
}

/// Numbers for names, as the engine's jobs have them.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(Vec<String>);

impl Names {
    /// The number of a name, which is a new one where the name is.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        let known = self.0.iter().position(|known| known == name);
        let place = known.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        });
        u32::try_from(place).expect("names are few")
    }
}

impl Site {
    /// A cluster that schedules by more than its defaults: two partitions, two accounts with
    /// shares, a QOS.
    ///
    /// # Panics
    /// Where it does not come up.
    #[must_use]
    pub fn up() -> Cluster {
        let mut options = Options::plain().option("nodes", &NODES.to_string()).option("cpus", "1");
        for line in CONFIGURATION.iter().chain([&SCHEDULER_PARAMETERS]) {
            options = options.option("conf-line", line);
        }
        for partition in PARTITIONS {
            options = options.option("partition", partition);
        }
        let cluster = Cluster::up(&options);
        for arguments in [
            "add account physics fairshare=2 description=physics organization=physics",
            "add account chemistry fairshare=3 description=chemistry organization=chemistry",
            "add user games,man account=physics",
            "add user mail,news account=chemistry",
            "add qos urgent priority=10",
        ] {
            let arguments: Vec<&str> = ["--immediate"].into_iter().chain(arguments.split(' ')).collect();
            let _ = cluster.output("sacctmgr", &arguments);
        }
        // New accounts have no fair share before the next calculation; a start is one.
        cluster.daemon("restart", "slurmctld");
        cluster
    }

    /// Asks a cluster how it schedules.
    ///
    /// # Panics
    /// Where it does not answer, or asks for what the model leaves out.
    #[must_use]
    pub fn of(cluster: &Cluster) -> Site {
        Site::read(Printed {
            version: cluster.output("sinfo", &["--version"]),
            configuration: of_scheduling(&text(cluster, "scontrol", &["show", "config"])),
            shares: text(cluster, "sshare", &["-a", "-n", "-P", "-o", "Account,User,RawShares"]),
            partitions: text(cluster, "scontrol", &["show", "partition", "--oneliner"]),
            qos: text(cluster, "sacctmgr", &["-n", "-P", "list", "qos", "format=name,priority"]),
        })
    }

    /// Reads what a cluster printed.
    ///
    /// # Panics
    /// Where it asks for what the model leaves out.
    #[must_use]
    pub fn read(printed: Printed) -> Site {
        let value = |key: &str| {
            let mut lines = printed.configuration.lines().filter_map(|line| line.split_once('='));
            lines.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
        };
        let booted: i64 = value("BOOT_TIME").parse().expect("scontrol shows when slurmctld started");
        let epoch = booted - booted.rem_euclid(3_600);
        let mut site = Site {
            epoch,
            booted_seconds: booted - epoch,
            has_epilog: value("Epilog") != "(null)",
            parameters: SlurmParameters::parse(&value("SchedulerParameters")).expect("parameters that the model knows"),
            priorities: PrioritySettings::parse(&printed.configuration).expect("settings that the model knows"),
            associations: Associations::default(),
            accounts: Names::default(),
            users: Names::default(),
            partitions: Names::default(),
            qos: Names::default(),
            printed,
        };
        let Printed { shares, partitions, qos, .. } = site.printed.clone();
        site.read_associations(&shares);
        for line in partitions.lines() {
            let field = |key: &str| line.split_whitespace().find_map(|field| field.strip_prefix(key)).unwrap_or_default();
            let number = site.partitions.number(field("PartitionName="));
            site.priorities.partition_factors.insert(number, field("PriorityJobFactor=").parse().expect("a number"));
        }
        for line in qos.lines() {
            let (name, priority) = line.split_once('|').expect("two columns");
            let number = site.qos.number(name);
            site.priorities.qos_priorities.insert(number, priority.parse().expect("a number"));
        }
        site
    }

    /// Reads the tree that sshare prints, indented by level.
    fn read_associations(&mut self, printed: &str) {
        let mut accounts = Vec::new();
        for line in printed.lines() {
            let columns: Vec<&str> = line.split('|').collect();
            let [account, user, shares] = columns[..] else { panic!("sshare printed {line:?}") };
            let depth = account.len() - account.trim_start().len();
            if depth == 0 {
                continue;
            }
            accounts.truncate(depth - 1);
            let parent = accounts.last().copied();
            let shares: Option<u32> = shares.parse().ok();
            if user.is_empty() {
                accounts.push(self.associations.account(parent, shares.unwrap_or(0)));
            } else {
                let (group, user) = (self.accounts.number(account.trim()), UserId(self.users.number(user)));
                self.associations.user(parent, shares, group, user);
            }
        }
    }
}

/// The lines of `scontrol show config` that a [`Site`] is read from.
fn of_scheduling(configuration: &str) -> String {
    let kept = ["BOOT_TIME", "Epilog ", "SchedulerParameters", "Priority", "FairShareDampeningFactor", "AccountingStorageEnforce"];
    configuration.lines().filter(|line| kept.iter().any(|kept| line.starts_with(kept))).flat_map(|line| [line.trim_end(), "\n"]).collect()
}

/// What a command prints, with times in Unix seconds.
pub(super) fn text(cluster: &Cluster, program: &str, arguments: &[&str]) -> String {
    let output = cluster.prepare(program).args(arguments).env("SLURM_TIME_FORMAT", "%s").output().expect("Slurm's commands are there");
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
