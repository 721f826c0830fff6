//! Values as they cross from Slurm: array expressions, states.

use slurm_sys::client::{JobState, array_task_count};

#[test]
fn an_array_expression_tells_how_many_tasks_it_names() {
    // The forms of sbatch's manual page, --array.
    for (expression, tasks) in [("7", 1), ("0-15", 16), ("0,6,16-32", 19), ("0-15:4", 4), ("0-15%4", 16), ("1-7:2", 4), ("5-5", 1)] {
        assert_eq!(array_task_count(expression), Some(tasks), "{expression:?}");
    }
}

#[test]
fn an_array_expression_that_is_cut_short_or_malformed_tells_nothing() {
    for expression in ["", "0-15,17,19,...", "15-0", "0-15:0", "a-b", "-", ",", "0-4294967295,0-4294967295"] {
        assert_eq!(array_task_count(expression), None, "{expression:?}");
    }
}

#[test]
fn flags_of_a_state_win_over_its_base() {
    // Numbers of slurm/slurm.h: RUNNING 1, COMPLETE 3, CANCELLED 4; REQUEUE bit 10, RESIZING bit
    // 13, COMPLETING bit 15.
    assert_eq!(JobState::from_raw(3), JobState::Completed);
    assert_eq!(JobState::from_raw(4), JobState::Cancelled);
    assert_eq!(JobState::from_raw(1 | 1 << 15), JobState::Completing);
    assert_eq!(JobState::from_raw(1 << 10), JobState::Requeued);
    assert_eq!(JobState::from_raw(1 | 1 << 13), JobState::Resized);
    assert_eq!(JobState::from_raw(200), JobState::Unknown(200));
}
