#!/bin/sh
# Measuring elsewhere: jobs out, results in, devices that are only recorded. The runner measures nothing.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
unset BENANZA_DATA || :
tiny=$top/tests/models/tiny.onnx
rows=$top/tests/models/rows.onnx
json() { python3 -c "import json,sys; d=json.load(open('$work/out')); print($1)"; }
is() { got=$(json "$2" 2>&1); [ "$got" = "$1" ] || echo "# got $got, not $1"; ok "$([ "$got" = "$1" ]; echo $?)" "$2 = $1"; }
same() { [ "$1" = "$2" ] || echo "# got $1, not $2"; ok "$([ "$1" = "$2" ]; echo $?)" "$3"; }
# word MODEL STACK [...]: the runner as a batch
word() { sh "$top/tests/lib/word_runner.sh" "$@"; }
printf 'runners:\n  cpu: [/no/such/runner]\n' >"$work/norunner.yaml"
words="$top/tests/lib/word_runner.sh"
printf 'runners:\n  word: [sh, "%s", Word 1, "words 1, 1 thread"]\n' "$words" >"$work/word.yaml"

# jobs
try 0 "jobs without a runner and without a database" \
    "$BENANZA" bench -c "$work/norunner.yaml" --emit-jobs --budget-ms 50 -b 1,8 "$tiny" "$tiny" "$rows"
cp "$work/out" "$work/jobs"
[ ! -e "$work/data/benanza/benanza.db" ]; ok $? "no database is made"
says err "jobs"
python3 - "$work/jobs" <<'END'
import json, sys
jobs = [json.loads(line) for line in open(sys.argv[1])]
assert [j["id"] for j in jobs] == list(range(1, len(jobs) + 1)), "ids"
assert all(j["type"] == "run" and j["budget_ms"] == 50 for j in jobs), "type and budget"
assert all(j["caches"] == ["net", "warm"] and j["launches"] == ["amortized", "isolated"] for j in jobs), "states"
texts = [j["problem"] for j in jobs]
assert len(set(texts)) == len(texts), "each once"
assert any("+bias" in t for t in texts) and any(":n8c" in t for t in texts), "fused ones, batch 8"
END
ok $? "each problem once over models and batches, fused ones too"
"$BENANZA" bench -q --emit-jobs --budget-ms 50 -b 1,8 "$tiny" "$tiny" "$rows" >"$work/again" 2>/dev/null
cmp -s "$work/jobs" "$work/again"; ok $? "the same jobs in the same order every time"
try 0 "jobs in bf16 for a processor" "$BENANZA" bench -q --emit-jobs -d cpu -t bf16 "$tiny"
grep -q 'problem":"copy:' "$work/out" && grep -q 'problem":"matmul:bf16,.*m1024n1024' "$work/out" && ! grep -q 'm8192n8192' "$work/out"
ok $? "peaks of that type, in that size"
lines=$(wc -l <"$work/out")
try 0 "the other layout too" "$BENANZA" bench -q --emit-jobs -d cpu -t bf16 -w layout "$tiny"
[ "$(wc -l <"$work/out")" -gt "$lines" ] && grep -q '@nxc' "$work/out"; ok $? "more problems"
try 0 "model by model" "$BENANZA" bench -q --emit-jobs --order model "$tiny" "$rows"
cp "$work/out" "$work/ordered"
"$BENANZA" bench -q --emit-jobs "$tiny" >"$work/first" 2>/dev/null
"$BENANZA" bench -q --emit-jobs "$tiny" "$rows" >"$work/mixed" 2>/dev/null
python3 - "$work/ordered" "$work/first" "$work/mixed" <<'END'
import json, sys
ordered, first, mixed = ([json.loads(x)["problem"] for x in open(p)] for p in sys.argv[1:])
assert set(ordered) == set(mixed) and len(ordered) == len(mixed), "the same problems"
own = [p for p in first if p in ordered]
assert len(own) == len(first) < len(ordered), "those of the first model"
assert max(ordered.index(p) for p in first) < len(first) + 12, "come before the others, but for the peaks"
assert max(mixed.index(p) for p in first) > max(ordered.index(p) for p in first), "which else are mixed"
END
ok $? "the problems of the first model come first"
try 2 "another order" "$BENANZA" bench --emit-jobs --order size "$tiny"
one_line
try 0 "jobs for a processor in the states of the model" \
    "$BENANZA" bench -q --emit-jobs -d cpu "$top/data/models/resnet50.onnx"
grep '"problem":"conv' "$work/out" | head -n 1 >"$work/one" && mv "$work/one" "$work/out"
is "['net', 'warm']" "d['caches']" # 106 MiB is beyond twice the typical cache
try 0 "of a smaller one" "$BENANZA" bench -q --emit-jobs -d cpu "$top/data/models/mobilenet_v2.onnx"
cp "$work/out" "$work/smaller"
grep '"problem":"conv' "$work/smaller" | head -n 1 >"$work/out"
is "['16m', '32m', 'net', 'warm']" "sorted(d['caches'])"
grep '"problem":"copy' "$work/smaller" | head -n 1 >"$work/out"
is "['net', 'warm']" "sorted(d['caches'])" # a peak is of no model
try 0 "states asked for" "$BENANZA" bench -q --emit-jobs --caches cold --launches isolated "$tiny"
head -n 1 "$work/out" >"$work/one" && mv "$work/one" "$work/out"
is "['cold'] ['isolated'] 200" "d['caches'], d['launches'], d['budget_ms']"
# one Identity from x to y, of 4 floats
python3 - "$work/free.onnx" <<'END'
import sys
def part(tag, data): return bytes([tag, len(data)]) + data
four = part(0x0a, b"\x08\x01" + part(0x12, part(0x0a, b"\x08\x04")))
def value(name): return part(0x0a, name) + part(0x12, four)
node = part(0x0a, b"x") + part(0x12, b"y") + part(0x22, b"Identity")
graph = part(0x0a, node) + part(0x12, b"g") + part(0x5a, value(b"x")) + part(0x62, value(b"y"))
open(sys.argv[1], "wb").write(b"\x08\x08" + part(0x3a, graph) + part(0x42, b"\x10\x11"))
END
try 0 "jobs of a model with nothing to measure" "$BENANZA" bench --emit-jobs "$work/free.onnx"
one_line
says err "free.onnx: no layer has a problem to measure"
try 0 "... quietly" "$BENANZA" bench -q --emit-jobs "$work/free.onnx"
[ ! -s "$work/err" ]; ok $? "prints nothing"
try 0 "jobs of it and of another model" "$BENANZA" bench --emit-jobs "$tiny" "$work/free.onnx"
says err "free.onnx: no layer has a problem to measure"
says err " jobs; next: "
try 0 "bench of it" \
    "$BENANZA" bench --json -c "$work/word.yaml" -d word --db "$work/free.db" "$work/free.onnx"
one_line
says err "free.onnx: no layer has a problem to measure"
is "0 0 0" "'%d %d %d' % (d['problems'], d['measured'], d['peaks'])"
try 2 "an unknown state" "$BENANZA" bench --emit-jobs --caches net,hot "$tiny"
one_line
says err "hot"
try 2 "states of a bench that measures here, without what bounds stand on" "$BENANZA" bench --caches cold "$tiny"
one_line
try 2 "jobs of a bad model alone" "$BENANZA" bench --emit-jobs "$work/none.onnx"
[ "$(wc -l <"$work/err")" -eq 1 ]; ok $? "... one line, the error"
try 2 "jobs of a bad model among good ones" "$BENANZA" bench -q --emit-jobs "$work/none.onnx" "$tiny"
[ "$(wc -l <"$work/out")" -gt 10 ]; ok $? "the good one's jobs are there"
one_line
try 0 "the largest model" "$BENANZA" bench -q --emit-jobs "$top/data/models/resnet50.onnx"
cp "$work/out" "$work/resnet"
"$BENANZA" layers --json "$top/data/models/resnet50.onnx" >"$work/out"
python3 - "$work/out" "$work/resnet" <<'END'
import json, sys, collections
work = collections.Counter()
for layer in json.load(open(sys.argv[1]))["layers"]:
    if layer["problem"] and layer["flops"]:
        work[layer["problem"]] += layer["flops"]
order = [json.loads(line)["problem"] for line in open(sys.argv[2])]
most = [p for p, _ in work.most_common(5)]
assert all(order.index(p) < len(order) / 4 for p in most), [order.index(p) for p in most]
assert set(work) <= set(order)
END
ok $? "what most of the work is comes first"

# results
word "Word 1" "words 1, 1 thread" <"$work/jobs" >"$work/results"
jobs=$(wc -l <"$work/jobs")
try 0 "import" "$BENANZA" db import --json "$work/results"
is "$((jobs * 4)) 0 $jobs" "'%d %d %d' % (d['added'], d['already'], d['finished'])"
is "False 0" "'%s %d' % (d['interrupted'], d['left_out'])"
try 0 "the same again" "$BENANZA" db import --json "$work/results"
is "0 $((jobs * 4))" "'%d %d' % (d['added'], d['already'])"
try 0 "check" "$BENANZA" db check
try 0 "bound of what was measured elsewhere" "$BENANZA" bound --json -c "$work/norunner.yaml" -d "Word 1" -b 8 "$tiny"
is "True Word 1" "'%s %s' % (d['complete'], d['device']['model'])"
try 0 "bench has nothing to do" "$BENANZA" bench --json -c "$work/word.yaml" -d word -b 1,8 "$tiny"
is "0 True" "'%d %s' % (d['measured'], d['already'] == d['problems'])"
try 0 "export" "$BENANZA" db export
cp "$work/out" "$work/exported"
grep -q '"kernels":"spell\\nread"' "$work/exported" && grep -q '"notes":"letters"' "$work/exported" &&
    grep -q '"enqueue_ns":2500,"clock_mhz":1500' "$work/exported"
ok $? "with kernels, notes, enqueue time and clock"
gzip -c "$work/exported" >"$work/exported.gz"
try 0 "import of the export, gzipped, into another file" "$BENANZA" db import -q --db "$work/two.db" "$work/exported.gz"
try 2 "jobs to a full disk" sh -c "'$BENANZA' bench --emit-jobs '$tiny' >/dev/full"
one_line
says err "standard output: cannot write: No space"
! grep -q "next:" "$work/err"
ok $? "and no next step"
try 2 "export to a full disk" sh -c "'$BENANZA' db export >/dev/full"
says err "standard output: cannot write: No space left on device"
try 0 "export of that" "$BENANZA" db export --db "$work/two.db"
cmp -s "$work/out" "$work/exported"; ok $? "is the same"
"$BENANZA" db import --json --db "$work/three.db" - <"$work/exported" >"$work/out" 2>"$work/err"
ok $? "import of standard input"
is "$(grep -c '"type":"result"' "$work/exported")" "d['added']" # bench added peaks of this very device
# a program that writes more digits than an export has
sed -n '1p; /"median_ns":/{p;q;}' "$work/exported" |
    sed -E 's/"(min|q1|median|q3|mean|lo|hi)_ns":([0-9]+)[0-9.]*/"\1_ns":\2.456789012345678/g' >"$work/digits"
grep -c '"median_ns":[0-9]*.456789012345678' "$work/digits" | grep -qx 1; ok $? "a result with many digits"
try 0 "is imported" "$BENANZA" db import -q --db "$work/digits.db" "$work/digits"
"$BENANZA" db export --db "$work/digits.db" >"$work/cut"
try 0 "and its export again" "$BENANZA" db import --json --db "$work/digits.db" "$work/cut"
is "1 0" "'%d %d' % (d['already'], d['added'])"
try 0 "export of one model" "$BENANZA" db export "$tiny"
tiny_lines=$(wc -l <"$work/out")
[ "$tiny_lines" -gt 20 ] && [ "$tiny_lines" -lt "$(wc -l <"$work/exported")" ]; ok $? "is a part of it"
try 1 "export of a model that is not measured" "$BENANZA" db export -b 3 "$tiny"
[ ! -s "$work/out" ]; ok $? "prints nothing"
one_line
try 2 "export of a device that is not there" "$BENANZA" db export -d nonsense
one_line
try 2 "export to JSON" "$BENANZA" db export --json
one_line
try 2 "import of nothing" "$BENANZA" db import
says err "usage"

# what files are like
{
    echo "Last login: Mon Nov 16 from here {"
    echo
    sed -n 1,3p "$work/results"
    echo "srun: Force Terminated job 7"
    sed -n 4,6p "$work/results" # ends the first job
    sed -n 7p "$work/results" | cut -c 1-100 # killed here
    cat "$work/results"
    sed -n 8p "$work/results" | tr -d '\n' | cut -c 1-50 | tr -d '\n'
} >"$work/messy"
try 0 "noise, a killed run, another after it, a torn end" "$BENANZA" db import --db "$work/messy.db" "$work/messy"
says err "messy ends in the middle of a line"
says out "$((jobs * 4 + 4)) results: $((jobs * 4)) added, 4 known already; $((jobs + 1)) problems"
sed '3s/"median_ns":[0-9]*/"median_ns":"fast"/; 5s/eltwise\|conv\|pool/nonsense/' "$work/results" >"$work/bad"
try 1 "lines that mean nothing" "$BENANZA" db import --db "$work/bad.db" "$work/bad"
says err "$work/bad:3: "
says err "$work/bad:5: "
says out "2 lines left out"
try 0 "what remains is sound" "$BENANZA" db check --db "$work/bad.db"
try 2 "a file that is not there" "$BENANZA" db import "$work/none"
one_line
echo "nothing of ours" >"$work/text"
try 2 "a file without a hello" "$BENANZA" db import "$work/text"
one_line
says err "$work/text"
sed 's/"protocol":1/"protocol":9/' "$work/results" >"$work/future"
try 2 "results of another protocol" "$BENANZA" db import "$work/future"
one_line
says err "$work/future:1: "
word "Word 2" "words 2, 1 thread" <"$work/jobs" >>"$work/both"
cat "$work/results" >>"$work/both"
try 0 "two devices in one file" "$BENANZA" db import -q --db "$work/both.db" "$work/both"
try 0 "are two" "$BENANZA" db info --json --db "$work/both.db"
is "['Word 1', 'Word 2']" "sorted(x['model'] for x in d['devices'])"
try 0 "export of one of them" "$BENANZA" db export --db "$work/both.db" -d "Word 2"
same "$(grep -c '"magic"' "$work/out")" 1 "has one hello"
grep -q '"model":"Word 2"' "$work/out"; ok $? "its own"
try 0 "export of both" "$BENANZA" db export --db "$work/both.db"
same "$(grep -c '"magic"' "$work/out")" 2 "has two"

sed 's/"measured_at":1700000000/"measured_at":33000000000/' "$work/results" >"$work/later"
try 0 "results of a wrong clock" "$BENANZA" db import --db "$work/later.db" "$work/later"
says err "dated in the future"
if command -v sqlite3 >/dev/null 2>&1; then
    "$BENANZA" db import -q --db "$work/full.db" "$work/both"
    rows=$(sqlite3 "$work/full.db" 'SELECT count(*) FROM result')
    sqlite3 "$work/full.db" "CREATE TRIGGER full BEFORE INSERT ON result WHEN (SELECT count(*) FROM result) > $rows + 30
        BEGIN SELECT RAISE(ABORT, 'no room today'); END"
    try 2 "the database takes no more" "$BENANZA" db import --db "$work/full.db" "$work/later"
    one_line
    says err "no room today"
    [ ! -s "$work/out" ]; ok $? "nothing is said to be added"
    same "$(sqlite3 "$work/full.db" 'SELECT count(*) FROM result')" "$rows" "nothing was"
    try 1 "the trigger is all that is found" "$BENANZA" db check --db "$work/full.db"
    same "$(cat "$work/out")" "trigger full: of another program; drop it" "and named"
fi

# a pipe that nothing writes to: what is waited for is said, and then it is read
mkfifo "$work/idle"
for words in "db import" "layers"; do
    case $words in layers) from=$tiny ;; *) from=$work/results ;; esac
    : >"$work/err"
    "$BENANZA" $words --db "$work/idle.db" "$work/idle" >"$work/out" 2>"$work/err" &
    reader=$!
    while [ ! -s "$work/err" ] && kill -0 $reader 2>/dev/null; do sleep 0.1; done
    cat "$from" >"$work/idle"
    got=0
    wait $reader || got=$?
    same "$got $(cat "$work/err")" "0 benanza: waiting: $work/idle is a pipe; a program has to write to it" \
        "$words: a pipe is waited for"
done

# an import that is killed: what was committed is there, and it can be repeated
mkfifo "$work/pipe"
"$BENANZA" db import -q --db "$work/killed.db" "$work/pipe" >/dev/null 2>&1 &
import=$!
exec 4>"$work/pipe"
i=0
while [ $i -lt 12 ]; do cat "$work/results" >&4; i=$((i + 1)); done # more than the reader takes at once
rows=0
while [ "$rows" -lt 20 ] && kill -0 $import 2>/dev/null; do
    rows=$("$BENANZA" db info --json --db "$work/killed.db" 2>/dev/null |
        python3 -c "import json,sys; print(json.load(sys.stdin)['results'])" 2>/dev/null || echo 0)
done
kill -9 $import
wait $import 2>/dev/null
exec 4>&-
[ "$rows" -ge 20 ]; ok $? "an import from a pipe keeps what came ($rows results), while it waits for more"
try 0 "killed: the file is sound" "$BENANZA" db check --db "$work/killed.db"
try 0 "and the import is repeated" "$BENANZA" db import --json --db "$work/killed.db" "$work/results"
is True "d['already'] >= $rows and d['added'] + d['already'] == $((jobs * 4))"
mkfifo "$work/pipe2"
"$BENANZA" db import --db "$work/stopped.db" "$work/pipe2" >"$work/out" 2>"$work/err" &
import=$!
exec 4>"$work/pipe2"
i=0
while [ $i -lt 12 ]; do cat "$work/results" >&4; i=$((i + 1)); done
rows=0
while [ "$rows" -lt 20 ] && kill -0 $import 2>/dev/null; do
    rows=$("$BENANZA" db info --json --db "$work/stopped.db" 2>/dev/null |
        python3 -c "import json,sys; print(json.load(sys.stdin)['results'])" 2>/dev/null || echo 0)
done
kill -TERM $import
got=0
wait $import || got=$?
exec 4>&-
same "$got" 1 "an import that is interrupted while it waits: exit status 1"
says out "interrupted, added results are kept"

# devices that are only recorded: files of the data folder
mkdir -p "$work/share/recorded"
BENANZA_DATA=$work/share
export BENANZA_DATA
try 3 "nothing is recorded" "$BENANZA" bound --db "$work/none.db" -d "Word 1" "$tiny"
one_line
echo "results of devices" >"$work/share/recorded/README"
gzip -c "$work/exported" >"$work/share/recorded/word1.jsonl.gz"
try 0 "a device that comes with the program" "$BENANZA" bound --json --db "$work/none.db" -d "Word 1" "$tiny"
is "True Word 1" "'%s %s' % (d['complete'], d['device']['model'])"
try 0 "two batches of it" "$BENANZA" bound --json --db "$work/none.db" -d "Word 1" -b 8,1 "$tiny"
same "$(grep -c '"complete":true' "$work/out")" 2 "both are known"
try 0 "by a part of its stack" "$BENANZA" bound -q --db "$work/none.db" -d "words 1" "$tiny"
try 3 "by the name it had elsewhere: no" "$BENANZA" bound -q --db "$work/none.db" -d lex "$tiny"
printf 'runners:\n  thread: [/no/such/runner]\n' >"$work/thread.yaml"
try 3 "nor for a runner whose name is a part of a recorded stack" \
    "$BENANZA" bound -c "$work/thread.yaml" --db "$work/none.db" -d thread "$tiny"
says err "no results of thread"
try 3 "not where no device was asked for" "$BENANZA" bound -c "$work/norunner.yaml" --db "$work/none.db" "$tiny"
try 0 "in the explorer" "$BENANZA" --frame 100x20 --db "$work/none.db" -d "Word 1" "$tiny"
says out "Word 1"
[ ! -e "$work/none.db" ]; ok $? "no database is made"
try 0 "devices lists it" "$BENANZA" devices --json -c "$work/word.yaml" --db "$work/none.db"
is "[('Word 1', None, 'word1.jsonl.gz')]" "[(r['model'], r['id'], r['file'].split('/')[-1]) for r in d['recorded']]"
try 0 "devices as text" "$BENANZA" devices -c "$work/word.yaml" --db "$work/none.db"
says out "or with the program"
try 3 "nothing can be measured on it" "$BENANZA" bench --db "$work/other.db" -d "Word 1" "$tiny"
says err "only recorded"
sed 's/words 1, 1 thread/words 2, 1 thread/' "$work/exported" >"$work/share/recorded/word2.jsonl"
try 3 "two of that model" "$BENANZA" bound --db "$work/none.db" -d "Word 1" "$tiny"
one_line
says err "words 2, 1 thread"
try 0 "one of them" "$BENANZA" bound --json --db "$work/none.db" -d "words 2" "$tiny"
is "words 2, 1 thread" "d['device']['stack']"
head -c 300 "$work/share/recorded/word1.jsonl.gz" >"$work/share/recorded/cut.jsonl.gz"
echo "not compressed" >"$work/share/recorded/text.jsonl.gz"
try 0 "files of other programs do no harm" "$BENANZA" bound -q --db "$work/none.db" -d "words 2" "$tiny"
rm "$work/share/recorded/"cut.* "$work/share/recorded/"text.* "$work/share/recorded/word2.jsonl"
head -n 6 "$work/exported" >"$work/few"
"$BENANZA" db import -q --db "$work/own.db" "$work/few"
try 1 "what the database has of a device goes before" "$BENANZA" bound -q --json --db "$work/own.db" -d "Word 1" "$tiny"
is False "d['complete']"
try 0 "and is listed once" "$BENANZA" devices --json -c "$work/word.yaml" --db "$work/own.db"
is "[1]" "[r['id'] for r in d['recorded']]"

# devices that are only described
unset BENANZA_DATA
try 3 "measuring on a described device" "$BENANZA" bench --db "$work/none.db" -d h100 "$tiny"
one_line
says err "only described"
echo '{' >"$work/torn.json"
for file in torn none; do
    try 2 "a description that cannot be read: $file" "$BENANZA" bound --db "$work/none.db" -d "$work/$file.json" "$tiny"
    one_line
    says err "$work/$file.json"
    try 2 "nor in the explorer" "$BENANZA" --frame 80x24 --db "$work/none.db" -d "$work/$file.json" "$tiny"
done
try 3 "the explorer on a device that nobody has" "$BENANZA" --frame 80x24 --db "$work/none.db" -d nonsense "$tiny"
one_line
says err "see benanza devices"
done_testing
