#!/bin/sh
# repro: each layer alone, as a model of one node that has the same problem and that ONNX Runtime runs;
# command lines of other programs.
. "${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
. "$top/tests/lib/words.sh"
json() { python3 -c "
import json
d = json.loads(open('$work/out').readline())
assert $1, d"; ok $? "$2"; }

"$BENANZA" layers --json "$models/tiny.onnx" >layers
failed=0
for number in 1 2 3 4 5 6 7 8 9 10 11 12; do
    bz repro "$models/tiny.onnx" $number -o "layer$number.onnx" --json >"out$number" 2>err || failed=$number
    "$BENANZA" layers --json "layer$number.onnx" >"alone$number" 2>err || failed=$number
done
[ $failed -eq 0 ]
ok $? "every layer is written"
python3 - <<'PY'
import json
layers = [l for l in json.load(open("layers"))["layers"]]
for number in range(1, 13):
    d, alone = json.load(open(f"out{number}")), json.load(open(f"alone{number}"))["layers"]
    whole = layers[d["layer"]["index"]]
    assert d["layer"]["number"] == number and d["layer"]["name"] == whole["name"], d
    assert d["problem"] == whole["problem"] and d["same_problem"], d
    assert len(alone) == 1 and alone[0]["op"] == whole["op"], alone
    assert alone[0]["problem"] == whole["problem"], alone
    assert (d["runner"] or ["--problem", None])[-2:] == ["--problem", whole["problem"]], d
PY
ok $? "one node each, with the same problem"
if python3 -c 'import onnx, onnxruntime' 2>/dev/null; then
    python3 - <<'PY'
import numpy, onnx, onnxruntime
for number in range(1, 13):
    path = f"layer{number}.onnx"
    onnx.checker.check_model(onnx.load(path), full_check=True)
    run = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feeds = {i.name: numpy.ones(i.shape, numpy.float32) for i in run.get_inputs()}
    assert [list(o.shape) for o in run.run(None, feeds)] == [o.shape for o in run.get_outputs()]
PY
    ok $? "ONNX Runtime runs them"
fi

bz repro "$models/tiny.onnx" left1 --json >out 2>err
ok $? "by name"
json "d['layer']['number'] == 4 and d['file'] is None and d['same_problem'] is None and d['plan'] is None" \
    "no file without -o"
json "d['runner'] == ['sh', '$top/tests/lib/word_runner.sh', 'Word 1', 'words 1', '2', '--problem',
    d['problem']]" \
    "the command of the device's runner"
json "d['benchdnn'] == ('--conv --mode=P --dir=FWD_I --dt=f32:f32:f32 --stag=any --wtag=any --dtag=any '
    'g1mb1ic16ih32iw32oc16oh32ow32kh3kw3sh1sw1ph1pw1dh0dw0')" "benchdnn"
bz repro "$models/tiny.onnx" fc -t bf16 -b 3 --json -o fc.onnx >out 2>err
ok $? "another batch and type: the file has the model's own"
json "d['benchdnn'] == ('--matmul --mode=P --dt=bf16:bf16:bf16 --stag=abc --wtag=any --dtag=abc '
    '--bia_dt=bf16 --bia_mask=4 1x3x16:1x16x10')" "benchdnn of a product with bias"
"$BENANZA" layers --json -t bf16 fc.onnx >alone 2>err
[ "$(python3 -c 'import json; print(json.load(open("alone"))["layers"][0]["problem"])')" = \
    "$(python3 -c 'import json; print(json.load(open("out"))["problem"])')" ]
ok $? "opened with -t bf16 it is the same problem"
bz repro "$models/tiny.onnx" fc >out 2>err &&
    grep -q '^runner    sh .* .Word 1. .words 1. 2 --problem matmul:' out
ok $? "as text, with words for a shell"

# results of cuDNN
"$BENANZA" bench -q --emit-jobs "$models/tiny.onnx" | sh "$top/tests/lib/word_runner.sh" "Card 1" "cuDNN" |
    sed 's/"api":"word","name":"word:one"/"api":"cuDNN","name":"nhwc:eng12{k2=4,k14=-1}"/' >card.jsonl
"$BENANZA" db import -q --db card.db card.jsonl
"$BENANZA" repro --db card.db -d "Card 1" "$models/tiny.onnx" stem --json >out 2>err
ok $? "a recorded device"
json "d['plan']['engine'] == 12 and d['plan']['knobs'] == {'2': 4, '14': -1} and d['plan']['measured']" \
    "engine and knobs of its plan"
json "d['runner'] is None" "no runner to name"

for bad in 0 13 1x nothing "$(printf 'a\033[31m')"; do
    bz repro "$models/tiny.onnx" "$bad" >out 2>err
    [ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'no layer is named' err &&
        ! grep -q "$(printf '\033')" err
    ok $? "no such layer: one clean line"
done
bz repro "$models/tiny.onnx" stem -o /none/such/layer.onnx >out 2>err
[ $? -eq 2 ] && [ ! -s out ] && grep -q '/none/such/layer.onnx: cannot write' err
ok $? "a file that cannot be written"
cp "$models/tiny.onnx" own.onnx
ln -sf own.onnx link.onnx
ln -f own.onnx hard.onnx
bz repro own.onnx stem -o layer1.onnx >out 2>err
[ $? -eq 2 ] && [ ! -s out ] && [ "$(wc -l <err)" -eq 1 ] &&
    grep -q 'o layer1.onnx: the file exists; --force replaces it' err
ok $? "an existing file is not replaced"
cp layer1.onnx before.onnx
bz repro own.onnx stem -o layer1.onnx --force >out 2>err && cmp -s layer1.onnx before.onnx
ok $? "but with --force"
for name in own.onnx link.onnx hard.onnx config.yaml card.db; do
    "$BENANZA" repro own.onnx stem -o "$name" --force -c config.yaml --db card.db >out 2>err
    [ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q "$name: is an input of this command" err &&
        cmp -s own.onnx "$models/tiny.onnx"
    ok $? "a file that is read is never replaced: $name"
done
bz repro own.onnx stem -o /dev/stdout 2>said | cat >piped.onnx
cmp -s piped.onnx before.onnx && grep -q '^layer ' said
ok $? "into a pipe: the model alone"
bz repro own.onnx stem -o - 2>said | cat >piped.onnx
cmp -s piped.onnx before.onnx && grep -q '^layer ' said && [ ! -e ./- ]
ok $? "- is the pipe"
bz repro own.onnx stem -o /dev/stdout 2>said >to.onnx && cmp -s to.onnx before.onnx
ok $? "into a file of the shell"
bz repro own.onnx stem -o /dev/full >out 2>err
[ $? -eq 2 ] && [ ! -s out ] && grep -q '/dev/full: cannot write: No space' err
ok $? "a full disk"
(ulimit -f 0 && bz repro own.onnx stem -o none.onnx 2>&1 |
    grep -q 'none.onnx: .*cannot write: File too large')
ok $? "a limit of sizes"
[ ! -e none.onnx ] && [ -z "$(find . -name '*.part')" ]
ok $? "and nothing is left"
for name in conv1 layer1.0/relu_1; do
    bz repro "$top/data/models/resnet50.onnx" "$name" >short 2>err
    ok $? "$name: the name that the explorer shows"
    bz repro "$top/data/models/resnet50.onnx" \
        "$(sed -n 's/^layer *[0-9]* *\(.*\) (.*/\1/p' short)" >whole 2>err
    cmp -s short whole && [ -s whole ]
    ok $? "... is the layer with the whole name"
done
bz repro "$top/data/models/resnet50.onnx" downsample >out 2>err
[ $? -eq 2 ] && grep -q "no layer is named 'downsample'" err
ok $? "a part of names is none"
bz repro "$models/tiny.onnx" stem -b 1,2 >out 2>err
[ $? -eq 2 ] && grep -q 'give one value of -b' err
ok $? "several batches are refused"
bz repro "$models/hostile.onnx" 1 --json -o hostile1.onnx >out 2>err
[ $? -le 1 ] && python3 -c "
import json; t = open('$work/out').read(); json.loads(t)
assert '\033' not in t"
ok $? "hostile names"
done_testing
