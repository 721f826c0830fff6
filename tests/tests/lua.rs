//! A Lua script beside the plugin, before and after it in `JobSubmitPlugins`.

#![allow(clippy::unwrap_used, clippy::panic)] // helpers of tests

use end_to_end::{Cluster, LARGE_WAIT, Options};
use job_types::record::Record;
use made_up_site::enforcing;
use rules_compiler::{Source, compile, in_force};

#[path = "lua/command_lines.rs"]
mod command_lines;

/// Sets a limit where none is given, notes how many nodes it saw, and says so.
const SCRIPT: &str = r#"
function slurm_job_submit(job_desc, part_list, submit_uid)
   if job_desc.time_limit == slurm.NO_VAL then job_desc.time_limit = 10 end
   job_desc.comment = "nodes seen: " .. job_desc.min_nodes
   slurm.log_user("the site's script was here")
   return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
   return slurm.SUCCESS
end
"#;

#[test]
#[ignore = "needs root and Slurm: ci/test runs it"]
fn a_lua_script_before_and_after_the_plugin_works_as_the_plugin_does() {
    let script = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(script.path(), SCRIPT).unwrap();
    let record = tempfile::NamedTempFile::new().unwrap();
    let options = Options::with_plugins("")
        .option("lua-script", script.path().to_str().unwrap())
        .option("gpu-nodes", "2")
        .option("environment", &format!("QUEUECAST_FIELDS_INTO={}", record.path().display()));
    let cluster = Cluster::up(&options);
    for (order, seen, limit) in [
        // The plugin decides about what the script has made of the job: its ten minutes become
        // forty on a quarter of the nodes.
        ("lua,queuecast", "8", "00:40:00"),
        // The script sees what the plugin has made of the job. Without a limit that is an hour, the
        // partition's default, by four.
        ("queuecast,lua", "2", "04:00:00"),
    ] {
        cluster.reconfigure(&["--job-submit-plugin", order]);
        cluster.publish(enforcing(), &LARGE_WAIT, &[]);
        let job = cluster.submit(&["-N8", "--exclusive", "--hold", "--auto-mold"], "true").job();
        assert!(job.said.contains("the site's script was here"), "{order}: {}", job.said);
        // What a script says takes the place of what was said before it
        // (src/plugins/job_submit/lua/job_submit_lua.c).
        assert_eq!(job.said.contains("queuecast: 2 nodes instead of 8"), order.ends_with("queuecast"), "{order}: {}", job.said);
        assert_eq!((job.field("NumNodes").as_str(), job.field("TimeLimit").as_str()), ("2-2", limit), "{order}: {}", job.said);
        let shown = cluster.output("scontrol", &["show", "job", &job.id]);
        assert!(shown.contains(&format!("Comment=nodes seen: {seen}")), "{order}: {shown}");
        assert_eq!(Record::parse(&job.field("AdminComment")).unwrap().written.unwrap().nodes, Some(2), "{order}");
        // Where nothing is asked, the script alone has its way.
        let plain = cluster.submit(&["-N8", "--exclusive", "--hold"], "true").job();
        assert_eq!((plain.field("NumNodes").as_str(), plain.field("TimeLimit").as_str()), ("8-8", "00:10:00"), "{order}");
        if order.starts_with("lua") {
            rules_are_held_against_the_script(&cluster);
        }
    }
    command_lines::what_rules_read_of_a_job_is_what_its_command_line_says(&cluster, record.path());
}

/// Rules that are only observed say where the script has not done what they would do.
fn rules_are_held_against_the_script(cluster: &Cluster) {
    let rules = r#"
        [rules]
        mode = "observe"
        [[rule]]
        name = "exempt"
        when = 'job.?name.orValue("") == "exempt"'
        stop = true
        [[rule]]
        name = "same-words"
        warn = "the site's script was here"
        [[rule]]
        name = "other-words"
        warn = "the site's script was there"
        [[rule]]
        name = "same-limit"
        cap = { time_limit = "10" }
        [[rule]]
        name = "shorter-limit"
        cap = { time_limit = "5" }
        "#;
    let read_file = |_: &str| Err("there are no files".to_owned());
    let source = Source { name: "rules.toml".to_owned(), text: rules.to_owned(), is_configuration: false, read_file: &read_file };
    let rules = compile(&[source]).rules.unwrap();
    in_force::put(&cluster.state_directory(), &rules).unwrap();
    let job = cluster.submit(&["-N1", "--hold"], "true").job();
    assert_eq!(job.field("TimeLimit"), "00:10:00");
    let log = cluster.log("slurmctld");
    assert!(log.contains("rule shorter-limit is observed; of a job of user 0 it would have written time_limit: 00:05:00, it is 00:10:00"));
    assert!(!log.contains("rule same-limit is observed"));
    assert!(log.contains("rule other-words is observed") && !log.contains("rule same-words is observed"), "{log}");
    // Behind a rule that stops nothing is compared.
    let _ = cluster.submit(&["-N1", "--hold", "-J", "exempt"], "true").job();
    let count = |log: &str| log.matches("is observed;").count();
    assert_eq!(count(&cluster.log("slurmctld")), count(&log));
    in_force::remove(&cluster.state_directory()).unwrap();
}
