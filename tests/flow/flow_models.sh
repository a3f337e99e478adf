#!/bin/sh
# A flow: without a model a list to choose from; another model without leaving; the recent ones come first.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"

fresh=
explore 100 30
see "[O] Models" "a list of models"
see "choose a model: Enter opens it"
see "bundled"
keys "&"
typed googl
keys Enter
see "1 of 6 rows" "the list is filtered"
keys Enter
see "googlenet.onnx  batch 1" "Enter opens a model"
see "[1] Layers"
keys j j O
see "[O] Models"
keys o
see "open "
typed "$top/tests/models/truncated-missing.onnx"
keys Enter
see "truncated-missing.onnx:" "an error"
keys C-u
mkfifo "$work/pipe"
typed "$work/pipe"
keys Enter
see "pipe: not a file" "a pipe is refused, without waiting for a writer"
keys C-u
typed -
keys Enter
see "./-: " "- is a file's name, not standard input"
keys C-u
typed "$top/tests/models/tin"
keys Tab
see "tiny.onnx" "Tab completes"
keys Enter
see "tiny.onnx  batch 1"
keys O
see "recent" "the model of before is a recent one"
keys "&"
typed googl
keys Enter Enter
see "googlenet.onnx  batch 1" "and opens again"
see "[1] Layers" "its view"
keys Enter
see "layer 3 of" "and layer come back"
keys Q
left 0
printf 'junk' >"$work/junk.onnx"
explore 100 30 "'$tiny'"
see "[1] Layers"
keys O o
typed "$work/junk.onnx"
keys Enter
see "junk.onnx" "a damaged file is reported"
keys Escape 1
see "tiny.onnx  batch 1" "the present model stays"
keys b
see "measuring" "it still measures"
keys Q
left 0
done_testing
