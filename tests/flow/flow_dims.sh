#!/bin/sh
# A flow: dimensions that depend on each other are changed together, in one form.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"

explore 100 30 "'$top/data/models/gpt2_small.onnx'"
see "sequence 1, total_sequence 129, past_sequence 128 (sidecar)"
keys d
see "> sequence" "the form"
typed 16
keys Tab
see "> total_sequence         144" "the sum of two others follows them"
typed 150
keys Enter
see "total_sequence=150" "another value is rejected, by name"
see "do not broadcast"
see "> total_sequence         150         * changed" "the form stays, at the field that is wrong"
typed 144
keys Enter
see "sequence 16, total_sequence 144 (entered), past_sequence 128 (sidecar)" "together they are accepted"
keys d
see "3 of 5"
typed 8
keys Escape
gone "3 of 5"
see "sequence 16, total" "Esc changes nothing"
keys q
left 0
explore 100 30 "'$top/data/models/gpt2_small.onnx'"
see "sequence 16, total_sequence 144 (remembered)" "they are there again the next time"
keys q
left 0
cp "$top/data/models/gpt2_small.onnx" "$work/free.onnx" # without the file of dimensions beside it
explore 100 30 "'$work/free.onnx'"
see "d sets 3 dimensions"
keys d
typed 8
keys Tab
typed 136
keys Tab
see "> past_sequence          128" "the last of the three follows from the others"
keys Enter
see "sequence 8, total_sequence 136, past_sequence 128 (entered)"
keys q
left 0
done_testing
