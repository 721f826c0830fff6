//! The configuration in force, and what is wrong with the file if it is another one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use job_types::policy::{HeldBack, Policy};
use job_types::time::UnixTime;
use slurm_conf::configuration::{Configuration, ConfigurationError};

/// The configuration in force.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    path: PathBuf,
    /// The configuration that was read last without an error.
    pub(crate) configuration: Configuration,
    pub(crate) loaded_at: UnixTime,
    /// What is wrong with the file now; empty if nothing.
    pub(crate) error: String,
    /// What the guard holds back, by partition.
    pub(crate) held_back: BTreeMap<String, HeldBack>,
}

impl Settings {
    /// Reads the file. Where there is none the defaults are in force.
    ///
    /// # Errors
    /// The file is there, and cannot be used.
    pub(crate) fn load(path: PathBuf, now: UnixTime) -> Result<Self, ConfigurationError> {
        let (configuration, error) = match Configuration::load(&path) {
            Ok(configuration) => (configuration, String::new()),
            Err(error @ ConfigurationError::Missing { .. }) => (Configuration::default(), format!("{error}; the defaults are in force")),
            Err(error) => return Err(error),
        };
        Ok(Self { path, configuration, loaded_at: now, error, held_back: BTreeMap::new() })
    }

    /// Reads the file again. Where it cannot be used the last good configuration stays in force,
    /// and what is wrong is kept beside it. Returns whether the file is good.
    pub(crate) fn reload(&mut self, now: UnixTime) -> bool {
        match Configuration::load(&self.path) {
            Ok(configuration) => {
                self.configuration = configuration;
                self.loaded_at = now;
                self.error.clear();
            }
            Err(error) => self.error = format!("{error}; the last good configuration is in force"),
        }
        self.error.is_empty()
    }

    /// The keys and tables that are otherwise than `before`, and that only a start takes up.
    pub(crate) fn taken_up_at_the_next_start(&self, before: &Configuration) -> Vec<&'static str> {
        let after = &self.configuration;
        let later = [
            ("state_directory", before.state_directory != after.state_directory),
            ("[history]", before.history != after.history),
            ("api.listen", before.api.listen != after.api.listen),
            ("[metrics]", before.metrics != after.metrics),
            ("log.format", before.log.format != after.log.format),
        ];
        later.into_iter().filter(|(_key, has_changed)| *has_changed).map(|(key, _)| key).collect()
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What may be done to jobs of a partition.
    pub(crate) fn policy(&self, partition: &str) -> Policy {
        let held_back = self.held_back.get(partition).copied().unwrap_or_default();
        Policy { held_back, ..*self.configuration.policy.of(partition) }
    }

    /// What may be done to jobs of partitions that have nothing of their own.
    pub(crate) fn site_policy(&self) -> Policy {
        self.configuration.policy.site
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_types::options::Mode;
    use std::fs;

    #[test]
    fn a_broken_or_missing_file_leaves_the_last_good_one_in_force() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("queuecast.toml");
        fs::write(&path, "[policy]\nmode = \"enforce\"\n").unwrap();
        let mut settings = Settings::load(path.clone(), UnixTime(1)).unwrap();
        assert_eq!((settings.site_policy().mode, settings.error.as_str()), (Mode::Enforce, ""));

        fs::write(&path, "[policy]\nmode = \"adv").unwrap();
        assert!(!settings.reload(UnixTime(2)));
        assert_eq!((settings.site_policy().mode, settings.loaded_at), (Mode::Enforce, UnixTime(1)));
        assert!(settings.error.contains("queuecast.toml:2: ") && settings.error.contains("last good"), "{}", settings.error);

        fs::remove_file(&path).unwrap();
        assert!(!settings.reload(UnixTime(3)));
        assert_eq!(settings.site_policy().mode, Mode::Enforce);
        assert!(settings.error.contains("no such file"), "{}", settings.error);

        fs::write(&path, "[policy]\nmode = \"advise\"\n[policy.partition.quiet]\nmode = \"off\"\n").unwrap();
        assert!(settings.reload(UnixTime(4)));
        assert_eq!((settings.site_policy().mode, settings.policy("quiet").mode), (Mode::Advise, Mode::Off));
        assert_eq!((settings.loaded_at, settings.error.as_str()), (UnixTime(4), ""));
    }

    #[test]
    fn what_only_a_start_takes_up_is_named_where_it_has_changed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("queuecast.toml");
        let mut settings = Settings::load(path.clone(), UnixTime(1)).unwrap();
        let before = settings.configuration.clone();
        fs::write(&path, "[policy]\nmode = \"enforce\"\n[log]\nlevel = \"debug\"\n").unwrap();
        assert!(settings.reload(UnixTime(2)));
        assert!(settings.taken_up_at_the_next_start(&before).is_empty());
        fs::write(&path, "state_directory = \"/var/lib/other\"\n[log]\nformat = \"json\"\n[history]\nmaximum_jobs = 5000\n").unwrap();
        assert!(settings.reload(UnixTime(3)), "{}", settings.error);
        assert_eq!(settings.taken_up_at_the_next_start(&before), ["state_directory", "[history]", "log.format"]);
    }

    #[test]
    fn at_the_start_a_missing_file_means_the_defaults_and_a_broken_one_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("queuecast.toml");
        let settings = Settings::load(path.clone(), UnixTime(1)).unwrap();
        assert_eq!(settings.configuration, Configuration::default());
        assert!(settings.error.contains("defaults are in force"));
        fs::write(&path, "mode = 1").unwrap();
        assert!(Settings::load(path, UnixTime(1)).is_err());
    }
}
