//! The site's own rules hold however a submission is spelled and however long it is: what they
//! can't judge is refused, and what slurmctld is about to refuse is left to it unread.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::hostile::{free_texts, overwrite, view};
use common::{Description, free, now, put, put_rules, read, text};
use job_submit_queuecast::fields::JobFields;
use job_submit_queuecast::filter::{Answer, State, modification, submission};
use job_types::number::{JobId, UserId};
use job_types::time::Seconds;
use made_up_site::USER;
use site_rules::data::{OwnedValue, SiteData, SiteJob, encode};
use site_rules::field::{FieldNumber, Fields, Name};
use site_rules::steps::Steps;
use slurm_sys::bindings;
use slurm_sys::job_description::{JobDescription, UserMessage};
use slurm_sys::job_fields::TextField;
use slurm_sys::job_lengths::{LONGEST_WITHOUT_LIMIT, MOST_ENTRIES};
use slurm_sys::text::SlurmText;
use std::ptr;
use tempfile::TempDir;

const REFUSED: Answer = Answer::RefusedByRules(bindings::SLURM_ERROR);

/// A state directory with rules, and a plugin's state over it.
fn with_rules(rules: &str) -> (TempDir, State) {
    let directory = tempfile::tempdir().unwrap();
    put_rules(directory.path(), rules);
    let state = State::over(directory.path());
    (directory, state)
}

type Filter = fn(&State, &mut JobDescription<'_>, &mut UserMessage<'_>, UserId) -> Answer;

fn ask(filter: Filter, state: &State, job: &mut Description) -> (Answer, String) {
    let mut message = ptr::null_mut();
    let answer = {
        // SAFETY: a place for a message of our own.
        let mut place = unsafe { UserMessage::from_raw(&raw mut message) };
        filter(state, &mut view(job), &mut place, UserId(USER))
    };
    let said = read(message).unwrap_or_default();
    free(&mut message);
    (answer, said)
}

/// What becomes of a job, which is freed.
fn submitted(state: &State, mut job: Description) -> (Answer, String) {
    let answer = ask(submission, state, &mut job);
    free_texts(&mut job);
    answer
}

fn with_text(field: TextField, value: &str) -> Description {
    let mut job = Description::batch(1, 1);
    view(&mut job).set_text(field, SlurmText::new(value));
    job
}

#[test]
fn what_is_too_long_for_slurm_is_refused_as_by_it_where_there_are_rules_and_what_is_not_is_judged() {
    let as_slurm = Answer::RefusedByRules(bindings::ESLURM_PATHNAME_TOO_LONG as i32);
    let without = State::over(tempfile::tempdir().unwrap().path());
    let (_directory, state) = with_rules("[[rule]]\nname = \"nobody\"\nreject = \"closed\"\n");
    for field in TextField::ALL.iter().copied().filter(|field| field.is_known()) {
        let Some(longest) = field.longest() else { continue };
        assert_eq!(submitted(&state, with_text(field, &"x".repeat(longest))).0, REFUSED, "{field:?}");
        let longer = |state: &State| submitted(state, with_text(field, &"x".repeat(longest + 1)));
        assert_eq!(longer(&state), (as_slurm, String::new()), "{field:?}");
        assert_eq!(longer(&without), (Answer::Accepted, String::new()), "{field:?}");
    }
    // slurm.conf says how long these may be, so that nothing is left to slurmctld for their length.
    for field in [TextField::Script, TextField::SubmitLine] {
        assert_eq!(submitted(&state, with_text(field, &"x".repeat(8 << 20))).0, REFUSED, "{field:?}");
    }
}

#[test]
fn what_slurm_sets_no_limit_to_is_refused_where_rules_can_not_judge_it_and_else_left() {
    let too_long = Answer::RefusedByRules(bindings::ESLURM_PATHNAME_TOO_LONG as i32);
    let (_directory, state) = with_rules("[[rule]]\nname = \"passes\"\non_error = \"pass\"\nwhen = \"job.gpus > 8\"\nreject = \"many\"\n");
    let without = State::over(tempfile::tempdir().unwrap().path());
    type Make = fn() -> Description;
    let many_arguments: Make = || {
        let mut job = many_variables(MOST_ENTRIES + 1);
        std::mem::swap(&mut job.0.environment, &mut job.0.argv);
        std::mem::swap(&mut job.0.env_size, &mut job.0.argc);
        job
    };
    let jobs: [(Make, &str); 3] = [
        (|| with_text(TextField::Container, &"x".repeat(LONGEST_WITHOUT_LIMIT + 1)), "its container is longer than 1048576 bytes"),
        (|| many_variables(MOST_ENTRIES + 1), "its environment has more than 262144 variables"),
        (many_arguments, "its script has more than 262144 arguments"),
    ];
    for (make, what) in jobs {
        let (answer, said) = submitted(&state, make());
        assert_eq!((answer, said), (too_long, format!("E_TOO_LONG: the site's rules can't judge this job: {what}")));
        assert_eq!(submitted(&without, make()), (Answer::Accepted, String::new()));
    }
    assert_eq!(submitted(&state, many_variables(MOST_ENTRIES)).0, Answer::Accepted);
}

#[test]
fn what_is_too_long_to_be_judged_is_let_through_where_no_rule_is_enforced() {
    let rule = |mode: &str, on: &str| format!("[[rule]]\nname = \"{mode}\"\nmode = \"{mode}\"\non = [\"{on}\"]\nreject = \"closed\"\n");
    let long = TextField::Comment.longest().unwrap();
    let makes: [fn(usize) -> Description; 2] = [
        |long| with_text(TextField::Comment, &"x".repeat(long + 1)),
        |_| with_text(TextField::Container, &"x".repeat(LONGEST_WITHOUT_LIMIT + 1)),
    ];
    for make in makes {
        // What is enforced for modifications alone says nothing of submissions.
        let rules = [rule("observe", "submit"), rule("warn", "submit"), rule("enforce", "modify")].concat();
        let (_directory, state) = with_rules(&rules);
        assert_eq!(submitted(&state, make(long)), (Answer::Accepted, String::new()));
        let modified = ask(modification, &state, &mut make(long)).0;
        assert_eq!(modified, Answer::RefusedByRules(bindings::ESLURM_PATHNAME_TOO_LONG as i32));
    }
}

/// A job with so many variables, which are NULL but for the last.
fn many_variables(count: usize) -> Description {
    let mut job = Description::batch(1, 1);
    job.free_environment();
    // SAFETY: xcalloc takes any count and size; what it gives is zeroed.
    let list = unsafe { bindings::slurm_xcalloc(count + 1, size_of::<usize>(), true, false, c"".as_ptr(), 0, c"".as_ptr()) };
    job.0.environment = list.cast();
    // SAFETY: there is room for `count` entries.
    unsafe { *job.0.environment.add(count - 1) = text("LAST=1") };
    job.0.env_size = u32::try_from(count).unwrap();
    job
}

#[test]
fn a_long_environment_is_not_taken_for_an_empty_one() {
    let (_directory, state) =
        with_rules("[[rule]]\nname = \"last\"\nwhen = 'job.environment[?\"LAST\"].orValue(\"\") == \"1\"'\nreject = \"it is set\"\n");
    assert_eq!(submitted(&state, many_variables(20_000)), (REFUSED, "it is set".to_owned()));
    // More than there are steps for.
    let (answer, said) = submitted(&state, many_variables(MOST_ENTRIES));
    assert_eq!(answer, Answer::RefusedByRules(bindings::ESLURM_DISABLED as i32), "{said}");
    assert!(said.contains("more steps than the budget allows"), "{said}");
}

#[test]
fn of_a_variable_that_is_given_twice_rules_read_and_write_what_the_job_gets() {
    let (_directory, state) = with_rules(
        r#"
        [[rule]]
        name = "api"
        when = 'job.environment[?"API"].orValue("") == "on"'
        reject = "not with it"
        [[rule]]
        name = "tasks"
        set = { num_tasks = 3 }
        "#,
    );
    let job = |entries: &[&str]| {
        let mut job = Description::batch(1, 1);
        job.free_environment();
        job.environment(entries);
        job
    };
    assert_eq!(submitted(&state, job(&["API=off", "A=1", "API=on"])).0, REFUSED);
    assert_eq!(submitted(&state, job(&["API=on", "API=off"])).0, Answer::Accepted);
    let mut twice = job(&["SLURM_NTASKS=1", "SLURM_NTASKS_PER_NODE=9", "SLURM_NTASKS=2"]);
    assert_eq!(ask(submission, &state, &mut twice).0, Answer::Accepted);
    assert_eq!(twice.0.env_size, 2, "each is there once");
    // SAFETY: the environment has two entries, of Slurm's allocator.
    let entries = [0, 1].map(|place| read(unsafe { *twice.0.environment.add(place) }).unwrap());
    assert_eq!(entries, ["SLURM_NTASKS_PER_NODE=9", "SLURM_NTASKS=3"]);
    free_texts(&mut twice);
}

#[test]
fn names_that_slurm_compares_without_case_are_read_and_written_in_small_letters_and_no_others() {
    let (_directory, state) = with_rules(
        r#"
        [[rule]]
        name = "write"
        when = 'job.?name.orValue("") == "write"'
        set = { qos = "Express" }
        [[rule]]
        name = "express"
        when = 'job.?qos.orValue("") == "express" || job.?account.orValue("") == "guests" || job.?wckey.orValue("") == "w"'
        reject = "not these"
        [[rule]]
        name = "as-written"
        when = 'job.?qos.orValue("") == "Normal"'
        reject = "not this"
        [[rule]]
        name = "partition"
        when = 'job.?partition.orValue("") == "short" || job.?reservation.orValue("") == "r" || job.?features.orValue("") == "f"'
        reject = "letter by letter"
        "#,
    );
    for (field, name, is_refused) in [
        (TextField::Qos, "EXPRESS", true),
        (TextField::Qos, "eXpress", true),
        (TextField::Account, "Guests", true),
        (TextField::Wckey, "W", true),
        (TextField::Qos, "normal", true),
        (TextField::Name, "write", true),
        (TextField::Partition, "SHORT", false),
        (TextField::Reservation, "R", false),
        (TextField::Features, "F", false),
        (TextField::Partition, "short", true),
    ] {
        let expected = if is_refused { REFUSED } else { Answer::Accepted };
        assert_eq!(submitted(&state, with_text(field, name)).0, expected, "{field:?} {name}");
    }
}

#[test]
fn a_job_is_found_by_each_name_that_slurm_takes_for_it_in_a_modification() {
    let (directory, state) = with_rules(
        r#"
        [[rule]]
        name = "fixed"
        on = ["modify"]
        on_error = "pass"
        when = 'current.?name.orValue("") == "fixed"'
        reject = "it stays"
        "#,
    );
    let job = |number: u32, task, name: &str| SiteJob {
        number: JobId(number),
        task,
        read_at: now() - Seconds(100),
        fields: vec![(FieldNumber::from(Name::JobName), OwnedValue::Text(name.to_owned()))],
    };
    let jobs = vec![
        job(12, None, "fixed"),
        job(20, None, "other"),
        job(21, None, "fixed"),
        job(40, None, "other"),
        job(43, Some((JobId(40), 7)), "fixed"),
    ];
    put(
        directory.path(),
        "rules-data",
        &encode(&SiteData { written_at: now(), operators: vec![], users: vec![], jobs, job_counts: vec![], counted_before: now() }).bytes,
    );
    let modified = |name: &str| {
        let mut job = Description::unset();
        job.0.job_id_str = text(name);
        let answer = ask(modification, &state, &mut job).0;
        free_texts(&mut job);
        answer
    };
    for name in [
        "12",
        " 12",
        "\t12",
        "\n\r\u{b}\u{c} 12",
        "+12",
        " +12",
        "012",
        "12+",
        "12+0",
        "12+ 0",
        "12++0",
        "4294967308",
        "20+1",
        "21",
        "40_7",
        " 40_7",
        "40_[7]",
        "40_ 7",
        "40_+7",
        "40_7,7",
        "40_7-7",
        "40_7-8:5",
        "40_7%1",
        "40_,7",
    ] {
        assert_eq!(modified(name), REFUSED, "{name:?}");
    }
    // These are other jobs, or none, which slurmctld refuses.
    for name in ["20", "20+0", "40", "40_6", "-12", "12 ", "12\n", "12x", "x12", "0x12", "12+1x", "9223372036854775807", "40_", "40_7x", ""]
    {
        assert_eq!(modified(name), Answer::Accepted, "{name:?}");
    }
}

#[test]
fn all_components_of_a_heterogeneous_batch_job_are_of_a_batch_job() {
    let (_directory, state) = with_rules(
        r#"
        [[rule]]
        name = "batch"
        when = "job.is_batch && has(job.min_nodes) && job.min_nodes > 4"
        reject = "too many nodes"
        [[rule]]
        name = "interactive"
        when = "job.is_interactive && has(job.num_tasks) && job.num_tasks > 4"
        reject = "too many tasks"
        "#,
    );
    let component = |offset: u32, nodes: u32, tasks: u32, has_script: bool, has_environment: bool| {
        let mut job = Description::batch(nodes, tasks);
        job.0.het_job_offset = offset;
        if !has_script {
            free(&mut job.0.script);
        }
        if !has_environment {
            job.free_environment();
            job.0.environment = ptr::null_mut();
        }
        job
    };
    // As sbatch sends them: only the first has the script. Its environment is the user's to leave
    // out.
    for has_environment in [true, false] {
        assert_eq!(submitted(&state, component(0, 1, 8, true, true)).0, Answer::Accepted);
        assert_eq!(submitted(&state, component(1, 2, 8, false, has_environment)).0, Answer::Accepted);
        assert_eq!(submitted(&state, component(2, 8, 8, false, has_environment)).1, "too many nodes");
    }
    // As salloc and srun send them, without environments, or with one that somebody made up.
    for has_environment in [true, false] {
        assert_eq!(submitted(&state, component(0, 8, 1, false, false)).0, Answer::Accepted);
        assert_eq!(submitted(&state, component(1, 8, 1, false, has_environment)).0, Answer::Accepted);
        assert_eq!(submitted(&state, component(2, 8, 8, false, has_environment)).1, "too many tasks");
    }
    // Where the first one was not seen, and for a job that is no component.
    assert_eq!(submitted(&state, component(5, 8, 1, false, true)).1, "too many nodes");
    assert_eq!(submitted(&state, component(bindings::NO_VAL, 8, 1, false, true)).0, Answer::Accepted);
}

#[test]
fn observed_rules_take_nothing_from_those_that_apply() {
    let observed = (0..56).map(|number| {
        format!(
            "[[rule]]\nname = \"observed-{number}\"\nmode = \"observe\"\nwhen = '(job.?script.orValue(\"\") + \"x\").contains(\"y\") || \
             job.?script.orValue(\"\").contains(\"{number}z\") || job.?comment.orValue(\"\").lowerAscii() + \"x\" == \"y\"'\nreject = \"no\"\n"
        )
    });
    let enforced = "[[rule]]\nname = \"enforced\"\non_error = \"pass\"\nwhen = 'job.?comment.orValue(\"\").upperAscii().startsWith(\"A\") && \
                    job.?script.orValue(\"\").contains(\"secret\")'\nreject = \"it is there\"\n";
    let (_directory, state) = with_rules(&(observed.collect::<String>() + enforced));
    let mut job = with_text(TextField::Script, &format!("#!/bin/sh\n{}secret", "#\n".repeat(200 << 10)));
    view(&mut job).set_text(TextField::Comment, SlurmText::new(&"A".repeat(1000)));
    assert_eq!(submitted(&state, job), (REFUSED, "it is there".to_owned()));
}

#[test]
fn a_text_costs_by_its_length_and_more_where_it_is_no_utf_8_and_nothing_the_second_time() {
    let mut job = with_text(TextField::Dependency, &"x".repeat(64_000));
    let cost = |job: &mut Description| {
        let description = view(job);
        let fields = JobFields::from(&description);
        let field = FieldNumber::from(Name::Dependency);
        let (mut steps, mut few) = (Steps(1_000_000), Steps(3_999));
        assert!(fields.charge(field, &mut few).is_err());
        assert!(fields.has(field));
        fields.charge(field, &mut steps).unwrap();
        let cost = 1_000_000 - steps.0;
        assert_eq!(fields.field(field).is_some_and(|value| !value.to_string().is_empty()), fields.has(field));
        let before = steps;
        fields.charge(field, &mut steps).unwrap();
        assert_eq!(steps, before);
        cost
    };
    assert_eq!(cost(&mut job), 4_000);
    overwrite(job.0.dependency, b"\xff");
    assert_eq!(cost(&mut job), 4_000 + 4 + 4_003);
    overwrite(job.0.dependency, &[0xff; 64_000]);
    assert_eq!(cost(&mut job), 4_000 + 4 * 64_000);
    free_texts(&mut job);
}

#[test]
fn what_is_derived_costs_once_and_again_after_what_it_depends_on_was_written() {
    let mut job = with_text(TextField::TresPerNode, &"gres/gpu:1,".repeat(90));
    view(&mut job).set_text(TextField::ArrayInx, SlurmText::new(&"1,".repeat(2_000)));
    {
        let description = view(&mut job);
        let fields = JobFields::from(&description);
        let cost = |name: Name| {
            let field = FieldNumber::from(name);
            let mut steps = Steps(1_000_000);
            fields.charge(field, &mut steps).unwrap();
            let _ = fields.field(field);
            1_000_000 - steps.0
        };
        // The text is read, and gone through for resources; then the counts are there for all.
        assert_eq!([Name::Gpus, Name::Gpus, Name::Cpus, Name::Memory, Name::HasUntypedGpus].map(cost), [61 + 1_980, 0, 0, 0, 0]);
        assert_eq!([Name::ArraySize, Name::ArraySize, Name::IsArray].map(|name| cost(name) > 1_000), [true, false, true]);
    }
    free_texts(&mut job);
}

#[test]
fn a_job_is_left_where_its_environment_or_what_is_set_for_its_prolog_is_too_long_to_be_gone_through() {
    let directory = tempfile::tempdir().unwrap();
    let state = State::over(directory.path());
    let entry = format!("QUEUECAST_MOLD_SIZES={}", "1,".repeat(40_000));
    let (answer, said) = submitted(&state, Description::batch(1, 1).with_control(&[&entry]));
    assert_eq!(answer, Answer::Accepted);
    assert!(said.contains("the job is left as it is: what is set for its prolog and epilog is too long"), "{said}");
    let (answer, said) = submitted(&state, many_variables((1 << 14) + 1));
    assert_eq!(answer, Answer::Accepted);
    assert!(said.contains("the job is left as it is: its environment has too many variables"), "{said}");
    assert_eq!(submitted(&state, many_variables(1 << 14)), (Answer::Accepted, String::new()));
}
