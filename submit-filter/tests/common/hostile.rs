//! Descriptions with anything in them.

use super::Description;
use slurm_sys::job_description::JobDescription;
use slurm_sys::job_fields::{NumberField, TextField};
use slurm_sys::text::SlurmText;

pub fn view(job: &mut Description) -> JobDescription<'_> {
    // SAFETY: a description of our own, which is borrowed as long as what is returned.
    unsafe { JobDescription::from_raw(&raw mut *job.0) }.unwrap()
}

/// Frees the texts that [`Description`] itself does not.
pub fn free_texts(job: &mut Description) {
    let mut description = view(job);
    for field in TextField::ALL {
        description.set_text(*field, None);
    }
}

pub fn overwrite(text: *mut std::ffi::c_char, bytes: &[u8]) {
    for (place, byte) in bytes.iter().enumerate().filter(|(_, byte)| **byte != 0) {
        // SAFETY: the text has as many bytes as are written.
        unsafe { *text.add(place) = *byte as std::ffi::c_char };
    }
}

/// Fills all texts with these bytes, of which none is 0, and all numbers with these.
pub fn fill(job: &mut Description, numbers: &[i64], bytes: &[u8]) {
    let mut description = view(job);
    for (field, number) in NumberField::ALL.iter().zip(numbers) {
        description.set_number(*field, *number);
    }
    for field in TextField::ALL {
        description.set_text(*field, SlurmText::new(&"x".repeat(bytes.len())));
        if let Some(text) = description.text(*field) {
            overwrite(text.as_ptr().cast_mut(), bytes);
        }
    }
}

/// Puts these numbers where C would have what it marks as unset as well.
pub fn fill_raw(job: &mut Description, numbers: &[u64]) {
    let mut numbers = numbers.iter().copied().cycle();
    let mut next = || numbers.next().unwrap_or(0);
    let d = &mut *job.0;
    for field in [
        &mut d.time_limit,
        &mut d.time_min,
        &mut d.min_nodes,
        &mut d.max_nodes,
        &mut d.num_tasks,
        &mut d.min_cpus,
        &mut d.max_cpus,
        &mut d.nice,
        &mut d.site_factor,
        &mut d.priority,
        &mut d.profile,
        &mut d.pn_min_tmp_disk,
        &mut d.task_dist,
        &mut d.alloc_sid,
        &mut d.delay_boot,
        &mut d.wait4switch,
        &mut d.argc,
    ] {
        *field = next() as u32;
    }
    for field in [
        &mut d.cpus_per_task,
        &mut d.ntasks_per_node,
        &mut d.ntasks_per_tres,
        &mut d.ntasks_per_socket,
        &mut d.sockets_per_node,
        &mut d.core_spec,
        &mut d.shared,
        &mut d.mail_type,
        &mut d.x11,
        &mut d.requeue,
        &mut d.warn_time,
    ] {
        *field = next() as u16;
    }
    (d.open_mode, d.overcommit) = (next() as u8, next() as u8);
    (d.pn_min_memory, d.bitflags) = (next(), next());
    (d.begin_time, d.deadline, d.end_time) = (next() as i64, next() as i64, next() as i64);
}
