use super::*;

fn read(text: &[u8], included: &str) -> SlurmSettings {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("slurm.conf");
    std::fs::write(&path, text).unwrap();
    std::fs::write(directory.path().join("x-more.conf"), included).unwrap();
    SlurmSettings::read(&path).unwrap()
}

#[test]
fn keys_of_all_files_are_found_whatever_their_case_and_the_last_one_counts() {
    let conf = read(
        b"ClusterName=X # a comment\nPLUGINDIR = \"/a b:/c\" slurmuser=slurm\ninclude %c-more.conf\nSlurmctldHost=one(10.0.0.1)\n\
         NodeName=n1 SlurmUser=no\nJobSubmitPlugins=lua,\\\nqueuecast\n",
        "PartitionName=DEFAULT MaxTime=1\nPartitionName=batch Nodes=ALL\nSlurmctldHost=two\nSlurmUser=other\n",
    );
    assert_eq!((conf.get("PluginDir"), conf.get("slurmUser")), (Some("/a b:/c"), Some("other")));
    assert_eq!(conf.get("JobSubmitPlugins"), Some("lua,queuecast"));
    assert_eq!((conf.controllers.join(","), conf.partitions.join(",")), ("two,one".to_owned(), "batch".to_owned()));
    assert_eq!(conf.in_force().filter(|setting| setting.key.eq_ignore_ascii_case("SlurmUser")).count(), 1);
    assert!(conf.problems.is_empty());
}

#[test]
fn lines_are_continued_quoted_and_escaped_as_for_slurmctld() {
    let parameters = Some("bf_window=2880,bf_interval=60,bf_max_job_test=1000");
    for text in [
        "SchedulerParameters=bf_window=2880,bf_interval=60,bf_max_job_test=1000\n",
        "SchedulerParameters=bf_window=2880,\\\nbf_interval=60,\\ \t\r\nbf_max_job_test=1000\n",
        "SchedulerParameters=\"bf_window=2880,bf_interval=60,bf_max_job_test=1000\"\r\n",
        "\u{feff}schedulerparameters = bf_window=2880,bf_interval=60,bf_max_job_test=1000 # a note",
        "Configuration data as of 2026-03-02T10:00:00\nSchedulerParameters     = bf_window=2880,bf_interval=60,bf_max_job_test=1000\n",
    ] {
        assert_eq!(SlurmSettings::parse(text).get("SchedulerParameters"), parameters, "{text:?}");
    }
    let escaped = SlurmSettings::parse("Epilog=/a\\#b\\\\\nProlog=/c\n");
    assert_eq!((escaped.get("Epilog"), escaped.get("Prolog")), (Some("/a#b\\"), Some("/c")));
    assert_eq!(SlurmSettings::parse("Epilog=\"/a\"b\nProlog=\"c\n").get("Epilog"), Some("\"/a\"b"));
}

#[test]
fn a_text_of_another_encoding_is_read() {
    let latin1 = b"# f\xfcr die Warteschlange\nClusterName=x\nPriorityMaxAge=14-0 # l\xe4nger\n";
    assert_eq!(read(latin1, "").get("PriorityMaxAge"), Some("14-0"));
}

#[test]
fn what_scontrol_prints_of_nothing_says_nothing() {
    let text = "Configuration data as of 2026-03-02T10:00:00\nPriorityParameters      = (null)\nPriorityFlags           = \nSlurmUser = slurm(64030)\n";
    let printed = SlurmSettings::parse(text);
    assert_eq!((printed.get("PriorityParameters"), printed.get("PriorityFlags")), (None, None));
    assert_eq!(printed.get("SlurmUser"), Some("slurm(64030)"));
}

#[test]
fn an_included_file_that_is_not_there_is_told_and_the_rest_is_read() {
    let conf = read(b"Include nowhere.conf\nClusterName=x\n", "");
    assert!(conf.problems[0].contains("nowhere.conf: No such file"), "{:?}", conf.problems);
    assert_eq!(conf.get("ClusterName"), Some("x"));
    assert!(read(b"Include slurm.conf\n", "").problems[0].contains("included too deeply"));
    assert!(SlurmSettings::read(Path::new("/nowhere/slurm.conf")).is_err());
}

#[test]
fn controllers_are_reached_at_their_addresses_and_munged_at_its_socket() {
    let read = SlurmSettings::parse("SlurmctldHost=ctl(10.0.0.1)\nslurmctldhost=ctl2\nAuthInfo=ttl=60,socket=/run/m\n");
    assert_eq!(read.controller_addresses(), ["10.0.0.1", "ctl2"]);
    assert_eq!(read.controllers, ["ctl", "ctl2"]);
    let socket = |auth_info| munge_socket(auth_info).map(|path| path.display().to_string());
    assert_eq!(socket("ttl=60,socket=/run/m").as_deref(), Some("/run/m"));
    assert_eq!([socket(""), socket("socket="), socket("ttl=60")], [None, None, None]);
}
