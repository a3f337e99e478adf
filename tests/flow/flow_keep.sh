#!/bin/sh
# A flow: what was shown comes back with the model; --fresh starts without; damaged states are ignored.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"

fresh=
explore 100 30 "'$tiny'"
see "[1] Layers"
keys p 4
see "[4] Problems"
keys "&"
typed conv
keys Enter
see "&conv "
keys Q
left 0
cp "$tiny" "$work/copy.onnx"
explore 100 30 "'$work/copy.onnx'"
see "[4] Problems" "a copy of the model shows the same view"
see "&conv " "with its filter"
see "p PARALLEL" "and what-ifs"
keys Q
left 0
explore 100 30 "'$tiny' -w fusion"
see "[4] Problems"
see "f FUSION" "what-ifs of options win"
see "p parallel"
keys :
typed "beside h100"
keys Enter
see "h100 is marked"
keys Q
left 0
explore 100 30 "'$tiny'"
see "[4] Problems"
keys g s
see "h100" "marked devices come back"
keys q
see "[4] Problems"
keys Q
left 0
explore 100 30 "'$tiny' --fresh"
see "[1] Layers" "--fresh starts without"
gone "&conv"
keys 4
see "[4] Problems"
keys Q
left 0
for f in "$work"/state/benanza/models/*.json; do
    echo '{"version":1,' >"$f"
done
explore 100 30 "'$tiny'"
see "[1] Layers" "a damaged state"
see "the last state is ignored, because it is damaged" "is said"
keys Q
left 0
explore 100 30 "'$tiny'"
see "[1] Layers"
gone "is ignored" "and replaced"
keys Q
left 0
rm -f "$work"/state/benanza/models/*.json
explore 100 30 "'$tiny' -d h100"
see " matrix" "f32: matrix units are off"
keys p q
left 0
explore 100 30 "'$tiny' -d h100 -t f16"
see "PARALLEL" "what was chosen comes back"
see "MATRIX" "... and matrix units are on in f16, since nobody chose"
keys : s e t Space m a t r i x = o f f Enter
see " matrix"
keys q
left 0
explore 100 30 "'$tiny' -d h100 -t f16"
see " matrix" "off was chosen"
keys Q
left 0
done_testing
