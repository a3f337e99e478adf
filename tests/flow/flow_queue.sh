#!/bin/sh
# A flow: the queue while it is measured, its keys, its log; saved scenarios deleted and renamed; devices
# beside each other; the quick pass.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"

explore 100 30 "'$tiny'"
see "not measured"
keys b
see "waiting at" "one is done, the next is held back"
keys g q
see "[gq] Queue"
see "1 running"
see "queue 2"
see "done" "what has ended"
keys /
typed "queue 3"
keys Enter T
see "it is the next job" "T puts a job first"
keys C
see "jobs removed; the running one continues" "C clears the queue"
see "0 waiting"
echo go >&3
see "0 running" "the running one ends"
keys .
see "[gl] Messages" "the whole log"
keys q
see "[gq] Queue"
keys b
see "waiting" "b queues the rest again"
see "0 waiting" "and all are measured"
keys g s s
typed "mine"
keys Enter
see "saved: -w mine"
keys /
typed "mine"
keys Enter F2
typed "yours"
keys Enter
see "mine is now yours"
keys X
see "delete the scenario yours? y/n"
keys y
see "yours is deleted"
gone "yours  "
keys D /
typed "h100"
keys Enter V
see "is marked; 1 marked"
keys g s
see "to the present"
see " h100 " "the marked device is a row"
keys j
see "NVIDIA H100" "its name where there is no room for it below"
see "~" "of estimates"
keys Q
left 0

# quick measurements of everything, then a full one; the next is held back
cat >"$work/quick.yaml" <<END
measure: never
runners:
  gate:
    command: [sh, "$top/tests/lib/word_runner.sh", Lex, "lex 1, 1 thread", 1, none, "read -r open <$gate"]
    env: { WORD_QUICK: "1", WORD_LOG: "$work/log" }
END
config=$work/quick.yaml
rm -f "$work"/flow.db*
explore 120 30 "'$resnet'"
see "not measured"
keys b
see "bound rough" "a rough bound"
see "f fusion ~-" "with rough gains of what-ifs"
keys 3
see "  rough" "which say so"
keys q
see "[1] Layers"
keys j Enter
see "a quick measurement of the library's first choice" "a layer's details"
echo go >&3
keys Q
left 0

: >"$work/log"
rm -f "$work"/flow.db*
explore 120 30 "'$resnet' -b 1,2"
see "not measured"
keys b
see "measuring 1" "a sweep: the first full measurement"
sed '/^quick /!q' "$work/log" >"$work/before"
grep -q '^quick conv:.*:n1c' "$work/before" && grep -q '^quick conv:.*:n2c' "$work/before"
ok $? "comes after a quick pass over all points"
echo go >&3
keys Q
left 0
done_testing
