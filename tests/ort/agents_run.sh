#!/bin/sh
# The program runs models with real frameworks: ONNX Runtime, and OpenVINO where it is installed.
. "${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
unset BENANZA_DATA || :
python3 -c 'import onnx, onnxruntime' 2>/dev/null ||
    skip_all "the Python packages onnx and onnxruntime are missing"
cd "$work" || exit 1
tiny=$top/tests/models/tiny.onnx
json() { python3 -c "import json,sys; d=[json.loads(l) for l in open('$work/out')][0]; print($1)"; }
is() {
    got=$(json "$2" 2>&1)
    [ "$got" = "$1" ] || echo "# got $got, not $1"
    ok "$([ "$got" = "$1" ]; echo $?)" "$2 = $1"
}
agents=$top/src/agents
# away: an agent that does not find the model's files, as on another machine
{
    printf 'device: word\nrunners:\n  word: [sh, "%s", Word 1, "words, 1 thread"]\nagents:\n' \
        "$top/tests/lib/word_runner.sh"
    printf '  ort: [python3, "%s/agent_onnxruntime.py"]\n' "$agents"
    printf '  openvino: [python3, "%s/agent_openvino.py"]\n' "$agents"
} >config.yaml
cat >away.sh <<S
sed -u 's|"path":"[^"]*"|"path":"/none/model.onnx"|' | python3 "$agents/agent_onnxruntime.py"
S
printf '  away: [sh, "%s/away.sh"]\n' "$work" >>config.yaml
benanza() { # COMMAND OPTION...
    command=$1
    shift
    "$BENANZA" "$command" -c config.yaml --db a.db "$@"
}
try 0 "bench" benanza bench -q "$tiny"

try 0 "compare --run ort" benanza compare --run ort --json "$tiny"
is "onnxruntime CPUExecutionProvider f32 agent" \
    "' '.join(d['agent'][k] for k in ('name', 'provider', 'dtype', 'source'))"
is True "d['measured_ns'] > 0 and d['interval_ns'][0] <= d['measured_ns'] <= d['interval_ns'][1]"
is True "d['matched']['matched_ns'] + d['matched']['added_ns'] >= 0.92 * d['matched']['total_ns']"
is True "abs(sum(g['ns'] for g in d['gaps']) - d['measured_ns'] + d['bound_ns']) < 1"
try 0 "bench --agents knows it" benanza bench --agents=ort --json "$tiny"
is "ok True" "'%s %s' % (d['executions'][0]['status'], d['executions'][0]['already'])"
try 0 "the execution is exported" "$BENANZA" db export --db a.db
python3 - "$tiny" <<'PY'
import hashlib, json, sys
lines = [json.loads(line) for line in open("out")]
e = [m["execution"] for m in lines if m.get("type") == "execution"][0]
rows = [m["row"] for m in lines if m.get("type") == "row"]
assert e["model_hash"] == hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest(), e["model_hash"]
assert e["inputs"] and e["output_compared"] and e["output_finite"] and e["output_error"] < 1e-4, e
assert e["load_ns"] > 0 and e["first_ns"] > 0 and e["floor_ns"] > 0 and e["memory_bytes"] > 1e6, e
assert any(r["nodes"] for r in rows), rows
PY
ok $? "with what was measured"

try 0 "export of a model" "$BENANZA" db export --db a.db "$tiny"
says out '"type":"execution"'

# a model with external data, on an agent that has no such file: it is sent, once
python3 - <<'PY'
import numpy, onnx
from onnx import helper, numpy_helper, TensorProto
w = numpy_helper.from_array(numpy.ones((256, 1024), numpy.float32), "w")
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], "mm")], "g",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 256])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 1024])], [w])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.save(model, "ext.onnx", save_as_external_data=True, location="ext.bin", size_threshold=0)
PY
try 0 "bench of a model with external data" benanza bench -q -b 4 ext.onnx
try 0 "its files are sent" benanza compare --run away -b 4 --json ext.onnx
is "onnxruntime 4" "'%s %d' % (d['agent']['name'], d['scenario']['batch'])"
ok "$([ "$(ls "$XDG_CACHE_HOME/benanza/models" | wc -l)" -ge 1 ]; echo $?)" "and kept by the agent"
try 0 "export of one model of two" "$BENANZA" db export --db a.db -b 4 ext.onnx
ok "$([ "$(grep -c '"type":"execution"' out)" -eq 1 ]; echo $?)" "has its execution only"
mv ext.bin gone.bin
try 2 "without its file" benanza compare --run ort ext.onnx
says err "external data: ext.bin: cannot be read"
mv gone.bin ext.bin

# what an agent cannot run is a line
try 1 "a type that the provider does not have" benanza compare --run ort -t bf16 "$tiny"
one_line
says err "unsupported"
try 1 "a provider that is not there" benanza compare --run ort:MissingExecutionProvider "$tiny"
one_line

# moves, on a model with external data below its directory
python3 - <<'PY'
import numpy, os, onnx
from onnx import helper, numpy_helper, TensorProto
random = numpy.random.default_rng(0)
def weight(name, *shape):
    return numpy_helper.from_array((0.1 * random.standard_normal(shape)).astype(numpy.float32), name)
def value(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", *shape])
nodes = [helper.make_node("Conv", ["x", "w1"], ["c1"], "conv1"),
         helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
         helper.make_node("Conv", ["r1", "w2"], ["c2"], "conv2"),
         helper.make_node("Relu", ["c2"], ["y"], "relu2")]
graph = helper.make_graph(nodes, "g", [value("x", 8, 20, 20)], [value("y", 16, 16, 16)],
    [weight("w1", 16, 8, 3, 3), weight("w2", 16, 16, 3, 3)])
os.makedirs("weights")
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.save(model, "convs.onnx", save_as_external_data=True, location="weights/convs.bin", size_threshold=0)
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], "mm")], "g", [value("x", 2048)],
    [value("y", 2048)], [weight("w", 2048, 2048)])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "wide.onnx")
PY
try 0 "bench of both batches" benanza bench -q -b 1,8 convs.onnx
sha256sum convs.onnx weights/convs.bin >before
try 0 "moves" benanza compare --run ort --try=level=basic,batch=8,int8 --json convs.onnx
is "level=basic ok batch=8 ok int8 ok" "' '.join('%s %s' % (t['move'], t['status']) for t in d['tried'])"
is True "all(t['gain_interval'][0] <= t['gain'] <= t['gain_interval'][1] for t in d['tried'])"
is True "all(t['base_ns'] > 0 and t['measured_ns'] > 0 and t['rounds'] > 1 for t in d['tried'])"
is True "all(t['output_error'] < 1e-5 for t in d['tried'][:2]) and 1e-6 < d['tried'][2]['output_error'] < 0.3"
is "None 8" "'%s %d' % (d['tried'][2]['predicted_gain'], d['tried'][1]['batch'])"
is True "all(t['predicted_gain'] is None for t in d['tried'])" # the bound is of another device
is True "d['tried'][2]['with'].startswith('onnxruntime.quantization')"
sha256sum -c --quiet before
ok $? "the model's files are as before"
try 0 "bench of 16 MiB of weights" benanza bench -q wide.onnx
if grep -q '\[madvise\]' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null; then
    try 0 "pages" benanza compare --run ort --try=pages=2m --json wide.onnx
    is "pages=2m ok 0" "'%s %s %.0f' % tuple(d['tried'][0][k] for k in ('move', 'status', 'output_error'))"
    is True "'MiB in huge pages, unchanged 0 MiB' in d['tried'][0]['with']"
else
    try 1 "pages" benanza compare --run ort --try=pages=2m --json wide.onnx
    is "unavailable True" "'%s %s' % (d['tried'][0]['status'], 'huge pages' in d['tried'][0]['why'])"
fi
try 0 "an agent that has no such file" benanza compare --run away --try=level=basic --json convs.onnx
is ok "d['tried'][0]['status']"

if python3 -c 'import openvino' 2>/dev/null; then
    try 0 "two frameworks" benanza compare --run ort,openvino --against --json "$tiny"
    try 0 "bench --agents runs what is installed" benanza bench --agents=openvino --json "$tiny"
    is "openvino ok" "'%s %s' % (d['executions'][0]['agent'], d['executions'][0]['status'])"
fi
done_testing
