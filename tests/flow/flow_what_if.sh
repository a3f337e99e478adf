#!/bin/sh
# A flow: flip the what-ifs and see the bound follow; batch and data type.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"

echo go >&3
explore 120 40 "'$tiny'"
see "f fusion ?" "fusion needs measurements"
keys b
see "layers known" "all is measured"
gone "?1" "no what-if lacks a measurement"
see "f fusion"
keys f
see "f FUSION" "fusion is on"
keys p
see "p PARALLEL" "parallel is on"
keys p f f f f
see "f fusion" "and off"
keys a
see "a best algo" "algorithm by the library's choice"
keys 3
see "[ ] preferred" "the what-if view says so"
keys j j j Enter
see "[x] best" "Enter flips it"
keys 1 = 1 2 u s Enter
see "W GIV" "the first layer is assumed to cost 12 us"
see "an assumed cost" "its line says so"
keys +
see "batch 2" "the next batch"
see "an assumed cost" "the assumption holds for it too"
keys t
see "bf16" "the next type"
keys = C-u Enter
gone "GIV" "an empty cost removes it"
keys q q
left 0
done_testing
