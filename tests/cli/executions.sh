#!/bin/sh
# Executions of whole models in the database: import, export, merge, check, info.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
unset BENANZA_DATA || :
json() { python3 -c "import json,sys; d=json.load(open('$work/out')); print($1)"; }
is() {
    got=$(json "$2" 2>&1)
    [ "$got" = "$1" ] || echo "# got $got, not $1"
    ok "$([ "$got" = "$1" ]; echo $?)" "$2 = $1"
}
hash=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef

# lines ID FRAMEWORK MEDIAN_NS: an execution with two rows, as an agent sends it
lines() {
    printf '{"type":"execution","id":%s,"execution":{"source":"agent","framework":"%s",' "$1" "$2"
    printf '"device":"CPU %s","model":"m","model_hash":"%s","settings":{"level":"all"},' "$1" $hash
    printf '"inputs":["data:f32:1x3"],"status":"ok","stats":{"n":9,"median_ns":%s,' "$3"
    printf '"stop":"converged"},"measured_at":1700000000}}\n'
    printf '{"type":"row","id":%s,"row":{"level":"layer","name":"c1","nodes":["a","b"],"ns":5.5}}\n' "$1"
    printf '{"type":"row","id":%s,"row":{"level":"kernel","parent":0,"name":"k","ns":5}}\n' "$1"
    printf '{"type":"done","id":%s,"kind":"model","payload":"m","status":"ok"}\n' "$1"
}
lines 1 onnxruntime 100 >"$work/one.jsonl"
lines 2 openvino 90 >"$work/two.jsonl"

try 0 "import of an agent's output" "$BENANZA" db import --json --db "$work/1.db" "$work/one.jsonl"
is "0 1 1 0" "'%d %d %d %d' % (d['results'], d['executions'], d['executions_added'], d['left_out'])"
try 0 "again" "$BENANZA" db import --db "$work/1.db" "$work/one.jsonl"
says out "1 execution of models, 0 added"
try 0 "info" "$BENANZA" db info --json --db "$work/1.db"
is "1 4" "'%d %d' % (d['executions'], d['schema_version'])"
try 0 "info as text" "$BENANZA" db info --db "$work/1.db"
says out "1 executions of whole models"
try 0 "check" "$BENANZA" db check --db "$work/1.db"
try 0 "export" "$BENANZA" db export --db "$work/1.db"
cp "$work/out" "$work/exported.jsonl"
ok "$([ "$(grep -c '"type":"row"' "$work/out")" -eq 2 ]; echo $?)" "with its rows"
try 0 "import of the export" "$BENANZA" db import --json --db "$work/again.db" "$work/exported.jsonl"
"$BENANZA" db export --db "$work/again.db" | cmp -s - "$work/exported.jsonl"
ok $? "the same is exported again"
try 0 "import of another" "$BENANZA" db import -q --db "$work/2.db" "$work/two.jsonl"
try 0 "merge" "$BENANZA" db merge --json --db "$work/1.db" "$work/2.db"
is "1 1" "'%d %d' % (d['executions'], d['executions_added'])"
try 0 "merge again" "$BENANZA" db merge --db "$work/1.db" "$work/2.db"
says out "1 execution of models, 0 added"
try 0 "export of one device" "$BENANZA" db export -d "CPU 2" --db "$work/1.db"
ok "$([ "$(grep -c '"type":"execution"' "$work/out")" -eq 1 ]; echo $?)" "only its execution"
says out openvino
try 0 "export by framework" "$BENANZA" db export -d onnxruntime --db "$work/1.db"
says out '"device":"CPU 1"'

# cut off, damaged
head -n 3 "$work/one.jsonl" >"$work/cut.jsonl"
try 0 "an execution without its end" \
    "$BENANZA" db import --db "$work/cut.db" "$work/two.jsonl" "$work/cut.jsonl"
says out "1 execution of models, 1 added"
says err "cut.jsonl ends in the middle of a line or an execution"
sed 's/"median_ns":100/"median_ns":1e17/' "$work/one.jsonl" >"$work/long.jsonl"
try 1 "a time out of range" "$BENANZA" db import --db "$work/cut.db" "$work/long.jsonl" "$work/one.jsonl"
says err "long.jsonl:1: an execution: has a time above 1e15 ns"
if command -v sqlite3 >/dev/null 2>&1; then
    sqlite3 "$work/1.db" "DROP TRIGGER execution_layer_no_update"
    sqlite3 "$work/1.db" "UPDATE execution_layer SET ns = -1 WHERE execution = 1"
    try 1 "check of a damaged row" "$BENANZA" db check --db "$work/1.db"
    says out "execution 1: has a negative"
    try 1 "its merge" "$BENANZA" db merge --db "$work/3.db" "$work/1.db"
    says err "execution 1 has a negative"
    says out "1 execution of models, 1 added"
fi
done_testing
