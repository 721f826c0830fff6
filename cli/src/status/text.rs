//! The report for people.

use command_parts::output::{BAD, GOOD, Lines, apart, count, duration, moment_and_distance, table};
use job_types::policy::Admission;
use job_types::time::{Seconds, UnixTime};
use predictor_core::decisions::LeastGain;
use predictor_core::decisions::counters::COUNTERS;

use super::rules::{RulesCounted, RulesReport};
use super::{ConfigurationReport, Content, Report, prices, wait_forecasts};
use crate::policy_report::PolicyReport;

/// The report for people.
pub(super) fn text(report: &Report) -> String {
    let mut lines = Lines::default();
    match &report.problem {
        None => lines.line("submit filter", format!("{GOOD}can act on the snapshot{GOOD:#}")),
        Some(problem) => lines.line("submit filter", format!("{BAD}leaves all jobs alone{BAD:#}: {problem}")),
    }
    lines.line("kill switch", if report.kill_switch { "on" } else { "off" });
    lines.line("state", report.state_directory.display().to_string());
    configuration(&mut lines, &report.configuration, report.now);
    report.guard.text(&mut lines, report.now);
    if let Some(content) = &report.snapshot.content {
        snapshot(&mut lines, content, report.now);
    }
    if let Some(policy) = &report.policy {
        policies(&mut lines, policy, report);
        partitions(&mut lines, report);
        wait_forecasts::text(&mut lines, report);
        prices::text(&mut lines, report);
    }
    rules(&mut lines, &report.rules, report.now);
    counters(&mut lines, report);
    lines.text()
}

fn configuration(lines: &mut Lines, configuration: &ConfigurationReport, now: UnixTime) {
    let loaded = configuration.loaded_at.map(|at| format!(", loaded {}", moment_and_distance(UnixTime(at), now)));
    lines.line("configuration", format!("{}{}", configuration.path.display(), loaded.unwrap_or_default()));
    match (&configuration.error, &configuration.error_in_force) {
        (Some(error), in_force) => {
            let missing = configuration.is_missing;
            lines.line(
                "",
                if missing { "there is no such file".to_owned() } else { format!("{BAD}the file can't be used{BAD:#}: {error}") },
            );
            // The daemon's own message begins with the same error, and says what is in force behind
            // it.
            let consequence =
                in_force.as_deref().map(|in_force| in_force.strip_prefix(error.as_str()).unwrap_or(in_force).trim_start_matches("; "));
            if configuration.loaded_at.is_some() {
                lines.line("", consequence.unwrap_or("what was loaded before stays in force"));
            }
        }
        (None, Some(error)) => {
            lines.line("", format!("{BAD}when it was last loaded{BAD:#}: {error}"));
            lines.line("", "the file is good now; take it up with `systemctl reload queuecastd`");
        }
        (None, None) if configuration.changed_since => {
            lines.line("", "written to since it was loaded; take it up with `systemctl reload queuecastd`");
        }
        (None, None) => {}
    }
}

fn snapshot(lines: &mut Lines, content: &Content, now: UnixTime) {
    lines.heading("Snapshot");
    lines.line("published", moment_and_distance(UnixTime(content.published_at), now));
    lines.line("counts for", Seconds(content.maximum_age_s).to_string());
    let (generation, layout) = (content.generation, content.layout_version);
    lines.line("generation", format!("{generation}, layout version {layout}, {} bytes", count(content.length_bytes as u64)));
    lines.line("cluster", &content.cluster);
    let read = |at: Option<i64>, not: &str| at.map_or_else(|| not.to_owned(), |at| moment_and_distance(UnixTime(at), now));
    // The first snapshots may come out while a long past is still read.
    let not_whole = if content.ended_jobs > 0 { "not to the end of the history yet" } else { "never" };
    lines.line("slurmdbd read", read(content.accounting_read_at, not_whole));
    lines.line("slurmctld read", read(content.controller_read_at, "never"));
    if !content.clocks_agree {
        let apart = apart(Seconds(content.controller_ahead_s));
        lines.line("clocks", format!("{BAD}slurmctld's clock is {apart} the daemon's{BAD:#}: no job is ended as late"));
    }
    let ended = count(content.ended_jobs);
    lines.line(
        "history",
        match content.first_end.zip(content.last_end) {
            Some((first, last)) => {
                format!("{ended} ended jobs over {}, the last {}", Seconds(last - first), moment_and_distance(UnixTime(last), now))
            }
            None => "no ended jobs".to_owned(),
        },
    );
    let (classes, sizes) = (count(content.wait_classes as u64), count(content.user_sizes as u64));
    lines.line(
        "forecasts",
        format!("{classes} classes of waits, {sizes} sizes of users, bounds at {:.0} % confidence", content.confidence * 100.0),
    );
}

fn policies(lines: &mut Lines, site: &PolicyReport, report: &Report) {
    lines.heading("Modes");
    let mut policies = table(
        &[
            "partition",
            "mode",
            "mold",
            "defer",
            "reserve",
            "early start",
            "probability",
            "gain to defer",
            "longest deferral",
            "least gain",
            "others",
            "admission",
        ],
        &["probability", "gain to defer"],
    );
    let named = report.partitions.iter().map(|partition| (partition.name.as_str(), &partition.policy));
    for (name, policy) in std::iter::once(("(others)", site)).chain(named) {
        policies.add_row([
            name.to_owned(),
            policy.mode.to_string(),
            policy.mold.to_owned(),
            policy.defer.to_owned(),
            policy.reserve.to_owned(),
            policy.early_start.to_owned(),
            policy.success_probability.to_string(),
            policy.defer_threshold.to_string(),
            duration(Seconds(policy.max_defer_s)),
            LeastGain { part: policy.min_gain, time: Seconds(policy.min_gain_time_s) }.to_string(),
            policy.others.to_owned(),
            policy.admission.to_owned(),
        ]);
    }
    lines.table(&policies);
    let shares_nodes = |admission: &str| Admission::ALL.iter().any(|rule| rule.shares_nodes() && rule.as_str() == admission);
    for partition in report.partitions.iter().filter(|partition| shares_nodes(partition.policy.admission) && partition.shared_nodes == 0) {
        let (name, rule) = (&partition.name, partition.policy.admission);
        lines.plain(format!("{name}: {rule} admits nobody: no node takes jobs that share its CPUs (OverSubscribe=FORCE in slurm.conf)"));
    }
}

fn partitions(lines: &mut Lines, report: &Report) {
    lines.heading("Partitions");
    let numbers = ["nodes", "CPUs", "running", "on CPUs", "pending", "for CPUs", "demand"];
    let mut partitions =
        table(&["partition", "nodes", "CPUs", "running", "on CPUs", "pending", "for CPUs", "demand", "longest limit"], &numbers);
    for partition in &report.partitions {
        let demand = (partition.running_cpus + partition.pending_cpus) as f64 / f64::from(partition.cpus.max(1));
        let known = partition.cpus > 0;
        partitions.add_row([
            format!("{}{}", partition.name, if partition.is_default { "*" } else { "" }),
            count(partition.nodes.into()),
            count(partition.cpus.into()),
            count(partition.running_jobs.into()),
            count(partition.running_cpus),
            count(partition.pending_jobs.into()),
            count(partition.pending_cpus),
            if known { format!("{demand:.2}") } else { "-".to_owned() },
            match (known, partition.max_time_s) {
                (false, _) => "not in slurmctld".to_owned(),
                (true, None) => "UNLIMITED".to_owned(),
                (true, Some(limit)) => duration(Seconds(limit)),
            },
        ]);
    }
    lines.table(&partitions);
    lines.plain("* default; demand: CPUs of running and eligible jobs over the partition's CPUs");
}

fn rules(lines: &mut Lines, rules: &RulesReport, now: UnixTime) {
    if rules.is_none() {
        return;
    }
    lines.heading("The site's own rules");
    match (&rules.error, rules.in_force) {
        (Some(error), _) => lines.line("in force", format!("{BAD}can't be read{BAD:#}: {error}")),
        (None, in_force) => {
            let since = rules.since.map(|since| format!(", since {}", moment_and_distance(UnixTime(since), now)));
            let by = rules.by.map(|by| format!(", by {by}"));
            let counted = count(in_force.unwrap_or_default() as u64);
            lines.line("in force", format!("{counted}{}{}", since.unwrap_or_default(), by.unwrap_or_default()));
        }
    }
    if !rules.files.is_empty() {
        lines.line("of", rules.files.join(", "));
    }
    if rules.kill_switch {
        lines.line("switched off", format!("{BAD}no rule is asked{BAD:#}: remove rules-off to switch on again"));
    }
    if rules.broken {
        let at = rules.compiled_at.map(|at| format!(" {}", moment_and_distance(UnixTime(at), now))).unwrap_or_default();
        lines.line("the files", format!("{BAD}could not be used{BAD:#} when they were read{at}; the rules before stay in force"));
    }
    if let Some(data) = &rules.data {
        let at = moment_and_distance(UnixTime(data.written_at), now);
        let left_out = if data.left_out > 0 { format!("; {} had no place", count(data.left_out)) } else { String::new() };
        let known = format!("{} users with groups, {} jobs, {at}{left_out}", count(data.users as u64), count(data.jobs as u64));
        lines.line("they know", known);
    }
    for problem in rules.errors.iter().chain(&rules.warnings) {
        lines.plain(problem);
    }
    if let Some(counted) = rules.counted.as_ref().filter(|counted| !counted.rules.is_empty()) {
        by_rule(lines, counted, now);
    }
}

fn by_rule(lines: &mut Lines, counted: &RulesCounted, now: UnixTime) {
    const EVENTS: [&str; 6] = ["asked", "matched", "refused", "warned", "observed", "failed"];
    let mut rules = table(
        &["rule", "asked", "matched", "refused", "warned", "observed", "failed", "steps each", "µs each"],
        &["asked", "matched", "refused", "warned", "observed", "failed", "steps each", "µs each"],
    );
    for rule in &counted.rules {
        let counted = |name: &str| rule.counts.get(name).copied().unwrap_or(0);
        let each = |sum: u64, unit: f64| match counted("asked") {
            0 => "-".to_owned(),
            asked => format!("{:.2}", sum as f64 / asked as f64 / unit),
        };
        let events = EVENTS.map(|event| count(counted(event)));
        let times = [each(counted("steps"), 1.0), each(counted("nanoseconds"), 1e3)];
        rules.add_row([rule.name.clone()].into_iter().chain(events).chain(times));
    }
    lines.table(&rules);
    lines.plain(format!("submissions and modifications since {}", moment_and_distance(UnixTime(counted.since), now)));
}

fn counters(lines: &mut Lines, report: &Report) {
    lines.heading("Submissions since the counters were made");
    let Some(counted) = &report.counters else {
        lines.plain(report.counters_error.as_deref().unwrap_or("not known"));
        return;
    };
    let submissions = counted.get("submissions").copied().unwrap_or(0);
    let share = |number: u64| if submissions == 0 { String::new() } else { format!("{:.1} %", number as f64 * 100.0 / submissions as f64) };
    let mut counters = table(&["count", "share", "submissions"], &["count", "share"]);
    for (_, name, help) in COUNTERS {
        let number = counted.get(name).copied().unwrap_or(0);
        // These two count something else than submissions.
        let share = if matches!(name, "modifications" | "snapshots_taken") { String::new() } else { share(number) };
        counters.add_row([count(number), share, help.to_owned()]);
    }
    lines.table(&counters);
    let rewritten = report.rewritten_at_least.unwrap_or(0);
    lines.plain(format!("rewritten: at least {} {}", count(rewritten), share(rewritten)).trim_end());
}
