#!/bin/sh
# The command line: what it prints, its exit statuses, and bad input.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
models=$top/tests/models
json() { python3 -IS -c "import json,sys; d=json.load(open('$work/out')); print($1)"; }
# is TEXT EXPRESSION: of the JSON object d last printed
is() { got=$(json "$2" 2>&1); [ "$got" = "$1" ] || echo "# got $got, not $1"; ok "$([ "$got" = "$1" ]; echo $?)" "$2 = $1"; }

try 0 "help" "$BENANZA" --help
says out "benanza bound MODEL"
try 0 "version" "$BENANZA" --version
try 0 "help as a command" "$BENANZA" help
says out "benanza bound MODEL"
try 0 "help of a command" "$BENANZA" help bench
says out "usage: benanza bench"
try 2 "a misspelt command" "$BENANZA" bnech
one_line
says err 'unknown command "bnech"; did you mean bench?'
try 2 "an unknown command" "$BENANZA" telepathy
one_line
says err 'unknown command "telepathy"; try --help'
try 2 "a misspelt option" "$BENANZA" layers --jsno x
one_line
says err "did you mean --json?"
python3 - "$BENANZA" "$top/data/models/gpt2_small.onnx" <<'EOT'
import subprocess, sys
p = subprocess.Popen([sys.argv[1], "layers", sys.argv[2]], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
p.stdout.read(1)
p.stdout.close()
said = p.stderr.read()
sys.exit(p.wait() != 141 or said != b"")
EOT
ok $? "a reader that leaves early: no complaint, the status of SIGPIPE"
try 2 "unknown option" "$BENANZA" layers --no-such-option x
one_line
try 2 "no such model, and no terminal" "$BENANZA" "$work/nosuch.onnx"
says err "no such file"
try 2 "no terminal" "$BENANZA" "$models/tiny.onnx"
says err "needs a terminal"
try 2 "no model given" "$BENANZA" layers
says err "usage"

try 0 "options before the command" "$BENANZA" -q layers "$models/tiny.onnx"
says out "stem"
try 0 "letters in one word" "$BENANZA" layers -qh
says out "usage"
try 2 "a value that looks like help is a value" "$BENANZA" layers --db --help
try 2 "CSV of a command without it" "$BENANZA" devices --csv
one_line

# layers
try 0 "layers" "$BENANZA" layers --json "$models/tiny.onnx"
is 12 "len(d['layers'])"
is 12 "d['summary']['layers']"
is "[1, 16, 32, 32]" "d['layers'][0]['outputs'][0]['shape']"
is "{'batch': 1}" "d['dims']"
is 0 "d['summary']['unknown_shapes']"
is 884736.0 "float(d['layers'][0]['flops'])"
is conv:f32,f32.c,f32/f32:n1c3h32w32k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1 "d['layers'][0]['problem']"
is True "d['layers'][3]['distinct'] == d['layers'][5]['distinct']"
is free "d['layers'][10]['class']"
is 11 "d['layers'][10]['number']"
is "{'batch': 'default'}" "d['dims_from']"
try 0 "batch of the command line" "$BENANZA" layers --json -b 3 "$models/tiny.onnx"
is option "d['dims_from']['batch']"
printf 'batch: 3\n' >"$work/batch.yaml"
try 0 "batch of the configuration" "$BENANZA" layers --json -c "$work/batch.yaml" "$models/tiny.onnx"
is configuration "d['dims_from']['batch']"
try 0 "layers as text" "$BENANZA" layers -b 3 "$models/tiny.onnx"
says out "dimensions: batch 3 (option)"
try 0 "constants are folded" "$BENANZA" layers "$top/data/models/resnet50.onnx"
says out "267 of the layers only compute constants; --constants lists them too"
[ "$(grep -c ' Constant ' "$work/out")" -eq 0 ]; ok $? "none is listed"
try 0 "constants asked for" "$BENANZA" layers --constants "$top/data/models/resnet50.onnx"
says out "267 of the layers only compute constants"
[ "$(wc -l <"$work/out")" -gt 440 ]; ok $? "all are listed"
says out "442 layers (175 at run time), 54 distinct problems"
try 0 "layers without constant ones" "$BENANZA" layers "$models/hostile.onnx"
grep -q '^3 layers, .* FLOPs of 1 layer, bytes of 1 layer$' "$work/out"; ok $? "one layer is no plural"
says out "dimensions: batch 1 (fixed in the file)"
try 2 "--dim against -b" "$BENANZA" layers --dim batch=3 -b 3,2 "$models/tiny.onnx"
one_line
says err "tiny.onnx: --dim batch=3 contradicts -b 2: leave one out"
# no elements, or what an exporter writes for "unknown"
PYTHONPATH=$top/tests/lib python3 - "$work/zero.onnx" <<'END'
import sys
from onnx_wire import *
x = [value_info("x", [0, 8, 0, 4]), value_info("c", [8, 0])]
y = [value_info("y", None), value_info("z", None)]
nodes = [node("Relu", ["x"], ["y"], "relu"), node("Relu", ["c"], ["z"], "none")]
open(sys.argv[1], "wb").write(model(graph(nodes, x, y)))
END
try 0 "inputs that declare dimensions of 0" "$BENANZA" layers "$work/zero.onnx"
says out 'warning: input "x" declares a dimension of 0; it is treated as unknown: give --input x=SHAPE'
says out 'warning: input "c" declares a dimension of 0; if it is not empty, give --input c=SHAPE'
try 0 "shapes in their place" "$BENANZA" layers --input x=2x8x4x4 --input c=8x3 "$work/zero.onnx"
says out "2x8x4x4 "
! grep -q "dimension of 0" "$work/out"; ok $? "without a warning"
try 2 "two values of one dimension" "$BENANZA" layers --dim batch=4 --dim batch=5 "$models/tiny.onnx"
one_line
says err "--dim batch=5 contradicts --dim batch=4: leave one out"
try 0 "one value twice" "$BENANZA" layers --dim batch=4 --dim batch=4 "$models/tiny.onnx"
try 2 "two shapes of one input" "$BENANZA" layers --input x=1x3x32x32 --input x=2x3x32x32 "$models/tiny.onnx"
one_line
says err "--input x=2x3x32x32 contradicts an earlier shape of x: leave one out"
try 2 "two values of one input" "$BENANZA" layers --value x=1 --value x=2 "$models/tiny.onnx"
one_line
says err "--value x=2 contradicts an earlier value of x: leave one out"
try 0 "one value of an input twice" "$BENANZA" layers --value x=1 --value x=1 "$models/tiny.onnx"
says out "warning: --value x has no effect: no shape and no branch depends on it"
try 0 "such a value in a bound" "$BENANZA" bound -d h100 --value x=1 "$models/tiny.onnx"
one_line
says err "--value x has no effect"
for command in "layers --json" "bound -d h100" "bench --emit-jobs"; do
    # shellcheck disable=SC2086
    "$BENANZA" $command -b 4 -t f32,f16 --input x=2x3x32x32 "$models/tiny.onnx" >/dev/null 2>"$work/err"
    says err "tiny.onnx: --input sets the batch 2; -b 4 is not used"
    [ "$(grep -c "not used" "$work/err")" -eq 1 ]; ok $? "$command says it once"
done
try 0 "-b as --input" "$BENANZA" layers -b 2 --input x=2x3x32x32 "$models/tiny.onnx"
[ ! -s "$work/err" ]; ok $? "no note where they agree"
try 0 "-b against --input, quietly" "$BENANZA" layers -q -b 4 --input x=2x3x32x32 "$models/tiny.onnx"
[ ! -s "$work/err" ]; ok $? "no note with -q"
try 0 "--dim as -b" "$BENANZA" layers --dim batch=3 -b 3 "$models/tiny.onnx"
try 2 "--dim against --input" "$BENANZA" layers --dim batch=3 --input x=2x3x32x32 "$models/tiny.onnx"
one_line
says err "--dim batch=3 contradicts --input, which gives it 2: leave one out"
try 0 "--dim as --input" "$BENANZA" layers --dim batch=2 --input x=2x3x32x32 "$models/tiny.onnx"
try 2 "--dim of a number in the file against --input" "$BENANZA" layers --dim batch=3 --input x=2x3x4x4 "$models/baked.onnx"
one_line
zcat "$top/data/tour/resnet50.jsonl.gz" >"$work/resnet50.jsonl"
try 0 "results of another machine" "$BENANZA" db import --db "$work/resnet50.db" "$work/resnet50.jsonl"
try 0 "a bound of them" "$BENANZA" bound --db "$work/resnet50.db" -d "AMD EPYC" "$top/data/models/resnet50.onnx"
grep -q 'compute ~[0-9]*% (f32) *jit_fp32_wino' "$work/out"
ok $? "the limit of a Winograd algorithm is an estimate"
try 0 "a bound of little workspace" "$BENANZA" bound --db "$work/resnet50.db" -d "AMD EPYC" \
    -w fusion,cache=warm,workspace=1M "$top/data/models/resnet50.onnx"
grep -q 'compute 10[0-9]%? (f32)' "$work/out" && grep -qF '(?: above the measured peak:' "$work/out"
ok $? "a share above the peak is marked"
says out " of all layers (of 9 above a peak: the cost)"
grep -qE '^fusion .*x  [0-9]+ noisy$' "$work/out" && grep -qF 'noisy: problems in either total whose measurement is noisy' "$work/out"
ok $? "a what-if over noisy results is marked"
says out "not available here: no problem here can run on matrix units"
try 0 "the same as JSON" "$BENANZA" bound --json --db "$work/resnet50.db" -d "AMD EPYC" "$top/data/models/resnet50.onnx"
is True "all(l.get('above_peak', False) == ((l['peak_share'] or 0) >= 1.005) for l in d['layers']) and any('above_peak' in l for l in d['layers'])"
is True "d['what_if'][1]['noisy_problems'] > 0"
try 0 "batch" "$BENANZA" layers --json -b 8 "$models/tiny.onnx"
is "[8, 10]" "d['layers'][11]['outputs'][0]['shape']"
try 0 "functions of the model itself" "$BENANZA" layers --json "$models/functions.onnx"
is 16 "len(d['layers'])"
is "block.0/norm/ReduceMean_0 block.1/project" "d['layers'][0]['name'] + ' ' + d['layers'][13]['name']"
is "[]" "d['warnings']"
try 0 "from standard input" sh -c "'$BENANZA' layers --json - <'$models/tiny.onnx'"
is 12 "len(d['layers'])"
try 0 "input shape" "$BENANZA" layers --json --input x=2x3x64x64 "$models/tiny.onnx"
is "[2, 16, 64, 64]" "d['layers'][0]['outputs'][0]['shape']"
try 2 "a value that is not a number" "$BENANZA" layers --value x=much "$models/tiny.onnx"
one_line
says err "'much' is not a number"
try 2 "a value of no input" "$BENANZA" layers --value z=1 "$models/tiny.onnx"
one_line
says err "tiny.onnx: --value: the model has no input z; it has x"
try 2 "a shape of no input" "$BENANZA" layers --input z=1x3 "$models/tiny.onnx"
one_line
says err "tiny.onnx: --input: the model has no input z; it has x"
try 2 "a size of no dimension" "$BENANZA" bound --dim z=1 "$models/tiny.onnx"
one_line
says err "tiny.onnx: the model has no dimension z"
try 2 "a value without a number" "$BENANZA" layers --value x= "$models/tiny.onnx"
one_line
try 2 "two values for a whole picture" "$BENANZA" layers --value x=1,2 "$models/tiny.onnx"
one_line
says err "input x is 1x3x32x32: give 1 value or 3072, not 2"
try 0 "one value for a whole picture" "$BENANZA" layers --json --value x=1 "$models/tiny.onnx"
is True "'uses the contents of at most 1024 elements' in d['warnings'][0]"
try 0 "two batches are two objects" "$BENANZA" layers --json -b 1,2 "$models/tiny.onnx"
[ "$(wc -l <"$work/out")" -eq 2 ]; ok $? "one a line"
gpt2=$top/data/models/gpt2_small.onnx
try 0 "the parallel schedule of a described device" "$BENANZA" --frame 120x40 --view timeline -w parallel \
    -d h100 --db "$work/no.db" "$gpt2"
says out "critical path  "
says out " h.0/mlp "
grep -a ' lane 2 ' "$work/out" | grep -q '█'
[ $? -eq 1 ]; ok $? "the critical path stays in its lane"
grep -qa ' lane 3 ' "$work/out"
[ $? -eq 1 ]; ok $? "and what runs beside it takes one more"
try 0 "the same in a report" "$BENANZA" report --db "$work/no.db" -d h100 -w parallel "$gpt2"
grep -o 'class="k" x="[^"]*" y="[^"]*"' "$work/out" | sed 's/.* y=//' | sort -u >"$work/critical"
grep -q 'class="b"' "$work/out" && [ "$(cat "$work/critical")" = '"10"' ]; ok $? "the same lanes"
try 0 "dimensions that depend on each other are entered together" "$BENANZA" --frame 100x20 "$gpt2" \
    --keys 'd 1 6 Tab 1 4 4 Enter'
says out " sequence 16, total_sequence 144 (entered), past_sequence 128 (sidecar)"
try 0 "one that is the sum of others follows them" "$BENANZA" --frame 100x20 "$gpt2" --keys 'd 1 6 Enter'
says out " sequence 16, total_sequence 144 (entered), past_sequence 128 (sidecar)"
try 0 "those that do not fit are refused together" "$BENANZA" --frame 100x20 "$gpt2" \
    --keys 'd 1 6 Tab 1 5 0 Enter'
says out "do not broadcast"
says out " sequence 1, total_sequence 129, past_sequence 128 (sidecar)"
try 2 "one of those on the command line" "$BENANZA" layers --db "$work/no.db" --dim sequence=4 "$gpt2"
one_line
says err "sets them too: past_sequence=128 (sidecar), total_sequence=129 (sidecar)"
try 0 "all of them" "$BENANZA" layers --db "$work/no.db" --dim sequence=4 --dim total_sequence=132 "$gpt2"
try 0 "a value of the command line" "$BENANZA" --frame 100x20 --dim total_sequence=129 "$gpt2"
says out "total_sequence 129 (option)"
try 0 "a shape goes before the batch" "$BENANZA" --frame 80x24 -b 3 --input x=2x3x64x64 "$models/tiny.onnx"
says out "batch 2 "
try 0 "the source of a dimension that --input sets" "$BENANZA" layers --input x=2x3x64x64 "$models/tiny.onnx"
says out "batch 2 (option)"
try 0 "a batch beyond the option's range" "$BENANZA" --frame 100x20 "$gpt2" --keys 'd Up Up 9 9 9 9 9 Enter'
says out "batch must be 1-65536"
try 0 "csv" "$BENANZA" layers --csv "$models/tiny.onnx"
[ "$(wc -l <"$work/out")" -eq 13 ]; ok $? "a head and a line a layer"
try 0 "sums with gaps" "$BENANZA" layers "$models/symbolic.onnx"
says out "at least 0 FLOP, at least"
says out "not known: FLOPs of"
try 0 "csv of layers in layers" "$BENANZA" layers --csv "$models/functions.onnx"
[ "$(head -1 "$work/out" | sed 's/.*problem,//')" = "proxy,estimated,path,times,number" ]; ok $? "where a layer is, how often it runs, its number"
grep -q ',6.then_branch.0,,1$' "$work/out"; ok $? "of a branch that may be taken: not known how often"
grep -q ',4,1,[0-9]*$' "$work/out"; ok $? "the model's own: once"
try 0 "csv of several plans" "$BENANZA" layers --csv -b 1,2 -t f32,bf16 "$models/tiny.onnx"
[ "$(wc -l <"$work/out")" -eq 49 ]; ok $? "one head and a line a layer of each"
[ "$(cut -d, -f1,2 "$work/out" | sort | uniq -c | awk '{ print $1 $2 }' | tr '\n' ' ')" = \
    '121,bf16 121,f32 122,bf16 122,f32 1batch,dtype ' ]; ok $? "batch and type come first"

# one numbering everywhere: that of the explorer, which does not count layers that only compute constants
resnet50=$top/data/models/resnet50.onnx
for what in layers "bound -q -d h100"; do
    for form in --json --csv ''; do
        # shellcheck disable=SC2086
        "$BENANZA" $what $form "$resnet50" >"$work/numbers.${what%% *}${form}" 2>/dev/null
    done
done
"$BENANZA" "$resnet50" --frame 100x20 --view layers --keys 'G Enter' >"$work/numbers.frame" 2>/dev/null
python3 - "$work" <<'EOT'
import csv, json, re, sys
of = lambda name: open(sys.argv[1] + "/numbers." + name)
listed = {l["name"]: l["number"] for l in json.load(of("layers--json"))["layers"]}
shown = [n for n in listed.values() if n]
assert shown == list(range(1, 176)) and None in listed.values(), shown
index = {l["name"]: l["index"] for l in json.load(of("bound--json"))["layers"]}
assert listed == {l["name"]: l["number"] for l in json.load(of("bound--json"))["layers"]}
for name in "layers--csv", "bound--csv":
    rows = list(csv.DictReader(of(name)))
    assert {r["name"]: int(r["number"] or 0) or None for r in rows} == listed, name
    assert {r["name"]: int(r["index"]) for r in rows} == index, name
text = [re.match(r" *(\d+)  (\S+)", line) for line in of("layers")]
assert {m[2]: int(m[1]) for m in text if m and not m[2].startswith("of")} == {k: v for k, v in listed.items() if v}
costly = [m.groups() for m in map(re.compile(r" *(\d+)  (\S+) +\S+ +~? *[0-9.]+ [mu]s").match, of("bound")) if m]
assert len(costly) > 10 and all(listed[name] == int(number) for number, name in costly), costly
assert "layer 175 of 175" in of("frame").read()
EOT
ok $? "layers, bound, JSON, CSV and the explorer number the layers alike"

# symbols
try 0 "unbound symbols stay" "$BENANZA" layers --json "$models/symbolic.onnx"
is "[1, 'sequence', 16]" "d['layers'][0]['outputs'][0]['shape']"
try 0 "what is missing is one line to paste" "$BENANZA" layers "$models/symbolic.onnx"
says out "for the missing sizes, add: --dim sequence=VALUE"
try 2 "bound needs them" "$BENANZA" bound "$models/symbolic.onnx"
one_line
says err "--dim sequence=VALUE"
try 2 "a dimension the model does not have" "$BENANZA" layers --dim nonsense=4 "$models/symbolic.onnx"
one_line
try 2 "a bad dimension" "$BENANZA" layers --dim sequence=x "$models/symbolic.onnx"
one_line
try 2 "a batch that is baked in" "$BENANZA" layers -b 4 "$models/baked.onnx"
one_line
says err "flatten_to_one"

# hostile text
try 0 "hostile names" "$BENANZA" layers "$models/hostile.onnx"
! grep -q "$(printf '\033')" "$work/out"; ok $? "no escape character reaches the terminal"
try 0 "hostile names in JSON" "$BENANZA" layers --json "$models/hostile.onnx"
is unknown "d['layers'][1]['class']"
is "[1, 4]" "d['layers'][2]['outputs'][0]['shape']"

# files that are no models
printf 'hello, I am text\n' >"$work/text.onnx"
: >"$work/empty.onnx"
head -c 700 "$models/tiny.onnx" >"$work/cut.onnx"
printf 'PK\003\004aaaaaaaaaaaaaaaaaaaaaaaaaa' >"$work/zip.onnx"
mkdir "$work/dir.onnx"
for file in text empty cut zip dir missing; do
    try 2 "$file" "$BENANZA" layers "$work/$file.onnx"
    one_line
    says err "$file.onnx"
done
if [ "$(id -u)" -ne 0 ]; then
    cp "$models/tiny.onnx" "$work/secret.onnx"
    chmod 0 "$work/secret.onnx"
    try 2 "unreadable" "$BENANZA" layers "$work/secret.onnx"
    one_line
fi

# configuration
bad_yaml() { # NAME TEXT SAYS
    printf '%b' "$2" >"$work/bad.yaml"
    try 2 "yaml: $1" "$BENANZA" layers -c "$work/bad.yaml" "$models/tiny.onnx"
    one_line
    says err "$3"
}
bad_yaml "unknown key" 'bacth: 1\n' "bacth"
bad_yaml "wrong type" 'batch: many\n' "batch"
bad_yaml "absurd number" 'batch: 99999999999999999999\n' "batch"
bad_yaml "not YAML" 'batch: [1\n' "bad.yaml"
try 2 "configuration that is not there" "$BENANZA" layers -c "$work/none.yaml" "$models/tiny.onnx"
one_line
try 0 "the example configuration loads" "$BENANZA" layers -c "$top/configs/benanza.yaml" "$models/tiny.onnx"
try 2 "unknown what-if" "$BENANZA" bound -w telepathy "$models/tiny.onnx"
one_line
says err "fusion"
for wrong in 'theme: drak' 'keys: { dwon: j }' 'columns: [bond]'; do
    printf 'threads: 1\n%s\n' "$wrong" >"$work/words.yaml"
    for command in bound models layers; do
        try 2 "$wrong is refused by $command" "$BENANZA" $command -c "$work/words.yaml" "$models/tiny.onnx"
        says err "words.yaml:2: ${wrong%%:*}: "
    done
done
try 2 "a misspelt what-if" "$BENANZA" bound -w fussion "$models/tiny.onnx"
says err "did you mean fusion?"
try 3 "a misspelt device" "$BENANZA" bound -d h10 "$models/tiny.onnx"
says err "did you mean h100?"
try 0 "the usual name of a type" "$BENANZA" bound -d h100 -t fp16 "$models/tiny.onnx"
says out "batch 1  f16"
try 2 "one what-if twice" "$BENANZA" bound -w fusion,fusion=off "$models/tiny.onnx"
one_line
says err "-w (--what-if): fusion is given twice in 'fusion,fusion=off': leave one out"
printf 'what_if: fusion,\n' >"$work/comma.yaml"
try 2 "one in the configuration" "$BENANZA" bound -c "$work/comma.yaml" "$models/tiny.onnx"
one_line
says err "comma.yaml:1: what_if: an item is empty: remove the comma"

# operators
try 0 "ops as csv" "$BENANZA" ops --csv
says out "Gemm,,11,,compute"
try 0 "ops" "$BENANZA" ops --json; "$BENANZA" doctor --json
is True "any(o['name'] == 'Conv' for o in d['operators'])"

# database
try 1 "bound without a database" "$BENANZA" bound --json "$models/tiny.onnx"
is None "d['bound_ns']"
[ ! -e "$work/data/benanza/benanza.db" ]; ok $? "a reader makes none"
try 2 "db info before anything" "$BENANZA" db info --json
one_line
printf 'this is no database, it is a text of some length' >"$work/text.db"
try 2 "a text as database" "$BENANZA" db info --db "$work/text.db"
one_line
says err "text.db"
[ "$(cat "$work/text.db")" = 'this is no database, it is a text of some length' ]; ok $? "and it is left as it was"
try 2 "a directory as database" "$BENANZA" db info --db "$work/dir.onnx"
one_line
try 2 "no database there" "$BENANZA" db info --db "$work/none.db"
one_line
if command -v sqlite3 >/dev/null 2>&1; then
    cp "$work/resnet50.db" "$work/newer.db"
    sqlite3 "$work/newer.db" 'PRAGMA user_version=999;'
    try 2 "a newer database" "$BENANZA" bound --db "$work/newer.db" "$models/tiny.onnx"
    one_line
    says err "newer"
fi

# runners
printf 'runners:\n  cpu: [/no/such/runner]\n' >"$work/norunner.yaml"
try 3 "no runner" "$BENANZA" bench -c "$work/norunner.yaml" --db "$work/n.db" "$models/tiny.onnx"
one_line
says err "/no/such/runner"
printf 'runners:\n  cpu: [/bin/echo, hello]\n' >"$work/norunner.yaml"
try 3 "not a runner" "$BENANZA" bench -c "$work/norunner.yaml" --db "$work/n.db" "$models/tiny.onnx"
one_line

# by a runner that measures nothing, in bf16 only casts; of a real one: tests/runner/measuring.sh
words=$top/tests/lib/word_runner.sh
printf 'runners:\n  cpu: [sh, "%s", "Word 0", "words 0, 2 threads", 2, "??[!s]*:bf16,*"]\n' "$words" >"$work/standin.yaml"
BENANZA_CONFIG=$work/standin.yaml
export BENANZA_CONFIG
try 1 "bound with nothing measured has gaps" "$BENANZA" bound --json "$models/tiny.onnx"
is False "d['complete']"
is True "d['bound_ns'] is d['sequential_ns'] is d['parallel_ns'] is d['interval_ns'] is None"
is True "all(w['bound_ns'] is w['saves_ns'] is w['speedup'] is None for w in d['what_if'])"
is False "any(l['critical'] or 'why' in l for l in d['layers'])"
try 1 "the same as text" "$BENANZA" bound "$models/tiny.onnx"
says out "unknown: nothing is measured"
! grep -qE '(^| )0 ns|(^|[^a-z])nan([^a-z]|$)' "$work/out"; ok $? "no zero stands for unknown"
try 1 "a batch dimension of any name" "$BENANZA" bound --json --dim N=4 "$models/rows.onnx"
is 4 "d['scenario']['batch']"
try 1 "batch and dimensions" "$BENANZA" bound -b 2 "$models/tiny.onnx"
head -n 1 "$work/out" | grep -q "tiny.onnx  batch 2  f32$"; ok $? "the batch is printed once"
try 0 "bench" "$BENANZA" bench --json --budget 5 "$models/tiny.onnx"
is 0 "d['already'] + d['failed'] + d['unsupported']"
is True "d['measured'] == d['problems'] > 10"
is True "d['eta_off'] is None or d['eta_off'] >= 1"
try 3 "a device the runner does not have" "$BENANZA" bench -d cpu:7 "$models/tiny.onnx"
one_line
try 0 "bench again measures nothing" "$BENANZA" bench --json --budget 5 "$models/tiny.onnx"
is True "d['measured'] == 0 and d['already'] == d['problems']"
try 0 "bound" "$BENANZA" bound --json "$models/tiny.onnx"
is True "d['complete'] and d['bound_ns'] > 0"
is True "d['parallel_ns'] <= d['sequential_ns'] == d['bound_ns']"
is True "abs(sum(l['cost_ns'] for l in d['layers']) - d['sequential_ns']) < 1"
is True "all(sum(v for k, v in d['coverage'].items() if k not in ('layers', 'flops_measured_share', 'cost_proxy_share')) == d['coverage']['layers'] for _ in [0])"
is True "all(l['bound_by'] in ('compute', 'memory', 'overhead', None) and (l['bound_by'] or l['bound_by_why']) for l in d['layers'])"
is True "all('peak_share' in l and l['name'] is not None and l['op'] for l in d['layers'])"
is True "d['scenario']['dims_from'] == {'batch': 'default'}"
is "['parallel', 'fusion', 'matrix', 'algorithm', 'launch', 'math']" "[w['name'] for w in d['what_if'][:6]]"
is "['layout', 'workspace', 'deterministic']" "[w['name'] for w in d['what_if'][6:9]]"
is "['libraries', 'cache', 'pages', 'pad', 'fold', 'assume']" "[w['name'] for w in d['what_if'][9:]]"
try 0 "bound with fusion and parallel" "$BENANZA" bound --json -w fusion,parallel "$models/tiny.onnx"
is True "d['bound_ns'] == d['parallel_ns']"
is True "'fused' in [l['origin'] for l in d['layers']]"
is True "all('pattern' in d['layers'][l['fused_into']] for l in d['layers'] if 'fused_into' in l)"
is True "max(l['start_ns'] + l['cost_ns'] for l in d['layers']) <= d['bound_ns'] * 1.000001"
try 0 "text" "$BENANZA" bound "$models/tiny.onnx"
says out "lower bound"
says out "bound by"
says out "dimensions: batch 1 (default)"
says out "~: missing layers, or estimates"
try 0 "csv of bounds" "$BENANZA" bound --csv -w fusion "$models/tiny.onnx"
[ "$(grep -c '^1,f32,' "$work/out")" -eq 12 ] && head -n 1 "$work/out" | grep -q '^batch,dtype,index,'
ok $? "batch and type come first"
try 1 "csv of several bounds" "$BENANZA" bound --csv -b 1,2 "$models/tiny.onnx"
[ "$(grep -c index "$work/out")" -eq 1 ] && [ "$(wc -l <"$work/out")" -eq 25 ]; ok $? "one head"
try 0 "bench of long names" "$BENANZA" bench -q --budget 5 "$models/rows.onnx"
try 0 "long names, piped" env -u COLUMNS "$BENANZA" bound "$models/rows.onnx"
says out " /encoder/encoder.layers/encoder.layers.0/self_attention/self_attention.output_projection/MatMul "
! grep -q '  \.\.' "$work/out"; ok $? "nothing is cut where no terminal is written to"
terminal() { columns=$1; shift; python3 "$top/tests/lib/in_terminal.py" "$columns" "$@"; }
try 0 "long names" terminal 80 "$BENANZA" bound "$models/rows.onnx"
grep -qE ' /enc[^ ]*\.\.[^ ]*/MatMul  *MatMul' "$work/out"; ok $? "cut in the middle: begin and end tell"
for columns in 40 60 80 100 130; do
    terminal $columns "$BENANZA" bound -q -d h100 "$top/data/models/mobilenet_v2.onnx" >"$work/out"
    grep '^layer .* share' "$work/out" |
        awk -v c=$columns 'length($0) > c { bad = 1 } END { exit bad || !NR }'
    ok $? "headings fit in $columns columns"
done
try 0 "long names on a wide terminal" terminal 220 "$BENANZA" bound "$models/rows.onnx"
says out " /encoder/encoder.layers/encoder.layers.0/self_attention/self_attention.output_projection/MatMul "
"$BENANZA" bench -q --budget 5 -t bf16 "$models/tiny.onnx" >/dev/null 2>&1 || :
"$BENANZA" bound --json -t bf16 "$models/tiny.onnx" >"$work/out" || :
is 11 "d['coverage']['unsupported']"
is True "d['bound_ns'] is None and d['border_ns'] > 0"
is True "all(l['why'] for l in d['layers'] if l['origin'] == 'unsupported')"
is 7 "d['what_if'][1]['unavailable_problems']"
is False "any(l['critical'] for l in d['layers'])"
try 1 "bf16 without bf16 kernels" "$BENANZA" bound -t bf16 "$models/tiny.onnx"
says out "nothing of the model is measured"
says out "no bound: no layer is measured"
says out "unsupported: no such word"
says out "7 fused problems unsupported or failed"
try 0 "db check" "$BENANZA" db check
says out "sound"
try 0 "devices" "$BENANZA" devices --json
is True "'model' in d['runners'][0] and len(d['recorded']) == 1"
try 0 "a recorded device without its runner" "$BENANZA" bound -c "$work/norunner.yaml" "$models/tiny.onnx"

# trouble while measuring, with runners that measure nothing: word NAME MODEL STACK [THREADS [UNSUPPORTED [COMMAND]]]
printf 'runners:\n' >"$work/words.yaml"
word() { # its line in the configuration
    name=$1
    shift
    printf '  %s: [sh, "%s"' "$name" "$words" >>"$work/words.yaml"
    for argument; do printf ', "%s"' "$argument" >>"$work/words.yaml"; done
    printf ']\n' >>"$work/words.yaml"
}
word plain "Word 1" "words 1, 1 thread" 1
word four "Word 1" "words 1, 4 threads" 4
word newer "Word 1" "words 2, 1 thread" 1
word refuses "Word 2" "words 1, 1 thread" 1 "conv*"
word refuses_all "Word 2" "words 1, 1 thread" 1 "*"
word unlinks "Word 3" "words 1, 1 thread" 1 "" "rm -f '$work/gone.db'"
word dies "Word 4" "words 1, 1 thread" 1 "" "exit 7"
word boxed "Word 2" "words 1, 1 thread" 1 "" "exit 137"
bench() { # DATABASE DEVICE [ARGUMENT...]
    db=$1 device=$2
    shift 2
    "$BENANZA" bench -c "$work/words.yaml" --db "$work/$db" -d "$device" "$@" "$models/tiny.onnx"
}
bound() {
    db=$1
    shift
    "$BENANZA" bound -c "$work/words.yaml" --db "$work/$db" "$@" "$models/tiny.onnx"
}
try 0 "a sweep is measured in full" bench sweep.db plain --json -b 1,2 -t f32
is "[(1, 'f32', 0), (2, 'f32', 0)]" "[(s['batch'], s['dtype'], s['missing']) for s in d['scenarios']]"
is True "all(s['problems'] > 3 for s in d['scenarios'])"
is True "sum(s['problems'] for s in d['scenarios']) == d['problems']"
try 2 "a bad model among good ones" bench mixed.db plain -q "$work/none.onnx"
try 0 "the good one was measured" "$BENANZA" db info --json --db "$work/mixed.db"
is True "d['results'] > 10"
try 1 "bench with unsupported problems" bench refused.db refuses --json
is True "d['unsupported'] > 0 == d['failed'] == d['missing']"
try 1 "is the second time no better" bench refused.db refuses --json
is True "d['unsupported'] > 0 and d['measured'] == 0 and d['already'] + d['unsupported'] == d['problems']"
try 1 "bench of a model without a supported layer" bench none.db refuses_all -q
one_line
says err "tiny.onnx: none of its 11 layers that need time can be measured, e.g. stem: no such word"
LC_ALL=C sed 's/Conv/Kohv/g' "$models/tiny.onnx" >"$work/strange.onnx"
try 1 "bench of a model of unknown operators" "$BENANZA" bench -c "$work/words.yaml" --db "$work/none.db" -d plain "$work/strange.onnx" -q
one_line
says err "strange.onnx: none of its 11 layers that need time can be measured, e.g. stem: operator Kohv is not known"
try 2 "the database vanishes meanwhile" bench gone.db unlinks
one_line
says err "gone.db"
says err "removed or replaced"
try 2 "and with -q" bench gone.db unlinks -q
one_line
if command -v sqlite3 >/dev/null 2>&1; then
    try 0 "a database" bench full.db plain -q
    sqlite3 "$work/full.db" "CREATE TRIGGER full BEFORE INSERT ON result BEGIN SELECT RAISE(ABORT, 'no room today'); END"
    try 1 "the database takes no results" bench full.db plain --json -b 2
    is True "d['lost'] > 0"
    [ "$(grep -c 'not kept' "$work/err")" -eq 1 ] && [ "$(grep -c 'no room today' "$work/err")" -eq 1 ]
    ok $? "which is said once"
    try 1 "and with -q" bench full.db plain -q -b 4
    one_line
    says err "not kept"
fi
try 0 "bench when a container's program is killed in each second problem" bench boxed.db boxed --json
is True "d['measured'] == d['problems'] and d['failed'] == d['missing'] == d['lost'] == 0"
says err "ended with status 137 (its program was killed by signal 9"
bench dies.db dies >"$work/out" 2>"$work/err"
ok "$([ $? -ne 0 ]; echo $?)" "a runner that dies"
[ "$(sort "$work/err" | uniq -d | wc -l)" -eq 0 ]; ok $? "is said once"
[ "$(grep -c ': $' "$work/err")" -eq 0 ]; ok $? "and no reason is empty"

# records of several devices of one model
try 0 "one thread" bench many.db plain -q
try 0 "four threads" bench many.db four -q
try 3 "two stacks of one model" bound many.db -d "Word 1"
one_line
says err "1 (Word 1, words 1, 1 thread), 2 (Word 1, words 1, 4 threads)"
try 0 "one of them by number" bound many.db -d 2 --json
is "words 1, 4 threads" "d['device']['stack']"
try 0 "by a part of its stack" bound many.db -d "1 thread" --json
is "words 1, 1 thread" "d['device']['stack']"
try 3 "by a part that both have" bound many.db -d "words 1"
one_line
try 0 "by its threads" bound many.db -d "Word 1" --threads 4 --json
is "words 1, 4 threads" "d['device']['stack']"
try 3 "threads that none has" bound many.db -d "Word 1" --threads 3
one_line
try 3 "a number that none has" bound many.db -d 3
one_line
try 1 "a new stack without results" bound many.db -d newer
says err "no results of this device; other stacks have some: -d 1 (words 1, 1 thread), -d 2 (words 1, 4 threads)"
try 1 "says nothing of that with -q" bound many.db -d newer -q
[ ! -s "$work/err" ]; ok $? "nothing"

# what bends numbers: of this machine nothing is known, but the form
"$BENANZA" doctor --json --db "$work/none.db" >"$work/out" 2>"$work/err"
got=$?
python3 - "$work/out" $got <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
bends = [f for f in d["findings"] if f["outcome"] == "bends"]
assert len(bends) == d["bends"] and int(sys.argv[2]) == (1 if bends else 0), "exit status"
assert len(d["findings"]) == d["bends"] + d["unknown"] + d["ok"]
assert {"governor", "load", "steal", "quota", "memory", "variables"} <= {f["check"] for f in d["findings"]}
PY
ok $? "doctor as JSON, with its exit status"
try 1 "doctor with a variable that bends" env OMP_WAIT_POLICY=passive "$BENANZA" doctor --db "$work/none.db"
grep -q '^! variables: OMP_WAIT_POLICY' "$work/out" && grep -q -- '-> unset OMP_WAIT_POLICY' "$work/out"; ok $? "... which it names, with what to do"
try 2 "doctor takes no model" "$BENANZA" doctor "$models/tiny.onnx"

# a device that is only described: complete and the exit status agree
try 0 "all is estimated" "$BENANZA" bound --json -q --db "$work/none.db" -d h100 "$models/tiny.onnx"
is "(True, True)" "(d['complete'], d['estimated'])"

# every key that is printed is in the manual
keys=$work/data/benanza/benanza.db # what bench measured above
{ "$BENANZA" layers --json "$models/tiny.onnx"; "$BENANZA" devices --json --db "$keys"; "$BENANZA" ops --json
    "$BENANZA" bound --json -q -d h100 -w fusion,layout "$models/tiny.onnx"; "$BENANZA" bench --emit-jobs -q "$models/tiny.onnx"
    for what in info check; do [ ! -e "$keys" ] || "$BENANZA" db $what --json --db "$keys"; done
} >"$work/out" 2>/dev/null
python3 - "$work/out" "$top/man/benanza-json.5.in" <<'PY' >"$work/unknown" 2>&1
import json, re, sys
known = set(re.findall(r"\w+", open(sys.argv[2]).read()))
def walk(value, name):
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if isinstance(key, str) and name not in ("opsets", "dims") and key not in known:
            print(key)
        walk(inner, key if isinstance(key, str) else name)
lines = [json.loads(line) for line in open(sys.argv[1])]
assert len(lines) > 6
walk(lines, "")
PY
[ $? -eq 0 ] && [ ! -s "$work/unknown" ]; ok $? "keys are in benanza-json(5)"
sed 's/^/# /' "$work/unknown" | sort -u
done_testing
