#!/bin/sh
# diff: two bounds with fixed costs.
. "${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
. "$top/tests/lib/words.sh"
tiny=$models/tiny.onnx
json() { python3 -c "
import json
d = json.loads(open('$work/out').readline())
l = d['layers']
assert $1, d"; ok $? "$2"; }

try 2 "one side" bz diff "$tiny"
says err "diff: side B is missing"
one_line
try 2 "nothing is measured" bz diff "$tiny" "$tiny"
says err "side A has layers without a cost"
bz bench -q "$tiny" >out 2>err
ok $? "bench with fixed costs"
try 0 "a model beside itself" bz diff --json "$tiny" "$tiny"
json "d['verdict'] == 'same' and d['diff_ns'] == 0 and all(x['verdict'] == 'same' for x in l)" "no difference"
try 0 "with fusion" bz diff --json "$tiny" --with '-w fusion'
json "d['verdict'] == 'faster' and d['a']['scenario']['what_if'] != d['b']['scenario']['what_if']" "faster"
json "abs(sum(x['diff_ns'] for x in l) - d['diff_ns']) < 1" "the differences of the layers add up"
json "[abs(x['diff_ns']) for x in l] == sorted((abs(x['diff_ns']) for x in l), reverse=True)" "largest first"
try 1 "the other way round it is slower" bz diff --json -w fusion "$tiny" --with '-w fusion=off'
json "d['slower'] and d['verdict'] == 'slower' and d['threshold'] == 0.05" "beyond the threshold"
try 0 "a higher threshold" bz diff --json -w fusion "$tiny" --with '-w fusion=off' --threshold 900%
json "d['verdict'] == 'slower' and not d['slower']" "slower, but not beyond it"
printf 'batch: [1, 4]\ndtype: [f32, f16]\nscenarios: { fused: fusion }\n' >lists.yaml
for command in report scenarios "repro 1" "diff --with=-wfusion"; do
    # shellcheck disable=SC2086
    "$BENANZA" ${command%% *} -c lists.yaml -d h100 "$tiny" $(expr "$command" : '[a-z]* \(.*\)') >out 2>err
    [ $? -le 1 ] && [ "$(grep -c 'lists.yaml:1: batch: .* takes the first value; -b gives' err)" -eq 1 ]
    ok $? "$command takes the first value of a list of the configuration, and says so once"
    "$BENANZA" ${command%% *} -c lists.yaml -d h100 -b 1,4 "$tiny" \
        $(expr "$command" : '[a-z]* \(.*\)') >out 2>err
    [ $? -eq 2 ] && grep -q 'give one value of -b, not 2' err
    ok $? "... but not several values of -b"
done
try 0 "as text" bz diff "$tiny" --with '-w fusion'
[ "$(awk '{ if (length($0) > n) n = length($0) } END { print n }' out)" -le 110 ] && grep -q '^total ' out
ok $? "the total"
for bad in '-w nothing' "-w 'fusion" '-b 1,2' 'word' '--none'; do
    try 2 "--with $bad" bz diff "$tiny" --with "$bad"
    one_line
done
try 0 "--with overrides a dimension" \
    "$BENANZA" diff -d h100 --json "$tiny" --dim batch=1 --with '--dim batch=2'
json "d['a']['scenario']['batch'] == 1 and d['b']['scenario']['batch'] == 2" "B has its own"
try 0 "--with overrides a shape" \
    "$BENANZA" diff -d h100 -q "$tiny" --input x=1x3x32x32 --with '--input x=2x3x32x32'
try 0 "--with overrides a cost" bz diff --json "$tiny" --assume 1=2x --with '--assume 1=4x'
json "d['verdict'] == 'faster'" "of the same layer"
try 0 "a value without effect in both" "$BENANZA" diff -d h100 --value x=1 "$tiny" --with '-t f32'
[ "$(grep -c 'value x has no effect' "$work/err")" -eq 1 ]
ok $? "a note of both sides is printed once"
try 0 "a device beside a measured one" bz diff "$tiny" --with '-d h100'
grep -Eq '^ *[0-9.]+ [mun]s +~[0-9.]+ [mun]s +~[-+][0-9.]+ [mun]s +~' out &&
    ! grep -Eq '^ *~[0-9.]+ [mun]s +~' out
ok $? "the side with estimates is marked, and the difference"
try 0 "a model without common layers" "$BENANZA" diff -d h100 --json "$tiny" "$models/rows.onnx"
json "{(x['a_index'] is None) + (x['b_index'] is None) for x in l} == {1} and \
all((x['a_ns'] is None) == (x['a_index'] is None) for x in l) and \
abs(sum(x['b_ns'] or 0 for x in l) - d['b']['ns']) < 1" "each layer is on one side"
bert=$top/data/models/bert_base.onnx
try 0 "another sequence length" "$BENANZA" diff -d h100 "$bert" --with '--dim sequence=64'
[ "$(grep -c '^   dimensions: ' out)" -eq 2 ] && grep -q '^   dimensions: sequence 128 (sidecar)$' out &&
    grep -q '^   dimensions: sequence 64 (option)$' out
ok $? "each side says its dimensions"
try 0 "as JSON" "$BENANZA" diff -d h100 --json "$bert" --with '--dim sequence=64'
json "[d[s]['scenario']['dims']['sequence'] for s in 'ab'] == [128, 64]" "and there"
try 2 "an empty --with" bz diff "$tiny" --with ' '
says err "--with: is empty"
each() { # an expression of all comparisons; its name
    python3 -c "
import json
d = [json.loads(line) for line in open('$work/out')]
assert $1, d"; ok $? "$2"; }
try 1 "three devices: a T4 is slower than an H100" "$BENANZA" diff --json -d h100 -d l40s -d t4 "$tiny"
each "[x[s]['device'].split()[-1] for x in d for s in 'ab'] == ['HBM3', 'L40S', 'HBM3', 'T4']" \
    "each is compared with the first"
try 3 "a device that is none" "$BENANZA" diff --json -d h100 -d nosuch -d t4 "$tiny"
each "[x['b']['device'].split()[-1] for x in d] == ['T4']" "the next one is compared all the same"
says err "-d nosuch: no runner has this name"
one_line
try 0 "the second is faster" "$BENANZA" diff --json -d t4 -d h100 "$tiny"
try 0 "three models" "$BENANZA" diff --json -d h100 "$tiny" "$tiny" "$models/rows.onnx"
each "[x['b']['model'].split('/')[-1] for x in d] == ['tiny.onnx', 'rows.onnx'] and \
[x['a']['model'].split('/')[-1] for x in d] == ['tiny.onnx', 'tiny.onnx']" "each is compared with the first"
try 0 "several --with" bz diff --json "$tiny" --with '-w fusion' --with '--assume 1=2x'
each "[x['a']['ns'] == d[0]['a']['ns'] for x in d] == [True] * 2 and \
'fusion' in d[0]['b']['scenario']['what_if'] and 'fusion' not in d[1]['b']['scenario']['what_if']" \
    "each beside the options as given"
try 0 "as CSV" "$BENANZA" diff -d h100 --csv "$tiny" --with '-d l40s' --with '-w fusion'
[ "$(grep -c '^part,' out)" -eq 1 ] &&
    [ "$(grep -c '^total,' out)" -eq 2 ] && [ "$(grep -c '^layer,' out)" -gt 4 ]
ok $? "one line of names; of each B a total and its layers"
try 2 "devices in two ways" "$BENANZA" diff -d h100 -d l40s "$tiny" --with '-d t4'
one_line
try 2 "a threshold that is no percentage" bz diff "$tiny" --threshold x
one_line
done_testing
