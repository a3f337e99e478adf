#!/bin/sh
# The log driver of the suite: automake's driver for TAP. Prints one line for each program instead of one for
# each check, and adds the program's seconds to its .trs file for summary.py.
#   driver.sh --test-name NAME --log-file FILE --trs-file FILE [OPTION]... -- PROGRAM...
now() { read -r uptime _ </proc/uptime; echo "$uptime"; } # not date: the clock may be simulated

for word; do
    case ${before:-} in
    --test-name) name=$word ;;
    --trs-file) trs=$word ;;
    esac
    before=$word
done
start=$(now)
# it fails if the program ends in the middle of a line
sh "${0%/*}/../../build-aux/tap-driver.sh" "$@" >/dev/null 2>"$trs.errors" || {
    sed 's/^/# /' "$trs.errors" >>"${trs%.trs}.log"
    echo "ERROR: $name - its output is not TAP" >>"${trs%.trs}.log"
    echo ":test-result: ERROR its output is not TAP" >"$trs"
}
rm -f "$trs.errors"
awk -v start="$start" -v end="$(now)" -v name="$name" '
    /^:test-result:/ { sub(/[: ].*/, "", $2); count[$2]++ }
    END {
        failed = count["FAIL"] + count["XPASS"]
        if (!failed) failed = count["ERROR"] > 0
        printf "%s %s: %d passed, %d failed, %.1f s\n", failed ? "FAIL" : "ok  ", name,
            count["PASS"] + count["XFAIL"], failed, end - start
        printf ":seconds: %.2f\n", end - start >>FILENAME
    }' "$trs"
