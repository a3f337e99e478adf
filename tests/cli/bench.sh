#!/bin/sh
# bench over several models: one runner for all, in which order, what is noisy, what a runner that does not
# stop costs. The runner measures nothing.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/words.sh"
tiny=$models/tiny.onnx
json() { python3 -c "import json,sys; d=json.load(open('$work/out')); sys.exit(0 if $1 else 1)"; ok $? "$1"; }
# runs FILE COMMAND: a configuration of which each start adds a line to `starts`, and each message to `asked`
runs() {
    {
        echo "problem_limit_ms: 300"
        printf 'runners:\n  lex: [sh, -c, "echo started >>%s; tee -a %s | exec sh %s %s"]\n' "$work/starts" \
            "$work/asked" "$top/tests/lib/word_runner.sh" "'Word 1' 'words 1' 2 '' '$2'"
    } >"$1"
}
# started N NAME: so many runners since the last question
started() {
    [ "$(wc -l <"$work/starts")" -eq "$1" ] || echo "# $(wc -l <"$work/starts") starts, not $1"
    ok "$([ "$(wc -l <"$work/starts")" -eq "$1" ]; echo $?)" "$2"
    : >"$work/starts"
}
runs counted.yaml ""
several() { "$BENANZA" bench --json -q --db t.db --budget 1 --threads 2 -c counted.yaml -d lex "$@"; }

# --- several models, one runner ---
cp "$tiny" twin.onnx
cp "$tiny" spoiled.onnx
echo 'dims: [nothing' >spoiled.yaml
try 2 "a model, none, one whose sizes cannot be read, and the model again" \
    several "$tiny" none.onnx spoiled.onnx twin.onnx
says err "none.onnx"
says err "spoiled.yaml"
json "d['measured'] > 0 and d['measured'] == d['already'] and d['problems'] == 2 * d['measured'] and \
    d['peaks'] > 0"
started 1 "one runner for all"
grep '"type":"run"' asked >asked_first
try 0 "and all of it again" several --again "$tiny" twin.onnx
json "d['measured'] == d['problems'] and d['already'] == 0"
started 1 "and one more for this"

# --- in which order ---
"$BENANZA" bench --emit-jobs -d cpu --db none.db "$tiny" >jobs
python3 - asked_first jobs <<'END'
import json, sys
def problems(path):
    jobs = [json.loads(line) for line in open(path)]
    return list(dict.fromkeys(job["problem"] for job in jobs if job["type"] == "run"))
asked, jobs = map(problems, sys.argv[1:])
both = set(asked) & set(jobs)
mine = [p for p in asked if p in both and not p.startswith("copy:u8") and "k4096:" not in p]
sys.exit(0 if len(mine) > 5 and mine == [p for p in jobs if p in mine] and mine != sorted(mine) else 1)
END
ok $? "the most valuable first, as jobs for elsewhere are"

# --- on a machine that was not quiet ---
"$BENANZA" db export --db t.db >quiet.jsonl
problem=$(grep -m1 '"problem":"conv:' quiet.jsonl | sed 's/.*"problem":"\([^"]*\)".*/\1/')
sed "\\|\"problem\":\"$problem\"|s/\"converged\"/\"disturbed\"/" quiet.jsonl >shaky.jsonl
try 0 "an import" "$BENANZA" db import -q --db shaky.db shaky.jsonl
shaky() { "$BENANZA" bench --json -q --db shaky.db -c counted.yaml -d lex "$@"; }
try 0 "bench says what is shaky" shaky "$tiny"
json "d['measured'] == 0 and d['already'] == d['problems'] and d['shaky'] == 1"
try 0 "and measures that again when asked to" shaky --shaky "$tiny"
json "d['measured'] == 1 and d['already'] == d['problems'] - 1"

# --- cache states ---
try 2 "an unknown state" "$BENANZA" bench --caches net,hot "$tiny"
one_line
try 2 "without what bounds stand on" "$BENANZA" bench --caches cold "$tiny"
one_line
: >asked
try 0 "cold, too: known problems are measured again" several --caches net,cold "$tiny"
json "d['already'] == 0 and d['measured'] == d['problems']"
grep '"type":"run"' asked | grep -qv '"caches":\["net","cold"\]'
ok "$([ $? -eq 1 ]; echo $?)" "the runner is asked for these states only"

# --- a problem that is not done in time, and a runner that obeys no cancel meanwhile ---
runs hangs.yaml "[ -e $work/hung ] || { : >$work/hung; exec sleep 600; }"
: >starts
try 1 "its second problem holds the runner up" \
    "$BENANZA" bench --db t.db --threads 2 -c hangs.yaml -d lex -b 2 "$tiny"
started 2 "it is killed, and one more runner does the rest"
killed='timed out after 5.3 s: the runner did not stop and was killed'
grep -qE "^benanza: [a-z]+:f32.*: $killed\$" err
ok $? "bench says which problem it was, and why"
says out " 14 measured, 0 unsupported, 1 failed; "

# --- benanza is killed while its runner is stopped ---
cat >stopped.yaml <<Y
runners:
    lex: [sh, -c, "echo \$\$ >$work/runner.pid;
        exec sh $top/tests/lib/word_runner.sh 'Word 1' 'words 1' 2 '' 'exec sleep 600'"]
Y
"$BENANZA" bench -q --db stopped.db -c stopped.yaml -d lex "$tiny" >out 2>err &
bench=$!
while kill -0 $bench 2>/dev/null && [ ! -s runner.pid ]; do :; done
stopped=$(cat runner.pid)
kill -STOP "$stopped"
kill -9 $bench
wait $bench 2>/dev/null
# gone, or a zombie that nobody reaps
timeout 120 sh -c "while grep -q '^State:[[:space:]]*[^ZX]' /proc/$stopped/status 2>/dev/null; do :; done"
ok $? "a stopped runner does not outlive the benanza that was killed"
kill -9 "$stopped" 2>/dev/null
done_testing
