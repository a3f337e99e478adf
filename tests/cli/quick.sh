#!/bin/sh
# An answer at once: bench begins with a quick pass, and --within stops when the interval is narrow enough.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/words.sh"
export WORD_QUICK=1 WORD_LOG="$work/log"
json() { python3 -c "import json,sys; d=json.load(open('$work/out')); print($1)"; }
is() {
    got=$(json "$2" 2>&1)
    [ "$got" = "$1" ] || echo "# got $got, not $1"
    ok "$([ "$got" = "$1" ]; echo $?)" "$2 = $1"
}
lines() { grep -c "$1" "$WORD_LOG" || :; }
# anew: another log and database
anew() { : >"$WORD_LOG"; rm -f "$work"/t.db*; }

# twelve matmuls in a chain, each wider than the one before, and eleven Relus
PYTHONPATH=$top/tests/lib python3 - "$work/chain.onnx" <<'END'
import sys
from onnx_wire import *
nodes, weights, x = [], [], "x"
for i in range(12):
    weights.append(tensor(f"w{i}", [16 + i, 17 + i], bytes(4 * (16 + i) * (17 + i))))
    nodes.append(node("MatMul", [x, f"w{i}"], [f"m{i}"], f"matmul{i}"))
    nodes.append(node("Relu", [f"m{i}"], [f"y{i}"], f"relu{i}"))
    x = f"y{i}"
g = graph(nodes, [value_info("x", [1, 16])], [value_info(x, [1, 28])], weights)
open(sys.argv[1], "wb").write(model(g))
END

anew
try 0 "bench" bz bench chain.onnx
says err "first pass: bound rough "
cp "$work/err" "$work/first"
head -n 24 "$WORD_LOG" | grep -vc '^quick ' >"$work/full" || :
[ "$(cat "$work/full")" -eq 0 ] && [ "$(lines '^quick ')" -eq 24 ]; ok $? "all 24 problems come quickly first"
tail -n +25 "$WORD_LOG" | sort >"$work/rest"
grep '^quick ' "$WORD_LOG" | sed 's/quick //' | sort | comm -23 - "$work/rest" >"$work/left"
[ ! -s "$work/left" ]; ok $? "each of them follows in full"
try 0 "the bound" bz bound --json chain.onnx
is "True" "d['complete']"
# the quick measurements cost twice as much
rough=$(sed -n 's/.*bound rough \([0-9.]*\) ms.*/\1/p' "$work/first")
json "d['bound_ns']" >"$work/bound"
python3 -c "
import sys
sys.exit(abs(float('$rough') * 1e6 / float(open('$work/bound').read()) - 2) > 0.01)"
ok $? "which is half of the rough one, $rough ms"
try 0 "again" bz bench chain.onnx
! grep -q "first pass" "$work/err"; ok $? "no pass where nothing is missing"

anew
try 0 "few problems" bz bench "$models/rows.onnx"
[ "$(lines '^quick ')" -eq 0 ]; ok $? "are not worth a pass"
try 0 "without a pass" bz bench --no-quick chain.onnx
[ "$(lines '^quick ')" -eq 0 ] && ! grep -q "first pass" "$work/err"; ok $? "nothing is measured quickly"

anew
cp config.yaml quick.yaml
echo 'quick: off' >>quick.yaml
try 0 "quick: off" "$BENANZA" bench -c quick.yaml --db "$work/t.db" -d lex chain.onnx
[ "$(lines '^quick ')" -eq 0 ] && [ "$(wc -l <"$WORD_LOG")" -gt 24 ]; ok $? "does the same"
anew
try 0 "a sweep" bz bench -b 1,2 chain.onnx
[ "$(head -n 24 "$WORD_LOG" | grep -c '^quick ')" -eq 24 ]; ok $? "begins with the first point"

# a runner from before quick measurements
anew
unset WORD_QUICK
try 0 "an older runner" bz bench chain.onnx
! grep -q "first pass" "$work/err" && [ "$(wc -l <"$WORD_LOG")" -gt 24 ]; ok $? "measures in full at once"
export WORD_QUICK=1

anew
try 0 "--within, with intervals of no width" bz bench --within 2% --json chain.onnx
says err "within 2%: bound "
is "(True, 2.0)" "(d['within']['reached'], d['within']['percent'])"
is "(24, 24)" "(d['measured'], d['first_pass']['problems'])"
[ "$(lines '+')" -eq 0 ] && [ "$(lines '^copy')" -eq 0 ]; ok $? "no fused problems, no peaks"
# the most expensive first: a letter costs the same, so the longest texts
grep -v '^quick ' "$WORD_LOG" | awk 'length > before && NR > 1 { exit 1 } { before = length }'
ok $? "what costs most is measured first"
anew
WORD_SPREAD=10000
export WORD_SPREAD
try 1 "--within, with wide intervals" bz bench --within 2 chain.onnx
says err "not within 2%: bound "
[ "$(grep -vc '^quick ' "$WORD_LOG")" -eq 48 ]; ok $? "each problem was measured once more"
try 0 "a wider one" bz bench --within 50% chain.onnx
[ "$(wc -l <"$WORD_LOG")" -eq 72 ]; ok $? "needs nothing more"
unset WORD_SPREAD

# single samples have no interval: that is not one of no width
anew
WORD_SAMPLES=1
export WORD_SAMPLES
try 1 "--within, without intervals" bz bench --within 50% chain.onnx
says err "not within 50%: the bound's interval is unknown; 24 costs have no interval"
[ "$(grep -vc '^quick ' "$WORD_LOG")" -eq 48 ]; ok $? "each problem was measured once more"
unset WORD_SAMPLES

# layouts that need conversions, which are known when the layers are measured
anew
WORD_LAYOUTS="src=nhwc wei=any dst=nhwc"
export WORD_LAYOUTS
try 0 "--within, with conversions of layouts" bz bench --within 2% "$models/tiny.onnx"
says err "within 2%: bound "
[ "$(grep -c '^transpose' "$WORD_LOG")" -gt 0 ]; ok $? "they are measured too"

# an interval may be narrow because all samples are of one moment
anew
export WORD_REPEAT=1
try 0 "--within, with repeated measurements" bz bench --within 2% "$models/tiny.onnx"
[ "$(lines '^repeat conv')" -ge 2 ]; ok $? "what matters is measured at other times too"
[ "$(lines '^repeat transpose')" -ge 1 ]; ok $? "conversions too"
anew
try 0 "bench, with repeated measurements" bz bench "$models/tiny.onnx"
[ "$(lines '^repeat transpose')" -ge 1 ]; ok $? "conversions too"
unset WORD_LAYOUTS WORD_REPEAT

# a layer without a cost: the bound is known to no precision
anew
cp config.yaml kept.yaml
sed 's/"2"\]/"2", "eltwise:*27"]/' kept.yaml >config.yaml
try 1 "--within, with gaps" bz bench --within 50% chain.onnx
says err "not within 50%: bound at least "
says err "; 1 layer has no cost"
[ "$(grep -c 'eltwise:.*27$' "$WORD_LOG")" -le 2 ]; ok $? "what is not supported is not tried again and again"
mv kept.yaml config.yaml
for bad in 0 -1 101 x 2%x nan; do
    try 2 "--within $bad" bz bench --within "$bad" chain.onnx
    one_line
done
try 2 "with other selections" bz bench --within 2 --again chain.onnx
one_line
done_testing
