#!/bin/bash
# Outside the suite (make check-elsewhere): runs the suite as on another machine, next year: in a directory
# whose path has 120 characters, one of them not ASCII, with the clock a year ahead (where faketime is
# installed), no network, one CPU, an odd environment, and two busy loops beside it. A test that fails here
# depends on what it must not.
#   tests/packages/check_elsewhere.sh BUILD [TESTS="tests/cli/cli.sh ..."]
set -u

build=$(cd "$1" && pwd -P) || exit 2
top=$(cd "$(dirname "$0")/../.." && pwd -P)
shift
note() { echo "check-elsewhere: $*" >&2; }
die() { note "$*"; exit 2; }

away=$(mktemp -d "${TMPDIR:-/tmp}/benanza-elsewhere.XXXXXX") || exit 2
loops=()
ended() {
    [ ${#loops[@]} -eq 0 ] || kill "${loops[@]}" 2>/dev/null
    chmod -R u+rwx "$away" 2>/dev/null
    rm -rf "$away"
}
trap ended EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# the files of this tree as they are, built with the same options
tree=$away/é
while [ ${#tree} -lt 120 ]; do
    [ ${#tree} -lt 99 ] && tree+=/directory-of-20-more || tree+=_
done
mkdir -p "$tree/build" || exit 2
(cd "$top" && git ls-files -z --cached --others --exclude-standard | xargs -0 ls -d 2>/dev/null |
    tar cf - -T -) | tar xf - -C "$tree" || exit 2
note "in $tree"
cd "$tree" && autoreconf -i >/dev/null 2>&1 || die "autoreconf failed there: is this a git tree?"
cd build || exit 2
eval "set_options=($("$build/config.status" --config))"
../configure "${set_options[@]}" >/dev/null || exit 2
[ ! -d "$build/venv" ] || ln -s "$build/venv" venv
# builds the tests with the true clock and the network
{ make -s -j"$(nproc)" && make -s -j"$(nproc)" "$@" check TESTS=; } >/dev/null || exit 2

command=()
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
for _ in 1 2; do # they end with this script, however it ends
    "${command[@]}" bash -c 'while kill -0 "$1" 2>/dev/null; do
        for ((i = 0; i < 1000000; i++)); do :; done
    done' loop $$ &
    loops+=($!)
done
"${command[@]}" env -u LC_ALL -u DISPLAY "${odd[@]}" make check "$@"
