#!/bin/sh
# The suite's own tools: driver.sh and summary.py count what passed, failed, was skipped and did not run.
. "$(dirname "$0")/../lib/tap.sh"
lib=$(cd "$(dirname "$0")/../lib" && pwd)
[ -f "$lib/../../build-aux/tap-driver.sh" ] || skip_all "automake's driver is missing"
mkdir "$work/tests"
cd "$work" || exit 1

# program NAME LINE...: a test program with this output and exit status 0, run by the driver
program() {
    name=$1
    shift
    printf '#!/bin/sh\n' >"$name"
    for line; do printf 'echo "%s"\n' "$line" >>"$name"; done
    [ -z "${status:-}" ] || echo "exit $status" >>"$name"
    chmod +x "$name"
    AM_TAP_AWK=${AWK:-awk} sh "$lib/driver.sh" --test-name "$name" --log-file "$name.log" \
        --trs-file "$name.trs" --color-tests no --enable-hard-errors yes --expect-failure no -- "./$name"
}
program good "1..2" "ok 1 - one" "ok 2 - two # SKIP no time" >out 2>err
grep -q '^ok   good: 1 passed, 0 failed, [0-9.]* s$' out
ok $? "one line for a program that passes"
grep -q '^:seconds: [0-9]' good.trs
ok $? "its seconds are kept"
status=1 program bad "1..3" "ok 1 - one" "not ok 2 - two" "# it was 3" "ok 3 - three" >out 2>err
grep -q '^FAIL bad: 2 passed, 1 failed, ' out
ok $? "a failed check counts once, though the program exits with 1"
status=3 program ended "ok 1 - one" "# the cause" "Bail out! no disk" >out 2>err
program few "1..3" "ok 1 - one" >out 2>err
program away "1..0 # SKIP no GPU" >out 2>err
program half "1..2" "ok 1 - one" >out 2>err
printf '#!/bin/sh\nprintf "1..1\\nok 1 - x"\n' >half
AM_TAP_AWK=${AWK:-awk} sh "$lib/driver.sh" --test-name half --log-file half.log --trs-file half.trs \
    --color-tests no --enable-hard-errors yes --expect-failure no -- ./half >out 2>err
ok $? "a program that ends in the middle of a line does not end the suite"
grep -q '^FAIL half: 0 passed, 1 failed, ' out && grep -q '^ERROR: half' half.log
ok $? "it is an error"
echo "x" >tests/seconds.txt # damaged
summary() { try "$1" "$2" python3 "$lib/summary.py" ${3:+"$3"} $4; }
summary 0 "what passes" "" "good.log away.log"
[ "$(tail -n 1 out)" = "1 passed, 0 failed, 2 skipped" ]
ok $? "the last line has the totals"
summary 0 "failures only, of none" --failures "good.log"
[ ! -s out ]
ok $? "prints nothing"
summary 1 "what fails" "" "good.log bad.log ended.log few.log lost.log"
[ "$(tail -n 1 out)" = "$(cat tests/totals.txt)" ] &&
    grep -q '^5 passed, 4 failed, 1 skipped$' tests/totals.txt
ok $? "one failed, one bailed out, one ended early, one did not run"
says out "  # it was 3"
says out "  # the cause"
says out "  Bail out! no disk"
says out "  it did not run"
! grep -q 'ok 3 - three' out
ok $? "without the checks that passed"
grep -q '^bad [0-9.]*$' tests/seconds.txt && grep -q '^away ' tests/seconds.txt
ok $? "the seconds of earlier programs stay"

# a release, or a copy of the tree, has no git
if git -C "$lib" rev-parse >/dev/null 2>&1; then
    mkdir tree
    (cd "$lib/../.." && git ls-files -z -co --exclude-standard | xargs -0 ls -d 2>/dev/null |
        tar cf - --exclude=data/models --exclude=data/tour -T -) | tar xf - -C tree
    for lint in tree/tests/lint/*.py; do
        try 0 "${lint##*/} without git" python3 -B "$lint"
    done
fi
done_testing
