#!/bin/sh
# A flow: measure with b while the screen stays alive, quit in the middle, come back: what was measured is there.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"

explore 80 24 "'$tiny'"
see "problems of this scenario are not measured"
keys b
see "measuring 1/" "one is done, the next is held back"
see "waiting at" "what the runner is at"
see "bound at least"
keys j
see "measuring 1/" "the screen moves while it measures"
keys "?"
see "In this view" "help while it measures"
keys q
see "[1] Layers"
keys q
see "measuring: leave?" "leaving asks"
keys y
left 0

explore 80 24 "'$tiny'"
see "bound at least" "what was measured is there again"
keys b
see "waiting at" "the first new one"
echo go >&3
see "bound " "the rest"
see "layers known" "everything is measured"
keys q
left 0

config=$work/nothing.yaml
explore 80 24 "'$tiny'"
see "recorded results are shown" "a runner that does not start"
see "layers known" "its results are there all the same"
keys b
see "no runner answers" "and b says what is wrong"
keys q
left 0
sed -i 's/^measure: never/measure: ask/' "$work/gate.yaml"
config=$work/gate.yaml
rm -f "$work"/flow.db*
explore 80 24 "'$tiny'"
see "problems have no result: measure now, ~" "a miss asks"
keys j
see "b measure" "another key does its work"
keys Q
left 0
explore 80 24 "'$tiny'"
see "measure now, ~"
keys y
see "measuring 0/" "y measures"
keys Q
left 0
done_testing
