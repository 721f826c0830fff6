# shellcheck shell=bash
# Processes of a private cluster: started without the caller's environment or terminal, known again
# by process id, start time and boot, so that a recycled process id is never taken for one of ours.
# Sourced by ci/cluster, which sets what the next line names.
: "${directory=}" "${environment=}" "${lock=}"

# Sets `started_at` to the start time (clock ticks since boot) of process $1; fails where there is
# no such process or it is dead.
start_time() {
  local line fields
  { read -r line <"/proc/$1/stat"; } 2>/dev/null || return 1
  read -ra fields <<<"${line##*) }"
  [[ ${fields[0]} != [ZX] ]] || return 1
  started_at=${fields[19]}
}

# Sets `daemon_pid` to the process of daemon $1, or fails where the process that `up` started is not
# there any more.
find_daemon() {
  local pid started boot this_boot
  daemon_pid=
  { read -r pid started boot <"$directory/run/$1.process"; } 2>/dev/null || return 1
  read -r this_boot </proc/sys/kernel/random/boot_id
  [[ $boot == "$this_boot" ]] && start_time "$pid" && [[ $started_at == "$started" ]] || return 1
  daemon_pid=$pid
}

# start_process NAME COMMAND [ARGUMENT ...]: in the background, in a session of its own, with a
# small environment. What it prints goes to log/NAME.out. Its start is recorded in run/NAME.process.
start_process() {
  local name=$1 pid boot
  shift
  (
    cd "$directory/log" || exit
    # A shell without job control starts background commands with SIGINT and SIGQUIT ignored, and
    # jobs would inherit that.
    exec setsid env --ignore-environment --default-signal=INT,QUIT PATH="$PATH" LANG=C.UTF-8 HOME=/ SLURM_CONF="$directory/etc/slurm.conf" \
      "${environment[@]}" "$@"
  ) </dev/null >"$directory/log/$name.out" 2>&1 {lock}>&- &
  pid=$!
  disown "$pid"
  read -r boot </proc/sys/kernel/random/boot_id
  start_time "$pid" || started_at=gone
  echo "$pid $started_at $boot" >"$directory/run/$name.process"
}

# Prints the end of the logs of daemon $1 on standard error.
show_log() {
  local file
  for file in "$directory/log/$1.log" "$directory/log/$1.out"; do
    [[ -s $file ]] || continue
    echo "--- end of $file" >&2
    tail -n 15 "$file" >&2
  done
}

# wait_for NAME SECONDS COMMAND [ARGUMENT ...]: until the command succeeds. Fails with the daemon's
# log when its process ends before that, or when the time is over.
wait_for() {
  local name=$1 deadline=$((SECONDS + $2)) polls=0
  shift 2
  until "$@"; do
    if ! find_daemon "$name"; then
      echo "ci/cluster: $name ended while it was starting" >&2
      show_log "$name"
      return 1
    elif ((SECONDS > deadline)); then
      echo "ci/cluster: $name was not ready in time (waited for: $*)" >&2
      show_log "$name"
      return 1
    fi
    # On a busy machine, where it takes long, other clusters need the processor more than this.
    if ((++polls < 20)); then sleep 0.05; else sleep 0.25; fi
  done
}

# Succeeds when a socket listens on TCP port $1.
listening() {
  local hexadecimal files=(/proc/net/tcp)
  [[ -e /proc/net/tcp6 ]] && files+=(/proc/net/tcp6)
  printf -v hexadecimal '%04X' "$1"
  grep -qE "^ *[0-9]+: [0-9A-F]+:$hexadecimal [0-9A-F]+:0000 0A " "${files[@]}"
}

signal_daemon() {
  if find_daemon "$1"; then kill -s "$2" "$daemon_pid" 2>/dev/null || true; fi
}

# stop_processes SECONDS SIGNAL NAME ...: sends the signal to all of them, waits until they are
# gone, and kills what is left after the time.
stop_processes() {
  local deadline=$((SECONDS + $1)) signal=$2 name left
  shift 2
  for name in "$@"; do
    signal_daemon "$name" "$signal"
  done
  while :; do
    left=()
    for name in "$@"; do
      if find_daemon "$name"; then left+=("$name"); else rm -f "$directory/run/$name.process"; fi
    done
    ((${#left[@]})) || return 0
    if ((SECONDS > deadline)); then
      echo "ci/cluster: killed what did not stop in time: ${left[*]}" >&2
      for name in "${left[@]}"; do
        signal_daemon "$name" KILL
      done
      deadline=$((SECONDS + 10))
    fi
    sleep 0.05
  done
}

# Ends the job steps that run on this cluster's nodes: their slurmstepd processes and all below
# them. A slurmstepd is ours when it holds a file of this cluster open (its node's log or spool).
kill_steps() {
  local entry pid parent line fields pass found
  local -A parents=() ours=() steps=()
  # One process for all of them: a machine has hundreds.
  while IFS=/ read -r _ _ pid _; do steps[$pid]=1; done < <(find /proc/[0-9]*/exe -maxdepth 0 -lname '*/slurmstepd' 2>/dev/null)
  for entry in /proc/[0-9]*; do
    pid=${entry#/proc/}
    { read -r line <"$entry/stat"; } 2>/dev/null || continue
    read -ra fields <<<"${line##*) }"
    parents[$pid]=${fields[1]}
    [[ $line == *"(slurmstepd)"* || ${steps[$pid]-} ]] || continue
    if find "$entry/fd" -lname "$directory/*" -print -quit 2>/dev/null | grep -q .; then ours[$pid]=1; fi
  done
  ((${#ours[@]})) || return 0
  for ((pass = 0, found = 1; found; pass++)); do
    found=0
    for pid in "${!parents[@]}"; do
      parent=${parents[$pid]}
      if [[ ${ours[$parent]-} && ! ${ours[$pid]-} ]]; then ours[$pid]=1 found=1; fi
    done
  done
  kill -s KILL "${!ours[@]}" 2>/dev/null || true
}
