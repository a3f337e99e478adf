#!/bin/sh
# Measuring through the whole program: threads (how many, bound to what, numbers of one and of two never meet in a bound) and
# cache states.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
[ -x "$runner" ] || skip_all "no CPU runner is built"
unset OMP_PROC_BIND OMP_PLACES OMP_DYNAMIC OMP_THREAD_LIMIT GOMP_CPU_AFFINITY || :
tiny=$top/tests/models/tiny.onnx

# stack NAME WANTED COMMAND...: what the runner says of its threads
stack() {
    name=$1 want=$2
    shift 2
    "$@" --info >"$work/out" 2>"$work/err"
    grep -q "^stack .*, $want, strict" "$work/out"
    ok $? "$name: $want"
}
stack "one is asked for" "1 thread bound one a core" "$runner" --threads 1
stack "the environment asks for one" "1 thread bound one a core" env OMP_NUM_THREADS=1 "$runner"
stack "a limit allows only one" "1 thread bound one a core" env OMP_NUM_THREADS=2 OMP_THREAD_LIMIT=1 "$runner"
try 3 "too many" "$runner" --info --threads 4096
one_line
says err "at most"

cores=$("$runner" --info --json | sed 's/.*"threads":\([0-9]*\).*/\1/')
if [ "$cores" -ge 2 ] && taskset -c 0 true 2>/dev/null; then
    stack "a mask of one CPU" "1 thread bound one a core" taskset -c 0 "$runner"
    stack "two on one CPU" "2 threads bound to 1 core" taskset -c 0 "$runner" --threads 2
    stack "a shell that binds" "$cores threads bound one a core" env OMP_PROC_BIND=close "$runner"
    stack "and names places" "$cores threads bound one a core" env OMP_PROC_BIND=close OMP_PLACES=cores "$runner"
    stack "a shell that lets their number float" "$cores threads bound one a core" env OMP_DYNAMIC=true "$runner"
    stack "one that does not bind" "$cores threads unbound" env OMP_PROC_BIND=false "$runner"
fi

# --- one and two ---
db=$work/threads.db
json() { python3 -c "import json,sys; d=json.load(open('$work/out')); sys.exit(0 if $1 else 1)"; ok $? "$1"; }
printf 'threads: 1\n' >"$work/one.yaml"
try 0 "bench with one, by the configuration" "$BENANZA" bench --json -q --db "$db" --budget 2 -c "$work/one.yaml" "$tiny"
try 0 "its bound" "$BENANZA" bound --json --db "$db" --threads 1 "$tiny"
json "d['complete'] and '1 thread ' in d['device']['stack']"
one=$(sed 's/.*"bound_ns": *\([0-9.]*\).*/\1/' "$work/out")
try 1 "nothing of it is known of two" "$BENANZA" bound --json --db "$db" --threads 2 "$tiny"
json "d['coverage']['measured'] == 0 and not d['complete']"
# --- two threads: several models, one runner; what it was asked is kept for the order below ---
printf 'runners:\n  cpu: [sh, -c, "echo started >>%s; tee -a %s | %s"]\n' "$work/starts" "$work/asked" "$runner" \
    >"$work/counted.yaml"
cp "$tiny" "$work/twin.onnx"
cp "$tiny" "$work/spoiled.onnx"
echo 'dims: [nothing' >"$work/spoiled.yaml"
several() { "$BENANZA" bench --json -q --db "$db" --budget 1 --threads 2 -c "$work/counted.yaml" "$@"; }
try 2 "a model, none, one whose sizes cannot be read, and the model again" \
    several "$tiny" "$work/none.onnx" "$work/spoiled.onnx" "$work/twin.onnx"
says err "none.onnx"
says err "spoiled.yaml"
json "d['measured'] > 0 and d['measured'] == d['already'] and d['problems'] == 2 * d['measured'] and d['peaks'] > 0"
[ "$(wc -l <"$work/starts")" -eq 1 ]
ok $? "one runner for all"
cp "$work/asked" "$work/asked_first"
try 0 "the bound of two" "$BENANZA" bound --json --db "$db" --threads 2 "$tiny"
json "d['complete'] and '2 threads ' in d['device']['stack']"
try 0 "the bound of one" "$BENANZA" bound --json --db "$db" --threads 1 "$tiny"
[ "$(sed 's/.*"bound_ns": *\([0-9.]*\).*/\1/' "$work/out")" = "$one" ]
ok $? "is what it was"
try 0 "the explorer" "$BENANZA" "$tiny" --db "$db" --threads 1 --frame 120x30
says out "1 thread"
try 0 "and with two" "$BENANZA" "$tiny" --db "$db" --threads 2 --frame 120x30
says out "2 threads"
try 0 "and all of it again" several --again "$tiny" "$work/twin.onnx"
json "d['measured'] == d['problems'] and d['already'] == 0"
[ "$(wc -l <"$work/starts")" -eq 2 ]
ok $? "and one more for this"
# --- in which order ---
"$BENANZA" bench --emit-jobs -d cpu --db "$work/none.db" "$tiny" >"$work/jobs"
python3 - "$work/asked_first" "$work/jobs" <<'END'
import json, sys
def problems(path):
    jobs = [json.loads(line) for line in open(path)]
    return list(dict.fromkeys(job["problem"] for job in jobs if job["type"] == "run"))
asked, jobs = map(problems, sys.argv[1:])
both = set(asked) & set(jobs)
mine = [p for p in asked if p in both and not p.startswith("copy:u8")]
sys.exit(0 if len(mine) > 5 and mine == [p for p in jobs if p in mine] and mine != sorted(mine) else 1)
END
ok $? "the most valuable first, as jobs for elsewhere are"
# --- on a machine that was not quiet ---
"$BENANZA" db export --db "$db" | sed 's/"stop":"[a-z]*"/"stop":"converged"/' >"$work/quiet.jsonl"
problem=$(grep -m1 '"problem":"conv:' "$work/quiet.jsonl" | sed 's/.*"problem":"\([^"]*\)".*/\1/')
while IFS= read -r line; do
	case $line in *"\"problem\":\"$problem\""*) line=$(echo "$line" | sed 's/"converged"/"disturbed"/') ;; esac
	echo "$line"
done <"$work/quiet.jsonl" >"$work/shaky.jsonl"
try 0 "an import" "$BENANZA" db import -q --db "$work/shaky.db" "$work/shaky.jsonl"
shaky() { "$BENANZA" bench --json -q --db "$work/shaky.db" --budget 1 --threads 2 -c "$work/counted.yaml" "$@"; }
try 0 "bench says what is shaky" shaky "$tiny"
json "d['measured'] == 0 and d['already'] == d['problems'] and d['shaky'] == 1"
try 0 "and measures that again when asked to" shaky --shaky "$tiny"
json "d['measured'] == 1 and d['already'] == d['problems'] - 1"
# --- benanza is killed while its runner is stopped ---
printf 'runners:\n  cpu: [sh, -c, "echo $$ >%s; exec %s"]\n' "$work/runner.pid" "$runner" >"$work/stopped.yaml"
"$BENANZA" bench -q --db "$work/stopped.db" --budget 60000 -c "$work/stopped.yaml" "$tiny" >"$work/out" 2>"$work/err" &
bench=$!
while kill -0 $bench 2>/dev/null && [ ! -s "$work/runner.pid" ]; do :; done
stopped=$(cat "$work/runner.pid")
kill -STOP "$stopped"
kill -9 $bench
wait $bench 2>/dev/null
# gone, or a zombie that nobody reaps
timeout 120 sh -c "while grep -q '^State:[[:space:]]*[^ZX]' /proc/$stopped/status 2>/dev/null; do :; done"
ok $? "a stopped runner does not outlive the benanza that was killed"
kill -9 "$stopped" 2>/dev/null

# --- everything from memory ---
try 2 "an unknown state" "$BENANZA" bench --caches net,hot "$tiny"
one_line
try 2 "without what bounds stand on" "$BENANZA" bench --caches cold "$tiny"
one_line
try 0 "cold, too: known problems are measured again" "$BENANZA" bench --json -q --db "$db" --budget 2 --threads 2 \
    --caches net,cold "$tiny"
json "d['already'] == 0 and d['measured'] == d['problems']"
try 0 "export" "$BENANZA" db export --db "$db"
llc=$("$runner" --info --json | sed 's/.*"llc_bytes":\([0-9]*\).*/\1/')
if [ "${llc:-0}" -gt 0 ] && [ "$llc" -lt 64000000 ]; then
    grep -q '"problem":"conv:.*"status":"ok","cache":"cold"' "$work/out"
    ok $? "has cold results"
    "$BENANZA" "$tiny" --db "$db" --threads 2 --frame 140x200 --view layers --keys Enter >"$work/out" 2>"$work/err"
    says out "cold, isolated"
fi
try 0 "devices tell them apart" "$BENANZA" devices --json --db "$db"
json "sorted(r['stack'].count('2 threads') for r in d['recorded'] if r['id']) == [0, 1]"
done_testing
