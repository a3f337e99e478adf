#!/bin/sh
# compare --try: moves tried on an agent that answers each in another way (fake_agent.py, MOVES), beside a
# bound with fixed costs.
. "${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
unset BENANZA_DATA || :
cd "$work" || exit 1
cp "$top/tests/models/tiny.onnx" . # its path is as long wherever the tests lie
tiny=tiny.onnx
config() { # FILE THREADS
    cat >"$1" <<Y
device: word
runners:
    word: [sh, "$top/tests/lib/word_runner.sh", "Word 1", "words 1, $2, strict", "${2%% *}"]
agents:
    tries: [python3, "$top/tests/lib/fake_agent.py", tries]
    old: [python3, "$top/tests/lib/fake_agent.py", good]
    hangs: [python3, "$top/tests/lib/fake_agent.py", dies]
Y
}
config config.yaml "2 threads"
config one.yaml "1 thread"
FAKE_AGENT_MODEL="Word 1"
export FAKE_AGENT_MODEL
bz() { command=$1; shift; "$BENANZA" "$command" -c config.yaml --db t.db "$@" "$tiny"; }
json() { python3 -c "
import json
d = json.loads(open('$work/out').readline())
t = {m['move']: m for m in d['tried']}
assert $1, d['tried']"; ok $? "$2"; }
try 0 "bench" bz bench -q -b 1,8 -t f32,bf16
try 0 "bench of one thread" env WORD_NS=1500 "$BENANZA" bench -c one.yaml --db t.db -q "$tiny"
bound() {
    bz bound --json "$@" | python3 -c "import json; print(json.loads(input())['bound_ns'])"
}
f32=$(bound) bf16=$(bound -t bf16) eight=$(bound -b 8)

try 0 "measured moves" bz compare --run tries --try=level=extended,level=basic,threads=8,bf16 --json
json "list(t) == ['level=extended', 'level=basic', 'threads=8', 'bf16']" "each in its order"
json "all(m['status'] == 'ok' and m['rounds'] == 20 for m in t.values())" "were measured"
json "[t[k]['significant'] for k in t] == [True, True, False, True]" \
    "significant: the interval excludes 0.95 to 1.05"
json "t['bf16']['gain_interval'] == [1.9, 2.1] and t['bf16']['output_error'] == 2.5e-3" "gain and error"
json "t['bf16']['base_ns'] == 1e6 and t['bf16']['measured_ns'] == 5e5" "both sides"
json "abs(t['bf16']['predicted_gain'] - $f32 / $bf16) < 1e-9" "a type: the ratio of the bounds"
json "t['level=extended']['predicted_gain'] is None" "unknown is null"
json "'\x1b' not in t['bf16']['with'] and '\n' not in t['bf16']['with']" "what made it is cleaned"
json "d['measured_ns'] == 1e6 and d['interval_ns'] == [990000, 1010000]" "the unchanged execution"
json "'layout of convolutions' in t['level=extended']['unpredicted']" "... with the reason"
json "t['level=basic']['predicted_gain'] is None and not t['level=basic']['predicted_estimated']" \
    "a level that also changes the layout of convolutions has no prediction"
json "'layout of convolutions' in t['level=basic']['unpredicted']" "... with the reason"
json "t['bf16']['unpredicted'] is None" "no reason where there is a prediction"

# without convolutions
dense=$top/tests/models/dense.onnx
cp t.db dense.db
try 0 "bench without convolutions" "$BENANZA" bench -q -c config.yaml --db dense.db "$dense"
try 0 "levels without convolutions" "$BENANZA" compare -c config.yaml --db dense.db --run tries \
    --try=level --json "$dense"
json "'only basic and none' in t['level=extended']['unpredicted']" "extended is not predicted"
python3 - <<'PY'
import json
d = json.loads(open("out").readline())
saves = -[g["ns"] for g in d["gaps"] if g["kind"] == "fusion"][0]
got = [m for m in d["tried"] if m["move"] == "level=basic"][0]
assert saves > 0 and got["predicted_estimated"], d["gaps"]
assert abs(got["predicted_gain"] - 1e6 / (1e6 + saves)) < 1e-9, (got, saves)
PY
ok $? "levels that do not fuse lose the gap fusion"

try 0 "as text" "$BENANZA" compare -c config.yaml --db dense.db --run tries --try=level,batch "$dense"
says out "not predicted  level=extended: the bound predicts only basic and none"
says out "               batch=8 is not measured: benanza bench -b 8 MODEL"

try 0 "another batch" bz compare --run tries --try=batch --json
json "list(t) == ['batch=8'] and t['batch=8']['batch'] == 8" "8 is proposed"
json "abs(t['batch=8']['predicted_gain'] - 8 * $f32 / $eight) < 1e-9" "bounds are compared per item"
json "t['batch=8']['predicted_at_most'] == min(t['batch=8']['predicted_gain'], 8 * 1e6 / $eight)" \
    "... and limit what a batch gains, from the execution if that is faster than its bound"
try 0 "pages" bz compare --run tries --try=pages --json
json "list(t) == ['pages=2m'] and t['pages=2m']['with'] == 'huge'" "2m is proposed"
json "t['pages=2m']['significant'] and t['pages=2m']['predicted_gain'] is None" "without a prediction"
json "'bench -w pages=2m' in t['pages=2m']['unpredicted']" "... with the reason"
try 0 "pages, as text" bz compare --run tries --try=pages,bf16
says out "made with      pages=2m: huge"
says out "               bf16: ?[31mred?line ?? long"
says out "not predicted  pages=2m: the bound in pages of 2 MiB is not measured"
cp t.db other.db
try 0 "a bound of another device" env FAKE_AGENT_MODEL="Other 2" \
    "$BENANZA" compare -c config.yaml --db other.db --run tries --try=batch,level=basic --json "$tiny"
json "[t[k]['predicted_gain'] for k in t] == [None, None]" "predicts nothing"
json "all('another device' in t[k]['unpredicted'] for k in t)" "... and says why"
try 0 "several requests at a time" bz compare --run tries --try=bf16 --requests 4 --agent-option k=v --json
json "t['bf16']['predicted_gain'] is None and 'one request' in t['bf16']['unpredicted']" "predict nothing"
json "t['bf16']['gain'] == 2" "but are tried"
"$BENANZA" db export --db t.db | grep '"try":"bf16"' | tail -1 >out
says out '"requests":4'
says out '"options":{"k":"v"}'
try 1 "the request of a batch" bz compare --run tries --try=batch=3 --json
json "'\"batch\": 3' in t['batch=3']['why'] and '[3, 3, 32, 32]' in t['batch=3']['why']" \
    "has its inputs"
json "t['batch=3']['status'] == 'failed'" "a failed move is a gap: exit status 1"
json "not t['batch=3']['why'].startswith('failed')" "the status is not repeated in the reason"
try 1 "the request of a level" bz compare --run tries --try=level=none --json
json "'{\"move\": \"level=none\", \"level\": \"none\"}' in t['level=none']['why']" "has the level only"

# refused, never a gain
refused() { # MOVE WHY
    try 0 "$1" bz compare --run tries --try="$1" --json
    json "t['$1']['status'] == 'refused' and '$2' in t['$1']['why']" "is refused: $2"
    json "t['$1']['gain'] is None and t['$1']['measured_ns'] is None" "without a gain"
}
refused threads=1 "its outputs are NaN or infinite"
json "abs(t['threads=1']['predicted_gain'] - 1 / 1.5) < 1e-9" "predicted from the records of one thread"
refused threads=9 "output 1 has 3 values that are NaN"
refused threads=5 "has a time above 1e15 ns"
unavailable() { # AGENT MOVE WHY
    try 1 "$2" bz compare --run "$1" --try="$2" --json
    json "t['$2']['status'] == 'unavailable' and '$3' in t['$2']['why']" "is not available: $3"
}
unavailable tries threads=6 "the agent does not compare outputs of both sides"
unavailable old threads=7 "the agent does not compare outputs of both sides"
unavailable tries f16 "?[31mred?line ?? long"
for lie in 3 4; do
    try 1 "a lie" bz compare --run tries --try=threads=$lie --json
    json "t['threads=$lie']['status'] == 'failed'" "fails"
    json "'invalid message' in t['threads=$lie']['why']" "... with the reason"
done
try 1 "a converter that fails" bz compare --run tries --try=int8
says out "int8                     -  failed: the agent tries failed: the converter"

# every move, as text
try 1 "--try alone" bz compare --run tries --try
says out "move             predicted     gain  interval         per item    error  verdict"
says out "level=extended           -    1.25x  1.20 to 1.30       800 us  2.5e-03  faster"
says out "0.50x  0.45 to 0.55      2.00 ms  2.5e-03  slower"
says out "f16                      -  not available here: ?[31mred?line ?? long"
says out "provider=evil?[3"
says out "refused: its outputs are NaN or infinite"
says out "batch=8"
[ "$(awk 'length($0) > 80' out | grep -cv '^bound of')" -eq 0 ]; ok $? "80 columns"
! grep -q "$(printf '\033')" out; ok $? "no escape sequence"
try 0 "unavailable moves that were not named" bz compare --run old --try
[ "$(grep -c 'not available here: the agent does not compare' out)" -eq 7 ]; ok $? "are no gap: exit status 0"
try 1 "a prediction without measurements" bz compare --run tries --try=bf16 -b 3
says out "bf16                     -    2.00x"
says out "not predicted  bf16: the bound has gaps: benanza bench MODEL"

# moves that change nothing
try 1 "no change" bz compare --run tries --try=level=all,threads=2,batch=1,batch=1 --json
json "len(t) == 3 and all(m['status'] == 'unavailable' for m in d['tried'])" "is not measured"
json "len(d['tried']) == 3" "a repeated move counts once"
json "'has the level all already' in t['level=all']['why']" "and says why"

# kept, and apart from the unchanged executions
rm t.db*
try 0 "bench" bz bench -q
try 0 "moves" bz compare -q --run tries --try=level=extended,threads=9,batch=8
python3 - <<'PY'
import json, sqlite3
rows = sqlite3.connect("t.db").execute("SELECT settings, batch FROM execution ORDER BY id").fetchall()
tried = [json.loads(s)["request"].get("try") for s, _ in rows]
assert tried == [None, "level=extended", "batch=8"], tried  # the refused one is not stored
assert [b for _, b in rows] == [1, 1, 8] and json.loads(rows[1][0])["request"]["level"] == "extended", rows
PY
ok $? "executions of moves are stored with their settings"
try 0 "compare" bz compare --json
python3 -c "
import json
d = [json.loads(line) for line in open('out')]
assert [e['measured_ns'] for e in d] == [1e6], d"
ok $? "has the unchanged one only"
try 0 "bound" bz bound --json
python3 -c "
import json
d = json.loads(open('out').readline())
assert d['contradicted']['executions'] == 1, d['contradicted']"
ok $? "... too"
try 0 "bench --agents" bz bench --agents=tries --json
python3 -c "import json; assert json.loads(open('out').readlines()[-1])['executions'][0]['already']"
ok $? "knows the unchanged one"

# wrong lists
wrong() { # LIST TEXT
    try 2 "--try=$1" bz compare --run tries "--try=$1"
    one_line
    says err "$2"
}
wrong levle "unknown move 'levle'; did you mean level?; use level, threads, provider, batch, pages, f16"
wrong nonsense "unknown move 'nonsense'; use level"
wrong level=5 "level=5: not all, extended, basic or none"
wrong threads=0 "threads=0: not a number from 1 to 512"
wrong batch=99999999999999999999 "not a number from 1 to 65536"
wrong provider= "provider=: not the name"
wrong pages=4k "pages=4k: not 2m"
wrong f16=1 "the move f16 takes no value"
wrong level,, "has an empty item: remove the comma"
try 2 "with --csv" bz compare --run tries --try --csv
one_line
done_testing
