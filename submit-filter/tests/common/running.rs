//! The built plugin in this process.

use super::{Plugin, Site};
use parking_lot::{Mutex, MutexGuard};
use std::sync::OnceLock;

/// The plugin and its site. The plugin keeps one state per process.
pub struct Running {
    pub plugin: Plugin,
    pub site: Site,
}

impl Running {
    /// The plugin that the tests of a program share, loaded and initialized when the first of them
    /// asks for it, with the turn: the others wait until what is returned is dropped.
    pub fn turn() -> (MutexGuard<'static, ()>, &'static Running) {
        static TURN: Mutex<()> = Mutex::new(());
        static RUNNING: OnceLock<Running> = OnceLock::new();
        let turn = TURN.lock();
        let running = RUNNING.get_or_init(|| {
            let site = Site::new();
            let plugin = Plugin::open();
            assert_eq!(plugin.call("init"), 0);
            Running { plugin, site }
        });
        (turn, running)
    }
}
