#!/bin/sh
# Help of every command: complete, at most 80 columns wide, and its examples work. Errors for options that a command does not have.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
tiny=$top/tests/models/tiny.onnx
says_not() { ! grep -qF -- "$2" "$work/$1"; ok $? "does not say: $2"; }

# the words of `benanza COMMAND`, as the help lists them; "explorer" stands for no command
"$BENANZA" --help >"$work/all" 2>/dev/null
"$BENANZA" db --help >"$work/family" 2>/dev/null
commands="explorer $(sed -n 's/^  benanza \([a-z]*\) *.*/\1/p' "$work/all") $(sed -n 's/^  benanza db \([a-z]*\) *.*/db,\1/p' "$work/family")"
[ "$(echo "$commands" | wc -w)" -ge 14 ]; ok $? "the commands are listed: $commands"

# a measured model.onnx, other databases, a runner and agents that measure nothing
printf 'runners:\n  cpu: [sh, "%s", "Word 1", "words 1, 1 thread", 1]\n' "$top/tests/lib/word_runner.sh" >"$work/config.yaml"
printf 'agents:\n' >>"$work/config.yaml"
for name in ort openvino; do
    printf '  %s: [python3, "%s", tries]\n' $name "$top/tests/lib/fake_agent.py" >>"$work/config.yaml"
done
BENANZA_CONFIG=$work/config.yaml
PATH=$(cd "$(dirname "$BENANZA")" && pwd):$PATH
export BENANZA_CONFIG PATH
mkdir "$work/here"
cd "$work/here" || exit 1
cp "$tiny" model.onnx
try 0 "other.db" "$BENANZA" bench -q --db other.db model.onnx
try 0 "results.json" sh -c '"$BENANZA" db export --db other.db --as google-benchmark >results.json'

echo 'scenarios: {today: [fusion], planned: [fusion, parallel]}' >>"$BENANZA_CONFIG"

examples=0
for command in $commands; do
    words=$(echo "$command" | tr , ' ')
    # shellcheck disable=SC2086
    try 0 "help $words" "$BENANZA" help $words
    [ ! -s "$work/err" ] && [ "$(awk 'length($0) > 80' "$work/out" | wc -l)" -eq 0 ]; ok $? "on standard output, 80 columns"
    [ "$(head -n 1 "$work/out" | cut -d' ' -f1,2)" = "usage: benanza" ]; ok $? "begins with the usage"
    cp "$work/out" "$work/help"
    cat "$work/out" >>"$work/all"
    if [ "$command" != explorer ]; then
        # shellcheck disable=SC2086
        try 0 "$words --help" "$BENANZA" $words --help
        cmp -s "$work/out" "$work/help"; ok $? "the same as help $words"
    fi
    sed '1,/^examples:/d' "$work/help" >"$work/examples"
    [ "$command" = db ] || [ -s "$work/examples" ]; ok $? "has examples"
    while IFS= read -r line; do
        examples=$((examples + 1))
        sh -c "$line" >"$work/out" 2>"$work/err" </dev/null
        got=$?
        [ "$command" = doctor ] && [ $got -eq 1 ] && got=0 # something distorts measurements on this machine
        grep -q "^benanza: the agent .* is not installed" "$work/err" && got=0 # a framework that is not here
        ok $got "pasted: $line"
    done <"$work/examples"
done
[ $examples -ge 20 ]; ok $? "$examples examples"

# examples of the manual page, run on models of these names; the explorer prints a frame
for name in resnet50 old new; do cp model.onnx $name.onnx; done
cp "$top/data/models/gpt2_small.onnx" "$top/data/models/gpt2_small.yaml" .
mkdir V100 && sed "s/Word 1/Tesla V100/g" results.json >V100/results.json
rm -f layer.onnx # written by an example
examples=0
sed -n -e 's/^\.B "\{0,1\}\(benanza .*[^"]\)"\{0,1\}$/\1/p' -e 's/^\$ \(benanza .*\)/\1/p' \
    -e 's/^\(benanza .*\.\(onnx\|json\).*\)/\1/p' "$top/man/benanza.1.in" |
    sed "s/\\\\-/-/g; s/\\\\(aq/'/g; s/ | jq .*//" |
    grep -e '\.onnx' -e '--tour' -e '\.json' | awk '!seen[$0]++' >"$work/examples"
while IFS= read -r line; do
    examples=$((examples + 1))
    case $line in
    "benanza "[a-z]*.onnx* | "benanza -"* | "benanza --tour")
        case $line in
        "benanza "[a-z]*" "*.onnx*) ;;
        *) line="$line --frame 80x24" ;;
        esac ;;
    esac
    sh -c "$line" >"$work/out" 2>"$work/err" </dev/null
    got=$?
    [ $got -eq 1 ] && got=0 # gaps
    grep -q -e "^benanza: the agent .* is not installed" -e "no agent" "$work/err" && got=0
    ok $got "of the manual page: $line"
done <"$work/examples"
[ $examples -ge 20 ]; ok $? "$examples examples of the manual page"
cd "$top" || exit 1

# each command has its own options
try 0 "all commands" "$BENANZA" --help
says out "--db FILE"
says_not out "--again"
try 0 "bench" "$BENANZA" bench --help
says out "--again"
says_not out "--constants"
says_not out "--frame"
says_not out "--csv"
try 0 "bound" "$BENANZA" bound --help
says_not out "--budget"
says out "--csv"
try 0 "options may come first" "$BENANZA" -h bench
says out "usage: benanza bench"
try 0 "of a model: the explorer's" "$BENANZA" "$tiny" --help
says out "--frame"
try 2 "help of a command that there is not" "$BENANZA" help bnech
says err 'did you mean bench?'

refused() { # WHAT TEXT ARGUMENT...
    what=$1 text=$2
    shift 2
    try 2 "$what" "$BENANZA" "$@"
    [ "$(wc -l <"$work/err")" -eq 1 ] && [ ! -s "$work/out" ]; ok $? "one line"
    says err "$text"
}
refused "an option of another command" "layers has no option --again; bench has it" layers --again "$tiny"
refused "before the command too" "layers has no option --again; bench has it" --again layers "$tiny"
refused "an option of several others" "bound has no option --budget; the explorer, bench and compare have it" bound --budget 5 "$tiny"
refused "with its value in one word" "bound has no option --budget; the" bound --budget=5 "$tiny"
refused "abbreviated" "bench has no option --frame; the explorer has it" bench --fram 80x24 "$tiny"
refused "a letter" "layers has no option -w (--what-if); the explorer, bench, bound, report, advise, compare, models, sweep, diff, scenarios and db export have it" layers -w fusion "$tiny"
refused "among letters" "ops has no option -b (--batch); the" ops -qb 8
refused "the explorer" "the explorer has no option --constants; layers has it" "$tiny" --constants
refused "a subcommand" "db info has no option -b (--batch); the" db info -b 8
refused "a misspelt option" "unknown option --bacth; did you mean --batch?" layers --bacth=8 "$tiny"
refused "misspelt before a model" "unknown option --bacth; did you mean --batch?" --bacth 8 "$tiny"
refused "a misspelt option of another command" "unknown option --agian; did you mean --again? bench has it" layers --agian "$tiny"
refused "an unknown letter" "unknown option -z; see benanza layers --help" --json layers -zq "$tiny"
refused "a letter beyond ASCII" "unknown option: not an ASCII letter; see benanza layers --help" layers x -é
refused "an ambiguous abbreviation" "ambiguous option --bud: 2 options" bench --bud 5 "$tiny"
refused "an abbreviation of an option that begins another" \
    "ambiguous option --budge: 2 options begin with it; did you mean --budget?" bench --budge=5 "$tiny"
refused "an abbreviation of unrelated options" "begin with it; see benanza layers --help" layers --c "$tiny"
refused "a value for a flag" "option --quiet takes no value" layers --quiet=3 "$tiny"
refused "no value" "option -b needs a value; see benanza layers --help" layers "$tiny" -b
refused "a view without a frame" "--view needs --frame, e.g." --view problems "$tiny"
refused "keys without a frame" "--keys needs --frame, e.g." --keys j "$tiny"
try 1 "a database that there is not" "$BENANZA" bound --db "$work/misspelt.db" "$tiny"
one_line
says err "misspelt.db: no such database, so no results"
[ ! -e "$work/misspelt.db" ]; ok $? "it is not made"
refused "too many arguments" "usage: benanza ops [OPTIONS]; see benanza ops --help" ops "$tiny"
refused "a misspelt subcommand" 'unknown command "db inof"; did you mean db info?' db inof
refused "an empty argument" "no such file" layers ""
refused "an empty argument, as of an unset variable" "usage: benanza ops" ops ""
refused "a subcommand is missing" "usage: benanza db" db
# accepted by all, so that an alias can have them
for command in layers ops "db info" bound; do
    model=
    case $command in layers | bound) model=$tiny ;; esac
    # shellcheck disable=SC2086
    try 0 "common options of $command" "$BENANZA" $command -q -v --ascii --no-color -d "Word 1" --threads 1 --db "$work/here/other.db" \
        -c "$BENANZA_CONFIG" $model
done
try 0 "an abbreviation" "$BENANZA" layers --cons "$tiny"

# one place reads the command line
[ "$(cd "$top/src" && grep -l getopt benanza.c commands/*.c | tr '\n' ' ')" = "commands/option_unknown.c commands/options.c " ]
ok $? "no command parses arguments itself"

# the manual page is made from the same rows
"$BENANZA" --print-man options >"$work/man"
for name in $(grep -oh -e '--[a-z][a-z-]*' "$work/all" | sort -u); do
    minus=$(echo "$name" | sed 's/-/\\\\-/g')
    grep -q -e "$minus" "$work/man" || echo "# $name is not in the manual"
done >"$work/missing"
[ ! -s "$work/missing" ]; ok $? "every option is in the manual"
for command in $commands; do
    [ "$command" = explorer ] || grep -q "^\.SS benanza $(echo "$command" | tr , ' ') " "$work/man" || echo "# $command"
done >"$work/missing"
[ ! -s "$work/missing" ]; ok $? "every command has its section"
done_testing
