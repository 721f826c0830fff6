use super::*;
use job_types::options::{EarlyStart, IfMissed, Mode};
use job_types::policy::{Admission, HeldBack, Others, When, WithoutForecast};
use job_types::time::Seconds;

const PATH: &str = "/somewhere/queuecast.toml";

fn parse(text: &str) -> Result<Configuration, ConfigurationError> {
    Configuration::parse(text, Path::new(PATH))
}

fn complaint(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn an_empty_file_is_all_defaults() {
    assert_eq!(parse("").unwrap(), Configuration::default());
}

#[test]
fn the_example_shows_every_key_with_its_default() {
    let example = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../etc/queuecast.toml")).unwrap();
    // A commented key is "#key = value", prose is "# prose". The example's own partition is left
    // out: it overrides.
    let uncommented: String = example
        .lines()
        .take_while(|line| !line.contains("[policy.partition."))
        .chain(example.lines().skip_while(|line| !line.starts_with("[changes]")))
        .map(|line| line.strip_prefix('#').filter(|rest| !rest.starts_with(' ')).unwrap_or(line).to_owned() + "\n")
        .collect();
    assert_eq!(parse(&example).unwrap(), Configuration::default());
    assert_eq!(parse(&uncommented).unwrap(), Configuration::default());
    let keys: usize = uncommented.lines().filter(|line| line.contains(" = ") && !line.starts_with('#')).count();
    assert_eq!(keys, 31, "{uncommented}");
}

#[test]
fn every_key_is_taken() {
    let configuration = parse(
        r#"
        state_directory = "/s"
        [snapshot]
        interval = "5s"
        maximum_age = "2:30"
        [history]
        window = "7-0"
        maximum_jobs = 2000
        earlier_clusters = ["past", "old_name"]
        [wait]
        confidence = 0.9
        [policy]
        mode = "enforce"
        mold = "always"
        defer = "never"
        reserve = "never"
        success_probability = 0.5
        max_defer = "90m"
        min_gain = 0.1
        min_gain_time = "90s"
        others = "not worse"
        defer_threshold = 0
        early_start = "run"
        if_missed = "cancel"
        admission = "libra-risk"
        admission_without_forecast = "refuse"
        deadline_probability = 0.8
        [[firm]]
        slots = 30
        [changes]
        per_second = 3
        [clusters]
        east = "/e"
        [clusters.west]
        state_directory = "/w"
        command = "ssh west queuecast"
        [api]
        listen = "ctl:9488"
        [metrics]
        listen = "[::1]:0"
        [guard]
        act = "warn"
        interval = "12h"
        window = "14d"
        [log]
        level = "debug"
        format = "json"
        "#,
    )
    .unwrap();
    let expected = Configuration {
        state_directory: "/s".into(),
        snapshot: SnapshotSettings { interval_seconds: 5, maximum_age_seconds: 150 },
        history: HistorySettings {
            window_seconds: 7 * 86_400,
            maximum_jobs: 2_000,
            earlier_clusters: vec!["past".to_owned(), "old_name".to_owned()],
        },
        wait: WaitSettings { confidence: 0.9 },
        policy: Policies {
            site: Policy {
                mode: Mode::Enforce,
                mold: When::Always,
                defer: When::Never,
                reserve: false,
                success_probability: 0.5,
                max_defer: Seconds(5_400),
                min_gain: 0.1,
                min_gain_time: Seconds(90),
                others: Others::NotWorse,
                defer_threshold: 0.0,
                early_start: EarlyStart::Run,
                if_missed: IfMissed::Cancel,
                admission: Admission::LibraRisk,
                admission_without_forecast: WithoutForecast::Refuse,
                deadline_probability: 0.8,
                held_back: HeldBack::default(),
            },
            partitions: BTreeMap::new(),
        },
        firm: vec![FirmPolicy { slots: 30, ..FirmPolicy::default() }],
        changes: ChangesSettings { per_second: 3 },
        clusters: BTreeMap::from([
            ("east".to_owned(), ClusterSettings { state_directory: Some("/e".into()), command: Vec::new() }),
            (
                "west".to_owned(),
                ClusterSettings { state_directory: Some("/w".into()), command: ["ssh", "west", "queuecast"].map(str::to_owned).to_vec() },
            ),
        ]),
        api: ApiSettings { listen: HostPort::parse("ctl:9488"), command: Vec::new() },
        metrics: MetricsSettings { listen: Some("[::1]:0".parse().unwrap()) },
        guard: GuardSettings { act: GuardAct::Warn, interval_seconds: 43_200, window_seconds: 14 * 86_400 },
        log: LogSettings { level: LogLevel::Debug, format: LogFormat::Json },
    };
    assert_eq!(configuration, expected);
    assert_eq!(parse("[metrics]\nlisten = \"off\"").unwrap().metrics.listen, None);
    let by_command = parse("[api]\ncommand = \"ssh  ctl queuecast\"").unwrap().api;
    assert_eq!((by_command.listen, by_command.command.join("+").as_str()), (None, "ssh+ctl+queuecast"));
}

#[test]
fn a_partition_overrides_the_site_key_by_key() {
    let text = "[policy]\nmode = \"advise\"\nmold = \"always\"\n[policy.partition.batch]\nmode = \"enforce\"\n[policy.partition.\"a.b\"]\ndefer = \"never\"";
    let policies = parse(text).unwrap().policy;
    let batch = policies.of("batch");
    assert_eq!((batch.mode, batch.mold, batch.defer), (Mode::Enforce, When::Always, When::Asked));
    let dotted = policies.of("a.b");
    assert_eq!((dotted.mode, dotted.mold, dotted.defer), (Mode::Advise, When::Always, When::Never));
    assert_eq!(policies.of("other"), &policies.site);
}

#[test]
fn a_wrong_value_is_told_with_its_line_and_with_what_is_allowed() {
    let cases = [
        ("[snapshot]\ninterval = \"0s\"", ":2: ", "1s to 1h"),
        ("[snapshot]\n\ninterval = \"soon\"", ":3: ", "90m"),
        ("[snapshot]\ninterval = 30", ":2: ", "string"),
        ("[history]\nmaximum_jobs = -1", ":2: ", "1000 to 10000000"),
        ("[history]\nwindow = \"11000d\"", ":2: ", "1d to 3650d"),
        ("[history]\nearlier_clusters = [\"a b\"]", ":2: ", "not the name of a cluster"),
        ("[history]\nearlier_clusters = [\"past\", \"past\"]", ":2: ", "is there twice"),
        ("[wait]\nconfidence = 1.0", ":2: ", "0.5 to 0.999"),
        ("[wait]\nconfidence = nan", ":2: ", "0.5 to 0.999"),
        ("[policy]\nmin_gain = 5", ":2: ", "0 to 0.999"),
        ("[policy]\nmin_gain_time = \"2d\"", ":2: ", "0s to 1d"),
        ("[policy]\nothers = \"not-worse\"", ":2: ", "`ignore`, `sum`, `not worse`"),
        ("[policy]\nmode = \"enforced\"", ":2: ", "`off`, `observe`, `advise`, `enforce`"),
        ("[policy]\nadmission = \"on\"", ":2: ", "`off`, `edf`, `libra`, `libra-risk`, `probability`"),
        ("[policy]\nreserve = \"always\"", ":2: ", "`asked` or `never`"),
        ("[policy.partition.batch]\nsuccess_probability = 0", ":2: ", "0.001 to 0.999"),
        ("[metrics]\nlisten = \"0.0.0.0:9487\"", ":2: ", "loopback"),
        ("[metrics]\nlisten = \"localhost\"", ":2: ", "loopback"),
        ("[api]\nlisten = \"ctl\"", ":2: ", "a host with a port from 1 to 65535"),
        ("[api]\ncommand = \"ssh 'ctl' queuecast\"", ":2: ", "without quotes"),
        ("state_directory = \"here\"", ":1: ", "absolute"),
        ("[log]\nlevel = \"loud\"", ":2: ", "`error`, `warn`, `info`, `debug`, `trace`"),
    ];
    for (text, line, allowed) in cases {
        let complaint = complaint(text);
        assert!(complaint.starts_with(&format!("{PATH}{line}")), "{text:?}: {complaint}");
        assert!(complaint.contains(allowed), "{text:?}: {complaint}");
        assert!(!complaint.contains('\n'), "{complaint}");
    }
}

#[test]
fn an_unknown_key_is_an_error_that_names_the_known_ones() {
    let complaint = complaint("[snapshot]\nintervall = \"30s\"");
    assert!(complaint.starts_with(&format!("{PATH}:2: unknown field `intervall`")), "{complaint}");
    assert!(complaint.contains("`interval` or `maximum_age`"), "{complaint}");
    assert!(self::complaint("[polici]\n").contains(":1: unknown field `polici`"));
    assert!(self::complaint("[policy.partition.a.b]\n").contains("unknown field `b`"));
    assert!(self::complaint("[policy.partition.a.partition.b]\n").contains("policy.partition.a holds partitions"));
}

#[test]
fn a_half_written_file_is_an_error_with_its_line() {
    let whole = "[snapshot]\ninterval = \"30s\"\n[policy]\nmode = \"observe\"\n";
    for cut in ["[snap", "[snapshot]\ninterval = \"30", "[snapshot]\ninterval =", "[snapshot]\ninter"] {
        assert!(whole.starts_with(cut));
        let line = cut.matches('\n').count() + 1;
        assert!(complaint(cut).starts_with(&format!("{PATH}:{line}: ")), "{}", complaint(cut));
    }
}

#[test]
fn values_that_contradict_each_other_are_an_error() {
    let complaint = complaint("[snapshot]\ninterval = \"10m\"\nmaximum_age = \"5m\"");
    assert!(complaint.contains("snapshot.maximum_age (5:00) is shorter than snapshot.interval (10:00)"), "{complaint}");
    let complaint = self::complaint("[api]\nlisten = \"ctl:9488\"\ncommand = \"ssh ctl queuecast\"");
    assert!(complaint.contains("leave one of them out"), "{complaint}");
}

#[test]
fn a_file_that_is_missing_or_not_text_is_an_error() {
    let missing = Path::new("/nonexistent/queuecast.toml");
    assert_eq!(Configuration::load(missing), Err(ConfigurationError::Missing { path: missing.into() }));
    assert!(matches!(Configuration::load(Path::new("/")), Err(ConfigurationError::Unreadable { .. })));
    let broken = std::env::temp_dir().join(format!("queuecast-{}.toml", std::process::id()));
    std::fs::write(&broken, b"[log]\nlevel = \"inf\xff").unwrap();
    let error = Configuration::load(&broken).unwrap_err().to_string();
    std::fs::remove_file(&broken).unwrap();
    assert!(error.contains(":2: the file is not UTF-8"), "{error}");
}

#[test]
fn the_path_is_the_named_one_or_beside_slurm_conf_or_the_usual_one() {
    let own = || Some(PathBuf::from("/own.toml"));
    let slurm = || Some(PathBuf::from("/opt/cluster/slurm.conf"));
    assert_eq!(path_from(own(), slurm()), Path::new("/own.toml"));
    assert_eq!(path_from(None, slurm()), Path::new("/opt/cluster/queuecast.toml"));
    assert_eq!(path_from(None, None), Path::new("/etc/slurm/queuecast.toml"));
}

#[test]
fn a_state_directory_is_that_of_a_cluster_and_absolute() {
    let complained = complaint("[clusters]\n\"east;\" = \"/e\"");
    assert!(complained.contains("use the name of a cluster"), "{complained}");
    assert!(complaint("[clusters]\neast = \"e\"").contains("an absolute path"));
    assert!(complaint("[clusters.east]\nstate_directory = \"e\"").contains("an absolute path"));
    assert!(complaint("[clusters.east]\ncommand = \"ssh $HOST queuecast\"").contains("without quotes"));
    assert!(complaint("[clusters.east]\nhost = \"e\"").contains("host"));
    assert!(complaint("[clusters]\neast = 5").contains("a state directory, or a table"));
}

#[test]
fn the_state_directory_is_found_however_wrong_the_rest_is() {
    for (text, found) in [
        ("state_directory = '/var/lib/queuecast'\n[polcy]\nmold = maybe\n", Some("/var/lib/queuecast")),
        ("state_directory = \"/a\" # here\nsnapshot = = =\n", Some("/a")),
        ("\u{feff}  \"state_directory\" = '/b'\n[[rule]\n", Some("/b")),
        ("x = \u{1}\nstate_directory = '/c'\n", Some("/c")),
        ("# state_directory = '/d'\n", None),
        ("state_directory = 'relative'\n", None),
        ("state_directory = \n", None),
        ("[policy]\nstate_directory = '/e'\n", None),
        ("", None),
    ] {
        assert_eq!(state_directory_in(text), found.map(PathBuf::from), "{text}");
    }
    let usual = Configuration::default().state_directory;
    assert_eq!(Configuration::state_directory_named_in(Path::new("/nowhere/queuecast.toml")), usual);
}
