#!/bin/sh
# A flow: e runs the model with an agent: progress, cancel, errors, the result beside the bound.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"
for mode in good slow dies absent; do
    printf 'measure: never\nrunners:\n  gate: [sh, "%s", "%s"]\nagents:\n  %s: [python3, "%s", %s]\n' \
        "$top/tests/lib/gate_runner.sh" "$gate" $mode "$top/tests/lib/fake_agent.py" $mode >"$work/$mode.yaml"
done
wrap="FAKE_AGENT_MODEL='Gate 1' FAKE_AGENT_THREADS=1"

config=$work/good.yaml
explore 80 24 "'$tiny'"
keys e
see "good: 1.00 ms" "the agent's latency"
see "real 1.00 ms" "is in the header"
keys b
see "waiting at" "measuring"
keys e
see "good runs the model once measuring has ended" "the agent waits for the queue"
echo go >&3
see "good: 1.00 ms" "then it runs"
see "ratio " "beside a complete bound there is a ratio"
keys q
left 0

wrap="$wrap FAKE_AGENT_NS=1e4"
explore 120 40 "'$tiny'"
see "ratio "
keys e
see "good: 10.0 us ±1.0%; faster than the bound: measuring" "a contradiction is measured again"
echo go >&3
see "measured again: 0 contradicted, and the model" "then the model: it holds"
keys q
left 0
wrap=${wrap% *}

config=$work/slow.yaml
explore 120 40 "'$tiny'"
see "ratio " "the database has the execution"
see "e real latency" "the key is among the hints"
keys g e
see "[ge] Reality"
see "ratio"
gone "no real execution" "which the view reality explains"
keys q
see "[1] Layers"
keys e
see "slow: 12 of 50 samples" "progress"
keys j
keys e
see "slow: cancelled" "e again cancels"
keys e
see "slow: 12 of 50 samples" "again"
keys q
left 0

config=$work/dies.yaml
explore 80 24 "'$tiny'"
see "ratio "
keys e
see "the agent dies was killed" "a dead agent is reported"
keys j
see "ratio " "and nothing is lost"
keys q
left 0

config=$work/absent.yaml
explore 80 24 "'$tiny'"
see "ratio "
keys e
see "fake is not installed" "a missing framework is named"
keys q
left 0
done_testing
