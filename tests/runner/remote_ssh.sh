#!/bin/sh
# A runner behind a real ssh: its own sshd on the loopback interface, with keys and a configuration of its own. Skipped
# without it, or if it rejects the login.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/remote.sh"
PATH=$PATH:/usr/sbin:/sbin
for program in sshd ssh ssh-keygen python3; do
    command -v "$program" >/dev/null || skip_all "$program is not installed"
done
find_fake
far=$work/ssh
mkdir -m 700 "$far"
ssh-keygen -q -t ed25519 -N '' -f "$far/host" && ssh-keygen -q -t ed25519 -N '' -f "$far/key" || skip_all "no keys"
cp "$far/key.pub" "$far/authorized"
[ -d /run/sshd ] || mkdir -p -m 755 /run/sshd 2>/dev/null # where it is to give its rights up to
port=$(free_port)
cat >"$far/sshd_config" <<END
Port $port
ListenAddress 127.0.0.1
HostKey $far/host
PidFile $far/pid
AuthorizedKeysFile $far/authorized
PasswordAuthentication no
KbdInteractiveAuthentication no
PubkeyAuthentication yes
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
PrintMotd no
Banner $far/banner
END
echo "Authorized people only." >"$far/banner"
"$(command -v sshd)" -f "$far/sshd_config" -E "$far/log" || skip_all "sshd does not start here"
stop_sshd() { kill "$(cat "$far/pid")" 2>/dev/null; rm -rf "$work"; }
trap stop_sshd EXIT

# to: how the runner is reached; words of the remote command follow.
to() {
    printf '[ssh, -T, -F, none, -p, "%s", -i, "%s", -o, BatchMode=yes, -o, StrictHostKeyChecking=no' "$port" "$far/key"
    printf ', -o, UserKnownHostsFile=/dev/null, -o, LogLevel=INFO, -o, ConnectTimeout=10, 127.0.0.1'
    printf ', "%s"' "$@"
    printf ']'
}
ssh -T -F none -p "$port" -i "$far/key" -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
    127.0.0.1 true >"$work/out" 2>"$work/err" </dev/null || {
    sed 's/^/# /' "$work/err"
    skip_all "sshd does not let this user in"
}

# A login that talks before the command does, as some do.
cat >"$far/login" <<END
#!/bin/sh
echo "Welcome to this machine."
echo '{"not": "a hello"}'
FAKE_ALL=2 FAKE_LOG='$work/jobs' FAKE_NAME=\$1 FAKE_UUID=GPU-\$1 FAKE_END=\$2 FAKE_AT=\$3 FAKE_HOLD='$work/hold' exec '$fake'
END
chmod +x "$far/login"
printf 'device: far\nrunners:\n  far: %s\n' "$(to "$far/login" far none 0)" >"$work/far.yaml"
try 0 "a runner behind ssh" "$BENANZA" devices -c "$work/far.yaml" --json
says out '"model":"Fake CPU"'
try 0 "a measuring run" "$BENANZA" -v bench -c "$work/far.yaml" --json "$top/tests/models/tiny.onnx"
grep -rqs "before its hello: Welcome to this machine." "$work/err" "$work/state"; ok $? "what the login prints is in the log"

# An agent there: the model's file is sent over the link. If the link breaks, one line says so.
cat >"$far/agent" <<END
#!/bin/sh
echo "Welcome to this machine."
FAKE_AGENT_LOG='$work/sent' exec python3 '$top/tests/lib/fake_agent.py' \$1
END
chmod +x "$far/agent"
printf "agents:\n  near: %s\n  slow: %s\n" "$(to "$far/agent" fetch)" "$(to "$far/agent" slow)" \
    >"$work/agents.yaml"
tiny=$top/tests/models/tiny.onnx
try 0 "an agent behind ssh" "$BENANZA" compare -c "$work/agents.yaml" -d a100 --run near --json "$tiny"
says out '"measured_ns":1000000'
[ "$(cut -d' ' -f2 "$work/sent")" = "$(wc -c <"$tiny")" ]; ok $? "the whole model was sent"
"$BENANZA" compare -c "$work/agents.yaml" -d a100 --run slow "$tiny" >"$work/out" 2>"$work/err" </dev/null &
compare=$!
slow_runs() { # below this sshd
    for process in $(below "$(cat "$far/pid")"); do
        grep -qs "fake_agent.py" "/proc/$process/cmdline" && return
    done
    false
}
await 30 slow_runs; ok $? "a slow one runs"
kill -9 $(below "$(cat "$far/pid")") 2>/dev/null
status=0
wait "$compare" || status=$?
ok "$([ "$status" -eq 3 ]; echo $?)" "its link breaks: exit status 3 ($status)"
says err "the agent slow"
says err "255"

# Two links of one device: one breaks half-way, since its sshd is killed; the other one is lost with its runner.
rm -rf "$work/jobs" "$work/data"
cat >"$work/two.yaml" <<END
device: node1,node2
runners:
  node1: $(to "$far/login" node1 none 30)
  node2: $(to "$far/login" node2 none 30)
END
hold
start_bench "$work/two.yaml"
await_jobs 60
# the process that serves one connection is a child of sshd; the runner is somewhere below
session=$(pgrep -P "$(cat "$far/pid")" | head -n 1)
[ -n "$session" ]; ok $? "a link is found"
kill -9 "$session" $(below "$session") 2>/dev/null
release
end_bench
ok "$([ "$status" -eq 0 ]; echo $?)" "bench ends well (status $status)"
[ "$(grep -c '^node1 ' "$work/jobs")" -gt 0 ] && [ "$(grep -c '^node2 ' "$work/jobs")" -gt 0 ]; ok $? "both machines measured"
check_all "$work/two.yaml"

# The way is closed in the middle for good: said, and what was measured stays.
rm -rf "$work/jobs" "$work/data"
printf 'device: far\nrunners:\n  far: %s\n' "$(to "$far/login" far none 30)" >"$work/far.yaml"
hold
start_bench "$work/far.yaml"
await_jobs 30
listener=$(cat "$far/pid")
sessions=$(pgrep -P "$listener")
kill "$listener"
kill -9 $sessions $(for s in $sessions; do below "$s"; done) 2>/dev/null
release
end_bench
ok "$([ "$status" -eq 3 ]; echo $?)" "without a way there is no runner (status $status)"
says err "ssh ended with status 255"
try 0 "the database" "$BENANZA" db check
kept=$(finished | wc -l)
[ "$kept" -gt 0 ] && [ "$kept" -ge "$(($(wc -l <"$work/jobs") - 1))" ]; ok $? "all that was measured is kept ($kept)"
"$(command -v sshd)" -f "$far/sshd_config" -E "$far/log"
start_bench "$work/far.yaml"
end_bench
ok "$([ "$status" -eq 0 ]; echo $?)" "once the way is there again the rest is measured (status $status)"
check_all "$work/far.yaml"
done_testing
