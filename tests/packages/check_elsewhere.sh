#!/bin/bash
# Outside the suite (make check-elsewhere): runs the suite as on another machine, next year: the clock a year ahead (where
# faketime is installed), no network, one CPU, an odd environment. A test that fails here depends on what it must not.
#   tests/packages/check_elsewhere.sh BUILD [TESTS="tests/cli/cli.sh ..."]
set -u

build=$1
shift
cd "$build" || exit 2
make -s "$@" check TESTS= >/dev/null || exit 2 # builds the tests with the true clock and the network

command=()
note() { echo "check-elsewhere: $*" >&2; }

if unshare -n true 2>/dev/null; then command+=(unshare -n)
elif unshare -rn true 2>/dev/null; then command+=(unshare -rn)
else note "no new network namespace here: the network stays"
fi
if command -v taskset >/dev/null; then
    command+=(taskset -c "$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')")
else note "taskset is not installed: all CPUs stay"
fi
if command -v faketime >/dev/null; then command+=(faketime -f +1y)
else note "faketime is not installed: the clock stays"
fi
odd=(LANG=C LANGUAGE=de TERM=vt100 HOME=/proc/none COLUMNS=37 LINES=9 TZ=Pacific/Kiritimati NO_COLOR=1
    XDG_RUNTIME_DIR=/proc/none EDITOR=false PAGER=false)
umask 077
exec "${command[@]}" env -u LC_ALL -u DISPLAY "${odd[@]}" make check "$@"
