# TAP for shell tests: sourced. Private HOME and database in $work, removed at the end.
tap_count=0
tap_failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/benanza-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
HOME=$work XDG_DATA_HOME=$work/data XDG_CONFIG_HOME=$work/config XDG_STATE_HOME=$work/state XDG_CACHE_HOME=$work/cache
export HOME XDG_DATA_HOME XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME
unset COLUMNS LINES BENANZA_CONFIG NO_COLOR DNNL_VERBOSE ONEDNN_VERBOSE OMP_NUM_THREADS || :
top=${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
BENANZA=${BENANZA:-$top/build/benanza}
runner=$(dirname "$BENANZA")/benanza-runner-cpu

skip_all() { echo "1..0 # SKIP $*"; exit 0; }

# ok STATUS NAME: passes when STATUS is 0
ok() {
    tap_count=$((tap_count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $tap_count - $2"
    else
        tap_failed=$((tap_failed + 1))
        echo "not ok $tap_count - $2"
        [ -f "$work/out" ] && sed 's/^/# out: /' "$work/out" | head -n 8
        [ -f "$work/err" ] && sed 's/^/# err: /' "$work/err" | head -n 8
    fi
}

# try STATUS NAME COMMAND...: output in $work/out, $work/err; checks the exit status
try() {
    want=$1 name=$2
    shift 2
    got=0
    "$@" >"$work/out" 2>"$work/err" </dev/null || got=$?
    [ "$got" -eq "$want" ] || echo "# exit status $got, not $want"
    ok "$([ "$got" -eq "$want" ]; echo $?)" "$name: exit status $want"
}

# says FILE TEXT: the last output (out or err) holds TEXT
says() { grep -qF -- "$2" "$work/$1"; ok $? "says: $2"; }
# one_line: standard error is one line from benanza
one_line() {
    [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q '^benanza' "$work/err"
    ok $? "one line that begins with the program's name"
}
done_testing() { echo "1..$tap_count"; [ "$tap_failed" -eq 0 ]; exit $?; }
