//! Jobs that are admitted with shares of nodes, through the C entry points of the built plugin.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::running::Running;
use common::{Description, busy, now, publish, read};
use job_types::options::SHARE_VARIABLE;
use job_types::policy::{Admission, Policy};
use job_types::record::Record;
use job_types::time::{Seconds, UnixTime};
use made_up_site::{MadeUpSite, enforcing};
use predictor_core::decisions::deadline_methods::NeededShare;
use predictor_core::decisions::shared_nodes::SharingJob;
use slurm_sys::bindings;
use snapshot_writer::{PartitionState, SharedNodeState};

const HOUR: i64 = 3_600;

/// A snapshot of a queue that was read at a moment: `batch` with three nodes of one CPU, `n1` to
/// `n3`, which two jobs may share, of which the second needs three quarters of its own.
fn shared(rule: Admission, read_at: UnixTime, generation: u64) -> Vec<u8> {
    shared_nodes(["n1", "n2", "n3"], rule, read_at, generation)
}

/// Returns the snapshot of `shared` with other names of nodes.
fn shared_nodes(names: [&str; 3], rule: Admission, read_at: UnixTime, generation: u64) -> Vec<u8> {
    let policy = Policy { admission: rule, ..enforcing() };
    let has = SharingJob { cpus: 1, admitted: Some((NeededShare::sure(0.75), read_at + Seconds(8 * HOUR))) };
    let node = |name: &str, jobs| SharedNodeState { name: name.to_owned(), cpus: 1, jobs_to_a_cpu: 2, jobs };
    let [first, second, third] = names;
    let shared_nodes = vec![node(first, vec![]), node(second, vec![has]), node(third, vec![])];
    let partition = PartitionState { whole_nodes: false, cpus: 3, nodes: 3, shared_nodes, ..busy(read_at, policy) };
    let site = MadeUpSite::new(now()).partition(partition);
    site.origin(|origin| (origin.generation, origin.controller_read_at) = (generation, Some(read_at))).bytes()
}

/// A job of an hour on one CPU, with a deadline in so many hours.
fn due_in(hours: f64) -> Description {
    let mut job = Description::batch(1, 1);
    job.0.deadline = now().0 + (hours * HOUR as f64) as i64;
    job
}

fn nodes(job: &Description) -> Option<String> {
    read(job.0.req_nodes)
}

#[test]
fn nodes_limit_and_variable_are_written_and_each_admission_counts_for_the_next_whoever_asks() {
    let (_turn, running) = Running::turn();
    publish(running.site.path(), &shared(Admission::Libra, now() - Seconds(5), 701));
    // A quarter fits best where three quarters are needed.
    let mut quarter = due_in(4.0);
    let (answer, said) = running.plugin.submit(&mut quarter);
    assert_eq!((answer, nodes(&quarter).as_deref()), (0, Some("n2")), "{said:?}");
    assert_eq!((quarter.0.deadline, quarter.0.min_nodes, quarter.0.max_nodes), (0, 1, 1));
    assert_eq!(quarter.variable(SHARE_VARIABLE).as_deref(), Some("1"));
    assert!((239..=240).contains(&quarter.0.time_limit), "{}", quarter.0.time_limit);
    let written = Record::parse(&read(quarter.0.admin_comment).unwrap()).unwrap().written.unwrap();
    assert_eq!((written.admitted_by, written.own_limit_s), (Some(Admission::Libra), Some(HOUR)));
    // That node is full by then, also for others.
    let chosen: Vec<Option<String>> = [1_001, 1_002, 1_003, 1_004]
        .into_iter()
        .map(|user| {
            let mut half = due_in(2.1).of_user(user);
            let (answer, said) = running.plugin.submit(&mut half);
            assert_eq!(answer, 0, "{said:?}");
            nodes(&half)
        })
        .collect();
    assert_eq!(chosen, ["n1", "n1", "n3", "n3"].map(|node| Some(node.to_owned())));
    let mut fifth = due_in(2.1);
    let (answer, said) = running.plugin.submit(&mut fifth);
    assert_eq!((answer, nodes(&fifth)), (libc::EAGAIN, None), "others may give theirs back");
    assert!(said.unwrap().contains("not decided yet"));
    // A queue that was read before they came does not know them; a later one does.
    publish(running.site.path(), &shared(Admission::Libra, now() - Seconds(5), 702));
    assert_ne!(running.plugin.submit(&mut due_in(2.1)).0, 0);
    publish(running.site.path(), &shared(Admission::Libra, now() + Seconds(30), 703));
    let mut sixth = due_in(2.1);
    assert_eq!((running.plugin.submit(&mut sixth).0, nodes(&sixth).as_deref()), (0, Some("n1")));
}

#[test]
fn by_probability_each_admission_counts_on_its_node_and_a_refused_deadline_has_one_that_is_admitted() {
    let (_turn, running) = Running::turn();
    // What other tests have admitted is on nodes of other names.
    publish(running.site.path(), &shared_nodes(["p1", "p2", "p3"], Admission::Probability, now() - Seconds(5), 901));
    // Of this user nothing is known, so that a job runs for anything up to its limit of an hour.
    // All are of one user: what is not confirmed of others refuses nobody.
    let mut chosen = Vec::new();
    let said = loop {
        let mut job = due_in(1.2).of_user(1_001);
        let (answer, said) = running.plugin.submit(&mut job);
        let said = said.unwrap();
        if answer != 0 {
            assert_eq!((answer, nodes(&job)), (bindings::ESLURM_INVALID_TIME_LIMIT as i32, None));
            break said;
        }
        assert!(said.contains("queuecast: admitted: done by the deadline in 1 h 12 min with probability"), "{said}");
        assert_eq!((job.0.deadline, job.variable(SHARE_VARIABLE).as_deref()), (0, Some("1")));
        let written = Record::parse(&read(job.0.admin_comment).unwrap()).unwrap().written.unwrap();
        assert_eq!((written.admitted_by, written.own_limit_s), (Some(Admission::Probability), Some(HOUR)));
        chosen.push(nodes(&job).unwrap());
    };
    // Two jobs share a CPU at the most.
    assert_eq!(chosen, ["p1", "p3", "p1", "p3"], "the one that needs least");
    assert!(said.contains("queuecast: not admitted: of the nodes that it needs, 1, only 0 have the share"), "{said}");
    let minutes: f64 = said.split("--deadline=now+").nth(1).unwrap().split("minutes").next().unwrap().parse().unwrap();
    let mut taken = due_in(minutes / 60.0).of_user(1_001);
    let (answer, said) = running.plugin.submit(&mut taken);
    assert_eq!((answer, nodes(&taken).as_deref()), (0, Some("p2")), "{said:?}");
}

#[test]
fn what_looks_as_if_it_only_tested_takes_a_share_and_a_job_without_a_deadline_is_not_touched() {
    let (_turn, running) = Running::turn();
    // What other tests have admitted is on nodes of other names.
    publish(running.site.path(), &shared_nodes(["t1", "t2", "t3"], Admission::Libra, now() - Seconds(5), 801));
    for node in ["t1", "t3"] {
        let mut tested = due_in(1.2).only_tested();
        assert_eq!((running.plugin.submit(&mut tested).0, nodes(&tested).as_deref()), (0, Some(node)));
    }
    let mut plain = Description::batch(1, 1);
    assert_eq!(running.plugin.submit(&mut plain), (0, None));
    assert_eq!((nodes(&plain), plain.variable(SHARE_VARIABLE)), (None, None));
}
