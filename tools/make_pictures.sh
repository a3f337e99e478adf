#!/bin/sh
# Writes the README's pictures, docs/pictures/*.svg: the explorer on the bundled ResNet-50, with the recorded
# results and the execution of ONNX Runtime that benanza --tour shows.
#   tools/make_pictures.sh BENANZA [FOLDER]      write them to FOLDER, by default docs/pictures
#   tools/make_pictures.sh --record BENANZA      measure anew: needs a quiet machine with the CPU runner, and
#                                                $PYTHON, an interpreter that has onnxruntime
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
model=$root/data/models/resnet50.onnx
recorded=$root/data/tour/resnet50.jsonl.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8
echo '{}' >"$work/config.yaml"

if [ "${1:-}" = --record ]; then
    [ $# -eq 2 ] || { echo "usage: $0 --record BENANZA" >&2; exit 2; }
    echo "python: ${PYTHON:-python3}" >"$work/config.yaml"
    "$2" bench -c "$work/config.yaml" -d cpu --db "$work/tour.db" -w fusion "$model" >&2
    "$2" bench -c "$work/config.yaml" -d cpu --db "$work/tour.db" -w fusion --shaky --agents=ort "$model" >&2
    "$2" db export -c "$work/config.yaml" --db "$work/tour.db" | gzip -9n >"$recorded"
    exit
fi
[ $# -eq 1 ] || [ $# -eq 2 ] || { echo "usage: $0 BENANZA [FOLDER]" >&2; exit 2; }
benanza=$1
out=${2:-$root/docs/pictures}
mkdir -p "$out"
# a stand-in plans, so that the pictures do not depend on this machine's libraries
printf 'runners:\n  cuda: [sh, -c, "sh $0 answers | sed -u s/-in.1/-in/", "%s"]\n' \
    "$root/tests/lib/plan_runner.sh" >"$work/config.yaml"
"$benanza" db import -q -c "$work/config.yaml" --db "$work/tour.db" "$recorded" >/dev/null

# picture NAME SIZE DEVICE KEYS
picture() {
    "$benanza" -q -c "$work/config.yaml" --db "$work/tour.db" -d "$3" "$model" \
        --frame "$2" --keys "$4" --svg >"$out/$1.svg"
}
picture layers 110x32 1 'f j j j j j j j'
picture gains 90x18 1 '$f'
picture advice 90x20 1 'A'
picture roofline 100x30 1 'gr'
picture timeline 100x26 1 'f p gt'
picture sweep 90x26 h100 'gw'
