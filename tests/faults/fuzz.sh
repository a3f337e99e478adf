#!/bin/sh
# Every seed and every finding of fuzzing (tests/fuzz) through its target once more, under whatever sanitizers this build
# has. Seconds; searching is tests/fuzz/run.sh.
top=${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
programs=${builddir:-$top/build}/tests/fuzz
log=$(mktemp)
trap 'rm -f "$log"' EXIT
count=0

run() { # TARGET FILE...
    target=$1
    shift
    for file; do
        shift
        [ -f "$file" ] && set -- "$@" "$file"
    done
    count=$((count + 1))
    if "$programs/fuzz_$target" "$@" >"$log" 2>&1; then
        echo "ok $count - $target: $# files"
    else
        echo "not ok $count - $target: $# files"
        tail -n 40 "$log" | sed 's/^/# /'
    fi
}

cd "$top/tests" || exit 1
run config ../configs/*.yaml fuzz/corpus/config/* fuzz/regressions/config/*
run graph fuzz/corpus/graph/* fuzz/regressions/graph/*
run infer models/*.onnx fuzz/corpus/model/* fuzz/regressions/model/* fuzz/regressions/infer/*
run model models/*.onnx fuzz/corpus/model/* fuzz/regressions/model/* fuzz/regressions/infer/*
run ops ops/*.case fuzz/regressions/ops/*
run problem fuzz/corpus/problem/* fuzz/regressions/problem/*
run profile fuzz/corpus/profile/* fuzz/corpus/model/* fuzz/regressions/profile/*
run wire fuzz/corpus/wire/* fuzz/regressions/wire/*
echo "1..$count"
