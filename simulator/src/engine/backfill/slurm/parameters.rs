//! Slurm's `SchedulerParameters`.

use job_types::time::{Seconds, UnixTime};

use super::parse::{ParameterError, leading_number, number, switch};
use crate::engine::Departure;

/// The parameters of Slurm's main scheduler and of its backfill scheduler that this model knows,
/// with Slurm's own names and defaults (22.05 to 26.05).
///
/// Those of the main scheduler are read in src/slurmctld/job_scheduler.c (`_schedule`), those that
/// begin with `bf_` in src/plugins/sched/backfill/backfill.c (`_load_config`).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SlurmParameters {
    /// `default_queue_depth` (100): so many jobs and one more are tried by a pass of the main
    /// scheduler that a submission or a termination caused.
    pub default_queue_depth: usize,
    /// `sched_interval` (60): every so many seconds the main scheduler tries the whole queue; -1
    /// switches the main scheduler off.
    #[serde(rename = "sched_interval_seconds")]
    pub sched_interval: Seconds,
    /// `sched_min_interval` (2): at least so many microseconds between two passes of the main
    /// scheduler. Rounded up to whole seconds, fewer than one to none.
    pub sched_min_interval_microseconds: i64,
    /// `batch_sched_delay` (3): a submission causes a pass no earlier than so many seconds after
    /// the last pass that one caused.
    #[serde(rename = "batch_sched_delay_seconds")]
    pub batch_sched_delay: Seconds,
    /// `bf_interval` (30): seconds between two passes of the backfill scheduler; -1 switches it
    /// off.
    #[serde(rename = "bf_interval_seconds")]
    pub bf_interval: Seconds,
    /// `bf_window` (1440 minutes): a job that could start only later than so many seconds from now
    /// is not planned.
    #[serde(rename = "bf_window_seconds")]
    pub bf_window: Seconds,
    /// `bf_resolution` (60): planned starts and ends are rounded down to multiples of so many
    /// seconds.
    #[serde(rename = "bf_resolution_seconds")]
    pub bf_resolution: Seconds,
    /// `bf_max_job_test` (500): so many jobs are tried in a pass.
    pub bf_max_job_test: usize,
    /// `bf_max_job_start` (0, no bound): so many jobs are started in a pass.
    pub bf_max_job_start: usize,
    /// `bf_min_age_reserve` (0): a job that has waited less than so many seconds is started if it
    /// can be, but nothing is planned for it, and the main scheduler goes on behind it.
    #[serde(rename = "bf_min_age_reserve_seconds")]
    pub bf_min_age_reserve: Seconds,
    /// `bf_continue` (off): whether a pass that gave way to other work goes on where it was. A
    /// simulated pass takes no time, so that it changes nothing.
    pub bf_continue: bool,
}

impl Default for SlurmParameters {
    fn default() -> Self {
        Self {
            default_queue_depth: 100,
            sched_interval: Seconds(60),
            sched_min_interval_microseconds: 2,
            batch_sched_delay: Seconds(3),
            bf_interval: Seconds(30),
            bf_window: Seconds(24 * 3_600),
            bf_resolution: Seconds(60),
            bf_max_job_test: 500,
            bf_max_job_start: 0,
            bf_min_age_reserve: Seconds(0),
            bf_continue: false,
        }
    }
}

/// The names of [`SlurmParameters`], as messages list them.
pub(super) const KNOWN: &str = "default_queue_depth, sched_interval, sched_min_interval, batch_sched_delay, bf_interval, bf_window, bf_resolution, \
     bf_max_job_test, bf_max_job_start, bf_min_age_reserve, bf_continue";

impl SlurmParameters {
    /// Reads the value of `SchedulerParameters` in slurm.conf, such as
    /// `bf_window=2880,bf_interval=60`; what is not in it has Slurm's default. Empty and `(null)`,
    /// as scontrol shows it, are the defaults.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] names what is unknown to this model, what is no number, and what is
    /// beyond Slurm's own bounds (which slurmctld would replace by the default, with a line in its
    /// log).
    pub fn parse(text: &str) -> Result<Self, ParameterError> {
        let mut parameters = Self::default();
        for part in parts(text) {
            parameters.set(part)?;
        }
        Ok(parameters)
    }

    /// Reads the value of `SchedulerParameters` as slurmctld does, which takes a value beyond its
    /// bounds for the default, with a line in its log. Also what the model does not have of it, and
    /// what slurmctld does not take as it is written.
    #[must_use]
    pub fn of_site(text: &str) -> (Self, Vec<Departure>) {
        let (mut parameters, mut departures) = (Self::default(), Vec::new());
        for part in parts(text) {
            departures.extend(parameters.set_as_slurm(part));
        }
        (parameters, departures)
    }

    /// Takes a parameter as slurmctld does; returns what is to be told of it.
    fn set_as_slurm(&mut self, part: &str) -> Option<Departure> {
        let not_taken = |what: &str| Some(Departure::NotTaken(format!("{what}, and so does the simulation")));
        match self.set(part) {
            Ok(()) => None,
            Err(ParameterError::Unknown { .. }) => Some(Departure::NotModelled(format!("SchedulerParameters={part}"))),
            Err(ParameterError::Missing { name }) => not_taken(&format!("Slurm passes over {name} without a value")),
            Err(ParameterError::Superfluous { name, .. }) => {
                let _is_known = self.set(&name);
                not_taken(&format!("Slurm takes {part} for {name}"))
            }
            // The value counts as far as it is a number.
            Err(ParameterError::NoNumber { name, value }) => {
                let number = leading_number(&value);
                match self.set(&format!("{name}={number}")) {
                    Ok(()) => not_taken(&format!("Slurm takes {part} for {name}={number}")),
                    Err(_) => not_taken(&format!("Slurm does not take {part}: it goes by its default")),
                }
            }
            Err(ParameterError::Bounds { bounds, .. }) => {
                not_taken(&format!("Slurm does not take {part} (it has to be {bounds}): it goes by its default"))
            }
        }
    }

    /// A planned start or end, rounded down to a multiple of the resolution.
    pub(super) fn rounded_down(&self, time: UnixTime) -> UnixTime {
        UnixTime(time.0.div_euclid(self.bf_resolution.0) * self.bf_resolution.0)
    }

    fn set(&mut self, part: &str) -> Result<(), ParameterError> {
        const THIRTY_DAYS: i64 = 30 * 86_400;
        const ANY: i64 = i32::MAX as i64;
        let (name, value) = match part.split_once('=') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (part, None),
        };
        // The bounds are those of the two files named above.
        match name.to_ascii_lowercase().as_str() {
            "default_queue_depth" => self.default_queue_depth = number(name, value, 0..=ANY)? as usize,
            "sched_interval" => self.sched_interval = Seconds(number(name, value, -1..=ANY)?),
            "sched_min_interval" => self.sched_min_interval_microseconds = number(name, value, 0..=ANY)?,
            "batch_sched_delay" => self.batch_sched_delay = Seconds(number(name, value, 0..=ANY)?),
            "bf_interval" => {
                let interval = Seconds(number(name, value, -1..=10_800)?);
                if interval == Seconds::ZERO {
                    return Err(ParameterError::Bounds { name: name.to_owned(), value: 0, bounds: "from 1 to 10800, or -1".to_owned() });
                }
                self.bf_interval = interval;
            }
            "bf_window" => self.bf_window = Seconds(60 * number(name, value, 1..=THIRTY_DAYS / 60)?),
            "bf_resolution" => self.bf_resolution = Seconds(number(name, value, 1..=3_600)?),
            "bf_max_job_test" => self.bf_max_job_test = number(name, value, 1..=1_000_000)? as usize,
            "bf_max_job_start" => self.bf_max_job_start = number(name, value, 0..=10_000)? as usize,
            "bf_min_age_reserve" => self.bf_min_age_reserve = Seconds(number(name, value, 0..=THIRTY_DAYS)?),
            "bf_continue" => self.bf_continue = switch(name, value)?,
            _ => return Err(ParameterError::Unknown { name: name.to_owned(), known: KNOWN }),
        }
        Ok(())
    }
}

/// The parameters of a list, of those with the same name the first, as for Slurm.
fn parts(text: &str) -> Vec<&str> {
    let text = if text.trim() == "(null)" { "" } else { text };
    let mut parts: Vec<&str> = Vec::new();
    let name = |part: &str| part.split('=').next().unwrap_or_default().trim().to_ascii_lowercase();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        if !parts.iter().any(|before| name(before) == name(part)) {
            parts.push(part);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::{Departure, Seconds, SlurmParameters};

    fn error(text: &str) -> String {
        SlurmParameters::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn nothing_written_means_slurms_defaults() {
        assert_eq!(SlurmParameters::parse(""), Ok(SlurmParameters::default()));
        assert_eq!(SlurmParameters::parse("(null)"), Ok(SlurmParameters::default()));
    }

    #[test]
    fn what_is_written_replaces_the_default() {
        let parameters = SlurmParameters::parse("bf_window=2880, bf_interval=5,bf_continue,batch_sched_delay=0").unwrap();
        let expected = SlurmParameters {
            bf_window: Seconds(172_800),
            bf_interval: Seconds(5),
            bf_continue: true,
            batch_sched_delay: Seconds(0),
            ..SlurmParameters::default()
        };
        assert_eq!(parameters, expected);
    }

    #[test]
    fn an_unknown_parameter_is_named() {
        assert!(
            error("bf_window=60,bf_licenses").starts_with("the model of Slurm's scheduler knows no bf_licenses"),
            "{}",
            error("bf_licenses")
        );
    }

    #[test]
    fn what_the_model_does_not_have_is_told_beside_what_it_has() {
        let (parameters, departures) = SlurmParameters::of_site("max_rpc_cnt=150,bf_window=2880,bf_max_job_user=20,defer");
        assert_eq!(parameters, SlurmParameters { bf_window: Seconds(172_800), ..SlurmParameters::default() });
        let told = ["max_rpc_cnt=150", "bf_max_job_user=20", "defer"];
        assert_eq!(departures, told.map(|part| Departure::NotModelled(format!("SchedulerParameters={part}"))));
    }

    #[test]
    fn a_value_beyond_slurms_bounds_is_the_default_as_for_slurm_and_the_rest_is_taken() {
        let interval = |bf_interval| SlurmParameters { bf_interval: Seconds(bf_interval), ..SlurmParameters::default() };
        for (written, told) in [
            ("bf_window=86400", "Slurm does not take bf_window=86400 (it has to be from 1 to 43200): it goes by its default"),
            ("bf_resolution=0", "Slurm does not take bf_resolution=0 (it has to be from 1 to 3600): it goes by its default"),
            ("bf_interval=0", "Slurm does not take bf_interval=0 (it has to be from 1 to 10800, or -1): it goes by its default"),
            ("bf_window=day", "Slurm does not take bf_window=day: it goes by its default"),
            ("bf_window", "Slurm passes over bf_window without a value"),
        ] {
            let expected = vec![Departure::NotTaken(format!("{told}, and so does the simulation"))];
            let other = SlurmParameters { bf_max_job_test: 60, ..SlurmParameters::default() };
            assert_eq!(SlurmParameters::of_site(&format!("{written},bf_max_job_test=60")), (other, expected));
        }
        let taken = |text: &str| SlurmParameters::of_site(text).0;
        assert_eq!(taken("bf_interval=45s"), interval(45));
        assert_eq!(taken("bf_interval=45,BF_INTERVAL=50"), interval(45));
        assert!(taken("bf_continue=no").bf_continue);
    }

    #[test]
    fn a_value_that_is_no_number_is_named() {
        assert_eq!(error("bf_window=day"), "bf_window: \"day\" is not a whole number");
        assert_eq!(error("bf_window"), "bf_window needs a value, as in bf_window=NUMBER");
    }

    #[test]
    fn a_value_beyond_slurms_bounds_is_refused() {
        assert_eq!(error("bf_resolution=3601"), "bf_resolution: 3601 is out of bounds: it has to be from 1 to 3600");
        assert_eq!(error("bf_interval=0"), "bf_interval: 0 is out of bounds: it has to be from 1 to 10800, or -1");
    }
}
