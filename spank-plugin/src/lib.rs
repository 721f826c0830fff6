//! The SPANK plugin: the options of `sbatch`, `salloc` and `srun`, and the wait for a reserved time
//! on the node.
//!
//! This file only switches on the context. [`submission`] is the side where a user types, [`shell`]
//! the wait of salloc there, [`node`] the side where a job runs, [`share`] its share of the node.
//! Nothing here fails a job: what goes wrong inside the plugin is logged and passed over, and only
//! a value that the user gave and that cannot be used ends the command that it was given to.
#![allow(unsafe_code)]

mod forwarded;
mod given;
mod granted;
mod hold;
mod node;
mod share;
mod shell;
mod submission;

use std::error::Error;
use std::ffi::{c_char, c_int, c_uint};
use std::panic::{AssertUnwindSafe, catch_unwind};

use slurm_spank::spank_sys::spank_t;
use slurm_spank::{Context, Plugin, SpankHandle, spank_log_error};

use given::Refused;
use share::Sharing;
use slurm_sys::process;
use submission::Submission;

/// What a callback returns to the plugin interface.
type CallbackResult = Result<(), Box<dyn Error>>;

#[derive(Default)]
struct Queuecast {
    submission: Submission,
    sharing: Option<Sharing>,
}

// SAFETY: the only thread that the plugin starts, in slurmstepd, waits in poll(2) until a callback
// that comes after the last fork has told it to begin, or until the step is over. It takes no lock
// meanwhile, so that a forked task finds none taken.
unsafe impl Plugin for Queuecast {
    fn setup(&mut self, _spank: &mut SpankHandle<'_>) -> CallbackResult {
        Ok(())
    }

    fn init(&mut self, spank: &mut SpankHandle<'_>) -> CallbackResult {
        guarded(|| match spank.context()? {
            Context::Allocator | Context::Local => self.submission.init(spank),
            // Known here too, so that slurmstepd consumes the options that came with the job.
            Context::Remote => submission::register_options(spank),
            Context::Slurmd | Context::JobScript => Ok(()),
        })
    }

    fn init_post_opt(&mut self, spank: &mut SpankHandle<'_>) -> CallbackResult {
        guarded(|| match spank.context()? {
            Context::Allocator | Context::Local => self.submission.init_post_opt(spank),
            Context::Remote => {
                self.sharing = Sharing::start(spank)?;
                Ok(())
            }
            Context::Slurmd | Context::JobScript => Ok(()),
        })
    }

    fn local_user_init(&mut self, spank: &mut SpankHandle<'_>) -> CallbackResult {
        guarded(|| self.submission.local_user_init(spank))
    }

    fn task_init(&mut self, spank: &mut SpankHandle<'_>) -> CallbackResult {
        guarded(|| node::task_init(spank))
    }

    fn task_post_fork(&mut self, _spank: &mut SpankHandle<'_>) -> CallbackResult {
        guarded(|| {
            self.sharing.iter().for_each(Sharing::tasks_are_forked);
            Ok(())
        })
    }

    fn exit(&mut self, _spank: &mut SpankHandle<'_>) -> CallbackResult {
        guarded(|| {
            self.sharing.take().iter().for_each(Sharing::end);
            Ok(())
        })
    }
}

/// Ends the command where the user's request was refused; anything else that goes wrong, a panic
/// included, ends here.
///
/// A panic that reached `slurm-spank` would poison its lock, and its next callback would abort the
/// process.
fn guarded(callback: impl FnOnce() -> CallbackResult) -> CallbackResult {
    match catch_unwind(AssertUnwindSafe(callback)) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => match error.downcast::<Refused>() {
            Ok(refused) => {
                spank_log_error!("{refused}");
                process::leave();
            }
            Err(error) => spank_log_error!("queuecast: {error}"),
        },
        Err(_) => spank_log_error!("queuecast: internal error, passed over"),
    }
    Ok(())
}

/// The name under which Slurm's variables know the plugin ([`forwarded::PLUGIN_NAME`]).
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "Slurm looks the symbol up by this name")]
pub static plugin_name: [u8; 10] = *b"queuecast\0";

/// The kind of plugin.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "Slurm looks the symbol up by this name")]
pub static plugin_type: [u8; 6] = *b"spank\0";

/// The Slurm whose headers the plugin was built with; Slurm compares all but the micro version
/// (src/common/plugin.c).
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals, reason = "Slurm looks the symbol up by this name")]
pub static plugin_version: c_uint = slurm_sys::bindings::SLURM_VERSION_NUMBER;

/// Exports one callback.
///
/// `slurm-spank`'s own macro exports all callbacks that there are; for a prolog or epilog among
/// them, slurmd starts one more process for each job
/// (src/plugins/prep/script/prep_script_slurmd.c).
macro_rules! export {
    ($symbol:ident, $method:ident, $what:literal) => {
        #[doc = $what]
        #[unsafe(no_mangle)]
        pub extern "C" fn $symbol(spank: spank_t, argument_count: c_int, arguments: *const *const c_char) -> c_int {
            slurm_spank::spank_callback_with_globals::<Queuecast, _>(|plugin, options, _| {
                plugin.$method(&mut slurm_spank::init_spank_handle(spank, argument_count, arguments, options))
            })
        }
    };
}

export!(slurm_spank_init, init, "Called once the plugin is loaded.");
export!(slurm_spank_init_post_opt, init_post_opt, "Called once the options are read.");
export!(slurm_spank_local_user_init, local_user_init, "Called in srun once there is an allocation.");
export!(slurm_spank_task_init, task_init, "Called in each task just before its program is executed.");
export!(slurm_spank_task_post_fork, task_post_fork, "Called in slurmstepd for each task, once all are forked.");
export!(slurm_spank_exit, exit, "Called once the step is over, and at the end of a command.");
