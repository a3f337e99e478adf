#!/bin/sh
# Branches side by side (-w parallel=measured) with a runner that measures nothing: found in GoogLeNet, asked
# for when they are wanted, measured once, counted, printed.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/words.sh"
google=$top/data/models/googlenet.onnx
WORD_LOG=$work/log
export WORD_LOG
json() { python3 -c "import json,sys; d=json.load(open('$work/out')); s=d['side_by_side']; print($1)"; }
is() {
    got=$(json "$2" 2>&1)
    [ "$got" = "$1" ] || echo "# got $got, not $1"
    ok "$([ "$got" = "$1" ]; echo $?)" "$2 = $1"
}

try 0 "bench" bz bench -q "$google"
ok "$(! grep -q beside: log; echo $?)" "without the what-if no branches are measured"
try 0 "bound" bz bound "$google" -w parallel=measured,fusion
says out "side by side  unknown until "
says out " problems are measured: bench -w parallel=measured"
says out "  side by side (sequential "
bz bound "$google" -w parallel=measured,fusion --json >out
is "True" "d['bound_ns'] == d['sequential_ns'] and s['unmeasured'] > 0 and s['saves_ns'] == 0"
bz bound "$google" --json >out
is "None" "s"

try 0 "bench of branches" bz bench -q "$google" -w parallel=measured,fusion
ok "$(grep -q '^beside:' log; echo $?)" "bench measures them"
ok "$([ -z "$(sort log | uniq -d)" ]; echo $?)" "each problem once"
bz bound "$google" -w parallel=measured,fusion --json >out
is "9" "len({l['layer'] for t in s['sets'] if t['used'] for l in t['branches'][0][:1]})"
is "0" "s['unmeasured']"
is "True" "all(len(t['branches']) == 4 for t in s['sets'] if t['used'])"
is "True" "abs(d['sequential_ns'] - s['saves_ns'] - d['bound_ns']) < 1"
is "True" "abs(sum(t['alone_ns'] - t['ns'] for t in s['sets'] if t['used']) - s['saves_ns']) < 1"
is "[0, 9]" "[w['unmeasured_problems'] for w in d['what_if'][:2]]" # without fusion the branches are others
is "True" "d['what_if'][0]['saves_ns'] == s['saves_ns']"
is "word:one" "s['sets'][0]['algorithm']"
try 0 "bound" bz bound "$google" -w parallel=measured,fusion
says out "side by side  9 of "
says out " less than the layers one after the other"
says out ", alone "
says out " | "
says out "and 5 more (bound --json)"
try 0 "bench again" bz bench "$google" -w parallel=measured,fusion
says out ", 0 measured, 0 unsupported"
try 0 "bound with named libraries" bz bound "$google" -w parallel=measured,fusion,libraries=word
says out "side by side  9 of "
try 0 "a described device" "$BENANZA" bound "$google" --db none.db -d h100 -w parallel=measured,fusion
says out "side by side  not available on a described device: it has neither"
says out "unknown: branches side by"
"$BENANZA" bound "$google" --db none.db -d h100 -w parallel=measured,fusion --json >out
is "True" "s['unmeasured'] == 0 and all('described' in t['why'] for t in s['sets'])"
is "[False, True]" "[w['saves_ns'] is not None for w in d['what_if'][:2]]"
mv t.db first.db
try 0 "bench --within of a new database" bz bench --within 50% "$google" -w parallel=measured,fusion
bz bound "$google" -w parallel=measured,fusion --json >out
is "0" "s['unmeasured']"
is "9" "len({l['layer'] for t in s['sets'] if t['used'] for l in t['branches'][0][:1]})"
mv t.db first.db
rm -f log
WORD_REPEAT=1
export WORD_REPEAT
try 0 "bench with repeated measurements" bz bench -q "$google" -w parallel=measured,fusion
ok "$([ "$(grep -c '^repeat beside:' log)" -ge 9 ]; echo $?)" "branches in the bound are measured again"
ok "$([ "$(grep -c '^repeat beside:' log)" -le 18 ]; echo $?)" "twice at most"
unset WORD_REPEAT
bz bench -q "$models/rows.onnx" >out
try 0 "a model of one branch" bz bound "$models/rows.onnx" -w parallel=measured
says out "side by side  nothing: no branches are independent of each other"
try 2 "bound of a choice that is none" bz bound "$google" -w parallel=beside
says err "is not measured, path, resources or off"
done_testing
