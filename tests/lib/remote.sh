# What the tests of runners elsewhere share; sourced behind tap.sh. Their runner measures nothing (tests/unit/fake_runner.c); it notes
# each job that it begins in $work/jobs, as "NAME PROBLEM".
model=$top/data/models/resnet50.onnx
batches=1,2
fake=

find_fake() {
    fake=$(cd "$(dirname "$BENANZA")" && pwd)/tests/unit/fake_runner
    [ -x "$fake" ] || fake=$(cd "${builddir:-.}" && pwd)/tests/unit/fake_runner
    [ -x "$fake" ] || skip_all "tests/unit/fake_runner is not built"
}

# A port that nothing listens on at the moment; another program may take it before we do.
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# All processes below one.
below() {
    for child in $(pgrep -P "$1"); do
        echo "$child"
        below "$child"
    done
}

# start_bench CONFIG: in the background
start_bench() {
    : >>"$work/jobs"
    : >"$work/err"
    "$BENANZA" bench -c "$1" -b "$batches" --json "$model" >"$work/out" 2>"$work/err" </dev/null &
    bench=$!
}

# Seconds since boot: a clock that is set does not count.
seconds() { cut -d. -f1 /proc/uptime; }

# await SECONDS COMMAND...: until the command succeeds, at most so long
await() {
    end=$(($(seconds) + $1))
    shift
    until "$@"; do
        [ "$(seconds)" -lt "$end" ] || return 1
        sleep 0.1
    done
}

# The runners stop at their job number FAKE_AT until `release`, so that what is done to them comes neither early nor late.
hold() { : >"$work/hold"; }
release() { rm -f "$work/hold"; }

# Waits until a number of jobs have begun, or bench has ended.
await_jobs() {
    while [ "$(wc -l <"$work/jobs")" -lt "$1" ] && kill -0 "$bench" 2>/dev/null; do
        sleep 0.05
    done
    [ "$(wc -l <"$work/jobs")" -ge "$1" ]; ok $? "so far so good: $1 problems"
}

end_bench() {
    status=0
    wait "$bench" || status=$?
}

# Problems that the database has an end of.
finished() {
    python3 - "$work/data/benanza/benanza.db" <<'END'
import sqlite3, sys
d = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
for (text,) in d.execute("SELECT DISTINCT p.text FROM finished f JOIN problem p ON p.id = f.problem"):
    print(text)
END
}

# check_all CONFIG: the run that has ended, and the database: every problem measured, and none asked for without need.
check_all() {
    cp "$work/out" "$work/ended"
    finished >"$work/finished"
    python3 - "$work/ended" "$work/finished" "$work/jobs" >"$work/verdict" 2>&1 <<'END'
import collections, json, sys
end = json.loads(open(sys.argv[1]).readlines()[-1])
finished = set(open(sys.argv[2]).read().split("\n")) - {""}
asked = collections.Counter(line.split(" ", 1)[1].strip() for line in open(sys.argv[3]))
assert end["problems"] >= 200 and end["already"] + end["measured"] == end["problems"], end
assert set(asked) == finished, "asked for %d, finished %d" % (len(asked), len(finished))
again = [p for p in asked if asked[p] > 1]
assert len(again) <= 3, "%d were asked for again" % len(again)
print("%d problems measured, each finished, %d of them asked for again" % (end["problems"], len(again)))
END
    ok $? "$(tail -n 1 "$work/verdict")"
    try 0 "the database" "$BENANZA" db check
    : >"$work/jobs"
    try 0 "another run" "$BENANZA" bench -c "$1" -b "$batches" --json "$model"
    [ ! -s "$work/jobs" ]; ok $? "has nothing to measure"
}
