//! `queuecast doctor`: each thing that can be wrong with an installation is found, and named with
//! what to do.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests

mod common;

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Said, Site, Wanted, now, said};
use job_types::time::UnixTime;
use predictor_core::decisions::counters::Counted;
use serde_json::Value;
use slurm_sys::bindings::SLURM_VERSION_NUMBER;
use slurm_sys::version::Version;

/// One more in the micro version: what slurmctld refuses and SPANK takes.
const NEXT_MICRO: u32 = SLURM_VERSION_NUMBER + 1;
/// One more in the minor version: what both refuse.
const NEXT_MINOR: u32 = SLURM_VERSION_NUMBER + 0x100;

/// An installation of its own, in which all is well but that no slurmctld and no queuecastd run,
/// and that libslurm finds no plugins.
struct Installation {
    site: Site,
}

/// Slurm's own plugin directory behind a colon, or nothing where it lies in no usual place: from
/// 24.11 on, libslurm starts only where it finds the plugin that authenticates.
fn slurms_own_plugins() -> String {
    let directories = fs::read_dir("/usr/lib").unwrap().map(|entry| entry.unwrap().path().join("slurm-wlm"));
    let found = directories.into_iter().find(|directory| directory.join("auth_munge.so").exists());
    found.map_or_else(String::new, |directory| format!(":{}", directory.display()))
}

impl Installation {
    fn new() -> Self {
        let installation = Self { site: Site::empty() };
        mode(installation.site.path(), 0o755);
        for directory in ["plugins", "more", "state"] {
            fs::create_dir(installation.path(directory)).unwrap();
            mode(&installation.path(directory), 0o755);
        }
        installation.plugin("plugins/job_submit_queuecast.so", "job_submit/queuecast", SLURM_VERSION_NUMBER);
        installation.plugin("plugins/spank_queuecast.so", "spank", SLURM_VERSION_NUMBER);
        installation.slurm_conf("queuecast", "");
        installation.write("plugstack.conf", "include plugstack.conf.d/*\n");
        installation.write("plugstack.conf.d/queuecast.conf", "optional spank_queuecast.so\n");
        installation.configure("");
        installation.publish(&Wanted::default());
        fs::write(
            installation.path("state/filter-counters"),
            slurm_conf::state_directory::COUNTERS_ENVELOPE.sealed(&Counted::default().to_bytes()).unwrap(),
        )
        .unwrap();
        installation
    }

    fn path(&self, name: &str) -> PathBuf {
        self.site.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        mode(&path, 0o644);
    }

    fn slurm_conf(&self, job_submit_plugins: &str, more: &str) {
        let owner = fs::metadata("/proc/self").unwrap().uid();
        let at = self.site.path().display();
        let text = format!(
            "ClusterName=test\nSlurmctldHost=elsewhere(127.0.0.1)\nSlurmUser={owner}\nSlurmctldPidFile={at}/pid\n\
             PluginDir={at}/plugins:{at}/more{}\nJobSubmitPlugins={job_submit_plugins}\nPartitionName=batch Nodes=ALL\n{more}",
            slurms_own_plugins()
        );
        self.write("slurm.conf", &text);
    }

    fn configure(&self, more: &str) {
        self.write("queuecast.toml", &format!("state_directory = \"{}\"\n{more}", self.path("state").display()));
    }

    fn publish(&self, wanted: &Wanted) {
        let path = self.path("state/snapshot");
        fs::write(&path, wanted.bytes()).unwrap();
        mode(&path, 0o644);
    }

    /// Compiles a plugin that has what Slurm compares, and nothing else.
    fn plugin(&self, name: &str, kind: &str, version: u32) {
        let path = self.path(name);
        let mut compiler = Command::new("cc").args(["-shared", "-x", "c", "-o"]).arg(&path).arg("-").stdin(Stdio::piped()).spawn().unwrap();
        let source = format!(
            "const char plugin_name[] = \"test\";\nconst char plugin_type[] = \"{kind}\";\nconst unsigned int plugin_version = {version};\n"
        );
        compiler.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
        assert!(compiler.wait().unwrap().success());
        mode(&path, 0o755);
    }

    /// The command, as on a controller with the Slurm that this build is for, unless `arguments`
    /// say otherwise.
    fn command(&self, arguments: &[&str]) -> Command {
        let version = Version::BUILT_FOR.to_string();
        let mut all = vec!["doctor"];
        for default in [["--role", "controller"], ["--slurm-version", version.as_str()]] {
            if !arguments.contains(&default[0]) {
                all.extend(default);
            }
        }
        all.extend(arguments);
        let mut command = self.site.command(&all);
        command.env("SLURM_CONF", self.path("slurm.conf"));
        command
    }

    fn run(&self, arguments: &[&str]) -> Said {
        said(&mut self.command(arguments))
    }

    fn report(&self, arguments: &[&str]) -> Value {
        let said = self.run(&[arguments, &["--format", "json"]].concat());
        let report: Value = serde_json::from_str(&said.output).unwrap_or_else(|error| panic!("{error}: {} {}", said.output, said.error));
        assert_eq!(said.status, i32::from(report["failed"].as_u64().unwrap() > 0));
        report
    }

    /// Outcome, finding and advice of one check.
    fn check(&self, arguments: &[&str], subject: &str, name: &str) -> (String, String, String) {
        find(&self.report(arguments), subject, name)
    }
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn find(report: &Value, subject: &str, name: &str) -> (String, String, String) {
    let is_it = |check: &&Value| check["subject"] == subject && check["name"] == name;
    let check = report["checks"].as_array().unwrap().iter().find(is_it).unwrap_or_else(|| panic!("no {subject}, {name} in {report:#}"));
    let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
    (text("outcome"), text("found"), text("advice"))
}

/// Asserts the outcome, and that what was found and what is advised hold these words.
#[track_caller]
fn holds(check: &(String, String, String), outcome: &str, found: &str, advice: &str) {
    assert!(check.0 == outcome && check.1.contains(found) && check.2.contains(advice), "{check:#?}");
}

const CONTROLLER: &str = "Plugin inside slurmctld";
const SPANK: &str = "SPANK plugin";
const STATE: &str = "State directory";

/// How long a node may take to answer on a machine that is busy.
const ANSWER: &str = "--timeout=180s";

#[test]
fn nothing_but_what_is_absent_fails_where_all_is_well() {
    let installation = Installation::new();
    let report = installation.report(&[]);
    for check in report["checks"].as_array().unwrap() {
        let may_fail = ["libslurm", "slurmctld"].contains(&check["name"].as_str().unwrap());
        assert!(may_fail || check["outcome"] == "ok" || check["outcome"] == "not_checked" || check["name"] == "slurmdbd read", "{check}");
        assert_eq!(check["advice"].is_string(), ["failed", "warning"].contains(&check["outcome"].as_str().unwrap()), "{check}");
    }
    holds(&find(&report, CONTROLLER, "plugin"), "ok", &format!("is for Slurm {}", Version::BUILT_FOR), "");
    holds(&find(&report, SPANK, "plugstack.conf"), "ok", "queuecast.conf:1: optional", "");
    assert_eq!((report["role"].as_str(), report["role_because"].as_str()), (Some("controller"), Some("as --role says")));
    assert_eq!(report["files"].as_array().unwrap().len(), 3);
    // On the other hosts less is looked at.
    let subjects = |role| {
        let report = installation.report(&["--role", role]);
        let subjects = report["checks"].as_array().unwrap().iter().map(|check| check["subject"].as_str().unwrap().to_owned());
        let mut subjects: Vec<String> = subjects.collect();
        subjects.dedup();
        subjects.join(", ")
    };
    assert_eq!(subjects("login"), "Versions, SPANK plugin, Configuration, State directory");
    assert_eq!(subjects("node"), "Versions, SPANK plugin, Configuration");
}

#[test]
fn a_plugin_for_another_micro_version_is_refused_by_slurmctld_but_not_by_spank() {
    let installation = Installation::new();
    installation.plugin("plugins/job_submit_queuecast.so", "job_submit/queuecast", NEXT_MICRO);
    installation.plugin("plugins/spank_queuecast.so", "spank", NEXT_MICRO);
    let report = installation.report(&[]);
    let found = format!(
        "was built for Slurm {}, but the Slurm named by --slurm-version is {}",
        Version::from_number(NEXT_MICRO),
        Version::BUILT_FOR
    );
    let advice = format!("install queuecast-plugins-slurm-{}", Version::BUILT_FOR);
    let check = find(&report, CONTROLLER, "plugin");
    holds(&check, "failed", &found, &advice);
    holds(&check, "failed", "slurmctld refuses it and does not start", "take queuecast out of JobSubmitPlugins");
    holds(&find(&report, SPANK, "plugin"), "ok", "spank_queuecast.so", "");

    installation.plugin("plugins/spank_queuecast.so", "spank", NEXT_MINOR);
    holds(&installation.check(&[], SPANK, "plugin"), "failed", &Version::from_number(NEXT_MINOR).to_string(), &advice);
}

#[test]
fn before_an_upgrade_the_plugins_are_held_against_the_version_to_come() {
    let installation = Installation::new();
    let next = Version::from_number(NEXT_MINOR).to_string();
    let report = installation.report(&["--slurm-version", &next]);
    assert_eq!(report["checked_against"], next);
    let advice = format!("install queuecast-plugins-slurm-{next}");
    holds(&find(&report, CONTROLLER, "plugin"), "failed", &next, &advice);
    holds(&find(&report, SPANK, "plugin"), "failed", &next, &advice);
    holds(&find(&report, "Versions", "this build"), "failed", &next, "install the queuecast that was built for Slurm");
}

#[test]
fn a_plugin_that_is_missing_fails_only_where_slurmctld_is_told_to_load_it() {
    let installation = Installation::new();
    fs::remove_file(installation.path("plugins/job_submit_queuecast.so")).unwrap();
    holds(&installation.check(&[], CONTROLLER, "plugin"), "failed", "slurmctld does not start", "before slurmctld is restarted");
    installation.slurm_conf("lua", "");
    let report = installation.report(&[]);
    holds(&find(&report, CONTROLLER, "plugin"), "warning", "no job_submit_queuecast.so in", "install queuecast-plugins-slurm-");
    holds(&find(&report, CONTROLLER, "JobSubmitPlugins"), "warning", "lua: without queuecast", "add queuecast to JobSubmitPlugins");
}

#[test]
fn of_two_copies_the_first_that_fits_counts() {
    let installation = Installation::new();
    installation.plugin("more/job_submit_queuecast.so", "job_submit/queuecast", SLURM_VERSION_NUMBER);
    let first = format!("{} counts", installation.path("plugins/job_submit_queuecast.so").display());
    holds(&installation.check(&[], CONTROLLER, "copies"), "warning", &first, "remove");
    installation.plugin("plugins/job_submit_queuecast.so", "job_submit/queuecast", NEXT_MICRO);
    let second = format!("{} counts", installation.path("more/job_submit_queuecast.so").display());
    let report = installation.report(&[]);
    holds(&find(&report, CONTROLLER, "copies"), "warning", &second, "remove");
    holds(&find(&report, CONTROLLER, "plugin"), "ok", "more/job_submit_queuecast.so", "");
}

#[test]
fn a_file_that_is_no_plugin_is_told_from_another_kind_of_plugin() {
    let installation = Installation::new();
    installation.plugin("plugins/job_submit_queuecast.so", "job_submit/other", SLURM_VERSION_NUMBER);
    holds(&installation.check(&[], CONTROLLER, "plugin"), "failed", "is the plugin job_submit/other", "install");
    installation.write("plugins/job_submit_queuecast.so", "nothing of the kind");
    holds(&installation.check(&[], CONTROLLER, "plugin"), "failed", "not a shared object", "install");
    // A shared object without what Slurm looks for.
    let library = Command::new("cc")
        .args(["-shared", "-x", "c", "-o"])
        .arg(installation.path("plugins/spank_queuecast.so"))
        .arg("/dev/null")
        .status();
    assert!(library.unwrap().success());
    holds(&installation.check(&[], SPANK, "plugin"), "failed", "it has no symbol plugin_name", "install");
}

#[test]
fn plugins_that_others_may_write_fail() {
    let installation = Installation::new();
    mode(&installation.path("plugins/job_submit_queuecast.so"), 0o775);
    mode(&installation.path("plugins/spank_queuecast.so"), 0o757);
    let report = installation.report(&[]);
    holds(&find(&report, CONTROLLER, "its permissions"), "failed", "(mode 775)", "chmod go-w");
    holds(&find(&report, SPANK, "its permissions"), "failed", "(mode 757)", "chown root");
    mode(&installation.path("plugins/job_submit_queuecast.so"), 0o755);
    mode(&installation.path("plugins"), 0o777);
    holds(&installation.check(&[], CONTROLLER, "its permissions"), "failed", "plugins: others than its owner", "chmod go-w");
}

#[test]
fn the_order_beside_other_plugins_is_told() {
    let installation = Installation::new();
    for (list, words) in [
        ("lua,queuecast", "lua runs before it, and queuecast sees what that wrote"),
        ("queuecast,lua", "lua runs behind it, and can change what queuecast wrote"),
        ("defaults,queuecast,lua", "defaults runs before it, lua behind it"),
    ] {
        installation.slurm_conf(list, "");
        holds(&installation.check(&[], CONTROLLER, "JobSubmitPlugins"), "ok", words, "");
    }
}

#[test]
fn plugstack_is_read_as_slurm_reads_it() {
    let installation = Installation::new();
    let check = |role: &str, name: &str| installation.check(&["--role", role], SPANK, name);
    installation.write("plugstack.conf.d/queuecast.conf", "required spank_queuecast.so\n");
    holds(&check("login", "plugstack.conf"), "warning", "says `required`", "write `optional`");
    installation.write("plugstack.conf.d/another.conf", "optional spank_queuecast.so\n");
    holds(&check("login", "plugstack.conf"), "warning", "more than once", "leave one line");
    fs::remove_file(installation.path("plugstack.conf.d/another.conf")).unwrap();
    installation.write("plugstack.conf.d/queuecast.conf", "optional /nowhere/spank_queuecast.so\n");
    holds(&check("node", "plugin"), "failed", "there is no /nowhere/spank_queuecast.so", "queuecast.conf:1");
    installation.write("plugstack.conf.d/queuecast.conf", "perhaps spank_queuecast.so\n");
    holds(&check("login", "plugstack.conf"), "warning", "Slurm ignores this line", "correct it");
    installation.write("plugstack.conf.d/queuecast.conf", "");
    holds(&check("node", "plugstack.conf"), "failed", "has no line for spank_queuecast.so", "optional spank_queuecast.so");
    holds(&check("controller", "plugstack.conf"), "warning", "has no line", "if users submit here");
    // PlugStackConfig names another place.
    installation.slurm_conf("queuecast", &format!("PlugStackConfig={}\n", installation.path("elsewhere.conf").display()));
    holds(&check("login", "plugstack.conf"), "failed", "elsewhere.conf", "optional");
}

#[test]
fn queuecast_toml_has_to_be_good_readable_and_true() {
    let installation = Installation::new();
    let check = |name: &str| installation.check(&[], "Configuration", name);
    installation.configure("[policy]\nmode = \"enforced\"\n");
    holds(&check("queuecast.toml"), "failed", "queuecast.toml:3: ", "queuecastd --check");
    installation.configure("[policy.partition.batch]\nmode = \"off\"\n[policy.partition.bacht]\nmode = \"off\"\n");
    holds(
        &check("partitions in it"),
        "warning",
        "[policy.partition.bacht]: slurm.conf has no such partition; it has batch",
        "correct the names",
    );
    installation.configure("[policy.partition.batch]\nmode = \"off\"\n");
    holds(&check("partitions in it"), "ok", "batch", "");
    mode(&installation.path("queuecast.toml"), 0o664);
    holds(&check("its permissions"), "failed", "(mode 664)", "chmod go-w");
    mode(&installation.path("queuecast.toml"), 0o640);
    holds(&check("its permissions"), "warning", "users may not read it", "chmod a+r");
    fs::remove_file(installation.path("queuecast.toml")).unwrap();
    holds(&check("queuecast.toml"), "warning", "there is no", "etc/queuecast.toml");
}

#[test]
fn the_state_directory_has_to_be_trusted_and_open() {
    let installation = Installation::new();
    let check = |name: &str| installation.check(&[], STATE, name);
    let state = installation.path("state");
    mode(&state, 0o777);
    holds(&check("directory"), "failed", "(mode 777)", "chmod go-w");
    mode(&state, 0o750);
    holds(&check("way to it"), "warning", "users may not pass", "chmod o+x");
    mode(&state, 0o755);
    mode(installation.site.path(), 0o777);
    holds(&check("directory"), "failed", "everybody may write in", "chmod o-w");
    mode(installation.site.path(), 0o755);
    fs::write(state.join("off"), "").unwrap();
    holds(&check("kill switch"), "warning", "state/off is there", "rm ");
    fs::remove_file(state.join("filter-counters")).unwrap();
    holds(&check("plugin's counters"), "warning", "there is no", "restart slurmctld");
    fs::write(state.join("filter-counters"), "x").unwrap();
    holds(&check("plugin's counters"), "warning", "not those of this release", "one release");
    fs::remove_dir_all(&state).unwrap();
    holds(&check("directory"), "failed", "No such file", "start queuecastd");
    holds(&installation.check(&["--role", "login"], STATE, "directory"), "not_checked", "on the controller", "");
    fs::write(&state, "").unwrap();
    holds(&check("directory"), "failed", "is not a directory", "state_directory");
}

#[test]
fn a_snapshot_that_the_plugin_does_not_use_fails() {
    let installation = Installation::new();
    let check = |name: &str| installation.check(&[], STATE, name);
    let path = installation.path("state/snapshot");
    mode(&path, 0o666);
    holds(&check("snapshot"), "failed", "others than its owner", "restart queuecastd");
    let mut bytes = Wanted::default().bytes();
    bytes[8] += 1;
    fs::write(&path, &bytes).unwrap();
    mode(&path, 0o644);
    holds(&check("snapshot"), "failed", &format!("layout version {}", bytes[8]), "of one release");
    installation.publish(&Wanted { published_at: UnixTime(now().0 - 4_000), ..Wanted::default() });
    holds(&check("snapshot"), "failed", "counts for 10 min only", "systemctl status queuecastd");
    fs::remove_file(&path).unwrap();
    holds(&check("snapshot"), "failed", "none in", "systemctl start queuecastd");
    holds(&installation.check(&[], "queuecastd", "process"), "failed", "none runs on", "systemctl start queuecastd");
}

#[test]
fn the_daemons_configuration_is_held_against_the_file() {
    let installation = Installation::new();
    let check = || installation.check(&[], "queuecastd", "its configuration");
    installation.publish(&Wanted { configuration_error: "queuecast.toml:2: bad".to_owned(), ..Wanted::default() });
    holds(&check(), "failed", "when it was last loaded: queuecast.toml:2: bad", "systemctl reload queuecastd");
    installation.publish(&Wanted { published_at: UnixTime(now().0 - 30), ..Wanted::default() });
    installation.configure("");
    holds(&check(), "warning", "written to since", "systemctl reload queuecastd");
}

#[test]
fn nodes_are_asked_by_any_command_and_shown_as_one_line_each() {
    let installation = Installation::new();
    let program = Path::new(env!("CARGO_BIN_EXE_queuecast")).parent().unwrap().display().to_string();
    let through = |more: &str| format!("env NODE={{node}} PATH={program}:/usr/sbin:/usr/bin:/sbin:/bin {more}");
    let well = through("");
    let report = installation.report(&["--nodes", "n[1-20]", "--through", &well, ANSWER]);
    for node in ["n1", "n20"] {
        holds(&find(&report, "Nodes", node), "ok", "all is well", "");
    }
    assert_eq!(report["nodes"].as_array().unwrap().len(), 20);

    // Another configuration there, without the plugin.
    let there = Installation::new();
    there.write("plugstack.conf", "# nothing\n");
    let other = through(&format!("SLURM_CONF={}", there.path("slurm.conf").display()));
    let report = installation.report(&["--nodes", "n7", "--through", &other, ANSWER]);
    let check = find(&report, "Nodes", "n7");
    holds(&check, "failed", "SPANK plugin, plugstack.conf: ", "there: add a line `optional spank_queuecast.so`");
    holds(&check, "failed", &format!("{} is not the", there.path("slurm.conf").display()), "install one slurm.conf on all hosts");
    assert!(report["nodes"][0]["checks"].as_array().unwrap().len() >= 3, "{report:#}");

    // A node that gives no answer.
    let refused = installation.report(&["--nodes", "n1,n2", "--through", "sh -c 'echo no route to $0 >&2; exit 255' {node}", ANSWER]);
    holds(&find(&refused, "Nodes", "n2"), "failed", "no report: no route to n2 (exit status 255)", "queuecast has to be installed there");
    let slow = installation.report(&["--nodes", "n1", "--through", "sh -c 'sleep 60' {node}", "--timeout", "1s"]);
    holds(&find(&slow, "Nodes", "n1"), "failed", "no answer within 1 s", "sh -c");
    let absent = installation.report(&["--nodes", "n1", "--through", "/nowhere/ssh {node}"]);
    holds(&find(&absent, "Nodes", "n1"), "failed", "/nowhere/ssh: No such file", "");
}

#[test]
fn the_text_ends_with_what_failed_and_says_what_to_do() {
    let installation = Installation::new();
    let report = installation.report(&[]);
    fs::write(installation.path("state/off"), "").unwrap();
    mode(&installation.path("plugins/spank_queuecast.so"), 0o777);
    let said = installation.run(&[]);
    assert_eq!(said.status, 1);
    let (failed, warnings) = (report["failed"].as_u64().unwrap() + 1, report["warnings"].as_u64().unwrap() + 1);
    let last = said.output.lines().next_back().unwrap();
    assert!(last.starts_with(&format!("{failed} failed, {warnings} warning")), "{last}");
    let lines: Vec<&str> = said.output.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("warning      kill switch ")).unwrap_or_else(|| panic!("{}", said.output));
    assert!(lines[at + 1].trim_start().starts_with("to do: remove it"), "{}", lines[at + 1]);
    assert!(!said.output.contains('\u{1b}'), "colours where there is no terminal");
}

#[test]
fn each_key_of_the_json_is_in_the_help() {
    let installation = Installation::new();
    let report = installation.report(&["--nodes", "n1", "--through", "false {node}"]);
    let help = said(&mut installation.site.command(&["doctor", "--help"])).output;
    let keys = help.split_once("Keys of --format json").unwrap().1;
    let objects = [&report, &report["checks"][0], &report["files"][0], &report["nodes"][0]];
    for key in objects.iter().flat_map(|object| object.as_object().unwrap().keys()) {
        assert!(keys.contains(key.as_str()), "{key} is not in the help");
    }
}

#[test]
fn wrong_usage_is_told_from_what_failed() {
    let installation = Installation::new();
    for (arguments, words) in [
        (&["--slurm-version", "24.11"][..], "not a version such as 24.11.5"),
        (&["--nodes", "n[1-"][..], "brackets do not match"),
        (&["--nodes", "n1", "--through", "ssh node"][..], "{node}"),
        (&["--through", "ssh {node}"][..], "--nodes"),
    ] {
        let said = installation.run(arguments);
        assert!(said.status == 2 && said.error.contains(words), "{arguments:?}: {} {}", said.status, said.error);
    }
    let said = installation.run(&["--nodes", "ALL"]);
    assert!(said.status == 4 && said.error.contains("slurmctld does not answer"), "{} {}", said.status, said.error);
}
