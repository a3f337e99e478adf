#!/bin/sh
# --assume: costs of layers as with kernels of one's own, in every command with a bound.
. "${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
. "$top/tests/lib/words.sh"
model=$models/tiny.onnx
json() { python3 -c "
import json
d = json.loads(open('$work/out').readline())
first = json.loads(open('$work/first').readline())
assert ($1), 'failed'"; ok $? "$2"; }

bz bench -q "$model" >out 2>err
ok $? "bench with fixed costs"
bz bound "$model" --json >first 2>err
ok $? "the bound"
name=$(python3 -c "
import json
d = json.loads(open('first').readline())
layers = [l for l in d['layers'] if l['cost_ns'] and l['origin'] == 'measured']
print(max(layers, key=lambda l: l['cost_ns'])['name'])")
at="[i for i, l in enumerate(first['layers']) if l['name'] == '$name'][0]"
bz bound "$model" --json --assume "$name=2x" >out 2>err
ok $? "twice as fast: $name"
json "abs(first['bound_ns'] - d['bound_ns'] - first['layers'][$at]['cost_ns'] / 2) < 1" \
    "... takes half of its cost from the bound"
json "d['layers'][$at]['origin'] == 'assumed' and d['coverage']['assumed'] == 1" "... and says so"
json "d['scenario']['assumed'] == [{'layer': $at, 'name': '$name', 'cost': '2x'}]
    and 'assume' in d['scenario']['what_if']" "... in the scenario"
json "[w['on'] for w in d['what_if'] if w['name'] == 'assume'] == [True]
    and abs([w['saves_ns'] for w in d['what_if'] if w['name'] == 'assume'][0]
    - first['bound_ns'] + d['bound_ns']) < 1" "... with what it saves"
json "'assumed' not in first['scenario'] and 'assume' not in first['scenario']['what_if']" \
    "without the option nothing is"
bz bound "$model" --json --assume "$name=2x" -w assume=off >out 2>err
json "d['bound_ns'] == first['bound_ns'] and 'assumed' not in d['scenario']" "-w assume=off"
bz bound "$model" --json --assume op=Conv=0 --assume 1=1ms >out 2>err
json "all(l['cost_ns'] == (1e6 if i == 0 else 0) for i, l in enumerate(d['layers'])
    if l['op'] == 'Conv' and l['origin'] == 'assumed') and d['coverage']['assumed'] > 0" \
    "the last of several counts"
bz bound "$model" --assume op=Conv=2x >out 2>err
says out " given"
grep -q '^assume  *given' out; ok $? "as a row of the costs"
bz advise "$model" --json --assume "$name=0" >out 2>err
json "d['scenario']['assumed'][0]['cost'] == '0'" "advise starts from it"
bz sweep "$model" --json --assume "$name=2x" >out 2>err
json "d['scenario']['assumed'][0]['name'] == '$name'" "sweep"
bz diff "$model" --with "--assume '$name=0.5x'" --json >out 2>err
[ $? -eq 1 ]; ok $? "diff: a slower layer is exit status 1"
json "d['b']['scenario']['assumed'][0]['cost'] == '0.5x' and 'assumed' not in d['a']['scenario']" "diff"

bz bound "$model" --json -w workspace=64M,libraries=benanza-none >out 2>err
json "d['scenario']['what_if'] == ['algorithm', 'launch', 'workspace=64M', 'libraries=benanza-none']
    and {w['name']: w['choice'] for w in d['what_if']}['workspace'] == '64M'" "what-ifs with a value"
json "d['coverage']['measured'] == 0 and d['coverage']['unsupported'] > 0 and d['bound_ns'] is None
    and any('libraries' in (l.get('why') or '') for l in d['layers'])" "no library, no bound, and why"
bz bound "$model" --json -w 'algorithm=*:*' >out 2>err
json "[w['layers'] for w in d['what_if'] if w['name'] == 'algorithm'][0] is not None
    and d['bound_ns'] == first['bound_ns']" "a named algorithm: in how many layers"
bz bench -q "$model" -w pad >out 2>err
ok $? "bench measures padded problems"
bz bound "$model" --json -w pad >out 2>err
json "d['complete'] and d['bound_ns'] <= first['bound_ns']
    and sum(l.get('padded', False) for l in d['layers'])
    == [w['layers'] for w in d['what_if'] if w['name'] == 'pad'][0]" \
    "padded where that is faster"
bz bound "$model" --json -w cache=cold >out 2>err
json "d['scenario']['cache'] == 'cold' and d['bound_ns'] is None" "nothing was measured cold"
try 2 "-w workspace=lots" bz bound "$model" -w workspace=lots
says err "is not BYTES (512M), 0 or unlimited"
while read -r given words; do
    try 2 "--assume $given" bz bound "$model" --assume "$given"
    one_line
    says err "$words"
done <<'END'
nosuchlayer=2x no layer is named 'nosuchlayer'
Conv=2x op=Conv
999=2x no layer has the number 999
1 is not LAYER=COST
1=-2x is not a cost
1=12 is not a cost
=2x is not LAYER=COST
END
try 2 "two costs of one layer" bz bound "$model" --assume 1=2x --assume '#1=3x'
one_line
says err "--assume: #1=3x contradicts 1=2x, the same layer: leave one out"
try 0 "the same cost twice" bz bound -q "$model" --assume 1=2x --assume '#1=2x'
try 0 "one of several layers" bz bound -q "$model" --assume '*=2x' --assume 1=3x

# what kernels of one's own use is unknown: the other layers alone need a resource
"$BENANZA" bound --json -d v100 -b 32 -w fusion=pattern,parallel --assume op=MatMul=0 \
    "$top/data/models/bert_base.onnx" >out 2>err
ok $? "groups with assumed matmuls"
json "d['path_ns'] <= d['resource_ns'] < d['sequential_ns']" "what they would use does not count"

# layout=priced with parallel tries less fusion than the choice allows, and never more
for level in off epilogue fold pattern all; do
    for parallel in off path; do
        "$BENANZA" bound --json -d l40s -w "parallel=$parallel,layout=priced,fusion=$level" \
            "$top/data/models/bert_base.onnx"
    done
done >levels.json 2>err
python3 - <<'END'
import json
rows = [json.loads(line) for line in open("levels.json")]
alone, path = rows[0::2], rows[1::2]
assert len(path) == 5 and all(p["sequential_ns"] >= a["bound_ns"] / 1.01 for a, p in zip(alone, path))
assert all(more["estimate_ns"] <= less["estimate_ns"] for less, more in zip(path, path[1:]))
assert path[2]["estimate_ns"] > 1.1 * path[3]["estimate_ns"]  # attention is fused from pattern on
END
ok $? "priced layouts and parallel: each level of fusion has its own groups"
done_testing
