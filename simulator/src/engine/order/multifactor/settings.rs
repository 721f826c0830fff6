//! What slurm.conf says of priorities.

use std::collections::BTreeMap;

use job_types::time::Seconds;
use slurm_conf::duration;

/// How fair-share factors come from usage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub enum FairShare {
    /// By rank in the tree of accounts and users: Slurm's default since 19.05.
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
    /// A line is no setting.
    #[error("line {line}: {text:?} is not Key=Value")]
    Form {
        /// Number of the line, counted from 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// This model knows no such setting.
    #[error("line {line}: the model of Slurm's priorities knows no {setting}")]
    Unknown {
        /// Number of the line, counted from 1.
        line: usize,
        /// The setting, or the flag of a setting, as it is written.
        setting: String,
    },
    /// A value is none that this model knows.
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

/// A setting of priorities that this model does not have, or has not with that value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownSetting {
    /// Number of the line, counted from 1.
    pub line: usize,
    /// The setting as it is written, or the flag of a setting.
    pub setting: String,
}

impl PrioritySettings {
    /// Reads lines of slurm.conf, or of what `scontrol show config` prints: those of priorities
    /// (`Priority...`, `FairShareDampeningFactor`) and `AccountingStorageEnforce`; the others,
    /// comments and empty lines are passed over. What is not there has Slurm's default.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] with the line that can't be read or asks for what this model leaves out.
    pub fn parse(text: &str) -> Result<Self, SettingsError> {
        let (settings, unknown) = Self::parse_known(text)?;
        match unknown.into_iter().next() {
            None => Ok(settings),
            Some(unknown) => Err(SettingsError::Unknown { line: unknown.line, setting: unknown.setting }),
        }
    }

    /// Reads what [`PrioritySettings::parse`] does, and returns the settings that this model does
    /// not have beside those that it has.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] with the line that is no setting, or has a setting that the model has with
    /// a value that can't be read.
    pub fn parse_known(text: &str) -> Result<(Self, Vec<UnknownSetting>), SettingsError> {
        let (mut settings, mut unknown) = (Self::default(), Vec::new());
        for (place, written) in text.lines().enumerate() {
            let written = written.split('#').next().unwrap_or_default().trim();
            let lower = written.to_ascii_lowercase();
            let known = ["priority", "fairsharedampeningfactor", "accountingstorageenforce"];
            if !known.iter().any(|known| lower.starts_with(known)) {
                continue;
            }
            let form = || SettingsError::Form { line: place + 1, text: written.to_owned() };
            let (key, value) = written.split_once('=').ok_or_else(form)?;
            let not_had = settings.set(place + 1, key.trim(), value.trim())?;
            unknown.extend(not_had.into_iter().map(|setting| UnknownSetting { line: place + 1, setting }));
        }
        Ok((settings, unknown))
    }

    /// Takes a setting; returns what of it the model does not have.
    fn set(&mut self, line: usize, key: &str, value: &str) -> Result<Vec<String>, SettingsError> {
        let wrong = |expected| SettingsError::Value { line, key: key.to_owned(), value: value.to_owned(), expected };
        let weight = || value.parse::<u32>().map_err(|_| wrong("a whole number"));
        // Slurm rounds these up to whole minutes (time_str2mins).
        let minutes = || match duration::parse(value) {
            Ok(seconds) => Ok(Seconds(seconds).rounded_up_to_minutes()),
            Err(_) => Err(wrong("a duration as in 7-00:00:00")),
        };
        let is_none = value.is_empty() || value == "(null)" || value.eq_ignore_ascii_case("none");
        let as_written = || vec![format!("{key}={value}")];
        match key.to_ascii_lowercase().as_str() {
            "priorityweightage" => self.weight_age = weight()?,
            "priorityweightfairshare" => self.weight_fair_share = weight()?,
            "priorityweightjobsize" => self.weight_job_size = weight()?,
            "priorityweightpartition" => self.weight_partition = weight()?,
            "priorityweightqos" => self.weight_qos = weight()?,
            "priorityweightassoc" if value == "0" => {}
            "prioritymaxage" => self.max_age = minutes()?,
            "prioritydecayhalflife" => self.decay_half_life = minutes()?,
            "prioritycalcperiod" => self.calculation_period = minutes()?.max(Seconds::MINUTE),
            "priorityfavorsmall" => {
                self.favors_small = match value.to_ascii_lowercase().as_str() {
                    "yes" => true,
                    "no" => false,
                    _ => return Err(wrong("yes or no")),
                }
            }
            "priorityflags" => return Ok(self.set_flags(if is_none { "" } else { value })),
            "prioritytype" if value == "priority/multifactor" => {}
            "accountingstorageenforce" => {
                let enforced = value.to_ascii_lowercase();
                self.charges_at_end = enforced.split(',').any(|what| ["limits", "safe", "all", "1"].contains(&what.trim()));
            }
            "fairsharedampeningfactor" => self.dampening_factor = weight()?.max(1),
            "priorityweighttres"
            | "priorityusageresetperiod"
            | "prioritysitefactorplugin"
            | "prioritysitefactorparameters"
            | "priorityparameters"
                if is_none => {}
            _ => return Ok(as_written()),
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
                // dependencies.
                "ACCRUE_ALWAYS" => {}
                _ => unknown.push(format!("PriorityFlags={flag}")),
            }
        }
        unknown
    }
}

#[cfg(test)]
mod tests {
    use super::{FairShare, PrioritySettings, Seconds};

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
        let (settings, unknown) = PrioritySettings::parse_known(text).unwrap();
        assert_eq!((settings.weight_age, settings.fair_share), (1_000, FairShare::Classic));
        let told: Vec<_> = unknown.iter().map(|unknown| (unknown.line, unknown.setting.as_str())).collect();
        let expected = [
            (3, "PriorityFlags=MAX_TRES"),
            (4, "PriorityWeightTRES=cpu=10"),
            (5, "PriorityUsageResetPeriod=MONTHLY"),
            (6, "PriorityWeightAssoc=7"),
        ];
        assert_eq!(told, expected);
        assert!(PrioritySettings::parse_known("PriorityFlags=MAX_TRES\nPriorityWeightAge=much").is_err());
    }
}
