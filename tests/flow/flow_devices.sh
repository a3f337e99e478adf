#!/bin/sh
# A flow: choose other devices from within: a described one, records, runners that answer, that do not, and that are busy.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"

# devices PLANNER: the configuration, with a planner that behaves so
devices() {
    config=$work/$1.yaml
    cat >"$config" <<END
measure: never
runners:
  gate: [sh, "$top/tests/lib/gate_runner.sh", "$gate"]
  absent: [/nowhere/runner]
  silent: [sleep, "600"]
  cuda: [sh, "$top/tests/lib/plan_runner.sh", $1]
END
}
# to WORD: to the device that has the word, which is put in force
to() {
    keys D
    see "[5] Devices"
    keys /
    typed "$1"
    keys Enter Enter
}

devices answers
explore 80 24 "'$tiny'"
see "problems of this scenario are not measured"
keys j b
see "waiting at" "one is measured, the next is held back"
to h100
see "h100 is a described device" "a described device while the old one measures"
see "H100 80GB HBM3" "the header follows"
see "● h100" "and the mark"
keys q
see "estimated" "estimates"
see "plannable" "and what could run"
see "planned by stand-in 1" "by whom"
keys b
see "nothing can be measured" "no measuring"
echo go >&3
to gate_runner
see "now using Gate 1" "back to the runner"
keys q
see "bound at least" "what was measured is kept"
keys f
see "f FUSION" "a what-if"
keys b
echo go >&3 # the runner that was left may have taken the first one
see "layers known" "the rest is measured"
to absent
see "absent: cannot start the runner /nowhere/runner" "one that is not there says why"
see "● gate" "the old one stays"
to silent
see "starting the runner of silent" "one that says no hello is waited for"
keys j
see "starting the runner of silent" "and the screen moves"
keys x
see "starting silent was cancelled" "as long as one likes"
keys D j j j j Enter
see "recorded results, nothing can be measured" "its records"
keys q
see "f FUSION" "the scenario stays"
see "layers known" "with all results"
keys q
left 0

devices dies
explore 80 24 -d h100 "'$tiny'"
see "estimates only" "a planner that dies"
see "(the runner " "the reason comes first, then the runner that ended"
see "estimated" "estimates all the same"
keys q
left 0

devices hangs
explore 80 24 -d h100 "'$tiny'"
see "planning..." "a planner that says nothing"
to b200
see "B200" "is left for another"
keys q q
left 0

cp "$top/data/models/bert_base.onnx" "$work/free.onnx" # without the dimensions that lie beside it
devices answers
explore 80 24 -d h100 "'$work/free.onnx'"
see "d sets" "a dimension is asked for"
to v100
see "this build has no kernels"
see "V100" "and other devices are chosen meanwhile"
keys q q
left 0

# no file can grow, which is taken as a full disk
printf '%s\n' 'ulimit -f 0' 'exec "$@"' >"$work/full.sh"
wrap="sh '$work/full.sh'"
rm -f "$work"/flow.db*
devices answers
explore 80 24 -d h100 "'$tiny'"
see "results cannot be kept" "a full disk, and no database"
see "estimated" "estimates all the same"
keys q
left 0
wrap=
rm -f "$work"/flow.db*
explore 80 24 -d h100 --db "'$work/full.sh'" "'$tiny'"
left 2 "a file that is no database is refused all the same"
done_testing
