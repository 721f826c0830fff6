//! The file system on which a directory lies.

use std::io;
use std::path::Path;

use nix::sys::statfs::statfs;

/// File systems that another host, or a program, keeps, by the number that the kernel has for them:
/// statfs(2), and `include/uapi/linux/magic.h`; those of Lustre, GPFS, BeeGFS and PanFS from their
/// own sources, as coreutils' `stat` has them.
const REMOTE: [(u32, &str); 16] = [
    (0x0000_6969, "NFS"),
    (0x0bd0_0bd0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x1983_0326, "BeeGFS"),
    (0x00c3_6400, "Ceph"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x0000_517b, "SMB"),
    (0x0000_564c, "NCP"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "AFS"),
    (0x7375_7245, "Coda"),
    (0x0102_1997, "9P"),
    (0x6573_5546, "FUSE"),
];

/// The name of the network file system that a path lies on; `None` where it lies on a disk or in
/// memory of this host.
///
/// # Errors
/// Where the system does not say.
pub(super) fn remote(path: &Path) -> io::Result<Option<&'static str>> {
    let number = statfs(path)?.filesystem_type().0 as u32;
    Ok(name_of(number))
}

fn name_of(number: u32) -> Option<&'static str> {
    REMOTE.iter().find(|(other, _)| *other == number).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_told_from_a_host_s_own() {
        // The numbers of network file systems are from statfs(2): NFS_SUPER_MAGIC and
        // FUSE_SUPER_MAGIC. The others are those of ext4, XFS, Btrfs and tmpfs.
        assert_eq!((name_of(0x6969), name_of(0x6573_5546)), (Some("NFS"), Some("FUSE")));
        assert!([0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994].into_iter().all(|number| name_of(number).is_none()));
        assert_eq!(remote(Path::new("/dev/shm")).unwrap(), None);
    }
}
