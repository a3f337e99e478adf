#!/bin/sh
# Runners in a real Slurm of two nodes, both on this machine: its own munged, slurmctld and slurmd's, with a configuration
# of its own. One node's share dies half-way. Skipped where Slurm is not installed, or does not start.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/remote.sh"
PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd srun sinfo python3; do
    command -v "$program" >/dev/null || skip_all "$program is not installed"
done
find_fake
far=$(mktemp -d /tmp/bs.XXXXXX) # short: the name of a socket has not more than 100 letters
chmod 755 "$far"
mkdir -p "$far/munge" "$far/spool" "$far/state"
chmod 755 "$far/munge"
stop_slurm() {
    for pid in "$far"/*.pid; do
        [ -f "$pid" ] && kill "$(cat "$pid")" 2>/dev/null
    done
    tries=0
    until rm -rf "$far" 2>/dev/null || [ "$tries" -gt 50 ]; do # they still write there while they end
        tries=$((tries + 1))
        sleep 0.1
    done
    rm -rf "$work"
}
trap stop_slurm EXIT

give_up() {
    for log in "$far"/*.log; do
        [ -f "$log" ] && tail -n 3 "$log" | sed "s/^/# ${log##*/}: /"
    done
    skip_all "$*"
}

head -c 1024 /dev/urandom >"$far/munge/key"
chmod 600 "$far/munge/key"
munged --force --socket="$far/munge/s" --key-file="$far/munge/key" --pid-file="$far/munge.pid" \
    --log-file="$far/munge.log" --seed-file="$far/munge/seed" >"$work/out" 2>&1 || give_up "munged does not start"
host=$(hostname -s 2>/dev/null || uname -n)
cat >"$far/slurm.conf" <<END
ClusterName=benanza
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$far/munge/s
CredType=cred/munge
StateSaveLocation=$far/state
SlurmdSpoolDir=$far/spool/%n
SlurmctldPidFile=$far/ctld.pid
SlurmdPidFile=$far/%n.pid
SlurmctldLogFile=$far/ctld.log
SlurmdLogFile=$far/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
InactiveLimit=0
KillWait=1
NodeName=node1 NodeAddr=127.0.0.1 NodeHostname=$host Port=$(free_port) CPUs=1
NodeName=node2 NodeAddr=127.0.0.1 NodeHostname=$host Port=$(free_port) CPUs=1
PartitionName=all Nodes=node1,node2 Default=YES State=UP
END
SLURM_CONF=$far/slurm.conf
export SLURM_CONF
timeout 30 slurmctld -f "$SLURM_CONF" >"$work/out" 2>&1 || give_up "slurmctld does not start"
for node in node1 node2; do
    timeout 30 slurmd -f "$SLURM_CONF" -N "$node" >"$work/out" 2>&1 || give_up "slurmd does not start"
done
# Without a route to its address each sinfo waits for minutes.
both_are() { [ "$(timeout 5 sinfo -h -t "$1" -o %D 2>/dev/null)" = 2 ]; }
await 30 both_are idle || give_up "two nodes do not come up in 30 s"

# What a cluster's profile may set bends lines: labels, and a terminal that echoes.
SLURM_LABELIO=1 SLURM_UNBUFFEREDIO=1
export SLURM_LABELIO SLURM_UNBUFFEREDIO
cat >"$work/slurm.yaml" <<END
device: cluster
runners:
  cluster:
    command: [srun, -N1, -n1, "$fake"]
    count: 2
    env: { FAKE_ALL: 2, FAKE_LOG: "$work/jobs", FAKE_UUID: "", FAKE_AT: 40, FAKE_HOLD: "$work/hold" }
END

# Both nodes are somebody else's: the place in the queue is shown, and no limit counts.
for node in node1 node2; do
    srun -N1 -n1 -w "$node" sh -c "while [ ! -e '$far/go' ]; do sleep 0.1; done" >/dev/null 2>&1 </dev/null &
done
await 60 both_are alloc
hold
start_bench "$work/slurm.yaml"
await 60 grep -q 'waiting: srun: job .* queued and waiting' "$work/err"
says err "benanza: waiting: srun: job"
kill -0 "$bench" && [ ! -s "$work/jobs" ]; ok $? "nothing is measured, and nobody gives up"
: >"$far/go"

await_jobs 80
# node1 loses the job's step and what runs in it, as when its power fails: nobody is left there to tell srun
victim=
for pid in $(pgrep -f "$fake"); do
    if tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx SLURMD_NODENAME=node1; then
        victim="$(ps -o ppid= -p "$pid") $pid"
    fi
done
[ -n "$victim" ]; ok $? "the step on node1 is found"
# shellcheck disable=SC2086
[ -z "$victim" ] || kill -9 $victim 2>/dev/null
release
end_bench
ok "$([ "$status" -eq 0 ]; echo $?)" "bench ends well (status $status)"
says err "its problem is queued again"
grep -q '"name":"cluster #1","problems":[1-9]' "$work/out" && grep -q '"name":"cluster #2","problems":[1-9]' "$work/out"
ok $? "two processes shared the work"
[ "$(grep -c '^node1 ' "$work/jobs")" -gt 0 ] && [ "$(grep -c '^node2 ' "$work/jobs")" -gt 0 ]; ok $? "on both nodes"
check_all "$work/slurm.yaml"
done_testing
