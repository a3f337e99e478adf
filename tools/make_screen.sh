#!/bin/sh
# Writes the README's picture, docs/screen.svg: the explorer on the bundled ResNet-50, with recorded results.
#   tools/make_screen.sh BENANZA [FILE]          write FILE, by default docs/screen.svg
#   tools/make_screen.sh --record BENANZA        measure anew: needs a quiet machine with the CPU runner
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
model=$root/data/models/resnet50.onnx
recorded=$root/tests/screens/resnet50.jsonl.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8
echo '{}' >"$work/config.yaml"

if [ "${1:-}" = --record ]; then
    [ $# -eq 2 ] || { echo "usage: $0 --record BENANZA" >&2; exit 2; }
    "$2" bench -c "$work/config.yaml" -d cpu --db "$work/screen.db" -w fusion "$model" >&2
    "$2" bench -c "$work/config.yaml" -d cpu --db "$work/screen.db" -w fusion --shaky "$model" >&2
    "$2" db export -c "$work/config.yaml" --db "$work/screen.db" | gzip -9n >"$recorded"
    exit
fi
[ $# -eq 1 ] || [ $# -eq 2 ] || { echo "usage: $0 BENANZA [FILE]" >&2; exit 2; }
benanza=$1
out=${2:-$root/docs/screen.svg}
gzip -dc "$recorded" >"$work/screen.jsonl"
"$benanza" db import -c "$work/config.yaml" --db "$work/screen.db" "$work/screen.jsonl" >/dev/null
device=$(sed -n '/BENANZA-RUNNER/{s/.*"model":"\([^"]*\)".*/\1/p;q;}' "$work/screen.jsonl")
"$benanza" -c "$work/config.yaml" -d "$device" --db "$work/screen.db" "$model" \
    --frame 110x32 --keys "f j j j j j j j" --svg >"$out"
