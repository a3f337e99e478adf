#!/bin/sh
# scenarios: named scenarios in -w, diff and side by side, with fixed costs.
. "${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
. "$top/tests/lib/words.sh"
tiny=$models/tiny.onnx
XDG_DATA_HOME=$work/data
export XDG_DATA_HOME
json() { python3 -c "
import json
d = json.loads(open('$work/out').readline())
r = {x['name']: x for x in d.get('scenarios', [])}
assert $1, d"; ok $? "$2"; }

try 2 "no scenarios" bz scenarios "$tiny"
says err "no scenarios are configured"
one_line
cat >>config.yaml <<Y
scenarios:
    fused: [fusion, matrix=off]
    half: {what_if: fusion, dtype: bf16}
    more: {batch: 4}
    away: {device: no_such_device}
Y
mkdir -p "$XDG_DATA_HOME/benanza"
echo 'scenarios: {wrong: telepathy}' >"$XDG_DATA_HOME/benanza/scenarios.yaml" # as of another version
bz bench -q "$tiny" >out 2>err
ok $? "bench with fixed costs"
bz bench -q "$tiny" -b 4 >out 2>err
ok $? "and of another batch"

try 0 "a name in -w" bz bound --json "$tiny" -w fused
json "'fusion' in d['scenario']['what_if'] and 'matrix' not in d['scenario']['what_if']" "its what-ifs"
fused=$(python3 -c "import json; print(json.loads(open('$work/out').readline())['bound_ns'])")
try 0 "mixed with a what-if" bz bound --json "$tiny" -w fused,fusion=off
json "'fusion' not in d['scenario']['what_if'] and d['bound_ns'] > $fused" "later ones go before"
try 0 "its batch" bz bound --json "$tiny" -w more
json "d['scenario']['batch'] == 4" "is used"
try 0 "unless -b is given" bz bound --json -b 1 "$tiny" -w more
json "d['scenario']['batch'] == 1" "then that is used"
try 0 "in diff" bz diff --json "$tiny" --with '-w fused'
json "d['verdict'] == 'faster' and abs(d['b']['ns'] - $fused) < 1e-6" "a side"
try 2 "a misspelt name" bz bound "$tiny" -w fsued
says err "did you mean fused?"
one_line
try 2 "an unknown name" bz bound "$tiny" -w quantum
says err "scenarios: fused, half"
one_line
try 2 "a wrong what-if in a scenario" bz bound "$tiny" -w wrong
says err "scenario wrong: unknown what-if 'telepathy'"
one_line

try 0 "two by name" bz scenarios --json "$tiny" fused more
json "[x['name'] for x in d['scenarios']] == ['fused', 'more'] and d['per_item']" "in the given order"
json "r['fused']['diff_ns'] == 0 and \
abs(r['more']['diff_ns'] - (r['more']['bound_ns'] / 4 - $fused)) < 1e-6" "differences are per item"
try 1 "all of them" bz scenarios --json "$tiny"
json "[x['name'] for x in d['scenarios']] == [None, 'fused', 'half', 'more', 'away', 'wrong']" \
    "the given options first"
json "abs(r['fused']['bound_ns'] - $fused) < 1e-6 and r['fused']['verdict'] == 'faster' and \
abs(r['fused']['ratio'] - $fused / r[None]['bound_ns']) < 1e-9" "faster"
json "r['half']['scenario']['dtype'] == 'bf16' and not r['half']['complete'] and \
r['half']['unmeasured'] > 0 and r['half']['diff_ns'] is None and r['half']['verdict'] == 'unknown'" \
    "not measured: no difference"
json "'no_such_device' in r['away']['why'] and 'telepathy' in r['wrong']['why'] and \
'bound_ns' not in r['away']" "why there is no bound"
try 1 "as text" bz scenarios "$tiny"
grep -q '^fused .* faster ' out && grep -q '^half .* - .* unknown .* unmeasured' out &&
    grep -q '^away .* - .*no_such' out
ok $? "rows"
try 0 "as CSV" bz scenarios --csv "$tiny" more fused
[ "$(sed -n 3p out | cut -d, -f3)" = fused ] && [ "$(awk -F, 'NR == 1 { print NF }' out)" -eq 17 ]
ok $? "a line each"
try 0 "estimates as CSV" "$BENANZA" scenarios --csv -c config.yaml -d h100 "$tiny" fused more
python3 - <<'END'
import csv
rows = list(csv.DictReader(open("out")))
assert len(rows) == 2 and all(r["lo_ns"] == r["hi_ns"] == "" for r in rows), rows
assert all(0 < float(r["bound_ns"]) < float(r["estimate_ns"]) for r in rows), rows
END
ok $? "a bound and an estimate, without an interval of measurements"
cat >types.yaml <<'Y'
scenarios:
    short: {dtype: f16}
    long: {dtype: f8e5m2}
Y
try 0 "types" "$BENANZA" scenarios -c types.yaml -d h100 "$tiny" short long
python3 - <<'END'
lines = open("out").read().splitlines()
head = next(line for line in lines if line.startswith("scenario"))
rows = [line for line in lines if line.startswith(("short", "long"))]
at = head.index("what-ifs")
assert len(rows) == 2 and all(line[at:].startswith("matrix,") for line in rows), lines
END
ok $? "columns of long names"
try 2 "an unknown scenario" bz scenarios "$tiny" fsued
says err "did you mean fused?"
one_line
try 2 "the first has no bound" bz scenarios "$tiny" wrong fused
says err "wrong: scenario wrong"

miss="benanza: algorithm=nosuch* of libraries=nolib fits no algorithm; "
try 1 "names that fit nothing" bz bound --json "$tiny" -w 'algorithm=nosuch*,libraries=nolib'
says err "$miss"
one_line
json "[w for w in d['warnings'] if ' fits no algorithm; ' in w and w.endswith(' measured')]" "in JSON too"
try 0 "in diff" bz diff "$tiny" --with '-w algorithm=nosuch*'
says err "algorithm=nosuch* fits no algorithm; "
try 0 "a name that fits" bz bound --json "$tiny" -w 'algorithm=*'
json "not d['warnings']" "without a warning"
[ ! -s "$work/err" ]; ok $? "on standard error"

bad() { # what is said, of the configuration on standard input
    cat >names.yaml
    for command in bound layers ops; do
        file=$tiny
        [ $command = ops ] && file=
        try 2 "$command: $1" "$BENANZA" $command -c names.yaml $file
        says err "names.yaml:$1"
        one_line
    done
}
bad "2: scenarios: fusion is the name of a what-if" <<Y
scenarios:
    fusion: {batch: 2}
Y
bad "3: scenarios: a: what-if fusion: '9' is not" <<Y
scenarios:
    a: [parallel,
        fusion=9]
Y
bad "4: scenarios: a: unknown what-if 'nosuch'" <<Y
scenarios:
    a:
        batch: 2
        what_if: fusion, nosuch
Y
bad "1: scenarios: a: fusion is given twice: leave one out" <<Y
scenarios: {a: [fusion, fusion=off]}
Y
bad "2: what_if: unknown what-if or scenario 'nosuch'" <<Y
batch: 1
what_if: nosuch
Y
bad "2: what_if: an item is empty: remove the comma" <<Y
what_if: [fusion,
    '']
Y
cat >names.yaml <<'Y'
what_if: ""
scenarios:
    none: ""
    some: {what_if: "", batch: 2}
Y
try 0 "an empty text is no what-if" \
    "$BENANZA" bound --json -c names.yaml -d h100 -w none,some "$tiny"
json "d['scenario']['batch'] == 2" "the rest of the scenario counts"
printf 'batch: 1\ndevice: nosuch\n' >names.yaml
try 3 "a device of the file" "$BENANZA" bound -c names.yaml "$tiny"
says err "names.yaml:2: device nosuch: no runner has this name"
one_line
cat >names.yaml <<'Y'
device: h100
scenarios:
    away: {device: nosuch}
Y
try 3 "a device of a scenario" "$BENANZA" bound -c names.yaml -w away "$tiny"
says err "names.yaml:3: device nosuch: no runner has this name"
one_line

try 2 "none is saved" bz scenarios --delete mine --yes
says err "no saved scenario is named 'mine'"
one_line
mkdir -p "$XDG_DATA_HOME/benanza"
echo 'scenarios: {mine: {what_if: fusion}, second: {what_if: parallel}}' \
    >"$XDG_DATA_HOME/benanza/scenarios.yaml"
try 0 "a saved one" bz bound --json "$tiny" -w mine
try 2 "without a terminal nobody can be asked" bz scenarios --delete mine </dev/null
says err "add --yes"
one_line
try 2 "one of the configuration" bz scenarios --delete fused --yes
says err "change it there"
try 0 "renamed" bz scenarios --rename mine=other
try 0 "is used by its new name" bz bound --json "$tiny" -w other
try 2 "and not by the old one" bz bound "$tiny" -w mine
try 2 "a name that is taken" bz scenarios --rename other=second
says err "a scenario second already exists"
try 2 "no new name" bz scenarios --rename other
says err "--rename takes NAME=NEW"
try 0 "deleted" bz scenarios --delete other --yes
try 2 "is gone" bz bound "$tiny" -w other
try 0 "the other one stays" bz bound --json "$tiny" -w second
try 2 "no model" bz scenarios
says err "give a model"
done_testing
