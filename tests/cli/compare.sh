#!/bin/sh
# benanza compare: a profile with fixed times beside a bound with fixed costs, so that the report is the same
# everywhere.
. "${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
. "$top/tests/lib/words.sh"
bz bench -q "$models/tiny.onnx" >out 2>err
ok $? "bench with fixed costs"

# Two runs of a profile of ONNX Runtime: Conv+BatchNormalization+Relu fused, nodes named by their outputs, a
# reorder added, a foreign node, Add and Relu not fused.
python3 - <<'PY'
import json
nodes = [("reorder", "ReorderInput", 5, "reorder_in"), ("stem_relu_out_nchwc", "Conv", 70, ""),
         ("left1_relu_out_nchwc", "Conv", 95, ""), ("left2", "Conv", 160, ""), ("right", "Conv", 85, ""),
         ("join", "Add", 45, ""), ("join_relu", "Relu", 30, ""), ("foreign", "Mystery", 7, "")]
events, ts = [], 0
def event(cat, name, dur, **args):
    events.append({"cat": cat, "pid": 1, "tid": 1, "dur": dur, "ts": ts, "ph": "X", "name": name,
                   "args": args})
event("Session", "session_initialization", 100)
for run in range(3):
    start = ts
    for i, (name, op, us, _) in enumerate(nodes):
        event("Node", name + "_kernel_time", us, op_name=op, node_index=str(i),
              provider="CPUExecutionProvider")
        ts += us
    end, ts = ts, start
    event("Session", "model_run", end - start + 3)
    ts = end + 10
json.dump(events, open("profile.json", "w"), separators=(",", ":"))
for e in events:
    if e["name"].startswith("left2"):
        e["dur"] = 130
json.dump(events, open("faster.json", "w"), separators=(",", ":"))
PY
"$BENANZA" layers --json "$models/tiny.onnx" >layers.json
python3 - <<'PY'
import json
layers = json.load(open("layers.json"))["layers"]
out = {l["name"]: l["outputs"][0]["name"] for l in layers}
for name in ("profile.json", "faster.json"):
    text = open(name).read()
    for l in ("stem_relu", "left1_relu"):
        text = text.replace(l + "_out_nchwc", out[l] + "_nchwc")
    open(name, "w").write(text)
PY

json() { python3 -c "
import json
d = [json.loads(l) for l in open('$work/out')]
assert $1, $1"; ok $? "$2"; }

unset COLUMNS
try 0 "text" bz compare "$models/tiny.onnx" profile.json --latency 0.52ms --ascii
grep -q ' 1  stem  *Conv+BatchNormalization+Relu  ' out; ok $? "operators are whole in a file"
export COLUMNS=80
try 0 "text for a terminal" bz compare "$models/tiny.onnx" profile.json --latency 0.52ms --ascii
unset COLUMNS
cp out golden.got
[ -z "${GOLDEN:-}" ] || cp golden.got "$top/tests/cli/compare.txt" # GOLDEN=1 writes it anew
diff "$top/tests/cli/compare.txt" golden.got >diff.txt; ok $? "the report"
[ ! -s diff.txt ] || sed 's/^/# /' diff.txt
[ "$(awk '{ if (length($0) > 80) n++ } END { print n + 0 }' golden.got)" = 0 ]; ok $? "... in 80 columns"

try 0 "JSON" bz compare "$models/tiny.onnx" profile.json --latency 0.52ms --json
cp out full.json
sum="abs(sum(g['ns'] for g in d[0]['gaps']) - (d[0]['measured_ns'] - d[0]['bound_ns'])) < 1e-3"
json "len(d) == 1 and $sum" \
    "the gaps add up to measured - bound"
kind="d[0]['gaps'][-1]['kind']"
json "[$kind, d[0]['measured_ns'], d[0]['measured_from']] == ['unexplained', 520000, 'latency']" \
    "the rest is unexplained"
json "abs(d[0]['benanza_ratio'] - d[0]['bound_ns'] / d[0]['measured_ns']) < 1e-9" "the ratio"
json "[(u['name'], u['ns']) for u in d[0]['unmatched']] == [('foreign', 7000)]" \
    "what does not match is listed"
json "[(u['name'], u['kind']) for u in d[0]['added']] == [('reorder', 'reorder')]" "and what was added"
json "[g['layers'] for g in d[0]['layers']][:2] == [[0, 1, 2], [3, 4]]" "fused layers"
json "d[0]['contradicted'] == [] and d[0]['faster'] == 2 and 'type' in d[0]['not_comparable']" \
    "faster layers of an unknown type contradict nothing"
try 0 "without --latency" bz compare "$models/tiny.onnx" profile.json --json
json "d[0]['measured_from'] == 'profiled' and d[0]['measured_ns'] == 500000" "the profiled runs count"
try 0 "fusion on" bz compare "$models/tiny.onnx" profile.json --latency 0.52ms --json -w fusion
json "{g['kind']: g['ns'] for g in d[0]['gaps']}.get('fusion', 0) >= 0" "missed fusion is not negative"
json "$sum" "... and the sum holds"
try 0 "a bare latency" bz compare "$models/tiny.onnx" --latency "2 ms" --json
json "[(g['kind'], g['ns']) for g in d[0]['gaps']] == [('unexplained', 2e6 - d[0]['bound_ns'])]" \
    "is unexplained as a whole"
try 0 "CSV" bz compare "$models/tiny.onnx" profile.json faster.json --csv
[ "$(wc -l <"$work/out")" -eq 17 ]; ok $? "a line a row, one header"
head -1 "$work/out" | grep -q ',layer_number,layer_name$' && grep -q ',8,join$' "$work/out"
ok $? "layers by their numbers and names"

try 0 "two executions" bz compare "$models/tiny.onnx" profile.json faster.json --json
json "len(d) == 2" "one object each"
try 0 "one against the other" bz compare "$models/tiny.onnx" profile.json faster.json --against --json
json "len(d) == 1 and d[0]['layers'][0]['index'] == 5 and d[0]['layers'][0]['difference_ns'] == -30000" \
    "the largest difference comes first"
json "d[0]['layers'][1]['difference_ns'] == 0 and not d[0]['layers'][1]['significant']" \
    "equal layers are not significant"
try 0 "as text" bz compare "$models/tiny.onnx" profile.json faster.json --against
says out "left2"

try 0 "a profile of another type" bz compare "$models/tiny.onnx" profile.json --latency 1ms
says out "what-ifs on: algorithm, launch"
says out "device of the profile is unknown"
sed -e 's/[a-z0-9_]*_kernel_time/foreign_kernel_time/g' -e 's/"op_name":"[A-Za-z]*"/"op_name":"Mystery"/g' \
    profile.json \
    >foreign.json
try 1 "a profile of another model" bz compare "$models/tiny.onnx" foreign.json
says out "not comparable: this profile seems to be of another model"
! grep -q '^ratio' out; ok $? "... has no ratio"
sed 's/"op_name":"Conv"/&,"input_type_shape":[{"float":[8,3,8,8]}]/g' profile.json >batch8.json
try 0 "a profile of another batch" bz compare -b 1 "$models/tiny.onnx" batch8.json
says out "not comparable: batch 8 against batch 1 (run benanza compare -b 8 ...)"
try 1 "its batch without -b" bz compare "$models/tiny.onnx" batch8.json
says out "models/tiny.onnx  batch 8"
! grep -q 'not comparable' out; ok $? "... is comparable"
python3 - <<'PY'
import json
events = json.load(open("profile.json"))
shape = json.load(open("layers.json"))["layers"][0]["inputs"][0]["shape"]
for e in events:
    if e["args"].get("op_name") == "Conv":
        own = [2] + shape[1:] if e["dur"] == 70 else [e["dur"], 9, 9, 9]
        e["args"]["input_type_shape"] = [{"float": own}, {"float": [7, 7]}]
json.dump(events, open("batch2.json", "w"))
PY
try 1 "that of the row that reads the input" bz compare "$models/tiny.onnx" batch2.json
says out "models/tiny.onnx  batch 2"
sed 's/"input_type_shape":/"other":/; s/input_type_shape/output_type_shape/g' batch8.json >none8.json
try 0 "a profile without shapes" bz compare "$models/tiny.onnx" none8.json
says out "models/tiny.onnx  batch 1"
try 0 "a bare latency as text" bz compare "$models/tiny.onnx" --latency 2ms
says out "latency given with --latency"
for case in 1ns:true 10us:true 2ms:false; do
    try 0 "a latency of ${case%:*}" bz compare "$models/tiny.onnx" --latency "${case%:*}" --json
    json "d[0]['bound_contradicted'] == (d[0]['measured_ns'] < d[0]['bound_interval_ns'][0]) and \
        d[0]['bound_contradicted'] == ('${case#*:}' == 'true') and d[0]['not_comparable'] is None" \
        "contradicts a measured bound that it is below"
done
try 0 "as text" bz compare "$models/tiny.onnx" --latency 10us
says out "contradicted  the whole model is faster than the bound"
says out "is it of this batch, type, device and number of threads? To run it here:"
try 0 "a profile's latency" bz compare "$models/tiny.onnx" none8.json --latency 10us --json
json "not d[0]['bound_contradicted']" "of an unknown type or device contradicts nothing"

try 0 "trace" bz compare -q "$models/tiny.onnx" profile.json --trace trace.json
python3 - <<'PY'
import json
events = json.load(open("trace.json"))["traceEvents"]
spans = [e for e in events if e["ph"] == "X"]
assert {e["pid"] for e in spans} == {1, 2}
assert [e["dur"] for e in spans if e["name"] == "left2" and e["pid"] == 1] == [160]
ends = [(e["ts"], e["ts"] + e["dur"]) for e in spans if e["pid"] == 2]
assert all(abs(a[1] - b[0]) < 1e-6 for a, b in zip(ends, ends[1:])), "the bound's layers follow each other"
PY
ok $? "the trace has both lines"

try 0 "a described device" "$BENANZA" compare "$models/tiny.onnx" profile.json -d a100 --db none.db --json
json "d[0]['estimated'] and d[0]['contradicted'] == []" "its costs are estimates, which nothing contradicts"
json "{g['kind'] for g in d[0]['gaps'] if not g['estimated']} <= {'reorder', 'pad', 'copy', 'other'}" \
    "and so are the gaps to them"
says out "CPUExecutionProvider against a GPU"
json "d[0]['benanza_ratio'] is None" "the CPU beside a GPU"
try 1 "without results" "$BENANZA" compare "$models/tiny.onnx" profile.json -c config.yaml --db none.db -d lex
says out "bound         unknown: no layer is measured"
says out "benanza bench"

# TensorRT's profile alone does not state its type
cat >trt.json <<J
[{"count": 10}, {"name": "stem", "timeMs": 0.7, "averageMs": 0.07, "medianMs": 0.07, "percentage": 100}]
J
try 0 "a profile of a GPU beside a CPU" bz compare "$models/tiny.onnx" trt.json
says out "not comparable: TensorRT against a CPU (choose a GPU with -d)"
! grep -q '^ratio' out; ok $? "... has no ratio"
gpu() { command=$1; shift; "$BENANZA" "$command" -c config.yaml --db none.db -d a100 "$@"; }
try 0 "a profile without its type" gpu compare "$models/tiny.onnx" trt.json
says out "              type of the profile is unknown: assumes f32; for f16: -t f16"
try 0 "in that type" gpu compare -t f16 "$models/tiny.onnx" trt.json
says out "              type of the profile is unknown: assumes f16"
! grep -q 'assumes f16;' out; ok $? "which needs no hint"
cat >trt_layers.json <<J
{"Layers": [{"Name": "stem", "LayerType": "Convolution", "TacticName": "sm80_f16",
    "Inputs": [{"Name": "x", "Dimensions": [1, 3, 32, 32], "Format/Datatype": "Row major linear FP16"}],
    "Outputs": []}]}
J
try 0 "with the layer information" gpu compare -t f32 "$models/tiny.onnx" trt.json trt_layers.json
says out "not comparable: f16 against f32 (run benanza compare -t f16 ...)"
try 0 "in its type" gpu compare "$models/tiny.onnx" trt.json trt_layers.json
says out "models/tiny.onnx  batch 1  f16"
! grep -q 'not comparable' out; ok $? "... it is comparable"
try 0 "again with -t f32" gpu compare -t f32 "$models/tiny.onnx" trt.json trt_layers.json
! grep -q 'type of the profile' out; ok $? "the type is known"

# a node that another provider ran, and names that break out of a text or a terminal
python3 - <<'PY'
import json
events = json.load(open("profile.json"))
for e in events:
    if e["cat"] == "Node":
        cpu = e["name"].startswith("join_relu")
        e["args"]["provider"] = "CPUExecutionProvider" if cpu else "CUDAExecutionProvider"
        if e["name"].startswith("foreign"):
            e["name"] = 'a"},{"ph":"X" \x1b[31m </script>\x07_kernel_time'
json.dump(events, open("placed.json", "w"), separators=(",", ":"))
PY
try 0 "another provider" bz compare "$models/tiny.onnx" placed.json --trace hostile.json
says out "other provider  1 group of layers, 30.0 us"
says out "CPUExecutionProvider"
! grep -q "$(printf '[\033\007]')" "$work/out"; ok $? "names cannot reach the terminal"
python3 - <<'PY'
import json
text = open("hostile.json").read()
assert not any(c in text for c in "\x1b\x07")
names = [e["name"] for e in json.loads(text)["traceEvents"]]
assert sum("</script>" in n for n in names) == 1, "one event, its name escaped"
PY
ok $? "... nor out of the trace"

# executions in the database: two of this model, one of another
python3 - "$models/tiny.onnx" >executions.jsonl <<'PY'
import hashlib, json, sys
own = hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest()
runs = [(own, "A", 1.0, 1700000000), (own, "A", 0.5, 1700000001), (own, "B", 2.0, 1700000000),
        ("0" * 64, "C", 1.0, 1700000000)]
for n, (digest, name, factor, date) in enumerate(runs):
    ns = 600000 * factor
    print(json.dumps({"type": "execution", "id": n, "execution": {
        "source": "agent", "framework": name, "version": "1", "provider": "CPU", "device": "Word 1",
        "dtype": "f32", "math": "strict", "model": "tiny", "model_hash": digest, "status": "ok",
        "measured_at": date, "batch": 1, "threads": 2,
        "stats": {"n": 20, "median_ns": ns, "lo_ns": ns, "hi_ns": ns, "stop": "converged"}}}))
    print(json.dumps({"type": "row", "id": n, "row": {
        "level": "layer", "name": "left2", "op": "Conv", "ns": 50000, "lo_ns": 49000, "hi_ns": 51000}}))
    print(json.dumps({"type": "done", "id": n, "kind": "model", "payload": "tiny", "status": "ok"}))
PY
try 0 "bound without executions" bz bound --json "$models/tiny.onnx"
json "d[0]['contradicted'] is None" "nothing is contradicted"
try 0 "import" bz db import -q executions.jsonl
try 0 "executions of the database" bz compare "$models/tiny.onnx" --json
json "sorted((e['agent']['name'], e['measured_ns']) for e in d) == [('A', 300000), ('B', 1200000)]" \
    "the newest of each, of this model"
json "[[c['index'] for c in e['contradicted']] for e in d] == [[5], [5]]" "a layer contradicts the bound"
json "{e['bound_contradicted'] for e in d} == {True, False}" "one does as a whole"
try 0 "bound with executions" bz bound --json "$models/tiny.onnx"
json "d[0]['contradicted'] == {'executions': 2, 'layers': 3, 'not_measured_again': 3, 'whole': 1}" \
    "counts what they contradict"
try 0 "... as text" bz bound "$models/tiny.onnx"
says out "contradicted  3 layers are faster in an execution than in the bound, and the model as a whole"
# a newer execution that contradicts nothing: bound, compare and the explorer count the same layers
cp "$work/t.db" all.db
all() { "$BENANZA" "$@" -c config.yaml --db all.db -d lex; }
sed -e 's/"framework": "[AB]"/"framework": "G"/' -e 's/"measured_at": [0-9]*/"measured_at": 1700000100/' \
    -e 's/"ns": 50000.*/"ns": 90000}}/' executions.jsonl >slow.jsonl
try 0 "import of a slow execution" all db import -q slow.jsonl
try 0 "compare of three" all compare "$models/tiny.onnx" --json
json "sorted({n for e in d for c in e['contradicted'] for n in c['layers']}) == [5, 7, 8] and len(d) == 3" \
    "two contradict layers"
try 0 "bound of three" all bound --json "$models/tiny.onnx"
json "[d[0]['contradicted'][k] for k in ('executions', 'layers', 'whole')] == [3, 3, 1]" "counts these layers"
try 0 "the explorer" all --frame 140x40 "$models/tiny.onnx"
says out "3 contradicted  G 1"
try 1 "another batch" bz bound --json -b 2 "$models/tiny.onnx"
json "d[0]['contradicted'] is None" "no execution ran it"
sed -e 's/"framework": "A"/"framework": "D"/' -e 's/"batch": 1/"inputs": ["x:f32:7x3"]/' \
    executions.jsonl >shapes.jsonl
try 0 "import of other shapes" bz db import -q shapes.jsonl
try 0 "bound with executions of other shapes" bz bound --json "$models/tiny.onnx"
json "d[0]['contradicted'] == {'executions': 2, 'layers': 3, 'not_measured_again': 3, 'whole': 1}" \
    "which are not compared"
try 0 "contradicted, as text" bz compare "$models/tiny.onnx"
says out "contradicted  1 group of layers faster than the bound, not measured again yet"
says out "              benanza compare --run AGENT MODEL"

# a row of an operator that runs no other convolution: the one in it ran elsewhere, with an equal one
python3 - "$models/tiny.onnx" >merged.jsonl <<'PY'
import hashlib, json, sys
digest = hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest()
print(json.dumps({"type": "execution", "id": 1, "execution": {
    "source": "agent", "framework": "M", "device": "Word 1", "dtype": "f32", "math": "strict",
    "model": "tiny", "model_hash": digest, "status": "ok", "measured_at": 1700000000, "batch": 1,
    "threads": 2, "stats": {"n": 20, "median_ns": 600000, "lo_ns": 600000, "hi_ns": 600000,
    "stop": "converged"}}}))
for op, nodes in (("Conv", ["left1"]), ("Gemm", ["right", "join", "fc"])):
    print(json.dumps({"type": "row", "id": 1, "row": {
        "level": "layer", "name": "row of " + op, "op": op, "nodes": nodes, "ns": 90000}}))
print(json.dumps({"type": "done", "id": 1, "kind": "model", "payload": "tiny", "status": "ok"}))
PY
try 0 "bench" "$BENANZA" bench -q -c config.yaml -d lex --db merged.db "$models/tiny.onnx"
try 0 "import of merged layers" "$BENANZA" db import -q --db merged.db merged.jsonl
merged() { "$BENANZA" compare "$models/tiny.onnx" "$@" -c config.yaml -d lex --db merged.db; }
try 0 "merged layers" merged
says out "merged        2 layers with equal ones (the bound counts each)"
try 0 "... as JSON" merged --json
json "d[0]['matched']['merged_layers'] == 2" "their number"
json "[g['ns'] < 0 for g in d[0]['gaps'] if g['kind'] == 'merged' and g['layers'] == [6, 7]] == [True]" \
    "their cost in the bound is a gap"
json "not {6, 7} & {i for g in d[0]['gaps'] if g['kind'] == 'unmatched' for i in g['layers']}" \
    "... of its own"
sed 's/, "join", "fc"//' merged.jsonl >apart.jsonl
rm -f merged.db*
try 0 "bench" "$BENANZA" bench -q -c config.yaml -d lex --db merged.db "$models/tiny.onnx"
try 0 "import of an execution without them" "$BENANZA" db import -q --db merged.db apart.jsonl
try 0 "none merged" merged
! grep -q '^merged' out; ok $? "no such line"

# faster, but on an unknown number of threads, or without intervals
sed -e 's/"threads": 2,//' -e 's/"framework": "[A-D]"/"framework": "E"/' executions.jsonl >threads.jsonl
cp "$work/t.db" both.db
both() { "$BENANZA" "$@" -c config.yaml --db both.db; }
try 0 "import without threads" both db import -q threads.jsonl
try 0 "an execution without threads" both compare "$models/tiny.onnx" -d lex --json
json "[(e['faster'], e['contradicted'], e['not_comparable']) for e in d if e['agent']['name'] == 'E'][0] == \
    (1, [], 'its number of threads is unknown')" "is faster, and contradicts nothing"
sed -e 's/, "lo_ns": 49000, "hi_ns": 51000//' -e 's/"framework": "[A-D]"/"framework": "F"/' \
    executions.jsonl >single.jsonl
try 0 "import of single runs" both db import -q single.jsonl
try 0 "rows without intervals" both compare "$models/tiny.onnx" -d lex --json
json "[(e['contradicted'], [g['doubt'] for g in e['layers']]) for e in d if e['agent']['name'] == 'F'][0] == \
    ([], ['without intervals'])" "contradict nothing"

# what is not comparable has no ratio and contradicts nothing
compares() { python3 -c "
import json
e = [json.loads(l) for l in open('executions.jsonl')][0]
e['execution'] |= {'framework': 'E', 'batch': 1, 'measured_at': 1700000002} | $1
for d in [e] + [json.loads(l) for l in open('executions.jsonl')][1:3]:
    print(json.dumps(d))" >own.jsonl; rm -f own.db*
    "$BENANZA" db import -q --db own.db own.jsonl; }
own() { "$BENANZA" "$@" -c config.yaml --db own.db -d lex; }
bench_own() { own bench -q "$@" "$models/tiny.onnx" >bench.out 2>&1; }
try 2 "executions of another batch" bz compare "$models/tiny.onnx" -b 2
one_line
says err "of other shapes left out (batch 1; run benanza compare -b 1 ...)"
compares "{'math': 'tf32'}"; bench_own
try 0 "relaxed math" own compare "$models/tiny.onnx" --json
json "[d[0]['benanza_ratio'], d[0]['contradicted'], d[0]['bound_contradicted']] == [None, [], False]" \
    "has no ratio beside a bound of strict math"
json "d[0]['not_comparable'] == 'tf32 against f32 (run benanza compare -w math ...)'" "... and the reason"
try 0 "... as text" own compare "$models/tiny.onnx"
[ "$(sed -n 4p out)" = "not comparable: tf32 against f32 (run benanza compare -w math ...)" ]
ok $? "directly under the header"
COLUMNS=40 own compare "$models/tiny.onnx" >out 2>err
[ "$(sed -n '4,6p' out | tr -s ' \n' ' ')" = \
    "not comparable: tf32 against f32 (run benanza compare -w math ...) " ] &&
    [ "$(sed -n '4,6p' out | awk 'length($0) > 40' | wc -l)" -eq 0 ]
ok $? "whole in a narrow terminal"
! grep -q '^ratio' out; ok $? "without a ratio"
try 0 "... as a tree" own compare "$models/tiny.onnx" --tree --json
json "{n['ratio'] for n in [d[0]['tree'], *d[0]['tree']['children']]} == {None}" "has none either"
compares "{'why': 'another process ran', 'stats': {'n': 20, 'median_ns': 9e5, 'lo_ns': 9e5, 'hi_ns': 9e5,
    'stop': 'disturbed'}}"; bench_own
try 0 "a noisy execution" own compare "$models/tiny.onnx" --json
json "[d[0]['noisy'], d[0]['agent']['noisy_reason']] == [True, 'another process ran']" "is marked"
try 0 "... as text" own compare "$models/tiny.onnx"
says out "noisy         another process ran"


# two executions against each other: noisy ones are marked, significance comes from the intervals
between() { # LO HI OF THE LATENCY OF B, LO HI OF ITS ROW: B is noisy, A (600 us, row 49 to 51 us) is not
    python3 - "$@" >own.jsonl <<'PY'
import json, sys
lines = [json.loads(l) for l in open("executions.jsonl")][:3]
lo, hi, row_lo, row_hi = map(float, sys.argv[1:])
for n, name in enumerate("AB"):
    e, row, _ = lines
    e["id"] = row["id"] = lines[2]["id"] = n
    e["execution"] |= {"framework": name, "measured_at": 1700000009 - n}
    if n:
        e["execution"]["stats"] = {"n": 20, "median_ns": 9e5, "lo_ns": lo, "hi_ns": hi, "stop": "disturbed"}
        row["row"] |= {"ns": (row_lo + row_hi) / 2, "lo_ns": row_lo, "hi_ns": row_hi}
    for line in lines:
        print(json.dumps(line))
PY
    rm -f own.db*
    "$BENANZA" db import -q --db own.db own.jsonl; }
between 500000 2000000 70000 90000; bench_own
try 0 "a noisy latency whose interval overlaps" own compare "$models/tiny.onnx" --against --json
json "[d[0]['a']['noisy'], d[0]['b']['noisy'], d[0]['significant']] == [False, True, False]" \
    "is marked, the difference is not significant"
json "[l['significant'] for l in d[0]['layers']] == [True]" "its rows have intervals of their own"
try 0 "... as text" own compare "$models/tiny.onnx" --against
says out "B             900 us  500 us to 2.00 ms  noisy"
says out "not significant"
between 800000 2000000 40000 60000; bench_own
try 0 "a noisy latency whose interval is apart" own compare "$models/tiny.onnx" --against --json
json "d[0]['significant'] and [l['significant'] for l in d[0]['layers']] == [False]" \
    "is significant, rows with a common interval are not"

# other types and threads
compares "{'dtype': 'f32'}"; bench_own -t bf16
try 0 "-t bf16 beside an execution in f32" own compare "$models/tiny.onnx" -t bf16 --json
json "d[0]['bound_ns'] > 0 and d[0]['scenario']['dtype'] == 'bf16'" "a bound in bf16"
json "d[0]['benanza_ratio'] is None" "has no ratio"
json "d[0]['not_comparable'] == 'f32 against bf16 (run benanza compare -t f32 ...)'" "the reason"
for threads in 1 3; do
    compares "{'threads': $threads}"; bench_own
    try 0 "$threads threads beside a bound of 2" own compare "$models/tiny.onnx" --json
    json "[d[0]['benanza_ratio'], d[0]['contradicted']] == [None, []]" "no ratio"
    json "d[0]['not_comparable'].replace('threads', 'thread') == '$threads thread against 2'" "the reason"
done

# bars of bounds that are estimated or incomplete
marks() { sed -n '/from the [a-z]* to reality/,/^measured/p' out; }
python3 - profile.json >gpu.json <<'PY'
import json, sys
events = json.load(open(sys.argv[1]))
for e in events:
    if e["cat"] == "Node":
        e["args"]["provider"] = "CUDAExecutionProvider"
json.dump(events, sys.stdout, separators=(",", ":"))
PY
try 0 "an estimated bound" "$BENANZA" compare "$models/tiny.onnx" gpu.json -d a100 --db none.db --ascii
marks | grep -q '^estimate  *~[0-9.]* '; ok $? "its bar is marked ~"
marks | grep -q '^above the estimate  *~+'; ok $? "and so are gaps that contain its costs"
marks | grep -q '^added reorders  *+5'; ok $? "not those of the profile alone"
says out "ratio         ~"
sed 's/"2"\]/"2", "pool*"]/' config.yaml >gaps.yaml
gaps() { "$BENANZA" "$@" -c gaps.yaml --db gaps.db -d lex; }
gaps bench -q "$models/tiny.onnx" >bench.out 2>&1
try 1 "an incomplete bound" gaps compare "$models/tiny.onnx" profile.json --latency 0.52ms --ascii
marks | grep -q '^bound  *at least [0-9]'; ok $? "its bar is marked as a least"
says out "ratio         at least "
refused() { try 2 "$1" bz compare "$models/tiny.onnx" $2; one_line; says err "$3"; }
try 2 "nothing to compare" "$BENANZA" compare "$models/tiny.onnx" --db none.db
one_line
says err "needs an execution"
says err "none.db does not exist"
refused "a latency without unit" "--latency 41" "not a time of at least 1 ns with a unit"
refused "a negative latency" "--latency -1ms" "not a time of at least 1 ns with a unit"
refused "a latency below 1 ns" "--latency 1e-3ns" "not a time of at least 1 ns"
refused "a latency above all numbers" "--latency 1e300s" "at most 11 days"
refused "a latency of a year" "--latency 3e16ns" "at most 11 days"
refused "a missing file" "absent.json" "absent.json"
refused "one execution against none" "--against profile.json" "needs two executions"
refused "one latency for two" "profile.json faster.json --latency 1ms" "there are 2 executions"
refused "a trace that cannot be written" "profile.json --trace absent/t.json" "absent/t.json"
refused "a trace that exists" "profile.json --trace trace.json" "trace.json: the file exists; --force"
cp profile.json before.json
refused "the profile itself" "profile.json --force --trace profile.json" "profile.json: is an input"
cmp -s profile.json before.json
ok $? "is kept"
try 0 "a trace again" bz compare -q "$models/tiny.onnx" profile.json --force --trace trace.json
for latency in 100us 350us; do
    "$BENANZA" compare -d h100 --db none.db -t f16 -w fusion "$top/data/models/resnet50.onnx" \
        --latency "$latency" >"out.$latency" 2>err
done
grep -q '^estimate  .*~' out.350us && grep -q 'from the estimate to reality' out.350us
ok $? "beside an estimate it is called so"
grep -q '^contradicted .*less than [0-9]* us here' out.100us && ! grep -q '^contradicted' out.350us
ok $? "less than the lower bound is impossible"
done_testing
