#!/bin/sh
# advise: with fixed costs, so that the report is the same everywhere.
. "${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
. "$top/tests/lib/words.sh"
json() { python3 -c "
import json
d = json.loads(open('$work/out').readline())
a = d['advice']
assert ($1), 'failed'"; ok $? "$2"; }

bz advise "$models/tiny.onnx" >out 2>err
[ $? -eq 1 ] && grep -q '^no advice: nothing of the model is measured' out
ok $? "nothing is measured: exit status 1"
bz bench -q "$models/tiny.onnx" >out 2>err
ok $? "bench with fixed costs"
bz advise "$models/tiny.onnx" --json >out 2>err
ok $? "advise"
json "len(a) > 0 and all(x['measured'] and not x['noisy'] and x['how']['pytorch'] for x in a)" \
    "measured advice"
json "all(x['saves_after_above_ns'] > 0 for x in a)" "each saves something after those above it"
json "all(abs(([d] + a)[i]['bound_ns'] - x['saves_after_above_ns'] - x['bound_ns']) < 1
    for i, x in enumerate(a))" "the bound after each"
json "d['least_ns'] == a[-1]['bound_ns'] and d['complete'] and d['reached'] is None" "the lowest bound"
json "[x['kind'] for x in a if x['kind'] != 'fusion'] == ['parallel']" \
    "one algorithm each: fusions, layers at the same time, and no launches on a CPU"
json "a[0]['saves_ns'] == max(x['saves_ns'] for x in a)" "the largest saving comes first"
json "all('Conv' in x['title'] and x['layers'] for x in a if x['kind'] == 'fusion')" "each with its layers"
json "[x['title'] for x in a if x['at_most']] == ['run layers in parallel (at most)']" \
    "a limit by the peaks, not a measurement: said"
json "all(x['saves_after_above_interval_ns'][0] == 0 for x in a if x['at_most']) and
    d['saves_at_least_ns'] < d['bound_ns'] - d['least_ns']" \
    "... and in no total of what is saved at least"
json "all(x['saves_interval_ns'][0] <= x['saves_ns'] <= x['saves_interval_ns'][1] and
    x['saves_after_above_interval_ns'][0] <= x['saves_after_above_ns'] and not x['unclear'] for x in a)" \
    "each with its interval"
least=$(python3 -c "import json; print(json.loads(open('out').readline())['least_ns'])")
bz bound "$models/tiny.onnx" --json -w fusion,parallel >out 2>err
python3 -c "
import json
d = json.loads(open('out').readline())
assert abs(d['bound_ns'] - $least) <= 0.01 * $least, (d['bound_ns'], $least)"
ok $? "all of it together is the bound of that scenario"
bz advise "$models/tiny.onnx" -w fusion,parallel >out 2>err && grep -q '^no advice: no measured change' out
ok $? "-w sets the start: nothing is left"

bz advise "$models/tiny.onnx" >out 2>err
ok $? "text"
[ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' out)" -le 80 ]
ok $? "within 80 columns"
grep -A2 '^left out' out | tr -s ' \n' ' ' |
    grep -qF 'measured: layout (13 problems), pad (2), f16 (17), bf16 (17) (with the same options: bench -w'
ok $? "what is left out, with the commands that measure it"
grep -q '^with advice  ' out && grep -q '^fusion *ONNX Runtime ' out
ok $? "the total, and how it is done"
bz advise "$models/tiny.onnx" --target 1s >out 2>err && grep -q '^target  *1.00 s  reached without advice' out
ok $? "a target that the start reaches"
bz advise "$models/tiny.onnx" --target 1us --json >out 2>err
[ $? -eq 1 ]
ok $? "a target that cannot be reached: exit status 1"
json "d['reached'] is False and d['target_ns'] == 1000" "... and said"
bz advise "$models/tiny.onnx" --target 2/s --json >out 2>err
json "d['target_ns'] == 5e8" "a throughput"
for bad in 5 ms 5m -1ms 0/s nan inf 1e400s 0x10ms +1ms 1e-300s 1e-300/s infs; do
    bz advise "$models/tiny.onnx" "--target=$bad" >out 2>err
    [ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q "'$bad' is not a latency" err
    ok $? "--target=$bad"
done
resnet=$top/data/models/resnet50.onnx
"$BENANZA" advise -d t4 --db none.db --target 1us --json "$resnet" >out 2>err
[ $? -eq 1 ] && json "d['would_reach']['devices'] and not d['would_reach']['batches'] and
    not any(x['reached'] for x in d['would_reach']['devices'])" "a latency that no device reaches"
json "all(x['estimate_ns'] >= y['estimate_ns'] for x, y in zip(d['would_reach']['devices'],
    d['would_reach']['devices'][1:])) and 't4' not in [x['device'] for x in d['would_reach']['devices']]" \
    "other devices, slowest first"
"$BENANZA" advise -d h100 --db none.db --json "$resnet" >h100 2>err
python3 -c "
import json
d, h = (json.loads(open(f).readline()) for f in ('out', 'h100'))
assert {x['device']: x['estimate_ns'] for x in d['would_reach']['devices']}['h100'] == h['least_ns']"
ok $? "the bound of another device is that of its own advice"
for type in f16 bf16; do
    "$BENANZA" bound -d h100 -t $type --db none.db --json "$resnet" >$type 2>err || break
done
python3 -c "
import json
h, f, b = (json.loads(open(f).readline()) for f in ('h100', 'f16', 'bf16'))
units = [x for x in h['advice'] if x['kind'] == 'type and units']
assert [x['title'] for x in units] == ['f16 and matrix units'], units
same = lambda x, y: abs(x - y) < 1
assert same(h['estimate_ns'] - units[0]['saves_ns'], f['estimate_ns'])
assert 'matrix' in f['scenario']['what_if'] and same(f['estimate_ns'], b['estimate_ns'])"
ok $? "a type of 16 bits uses a GPU's matrix units, in advice as with -t"
"$BENANZA" advise -d t4 --db none.db --target 5000/s --json "$resnet" >out 2>err
json "[x['batch'] for x in d['would_reach']['batches']][:3] == [1, 2, 4] and
    all(not x['reached'] for x in d['would_reach']['batches'])" "a throughput: larger batches"
json "all(x['reached'] == (x['items_per_s'] >= 5000) and
    abs(x['items_per_s'] * x['estimate_ns'] / 1e9 / x['batch'] - 1) < 1e-9
    for k in d['would_reach'].values() for x in k) and
    any(x['reached'] and x['batch'] > 1 for x in d['would_reach']['devices'])" "... on other devices too"
"$BENANZA" advise -d t4 --db none.db --target 1500/s "$resnet" >out 2>err
[ $? -eq 1 ] && grep -q '^ *8 .* yes$' out && ! grep -q '^ *16 ' out &&
    grep -q '^-d h100 ' out &&
    [ "$(grep -A99 '^larger' out | awk '{ if (length($0) > n) n = length($0) } END { print n }')" -le 80 ]
ok $? "as text, up to the first batch that reaches it, within 80 columns"
target() { sed -n '/^target/,/^$/p' out | tr -s ' \n' ' '; }
target | grep -q '^target 1.50 K/s, a batch in 667 us not reached: .* larger batches (below), or a smaller' &&
    ! grep -A1 '^target' out | grep -q '.\{81\}'
ok $? "the target is said as it was asked for, and that larger batches help, within 80 columns"
"$BENANZA" advise -d t4 --db none.db --target 1us "$resnet" >out 2>err
target | grep -q '^target 1.00 us not reached: .* times as fast, or a smaller model'
ok $? "a latency: no larger batch reaches it"
bz advise "$models/tiny.onnx" --target 1s --json >out 2>err
json "d['would_reach'] is None" "a target that is reached"
left() { # COMMAND OPTION...
    "$BENANZA" "$@" -c config.yaml --db left.db -d lex "$models/tiny.onnx" >out 2>err
}
# runs the commands that advise prints, with these options
left_measured() {
    left advise "$@"
    tr -s ' \n' ' ' <out | sed -n 's/.*(with the same options: \([^)]*\)).*/\1/p' | tr ';' '\n' >commands
    while read -r bench || [ -n "$bench" ]; do
        left bench -q "$@" ${bench##*bench} <&- || return 1
    done <commands
    [ -s commands ] && left advise --json "$@"
}
bz db export -d lex 2>err | grep -v '"problem":"conv[^"]*+' >unfused.jsonl
"$BENANZA" db import -q --db left.db unfused.jsonl && left advise --json
json "{x['what_if']: x['unmeasured_problems'] for x in d['left_out'] if x['what_if']} ==
    {'fusion': 7, 'layout': 6, 'pad': 2}" "fused problems without results are left out, and said"
left_measured
json "d['left_out'] == []" "nothing is left out when the commands that it names have run: $(cat commands)"
rm -f left.db*
"$BENANZA" db import -q --db left.db unfused.jsonl && left bench -q -w layout && left_measured -w layout
json "d['left_out'] == []" "with a what-if on: $(cat commands)"
"$BENANZA" advise -d t4 --db none.db --json "$resnet" >out 2>err
json "[(x['dtype'], x['why']) for x in d['left_out']] == [('bf16', 'no estimate')]" "of a described device"
"$BENANZA" advise -d t4 --db none.db "$resnet" >out 2>err
grep -q '^left out  *no estimate: bf16 (77 problems)$' out && ! grep -q 'with the same options' out
ok $? "no command measures it"
# one disturbed sample, 100 times too slow, of a layer that fusions replace; a real execution of 400 us
"$BENANZA" db export --db t.db -d lex 2>err >quiet.jsonl
python3 - "$models/tiny.onnx" <<'PY'
import hashlib, json, sys
with open("single.jsonl", "w") as out:
    for one in map(json.loads, open("quiet.jsonl")):
        r = one.get("result", {})
        if r.get("stats") and r["problem"] == "eltwise:f32,f32:relu:1x16x32x32":
            times = {k: 100 * v for k, v in r["stats"].items() if k.endswith("_ns")}
            r["stats"] |= times | {"n": 1, "stop": "disturbed", "lo_ns": None, "hi_ns": None}
        print(json.dumps(one), file=out)
with open("real.jsonl", "w") as out:
    print(json.dumps({"type": "execution", "id": 1, "execution": {
        "source": "agent", "framework": "Quick", "version": "1", "provider": "CPU", "device": "Word 1",
        "dtype": "f32", "math": "strict", "model": "tiny", "status": "ok", "measured_at": 1700000000,
        "model_hash": hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest(), "batch": 1, "threads": 2,
        "stats": {"n": 20, "median_ns": 4e5, "lo_ns": 4e5, "hi_ns": 4e5, "stop": "converged"}}}), file=out)
    print(json.dumps({"type": "done", "id": 1, "kind": "model", "payload": "tiny", "status": "ok"}), file=out)
PY
single() { "$BENANZA" "$@" -c config.yaml --db single.db -d lex; }
single db import -q single.jsonl >out 2>err && single advise --json "$models/tiny.onnx" >out 2>err
json "d['bound_ns'] > 9e6 and d['noisy'] and any(x['noisy'] for x in a)" "a noisy sample of 3 ms, three times"
json "d['saves_at_least_ns'] < 0.01 * (d['bound_ns'] - d['least_ns']) and
    any(x['unclear'] and x['saves_after_above_ns'] > 3e6 for x in a)" "... may be all that is saved: unclear"
single advise --csv "$models/tiny.onnx" >out 2>err
[ "$(awk -F, '{ print $3 }' out | head -n 2 | tr '\n' ' ')" = 'rank 1 ' ] && grep -q '^1,f32,1,' out
ok $? "as CSV: a line an advice"
single advise "$models/tiny.onnx" >out 2>err
! grep -q '^with advice .*[0-9]x' out && grep -q '^with advice .*unclear: it may save nothing \*$' out
ok $? "the headline says so, marked"
grep -q '^ *[1-9]  *unclear  ' out
ok $? "and so does its row"
single db import -q real.jsonl >out 2>err && single advise --json "$models/tiny.onnx" >out 2>err
json "d['now_ns'] == 4e5 and d['bound_ns'] > 9e6" "a real execution that is faster is what it takes now"
single advise "$models/tiny.onnx" >out 2>err
grep -q '^now  *400 us  (measured with Quick;' out
ok $? "... as text"

# the explorer tries the types that advise tries
types() { WORD_NS=250 "$BENANZA" "$@" -c config.yaml --db types.db -d lex "$models/tiny.onnx"; }
"$BENANZA" db import -q quiet.jsonl --db types.db && types bench -q -t bf16 -w fusion,matrix,math >out 2>err
types advise --json >out 2>err
json "'bf16' in [x['scenario']['dtype'] for x in a if x['kind'] == 'type and units']" "another type"
types --frame 100x30 --view advice >out 2>err
grep -q '^>\{0,1\}  *[0-9.]* us .* bf16' out
ok $? "... in the explorer too"

bz advise "$models/tiny.onnx" -b 1,2 --json >out 2>err
[ $? -eq 1 ] && [ "$(wc -l <out)" -eq 2 ]
ok $? "one object a batch; that of an unmeasured one has gaps"
done_testing
