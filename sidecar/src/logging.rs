//! Messages on standard error, as lines for people or as JSON. systemd's journal takes them from
//! there.
//!
//! libslurm writes its own complaints to standard error too, as plain lines that begin with
//! `queuecastd: error:`.

use slurm_conf::configuration::{LogFormat, LogLevel, LogSettings};
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, fmt, reload};

/// The level can be changed while the daemon runs.
pub(crate) struct Logging {
    level: reload::Handle<LevelFilter, Registry>,
}

impl Logging {
    /// Sets logging up as the settings have it.
    pub(crate) fn start(settings: &LogSettings) -> Self {
        let (filter, level) = reload::Layer::new(level(settings.level));
        let format = match settings.format {
            LogFormat::Text => fmt::layer().with_writer(std::io::stderr).with_target(false).with_ansi(false).boxed(),
            LogFormat::Json => fmt::layer().with_writer(std::io::stderr).json().flatten_event(true).boxed(),
        };
        // A second subscriber cannot be there: this is called once, before anything logs.
        let _ = tracing_subscriber::registry().with(filter).with(format).try_init();
        Self { level }
    }

    /// Changes the least level of messages that are logged.
    pub(crate) fn set_level(&self, settings: &LogSettings) {
        if self.level.reload(level(settings.level)).is_err() {
            tracing::warn!("the log level could not be changed");
        }
    }
}

fn level(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}
