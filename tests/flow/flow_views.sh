#!/bin/sh
# A flow: the views that compare, on a measured model: advice, groups, algorithms, distribution, roofline,
# timeline, scenarios, sweep; a result that arrives changes what they show.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"

explore 100 30 "'$tiny'"
see "[1] Layers"
keys g y
see "[gy] Groups"
see "11 layers without a cost" "nothing is measured yet"
keys b
see "waiting at" "one result came"
see "10 layers without a cost" "the view follows"
echo go >&3
gone "without a cost" "all are known"
see "Conv                         4"
keys .
see "[gy] Groups"
see "scope" "by scope"
keys g a
see "[ga] Algorithms"
see "● gate:one" "the algorithm in use"
keys ">"
see "batchnorm:f32" "the next layer"
keys g d
see "[gd] Distribution"
keys g r
see "[gr] Roofline"
see "8 of 8 problems by cost"
keys g t
see "[gt] Timeline"
see "sequential: one after the other"
keys p
see "longest path" "the parallel schedule"
keys p 7
see "[7] Advice"
see "fuse Conv" "what to do first"
keys Space
see "f FUSION" "Space switches it on"
see "no advice: no measured change saves" "and nothing is left to do"
keys Q
left 0

# named scenarios: saved, listed, used
cp "$config" "$work/named.yaml"
config=$work/named.yaml
explore 100 30 "'$tiny' -w fusion"
see "f FUSION"
keys g s
see "[gs] Scenarios"
keys s
see "save the present scenario as"
typed mine
keys Enter
see "saved: -w mine uses it"
keys f f f f
gone "f FUSION" "the present one changes"
keys j Enter
see "f FUSION" "a saved one is used again"
keys Q
left 0
explore 100 30 "'$tiny' -w mine"
see "f FUSION" "-w knows it too"
keys Q
left 0

# the sweep: points one after the other, measured whole
explore 100 30 "'$tiny' -b 1,4"
see "[1] Layers"
keys g w
see "[gw] Sweep"
see "unmeasured: b" "a point that is not measured"
echo go >&3
keys b
see "*4" "all points are, and the best batch is marked"
see "● f32" "with curves"
keys j Enter
see "batch 4" "Enter takes a point"
keys Q
left 0
done_testing
