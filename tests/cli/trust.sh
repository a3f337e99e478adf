#!/bin/sh
# The line "trust" of bound, its JSON, and the explorer's: fixed costs, of which some are noisy, unsupported,
# estimated or contradicted by an execution.
. "${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
tiny=$top/tests/models/tiny.onnx
cd "$work" || exit 1
cat >config.yaml <<Y
runners:
    lex: [sh, "$top/tests/lib/word_runner.sh", "Word 1", "words 1", "2"]
    dull: [sh, "$top/tests/lib/word_runner.sh", "Word 2", "words 1", "2", "pool:*"]
Y
bz() { "$BENANZA" "$@" -c config.yaml; }
json() { python3 -c "
import json
d = json.loads(open('$work/out').readline())
t = d['trust']
assert $1, t"; ok $? "$2"; }
line() { # WORDS: the line below the total, in 80 columns
    [ "$(sed -n '/^lower bound/{n;p}' out)" = "trust         $1" ]; ok $? "trust: $1"
    sed -n '/^lower bound/{n;p}' out | awk 'length($0) > 80 { exit 1 }'; ok $? "... in 80 columns"
}

try 1 "bound of nothing" bz bound "$tiny" -d lex --db t.db
line "unknown: nothing is measured (bench)"
try 1 "... as JSON" bz bound "$tiny" -d lex --db t.db --json
json "(t['verdict'], set(t['shares'].values()), t['next']) == ('unknown', {None}, 'bench')" "has no shares"
json "t['missing'] == 11" "and the missing layers"

try 0 "bench" bz bench -q "$tiny" -d lex --db t.db
try 0 "bound" bz bound "$tiny" -d lex --db t.db
line "good: all measured; no real run yet (compare --run ort)"
try 0 "... as JSON" bz bound "$tiny" -d lex --db t.db --json
json "list(t) == ['verdict', 'text', 'shares', 'missing', 'unsupported', 'at_least', 'uncertainty', \
    'executions', 'contradicted_layers', 'contradicted_whole', 'contradicted_ns', 'contradicted_by', \
    'next']" \
    "the keys"
json "list(t['shares']) == ['measured', 'noisy', 'suspect', 'proxy', 'assumed', 'estimated']" "the shares"
json "t['text'] == 'good: all measured; no real run yet (compare --run ort)'" "the line"
json "(t['verdict'], t['shares']['measured'], t['executions']) == ('good', 1, 0)" "good"
json "t['next'] == 'compare --run ort'" "the next step"
try 0 "the explorer" bz --frame 80x24 "$tiny" -d lex --db t.db
[ "$(sed -n 3p out)" = " trust good: all measured; no real run yet (press e)" ]
ok $? "has it below the bound"
try 0 "a low screen" bz --frame 60x16 --view what-if --keys G "$tiny" -d lex --db t.db
says out " trust      good: all measured; no real run yet (press e)"
! grep -q '^ trust good' out; ok $? "has it among the figures only"

# noisy results: of the matmul of 57 us, then of everything
"$BENANZA" db export --db t.db >quiet.jsonl
python3 - <<'PY'
import json
for name in ("some", "all"):
    with open(name + ".jsonl", "w") as out:
        for one in map(json.loads, open("quiet.jsonl")):
            r = one.get("result", {})
            noisy = name == "all" or r.get("problem", "").startswith("matmul")
            if r.get("stats") and noisy:
                r["stats"]["stop"] = "disturbed"
                r["stats"]["lo_ns"] *= 0.9
                r["stats"]["hi_ns"] *= 1.5
            print(json.dumps(one), file=out)
PY
try 0 "import of some noisy results" bz db import -q some.jsonl --db some.db
try 0 "bound" bz bound "$tiny" -d lex --db some.db
line "fair: 10% noisy (bench --shaky); 90% measured; no real run yet"
try 0 "import of noisy results" bz db import -q all.jsonl --db all.db
try 0 "bound" bz bound "$tiny" -d lex --db all.db
line "low: 100% noisy (bench --shaky); between 511 us and 580 us"
try 0 "... as JSON" bz bound "$tiny" -d lex --db all.db --json
json "t['shares']['noisy'] == 1 and t['next'] == 'bench --shaky'" "low"
json "abs(t['uncertainty'] - 0.06) < 1e-3" "... by how much"
[ "$(python3 -c "import json; print(json.load(open('$work/out'))['more_samples'])")" = None ]
ok $? "6% is not wide"
python3 - <<'PY'
import json
for name in ("noisy", "far"):
    with open(name + ".jsonl", "w") as out:
        for one in map(json.loads, open("quiet.jsonl")):
            r = one.get("result", {})
            if r.get("stats"):
                s = r["stats"]
                s.update(spent_ns=2e9, min_ns=s["median_ns"] * 0.4, lo_ns=s["median_ns"] * 0.5)
                s["q1_ns"] = s["median_ns"]
                s["stop"] = "disturbed" if name == "noisy" else s["stop"]
                s["hi_ns"] *= 1 if name == "noisy" else 2
            print(json.dumps(one), file=out)
PY
for case in noisy:--shaky far:--again; do
    try 0 "import of wide results" bz db import -q "${case%:*}.jsonl" --db "${case%:*}.db"
    try 0 "bound" bz bound "$tiny" -d lex --db "${case%:*}.db"
    says out " wide: 8 problems need more samples on a quiet machine, ~64.0 s: benanza bench ${case#*:} MODEL"
    try 0 "... as JSON" bz bound "$tiny" -d lex --db "${case%:*}.db" --json
    python3 -c "
import json
o = json.load(open('$work/out'))
assert o['more_samples'] == {'problems': 8, 'spent_s': 64, 'command': 'bench ${case#*:}'}, o['more_samples']"
    ok $? "the same"
done
try 0 "a sweep of quiet results" bz sweep "$tiny" -d lex --db t.db
! grep -q noisy out; ok $? "says nothing of noise"
for db in some all; do
    try 0 "a sweep of noisy results" bz sweep "$tiny" -d lex --db $db.db
    says out "noisy: 1 of 1 were measured while other work disturbed the machine: bench --shaky"
    try 0 "... as JSON" bz sweep "$tiny" -d lex --db $db.db --json
    python3 -c "
import json
share = json.loads(open('out').readline())['noisy_share']
assert share == 1 if '$db' == 'all' else 0.05 < share < 0.2, share"
    ok $? "the share of $db"
done

# what the library refuses
try 1 "bench" bz bench -q "$tiny" -d dull --db t.db
try 1 "bound" bz bound "$tiny" -d dull --db t.db
line "partial: 1 layer unsupported; rest all measured; no real run yet"
try 1 "... as JSON" bz bound "$tiny" -d dull --db t.db --json
json "(t['verdict'], t['unsupported'], t['missing']) == ('partial', 1, 0)" "partial"

# a described device
try 0 "bound" bz bound "$tiny" -d a100 --db t.db
says out "trust         estimate: nothing measured; likely "
try 0 "... as JSON" bz bound "$tiny" -d a100 --db t.db --json
json "(t['verdict'], t['shares']['estimated'], t['next']) == ('estimate', 1, None)" "estimate"
json "t['uncertainty'] > 0" "it has a spread"
json "d['estimate_interval_ns'][0] < d['estimate_ns'] < d['estimate_interval_ns'][1]" "... that of its range"

# executions: left2 and what is fused with it in 200 us or 50 us; 84 us in the bound
execution() { # NAME US TOTAL
    python3 - "$tiny" "$@" <<'PY'
import hashlib, json, sys
path, name, us, total = sys.argv[1:]
ns = float(total) * 1000
print(json.dumps({"type": "execution", "id": 1, "execution": {
    "source": "agent", "framework": name, "version": "1", "provider": "CPU", "device": "Word 1",
    "dtype": "f32", "math": "strict", "model": "tiny",
    "model_hash": hashlib.sha256(open(path, "rb").read()).hexdigest(), "status": "ok",
    "measured_at": 1700000000, "batch": 1, "threads": 2,
    "stats": {"n": 20, "median_ns": ns, "lo_ns": ns, "hi_ns": ns, "stop": "converged"}}}))
layer = float(us) * 1000
print(json.dumps({"type": "row", "id": 1, "row": {
    "level": "layer", "name": "left2", "op": "Conv", "ns": layer,
    "lo_ns": layer - 1000, "hi_ns": layer + 1000}}))
print(json.dumps({"type": "done", "id": 1, "kind": "model", "payload": "tiny", "status": "ok"}))
PY
}
execution Slow 200 2000 >slow.jsonl
try 0 "import of a slow execution" bz db import -q slow.jsonl --db t.db
try 0 "bound" bz bound "$tiny" -d lex --db t.db
line "good: all measured; no real run contradicts it"
execution Quick 50 1500 >quick.jsonl
try 0 "import of one with a fast layer" bz db import -q quick.jsonl --db t.db
try 0 "bound" bz bound "$tiny" -d lex --db t.db
line "low: Quick ran 3 layers 34.0 us faster (compare); all measured"
try 0 "... as JSON" bz bound "$tiny" -d lex --db t.db --json
json "(t['executions'], t['contradicted_layers'], t['contradicted_whole']) == (2, 3, False)" "one of two"
json "(round(t['contradicted_ns']), t['contradicted_by']) == (34000, 'Quick')" "by what"
json "t['next'] == 'compare'" "the next step"
try 0 "compare" bz compare "$tiny" -d lex --db t.db
says out "trust         good: all measured; no real run contradicts it"
says out "trust         low: Quick ran 3 layers 34.0 us faster; all measured"
try 0 "the explorer" bz --frame 80x24 "$tiny" -d lex --db t.db
says out " trust low: Quick ran 3 layers 34.0 us faster (filter &contradicted)"
execution Whole 200 300 >whole.jsonl
try 0 "import of one that is faster as a whole" bz db import -q whole.jsonl --db t.db
try 0 "bound" bz bound "$tiny" -d lex --db t.db
line "low: frameworks ran the whole model 274 us faster (compare)"
try 0 "another batch" bz bench -q -b 2 "$tiny" -d lex --db t.db
try 0 "bound" bz bound -b 2 "$tiny" -d lex --db t.db
line "good: all measured; no real run yet (compare --run ort)"
done_testing
