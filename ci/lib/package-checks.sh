# shellcheck shell=bash
# What ci/test-packages holds the packages to, on a machine of ci/lib/machine.sh with a site of
# ci/lib/site.sh. Sourced by ci/test-packages, which sets what the next line names.
: "${work=}" "${repository=}" "${suites=}" "${slurm_root=}"

# Prints what a command says, indented, and fails where it fails.
show() { "$@" 2>&1 | sed 's/^/    /'; }

# expect TEXT FILE WHAT: fails unless the file has that text.
expect() { grep -qF -- "$1" "$2" || { cat "$2" >&2; fail "$3: expected '$1'"; }; }

# Prints type, mode, owner and path of every file of the machine that a package may have to do with,
# and the contents of Slurm's configuration.
list_files() {
  in_machine find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /srv -o -path /home -o -path /root \
    -o -path /var/log -o -path /var/cache -o -path /var/backups -o -path /var/lib/dpkg -o -path /var/lib/apt -o -path /var/lib/mysql \
    -o -path /var/lib/slurm -o -path /var/lib/systemd/random-seed -o -path /var/lib/systemd/timers \) -prune \
    -o -printf '%y %m %u %p\n' | sort
  in_machine bash -c 'cd /etc/slurm && find . -type f | sort | xargs sha256sum'
}

controller_process() { in_machine systemctl show --property MainPID --value slurmctld; }
daemon_process() { in_machine systemctl show --property MainPID --value queuecastd; }
controller_is_up() { [[ $(in_machine scontrol ping) == *" is UP"* ]]; }
job_state() { in_machine sacct --noheader --allocations --format=state --parsable2 --jobs "$1"; }
job_is_completed() { [[ $(job_state "$1") == COMPLETED ]]; }
job_is_running() { [[ $(in_machine squeue --noheader --format=%T --jobs "$1") == RUNNING ]]; }

# submit USER ARGUMENT ...: sets `job`; what sbatch said is in $work/sbatch-said.
submit() {
  as_user "$1" sbatch --output=job-%j.out "${@:2}" >"$work/sbatch-said" 2>&1 || { cat "$work/sbatch-said" >&2; fail "sbatch refused a job"; }
  job=$(sed -n 's/^Submitted batch job //p' "$work/sbatch-said")
}

run_plain_job() {
  submit alice --time=1 --wrap='echo ran'
  wait_until 60 "job $job is completed" job_is_completed "$job"
}

# The whole life of an installation.
test_machine() {
  local suite=$1
  # shellcheck disable=SC2034 # read in install-document.sh
  sections_run=()
  run_plain_job
  list_files >"$work/files-before"
  in_machine mkdir -p /srv/packages /srv/other
  cp "$work/packages/$suite"/*.deb "$work/$suite/srv/packages/"

  run_section Install
  run_section Configure
  say "a past for the forecasts: a workload of the Lublin-Feitelson model as records in slurmdbd"
  show in_machine sacctmgr --immediate add cluster past
  show in_machine queuecast import-swf --embedded --into slurmdbd --cluster past --processors 16 --cpus-per-node 4
  in_machine sed -i 's/^#earlier_clusters = .*/earlier_clusters = ["past"]/' /etc/slurm/queuecast.toml
  run_section Start
  check_unit
  run_section Check
  expect 'can act on the snapshot' "$work/section-said" 'queuecast status'
  expect 'sbatch: queuecast: ' "$work/section-said" 'sbatch'
  run_section 'Switch it on'
  check_rewrite
  check_reinstallation
  run_section 'Upgrade queuecast'
  check_refusal "$suite"
  check_removal_too_early "$suite"
  run_section Remove
  ! in_machine pgrep queuecastd || fail "the daemon was not stopped by the removal of its package"
  in_machine scancel --user=bob
  say "without the plugins: slurmctld runs, and so do jobs; sbatch knows the options no more"
  run_plain_job
  ! as_user alice sbatch --auto-mold --wrap=true >"$work/sbatch-said" 2>&1 || fail "sbatch took --auto-mold without the plugin"
  show cat "$work/sbatch-said"
  in_machine test -e /etc/slurm/queuecast.toml -a -d /var/spool/queuecast || fail "the removal took away what only a purge should"
  run_section Purge
  list_files >"$work/files-after"
  diff "$work/files-before" "$work/files-after" >"$work/files-difference" || { cat "$work/files-difference" >&2; fail "the purge left something behind (lines with >), or took too much (<)"; }
  say "nothing is left, and Slurm's configuration is as it was ($(wc -l <"$work/files-before") entries compared)"
  check_sections_run
}

# The daemon runs under its unit's limits.
check_unit() {
  local process exposure
  say "the unit: its limits are in force"
  in_machine systemd-analyze verify --man=no queuecastd.service >"$work/verify" 2>&1 || { cat "$work/verify" >&2; fail "systemd-analyze verify finds faults in the unit"; }
  exposure=$(in_machine systemd-analyze security --no-pager queuecastd.service | tail -n 1)
  show echo "$exposure"
  [[ $exposure =~ :\ ([0-9])\.([0-9]) ]] && ((BASH_REMATCH[1] * 10 + BASH_REMATCH[2] <= 20)) || fail "the unit is more exposed than 2.0"
  process=$(daemon_process)
  in_machine cat "/proc/$process/status" >"$work/process-status"
  show grep -E '^(Uid|CapEff|NoNewPrivs|Seccomp):' "$work/process-status"
  [[ $(in_machine ps -o user= -p "$process") == slurm ]] || fail "queuecastd does not run as the user slurm"
  grep -qE '^CapEff:\s*0+$' "$work/process-status" || fail "queuecastd has capabilities"
  grep -qE '^NoNewPrivs:\s*1$' "$work/process-status" || fail "queuecastd could gain privileges"
  grep -qE '^Seccomp:\s*2$' "$work/process-status" || fail "no filter of system calls is in force"
  in_machine grep -qE '^[0-9]+ [0-9]+ [^ ]+ [^ ]+ / ro,' "/proc/$process/mountinfo" || fail "queuecastd could write to the file system"
  [[ $(in_machine stat -c %U:%a /var/spool/queuecast) == slurm:755 ]] || fail "the state directory is not Slurm's user's"
}

queue_has() { in_machine queuecast queue | grep -qwF -- "$1"; }

# A user's job on all four nodes, three of which are taken, runs on the free one. Of bob nothing is
# known: his jobs are expected to run like others with so long a limit.
check_rewrite() {
  local blocking
  say "a job of alice's that would wait for hours is rewritten"
  submit bob --nodes=3 --exclusive --time=1200 --wrap='sleep 7200'
  wait_until 60 'the first job runs' job_is_running "$job"
  submit bob --nodes=4 --ntasks=16 --time=1200 --wrap='sleep 3600'
  blocking=$job
  in_machine systemctl kill --signal=USR1 queuecastd
  wait_until 60 'the plan has the job that waits' queue_has "$blocking"
  submit alice --auto-mold --mold-sizes=1,2,4 --nodes=4 --ntasks=16 --time=5 --wrap='srun sh -c "echo task of \$SLURM_NTASKS on \$SLURM_NNODES"'
  show cat "$work/sbatch-said"
  expect 'sbatch: queuecast: 1 node instead of 4' "$work/sbatch-said" 'what sbatch said'
  in_machine scontrol show job "$job" >"$work/job"
  show grep -E 'NumNodes|TimeLimit|AdminComment' "$work/job"
  grep -qE 'NumNodes=1(-1)? ' "$work/job" || fail "the job was not rewritten"
  expect 'AdminComment={"queuecast":{' "$work/job" 'the record'
  wait_until 120 "job $job is completed" job_is_completed "$job"
  show as_user alice cat "job-$job.out"
  [[ $(as_user alice sort "job-$job.out" | uniq -c) =~ ^\ *4\ task\ of\ 4\ on\ 1$ ]] || fail "the job did not run as four tasks on one node"
  show in_machine queuecast explain "$job"
}

# The plugins' files are replaced while slurmctld has them loaded, and users submit.
check_reinstallation() {
  local process daemon
  say "the packages are installed again under the running slurmctld"
  process=$(controller_process)
  daemon=$(daemon_process)
  (
    for _ in {1..40}; do as_user bob sbatch --auto-mold --hold --nodes=2 --time=5 --output=/dev/null --wrap=true || exit; done
  ) >"$work/submissions" 2>&1 &
  local submitting=$!
  in_machine bash -c 'apt-get install --yes --reinstall /srv/packages/*.deb' >"$work/apt-said" 2>&1 || { cat "$work/apt-said" >&2; fail "apt-get could not reinstall the packages"; }
  wait "$submitting" || { tail "$work/submissions" >&2; fail "a submission failed meanwhile"; }
  [[ $(controller_process) == "$process" ]] && controller_is_up || fail "slurmctld did not stay up"
  in_machine grep -q 'job_submit_queuecast.so (deleted)' "/proc/$process/maps" || fail "slurmctld does not have the old file any more: it was overwritten"
  say "process $process goes on with the file that it has, and took 40 jobs meanwhile"
  in_machine scancel --state=pending --user=bob
  [[ $(in_machine systemctl is-active queuecastd) == active && $(daemon_process) != "$daemon" ]] || fail "the daemon was not restarted with its new program"
}

# Packages for another Slurm are refused by apt and by dpkg, and leave everything as it is.
check_refusal() {
  local other tool suite=$1
  for other in "${suites[@]}" ''; do [[ $other == "$suite" ]] || break; done
  if [[ ! $other ]]; then
    say "not tested: the refusal of another release's plugins, as only $suite was built (--suite)"
    return
  fi
  cp "$work/packages/$other"/queuecast-plugins-*.deb "$work/$suite/srv/other/"
  in_machine dpkg-query --show >"$work/packages-before"
  for tool in 'apt-get install --yes' 'dpkg --install'; do
    say "$tool refuses the plugins for the Slurm of $other"
    ! in_machine bash -c "$tool /srv/other/*.deb" >"$work/tool-said" 2>&1 || fail "it took them"
    show grep -E 'pre-?depend' -i "$work/tool-said"
    in_machine dpkg-query --show | diff "$work/packages-before" - >&2 || fail "it changed which packages are installed"
  done
  # dpkg notes a package that it was asked for; the machine's list of packages shall be as before.
  [[ -z $(in_machine dpkg --audit) ]] || fail "it left packages half-installed"
}

# Removed while slurm.conf names the plugin: a loud warning, an undisturbed slurmctld, and none that
# starts; the package again mends it.
check_removal_too_early() {
  local process
  say "the plugins are removed while slurm.conf still names them: a warning, and no harm to the slurmctld that runs"
  process=$(controller_process)
  in_machine apt-get remove --yes 'queuecast-plugins-slurm-*' >"$work/apt-said" 2>&1 || { cat "$work/apt-said" >&2; fail "the removal failed"; }
  show grep -A 5 WARNING "$work/apt-said"
  expect 'JobSubmitPlugins still names queuecast in /etc/slurm/slurm.conf' "$work/apt-said" 'the warning'
  [[ $(controller_process) == "$process" ]] && controller_is_up || fail "slurmctld did not stay up"
  say "a slurmctld that is started then ends, and the package mends it"
  # Where the unit waits until slurmctld is ready, this says that it failed.
  in_machine systemctl restart slurmctld >/dev/null 2>&1 || true
  wait_until 30 'slurmctld ends without the plugin that it is to load' in_machine systemctl is-failed slurmctld
  show in_machine bash -c 'grep job_submit /var/log/slurm/slurmctld.log | tail -n 4'
  in_machine bash -c 'apt-get install --yes /srv/packages/queuecast-plugins-*.deb' >"$work/apt-said" 2>&1 || { cat "$work/apt-said" >&2; fail "the package could not be installed again"; }
  in_machine systemctl restart slurmctld
  wait_until 30 'slurmctld is up' controller_is_up
}

# The RPM packages of that release's programs: what they need and hold, and an installation and a
# removal in the machine's root directory, which is switched off by now. (rpm and dpkg know nothing
# of each other, and --nodeps leaves out what the root directory has as Debian packages.)
test_rpm() {
  local root=$work/$1 output=$work/packages/rpm package library
  say "builds the RPM packages"
  "$repository/packaging/build-rpm" --slurm-root "${slurm_root[$1]}" --binaries "$work/binaries/$1" --output "$output"
  for package in "$output"/*.rpm; do
    rpm -qp --queryformat '%{name}\n' "$package"
    for library in requires provides conflicts; do
      # Without what every program needs.
      echo "  $library: $(rpm -qp "--$library" "$package" | grep -vE '^rpmlib|^ld-linux|^lib(c|m|gcc_s)\.so|^/bin/sh|^rtld' | paste -sd ';' | sed 's/;/; /g')"
    done
  done | sed 's/^/    /'
  package=$(echo "$output"/queuecast-plugins-slurm-*.rpm)
  rpm -qp --requires "$package" | grep -qE '^slurm < ' || fail "the plugins' RPM package does not depend on one Slurm"
  rpm -qp --provides "$package" | grep -q '^queuecast-plugins = ' || fail "the plugins' RPM package does not provide queuecast-plugins"
  rpm -qp --conflicts "$package" | grep -qx 'queuecast-plugins' || fail "two of the plugins' RPM packages could be installed together"

  say "installs and removes them with rpm in a root directory"
  # Debian's rpm asks for this option where packages are installed.
  rpm_there() { rpm --root "$root" --dbpath /var/lib/rpm-test "$@"; }
  files_there() { find "$root"/etc "$root"/usr "$root"/var/spool -xdev ! -type d | sort; }
  files_there >"$work/rpm-before"
  mkdir -p "$root/var/lib/rpm-test"
  rpm_there --initdb
  rpm_there -i --force-debian --nodeps "$output"/*.rpm
  show rpm_there -ql "$(rpm_there -qa | grep plugins)"
  # shellcheck disable=SC2046 # no spaces
  rpm_there -V --nodeps $(rpm_there -qa) || fail "the installed files are not those of the packages"
  [[ -x $root/usr/sbin/queuecastd && -s $root/usr/lib/systemd/system/queuecastd.service ]] || fail "a file is missing"
  chroot "$root" queuecast --version
  ! rpm_there -U --force-debian --replacepkgs --nodeps "$package" 2>&1 | grep . || fail "an upgrade of the RPM package is not silent"
  echo 'JobSubmitPlugins=queuecast' >>"$root/etc/slurm/slurm.conf"
  echo '# changed by the site' >>"$root/etc/slurm/queuecast.toml"
  mkdir -p "$root/var/spool/queuecast"
  touch "$root/var/spool/queuecast/learnt"
  # shellcheck disable=SC2046 # no spaces
  rpm_there -e --force-debian $(rpm_there -qa) >"$work/rpm-said" 2>&1 || { cat "$work/rpm-said" >&2; fail "rpm could not remove the packages"; }
  show cat "$work/rpm-said"
  expect 'JobSubmitPlugins in /etc/slurm still names queuecast' "$work/rpm-said" 'the warning'
  grep -q 'changed by the site' "$root/etc/slurm/queuecast.toml" || fail "the removal of the RPM package took the changed configuration away"
  [[ -e $root/var/spool/queuecast/learnt ]] || fail "the removal of the RPM package took the state away"
  rm -r "$root/etc/slurm/queuecast.toml" "$root/var/spool/queuecast"
  files_there | diff "$work/rpm-before" - || fail "the RPM packages left something behind"
}
