#!/bin/sh
# models: what models share, with fixed costs; the bundled models where the package onnx has its own.
. "${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
. "$top/tests/lib/words.sh"
json() { python3 -c "
import json
d = json.loads(open('$work/out').readline())
assert $1, d"; ok $? "$2"; }

cp "$models/tiny.onnx" a.onnx
cp "$models/tiny.onnx" 'b"$(id).onnx'
cp "$models/rows.onnx" "c
.onnx"
bz models a.onnx >out 2>err
[ $? -eq 1 ] && grep -q '>=\|  - ' out
ok $? "nothing is measured: the times are unknown, exit status 1"
bz bench -q a.onnx "c
.onnx" >out 2>err
ok $? "bench with fixed costs"
bz layers a.onnx --json >layers 2>err
bz models --json a.onnx 'b"$(id).onnx' "c
.onnx" >out 2>err
ok $? "three models"
json "[(p['jaccard'], p['time_share']) for p in d['shared'] if p['index'] == [0, 1]] == [(1, 1)]" \
    "a copy shares everything"
json "all(p['jaccard'] == p['common'] / (d['models'][p['index'][0]]['distinct']
    + d['models'][p['index'][1]]['distinct'] - p['common']) for p in d['shared'])" "|A n B| / |A u B|"
json "d['distinct'] == d['models'][0]['distinct'] + d['models'][2]['distinct'] - d['shared'][1]['common']" \
    "the distinct layers of all"
json "d['layers'] == sum(m['layers'] for m in d['models'])" "the layers of all"
python3 - <<'PY'
import json
layers = [l for l in json.load(open("layers"))["layers"] if l["problem"]]
m = json.loads(open("out").readline())["models"][0]
assert m["layers"] == len(layers) and m["distinct"] == len({l["problem"] for l in layers}), m
assert m["cost_ns"] == sum(1000 * len(l["problem"]) for l in layers) and not m["unknown"], m
PY
ok $? "layers, distinct ones and their time are those of the model"
json "[s['model'] for s in d['cover'][0]['models']] in ([0, 2], [2, 0], [0], [2])" "a copy covers nothing new"
json "d['models'][0]['dims'] == {'batch': 1} and all('dims' in m for m in d['models'])" \
    "the dimensions of each"
json "all(c['models'][-1]['covered'] >= 0.9 and c['method'] == 'greedy' for c in d['cover'])" "90% is covered"
bz models a.onnx 'b"$(id).onnx' "c
.onnx" >out 2>err
ok $? "as text"
[ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' out)" -le 80 ] && grep -q 'c?.onnx' out
ok $? "within 80 columns, with clean names"
bz models --json -b 1,2 a.onnx >out 2>err
[ $? -eq 0 ] && [ "$(wc -l <out)" -eq 2 ] && sed -n 2p out | grep -q '"estimated":true'
ok $? "one object a batch; that of an unmeasured one has estimates"
bz models a.onnx none.onnx >out 2>err
[ $? -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'none.onnx' err
ok $? "a missing model: one line"
bz models "$models/symbolic.onnx" >out 2>err
[ $? -eq 2 ] && grep -q -- '--dim' err
ok $? "an unbound dimension: one line that says what to add"

light=$(python3 -c 'import onnx, os; print(os.path.dirname(onnx.__file__))' 2>/dev/null)
light=$light/backend/test/data/light
if [ -f "$light/light_resnet50.onnx" ]; then
    "$BENANZA" models -d h100 --json --db none.db "$top"/data/models/*.onnx "$light"/light_*.onnx \
        >out 2>err
    ok $? "six bundled models and nine of the package onnx"
    python3 - <<'PY'
import json
d = json.loads(open("out").readline())
name = lambda p: p.rsplit("/", 1)[1]
two = ("resnet50.onnx", "light_resnet50.onnx")
pair = [p for p in d["shared"] if (name(p["a"]), name(p["b"])) == two][0]
assert d["layers"] == 3046 and len(d["models"]) == 15, d["layers"]
assert round(pair["jaccard"], 3) == 0.982 and pair["estimated"], pair
assert all(m["estimated"] and not m["unknown"] for m in d["models"])
PY
    ok $? "3046 layers with a problem; two ResNet-50 are 0.982 similar; times are estimates"
fi
done_testing
