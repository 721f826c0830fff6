//! What slurm.conf says of priorities.

use std::collections::BTreeMap;

use job_types::time::Seconds;
use slurm_conf::duration;
use slurm_conf::slurm_settings::{self, Minutes, Setting, SlurmSettings};

use crate::engine::Departure;

/// How fair-share factors come from usage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub enum FairShare {
    /// The rank in the tree of accounts and users: Slurm's default since 19.05.
    #[default]
    FairTree,
    /// 2^(-usage / shares): `PriorityFlags=NO_FAIR_TREE`.
    Classic,
}

/// The settings of priority/multifactor that this model knows, with Slurm's own names and defaults
/// (src/common/read_config.c, 22.05 to 26.05).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct PrioritySettings {
    /// `PriorityWeightAge` (0).
    pub weight_age: u32,
    /// `PriorityWeightFairshare` (0).
    pub weight_fair_share: u32,
    /// `PriorityWeightJobSize` (0).
    pub weight_job_size: u32,
    /// `PriorityWeightPartition` (0).
    pub weight_partition: u32,
    /// `PriorityWeightQOS` (0).
    pub weight_qos: u32,
    /// `PriorityMaxAge` (7 days): from so many seconds in the queue on, the age factor is 1.
    #[serde(rename = "max_age_seconds")]
    pub max_age: Seconds,
    /// `PriorityDecayHalfLife` (7 days): in so many seconds half of what was used is forgotten; 0:
    /// nothing is.
    #[serde(rename = "decay_half_life_seconds")]
    pub decay_half_life: Seconds,
    /// `PriorityCalcPeriod` (5 minutes): so often usage decays, and the priorities of waiting jobs
    /// are calculated anew.
    #[serde(rename = "calculation_period_seconds")]
    pub calculation_period: Seconds,
    /// `PriorityFavorSmall` (no): whether small jobs have the greater size factor.
    pub favors_small: bool,
    /// `PriorityFlags=SMALL_RELATIVE_TO_TIME` (no): whether the size factor is divided by the time
    /// limit in minutes.
    pub size_relative_to_time: bool,
    /// `PriorityFlags=NO_FAIR_TREE` (no).
    pub fair_share: FairShare,
    /// `FairShareDampeningFactor` (1), of the classic fair share.
    pub dampening_factor: u32,
    /// `AccountingStorageEnforce` with limits: whether a job that ends is charged with what it has
    /// used since the last calculation. Without limits Slurm charges nobody then
    /// (src/slurmctld/acct_policy.c, `_adjust_limit_usage`), and a job that comes and goes between
    /// two calculations is free of charge. Taken to be so where nothing is said, although Slurm's
    /// default is none: who weighs fair shares mostly enforces limits.
    pub charges_at_end: bool,
    /// `PriorityJobFactor` by partition (1); factors are relative to the greatest.
    pub partition_factors: BTreeMap<u32, u32>,
    /// Priority of a QOS by queue (0); factors are relative to the greatest.
    pub qos_priorities: BTreeMap<u32, u32>,
}

impl Default for PrioritySettings {
    fn default() -> Self {
        Self {
            weight_age: 0,
            weight_fair_share: 0,
            weight_job_size: 0,
            weight_partition: 0,
            weight_qos: 0,
            max_age: Seconds(7 * duration::DAY_SECONDS),
            decay_half_life: Seconds(7 * duration::DAY_SECONDS),
            calculation_period: Seconds(300),
            favors_small: false,
            size_relative_to_time: false,
            fair_share: FairShare::FairTree,
            dampening_factor: 1,
            charges_at_end: true,
            partition_factors: BTreeMap::new(),
            qos_priorities: BTreeMap::new(),
        }
    }
}

/// Why settings of priorities can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// This model knows no such setting.
    #[error("line {line}: the model of Slurm's priorities knows no {setting}")]
    Unknown {
        /// Number of the line, counted from 1.
        line: usize,
        /// The setting, or the flag of a setting, as it is written.
        setting: String,
    },
    /// A value is none that slurmctld takes.
    #[error("line {line}: {key}: {value:?} is not {expected}")]
    Value {
        /// Number of the line, counted from 1.
        line: usize,
        /// The setting.
        key: String,
        /// The value that was given.
        value: String,
        /// The values that are allowed.
        expected: &'static str,
    },
}

/// A value of a setting is none that slurmctld takes.
#[derive(PartialEq, Eq)]
struct NotTaken {
    /// The values that are allowed.
    expected: &'static str,
}

/// What slurmctld makes of an unlimited length of time: -1 minutes, kept in seconds as a number of
/// 32 bits without a sign, which is 136 years.
const UNLIMITED: Seconds = Seconds((1 << 32) - 60);

impl PrioritySettings {
    /// Reads lines of slurm.conf, or of what `scontrol show config` prints: those of priorities
    /// (`Priority...`, `FairShareDampeningFactor`) and `AccountingStorageEnforce`; the others are
    /// passed over. What is not there has Slurm's default.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] with the line that can't be read or asks for what this model leaves out.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let (mut settings, mut is_basic) = (Self::default(), false);
        for setting in SlurmSettings::parse(text).in_force() {
            let not_had = settings.set(setting, &mut is_basic).map_err(|NotTaken { expected }| {
                let Setting { key, value, line } = setting.clone();
                SettingsError::Value { line, key, value, expected }
            })?;
            if let Some(setting_not_had) = not_had.into_iter().next() {
                return Err(SettingsError::Unknown { line: setting.line, setting: setting_not_had });
            }
        }
        Ok(settings.of_type(is_basic))
    }

    /// Takes what [`PrioritySettings::parse`] does from the configuration of a site, whatever it
    /// says: also what the model does not have of it, and what slurmctld does not take.
    #[must_use]
    pub fn of_site(site: &SlurmSettings) -> (Self, Vec<Departure>) {
        let (mut settings, mut is_basic, mut departures) = (Self::default(), false, Vec::new());
        for setting in site.in_force() {
            match settings.set(setting, &mut is_basic) {
                Ok(not_had) => departures.extend(not_had.into_iter().map(Departure::NotModelled)),
                Err(NotTaken { expected }) => {
                    let Setting { key, value, .. } = setting;
                    departures.push(Departure::NotTaken(format!(
                        "slurmctld does not take {key}={value}, which is not {expected}, and does not start with it; the simulation goes \
                         by the default"
                    )));
                }
            }
        }
        (settings.of_type(is_basic), departures)
    }

    /// Whether a configuration has a setting of priorities.
    #[must_use]
    pub fn are_in(site: &SlurmSettings) -> bool {
        site.in_force().any(|setting| setting.key.to_ascii_lowercase().starts_with("priority"))
    }

    /// Returns these settings for a type of priority. Under priority/basic the weights are 0, so
    /// that the job that comes first is first.
    fn of_type(self, is_basic: bool) -> Self {
        if !is_basic {
            return self;
        }
        Self { weight_age: 0, weight_fair_share: 0, weight_job_size: 0, weight_partition: 0, weight_qos: 0, ..self }
    }

    /// Takes a setting; returns what of it the model does not have.
    fn set(&mut self, setting: &Setting, is_basic: &mut bool) -> Result<Vec<String>, NotTaken> {
        let Setting { key, value, .. } = setting;
        let wrong = |expected| NotTaken { expected };
        let weight = || slurm_settings::whole_number(value).ok_or_else(|| wrong("a whole number"));
        let seconds = || match slurm_settings::minutes(value) {
            Some(Minutes::Number(minutes)) => Ok(Seconds(minutes.saturating_mul(60)).min(UNLIMITED)),
            Some(Minutes::Unlimited) => Ok(UNLIMITED),
            None => Err(wrong("a duration as in 7-00:00:00")),
        };
        let is_none = slurm_settings::is_nothing(value) || value.eq_ignore_ascii_case("none");
        match key.to_ascii_lowercase().as_str() {
            "priorityweightage" => self.weight_age = weight()?,
            "priorityweightfairshare" => self.weight_fair_share = weight()?,
            "priorityweightjobsize" => self.weight_job_size = weight()?,
            "priorityweightpartition" => self.weight_partition = weight()?,
            "priorityweightqos" => self.weight_qos = weight()?,
            "priorityweightassoc" if weight() == Ok(0) => {}
            "prioritymaxage" => self.max_age = seconds()?,
            "prioritydecayhalflife" => self.decay_half_life = seconds()?,
            "prioritycalcperiod" => {
                let period = seconds()?;
                if period < Seconds::MINUTE || period == UNLIMITED {
                    return Err(wrong("a duration of a minute or more"));
                }
                self.calculation_period = period;
            }
            "priorityfavorsmall" => self.favors_small = slurm_settings::truth(value).ok_or_else(|| wrong("yes or no"))?,
            "priorityflags" => return Ok(self.set_flags(if is_none { "" } else { value })),
            "prioritytype" if value == "priority/multifactor" => {}
            "prioritytype" if value == "priority/basic" => *is_basic = true,
            "accountingstorageenforce" => {
                let enforced = value.to_ascii_lowercase();
                self.charges_at_end = enforced.split(',').any(|what| ["limits", "safe", "all", "1"].contains(&what.trim()));
            }
            "fairsharedampeningfactor" => self.dampening_factor = weight()?.max(1),
            "prioritysitefactorplugin" if value.to_ascii_lowercase().contains("none") => {}
            key if key.starts_with("priority") && !is_none => return Ok(vec![format!("{}={value}", setting.key)]),
            _ => {}
        }
        Ok(Vec::new())
    }

    /// Takes the flags of priorities; returns those that the model does not have.
    fn set_flags(&mut self, flags: &str) -> Vec<String> {
        let mut unknown = Vec::new();
        for flag in flags.split(',').map(str::trim).filter(|flag| !flag.is_empty()) {
            match flag.to_ascii_uppercase().as_str() {
                "NO_FAIR_TREE" => self.fair_share = FairShare::Classic,
                "SMALL_RELATIVE_TO_TIME" => self.size_relative_to_time = true,
                // Jobs age from when they come into the queue in either case: the model has no
                // dependencies. The fair tree is the default, and its flag says so where a file
                // is older than that.
                "ACCRUE_ALWAYS" | "FAIR_TREE" => {}
                // It takes the fair tree away as well.
                "DEPTH_OBLIVIOUS" => {
                    self.fair_share = FairShare::Classic;
                    unknown.push(format!("PriorityFlags={flag}"));
                }
                _ => unknown.push(format!("PriorityFlags={flag}")),
            }
        }
        unknown
    }
}

#[cfg(test)]
mod tests {
    use super::{Departure, FairShare, PrioritySettings, Seconds, SlurmSettings};

    #[test]
    fn an_excerpt_of_slurm_conf_is_read() {
        let text = "ClusterName=x\nPriorityType=priority/multifactor\n# PriorityWeightAge=1\nPriorityWeightAge=1000 # a comment\npriorityfavorsmall=YES\n\
                    PriorityMaxAge=1-0\nPriorityFlags=NO_FAIR_TREE,SMALL_RELATIVE_TO_TIME";
        let expected = PrioritySettings {
            weight_age: 1_000,
            favors_small: true,
            max_age: Seconds(86_400),
            fair_share: FairShare::Classic,
            size_relative_to_time: true,
            ..PrioritySettings::default()
        };
        assert_eq!(PrioritySettings::parse(text), Ok(expected));
    }

    #[test]
    fn what_scontrol_shows_is_read() {
        let text = "PriorityParameters      = (null)\nPrioritySiteFactorPlugin = (null)\nPriorityDecayHalfLife   = 00:20:00\n\
                    PriorityCalcPeriod      = 00:01:00\nPriorityFlags           = \nPriorityUsageResetPeriod = NONE\nPriorityWeightAssoc     = 0\n\
                    PriorityWeightTRES      = (null)\nAccountingStorageEnforce = none\nFairShareDampeningFactor = 1\nSchedulerType           = sched/backfill";
        let expected = PrioritySettings {
            decay_half_life: Seconds(1_200),
            calculation_period: Seconds(60),
            charges_at_end: false,
            ..PrioritySettings::default()
        };
        assert_eq!(PrioritySettings::parse(text), Ok(expected));
    }

    #[test]
    fn what_is_not_known_is_named_with_its_line() {
        let error = |text: &str| PrioritySettings::parse(text).unwrap_err().to_string();
        assert_eq!(error("\nPriorityWeightLuck=1"), "line 2: the model of Slurm's priorities knows no PriorityWeightLuck=1");
        assert_eq!(error("PriorityWeightAge=much"), "line 1: PriorityWeightAge: \"much\" is not a whole number");
        assert_eq!(error("PriorityMaxAge=old"), "line 1: PriorityMaxAge: \"old\" is not a duration as in 7-00:00:00");
        assert!(error("PriorityFlags=DEPTH_OBLIVIOUS").contains("DEPTH_OBLIVIOUS"));
        assert!(error("PriorityWeightTRES=cpu=10").contains("PriorityWeightTRES=cpu=10"));
    }

    #[test]
    fn what_the_model_does_not_have_is_told_beside_what_it_has() {
        let text = "PriorityType=priority/multifactor\nPriorityWeightAge=1000\nPriorityFlags=MAX_TRES,NO_FAIR_TREE\nPriorityWeightTRES=cpu=10\n\
                    PriorityUsageResetPeriod=MONTHLY\nPriorityWeightAssoc=7";
        let (settings, departures) = of_site(text);
        assert_eq!((settings.weight_age, settings.fair_share), (1_000, FairShare::Classic));
        let expected = ["PriorityFlags=MAX_TRES", "PriorityWeightTRES=cpu=10", "PriorityUsageResetPeriod=MONTHLY", "PriorityWeightAssoc=7"];
        assert_eq!(departures, expected.map(|setting| Departure::NotModelled(setting.to_owned())));
    }

    fn of_site(text: &str) -> (PrioritySettings, Vec<Departure>) {
        PrioritySettings::of_site(&SlurmSettings::parse(text))
    }

    #[test]
    fn values_are_taken_as_slurmctld_takes_them() {
        let expected = PrioritySettings { weight_age: 1_000, weight_job_size: 500, max_age: Seconds(14 * 86_400), ..Default::default() };
        let rest = "PriorityWeightJobSize=\"500\"\nPriorityMaxAge=14-0\n";
        for age in ["PriorityWeightAge=1000\n", "PriorityWeightAge=\\\n1000\n", "priorityweightage=0x3e8 # weighs\n"] {
            assert_eq!(of_site(&format!("{age}{rest}")), (expected.clone(), Vec::new()), "{age}");
        }
        // -1 minutes in 32 bits without a sign: 4,294,967,236 s.
        let unlimited = of_site("PriorityFavorSmall=true\nPriorityMaxAge=UNLIMITED\n");
        let forever = PrioritySettings { favors_small: true, max_age: Seconds(4_294_967_236), ..Default::default() };
        assert_eq!(unlimited, (forever, Vec::new()));
        assert!(of_site("PriorityFavorSmall=up\n").0.favors_small);
        let tree = of_site("PriorityFlags=FAIR_TREE\nPriorityWeightFairshare=1000\n");
        assert_eq!((tree.0.fair_share, tree.1.len()), (FairShare::FairTree, 0));
        let basic = of_site("PriorityType=priority/basic\nPriorityWeightAge=1000\n");
        assert_eq!(basic, (PrioritySettings::default(), Vec::new()));
    }

    #[test]
    fn a_value_that_slurmctld_does_not_take_is_told_and_the_rest_is_taken() {
        for wrong in ["PriorityFavorSmall=maybe", "PriorityMaxAge=old", "PriorityCalcPeriod=0", "PriorityWeightQOS=-1"] {
            let (settings, departures) = of_site(&format!("{wrong}\nPriorityWeightAge=1000\n"));
            assert_eq!(settings, PrioritySettings { weight_age: 1_000, ..Default::default() }, "{wrong}");
            let [Departure::NotTaken(told)] = departures.as_slice() else { panic!("{departures:?}") };
            assert!(told.starts_with(&format!("slurmctld does not take {wrong}, which is not ")), "{told}");
        }
    }
}
