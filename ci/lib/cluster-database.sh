# shellcheck shell=bash
# The database of a private cluster: made, started, and filled with what slurmdbd has to know of the
# cluster. Sourced by ci/cluster, which sets what the next line names.
: "${here=}" "${directory=}" "${owner=}" "${database_user=}"

# The cluster, its accounts and its users in slurmdbd, once.
register() {
  local users=root user
  local said=$directory/log/sacctmgr.out name=${settings[cluster_name]}
  [[ ! -e $directory/etc/registered ]] || return 0
  # Not nobody, to whom Slurm gives no association since 26.05.
  for user in games man mail news "$owner"; do
    if [[ ,$users, != *",$user,"* ]] && id "$user" >/dev/null 2>&1; then users+=,$user; fi
  done
  # sacctmgr fails also where what it is to add is there: what counts is what is there afterwards.
  {
    client sacctmgr --immediate --quiet add cluster "$name" || true
    client sacctmgr --immediate --quiet add account main cluster="$name" description=main organization=main || true
    client sacctmgr --immediate --quiet add user "$users" account=main cluster="$name" || true
  } >"$said" 2>&1
  if [[ $(client sacctmgr --noheader --parsable2 list associations cluster="$name" account=main format=user 2>>"$said") != *"${users##*,}"* ]]; then
    tail -n 15 "$said" >&2
    fail "slurmdbd did not take the cluster, its account and its users"
  fi
  : >"$directory/etc/registered"
}

# Sets `prepared` to where a database like the one of a new cluster is kept: slurmdbd has made its
# tables there, and the cluster and its users are registered, which takes longer than all else of
# `up`. It is of these versions, names and scripts alone. Fails for a slurmdbd with a configuration
# of its own, and where the directory of the build can't be written.
find_prepared_database() {
  local names="${settings[cluster_name]}-$owner-$database_user" scripts versions
  ((${#dbd_conf_line[@]} == 0)) || return 1
  scripts=$(cat "$here/cluster" "$here"/lib/cluster-*.sh | cksum)
  versions=$(mariadbd --version)-$(slurmctld -V)
  prepared=${CARGO_TARGET_DIR:-$here/../target}/cluster-databases/$names-${scripts%% *}-${versions//[^A-Za-z0-9.-]/_}
  mkdir -p "${prepared%/*}" 2>/dev/null && [[ -w ${prepared%/*} ]]
}

# Keeps the database of a new cluster that slurmctld has not met yet, for the next one that is made.
keep_database() {
  local prepared lock_of_prepared
  find_prepared_database && [[ ! -e $prepared ]] || return 0
  exec {lock_of_prepared}<"${prepared%/*}"
  # Whoever makes one beside this keeps it.
  if flock -n "$lock_of_prepared" && [[ ! -e $prepared ]]; then
    stop_processes 30 TERM slurmdbd
    stop_processes 60 TERM mariadb
    rm -rf "$prepared.new"
    cp -a --sparse=always "$directory/mariadb/data" "$prepared.new"
    mv "$prepared.new" "$prepared"
    exec {lock_of_prepared}<&-
    start_mariadb
    start_slurmdbd
  else
    exec {lock_of_prepared}<&-
  fi
}

start_mariadb() {
  local data=$directory/mariadb/data prepared
  if [[ ! -d $data ]] && find_prepared_database && [[ -d $prepared ]]; then
    rm -rf "$data.new"
    cp -a "$prepared" "$data.new"
    mv "$data.new" "$data"
    : >"$directory/etc/registered"
  elif [[ ! -d $data ]]; then
    rm -rf "$data.new"
    # In a temporary directory of its own, from which no other server that starts removes tables.
    if ! TMPDIR=$directory/mariadb/tmp mariadb-install-db --no-defaults --user="$database_user" --datadir="$data.new" --skip-test-db --skip-name-resolve \
      --auth-root-authentication-method=socket --auth-root-socket-user="$owner" >"$directory/log/mariadb-install-db.out" 2>&1; then
      # Its advice at the end is longer than its reasons.
      grep -iE 'error|cannot|fail' "$directory/log/mariadb-install-db.out" >&2 || tail -n 15 "$directory/log/mariadb-install-db.out" >&2
      fail "mariadb-install-db failed"
    fi
    mv "$data.new" "$data"
  fi
  rm -f "$directory/mariadb/socket"
  start_process mariadb mariadbd --defaults-file="$directory/etc/mariadb.cnf" --user="$database_user"
  wait_for mariadb 180 socket_exists "$directory/mariadb/socket"
}

start_slurmdbd() {
  start_process slurmdbd slurmdbd -D
  wait_for slurmdbd 180 listening "$slurmdbd_port"
}
