#!/bin/sh
# Contradictions are measured again in turn: the agent, the layers, the agent. A stand-in's runs differ as
# FAKE_AGENT_TURN says (us of the layer left2 and what is fused with it: 84 us in the bound).
. "${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
tiny=$top/tests/models/tiny.onnx
cd "$work" || exit 1
FAKE_AGENT_MODEL="Word 1" FAKE_AGENT_THREADS=2 FAKE_AGENT_RUNS=$work/runs
export FAKE_AGENT_MODEL FAKE_AGENT_THREADS FAKE_AGENT_RUNS
cat >config.yaml <<Y
device: word
runners:
    word: [sh, "$top/tests/lib/word_runner.sh", "Word 1", "words 1", "2"]
agents:
    fake: [python3, "$top/tests/lib/fake_agent.py", turn]
Y
json() { python3 -c "
import json
d = json.loads(open('$work/out').readline())
assert $1, d"; ok $? "$2"; }
bz() { "$BENANZA" "$@" -c config.yaml --db t.db "$tiny"; }
fresh() { # WORDS: what the runs do; the database has the bench only
    rm -f t.db* runs
    cp bench.db t.db
    FAKE_AGENT_TURN=$1
    export FAKE_AGENT_TURN
}
runs() { [ "$(cat runs)" = "$1" ]; ok $? "runs of the model: $1"; }
try 0 "bench" bz bench -q
mv t.db bench.db
sleep 1 # dates have seconds: the runs are after the bench

fresh "50 50"
try 0 "a layer that stays faster" bz compare --run fake --json
says err "benanza: fake is faster than the bound: measuring 5 problems and the model again"
runs xx
json "[len(d['contradicted']), d['not_measured_again'], d['not_confirmed']] == [1, 0, 0]" "is contradicted"
json "d['contradicted'][0]['measured_again'] and not d['bound_measured_again']" "... in turn"
python3 - <<'PY'
import sqlite3
db = sqlite3.connect("t.db")
counts = [n for n, in db.execute("SELECT count(*) FROM result GROUP BY problem")]
assert counts.count(8) == 5 and set(counts) == {4, 8}, counts
assert db.execute("SELECT count(*) FROM execution").fetchone() == (2,)
PY
ok $? "five problems have new results, and there are both executions"
try 0 "compare" bz compare --json
json "d['not_measured_again'] == 0 and d['contradicted'][0]['measured_again']" "finds that there"
try 0 "... as text" bz compare
says out "contradicted  1 group of layers faster than the bound: it is not a lower bound there"
try 0 "bound" bz bound --json
json "d['contradicted']['layers'] > 0 and d['contradicted']['not_measured_again'] == 0" "... too"
sleep 1
try 0 "after bench --again" bz bench -q --again
try 0 "compare" bz compare --json
json "d['not_measured_again'] == 1 and not d['contradicted'][0]['measured_again']" "... is open again"

fresh "50 200"
try 0 "a layer that was faster once" bz compare --run fake --json
runs xx
json "[d['contradicted'], d['not_measured_again'], d['not_confirmed']] == [[], 0, 1]" "is not confirmed"
json "[g['doubt'] for g in d['layers']] == ['not confirmed when measured again']" "... with the reason"
try 0 "compare" bz compare
says out "faster        1 group of layers faster than the bound; not contradicted:"
says out "1 faster group not confirmed when measured again: no contradiction"

fresh "50 50"
WORD_NS=100 try 0 "a bound that was too slow" bz compare --run fake --json
json "[d['contradicted'], d['not_confirmed']] == [[], 1]" "is not contradicted either"

fresh "200 50"
try 0 "a layer that is not faster" bz compare --run fake --json
runs x
json "d['contradicted'] == [] and d['not_confirmed'] == 0" "is not measured again"
FAKE_AGENT_NS=1e5 try 0 "a model that is faster as a whole" bz compare --run fake --json
says err "measuring 15 problems and the model again"
json "d['bound_contradicted'] and d['bound_measured_again']" "is measured again as a whole"
try 0 "compare" bz compare
says out "contradicted  the whole model is faster than the bound: it is not a lower bound"
fresh "200 failed"
FAKE_AGENT_NS=1e5 try 1 "a second run that fails" bz compare --run fake
says out "contradicted  the whole model is faster than the bound, not measured again yet"
[ "$(grep -c 'compare --run fake MODEL' out)" -eq 1 ]; ok $? "with the fix, once"

# what cannot be measured again
fresh "50 dies"
try 1 "a second run that fails" bz compare --run fake
says err "killed by signal 9"
says err "the report uses the first run"
says out "contradicted  1 group of layers faster than the bound, not measured again yet"
says out "              benanza compare --run fake MODEL"
sed 's/"words 1", "2"/"words 1", "2", "conv:*r3s3*"/' config.yaml >refuses.yaml
fresh "50 50"
try 1 "a runner that refuses what it measured before" \
    "$BENANZA" compare -c refuses.yaml --db t.db --run fake "$tiny"
runs xx
says err "of 5 problems could not be measured again: conv:f32,f32.c,f32/f32:"
says err ": no such word"
says out "contradicted  1 group of layers faster than the bound, not measured again yet"
cp "$tiny" changed.onnx
fresh "50+ 50"
try 2 "a model that changes between the runs" \
    "$BENANZA" compare -c config.yaml --db t.db --run fake changed.onnx
runs x
says err "changed.onnx: the file changed after it was opened; open it again; the report uses the first run"
says out "not measured again yet"
fresh "50 slow"
"$BENANZA" compare -c config.yaml --db t.db --run fake --json "$tiny" >out 2>err &
pid=$!
while [ "$(cat runs 2>/dev/null)" != xx ]; do sleep 0.1; done
sleep 0.5
kill -INT $pid
wait $pid
[ $? -eq 1 ]; ok $? "Ctrl-C ends the second run: exit status 1"
says err "interrupted; the report uses the first run"
json "d['not_measured_again'] == 1" "the judgement is open"
fresh "50 50"
sed '/^runners/,/word:/d; s/^device:.*/device: lex/' config.yaml >recorded.yaml
try 0 "a device without a runner" "$BENANZA" compare -c recorded.yaml --db t.db --run fake -d lex "$tiny"
runs x
says out "no runner of the bound's device is configured here"
"$BENANZA" db export --db t.db | sed 's/"source":"agent"/"source":"onnxruntime"/' >file.jsonl
fresh ""
try 0 "a file's execution" "$BENANZA" db import -q --db t.db file.jsonl
try 0 "compare" bz compare
says out "a file cannot be run again: benanza compare --run AGENT MODEL"
done_testing
