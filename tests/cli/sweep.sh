#!/bin/sh
# sweep: batches, types and dimensions side by side, with fixed costs.
. "${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
. "$top/tests/lib/words.sh"
json() { python3 -c "
import json
d = [json.loads(line) for line in open('$work/out')]
assert ($1), d"; ok $? "$2"; }

bz sweep -b 1,2 "$models/tiny.onnx" >out 2>err
[ $? -eq 1 ] && grep -q 'run bench with the same -b, -t first' out && grep -q '^no best batch' out
ok $? "nothing is measured: exit status 1, and what to do"
bz bench -q -b 1,2,4 -t f32,f16 "$models/tiny.onnx" >out 2>err
bz sweep -b 4,1,2 -t f32,f16 --json "$models/tiny.onnx" >out 2>err
ok $? "three batches, two types"
json "[(p['scenario']['batch'], p['scenario']['dtype']) for p in d] ==
    [(b, t) for t in ('f32', 'f16') for b in (1, 2, 4)]" "one object a point; batches ascend in each type"
json "all(p['complete'] and abs(p['items_per_s'] * p['bound_ns'] - 1e9 * p['scenario']['batch']) < 1
    for p in d)" "items/s = batch / bound"
json "all(p['tokens_per_s'] is None for p in d)" "a model of images has no tokens"
json "sum(p['best'] for p in d[:3]) == 1 and sum(p['best'] for p in d[3:]) == 1" "one best batch a type"
json "d[0]['crossovers'] is None and d[1]['crossovers'] == 0 and d[3]['crossovers'] is None" \
    "algorithms are compared within a series"
bz bound -b 2 -t f16 --json "$models/tiny.onnx" >bound 2>err
python3 -c "
import json
b = json.loads(open('bound').readline())
p = [json.loads(line) for line in open('out')][4]
assert b['bound_ns'] == p['bound_ns'] and b['interval_ns'] == p['interval_ns'], (b['bound_ns'], p)"
ok $? "the bound is that of the command bound"
bz sweep -b 1,2,4 -t f32 "$models/tiny.onnx" >out 2>err
[ $? -eq 0 ] && [ "$(grep -c ' \* ' out)" -eq 1 ] && grep -q 'best batch: up to here' out
ok $? "as text; one row is marked"
bz sweep --ascii -b 1,2,4 "$models/tiny.onnx" >out 2>err
[ "$(LC_ALL=C awk '/[^ -~]/ { n++ } length($0) > 80 { n++ } END { print n + 0 }' out)" -eq 0 ] &&
    grep -q '##' out
ok $? "as ASCII, within 80 columns"
"$BENANZA" sweep --ascii -d h100 -b 1,2,4 "$models/tiny.onnx" >out 2>err
[ "$(awk 'length($0) > 80 { n++ } END { print n + 0 }' out)" -eq 0 ] && grep -Eq 'overhead ~100% +\* +##' out
ok $? "with limits that are estimates too"
bz sweep -b 1,3 -t f32 "$models/tiny.onnx" >out 2>err
grep -Eq '^ +1 +f32 .* [0-9.]+ [KM]iB ' out && ! grep -Eq '^ +1 +f32 .*>=' out &&
    grep -Eq '^ +3 +f32 .*>=[0-9.]+ [KM]iB ' out
ok $? "of a batch that is not measured the memory is the least"
bz sweep -b 1,2 --csv "$models/tiny.onnx" >out 2>err
[ "$(awk -F, '{ print NF }' out | sort -u)" = 12 ] && [ "$(wc -l <out)" -eq 3 ]
ok $? "as CSV: a header and a line a point"

"$BENANZA" sweep -d h100 --db none.db -b 1 "$models/tiny.onnx" >out 2>err
grep -Eq '^ +1 +f32 +~[0-9.]+ [um]s +~[0-9.]+' out
ok $? "estimated: the bound and the items a second are both marked"
! grep -Eq '(^|[^~0-9.])[0-9.]+%' out && grep -Eq '~[0-9]+%' out
ok $? "... and the share of the limit"
"$BENANZA" bound -d h100 --db none.db "$models/tiny.onnx" >out 2>err
! sed -n '/^limits/p; /^layer /,$p' out | grep -Eq '(^|[^~0-9.])[0-9.]+%' && grep -Eq ' ~[0-9.]+%  ' out
ok $? "... and each share of a bound"

bert=$top/data/models/bert_base.onnx
"$BENANZA" sweep -d h100 --db none.db --over 'sequence=64,256' -b 1,8 -t f16 --json "$bert" >out 2>err
json "[(p['scenario']['dims'], p['scenario']['batch']) for p in d] ==
    [({'sequence': s}, b) for s in (64, 256) for b in (1, 8)]" "a dimension and two batches"
json "all(abs(p['tokens_per_s'] / p['items_per_s'] - p['scenario']['dims']['sequence']) < 1e-6 for p in d)" \
    "tokens a second: those of input_ids"
json "all(p['estimated'] and p['bound_by'] in ('memory', 'compute', 'overhead') for p in d) and
    d[0]['bound_by'] == 'overhead' and d[3]['bound_by'] != 'overhead' and
    d[0]['memory_bytes'] < d[1]['memory_bytes'] < d[3]['memory_bytes']" "what limits it; memory grows"
"$BENANZA" sweep -d h100 --db none.db -t f16 --json \
    --over 'past_sequence=127,511;total_sequence=128,512' "$top/data/models/gpt2_small.onnx" >out 2>err
json "[p['scenario']['dims'] for p in d] ==
    [{'past_sequence': n, 'total_sequence': n + 1} for n in (127, 511)] and
    d[0]['bound_ns'] < d[1]['bound_ns']" "two dimensions change together; a longer cache takes longer"

for batches in 1,2 1,2,4,8,16,32,64,128; do
    "$BENANZA" sweep -d h100 --db none.db -b $batches "$top/data/models/resnet50.onnx" >$batches 2>err
done
grep -q 'larger batches (-b) may be better' 1,2 &&
    ! grep -q 'larger batches (-b) may be better' 1,2,4,8,16,32,64,128
ok $? "the largest batch is the best: said; a smaller one is: not"
gpt2=$top/data/models/gpt2_small.onnx
"$BENANZA" sweep -d h100 --db none.db -t f32,f16 --json \
    --over 'past_sequence=32767;total_sequence=32768' "$gpt2" >out 2>err
json "d[1]['bound_ns'] < 0.6 * d[0]['bound_ns']" "a long cache in half the bytes takes about half the time"
"$BENANZA" sweep -d h100 --db none.db --over 'past_sequence=127,511;total_sequence=128,512' "$gpt2" >out 2>err
grep -q '^dimensions: sequence 1 (sidecar)$' out
ok $? "the dimensions that stay are said, and their source"
"$BENANZA" sweep -d h100 --db none.db --over 'sequence=64,128,256' "$bert" >out 2>err
[ $? -eq 0 ] && ! grep -q 'no best batch' out && [ "$(grep -c '^ *1  *f32' out)" -eq 3 ] &&
    [ "$(sed -n '/^batch/,/^$/p' out | grep -c '^ *1  *f32')" -eq 3 ]
ok $? "one batch: no blank lines, and nothing about the best batch"

# the explorer's sweep: a type other than the present one has its own matrix units, as in the command
set -- -d h100 --db none.db -b 1 -t f32,f16 "$top/data/models/resnet50.onnx"
"$BENANZA" sweep "$@" >out 2>err
half=$(sed -n 's/^.*f16 *\(~[0-9.]* [a-z]*\) .*$/\1/p' out)
"$BENANZA" "$@" --fresh --frame 100x40 --view sweep >out 2>err
[ -n "$half" ] && grep -q "f16.* $half " out
ok $? "the explorer's f16 is the command's: $half"

bad() {
    "$BENANZA" sweep -d h100 --db none.db --over "$1" "$bert" >out 2>err
    [ $? -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] && grep -q -- "$2" err
    ok $? "refused: $1"
}
bad 'sequence' 'is not NAME='
bad '=64' 'is not NAME='
bad 'sequence=' 'give 1 to 256 numbers'
bad 'sequence=64,' 'give 1 to 256 numbers'
bad 'sequence=64,-1' 'give 1 to 256 numbers'
bad 'sequence=64,128;other=1' 'has 1 values, the first dimension has 2'
bad 'nosuch=3' 'no dimension nosuch'
bad 'sequence=64;sequence=128' 'is given twice'
bad 'batch=1,2' 'with -b'
bad '' 'give NAME='
bad 'sequence=99999' 'sequence'

# a page has one batch and type: nothing is printed before it is known that there are more
printf 'batch: [1, 8]\n' >two.yaml
try 0 "a page of two batches" "$BENANZA" report -c two.yaml -d h100 "$models/tiny.onnx"
says err "two.yaml:1: batch: report takes the first value; -b gives another"
grep -q "batch 1" out
ok $? "is one of the first"
"$BENANZA" bound -d h100 -w fusion "$models/tiny.onnx" >out 2>err
grep -q '^resources     ~' out
ok $? "what the resources need is an estimate where the costs are"
"$BENANZA" sweep -d v100 --db none.db -b 1 -t f16,bf16 "$models/tiny.onnx" >out 2>err
tr '\n' ' ' <out | tr -s ' ' | grep -q 'without an estimate on this device (bound): use another -t, or --a' &&
    ! grep -q 'run bench' out
ok $? "a described device cannot be measured: what helps"
for case in v100:bf16:no v100:f16:yes t4:bf16:no a100:bf16:yes; do
    device=${case%%:*} rest=${case#*:}
    "$BENANZA" bound -d "$device" -t "${rest%:*}" --db none.db "$models/tiny.onnx" 2>err | head -1 >out
    if grep -q 'on matrix units' out; then said=yes; else said=no; fi
    [ "$said" = "${rest#*:}" ]
    ok $? "$device has matrix units for ${rest%:*}: $said"
done
done_testing
