# shellcheck shell=bash
# A namespace of mounts that are seen nowhere else and end with it. Sourced by ci/with-slurm and
# ci/test-packages.

# Sets `mount_namespace` to the options of unshare. Fails, with a line that says why, where mounts
# would be seen outside.
choose_mount_namespace() {
  mount_namespace=(--mount --propagation private)
  ! unshare "${mount_namespace[@]}" true 2>/dev/null || return 0
  # Inside of a changed root (chroot) there may be no mount at the root that could be made private,
  # nor need there be where nothing is shared.
  # shellcheck disable=SC2034 # read where this file is sourced
  mount_namespace=(--mount --propagation unchanged)
  if ! unshare "${mount_namespace[@]}" true 2>/dev/null; then
    echo "this needs to make mount namespaces, which is not allowed here (a container without CAP_SYS_ADMIN?)" >&2
    return 1
  elif grep -q ' shared:' /proc/1/mountinfo; then
    echo "inside of a changed root mounts would be seen outside, because the machine shares its own: run this outside, or under unshare --mount" >&2
    return 1
  fi
}
