# shellcheck shell=bash
# Configuration of a private cluster: the options that it was made with (etc/options), and the files
# that are written from them.
# Sourced by ci/cluster, which sets what the next line names.
: "${directory=}" "${owner=}" "${database_user=}" "${slurm_major=}"

# Lists hold one entry per use of their option; the first use in a command replaces the list, and an
# empty value leaves it empty.
declare -A settings=([nodes]=8 [cpus]=4 [memory]=1048576 [node_attributes]='' [gpu_nodes]=0 [cluster_name]=queuecast [accounting_of]='' [job_submit_plugin]=none [slurm]=${QUEUECAST_SLURM-})
lists=(partition conf_line dbd_conf_line plugin_dir plugstack_line environment)
# shellcheck disable=SC2034 # the environment is read in cluster-processes.sh
partition=() conf_line=() dbd_conf_line=() plugin_dir=() plugstack_line=() environment=()
declare -A given=()

# set_option NAME VALUE: remembers one option of the command line (its name without the two dashes
# in front).
set_option() {
  local name=${1//-/_} value=$2
  if [[ $value == *$'\n'* ]]; then fail_usage "--$1: a value cannot hold a line break"; fi
  case $name in
    nodes | cpus | memory)
      [[ $value =~ ^[1-9][0-9]{0,8}$ ]] || fail_usage "--$name: '$value' is not a positive number"
      [[ $name != cpus ]] || ((value <= 65533)) || fail_usage "--cpus: Slurm knows at most 65533 CPUs per node, not $value"
      [[ $name != nodes ]] || ((value <= 512)) || fail_usage "--nodes: $value daemons on one machine are too many (at most 512)" ;;
    gpu_nodes)
      [[ $value =~ ^[0-9]{1,3}$ ]] || fail_usage "--gpu-nodes: '$value' is not a number"
      [[ $EUID == 0 ]] || fail_usage "--gpu-nodes: only root makes the devices that stand for GPUs" ;;
    cluster_name) [[ $value =~ ^[a-z][a-z0-9_]{0,39}$ ]] || fail_usage "--cluster-name: '$value' must be lower-case letters, digits and _" ;;
    job_submit_plugin) [[ $value =~ ^[a-z0-9_]+(,[a-z0-9_]+)*$ ]] || fail_usage "--job-submit-plugin: '$value' is not lua, queuecast, none or a list of plugins" ;;
    partition) [[ ! $value || $value =~ ^[A-Za-z0-9_-]+( +[A-Za-z]+=[^ ]*)*$ ]] || fail_usage "--partition: '$value' is not 'NAME Key=Value ...'" ;;
    conf_line | dbd_conf_line) [[ ! $value || $value == *=* ]] || fail_usage "--$1: '$value' is not 'Key=Value ...'" ;;
    environment) [[ ! $value || $value =~ ^[A-Za-z_][A-Za-z0-9_]*= ]] || fail_usage "--environment: '$value' is not 'NAME=VALUE'" ;;
    accounting_of)
      [[ -e $value/etc/ports ]] || fail_usage "--accounting-of: there is no cluster in '$value'"
      value=$(cd "$value" && pwd -P) ;;
    plugin_dir)
      [[ ! $value || -d $value ]] || fail_usage "--plugin-dir: there is no directory '$value'"
      [[ ! $value ]] || value=$(cd "$value" && pwd -P) ;;
    lua_script | partitions_file)
      [[ -r $value ]] || fail_usage "--$1: cannot read '$value'"
      value=$(cd "$(dirname "$value")" && pwd -P)/${value##*/} ;;
  esac
  if [[ " ${lists[*]} " == *" $name "* ]]; then
    # shellcheck disable=SC2178 # a reference to the list
    local -n list=$name
    [[ ${given[$name]-} ]] || list=()
    [[ ! $value ]] || list+=("$value")
  else
    # shellcheck disable=SC2034 # read in ci/cluster as well
    settings[$name]=$value
  fi
  given[$name]=1
}

# Reads etc/options into settings and lists.
load_options() {
  local name value
  while IFS=' ' read -r name value; do
    name=${name//-/_}
    if [[ " ${lists[*]} " == *" $name "* ]]; then
      # shellcheck disable=SC2178 # a reference to the list
      local -n list=$name
      list+=("$value")
      unset -n list
    else
      settings[$name]=$value
    fi
  done <"$directory/etc/options"
}

save_options() {
  local name value
  {
    for name in "${!settings[@]}"; do
      # These two name files that were copied.
      [[ $name == lua_script || $name == partitions_file ]] || echo "$name ${settings[$name]}"
    done
    for name in "${lists[@]}"; do
      # shellcheck disable=SC2178 # a reference to the list
      local -n list=$name
      for value in "${list[@]}"; do echo "$name $value"; done
      unset -n list
    done
  } | replace_file etc/options 600
}

# replace_file NAME MODE: standard input becomes DIR/NAME at once.
replace_file() {
  local file=$directory/$1
  (umask 077 && cat >"$file.new")
  chmod "$2" "$file.new"
  mv -f "$file.new" "$file"
}

random_text() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }

# The distribution's directory of Slurm plugins.
find_plugins() {
  local candidate
  for candidate in /usr/lib/*/slurm-wlm /usr/lib/*/slurm /usr/lib64/slurm /usr/lib/slurm /usr/local/lib/slurm; do
    [[ -e $candidate/auth_munge.so ]] && { echo "$candidate"; return; }
  done
  fail "found no directory with Slurm's plugins (auth_munge.so) under /usr/lib"
}

# Chooses free ports, one block: the database, slurmdbd, slurmctld, then one per node. They lie
# below the range from which the kernel gives out ports to clients, so that no client takes one
# while a daemon is stopped. Keeps the ports of before where they are still free. Each cluster of
# this user claims its block before a daemon listens there, so that many can be brought up at once.
choose_ports() {
  local count=$((settings[nodes] + 3)) attempt first='' size lock_of_claims
  # In one place, wherever the clusters lie.
  local claims=/tmp/queuecast-ports-$EUID
  mkdir -m 700 "$claims" 2>/dev/null || [[ -d $claims && -O $claims && ! -L $claims ]] || fail "$claims is not a directory of yours"
  exec {lock_of_claims}<"$claims"
  flock -w 600 "$lock_of_claims" || fail "another 'ci/cluster up' holds $claims"
  if [[ -r $directory/etc/ports ]]; then
    read -r first size <"$directory/etc/ports"
    if ((size < count)) || ! block_is_free "$first" "$count" || ! block_is_unclaimed "$first" "$size"; then first=''; fi
  fi
  for ((attempt = 0; attempt < 200; attempt++)); do
    [[ ! $first ]] || break
    first=$((10240 + (RANDOM * 32768 + RANDOM) % (32768 - 10240 - count))) size=$count
    if ! block_is_free "$first" "$count" || ! block_is_unclaimed "$first" "$count"; then first=''; fi
  done
  [[ $first ]] || fail "found no $count free TCP ports in a row between 10240 and 32767"
  echo "$first $size" | replace_file etc/ports 644
  ln -sfn "$directory" "$claims/$first"
  exec {lock_of_claims}<&-
  first_port=$first
}

# Succeeds when no other cluster claims a port of the block $1 .. $1+$2-1: a claim is a link, named
# by the first port, to a cluster whose etc/ports names that port as well. Removes the claims of
# clusters that are gone.
block_is_unclaimed() {
  local claim first size
  for claim in "$claims"/*; do
    [[ -L $claim ]] || continue
    if ! { read -r first size <"$claim/etc/ports"; } 2>/dev/null || [[ $first != "${claim##*/}" ]]; then
      rm -f "$claim"
    elif [[ ! $claim -ef $directory ]]; then
      (($1 >= first + size || $1 + $2 <= first)) || return 1
    fi
  done
}

# Succeeds when no socket uses a port of the block $1 .. $1+$2-1.
block_is_free() {
  local files=(/proc/net/tcp)
  [[ -e /proc/net/tcp6 ]] && files+=(/proc/net/tcp6)
  local line port
  while read -r line; do
    port=$((16#$line))
    ((port < $1 || port >= $1 + $2)) || return 1
  done < <(sed -nE 's/^ *[0-9]+: [0-9A-F]+:([0-9A-F]{4}) .*/\1/p' "${files[@]}")
}

# Sets the ports, and `accounting` to the directory of the cluster whose slurmdbd and munged are
# used.
name_ports() {
  local first_of_accounting=$first_port
  database_port=$first_port slurmctld_port=$((first_port + 2)) slurmd_port=$((first_port + 3))
  accounting=${settings[accounting_of]:-$directory}
  [[ $accounting == "$directory" ]] || read -r first_of_accounting _ <"$accounting/etc/ports"
  slurmdbd_port=$((first_of_accounting + 1))
}

# Prints one line of slurm.conf unless a --conf-line sets the same key.
line() {
  local key=${1%%=*}
  [[ ${replaced_keys[${key,,}]-} ]] || echo "$1"
}

# node_line FIRST LAST ATTRIBUTES: prints the line of those nodes, where there are any.
node_line() {
  (($1 <= $2)) || return 0
  local range="n[$1-$2]" ports="[$((slurmd_port + $1 - 1))-$((slurmd_port + $2 - 1))]"
  (($1 < $2)) || range=n$1 ports=$((slurmd_port + $1 - 1))
  echo "NodeName=$range NodeHostname=${HOSTNAME%%.*} NodeAddr=127.0.0.1 Port=$ports CPUs=${settings[cpus]} RealMemory=${settings[memory]}${settings[node_attributes]:+ ${settings[node_attributes]}}$3 State=UNKNOWN"
}

# Two devices stand for the GPUs of each node that has some: Slurm only looks whether they are
# there.
write_gres_conf() {
  local number
  ((settings[gpu_nodes] > 0)) || { rm -f "$directory/etc/gres.conf"; return 0; }
  for number in 0 1; do
    [[ -c $directory/run/gpu$number ]] || mknod "$directory/run/gpu$number" c 1 3
  done
  printf 'AutoDetect=off\nNodeName=n[1-%s] Name=gpu Type=v100 File=%s/run/gpu[0-1]\n' "${settings[gpu_nodes]}" "$directory" |
    replace_file etc/gres.conf 644
}

write_slurm_conf() {
  local entry host=${HOSTNAME%%.*} nodes=${settings[nodes]} has_default='' plugins
  local -A replaced_keys=()
  for entry in "${conf_line[@]}"; do
    entry=${entry%%=*}
    replaced_keys[${entry,,}]=1
  done
  plugins=$directory/plugins:$(find_plugins)
  for ((entry = ${#plugin_dir[@]} - 1; entry >= 0; entry--)); do plugins=${plugin_dir[entry]}:$plugins; done
  {
    echo "# Written by ci/cluster from etc/options; 'ci/cluster configure' changes it."
    line "ClusterName=${settings[cluster_name]}"
    line "SlurmctldHost=$host(127.0.0.1)"
    line "SlurmUser=$owner"
    line "SlurmdUser=$owner"
    line "SlurmctldPort=$slurmctld_port"
    line "AuthType=auth/munge"
    line "AuthInfo=socket=$accounting/run/munge.socket"
    line "CredType=cred/munge"
    line "PluginDir=$plugins"
    line "PlugStackConfig=$directory/etc/plugstack.conf"
    [[ ${settings[job_submit_plugin]} == none ]] || line "JobSubmitPlugins=${settings[job_submit_plugin]}"
    line "StateSaveLocation=$directory/state"
    line "SlurmdSpoolDir=$directory/spool/%n"
    line "SlurmctldPidFile=$directory/run/slurmctld.pid"
    line "SlurmdPidFile=$directory/run/%n.pid"
    line "SlurmctldLogFile=$directory/log/slurmctld.log"
    line "SlurmdLogFile=$directory/log/%n.log"
    line "SlurmctldDebug=info"
    line "SlurmdDebug=info"
    line "MailProg=/bin/true"

    # Many node daemons on one machine, which claim CPUs that it does not have.
    line "SlurmdParameters=config_overrides"
    line "ProctrackType=proctrack/pgid"
    line "TaskPlugin=task/none"
    line "JobAcctGatherType=jobacct_gather/none"
    line "MpiDefault=none"
    # Nothing of it listens beyond this machine (slurmdbd knows no such setting).
    line "CommunicationParameters=NoInAddrAny,NoCtldInAddrAny"
    line "PropagateResourceLimits=NONE"

    line "SelectType=select/cons_tres"
    line "SelectTypeParameters=CR_CPU"
    line "SchedulerType=sched/backfill"
    line "SchedulerParameters=batch_sched_delay=0,sched_interval=5,bf_interval=3,bf_window=10080,bf_continue,bf_max_job_test=2000"
    line "PriorityType=priority/basic"
    line "MaxJobCount=100000"
    line "MaxArraySize=10001"
    line "MinJobAge=300"
    line "KillWait=5"
    line "MessageTimeout=30"
    line "InactiveLimit=0"
    line "ReturnToService=2"

    line "AccountingStorageType=accounting_storage/slurmdbd"
    line "AccountingStorageHost=127.0.0.1"
    line "AccountingStoragePort=$slurmdbd_port"
    # Names the socket to slurmdbd's clients; without it they decode their credentials at the
    # machine's own munged.
    line "AccountingStoragePass=$accounting/run/munge.socket"
    line "AccountingStoreFlags=job_comment"

    for entry in "${conf_line[@]}"; do echo "$entry"; done
    # shellcheck disable=SC2153 # the setting is called as in slurm.conf
    local gpus=${settings[gpu_nodes]}
    ((gpus <= nodes)) || fail_usage "--gpu-nodes: there are $nodes nodes, not $gpus"
    ((gpus == 0)) || line "GresTypes=gpu"
    node_line 1 "$gpus" " Gres=gpu:v100:2"
    node_line $((gpus + 1)) "$nodes" ''
    if [[ -e $directory/etc/partitions.conf ]]; then
      cat "$directory/etc/partitions.conf"
    else
      local partitions=("${partition[@]}")
      ((${#partitions[@]})) || partitions=("main Default=YES MaxTime=7-00:00:00 DefaultTime=01:00:00")
      [[ " ${partitions[*]} " == *" Default="* ]] && has_default=1
      for entry in "${partitions[@]}"; do
        [[ " $entry" == *" Nodes="* ]] || entry+=" Nodes=ALL"
        [[ $has_default ]] || { entry+=" Default=YES"; has_default=1; }
        echo "PartitionName=$entry State=UP"
      done
    fi
  } | replace_file etc/slurm.conf 644
}

write_slurmdbd_conf() {
  local entry
  local -A replaced_keys=()
  for entry in "${dbd_conf_line[@]}"; do
    entry=${entry%%=*}
    replaced_keys[${entry,,}]=1
  done
  {
    echo "# Written by ci/cluster from etc/options."
    line "AuthType=auth/munge"
    line "AuthInfo=socket=$directory/run/munge.socket"
    line "DbdHost=localhost"
    line "DbdAddr=127.0.0.1"
    line "DbdPort=$slurmdbd_port"
    line "SlurmUser=$owner"
    line "StorageType=accounting_storage/mysql"
    line "StorageHost=127.0.0.1"
    line "StoragePort=$database_port"
    line "StorageUser=slurm"
    line "StoragePass=$(<"$directory/etc/database-password")"
    line "StorageLoc=slurm_acct_db"
    line "PluginDir=$(find_plugins)"
    line "LogFile=$directory/log/slurmdbd.log"
    line "PidFile=$directory/run/slurmdbd.pid"
    line "DebugLevel=info"
    line "MessageTimeout=60"
    for entry in "${dbd_conf_line[@]}"; do echo "$entry"; done
  } | replace_file etc/slurmdbd.conf 600
}

write_database_conf() {
  local password
  password=$(<"$directory/etc/database-password")
  replace_file etc/mariadb.cnf 644 <<END
# Written by ci/cluster.
[mariadbd]
datadir=$directory/mariadb/data
# Its own: in a shared one, another server that starts removes the tables of queries that run.
tmpdir=$directory/mariadb/tmp
socket=$directory/mariadb/socket
pid-file=$directory/mariadb/pid
log-error=$directory/log/mariadb.log
bind-address=127.0.0.1
port=$database_port
init-file=$directory/mariadb/init.sql
skip-name-resolve
performance-schema=OFF
max-connect-errors=1000000
# What slurmdbd asks for, and room for a history of a million jobs.
innodb-buffer-pool-size=512M
innodb-log-file-size=128M
innodb-lock-wait-timeout=900
# MariaDB has it on since 11.6, and slurmdbd ends when it meets it ("loose": before, it is not
# known).
loose-innodb-snapshot-isolation=OFF
max-allowed-packet=64M
# A power cut may cost the last second of the records of a test cluster.
innodb-flush-log-at-trx-commit=2
END
  replace_file mariadb/init.sql 600 <<END
CREATE DATABASE IF NOT EXISTS slurm_acct_db;
CREATE OR REPLACE USER slurm@'127.0.0.1' IDENTIFIED BY '$password';
GRANT ALL ON slurm_acct_db.* TO slurm@'127.0.0.1';
END
  [[ $database_user == "$owner" ]] || chown "$database_user:" "$directory/mariadb/init.sql"
}

# Writes every file that the daemons read.
write_configuration() {
  local entry
  [[ -s $directory/etc/database-password ]] || random_text | replace_file etc/database-password 600
  write_slurmdbd_conf
  write_database_conf
  # No control groups: nothing above uses them, and a container may have none. Before 23.11 Slurm
  # had no such value, but its plugin for the first version of control groups looks for them only
  # when it is asked to confine something.
  local cgroup_plugin=disabled
  ((slurm_major >= 2311)) || cgroup_plugin=cgroup/v1
  echo "CgroupPlugin=$cgroup_plugin" | replace_file etc/cgroup.conf 644
  for entry in "${plugstack_line[@]}"; do echo "$entry"; done | replace_file etc/plugstack.conf 644
  if [[ ${settings[lua_script]-} ]]; then
    replace_file etc/job_submit.lua 644 <"${settings[lua_script]}"
  elif [[ ${settings[job_submit_plugin]} == *lua* && ! -e $directory/etc/job_submit.lua ]]; then
    replace_file etc/job_submit.lua 644 <<'END'
function slurm_job_submit(job_desc, part_list, submit_uid)
   return slurm.SUCCESS
end

function slurm_job_modify(job_desc, job_rec, part_list, modify_uid)
   return slurm.SUCCESS
end
END
  fi
  if [[ ${settings[partitions_file]-} ]]; then
    replace_file etc/partitions.conf 644 <"${settings[partitions_file]}"
  elif [[ ${given[partition]-} ]]; then
    rm -f "$directory/etc/partitions.conf"
  fi
  write_gres_conf
  write_slurm_conf
  save_options
}
