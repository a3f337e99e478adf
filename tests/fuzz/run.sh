#!/bin/sh
# Runs each fuzzing target in turn for a number of seconds. In a build directory that was configured with --enable-fuzzing:
#     sh ../tests/fuzz/run.sh SECONDS [TARGET...]
# What a run has learned stays in fuzz-work/TARGET, and so do findings (crash-*, timeout-*, oom-*): fix what they show, then
# keep each under tests/fuzz/regressions/TARGET. PYTHON names a Python that has the onnx package, for more seeds.
[ $# -ge 1 ] || { echo "usage: run.sh SECONDS [TARGET...]" >&2; exit 2; }
top=$(cd "$(dirname "$0")/../.." && pwd)
seconds=$1
shift
[ $# -gt 0 ] || set -- graph infer ops model problem profile config wire
found=0
make -s tests/bench/bench_run $(printf 'tests/fuzz/fuzz_%s ' "$@") || exit 1
for target; do
    work=fuzz-work/$target
    mkdir -p "$work/corpus" "$work/seeds"
    "${PYTHON:-python3}" "$top/tests/fuzz/make_seeds.py" "$top" "$target" "$work/seeds" || exit 1
    sh "$top/tests/fuzz/dictionary.sh" "$top" "$target" >"$work/dict"
    echo "== $target, $seconds s"
    tests/bench/bench_run "tests/fuzz/fuzz_$target" -max_total_time="$seconds" -rss_limit_mb=512 -timeout=5 -max_len=2048 \
        -artifact_prefix="$work/" -dict="$work/dict" -print_final_stats=1 -verbosity=1 \
        "$work/corpus" "$work/seeds" >"$work/log" 2>&1
    # The last line is bench_run's: processor time adds up over all runs.
    sed -n '$s/.*"cpu_ns": \([0-9]*\),.*/\1/p' "$work/log" >>"$work/cpu_ns"
    awk '{ s += $1 } END { printf "   %.0f s of processor time in all\n", s / 1e9 }' "$work/cpu_ns"
    tail -n 1 "$work/log" | grep -q '"status": 0' || found=1
    awk '/^(stat::|Done|SUMMARY|artifact_prefix|.*does not hold)/ { print "   " $0 }' "$work/log"
    ls "$work" | grep -E '^(crash|timeout|oom|leak)-' | sed "s|^|   finding: $work/|"
done
exit $found
