#!/bin/sh
# make check-long: the tests that ask less every day ask everything. Prints when that was done last, and
# leaves "DATE COMMIT N passed, N failed, N skipped" in check-long.when of the build directory.
#   check_long.sh SOURCE MAKE TESTS...
source=$1 make=$2
shift 2
when=check-long.when

if [ -r $when ] && read -r day commit rest <$when; then
    ago=$((($(date +%s) - $(date -d "$day" +%s)) / 86400))
    echo "check-long: last run $day ($ago days ago, $commit): $rest"
else
    echo "check-long: not run in this build directory before"
fi
rm -f tests/totals.txt
CHECK_LONG=1 "$make" check TESTS="$*"
status=$?
totals=$(cat tests/totals.txt 2>/dev/null) || exit $status # nothing ran
commit=$(git -C "$source" describe --always --dirty 2>/dev/null || echo unknown)
echo "$(date +%F) $commit $totals" >$when
exit $status
