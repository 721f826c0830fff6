# shellcheck shell=bash
# A small Slurm site on one machine, as its administrator would have set it up with the
# distribution's packages and services: the controller, slurmdbd with MariaDB, and four nodes.
# Sourced by ci/test-packages, which has in_machine and defines `fail`.

# The packages of such a site. (The library that queuecast needs would be fetched with it, but the
# machine has no network: it comes with the headers.)
# shellcheck disable=SC2034 # read in ci/test-packages
site_packages=(systemd-sysv dbus procps munge mariadb-server slurmctld slurmd slurmdbd slurm-client slurm-wlm-basic-plugins libslurm-dev)

# prepare_site ROOT: before the machine boots. The node of the package's own unit would wait for a
# configuration, and the boot for it.
prepare_site() { ln -s /dev/null "$1/etc/systemd/system/slurmd.service"; }

# write_file PATH [MODE [OWNER]]: standard input becomes that file of the machine.
write_file() { in_machine bash -c 'cat >"$1" && chmod "$2" "$1" && chown "$3" "$1"' - "$1" "${2:-644}" "${3:-root:}"; }

write_site() {
  write_file /etc/slurm/slurm.conf <<'END'
ClusterName=site
SlurmctldHost=controller
SlurmUser=slurm
AuthType=auth/munge
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd/%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.%n.pid
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.%n.log
MailProg=/bin/true
# Four nodes that are one machine.
SlurmdParameters=config_overrides
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
ReturnToService=2
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoreFlags=job_comment
NodeName=n[1-4] NodeHostname=controller NodeAddr=controller Port=[17001-17004] CPUs=4 RealMemory=4096
PartitionName=batch Nodes=ALL Default=YES MaxTime=1-00:00:00 DefaultTime=01:00:00 State=UP
END
  write_file /etc/slurm/slurmdbd.conf 600 slurm: <<'END'
AuthType=auth/munge
DbdHost=localhost
SlurmUser=slurm
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StoragePass=site
LogFile=/var/log/slurm/slurmdbd.log
PidFile=/run/slurmdbd.pid
END
  # No control groups for the jobs: before 23.11 there was no such value, and the plugin for their
  # first version then looks for none.
  local control=disabled
  [[ $(in_machine slurmctld -V) != "slurm-wlm 22."* ]] || control=cgroup/v1
  echo "CgroupPlugin=$control" | write_file /etc/slurm/cgroup.conf
  write_file /etc/systemd/system/slurmd@.service <<'END'
[Unit]
Description=Slurm node daemon of %i
After=munge.service
[Service]
ExecStart=/usr/sbin/slurmd -D -s -N %i
KillMode=process
Delegate=yes
[Install]
WantedBy=multi-user.target
END
}

# Brings the site up, with the users alice and bob, and waits until it takes jobs.
start_site() {
  local user
  write_site
  in_machine mariadb --execute "CREATE DATABASE slurm_acct_db; CREATE USER slurm@localhost IDENTIFIED BY 'site'; GRANT ALL ON slurm_acct_db.* TO slurm@localhost" ||
    fail "the database took no new user"
  for user in alice bob; do in_machine useradd --create-home "$user"; done
  in_machine systemctl daemon-reload
  in_machine systemctl restart munge slurmdbd
  wait_until 60 'slurmdbd answers' in_machine sacctmgr --noheader list cluster
  in_machine sacctmgr --immediate --quiet add cluster site >/dev/null
  in_machine sacctmgr --immediate --quiet add account main description=main organization=main >/dev/null
  in_machine sacctmgr --immediate --quiet add user root,alice,bob account=main >/dev/null
  in_machine systemctl restart slurmctld
  in_machine systemctl enable --quiet --now slurmd@n1 slurmd@n2 slurmd@n3 slurmd@n4
  wait_until 60 'four nodes are idle' nodes_are_idle
}

nodes_are_idle() { [[ $(in_machine sinfo --noheader --format='%D %t') == '4 idle' ]]; }

# as_user USER COMMAND [ARGUMENT ...]: in the user's home directory.
as_user() {
  local user=$1
  shift
  in_machine runuser --user "$user" -- env --chdir="/home/$user" HOME="/home/$user" USER="$user" "$@"
}

# wait_until SECONDS WHAT COMMAND [ARGUMENT ...]: until the command succeeds.
wait_until() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS > deadline)); then
      in_machine journalctl --no-pager --lines 30 >&2 || true
      fail "waited in vain until $what"
    fi
    sleep 0.3
  done
}
