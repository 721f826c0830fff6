//! Compiles the rules where a file has changed, and puts them in force.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use job_types::time::UnixTime;
use rules_compiler::difference::Difference;
use rules_compiler::files::{Seen, compile_files_with, of_site};
use rules_compiler::in_force::{self, InForce, InForceError, LoadState, Loader as By};
use rules_compiler::site_tables::SiteTables;
use site_rules::rules::RuleSet;
use slurm_conf::state_directory::{RULES, RULES_DATA};
use slurm_conf::trusted::is_there;

use crate::known::damaged::keep_aside;
use crate::known::privacy::Privacy;
use crate::known::rule_load_report::RuleNames;
use crate::rules::site_tables::KnownTables;

/// Why rules can't be put in force yet.
const LACKS_TABLES: &str = "the rules ask for qualities of service, associations, users or partitions, and slurmctld has not told them yet";

/// How long a file has to be left alone before it is taken up without being asked: a half of one
/// might compile.
const REST: Duration = Duration::from_secs(2);

/// Compiles the rules and puts them in force.
pub(crate) struct Loader {
    /// `queuecast.toml`.
    configuration: PathBuf,
    /// The state directory.
    directory: PathBuf,
    /// The users who may read the rules.
    privacy: Privacy,
    /// The tables of qualities of service and associations.
    tables: KnownTables,
    /// The tables that the rules were compiled with, if the rules ask for tables.
    used: Option<Option<Arc<SiteTables>>>,
    /// How long a file has to be left alone before it is taken up without a request.
    rest: Duration,
    /// The files that were compiled last, in their order.
    files: Vec<PathBuf>,
    /// These files as they were at that time, with those of tables.
    seen: Vec<Seen>,
    /// The problems that the log says already.
    logged: Vec<String>,
    /// The names of the rules in a file that was in force.
    named: Option<(Seen, Option<Arc<RuleNames>>)>,
    /// Whether the log says that what became of the rules can't be read or written.
    is_told: bool,
}

impl Loader {
    /// Has compiled nothing yet.
    pub(crate) fn new(configuration: PathBuf, directory: PathBuf, privacy: Privacy, tables: KnownTables) -> Self {
        Self {
            configuration,
            directory,
            privacy,
            tables,
            used: None,
            rest: REST,
            files: Vec::new(),
            seen: Vec::new(),
            logged: Vec::new(),
            named: None,
            is_told: false,
        }
    }

    /// Compiles the rules if a file has changed, or if it must, and puts them in force. Returns
    /// what became of them.
    pub(crate) fn look(&mut self, must: bool, now: UnixTime) -> LoadState {
        let before = match in_force::state(&self.directory) {
            Ok(state) => state.unwrap_or_default(),
            Err(error) => {
                match error.damaged() {
                    Some(path) => keep_aside(path, &error),
                    None => self.tell(&error),
                }
                LoadState::default()
            }
        };
        let files = match of_site(&self.configuration) {
            Ok(files) => files,
            Err(error) => {
                let reason = format!("{}: error: the rules beside it can't be read: {error}", self.configuration.display());
                return self.keep(LoadState { errors: vec![reason], ..before.clone() }, &before);
            }
        };
        let is_lost = before.in_force.is_some() && !is_there(&self.directory.join(RULES)).unwrap_or(true);
        let has_changed = files != self.files || is_lost || self.seen.iter().any(Seen::has_changed);
        let is_at_rest =
            || files.iter().map(|file| Seen::now(file)).chain(self.seen.iter().map(Seen::again)).all(|file| file.is_at_rest(self.rest));
        let has_other_tables = self.used.as_ref().is_some_and(|used| *used != self.tables.current());
        if !(must || (has_changed || has_other_tables) && is_at_rest()) {
            return before;
        }
        let state = self.compile(files, &before, now);
        self.keep(state, &before)
    }

    /// The names of the rules that are in force, whoever put them there.
    pub(crate) fn in_force(&mut self) -> Option<Arc<RuleNames>> {
        let file = Seen::now(&self.directory.join(RULES));
        match &self.named {
            Some((named, names)) if *named == file => names.clone(),
            _ => {
                let rules = in_force::read(&self.directory).ok().flatten();
                let names = |rules: &RuleSet| rules.rules.iter().map(|rule| rule.name.to_string()).collect();
                let named = rules.map(|(rules, number)| Arc::new(RuleNames { number, names: names(&rules) }));
                self.named = Some((file, named.clone()));
                named
            }
        }
    }

    /// Notes what became of the rules.
    fn keep(&mut self, state: LoadState, before: &LoadState) -> LoadState {
        if state != *before {
            match in_force::put_state(&self.directory, &state) {
                Ok(()) => self.is_told = false,
                Err(error) => self.tell(&error),
            }
        }
        let was_broken = !self.logged.is_empty() && before.is_broken();
        let rules_in_force = state.in_force.as_ref().map_or(0, |in_force| in_force.rules);
        // At the daemon's start, slurmctld mostly answers some milliseconds later.
        let is_new_lack = |problem: &&String| problem.contains(LACKS_TABLES) && !before.errors.contains(problem);
        for problem in state.errors.iter().filter(|problem| !self.logged.contains(problem) && !is_new_lack(problem)) {
            tracing::error!(problem, rules_in_force, "the rules can't be used; those before stay in force");
        }
        for problem in state.warnings.iter().filter(|problem| !self.logged.contains(problem)) {
            tracing::warn!(problem, "a rule does hardly what is meant");
        }
        if was_broken && !state.is_broken() {
            tracing::info!(rules_in_force, "the rules can be used again");
        }
        self.logged = state.errors.iter().filter(|problem| !is_new_lack(problem)).chain(&state.warnings).cloned().collect();
        state
    }

    fn tell(&mut self, error: &InForceError) {
        if !self.is_told {
            tracing::warn!(%error, "what became of the rules can't be kept beside them");
        }
        self.is_told = true;
    }

    fn compile(&mut self, files: Vec<PathBuf>, before: &LoadState, now: UnixTime) -> LoadState {
        let tables = self.tables.current();
        let compiled = compile_files_with(&files, &self.configuration, tables.as_deref());
        let asks = compiled.asks_for_site_tables || compiled.asks_for_default_partition;
        let lacks_tables = asks && tables.is_none();
        self.used = asks.then_some(tables);
        self.seen.clone_from(&compiled.seen);
        self.files = files;
        let mut state = LoadState { compiled_at: now.0, in_force: before.in_force.clone(), ..LoadState::default() };
        state.take_problems(&compiled);
        let Some(rules) = compiled.rules else { return state };
        if lacks_tables {
            // Without rows the rules would find no key, and mean something else.
            state.errors.push(format!("error: {LACKS_TABLES}"));
            return state;
        }
        let outcome = if rules.rules.is_empty() { self.without_rules() } else { self.put(&rules, before, now).map(Some) };
        match outcome {
            Ok(in_force) => state.in_force = in_force,
            Err(error) => state.errors.push(format!("error: the rules can't be put in force: {error}")),
        }
        state
    }

    /// Puts rules in force, if they are others than those that are.
    fn put(&self, rules: &RuleSet, before: &LoadState, now: UnixTime) -> Result<InForce, InForceError> {
        let old = in_force::read(&self.directory).unwrap_or_else(|error| {
            match error.damaged() {
                Some(path) => keep_aside(path, &error),
                None => tracing::warn!(%error, "the rules that were in force can't be read: others take their place"),
            }
            None
        });
        let number = in_force::number_of(rules).map_err(|source| InForceError::Rules { path: self.directory.clone(), source })?;
        let files = self.files.iter().map(|file| file.display().to_string()).collect();
        let (since, by) = match &before.in_force {
            Some(in_force) if old.as_ref().is_some_and(|(_, old)| *old == number) => (in_force.since, in_force.by),
            _ => {
                in_force::put_for(&self.directory, rules, self.privacy.mode_of_people())?;
                log_change(&old.map(|(rules, _)| rules).unwrap_or_default(), rules);
                (now.0, By::Daemon)
            }
        };
        Ok(InForce { since, by, number: in_force::written(number), rules: rules.rules.len(), files })
    }

    /// The site has no rules.
    fn without_rules(&self) -> Result<Option<InForce>, InForceError> {
        // A missing file may be a mistake, and says nothing about rules.
        if self.configuration_is_missing() {
            let is_there = in_force::read(&self.directory).map_or(true, |rules| rules.is_some());
            let missing = || std::io::Error::new(std::io::ErrorKind::NotFound, "no such file; the rules before stay in force");
            return if is_there { Err(InForceError::File { path: self.configuration.clone(), source: missing() }) } else { Ok(None) };
        }
        if in_force::remove(&self.directory)? {
            // Nobody asks for it any more, and it would only grow old.
            let _ = std::fs::remove_file(self.directory.join(RULES_DATA));
            tracing::warn!(configuration = %self.configuration.display(), "the site has no rules any more: there are none in force");
        }
        Ok(None)
    }

    fn configuration_is_missing(&self) -> bool {
        !self.files.iter().any(|file| file == &self.configuration)
    }
}

fn log_change(before: &RuleSet, after: &RuleSet) {
    let Difference { added, removed, changed, .. } = Difference::between(before, after);
    tracing::info!(rules = after.rules.len(), ?added, ?changed, ?removed, "rules are in force");
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules_compiler::site_tables::Limits;
    use std::fs;
    use std::time::SystemTime;

    /// A site with a state directory.
    struct Site(tempfile::TempDir);

    impl Site {
        fn new(configuration: &str) -> Self {
            let site = Self(tempfile::tempdir().unwrap());
            fs::create_dir(site.0.path().join("rules.d")).unwrap();
            fs::create_dir(site.state()).unwrap();
            site.write("queuecast.toml", configuration);
            site
        }

        fn state(&self) -> PathBuf {
            self.0.path().join("state")
        }

        /// Writes a file, a while ago.
        fn write(&self, name: &str, text: &str) {
            let path = self.0.path().join(name);
            fs::write(&path, text).unwrap();
            fs::File::open(path).unwrap().set_modified(SystemTime::now() - 2 * REST).unwrap();
        }

        fn loader(&self) -> Loader {
            Loader::new(
                self.0.path().join("queuecast.toml"),
                self.state(),
                Privacy::default(),
                KnownTables::load(&self.state(), Privacy::default()),
            )
        }

        /// The rules that are in force.
        fn rules(&self) -> Vec<String> {
            let rules = in_force::read(&self.state()).unwrap();
            rules.map_or_else(Vec::new, |(rules, _)| rules.rules.iter().map(|rule| rule.name.to_string()).collect())
        }
    }

    fn rule(name: &str) -> String {
        format!("[[rule]]\nname = \"{name}\"\nset = {{ qos = \"high\" }}\n")
    }

    #[test]
    fn rules_are_in_force_from_the_start_and_change_with_their_files() {
        let site = Site::new(&rule("one"));
        let mut loader = site.loader();
        let state = loader.look(true, UnixTime(100));
        let in_force = state.in_force.unwrap();
        assert_eq!((site.rules(), in_force.rules, in_force.since, in_force.by), (vec!["one".to_owned()], 1, 100, By::Daemon));
        site.write("rules.d/10.toml", &rule("two"));
        assert_eq!(loader.in_force().unwrap().names, ["one"]);
        assert_eq!(loader.look(false, UnixTime(200)).in_force.unwrap().since, 200);
        assert_eq!((site.rules(), loader.in_force().unwrap().names.len()), (vec!["one".to_owned(), "two".to_owned()], 2));
        // The same rules stay in force since then, also if they are compiled again.
        assert_eq!(loader.look(true, UnixTime(300)).in_force.unwrap().since, 200);
        assert_eq!(site.loader().look(true, UnixTime(400)).in_force.unwrap().since, 200);
    }

    #[test]
    fn a_broken_file_leaves_the_rules_before_in_force_until_it_is_mended() {
        let site = Site::new(&rule("one"));
        let mut loader = site.loader();
        loader.look(true, UnixTime(100));
        site.write("rules.d/10.toml", "[[rule]]\nname = \"two\"\nset = { qos = 1 }\n");
        let state = loader.look(false, UnixTime(200));
        let place = format!("{}:3:", site.0.path().join("rules.d/10.toml").display());
        assert!(state.errors.len() == 1 && state.errors[0].starts_with(&place), "{:?}", state.errors);
        assert_eq!((site.rules(), state.in_force.map(|in_force| in_force.since)), (vec!["one".to_owned()], Some(100)));
        // The rules are broken also after the daemon is started anew.
        assert!(site.loader().look(true, UnixTime(300)).is_broken());
        assert_eq!(in_force::state(&site.state()).unwrap().map(|state| (state.is_broken(), state.compiled_at)), Some((true, 300)));
        assert_eq!(site.rules(), ["one"]);
        site.write("rules.d/10.toml", &rule("two"));
        assert!(!loader.look(false, UnixTime(400)).is_broken());
        assert_eq!(site.rules(), ["one", "two"]);
    }

    #[test]
    fn a_file_that_is_being_written_is_left_for_later_unless_somebody_asks() {
        let site = Site::new(&rule("one"));
        let mut loader = site.loader();
        loader.look(true, UnixTime(100));
        site.write("queuecast.toml", &rule("two"));
        // Longer than the test can take.
        loader.rest = Duration::from_secs(3_600);
        assert_eq!((loader.look(false, UnixTime(200)).in_force.unwrap().since, site.rules()), (100, vec!["one".to_owned()]));
        loader.look(true, UnixTime(300));
        assert_eq!(site.rules(), ["two"]);
    }

    #[test]
    fn rules_are_removed_only_where_the_configuration_says_that_there_are_none() {
        let site = Site::new(&rule("one"));
        let mut loader = site.loader();
        loader.look(true, UnixTime(100));
        let configuration = site.0.path().join("queuecast.toml");
        fs::rename(&configuration, site.0.path().join("elsewhere")).unwrap();
        let state = loader.look(true, UnixTime(200));
        assert!(state.errors[0].contains("no such file"), "{:?}", state.errors);
        assert_eq!(site.rules(), ["one"]);
        site.write("queuecast.toml", "[[rule]\n");
        assert!(loader.look(true, UnixTime(300)).is_broken());
        assert_eq!(site.rules(), ["one"]);
        site.write("queuecast.toml", "[policy]\nmode = \"observe\"\n");
        let state = loader.look(true, UnixTime(400));
        assert_eq!((state.errors, state.in_force, site.rules().len()), (Vec::new(), None, 0));
        assert!(!site.state().join(RULES).exists());
    }

    #[test]
    fn a_site_without_rules_has_no_file_of_them() {
        for configuration in ["", "state_directory = \"/x\"\n"] {
            let site = Site::new(configuration);
            let state = site.loader().look(true, UnixTime(100));
            assert_eq!((state.is_broken(), state.in_force, site.state().join(RULES).exists()), (false, None, false));
        }
        let site = Site::new("");
        fs::remove_file(site.0.path().join("queuecast.toml")).unwrap();
        assert!(!site.loader().look(true, UnixTime(100)).is_broken(), "no configuration is no fault where there never were rules");
    }

    #[test]
    fn rules_that_somebody_removed_or_spoiled_are_put_back() {
        let site = Site::new(&rule("one"));
        let mut loader = site.loader();
        loader.look(true, UnixTime(100));
        fs::remove_file(site.state().join(RULES)).unwrap();
        loader.look(false, UnixTime(200));
        assert_eq!(site.rules(), ["one"]);
        fs::write(site.state().join(RULES), "spoilt").unwrap();
        loader.look(true, UnixTime(300));
        assert_eq!(site.rules(), ["one"]);
    }

    #[test]
    fn rules_that_ask_for_qualities_of_service_wait_for_them_and_follow_them() {
        let when =
            "has(job.qos) && has(job.time_limit) && has(tables.qos[job.qos].max_wall) && job.time_limit > tables.qos[job.qos].max_wall";
        let site = Site::new(&format!("[[rule]]\nname = \"wall\"\nwhen = '{when}'\nreject = \"longer than the QOS allows\"\n"));
        let mut loader = site.loader();
        let state = loader.look(true, UnixTime(100));
        assert!(state.errors[0].contains(LACKS_TABLES) && site.rules().is_empty(), "{:?}", state.errors);
        let wall = |seconds: i64| {
            let limits = Limits { max_wall: Some(seconds), ..Limits::default() };
            SiteTables { qos: [("high".to_owned(), limits)].into(), ..SiteTables::default() }
        };
        let mut known = |tables: &SiteTables, now: i64| {
            in_force::put_site_tables(&site.state(), tables, 0o644).unwrap();
            loader.tables = KnownTables::load(&site.state(), Privacy::default());
            loader.look(false, UnixTime(now))
        };
        assert_eq!(known(&wall(60), 200).in_force.unwrap().since, 200);
        let number = known(&wall(60), 300).in_force.unwrap();
        assert_eq!(number.since, 200);
        let changed = known(&wall(120), 400).in_force.unwrap();
        assert!(changed.since == 400 && changed.number != number.number);
    }
}
