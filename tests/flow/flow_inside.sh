#!/bin/sh
# A flow: what runs in a layer is listed below it, opened, left and closed again.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"

explore 80 25 "'$top/tests/models/functions.onnx'"
see "block.0/choose" "a choice in the list"
gone "block.0/then"
keys /
typed choose
keys Enter
keys Right
see "then? " "Right lists its branches"
keys j Enter
see "else_branch of block.0/choose" "a branch's layer has details"
keys BSpace
see "[1] Layers" "Backspace goes back"
see "then? "
keys Left
gone "then? "
keys "*"
see "showing the layers inside 2 layers" "all of them"
see "ock.1/else"
keys "*"
see "inner layers hidden"
gone "ock.1/else"
keys q
left 0
done_testing
