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
json "[x['kind'] for x in a if x['kind'] != 'fusion'] == ['parallel'] and a[-1]['kind'] == 'parallel'" \
    "one algorithm each: only fusions, and layers at the same time after them"
json "all('Conv' in x['title'] and x['layers'] for x in a[:-1])" "each with its layers"
[ "$(python3 -c "import json; print(json.loads(open('out').readline())['advice'][-1]['title'])")" = \
    "run independent layers at once (at most)" ]
ok $? "a limit by the peaks, not a measurement: said"
least=$(python3 -c "import json; print(json.loads(open('out').readline())['least_ns'])")
bz bound "$models/tiny.onnx" --json -w fusion,parallel >out 2>err
python3 -c "
import json
d = json.loads(open('out').readline())
assert abs(d['bound_ns'] - $least) <= 0.01 * $least, (d['bound_ns'], $least)"
ok $? "all of it together is the bound of that scenario"
bz advise "$models/tiny.onnx" -w fusion,parallel >out 2>err && grep -q '^no advice: nothing that' out
ok $? "-w sets the start: nothing is left"

bz advise "$models/tiny.onnx" >out 2>err
ok $? "text"
[ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' out)" -le 80 ]
ok $? "within 80 columns"
grep -A2 '^left out' out | tr -s ' \n' ' ' |
    grep -qF 'measured: layout (13 problems), pad (2), f16 (17), bf16 (17) (with the same options: bench -w'
ok $? "what is left out, with the commands that measure it"
grep -q '^with advice  ' out && grep -q '^  fusion *ONNX Runtime ' out
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
json "all(x['bound_ns'] >= y['bound_ns'] for x, y in zip(d['would_reach']['devices'],
    d['would_reach']['devices'][1:])) and 't4' not in [x['device'] for x in d['would_reach']['devices']]" \
    "other devices, slowest first"
"$BENANZA" advise -d h100 --db none.db --json "$resnet" >h100 2>err
python3 -c "
import json
d, h = (json.loads(open(f).readline()) for f in ('out', 'h100'))
assert {x['device']: x['bound_ns'] for x in d['would_reach']['devices']}['h100'] == h['least_ns']"
ok $? "the bound of another device is that of its own advice"
"$BENANZA" advise -d t4 --db none.db --target 5000/s --json "$resnet" >out 2>err
json "[x['batch'] for x in d['would_reach']['batches']][:3] == [1, 2, 4] and
    all(not x['reached'] for x in d['would_reach']['batches'])" "a throughput: larger batches"
json "all(x['reached'] == (x['items_per_s'] >= 5000) and
    abs(x['items_per_s'] * x['bound_ns'] / 1e9 / x['batch'] - 1) < 1e-9
    for k in d['would_reach'].values() for x in k) and
    any(x['reached'] and x['batch'] > 1 for x in d['would_reach']['devices'])" "... on other devices too"
"$BENANZA" advise -d t4 --db none.db --target 1500/s "$resnet" >out 2>err
[ $? -eq 1 ] && grep -q '^  batch 4 .* yes$' out && ! grep -q '^  batch 8' out && grep -q '^  -d h100 ' out &&
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
bz advise "$models/tiny.onnx" -b 1,2 --json >out 2>err
[ $? -eq 1 ] && [ "$(wc -l <out)" -eq 2 ]
ok $? "one object a batch; that of an unmeasured one has gaps"
done_testing
