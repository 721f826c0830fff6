//! Man pages and completions are made from the definitions of the command line.

mod common;

use std::fs;

use common::{Site, said};

#[test]
fn each_command_gets_a_page_and_each_shell_its_completions() {
    let site = Site::empty();
    let said = said(&mut site.command(&["documentation", site.path().to_str().unwrap()]));
    assert_eq!(said.status, 0, "{}", said.error);
    for (page, holds) in [
        ("queuecast.1", "queuecast\\-status"),
        ("queuecast-status.1", "kill switch"),
        ("queuecast-predict.1", "mold\\-sizes"),
        ("queuecast-queue.1", "earliest"),
        ("queuecast-explain.1", "reservation_kept"),
        ("queuecast-import-swf.1", "Standard Workload Format"),
    ] {
        let text = fs::read_to_string(site.path().join("man1").join(page)).unwrap();
        assert!(text.contains(holds), "{page}");
    }
    assert!(!site.path().join("man1/queuecast-documentation.1").exists(), "a hidden command has no page");
    assert!(fs::read_to_string(site.path().join("completions/queuecast.bash")).unwrap().contains("--reserve-at"));
}
