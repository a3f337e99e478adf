#!/bin/sh
# The README's picture is what the program draws today. To update it: tools/make_screen.sh build/benanza
. "$(dirname "$0")/../lib/tap.sh"
root=$(cd "$(dirname "$0")/../.." && pwd)
try 0 "the picture is drawn from recorded results" sh "$root/tools/make_screen.sh" "$BENANZA" "$work/screen.svg"
try 0 "docs/screen.svg is current" cmp "$work/screen.svg" "$root/docs/screen.svg"
sed 's/resnet50/resnet51/' "$root/docs/screen.svg" >"$work/old.svg"
try 1 "another picture is noticed" cmp "$work/screen.svg" "$work/old.svg"
try 0 "the README shows it" grep -q 'docs/screen.svg' "$root/README.md"
done_testing
