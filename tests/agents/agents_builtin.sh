#!/bin/sh
# The built-in names trtexec and torch start their agents (with stand-ins for the frameworks).
. "${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
unset BENANZA_DATA || :
python3 -c 'import numpy, onnx, onnxruntime' 2>/dev/null || skip_all "onnx or onnxruntime is missing"
cd "$work" || exit 1
mkdir bin
ln -s "$top/tests/agents/fake_trtexec.py" bin/trtexec
python3 - <<'E'
import onnx
from onnx import helper
value = {n: helper.make_tensor_value_info(n, 1, [1, 64]) for n in "xy"}
graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], "relu")], "g", [value["x"]], [value["y"]])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "relu.onnx")
E
run() { # AGENT
    env PATH="$work/bin:$PATH" FAKE_LOG="$work/log" PYTHONPATH="$top/tests/agents/fake_torch" \
        "$BENANZA" compare --db a.db -d a100 --run "$1" --json relu.onnx
}
is() {
    got=$(python3 -c "import json; d = json.loads(open('$work/out').readline()); print($1)" 2>&1)
    [ "$got" = "$2" ] || echo "# got $got, not $2"
    ok "$([ "$got" = "$2" ]; echo $?)" "$1 = $2"
}
for name in trtexec torch; do
    framework=$([ $name = torch ] && echo pytorch || echo tensorrt)
    try 0 "compare --run $name" run $name
    is "d['agent']['name'], d['agent']['dtype'], d['agent']['source']" "$framework f32 agent"
    is "d['measured_ns'] > 0" True
    is "d['matched']['matched_ns'] + d['matched']['added_ns'] == d['matched']['total_ns'] > 0" True
done
try 3 "without trtexec" "$BENANZA" compare --db a.db -d a100 --run trtexec relu.onnx
says err "trtexec is not found; install TensorRT"
done_testing
