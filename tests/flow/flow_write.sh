#!/bin/sh
# A flow: the doctor, a measurement that begins with a quick pass, and every form of `:write`, in a terminal.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"
cat >"$work/word.yaml" <<END
measure: never
runners:
  gate: [env, WORD_REPEAT=1, "WORD_LOG=$work/log", sh, "$top/tests/lib/word_runner.sh", "Word 1", "words 1",
         1, "", "head -n 1 '$gate' >/dev/null"]
END
config=$work/word.yaml
mkdir "$work/saved"

# the doctor: as a view, and as a command whose lines fit the terminal
explore 100 30 "'$tiny'"
see "[1] Layers"
keys 6
see "[6] Doctor"
see "governor" "a check, after the view has looked at the machine"
keys Enter
see "governor" "once more"
keys q q
left 0

# b: all problems quickly, then each in full, then those that matter again
explore 100 30 "'$resnet'"
see "not measured"
keys b
see "rough" "a rough bound after the first pass, while the runner is held back"
echo go >&3
gone "measuring" "everything is measured"
quick=$(grep -c '^quick ' "$work/log")
again=$(grep -c '^repeat ' "$work/log")
full=$(($(grep -c . "$work/log") - quick - again))
[ "$quick" -gt 10 ] && [ "$full" -gt 100 ] && [ "$again" -gt 10 ]
ok $? "$quick problems quickly, $full in full, $again repeated"
grep '^repeat ' "$work/log" | sort | uniq -c | awk '$1 != 2 { bad = 1 } END { exit bad }'
ok $? "each of these twice"
tail -n "$again" "$work/log" | grep -vc '^repeat ' >"$work/late"
[ "$(cat "$work/late")" -eq 0 ]
ok $? "after all others"
head -n "$quick" "$work/log" | grep -vc '^quick ' >"$work/early"
[ "$(cat "$work/early")" -eq 0 ]
ok $? "the quick ones come first"
gone "rough" "what is measured in full replaces the rough bound"

# write FORM TEXT: the file has the text
write() {
    keys :
    typed "write $work/saved/model.$1"
    keys Enter
    see "saved/model.$1, " "wrote $1"
    grep -qF -- "$2" "$work/saved/model.$1"
    ok $? "$1: the file has $2"
}
write txt "[1] Layers"
write svg "</svg>"
write csv "batch,dtype,index"
write json '"bound_ns"'
write dot "digraph"
write html "</html>"
for form in svg csv json dot html; do
    python3 - "$work/saved/model.$form" <<'END'
import csv, json, sys, xml.etree.ElementTree
path = sys.argv[1]
text = open(path, encoding="utf-8", newline="").read()
assert text.isprintable() or not set(text) & {chr(c) for c in range(32)} - {"\n", "\t"}, "control characters"
if path.endswith("svg"):
    assert xml.etree.ElementTree.fromstring(text).tag.endswith("svg")
elif path.endswith("csv"):
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) > 5 and all(float(row["cost_ns"]) >= 0 for row in rows), rows
elif path.endswith("json"):
    whole = json.loads(text)
    assert whole["complete"] and whole["bound_ns"] > 0, whole["bound_ns"]
elif path.endswith("dot"):
    assert text.count("{") == text.count("}") and "->" in text
else:
    assert text.startswith("<!DOCTYPE html>") and text.count("<script") == 1
END
    ok $? "$form can be read"
done
keys :
typed "write $work/saved/model.html"
keys Enter
see "the file exists; :write! replaces it" "no file is replaced by accident"
keys :
typed "write! $work/saved/model.html"
keys Enter
see "saved/model.html, " "wrote again"
keys :
typed "write $work/saved/model.pdf"
keys Enter
see "end it in .txt" "another form"
keys :
typed "write $work/none/model.html"
keys Enter
see "cannot write" "a folder that there is not"
[ "$(find "$work/saved" -type f | wc -l)" -eq 6 ]
ok $? "nothing else is left"
keys q
left 0

# commands on a terminal: their lines fit it
commands() {
    name=$1
    shift
    screen_open 80 50 \
        "env LC_ALL=C.UTF-8 '$BENANZA' $* -c '$config' --db '$work/flow.db'; echo left with \$?; exec cat"
    see "left with" "$name on a terminal"
    screen -J >"$work/joined"
    [ "$(awk 'length($0) > 80' "$work/joined" | wc -l)" -eq 0 ] && grep -q . "$work/joined"
    ok $? "no line of $name is wrapped"
}
commands doctor doctor
commands bound bound -q -d gate "'$tiny'"
grep -qE '^parallel +off +-  +-  +-  unknown until 8 problems' "$work/joined" &&
    grep -qE '^ {14}measured \(0' "$work/joined"
ok $? "lines are broken between words and go on below their beginning; columns stay"
commands models models -q -d gate "'$tiny'" "'$resnet'"
done_testing
