#!/bin/sh
# compare --analysis and --tree, bound --analysis: an export of Nsight Systems with fixed times beside a bound
# with fixed costs, so that the reports are the same everywhere.
. "${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
. "$top/tests/lib/words.sh"
bz bench -q "$models/tiny.onnx" >out 2>err
ok $? "bench with fixed costs"

# Three runs: each layer is an NVTX range that launches one kernel, stem a second one; the last range is
# nobody's.
python3 - <<'PY'
import sqlite3
layers = [("stem", 70), ("stem_bn", 20), ("stem_relu", 15), ("left1", 95), ("left1_relu", 10), ("left2", 160),
          ("right", 85), ("join", 45), ("join_relu", 30), ("pool", 25), ("fc", 12), ("mystery", 7)]
db = sqlite3.connect("nsys.sqlite")
db.executescript("""
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER,
                                              correlationId INTEGER, nameId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, correlationId INTEGER,
                                             globalPid INTEGER, shortName INTEGER);
    CREATE TABLE TARGET_INFO_GPU (name TEXT);
    INSERT INTO TARGET_INFO_GPU VALUES ('Word 1');
    INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel'), (2, 'gemm_kernel'), (3, 'pointwise_kernel');
""")
process, thread, launch = 1 << 24, (1 << 24) + 5, 0
for run in range(3):
    host, device = run * 1000000, run * 1000000 + 20000
    db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, 'infer', ?)", (host, host + 900000, thread))
    for name, us in layers:
        begin = host = host + 1000
        for part in (0.75, 0.25) if name == "stem" else (1,):
            launch += 1
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, 1)",
                       (host + 100, host + 200, thread, launch))
            gemm = name in ("stem", "left1", "left2", "right", "fc")
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, ?, ?)",
                       (device, device + int(us * 1000 * part), launch, process, 2 if gemm else 3))
            device += int(us * 1000 * part)
            host += 300
        db.execute("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?)", (begin, host, name, thread))
db.commit()
PY
ok $? "an export of Nsight Systems"

json() { python3 -c "
import json
d = [json.loads(l) for l in open('$work/out')]
def table(i): return next(t for t in d[0]['analyses'] if t['id'] == i)
def total(i): return sum(r['latency_ns'] or 0 for r in table(i)['rows'])
assert $1, $1"; ok $? "$2"; }
golden() { # file, name
    sed "s:$top/::" "$work/out" >golden.got
    [ -z "${GOLDEN:-}" ] || cp golden.got "$top/tests/cli/$1" # GOLDEN=1 writes it anew
    diff "$top/tests/cli/$1" golden.got >diff.txt; ok $? "$2"
    [ ! -s diff.txt ] || sed 's/^/# /' diff.txt
    [ "$(awk '{ if (length($0) > 80) n++ } END { print n + 0 }' golden.got)" = 0 ]; ok $? "... in 80 columns"
}
tiny() { bz compare "$models/tiny.onnx" nsys.sqlite "$@"; }

try 0 "all analyses as text" tiny --latency 0.7ms --analysis all
golden analysis.txt "the tables"
try 0 "the tree as text" tiny --latency 0.7ms --tree
golden tree.txt "the tree"
try 0 "needs only the bound" bz bound "$models/tiny.onnx" --analysis all
golden analysis_bound.txt "the tables"
bz bound "$models/tiny.onnx" -d h100 -w fusion --analysis by-type | grep -q "^BatchNormalization .* fused$"
ok $? "a type whose layers are all fused says so"

try 0 "as JSON" tiny --latency 0.7ms --analysis all --tree --json
json "[t['id'] for t in d[0]['analyses']] == ['A%d' % i for i in range(1, 16)]" "fifteen tables"
json "abs(total('A3') - total('A6')) < 1e-6 and abs(total('A3') - 574000) < 1e-6" \
    "the sums of A3 and A6 are equal"
json "sum(r['count'] for r in table('A5')['rows']) == len(table('A2')['rows']) == 12" \
    "A5 counts the layers of A2"
json "table('A13')['rows'][0]['kernel_ns'] == 70000" "a layer's two kernels"
json "all(r['flops'] is None for r in table('A8')['rows'])" "an unknown counter is null, not zero"
json "[c['unit'] for c in table('A10')['columns']][:3] == ['text', 'count', 'ns']" "units of columns"
json "d[0]['tree']['real_ns'] == 700000 and d[0]['gaps']" "beside the keys of compare"
json "[c['name'] for c in d[0]['tree']['children'][0]['children']] == ['gemm_kernel'] * 2" \
    "kernels in the tree"
layer="d[0]['tree']['children'][0]"
json "$layer['bound_ns'] and $layer['children'][0]['bound_ns'] is None" \
    "one of two kernels has no bound"
json "[c['kind'] for c in d[0]['tree']['children']].count('unmatched') == 1" \
    "what does not match is in the tree"

try 0 "by name" tiny --analysis type-latency,A15 --json
json "[t['id'] for t in d[0]['analyses']] == ['A6', 'A15'] and 'tree' not in d[0]" "two tables"
json "table('A15')['rows'] == [] and 'level model is missing' in table('A15')['missing']" \
    "a missing level is named"
try 0 "CSV" tiny --analysis A5,A6 --csv
[ "$(grep -c '^batch,dtype,analysis,type,count' out)" = 2 ]; ok $? "each table has its header"
[ "$(sed -n 's/^1,f32,A6,Conv,\([0-9.,]*\)$/\1/p' out | cut -d, -f1,2)" = "4,410000" ]; ok $? "a line a row"
try 0 "the tree as CSV" tiny --tree --csv
[ "$(grep -c '^1,f32,2,kernel,' out)" = 13 ]; ok $? "kernels at depth 2"
try 0 "the bound as JSON" bz bound "$models/tiny.onnx" --analysis A3,A6 --json
json "abs(total('A3') - d[0]['sequential_ns']) < 1e-6 and total('A6') == total('A3')" \
    "its layers sum up to the bound"
try 0 "a described device" "$BENANZA" bound -d h100 --db none.db "$models/tiny.onnx" --analysis A14 --json
json "all(r['estimated'] and r['bound_by'] for r in table('A14')['rows'])" "its latencies are estimates"
try 0 "... from rows of real kernels" "$BENANZA" bound -d h100 --db none.db "$models/tiny.onnx" --json
json "all(x[0] < y < x[1] for x, y in ((l['interval_ns'], l['cost_ns']) for l in d[0]['layers']) if y)" \
    "each with its range"
json "all(l['cost_ns'] > l['roofline_ns'] for l in d[0]['layers'] if 'estimate' in l)" "above its roofline"
json "[l['estimate']['kind'] for l in d[0]['layers'] if l['op'] == 'Relu'][0] == 'memory-bound kernel'" \
    "its row"
json "d[0]['bound_ns'] < d[0]['estimate_interval_ns'][0] < d[0]['estimate_ns']" "a bound, an estimate"
json "d[0]['estimate_ns'] < d[0]['estimate_interval_ns'][1] and d[0]['interval_ns'] is None" \
    "... with its range"
json "d[0]['estimate_sequential_ns'] == d[0]['estimate_ns'] > d[0]['estimate_parallel_ns']" \
    "... also in parallel"
for option in html dot; do
    [ $option = dot ] && set -- --dot || set --
    "$BENANZA" report -d h100 --db none.db "$@" "$models/tiny.onnx" >page 2>err
    grep -q "17.5 us, estimate ~40.8 us" page
    ok $? "both in the report as $option"
done
json "abs(sum(l['bound_ns'] for l in d[0]['layers']) - d[0]['bound_ns']) < 1e-6" "bounds of layers add up"
json "all(l['bound_ns'] < l['estimate_ns'] == l['cost_ns'] for l in d[0]['layers'] if l['estimate_ns'])" \
    "... below their estimates"
json "[d[0]['estimate_error'][key] for key in ('generation', 'figures')] == ['Hopper', 0]" \
    "how far estimates were from published latencies, of other generations here"
json "0 < d[0]['estimate_error']['p50'] < d[0]['estimate_error']['p90'] < 1" "... half and nine in ten"
json "all(w['bound_ns'] < w['estimate_ns'] for w in d[0]['what_if'] if w['available'])" \
    "what-ifs have both too"
json "all(bool(w['why']) == (not w['available']) and (w['why'] or w['bound_ns']) for w in d[0]['what_if'])" \
    "what-ifs without a total say why"
json "d[0]['coverage']['nearest'] == 6" "layers by the nearest kind are counted"
json "d[0]['roofline_ns'] < d[0]['estimate_ns'] / 10" "the roofline stays that of the peaks"
json "d[0]['parallel_at_most'] is False" "without the what-if layout the parallel total is the least"
try 0 "fusion with priced layouts" "$BENANZA" bound -d h100 --db none.db -w fusion,layout=priced --json \
    "$models/tiny.onnx"
json "d[0]['parallel_at_most'] is True" "groups and layouts are those of the sum"
try 0 "... as text" "$BENANZA" bound -d h100 --db none.db -w fusion,layout=priced "$models/tiny.onnx"
says out "parallel at most ~"
try 0 "a bound of estimates as text" "$BENANZA" bound -d h100 --db none.db "$models/tiny.onnx"
grep -q '^launch  *amortized  *~161 us' "$work/out"; ok $? "launches of described GPUs are estimated"
try 0 "in the explorer too" "$BENANZA" -d h100 --db none.db "$models/tiny.onnx" --frame 120x40 --view what-if
grep -q '^  l   launch *\[x\] amortized .*~161 us' "$work/out" &&
    grep -q 'v   libraries *\[ \] all *n/a: all results are of one library' "$work/out"
ok $? "and what is not available says why"
try 0 "a page with a named library" "$BENANZA" report -d h100 --db none.db -w libraries=nosuch \
    "$models/tiny.onnx"
grep -q '<td[^>]*>nosuch</td>' "$work/out"; ok $? "names it"
try 0 "a bound of estimates as text" "$BENANZA" bound -d h100 --db none.db "$models/tiny.onnx"
says out "efficiency of new kernels; 6 layers have that of the closest kind of kernel"
narrow() { env -u COLUMNS python3 "$top/tests/lib/in_terminal.py" 90 "$@"; }
try 0 "names of layers are shortened on a terminal" narrow "$BENANZA" bound -q -d h100 --db none.db \
    "$top/data/models/resnet50.onnx" --analysis A14
grep -q '^ *5  .*\.\..*conv1/Conv ' "$work/out"; ok $? "in their middle"
try 0 "and not at all in a pipe" "$BENANZA" bound -q -d h100 --db none.db \
    "$top/data/models/resnet50.onnx" --analysis A14
says out " /layer1/layer1.0/conv1/Conv "
try 0 "as text" "$BENANZA" bound -d h100 --db none.db "$models/tiny.onnx" --analysis A14
says out "~5.70 us"
says out "ideal intensity 20 FLOP/B: f32 66.9 TFLOP/s, memory 3.35 TB/s of"

# rows without time that stand for no layer
cat >trt.json <<J
[{"count": 10}, {"name": "stem", "timeMs": 0.7, "averageMs": 0.07, "medianMs": 0.07, "percentage": 100},
 {"name": "nothing", "timeMs": 0, "averageMs": 0, "medianMs": 0, "percentage": 0}]
J
try 0 "a table without them" bz compare "$models/tiny.onnx" trt.json --analysis A3
says out "1 row without time and layer left out"
[ "$(grep -c nothing out)" = 0 ]; ok $? "they are left out of text"
try 0 "a tree without them" bz compare "$models/tiny.onnx" trt.json --tree
says out "1 row without time and layer left out"
try 0 "but not of JSON" bz compare "$models/tiny.onnx" trt.json --analysis A3 --json
json "len(table('A3')['rows']) == 2" "a row each"

# A1: batches of the executions in the database that ran the same file
digest=$(sha256sum "$models/tiny.onnx" | cut -d' ' -f1)
for batch in 1 2 4; do
    printf '{"type":"execution","id":%s,"execution":{"source":"agent","framework":"fw","batch":%s,' \
        $batch $batch
    printf '"model_hash":"%s","status":"ok","stats":{"n":9,"median_ns":%s,"stop":"converged"},' "$digest" \
        $((200000 + batch * batch * 50000))
    printf '"measured_at":1700000000}}\n'
    printf '{"type":"done","id":%s,"kind":"model","payload":"m","status":"ok"}\n' $batch
done >executions.jsonl
try 0 "executions of three batches" "$BENANZA" db import -q --db "$work/t.db" executions.jsonl
try 0 "A1 of them" bz compare "$models/tiny.onnx" --latency 0.7ms --analysis A1 --json
# 4, 5 and 4 items a ms: the second doubling loses
json "[(r['batch'], r['optimal']) for r in table('A1')['rows'] if r['framework']] == [
    (1, None), (2, 'yes'), (4, None)]" "the optimal batch"

refused() { try 2 "$1" $2; [ "$(wc -l <err)" -eq 1 ]; ok $? "one line"; says err "$3"; }
refused "an unknown analysis" "bz bound $models/tiny.onnx --analysis A2,A16" \
    "--analysis A16: no such analysis"
refused "one that needs an execution" "bz bound $models/tiny.onnx --analysis A8" "needs an execution"
refused "none" "tiny --analysis ," "no such analysis"
refused "a tree of two" "tiny nsys.sqlite --against --tree" "prints no analyses and no tree"
# products in 8 bits, all else in f16 as engines for GPUs have it
resnet() { "$BENANZA" bound -q --db none.db -w fusion --json "$@" "$top/data/models/resnet50.onnx"; }
try 0 "s8 and f16 on a described device" resnet -d a100 -t s8,f16
json "[(x['scenario']['dtype'], x['scenario']['rest']) for x in d] == [('s8', 'f16'), ('f16', None)]" \
    "s8 is the type of products, f16 of the rest"
json "all('matrix' in x['scenario']['what_if'] and x['complete'] for x in d)" "both on matrix units, no gap"
json "d[0]['estimate_ns'] < 0.9 * d[1]['estimate_ns'] and d[0]['bound_ns'] < d[1]['bound_ns']" "s8 is faster"
try 0 "its problems" "$BENANZA" layers -t s8 --json "$top/data/models/resnet50.onnx"
json "sorted({l['problem'].split(',')[0] for l in d[0]['layers']
    if l['op'] in ('Conv', 'Gemm')}) == ['conv:s8', 'matmul:s8']" "without a device the products are the same"
done_testing
