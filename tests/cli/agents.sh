#!/bin/sh
# Agents on the command line: bench --agents, compare --run, devices; agents that fail in every way.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
unset BENANZA_DATA || :
tiny=$top/tests/models/tiny.onnx
json() { python3 -c "import json,sys; d=json.load(open('$work/out')); print($1)"; }
is() {
    got=$(json "$2" 2>&1)
    [ "$got" = "$1" ] || echo "# got $got, not $1"
    ok "$([ "$got" = "$1" ]; echo $?)" "$2 = $1"
}
{
    printf 'device: word\nrunners:\n  word: [sh, "%s", Word 1, "words, 1 thread"]\nagents:\n' \
        "$top/tests/lib/word_runner.sh"
    for mode in good fetch unsupported lies twice dies garbage foreign runner absent failed slow opaque; do
        printf '  %s: [python3, "%s", %s]\n' $mode "$top/tests/lib/fake_agent.py" $mode
    done
    printf '  gone: no-such-program\n'
} >"$work/agents.yaml"
benanza() { # COMMAND OPTION...
    command=$1
    shift
    "$BENANZA" "$command" -c "$work/agents.yaml" --db "$work/a.db" "$@"
}

try 0 "bench" benanza bench -q -t f32,bf16 "$tiny"

# compare --run
try 0 "compare --run" benanza compare --run good --json "$tiny"
is "1000000.0 fake f32" "'%s %s %s' % (float(d['measured_ns']), d['agent']['name'], d['agent']['dtype'])"
is 0 "round(sum(g['ns'] for g in d['gaps']) - d['measured_ns'] + d['bound_ns']) if d['bound_ns'] else 0"
try 0 "it is in the database" "$BENANZA" db export --db "$work/a.db"
says out '"type":"execution"'
says out '"source":"agent"'
cp "$work/a.db" "$work/same.db"
FAKE_AGENT_MODEL="Word 1" FAKE_AGENT_THREADS=1 "$BENANZA" compare -q -c "$work/agents.yaml" \
    --db "$work/same.db" --run good "$tiny" >"$work/out"
try 0 "the first frame has the real time in the details" "$BENANZA" --frame 80x40 --view details \
    -c "$work/agents.yaml" --db "$work/same.db" "$tiny"
says out " real     "
try 0 "compare finds it there" benanza compare --json "$tiny"
is 1000000.0 "float(d['measured_ns'])"
try 0 "run again" benanza compare --run good "$tiny"
try 0 "compare finds the newest of equal settings" benanza compare --json "$tiny"
ok "$([ "$(wc -l <"$work/out")" -eq 1 ]; echo $?)" "which measured values do not tell apart"
"$BENANZA" db export --db "$work/a.db" >"$work/own.jsonl"
try 0 "import of the own export" "$BENANZA" db import --db "$work/a.db" "$work/own.jsonl"
says out "2 executions of models, 0 added"
try 0 "the model's file is sent" benanza compare --run fetch --json "$tiny"
FAKE_AGENT_NS=2e6
export FAKE_AGENT_NS
try 0 "two agents, one after the other" benanza compare --run good,fetch --json "$tiny"
ok "$([ "$(wc -l <"$work/out")" -eq 2 ]; echo $?)" "one object each"
unset FAKE_AGENT_NS
try 0 "another type and batch" benanza compare --run good -t bf16 --json "$tiny"
is bf16 "d['agent']['dtype']"

# a model of another type is run in that type, not in f32
PYTHONPATH=$top/tests/lib python3 - "$work/half.onnx" <<'END'
import sys
from onnx_wire import *
weights = [tensor("w", [16, 32], bytes(2 * 16 * 32), 10)]
inputs, outputs = [value_info("x", [4, 16], 10)], [value_info("y", [4, 32], 10)]
product = node("MatMul", ["x", "w"], ["y"], "m")
open(sys.argv[1], "wb").write(model(graph([product], inputs, outputs, weights)))
END
benanza bench -q "$work/half.onnx" >"$work/out"
export FAKE_AGENT_MODEL="Word 1" FAKE_AGENT_THREADS=1
try 0 "a model of f16" benanza compare --run good --json "$work/half.onnx"
is "f16 True" "'%s %s' % (d['agent']['dtype'], d['settings']['own_type'])"
is "f16" "d['settings']['request']['dtype']"
is "None" "d['not_comparable']"
unset FAKE_AGENT_MODEL FAKE_AGENT_THREADS
try 1 "asked for in another type" benanza compare --run good -t bf16 --json "$work/half.onnx"
is "bf16 None" "'%s %s' % (d['agent']['dtype'], d['settings'].get('own_type'))"
try 0 "one against the other" benanza compare --run good,fetch --against "$tiny"
try 2 "one execution alone" benanza compare --run good --against "$tiny"
says err "--against: needs two executions; found 1"
try 2 "--run and --latency" benanza compare --run good --latency 3ms "$tiny"
says err "exclude each other"

# concurrent requests, options of the framework
try 0 "requests and options" benanza compare --run good --requests 3 --agent-option s.spin=0 \
    --agent-option NUM=2 --json "$tiny"
is 3 "d['requests']"
is "{'NUM': '2', 's.spin': '0'}" "d['settings']['options']"
is "[('NUM', '2'), ('s.spin', '0')]" "sorted(d['settings']['request']['options'].items())"
is "it ran 3 requests at a time, the bound is of one" "d['not_comparable']"
is "None None" "'%s %s' % (d['benanza_ratio'], d['load_ns'])"
try 0 "they are in the text" benanza compare --run good --requests 3 --agent-option NUM=2 "$tiny"
says out "settings      3 requests at a time, NUM=2"
says out "not comparable: it ran 3 requests at a time, the bound is of one"
! grep -q "from the bound to reality" "$work/out" && grep -q "^measured  *1.00 ms" "$work/out"
ok $? "the gaps from the bound of one request are not shown"
try 0 "executions with other requests and options are other executions" benanza compare --json "$tiny"
ok "$([ "$(grep -c '"requests":3' "$work/out")" -eq 2 ]; echo $?)" "each pair of options has its newest"
try 2 "requests without an agent" benanza compare --latency 5ms --requests 2 "$tiny"
says err "--requests: needs --run or --try"
try 2 "options without an agent" benanza bench --agent-option a=1 "$tiny"
says err "--agent-option: needs --agents"
try 2 "options that contradict each other" benanza compare --run good --agent-option a=1 \
    --agent-option a=2 "$tiny"
says err "--agent-option a=2 contradicts --agent-option a=1"
try 0 "bench asks with options" benanza bench -q --agents=good --agent-option a=1 --json "$tiny"
is "[False]" "[e['already'] for e in d['executions']]"
try 0 "and not again for the same ones" benanza bench -q --agents=good --agent-option a=1 --json "$tiny"
is "[True]" "[e['already'] for e in d['executions']]"
try 0 "but for others" benanza bench -q --agents=good --agent-option a=2 --json "$tiny"
is "[False]" "[e['already'] for e in d['executions']]"
try 0 "and for other requests" benanza bench -q --agents=good --agent-option a=2 --requests 2 --json "$tiny"
is "[False]" "[e['already'] for e in d['executions']]"

# agents that fail: one line each
fails() { # STATUS AGENT TEXT
    try "$1" "compare --run $2" benanza compare --run "$2" "$tiny"
    one_line
    says err "$3"
}
fails 1 unsupported "the agent unsupported: unsupported: fake has no operator Conv"
fails 1 lies "suspect: has a time above 1e15 ns"
fails 3 twice "the agent twice sent: a second execution"
fails 3 dies "the agent dies was killed by signal 9 (Killed); last output: fake: terminate called"
fails 3 garbage "the agent garbage sent an invalid message"
fails 3 foreign "uses protocol 2"
fails 3 runner "runner is not an agent"
fails 3 absent "the agent absent: fake is not installed"
fails 3 failed "the agent failed failed: fake: the model is too strange"
fails 3 gone "cannot start the agent gone: No such file or directory; install no-such-program, or set python:"
fails 2 nobody "unknown agent nobody (configured: good, fetch"
fails 2 good,,fetch "an agent has no name"
try 1 "one fails, one does not" benanza compare --run dies,good --json "$tiny"
says err "killed by signal 9"
is 1000000.0 "float(d['measured_ns'])"
try 2 "a model from standard input" sh -c "'$BENANZA' compare -c '$work/agents.yaml' --run good - <'$tiny'"
says err "agents run model files"

# external data below the model's directory is sent, any other is refused
mkdir -p "$work/own/weights"
printf '0123456789abcdef' >"$work/own/weights/w.bin"
cp "$work/own/weights/w.bin" "$work/w.bin"
for place in weights/w.bin ../w.bin "$work/w.bin" ./w.bin weights//w.bin; do
    PYTHONPATH=$top/tests/lib python3 -c "
from onnx_wire import *
import sys
sys.stdout.buffer.write(model(graph([node('Add', ['x', 'w'], ['y'])], [value_info('x', [1, 4])],
    [value_info('y', None)], [tensor('w', [4], external='$place')])))" >"$work/own/m.onnx"
    case $place in
    weights/w.bin)
        FAKE_AGENT_LOG=$work/sent.log
        export FAKE_AGENT_LOG
        try 1 "external data in $place" benanza compare --run fetch --json "$work/own/m.onnx"
        unset FAKE_AGENT_LOG
        ok "$(grep -q ' 16$' "$work/sent.log"; echo $?)" "is sent by its hash"
        ;;
    *)
        try 2 "external data in $place" benanza compare --run fetch "$work/own/m.onnx"
        one_line
        says err "$place is outside the model's directory"
        ;;
    esac
done

ln -s .. "$work/own/up" # links out of the folder, and one that stays
ln -s ../w.bin "$work/own/out.bin"
ln -s weights "$work/own/in"
for place in out.bin up/w.bin in/w.bin; do
    PYTHONPATH=$top/tests/lib python3 -c "
from onnx_wire import *
import sys
sys.stdout.buffer.write(model(graph([node('Add', ['x', 'w'], ['y'])], [value_info('x', [1, 4])],
    [value_info('y', None)], [tensor('w', [4], external='$place')])))" >"$work/own/m.onnx"
    FAKE_AGENT_LOG=$work/link.log
    export FAKE_AGENT_LOG
    : >"$work/link.log"
    if [ $place = in/w.bin ]; then
        try 1 "a link in the folder" benanza compare --run fetch --json "$work/own/m.onnx"
        ok "$(grep -q ' 16$' "$work/link.log"; echo $?)" "is sent"
    else
        try 2 "a link out of the folder: $place" benanza compare --run fetch "$work/own/m.onnx"
        one_line
        says err "$place is outside the model's directory"
        [ ! -s "$work/link.log" ]
        ok $? "nothing is sent"
    fi
    unset FAKE_AGENT_LOG
done

# interrupted: nothing hangs
"$BENANZA" compare -c "$work/agents.yaml" --db "$work/a.db" --run slow "$tiny" >"$work/out" 2>"$work/err" &
pid=$!
sleep 2
kill -INT $pid
wait $pid
ok "$([ $? -eq 1 ]; echo $?)" "Ctrl-C ends an agent: exit status 1"
says err "interrupted; nothing was stored"

# all batches and types
try 1 "--run with several batches and types" benanza compare --run good -b 1,3 -t f32,bf16 --json "$tiny"
python3 -c "
import json
d = [json.loads(line) for line in open('$work/out')]
of = [(e['agent']['dtype'], e['scenario']['batch'], e['scenario']['dtype']) for e in d]
assert of == [(t, b, t) for b in (1, 3) for t in ('f32', 'bf16')], of"
ok $? "one execution each, in its own plan"

# bench --agents
try 0 "bench --agents" benanza bench --agents=good,fetch --json "$tiny"
is "1 0" "'%d %d' % (len(d['executions']) - 1, d['failed'])"
is "ok True ok True" "' '.join('%s %s' % (e['status'], e['already']) for e in d['executions'])"
try 0 "again" benanza bench --agents=good --again --json "$tiny"
is False "d['executions'][0]['already']"
try 0 "a framework that does not report its type" benanza bench -q --agents=opaque --again "$tiny"
try 0 "... again" benanza bench --agents=opaque --json "$tiny"
is True "d['executions'][0]['already']"
try 0 "... as text" benanza bench --agents=opaque "$tiny"
says out "; 1 execution of models: 1 known already"
# executions of other requests are not this one
"$BENANZA" db export --db "$work/a.db" >"$work/all.jsonl"
for other in 'e["requests"] = 4' 'e["settings"]["level"] = "none"' \
    'e["settings"]["options"] = {"use_tf32": "1"}' 'e["settings"]["import_ns"] = 5'; do
    rm -f "$work/other.db"
    python3 - "$work/all.jsonl" "$other" >"$work/other.jsonl" <<'PY'
import json
import sys
for line in open(sys.argv[1]):
    record = json.loads(line)
    e = record.get("execution") or {"settings": {}}
    e["settings"].pop("request", None)
    exec(sys.argv[2])
    print(json.dumps(record))
PY
    try 0 "import" "$BENANZA" db import --db "$work/other.db" "$work/other.jsonl"
    try 0 "bench after an execution with $other" "$BENANZA" bench -c "$work/agents.yaml" \
        --db "$work/other.db" --agents=good --json "$tiny"
    is "$(case $other in *import*) echo True ;; *) echo False ;; esac)" "d['executions'][0]['already']"
done
try 1 "an agent that fails" benanza bench --agents=dies,good --again "$tiny"
says err "killed by signal 9"
says out "2 executions of models: 0 known already, 1 measured, 1 failed"
printf 'device: word\nrunners:\n  word: [sh, "%s", Word 1, "words, 1 thread"]\nagents:\n' \
    "$top/tests/lib/word_runner.sh" >"$work/all.yaml"
for name in onnxruntime openvino pytorch tensorrt; do
    mode=absent
    [ $name != onnxruntime ] || mode=good
    printf '  %s: [python3, "%s", %s]\n' $name "$top/tests/lib/fake_agent.py" $mode >>"$work/all.yaml"
done
all() { "$BENANZA" bench -c "$work/all.yaml" --db "$work/all.db" --again "$@"; }
try 0 "--agents: those whose framework is installed" all --agents --json "$tiny"
is 1 "len(d['executions'])"
ok "$([ ! -s "$work/err" ]; echo $?)" "... and no word of the others"
XDG_STATE_HOME=$work try 0 "... with -v" all --agents -v "$tiny"
says err "the agent openvino: fake is not installed"
try 2 "an agent instead of the model" all --agents ort "$tiny"
one_line
says err "ort: no such file; did you mean --agents=ort?"
try 2 "an unknown agent" benanza bench --agents=nobody "$tiny"
# devices
try 0 "devices" benanza devices --json
is "fake 1.2 CPU" "'{framework} {version} {providers[0]}'.format(**d['agents'][0])"
is 1 "sum('fake is not installed' in a.get('error', '') for a in d['agents'])"
is 1 "sum('cannot start the agent gone' in a.get('error', '') for a in d['agents'])"
try 0 "devices as text" benanza devices
says out "good     fake 1.2, 2 threads"
says out "absent   the agent absent: fake is not installed"

# an executable in a build directory outside the source tree, and an installed one
mkdir -p "$work/elsewhere"
cp "$BENANZA" "$work/elsewhere/benanza"
printf 'device: word\nrunners:\n  word: [sh, "%s", Word 1, "words, 1 thread"]\n' \
    "$top/tests/lib/word_runner.sh" \
    >"$work/word.yaml"
try 2 "without a source tree there are no agents" "$work/elsewhere/benanza" compare -c "$work/word.yaml" \
    --db "$work/a.db" --run ort "$tiny"
says err "(configured: none)"
ln -s "$top" "$work/elsewhere/.benanza-source"
{ cat "$work/word.yaml"; echo 'python: no-such-python'; } >"$work/python.yaml"
try 3 "with one they are found" "$work/elsewhere/benanza" compare -c "$work/python.yaml" --db "$work/a.db" \
    --run ort "$tiny"
says err "cannot start the agent ort"
try 0 "... and described devices" "$work/elsewhere/benanza" bound -q -d a100 "$tiny"
if [ -f "$(dirname "$BENANZA")/config.status" ]; then
    found=$(cd "$(dirname "$BENANZA")/.benanza-source" && pwd -P)
    ok "$([ "$found" = "$(cd "$top" && pwd -P)" ]; echo $?)" \
        "configure links the build directory to its source tree"
fi
done_testing
