use super::*;
use crate::evaluation::Methods;
use crate::lublin;
use crate::swf::Reader;
use crate::swf::Record;

fn log(jobs: u64) -> Log {
    lublin::workload(&lublin::Options { jobs, processors: 64, users: 8, ..lublin::Options::default() }).unwrap()
}

fn assessed(log: &Log) -> Assessment {
    assess(log, &Options { seed: 1, ..Options::default() }, &|_, _, _| ()).unwrap()
}

#[test]
fn an_assessment_follows_from_the_past_and_uses_the_code_of_the_evaluations() {
    let log = log(400);
    let found = assessed(&log);
    assert_eq!((found.past.ran, found.past.processors, found.verdict.answer), (found.past.all.jobs, 64, verdict::Answer::CannotBeSaid));
    assert!(found.verdict.sentences.concat().contains("jobs that ran"), "{:?}", found.verdict);
    // Each job is in one queue and of one size.
    for classes in [&found.past.by_queue, &found.past.by_size, &found.past.by_queue_and_size] {
        assert_eq!(classes.iter().map(|class| class.jobs).sum::<usize>(), found.past.ran);
        assert!((classes.iter().map(|class| class.part_of_work).sum::<f64>() - 1.0).abs() < 1e-9);
    }

    let forecasts = found.forecasts.as_ref().unwrap();
    assert_eq!((forecasts.history_jobs, forecasts.history_jobs + forecasts.jobs), (found.past.ran / 3, found.past.ran));
    let workload = evaluation::read(&log);
    let options = evaluation::WaitOptions { from: forecasts.history_jobs + 1, to: usize::MAX, seed: 1, methods: Methods::Inexpensive };
    let evaluated = evaluation::evaluate_waits(&workload, &options, &|_, _| ()).unwrap();
    assert_eq!(evaluated.aae_hours, forecasts.waits.aae_hours);
    assert_eq!(evaluated.coverage, forecasts.waits.coverage);

    let molding = found.molding.as_ref().unwrap();
    let unders: Vec<Under> = molding.by_scheduler.iter().map(|molded| molded.under).collect();
    assert_eq!(unders, [Under::SlurmDefaults, Under::Easy]);
    for molded in &molding.by_scheduler {
        let [half, all] = molded.adoptions.as_slice() else { panic!() };
        assert_eq!((half.adoption, all.adoption, half.draws.len(), all.draws.len()), (0.5, 1.0, 3, 3));
        for draw in &half.draws {
            assert_eq!(draw.adopters.jobs + draw.others.jobs, molding.jobs);
            assert!(draw.others.jobs > molding.jobs / 4, "{draw:?}");
        }
        assert_eq!((all.others_change(), half.others_change().is_some()), (None, true));
    }
    let baseline = |molded: &Molded| molded.adoptions.first().unwrap().draws.first().unwrap().baseline.mean_response_s;
    for adoption in molding.by_scheduler.iter().flat_map(|molded| &molded.adoptions) {
        let means: Vec<f64> = adoption.draws.iter().map(|draw| draw.baseline.mean_response_s).collect();
        assert!(means.windows(2).all(|pair| pair[0] != pair[1]), "each draw has a path of its own without molding: {means:?}");
    }
    let baselines: Vec<f64> = molding.by_scheduler.iter().map(baseline).collect();
    assert_ne!(baselines.first(), baselines.last(), "two schedulers serve the jobs alike to the second");

    let schedulers = found.schedulers.as_ref().unwrap();
    let waits = |name: &str| schedulers.schedules.iter().find(|schedule| schedule.name == name).map(|schedule| schedule.wait_s.mean);
    assert!(waits("no backfilling") >= waits("EASY") && waits("EASY").is_some(), "{schedulers:?}");
    let again = assessed(&log);
    assert_eq!((&again.past, &again.verdict, &again.not_said), (&found.past, &found.verdict, &found.not_said));
    assert_eq!((&again.molding, &again.schedulers), (&found.molding, &found.schedulers));
}

#[test]
fn too_few_jobs_are_described_and_nothing_is_concluded() {
    let found = assessed(&log(40));
    assert!(found.forecasts.is_none() && found.molding.is_none() && found.schedulers.is_none());
    assert_eq!((found.verdict.answer, found.past.ran > 0), (verdict::Answer::CannotBeSaid, true));
    assert!(found.not_said.iter().any(|item| item.is_weighty && item.why.contains("only described")), "{:?}", found.not_said);
}

#[test]
fn a_past_without_jobs_that_ran_is_refused_with_what_they_lack() {
    let mut log = log(100);
    log.records.iter_mut().for_each(|job| job.run_time_seconds = None);
    let error = assess(&log, &Options::default(), &|_, _, _| ()).unwrap_err();
    assert!(error.to_string().starts_with("none of the 100 jobs"), "{error}");
}

#[test]
fn a_past_without_waits_is_answered_as_far_as_it_goes() {
    let mut log = log(400);
    let known = assessed(&log);
    log.records.iter_mut().for_each(|job| job.wait_time_seconds = None);
    let found = assessed(&log);
    assert!(found.forecasts.is_none() && !found.past.says_waits && known.past.says_waits);
    let classes = |past: &Past| {
        [&past.by_queue, &past.by_size, &past.by_queue_and_size].into_iter().flatten().chain([&past.all]).cloned().collect::<Vec<_>>()
    };
    assert!(classes(&found.past).iter().all(|class| class.wait_s.is_none() && class.waited_an_hour.is_none()));
    assert!(classes(&known.past).iter().all(|class| class.wait_s.is_some() && class.waited_an_hour.is_some()));
    assert!(found.run_times.as_ref().is_some_and(|found| found.jobs > 200 && found.run_times.aae_minutes.contains_key("best")));
    // Replays do not go by waits.
    assert_eq!(found.molding, known.molding);
    let schedules = |found: &Assessment| found.schedulers.as_ref().map(|schedulers| schedulers.schedules.clone());
    assert_eq!(schedules(&found), schedules(&known));
    assert!(found.schedulers.as_ref().is_some_and(|schedulers| schedulers.logged_wait_s.is_none()));
    assert!(found.not_said.iter().any(|item| item.is_weighty && item.about == "waits"), "{:?}", found.not_said);
    assert!(found.verdict.findings.iter().all(|finding| !finding.label.contains("wait")), "{:?}", found.verdict);
}

#[test]
fn what_the_data_do_not_say_is_listed() {
    let about = |change: fn(&mut Record)| {
        let mut log = log(80);
        log.records.iter_mut().for_each(change);
        assessed(&log).not_said
    };
    let has = |list: &[NotSaid], about: &str| list.iter().any(|item| item.about == about);
    let plain = about(|_| ());
    assert!(has(&plain, "memory") && has(&plain, "nodes") && !has(&plain, "time limits"), "{plain:?}");
    let lacking = about(|job| {
        job.requested_time_seconds = None;
        job.partition = Some(job.job_number % 2);
    });
    assert!(has(&lacking, "time limits") && has(&lacking, "partitions"), "{lacking:?}");
    let unsized_machine = Reader::new(&b"1 0 5 60 4 -1 -1 4 90 -1 1 3 1 -1 1 -1 -1 -1\n"[..]).unwrap().into_log().unwrap();
    assert!(has(&assessed(&unsized_machine).not_said, "the size of the machine"));
}
