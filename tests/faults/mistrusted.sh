#!/bin/sh
# What a library computes wrongly is mistrusted, from the runner to the screen: a library is loaded before oneDNN that spoils
# what it computes, or writes where it should not.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
spoils=$(dirname "$BENANZA")/tests/faults/wrong_onednn.so
[ -x "$runner" ] || skip_all "no CPU runner is built"
[ -f "$spoils" ] || skip_all "nothing spoils oneDNN here"
# a sanitizer wants to be loaded first
ldd "$runner" | grep -Eq 'lib(a|t|ub)san' && skip_all "sanitizers"
# Threads sleep while they wait: on a busy machine those that spin hold each other up. From the second state
# on there is one.
export OMP_NUM_THREADS=2 GOMP_SPINCOUNT=0
sum='binary:f32,f32,f32:add:1x16x16x16:1x16x16x16'
export WRONG_BYTES=16384
# cold reads copies of twice the last-level cache, which are 512 MB at most (MEASURE_SETS_BYTES)
llc=$("$runner" --info --json | sed -n 's/.*"llc_bytes":\([0-9]*\).*/\1/p')
cold=cold
[ "${llc:-0}" -lt 256000000 ] || cold=

# spoilt HOW: the answers are in $work/out
spoilt() {
    printf '{"type":"run","id":1,"problem":"%s","budget_ms":2,"caches":["%s"]}\n' "$sum" "$2" |
        WRONG=$1 LD_PRELOAD=$spoils "$runner" --algorithms 1 >"$work/out" 2>"$work/err"
}
for cache in net warm $cold; do
    spoilt no $cache
    grep -q '"type":"done","id":1,"status":"ok"' "$work/out"
    ok $? "$cache: what is not spoilt is believed"
    for how in nothing values last stale source half beyond; do
        spoilt $how $cache
        grep -q '"type":"done","id":1,"status":"mistrusted"' "$work/out"
        ok $? "$cache: mistrusted: $how"
        grep '"type":"result"' "$work/out" | grep -q '"status":"ok"'
        [ $? -eq 1 ]
        ok $? "and no time of it is told"
    done
    OMP_NUM_THREADS=1
done
export WRONG_BYTES=4096
# what has weights, which rotate through copies
sum='matmul:f32,f32.c,f32/f32:ba1bb1m4n256k256:ta0tb0'
spoilt no net
grep -q '"type":"done","id":1,"status":"ok"' "$work/out"
ok $? "weights: what is not spoilt is believed"
spoilt copies net
grep -q '"type":"done","id":1,"status":"mistrusted"' "$work/out"
ok $? "weights: mistrusted where one copy of them is right alone"
spoilt source net
grep -q '"why":"its src does not hold the values that were written"' "$work/out"
ok $? "its inputs lost: that is said"
spoilt stale net
grep -q '"why":"a second execution gives other results or writes nothing"' "$work/out"
ok $? "computed once alone: that is said"
spoilt beyond net
grep -q '"why":"it writes beyond its dst"' "$work/out"
ok $? "beyond its memory: that is said"

# --- all implementations are suspect: probably benanza's own defect ---
# Only oneDNN computes this convolution.
conv=conv:f32,f32.c,f32/f32:n1c16h14w14k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1
printf '{"type":"run","id":1,"problem":"%s","budget_ms":2}\n' "$conv" |
    WRONG=nothing LD_PRELOAD=$spoils "$runner" >"$work/out" 2>"$work/err"
grep '"type":"done"' "$work/out" | grep '"status":"mistrusted"' |
    grep -q 'all [0-9]* implementations that ran are suspect (.*): probably a bug of benanza, please report it'
ok $? "all implementations suspect: the end of the job reports a probable bug of benanza"
WRONG=nothing LD_PRELOAD=$spoils "$runner" --check --problem "$conv" >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && grep -q 'all [0-9]* implementations that ran are suspect' "$work/err" && [ "$(wc -l <"$work/err")" -eq 1 ]
ok $? "--check too, in one line"
printf '{"type":"run","id":1,"problem":"%s"}\n' "$conv" | WRONG=nothing LD_PRELOAD=$spoils "$runner" --check >"$work/out" 2>"$work/err"
grep '"type":"done"' "$work/out" | grep '"status":"ok"' | grep -q '"why":"all [0-9]* implementations that ran are suspect'
ok $? "and in JSON, where the status stays"
WRONG=no LD_PRELOAD=$spoils "$runner" --check --problem "$conv" >"$work/out" 2>"$work/err"
[ $? -eq 0 ] && [ ! -s "$work/err" ]
ok $? "nothing is reported of implementations that are right"

# --- from the runner to the screen ---
tiny=$top/tests/models/tiny.onnx
db=$work/wrong.db
# the peaks are no part of it
printf 'runners:\n  cpu: [sh, "%s", "%s"]\n' "$top/tests/lib/peaks_runner.sh" "$runner" >"$work/told.yaml"
export BENANZA_CONFIG="$work/told.yaml"
export WRONG=nothing LD_PRELOAD="$spoils"
try 1 "bench of a library that computes nothing" "$BENANZA" bench --db "$db" --budget 2 "$tiny"
unset WRONG LD_PRELOAD
grep -q 'suspect (.*): .*bug of benanza.*please report it' "$work/err"
ok $? "and reports that all implementations of a problem are suspect"
try 0 "the database is sound" "$BENANZA" db check --db "$db"
try 1 "bound has gaps" "$BENANZA" bound --json --db "$db" "$tiny"
python3 - "$work/out" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
measured = [l for l in d["layers"] if l["origin"] == "measured" and "conv" in str(l.get("problem", ""))]
print("# coverage", d["coverage"])
sys.exit(0 if not d["complete"] and d["coverage"]["missing"] > 0 and not measured else 1)
END
ok $? "what was spoilt is in no bound"
try 0 "the explorer" "$BENANZA" "$tiny" --db "$db" --frame 120x40 --view layers --keys Enter
says out "suspect"
try 1 "again: bench asks nobody about what is known to be wrong" "$BENANZA" bench --json -q --db "$db" --budget 2 "$tiny"
done_testing
