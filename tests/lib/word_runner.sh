#!/bin/sh
# A runner that measures nothing: figures follow from the problem's text, so they are the same everywhere.
# Speaks docs/wire.md.   word_runner.sh MODEL STACK [THREADS [UNSUPPORTED [COMMAND]]]
# A letter costs $WORD_NS, 1000 ns by default, of branches side by side half; intervals are +- $WORD_SPREAD
# ns, of $WORD_SAMPLES samples (10; of 1 there is none); WORD_LAYOUTS: layouts of the algorithm, WORD_STOP:
# why sampling ended. UNSUPPORTED: problems that this shell pattern fits have no implementation. COMMAND:
# run before the second answer. WORD_QUICK: also quick measurements, at twice the cost. WORD_REPEAT: these,
# and repeated ones. WORD_LOG: a file to which each job adds a line.
model=$1 stack=$2 threads=${3:-1} refused=${4:-} command=${5:-}
n=0
jobs=
[ -z "${WORD_QUICK:-}${WORD_REPEAT:-}" ] || jobs='"jobs":["problem","quick"'${WORD_REPEAT:+,\"repeat\"}'],'
printf '{"magic":"BENANZA-RUNNER","protocol":1,"runner":"word","version":"1","name":"lex","model":"%s","stack":"%s","threads":%s,"llc_bytes":null,"has_matrix":false,"host":"test",%s"attributes":{}}\n' "$model" "$stack" "$threads" "$jobs"
while IFS= read -r line; do
    case $line in
    *'"type":"quit"'*) exit 0 ;;
    *'"type":"run"'*) ;;
    *) continue ;;
    esac
    rest=${line#*'"id":'}
    id=${rest%%[,\}]*}
    rest=${line#*'"problem":"'}
    problem=${rest%%'"'*}
    case $line in
    *'"kind":"quick"'* | *'"kind":"repeat"'*)
        kind=quick word=two times=2
        case $line in *'"kind":"repeat"'*) kind=repeat word=one times=1 ;; esac
        rest=${line#*'"payload":"'}
        problem=${rest%%'"'*}
        ns=$((times * ${#problem} * ${WORD_NS:-1000}))
        [ -z "${WORD_LOG:-}" ] || echo "$kind $problem" >>"$WORD_LOG"
        printf '{"type":"result","id":%s,"kind":"%s","result":{"problem":"%s",' "$id" "$kind" "$problem"
        printf '"algorithm":{"api":"word","name":"word:%s","layouts":"","math":"strict","rank":0,' "$word"
        printf '"matrix":"no","workspace_bytes":0,"notes":"unchecked"},"status":"ok","cache":"net",'
        printf '"launch":"amortized","stats":{"n":3,"discarded":0,"executions":1,"min_ns":%s,' "$ns"
        printf '"median_ns":%s,"lo_ns":%s,"hi_ns":%s,"stop":"shortlist"},"why":"",' "$ns" "$ns" "$ns"
        printf '"measured_at":1700000000,"runner_version":"1"}}\n'
        printf '{"type":"done","id":%s,"kind":"%s","payload":"%s","status":"ok"}\n' "$id" "$kind" "$problem"
        continue
        ;;
    esac
    [ -z "${WORD_LOG:-}" ] || echo "$problem" >>"$WORD_LOG"
    n=$((n + 1))
    [ "$n" -ne 2 ] || [ -z "$command" ] || eval "$command"
    if [ -n "$refused" ]; then
        # shellcheck disable=SC2254
        case $problem in
        $refused)
            printf '{"type":"result","id":%s,"result":{"problem":"%s","algorithm":{"api":"","name":"","layouts":"","math":"","rank":0,"matrix":"unknown","workspace_bytes":null},"status":"unsupported","cache":"net","launch":"amortized","why":"no such word","measured_at":1700000000,"runner_version":"1"}}\n' "$id" "$problem"
            printf '{"type":"done","id":%s,"status":"unsupported","why":"no such word"}\n' "$id"
            continue
            ;;
        esac
    fi
    ns=$((${#problem} * ${WORD_NS:-1000}))
    case $problem in beside:*) ns=$((ns / 2)) ;; esac
    lo=$((ns - ${WORD_SPREAD:-0})) hi=$((ns + ${WORD_SPREAD:-0}))
    for cache in net warm; do
        for launch in amortized isolated; do
            printf '{"type":"result","id":%s,"result":{"problem":"%s","algorithm":{"api":"word","name":"word:one","layouts":"%s","math":"strict","rank":0,"matrix":"no","workspace_bytes":0,"notes":"letters"},"status":"ok","cache":"%s","launch":"%s","stats":{"n":%s,"discarded":0,"executions":1,"min_ns":%s,"q1_ns":%s,"median_ns":%s,"q3_ns":%s,"mean_ns":%s,"stdev_ns":0,"lo_ns":%s,"hi_ns":%s,"stop":"%s"},"why":"","kernels":"spell\\nread","enqueue_ns":2500,"clock_mhz":1500,"measured_at":1700000000,"runner_version":"1"}}\n' \
                "$id" "$problem" "${WORD_LAYOUTS:-}" "$cache" "$launch" "${WORD_SAMPLES:-10}" \
                "$lo" "$lo" "$ns" "$hi" "$ns" "$lo" "$hi" "${WORD_STOP:-converged}"
        done
    done
    printf '{"type":"done","id":%s,"status":"ok","why":""}\n' "$id"
done
