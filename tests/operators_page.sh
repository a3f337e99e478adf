#!/bin/sh
# docs/operators.md says what the operator table and its cases say.
. "$(dirname "$0")/lib/tap.sh"
command -v python3 >/dev/null 2>&1 || skip_all "no Python"
root=$(cd "$(dirname "$0")/.." && pwd)
try 0 "the page is the table's" python3 -B "$root/tools/make_operators.py" --benanza "$BENANZA" --check "$root/docs/operators.md"
sed 's/^| Conv |/| Convolve |/' "$root/docs/operators.md" >"$work/page.md"
try 1 "another page is not" python3 -B "$root/tools/make_operators.py" --benanza "$BENANZA" --check "$work/page.md"
done_testing
