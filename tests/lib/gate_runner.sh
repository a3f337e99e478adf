#!/bin/sh
# A runner that measures nothing: it answers the first problem at once and holds the others back until the FIFO $1 is
# written to; figures follow from the problem's text. Speaks docs/wire.md.
gate=$1
open=
n=0
printf '%s\n' '{"magic":"BENANZA-RUNNER","protocol":1,"runner":"gate","version":"1","name":"gate","model":"Gate 1","stack":"gate 1, 1 thread","threads":1,"llc_bytes":null,"has_matrix":false,"host":"test","attributes":{}}'
while IFS= read -r line; do
    case $line in
    *'"type":"quit"'*) exit 0 ;;
    *'"type":"run"'*) ;;
    *) continue ;;
    esac
    id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
    problem=$(printf '%s' "$line" | sed 's/.*"problem":"\([^"]*\)".*/\1/')
    n=$((n + 1))
    if [ "$n" -gt 1 ] && [ -z "$open" ]; then
        printf '{"type":"heartbeat","id":%s,"what":"waiting at the gate"}\n' "$id"
        read -r open <"$gate"
        open=yes
    fi
    ns=$((${#problem} * 1000))
    for cache in net warm; do
        for launch in amortized isolated; do
            printf '{"type":"result","id":%s,"result":{"problem":"%s","algorithm":{"api":"gate","name":"gate:one","layouts":"","math":"strict","rank":0,"matrix":"no","workspace_bytes":0},"status":"ok","cache":"%s","launch":"%s","stats":{"n":10,"discarded":0,"executions":1,"min_ns":%s,"q1_ns":%s,"median_ns":%s,"q3_ns":%s,"mean_ns":%s,"stdev_ns":0,"lo_ns":%s,"hi_ns":%s,"stop":"converged"},"why":"","measured_at":1700000000,"runner_version":"1"}}\n' \
                "$id" "$problem" "$cache" "$launch" "$ns" "$ns" "$ns" "$ns" "$ns" "$ns" "$ns"
        done
    done
    printf '{"type":"done","id":%s,"status":"ok","why":""}\n' "$id"
done
