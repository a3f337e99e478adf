#!/bin/sh
# A flow: branches side by side (parallel=measured) are measured by b once the results of their layers are
# known: of one scenario, of all points of a sweep.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"

cat >"$work/log.yaml" <<END
measure: never
runners:
  gate:
    command: [sh, "$top/tests/lib/word_runner.sh", Lex, "lex 1, 2 threads", 2]
    env: { WORD_LOG: "$work/log" }
END
config=$work/log.yaml
sets() { grep -c "^beside:.*:n$1c" "$work/log"; }

explore 120 30 "'$resnet' -w fusion"
see "not measured"
keys b
see "b all measured" "b measures the layers"
ok "$([ "$(sets 1)" -eq 0 ]; echo $?)" "and no branches, which the scenario does not need"
keys p p p
see "PARALLEL ?" "parallel=measured: unknown"
keys b
see "PARALLEL -" "b measures the branches"
ok "$([ "$(sets 1)" -eq 4 ]; echo $?)" "of the four blocks that have a layer on each way"
ok "$([ -z "$(sort "$work/log" | uniq -d)" ]; echo $?)" "each problem once"
keys g t
see "side by side" "the timeline says what they take"
keys Q
left 0

: >"$work/log"
rm -f "$work"/flow.db*
explore 120 30 "'$resnet' -b 1,2 -w parallel=measured,fusion"
see "not measured"
keys b
see "PARALLEL -" "a sweep: its branches are measured, too"
ok "$([ "$(sets 1)" -eq 4 ] && [ "$(sets 2)" -eq 4 ]; echo $?)" "at each batch"
ok "$([ -z "$(sed -n '/^beside:/,$p' "$work/log" | grep -v '^beside:')" ]; echo $?)" \
    "after all other problems"
keys g w
see "[gw] Sweep"
gone "unmeasured: b" "all points are measured"
keys Q
left 0
done_testing
