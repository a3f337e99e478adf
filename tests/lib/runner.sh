# What the tests of both runner programs share; sourced. Before: $program, its name. $machine: options that say which device
# (words), empty for the usual one; $planning: 1 where nothing is measured.
build=${builddir:-$(pwd)}
runner=$build/$program
if [ ! -x "$runner" ]; then
    echo "1..0 # SKIP $program is not built"
    exit 0
fi
hang_s=600 # only what hangs takes so long, on any machine
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
count=0
out=$dir/out
err=$dir/err

ok() { # condition status, name
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        head -c 2000 "$out" | sed 's/^/# /'
        head -c 1000 "$err" | sed 's/^/# /'
    fi
}

has() { # pattern, name
    grep -q -e "$1" "$out"
    ok $? "$2"
}

hasnt() {
    ! grep -q -e "$1" "$out"
    ok $? "$2"
}

says() { # pattern in standard error, name
    grep -q -e "$1" "$err"
    ok $? "$2"
}

# serve: lines on stdin, answers in $out
serve() {
    # shellcheck disable=SC2086
    timeout "$hang_s" "$runner" $machine "$@" >"$out" 2>"$err"
}

all_json() {
    python3 -c '
import json, sys
for line in open(sys.argv[1]):
    assert isinstance(json.loads(line), dict)' "${1:-$out}" 2>>"$err"
}

run_line() { # id, problem
    printf '{"type":"run","id":%s,"problem":"%s","budget_ms":2}\n' "$1" "$2"
}

list_line() {
    printf '{"type":"algorithms","id":%s,"problem":"%s"}\n' "$1" "$2"
}

conv=conv:f32,f32.c,f32/f32:n1c16h14w14k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1
relu=eltwise:f32,f32:relu:1x16x7x7

# The protocol: what every runner does, measuring or not.
check_protocol() {
    serve </dev/null
    ok $? "the end of input ends it"
    [ "$(wc -l <"$out")" -eq 1 ] && head -1 "$out" | grep -q "\"magic\":\"BENANZA-RUNNER\",\"protocol\":1,\"runner\":\"$program\""
    ok $? "hello is the first line, and here the only one"

    list_line 2 "$conv" | serve
    ok $? "jobs of a finished input are worked through"
    has '"type":"algorithm","id":2,"algorithm":{"api":"[^"]*"' "algorithms are listed"
    has '"type":"done","id":2,"status":"ok","why":"","problem":"conv:' "and that is done, of what is said too"
    python3 - "$out" <<'PY' 2>>"$err"
import json, sys
ranks = [m["algorithm"]["rank"] for m in map(json.loads, open(sys.argv[1])) if m.get("type") == "algorithm"]
assert ranks == list(range(len(ranks))) and ranks
PY
    ok $? "ranks count from 0 over all libraries"

    { echo garbage; echo '{"type":"sing","id":5}'; printf '\377\376\n'; echo '[]'; echo; list_line 6 "$conv"; } | serve
    ok $? "garbage does not end it"
    has '"type":"log".*"error: not JSON' "garbage is answered in the log"
    has '"type":"done","id":5,"status":"failed"' "a message with an id is answered by that id"
    has '"type":"done","id":6,"status":"ok"' "and what follows is done"

    { list_line 1 "eltwise:c64,c64:relu:4"; list_line 2 "nonsense:1"; list_line 3 "conv:f32,f32.c,f32/f32:n1c1h1w1k1r3s3"; } | serve
    ok $? "problems that nothing computes do not end it"
    has '"type":"done","id":1,"status":"unsupported","why":"[^"][^"]*' "an unsupported one says so, with the reason"
    has '"type":"done","id":2,"status":"failed"' "a text that is no problem is failed"
    has '"type":"done","id":3,"status":"failed"' "half a problem too"

    { list_line 1 "$conv"; echo '{"type":"quit"}'; } | serve
    ok $? "quit leaves"
    all_json
    ok $? "standard output is protocol only"
}

# Answers in a file: $1 makes a job line of an id and a problem.
check_batch() {
    file=$dir/answers.jsonl
    rm -f "$file"
    { $1 1 "$conv"; $1 2 "$relu"; } >"$dir/jobs"
    # shellcheck disable=SC2086
    timeout "$hang_s" "$runner" $machine --output "$file" <"$dir/jobs" >"$out" 2>"$err"
    ok $? "--output: a batch"
    [ "$(grep -c '"type":"done"' "$file")" -eq 2 ] && [ ! -s "$out" ] && ! grep -q heartbeat "$file"
    ok $? "its answers are in the file, nothing on standard output, no heartbeats"
    cp "$file" "$dir/first"
    { cat "$dir/jobs"; $1 3 "softmax:f32,f32:soft:8x64:ax1"; $1 4 "$conv"; } >"$dir/more"
    # shellcheck disable=SC2086
    timeout "$hang_s" "$runner" $machine --output "$file" <"$dir/more" >"$out" 2>"$err"
    ok $? "again, with one job more"
    head -c "$(wc -c <"$dir/first")" "$file" | cmp -s - "$dir/first"
    ok $? "what was there stays"
    tail -n +"$(($(wc -l <"$dir/first") + 1))" "$file" >"$out"
    grep -q '"id":3' "$out" && ! grep -q '"id":[124]' "$out" && ! grep -q magic "$out"
    ok $? "only the new job is answered, and hello is not said twice"
    says '3 jobs have results in the output already' "those skipped are counted on standard error"

    cp "$dir/first" "$file"
    printf '{"type":"resu' >>"$file"
    # shellcheck disable=SC2086
    timeout "$hang_s" "$runner" $machine <"$dir/jobs" >>"$file" 2>"$err"
    ok $? "standard output may be the file (>>)"
    cmp -s "$file" "$dir/first"
    ok $? "a torn last line is cut off, and there was nothing else to do"
    grep -v '"type":"done","id":2' "$dir/first" >"$file"
    # shellcheck disable=SC2086
    timeout "$hang_s" "$runner" $machine -o "$file" <"$dir/jobs" >"$out" 2>"$err"
    tail -n +"$(($(wc -l <"$dir/first")))" "$file" >"$out"
    grep -q '"type":"done","id":2' "$out" && ! grep -q '"id":1' "$out"
    ok $? "a job without its end is done again"

    sed '1s/"model":"/"model":"Another /' "$dir/first" >"$file"
    cp "$file" "$dir/theirs"
    serve --output "$file" <"$dir/jobs"
    [ $? -eq 3 ] && [ "$(wc -l <"$err")" -eq 1 ] && grep -q 'results of Another ' "$err" && cmp -s "$file" "$dir/theirs"
    ok $? "another device's file is refused in one line, and left as it is"
    echo "something else" >"$file"
    serve --output "$file" <"$dir/jobs"
    [ $? -eq 3 ] && [ "$(cat "$file")" = "something else" ] && [ "$(wc -l <"$err")" -eq 1 ]
    ok $? "so is a file of something else"

    printf 'notes of mine' >"$file"
    cp "$file" "$dir/theirs"
    serve --output "$file" <"$dir/jobs"
    [ $? -eq 3 ] && [ "$(wc -l <"$err")" -eq 1 ] && grep -q 'not a runner.s results' "$err" && cmp -s "$file" "$dir/theirs"
    ok $? "one line that is no answer is not cut off, though it has no end"
    head -c 40 "$dir/first" >"$file"
    serve --output "$file" </dev/null
    [ $? -eq 0 ] && [ "$(wc -l <"$file")" -eq 1 ] && all_json "$file"
    ok $? "a hello that was begun is"

    rm -f "$file"
    (
        # a file that may not grow is as good as a full disk
        ulimit -f "$((($(head -1 "$dir/first" | wc -c) + 511) / 512))"
        # shellcheck disable=SC2086
        timeout "$hang_s" "$runner" $machine --output "$file" <"$dir/jobs" >"$out" 2>"$err"
    )
    [ $? -eq 3 ] && [ "$(wc -l <"$err")" -eq 1 ] && grep -q 'cannot write' "$err"
    ok $? "a full disk ends it: one line, status 3"
    serve --output "$file" <"$dir/jobs"
    [ $? -eq 0 ] && all_json "$file" && [ "$(grep -c '"type":"done"' "$file")" -eq 2 ]
    ok $? "and it goes on from there"

    rm -f "$file"
    # shellcheck disable=SC2086
    "$runner" $machine --output "$file" <"$dir/more" >"$out" 2>"$err" &
    killed=$!
    while kill -0 $killed 2>/dev/null && ! grep -q '"type":"done"' "$file" 2>/dev/null; do :; done
    kill -9 $killed 2>/dev/null
    wait $killed 2>/dev/null
    grep '"type":"done"' "$file" >"$dir/ended"
    serve --output "$file" <"$dir/more"
    # job 4 asks what job 1 did: whether it has an end of its own hangs on when the runner was killed
    [ $? -eq 0 ] && all_json "$file" && [ "$(grep -o '"type":"done","id":[123],' "$file" | sort | uniq -c | grep -c '^ *1 ')" -eq 3 ] &&
        [ "$(grep -c '"type":"done","id":4,' "$file")" -le 1 ] && grep '"type":"done"' "$file" |
        head -n "$(wc -l <"$dir/ended")" | cmp -s - "$dir/ended"
    ok $? "killed in the middle, it goes on: every job ends once, and what had ended stays"

    cp "$dir/first" "$file"
    (
        flock 9
        serve --output "$file" <"$dir/jobs"
        [ $? -eq 3 ] && grep -q 'another process writes' "$err"
    ) 9>>"$file"
    ok $? "and one that another process writes to"
    serve --output "$dir/no/such/folder" <"$dir/jobs"
    [ $? -eq 3 ] && [ "$(wc -l <"$err")" -eq 1 ]
    ok $? "and one that cannot be"
}

# Options: for a person, and bad ones ("$@": more of those).
check_options() {
    serve --problem "$conv" --list
    ok $? "--list"
    has '^rank  algorithm' "prints a table"
    hasnt 'median' "measures nothing"
    serve --problem "$conv" --list --json
    all_json
    ok $? "--json prints lines of JSON"
    serve --info
    has '^stack  *[A-Za-z]* [0-9]' "--info"
    serve --info --json
    has '"magic":"BENANZA-RUNNER"' "--info --json is the hello"
    serve --problem "eltwise:c64,c64:relu:4"
    [ $? -eq 1 ] && grep -q 'unsupported: ..' "$err"
    ok $? "unsupported: status 1 and the reason"
    for bad in "--problem nonsense" "--budget-ms x" "--budget-ms 0" "--cache hot" "--launch twice" "--list" "extra" "--sing" \
        "--problem $conv --list --algorithms 3" "--check --algorithms 0" "--step-limit x" "--problem $conv --output x" "--info --output x" \
        "--problem $conv --list --check" "$@"; do
        # shellcheck disable=SC2086
        serve $bad </dev/null
        [ $? -eq 2 ] && [ ! -s "$out" ] && [ -s "$err" ]
        ok $? "bad usage: $bad"
    done
    "$runner" --help >"$out" 2>"$err"
    has '^usage:' "--help"
    "$runner" --version >"$out" 2>"$err"
    has "^$program [0-9]" "--version"
    if [ -w /dev/full ]; then
        # shellcheck disable=SC2086
        "$runner" $machine --info >/dev/full 2>"$err"
        [ $? -eq 3 ]
        ok $? "a full disk is noticed"
    fi
}
