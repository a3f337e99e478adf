#!/bin/sh
# Measuring through the whole program, from the real runner to the screen: a model and the device's peaks,
# threads (how many, bound to what, numbers of one and of two never meet in a bound), cache states, batches.
# All numbers are of one thread where that is enough: two wait for each other on a busy machine. What needs no
# real numbers is in tests/cli/bench.sh.
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

# --- one thread: a model with the device's peaks; two: another model. All further peaks are told ---
db=$work/threads.db
# The problems of the bound in $work/out whose costs another state or result contradicts: bench repeats them.
doubts() { python3 -c "import json; d=json.load(open('$work/out')); \
    print(len({l['problem'] for l in d['layers'] if l.get('capped') or l.get('disputed')}))"; }
# Noisy results, too, may be measured again: how many there are depends on the load of the machine.
only_doubtful() {
    json "d['already'] + d['measured'] == d['problems'] and 0 <= d['measured'] - $doubtful <= d['shaky']"
}
json() { python3 -c "import json,sys; d=json.load(open('$work/out')); sys.exit(0 if $1 else 1)"; ok $? "$1"; }
rows=$top/tests/models/rows.onnx
printf 'threads: 1\n' >"$work/one.yaml"
printf 'runners:\n  cpu: [sh, "%s", "%s"]\n' "$top/tests/lib/peaks_runner.sh" "$runner" >"$work/told.yaml"
try 0 "bench with one, by the configuration" "$BENANZA" bench --json -q --db "$db" --budget 2 -c "$work/one.yaml" "$tiny"
json "d['measured'] == d['problems'] > 10 and d['peaks'] > 3 and d['peaks_s'] > 0"
python3 -c "
import sqlite3, sys
most, = sqlite3.connect('$db').execute('select max(c) from (select count(*) c from result'
    ' group by problem, algorithm, cache, launch)').fetchone()
sys.exit(most < 3)"
ok $? "what matters is measured at three times"
try 0 "its bound" "$BENANZA" bound --json --db "$db" --threads 1 "$tiny"
json "d['complete'] and d['bound_ns'] > 0 and '1 thread ' in d['device']['stack']"
json "all(l['cost_ns'] > 0 for l in d['layers'] if l['origin'] == 'measured')"
json "all(l['bound_by'] or l['bound_by_why'] for l in d['layers'])" # noisy peaks limit nothing
doubtful=$(doubts)
one=$(sed 's/.*"bound_ns": *\([0-9.]*\).*/\1/' "$work/out")
told() { "$BENANZA" bench --json -q --db "$db" --budget 1 -c "$work/told.yaml" "$@"; }
try 0 "bench again measures only what is doubtful" told --threads 1 "$tiny"
only_doubtful
try 1 "nothing of it is known of two" "$BENANZA" bound --json --db "$db" --threads 2 "$tiny"
json "d['coverage']['measured'] == 0 and not d['complete']"
try 0 "bench with two" told --threads 2 "$rows"
json "d['measured'] == d['problems'] > 0"
try 0 "the bound of two" "$BENANZA" bound --json --db "$db" --threads 2 "$rows"
json "d['complete'] and '2 threads ' in d['device']['stack']"
try 1 "nothing of that is known of one" "$BENANZA" bound --json --db "$db" --threads 1 "$rows"
json "d['coverage']['measured'] == 0 and not d['complete']"
try 0 "bench with two of the model that one has measured" told --threads 2 "$tiny"
json "d['measured'] > 0 and d['already'] == 0"
try 0 "the bound of one" "$BENANZA" bound --json --db "$db" --threads 1 "$tiny"
[ "$(sed 's/.*"bound_ns": *\([0-9.]*\).*/\1/' "$work/out")" = "$one" ]
ok $? "is what it was"
try 0 "the explorer" "$BENANZA" "$tiny" --db "$db" --threads 1 --frame 120x30
says out "1 thread"
try 0 "and with two" "$BENANZA" "$rows" --db "$db" --threads 2 --frame 120x30
says out "2 threads"
try 0 "devices tell them apart" "$BENANZA" devices --json --db "$db"
json "sorted(r['stack'].count('2 threads') for r in d['recorded'] if r['id']) == [0, 1]"

# --- as a batch ---
cpu=$work/cpu.db
export OMP_NUM_THREADS=1
"$BENANZA" bench -q --emit-jobs --budget-ms 1 "$rows" | grep -v '"copy:\|m8192\|k4096' >"$work/jobs.cpu"
"$runner" <"$work/jobs.cpu" >"$work/results.cpu" 2>/dev/null
ok $? "the CPU runner takes the jobs"
try 0 "import of what it measured" "$BENANZA" db import --json --db "$cpu" "$work/results.cpu"
json "d['finished'] == $(wc -l <"$work/jobs.cpu") > 0 and d['left_out'] == 0"
try 0 "its bound" "$BENANZA" bound --json --db "$cpu" --threads 1 "$rows"
doubtful=$(doubts)
try 0 "bench then measures only what is doubtful" \
    "$BENANZA" bench --json -q --db "$cpu" -c "$work/told.yaml" "$rows"
only_doubtful
try 0 "export" sh -c "'$BENANZA' db export --db '$cpu' >'$work/cpu.jsonl'"
try 0 "and import of real results" "$BENANZA" db import -q --db "$work/cpu2.db" "$work/cpu.jsonl"
"$BENANZA" db export --db "$work/cpu2.db" | cmp -s - "$work/cpu.jsonl"; ok $? "keep every digit"
try 0 "which are sound" "$BENANZA" db check --db "$work/cpu2.db"
unset OMP_NUM_THREADS

# --- everything from memory, where caches are small enough ---
llc=$("$runner" --info --json | sed 's/.*"llc_bytes":\([0-9]*\).*/\1/')
if [ "${llc:-0}" -gt 0 ] && [ "$llc" -lt 64000000 ]; then
    try 0 "cold, too: known problems are measured again" told --threads 1 --caches net,cold "$tiny"
    json "d['already'] == 0 and d['measured'] == d['problems']"
    try 0 "export" "$BENANZA" db export --db "$db"
    grep -q '"problem":"conv:.*"status":"ok","cache":"cold"' "$work/out"
    ok $? "has cold results"
    "$BENANZA" "$tiny" --db "$db" --threads 1 --frame 140x200 --view layers --keys Enter >"$work/out" 2>"$work/err"
    says out "cold, isolated"
fi
done_testing
