#!/bin/sh
# docs/operators.md agrees with the operator table and its cases.
. "$(dirname "$0")/../lib/tap.sh"
command -v python3 >/dev/null 2>&1 || skip_all "no Python"
root=$(cd "$(dirname "$0")/../.." && pwd)
try 0 "docs/operators.md is up to date" \
	python3 -B "$root/tools/make_operators.py" --benanza "$BENANZA" --check "$root/docs/operators.md"
sed 's/^| Conv |/| Convolve |/' "$root/docs/operators.md" >"$work/page.md"
try 1 "a changed page is reported" \
	python3 -B "$root/tools/make_operators.py" --benanza "$BENANZA" --check "$work/page.md"
done_testing
