#!/bin/sh
# A flow: the charts by their keys, on a model of which nothing is measured and on a described device.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"

explore 80 24 "'$resnet'"
see "Gate 1, " "the runner is up"
keys g m
see "[gm] Map"
see "175 layers in 167 levels"
see "; no cost is known"
keys 3 l
see "level 4" "a count of levels"
keys Enter
see "[1] Layers" "Enter dives into the list"
see "/maxpool/MaxPool  not measured" "at the same layer"
keys g n
see "[gn] Graph"
see "1 producer (k), 2 consumers (j)"
keys j
gone "2 consumers" "to a consumer"
keys k
see "2 consumers" "and back"
keys l
gone "launch is" "l is a key of the chart"
keys g r
see "no layer has a position yet" "no roofline without measurements"
keys g t
see "no layer has a cost yet" "no timeline either"
keys g d
see "no samples: not measured" "nor samples"
keys /
see "this view cannot be searched"
keys q
see "[gt] Timeline" "q goes back to the view before"
keys 1 q
left 0

explore 100 30 "'$resnet' -d h100"
see "estimate ~" "a described device"
keys g r
see "memory 3.35 TB/s" "a roofline of estimates"
see "FLOP/byte  ~"
keys n
see "bound by" "the next one with the same limit"
keys Escape
keys p
see "PARALLEL"
keys g t
see "on the critical path"
see "2 lanes"
keys +
see "; 2x" "zooms in"
keys G
see " fc  start ~" "the last layer"
keys =
gone "; 2x" "all of it"
keys Escape q
left 0
done_testing
