//! A panic inside the plugin, through its C entry points. The plugin is the one that ships, from
//! the same source, but for one line that panics about a job of a certain name.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Description, Plugin, Site, free, put_rules, read, text};
use made_up_site::enforcing;
use predictor_core::decisions::counters::Counter;
use slurm_sys::bindings;

/// The name of a job that the test's plugin panics about.
const PANICS: &str = "queuecast-panics";

#[test]
fn a_panic_ends_in_the_plugin_is_counted_and_leaves_the_job_as_written() {
    let site = Site::new();
    let plugin = Plugin::open_panicking();
    assert_eq!(plugin.call("init"), 0);
    site.publish(enforcing());
    let control = ["QUEUECAST_AUTO_MOLD=1", "QUEUECAST_AUTO_DEFER=1"];
    for count in 1..=3 {
        let mut job = Description::batch(16, 64).with_control(&control);
        job.0.name = text(PANICS);
        let (answer, said) = plugin.submit(&mut job);
        assert_eq!((answer, said), (0, None));
        assert_eq!((job.0.min_nodes, job.0.max_nodes, job.0.num_tasks, job.0.min_cpus, job.0.time_limit), (16, 16, 64, 64, 60));
        assert_eq!((job.0.begin_time, job.0.env_size, job.variable("SLURM_NTASKS").as_deref()), (0, 3, Some("64")));
        assert!(job.0.admin_comment.is_null());
        assert_eq!(site.counter(Counter::Panics), count);
        common::free(&mut job.0.name);
    }
    // The state is as good as before: the next job is decided about.
    let mut job = Description::batch(16, 64).with_control(&control);
    assert_eq!(plugin.submit(&mut job).0, 0);
    assert_eq!(job.0.min_nodes, 4);
    assert_eq!((site.counter(Counter::Panics), site.counter(Counter::Molded)), (3, 1));
    a_panic_in_rules_is_an_error_of_theirs(&site, &plugin);
    assert_eq!(plugin.call("fini"), 0);
}

/// Checks that what rules say of errors holds if the evaluation itself fails.
fn a_panic_in_rules_is_an_error_of_theirs(site: &Site, plugin: &Plugin) {
    for (on_error, refused) in [("refuse", true), ("pass", false)] {
        put_rules(site.path(), &format!("[[rule]]\nname = 'seen'\non_error = '{on_error}'\nset = {{ partition = 'other' }}\n"));
        let panics = site.counter(Counter::Panics);
        let mut job = Description::batch(16, 64);
        job.0.name = text("queuecast-panics-in-rules");
        let (answer, said) = plugin.submit(&mut job);
        assert_eq!(answer, if refused { bindings::ESLURM_DISABLED as i32 } else { 0 }, "{on_error}: {said:?}");
        assert_eq!(said.is_some_and(|said| said.contains("E_RULE_FAILED")), refused, "{on_error}");
        assert_eq!((read(job.0.partition).as_deref(), site.counter(Counter::Panics)), (Some("batch"), panics + 1));
        free(&mut job.0.name);
    }
}

#[test]
fn the_plugin_that_ships_can_not_be_told_to_panic() {
    let holds = |path| std::fs::read(path).unwrap().windows(PANICS.len()).any(|bytes| bytes == PANICS.as_bytes());
    assert!(holds(Plugin::panicking_path()));
    assert!(!holds(Plugin::path()));
}
