use super::*;
use crate::field::Fields;
use proptest::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

fn user(id: u32, name: &str, groups: &[&str]) -> SiteUser {
    SiteUser { id: UserId(id), name: name.to_owned(), groups: groups.iter().map(|group| (*group).to_owned()).collect() }
}

fn job(number: u32, fields: &[(Name, OwnedValue)]) -> SiteJob {
    let fields = fields.iter().map(|(name, value)| (FieldNumber::from(*name), value.clone())).collect();
    SiteJob { number: JobId(number), task: None, read_at: UnixTime(900), fields }
}

fn text(text: &str) -> OwnedValue {
    OwnedValue::Text(text.to_owned())
}

fn made_up() -> SiteData {
    let task = SiteJob { task: Some((JobId(40), 7)), ..job(43, &[(Name::Partition, text("of the task"))]) };
    SiteData {
        written_at: UnixTime(1_000),
        operators: vec![UserId(30), UserId(10)],
        users: vec![user(20, "berta", &[]), user(10, "anna", &["physics", "the staff"])],
        jobs: vec![
            task,
            job(40, &[(Name::Partition, text("of the array"))]),
            job(
                12,
                &[
                    (Name::TimeLimit, OwnedValue::Duration(Seconds(3_600))),
                    (Name::BeginTime, OwnedValue::Moment(UnixTime(5))),
                    (Name::MinCpus, OwnedValue::Integer(-4)),
                    (Name::IsBatch, OwnedValue::Truth(true)),
                    (Name::TresPerNode, OwnedValue::Resources("gres/gpu:a100:2".to_owned())),
                    (Name::Argv, OwnedValue::Texts(vec!["job.sh".to_owned(), "one argument".to_owned()])),
                ],
            ),
        ],
        job_counts: vec![(UserId(20), UserJobs { pending: 3, running: 1 }), (UserId(10), UserJobs { pending: 0, running: 70_000 })],
        counted_before: UnixTime(990),
    }
}

fn read(data: &SiteData) -> DataFile {
    DataFile::decode(encode(data).bytes).unwrap()
}

fn in_words(job: &KnownJob<'_>, name: Name) -> Option<String> {
    job.field(FieldNumber::from(name)).map(|value| value.to_string())
}

#[test]
fn users_operators_and_jobs_are_found_by_their_numbers_in_whatever_order_they_were_written() {
    let file = read(&made_up());
    assert_eq!((file.written_at(), file.counts(), file.left_out()), (UnixTime(1_000), (2, 3), LeftOut::default()));
    assert_eq!([9, 10, 20, 30, 31].map(|id| file.is_operator(UserId(id))), [false, true, false, true, false]);
    let anna = file.user(UserId(10)).unwrap();
    assert_eq!((anna.name, anna.groups.iter().collect::<Vec<_>>()), ("anna", vec!["physics", "the staff"]));
    let berta = file.user(UserId(20)).unwrap();
    assert_eq!((berta.name, berta.groups.iter().count()), ("berta", 0));
    assert!(file.user(UserId(11)).is_none());
    let jobs = [9, 10, 20].map(|id| file.jobs_of(UserId(id))).map(|jobs| (jobs.pending, jobs.running));
    assert_eq!((jobs, file.counted_before()), ([(0, 0), (0, 70_000), (3, 1)], UnixTime(990)));
    let job = file.job(JobId(12)).unwrap();
    assert_eq!(job.read_at, UnixTime(900));
    let expected = [
        (Name::TimeLimit, Some("3600s")),
        (Name::BeginTime, Some("@5")),
        (Name::MinCpus, Some("-4")),
        (Name::IsBatch, Some("true")),
        (Name::IsInteractive, Some("false")),
        (Name::Gpus, Some("2")),
        (Name::GpuTypes, Some("a100")),
        (Name::Argv, Some("job.sh|one argument")),
        (Name::Partition, None),
    ];
    for (name, value) in expected {
        assert_eq!(in_words(&job, name).as_deref(), value, "{name:?}");
    }
    assert!(file.job(JobId(13)).is_none());
}

#[test]
fn a_task_of_an_array_is_its_own_job_where_it_has_one_and_else_the_arrays() {
    let file = read(&made_up());
    let partition = |job: Option<KnownJob<'_>>| job.and_then(|job| in_words(&job, Name::Partition));
    assert_eq!(partition(file.task(JobId(40), 7)).as_deref(), Some("of the task"));
    assert_eq!(partition(file.task(JobId(40), 8)).as_deref(), Some("of the array"));
    assert_eq!(partition(file.job(JobId(43))).as_deref(), Some("of the task"));
    assert!(file.task(JobId(41), 7).is_none());
}

#[test]
fn data_of_nobody_is_read_as_such() {
    let file = read(&SiteData::default());
    assert!(file.user(UserId(0)).is_none() && file.job(JobId(1)).is_none() && !file.is_operator(UserId(0)));
}

#[test]
fn what_has_no_place_is_left_out_and_told_the_oldest_jobs_and_the_highest_users_first() {
    let data = SiteData {
        users: (0..20).map(|id| user(id, "somebody", &["group"])).collect(),
        jobs: (0..100).map(|number| job(number, &[(Name::Comment, text(&"x".repeat(100)))])).collect(),
        ..SiteData::default()
    };
    let encoded = encode_within(&data, 3_000, 10, 50);
    let kept = DataFile::decode(encoded.bytes.clone()).unwrap();
    let (users, jobs) = kept.counts();
    assert!(encoded.bytes.len() <= 3_064 && users == 10 && (10..30).contains(&jobs), "{users} users, {jobs} jobs");
    assert_eq!(encoded.left_out, LeftOut { users: 10, jobs: 100 - jobs as u32 });
    assert_eq!(kept.left_out(), encoded.left_out);
    assert!(kept.job(JobId(99)).is_some() && kept.job(JobId(0)).is_none());
    assert!(kept.user(UserId(9)).is_some() && kept.user(UserId(10)).is_none());
    assert_eq!(encode_within(&data, 1 << 20, 20, 50).left_out, LeftOut { users: 0, jobs: 50 });
    // There is hardly place for the numbers themselves.
    assert_eq!(encode_within(&data, 40, 20, 50).left_out, LeftOut { users: 20, jobs: 100 });
}

#[test]
fn one_user_with_many_or_large_jobs_takes_no_room_from_others_and_what_is_too_large_is_passed_over() {
    let of = |user: i64, number: u32, length: usize| {
        job(number, &[(Name::UserId, OwnedValue::Integer(user)), (Name::Comment, text(&"x".repeat(length)))])
    };
    let kept = |jobs: Vec<SiteJob>, most_bytes: usize, most_jobs: usize| {
        let encoded = encode_within(&SiteData { jobs, ..SiteData::default() }, most_bytes, 10, most_jobs);
        let file = DataFile::decode(encoded.bytes).unwrap();
        (0..300).filter(|number| file.job(JobId(*number)).is_some()).collect::<Vec<_>>()
    };
    // Three large jobs that are newer than others' small ones.
    let mut jobs: Vec<SiteJob> = (0..20).map(|number| of(1 + i64::from(number) % 4, number, 50)).collect();
    jobs.extend((100..103).map(|number| of(7, number, 4_000)));
    assert_eq!(kept(jobs.clone(), 8_000, 100), (0..20).chain([102]).collect::<Vec<_>>());
    // One that no share has room for is passed over, and a smaller one of the same user is not.
    jobs.push(of(7, 104, 9_000));
    assert_eq!(kept(jobs, 8_000, 100), (0..20).chain([102]).collect::<Vec<_>>());
    // Many small ones.
    let mut jobs: Vec<SiteJob> = (0..20).map(|number| of(1 + i64::from(number) % 4, number, 5)).collect();
    jobs.extend((100..300).map(|number| of(7, number, 5)));
    assert_eq!(kept(jobs, 1 << 20, 50), (0..20).chain(270..300).collect::<Vec<_>>());
}

#[test]
fn a_field_of_another_kind_than_it_has_makes_the_job_unknown() {
    let file = read(&SiteData { jobs: vec![job(1, &[(Name::TimeLimit, text("an hour"))])], ..SiteData::default() });
    assert!(file.job(JobId(1)).is_none());
    let unknown = SiteJob { fields: vec![(FieldNumber(u16::MAX), text("x"))], ..job(1, &[]) };
    assert!(read(&SiteData { jobs: vec![unknown], ..SiteData::default() }).job(JobId(1)).is_none());
}

#[test]
fn a_file_that_is_damaged_or_cut_off_is_refused() {
    let bytes = encode(&made_up()).bytes;
    for length in 0..bytes.len() {
        assert!(DataFile::decode(bytes[..length].to_vec()).is_err(), "{length} bytes");
    }
    for place in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        assert!(DataFile::decode(changed).is_err(), "byte {place}");
    }
    assert_eq!(DataFile::decode(vec![0; LARGEST + 1]).unwrap_err(), EnvelopeError::TooLarge(LARGEST).into());
}

/// All look-ups.
fn look_everything_up(file: &DataFile) {
    for number in 0..50 {
        let _ = (file.is_operator(UserId(number)), file.user(UserId(number)), file.task(JobId(40), number));
        if let Some(job) = file.job(JobId(number)) {
            for name in Name::ALL {
                let _ = in_words(&job, *name);
            }
        }
    }
}

proptest! {
    /// With a right checksum, as whoever can write the file could give it.
    #[test]
    fn whatever_the_content_is_nothing_breaks(changes in prop::collection::vec((32_usize..400, any::<u8>()), 1..5), cut in 0_usize..200) {
        let mut bytes = encode(&made_up()).bytes;
        for (place, byte) in changes {
            if let Some(old) = bytes.get_mut(place) {
                *old = byte;
            }
        }
        bytes.truncate(bytes.len() - cut.min(bytes.len() - 32));
        let checksum = xxh3_64(&bytes[32..]).to_le_bytes();
        bytes[24..32].copy_from_slice(&checksum);
        if let Ok(file) = DataFile::decode(bytes) {
            look_everything_up(&file);
        }
    }
}
