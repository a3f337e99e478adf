#!/bin/sh
# The README's pictures are what the program draws today. To update them: tools/make_pictures.sh build/benanza
. "$(dirname "$0")/../lib/tap.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
try 0 "they are drawn from recorded results" sh "$root/tools/make_pictures.sh" "$BENANZA" "$work/pictures"
try 0 "all of them" [ "$(ls "$work/pictures")" = "$(ls "$root/docs/pictures")" ]
for picture in "$work"/pictures/*.svg; do
    file=docs/pictures/${picture##*/}
    try 0 "$file is current" cmp "$picture" "$root/$file"
    try 0 "the README shows it" grep -q "]($file)" "$root/README.md"
    try 0 "the package has it" grep -q "$file" "$root/Makefile.am"
done
sed 's/resnet50/resnet51/' "$root/docs/pictures/layers.svg" >"$work/old.svg"
try 1 "another picture is noticed" cmp "$work/pictures/layers.svg" "$work/old.svg"
for file in $(sed -n 's/.*](\(docs[^)]*\)).*/\1/p' "$root/README.md"); do
    try 0 "$file of the README exists" [ -e "$root/$file" ]
done
done_testing
