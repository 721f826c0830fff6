# shellcheck shell=bash
# A machine of its own without virtualisation: a root directory of Debian, booted with its own
# systemd in namespaces, so that processes, ports, mounts and host name are its own and end with it.
# It has no network but its loopback. Sourced by ci/test-packages, which defines `fail` and sets
# what the next line names.
: "${here=}"

# make_root SLURM DIRECTORY PACKAGE ...: a copy of the root directory of the Debian release with
# that Slurm (ci/with-slurm), with these packages as well. Their services do not start.
make_root() {
  local slurm=$1 root=$2 log=$2.log original
  shift 2
  original=$("$here/with-slurm" "$slurm" --root) || fail "there is no root directory with Slurm $slurm"
  cp -a "$original" "$root"
  # A root directory that lives for minutes needs no write to be on the disk.
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
  echo 'Dpkg::Use-Pty "0";' >"$root/etc/apt/apt.conf.d/no-progress"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
  install -m 644 /etc/resolv.conf "$root/etc/resolv.conf"
  # shellcheck disable=SC2016 # expanded by the shell inside
  if ! unshare "${mount_namespace[@]}" bash -euc '
    root=$1
    shift
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    export DEBIAN_FRONTEND=noninteractive
    chroot "$root" apt-get -qq update
    chroot "$root" apt-get -qq -y --no-install-recommends install "$@"' - "$root" "$@" >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    fail "apt-get could not install the site's packages into a root directory with Slurm $slurm"
  fi
  rm -f "$root/usr/sbin/policy-rc.d" "$root"/var/cache/apt/archives/*.deb
  : >"$root/etc/machine-id"
}

# boot_machine ROOT NAME: boots it as a host of that name. Sets `machine`, the process of its
# systemd as the host sees it.
boot_machine() {
  local root=$1 deadline=$((SECONDS + 60)) group state
  echo "$2" >"$root/etc/hostname"
  printf '127.0.0.1 localhost\n192.0.2.1 %s\n::1 localhost\n' "$2" >"$root/etc/hosts"
  # A control group of its own, where there is the second version of them, so that systemd finds
  # nothing else in it.
  group=$(findmnt --noheadings --output TARGET --types cgroup2 | head -n 1)
  control_group=${group:+$group/queuecast-$$}
  [[ ! $control_group ]] || mkdir "$control_group" || fail "cannot make a control group in $group"
  (
    [[ ! $control_group ]] || echo "$BASHPID" >"$control_group/cgroup.procs"
    exec setsid unshare "${mount_namespace[@]}" --uts --ipc --net --pid --cgroup --fork --kill-child "$here/lib/boot-machine" "$root"
  ) </dev/null >"$root.boot.log" 2>&1 &
  machine_parent=$!
  machine=
  while :; do
    kill -0 "$machine_parent" 2>/dev/null || { cat "$root.boot.log" >&2; fail "the machine did not boot"; }
    ((SECONDS < deadline)) || { cat "$root.boot.log" >&2; fail "the machine did not boot in a minute"; }
    machine=$(pgrep --parent "$machine_parent" || true)
    if [[ $machine && $(readlink "/proc/$machine/exe" 2>/dev/null) == */systemd ]]; then
      state=$(in_machine systemctl is-system-running 2>/dev/null || true)
      [[ $state != running && $state != degraded ]] || return 0
    fi
    sleep 0.2
  done
}

# in_machine COMMAND [ARGUMENT ...]: as root of the machine that runs.
in_machine() {
  nsenter --target "$machine" --mount --uts --ipc --net --pid --cgroup --root --wd -- \
    env --ignore-environment PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root USER=root LANG=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive "$@"
}

# Powers the machine off; whatever is left of it after half a minute is killed with its first
# process.
stop_machine() {
  local deadline=$((SECONDS + 30))
  [[ ${machine_parent-} ]] || return 0
  # SIGRTMIN+4: power off.
  [[ ! ${machine-} ]] || kill -s RTMIN+4 "$machine" 2>/dev/null || true
  while kill -0 "$machine_parent" 2>/dev/null; do
    ((SECONDS < deadline)) || { kill -s KILL "${machine:-$machine_parent}" 2>/dev/null || true; break; }
    sleep 0.1
  done
  wait "$machine_parent" 2>/dev/null || true
  machine='' machine_parent=''
  [[ ! $control_group ]] || find "$control_group" -depth -type d -exec rmdir {} + 2>/dev/null || true
}
