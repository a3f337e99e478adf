#!/bin/sh
# Paths: deep ones are shortened in the middle on a terminal, and whole elsewhere; blanks and letters beyond
# ASCII in the names of directories.
. "${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
. "$top/tests/lib/words.sh"
. "$top/tests/lib/screen.sh"
long=a-directory-with-a-long-name
deep="$work/all my models/$long/gr$(printf '\303\266\303\237')e/$long"
mkdir -p "$deep"
cp "$models/tiny.onnx" "$models/rows.onnx" "$deep"
tiny=$deep/tiny.onnx
cp config.yaml "$deep/my config.yaml"
mine() { "$BENANZA" "$@" -c "$deep/my config.yaml" --db "$deep/my results.db" -d lex; }

try 0 "a model, a database and a configuration in such a directory" mine bench -q "$tiny" "$deep/rows.onnx"
[ -f "$deep/my results.db" ]
ok $? "the database is there"
cat >>"$deep/my config.yaml" <<'END'
scenarios:
    plain: { what_if: [] }
END
cd "$deep" || exit 1
try 0 "the same from there" \
    "$BENANZA" bound --json tiny.onnx -c 'my config.yaml' --db 'my results.db' -d lex
cd "$work" || exit 1

# each NAME FILE COMMAND...: in a pipe the path is whole; on a terminal its line fits and has the file
each() {
    name=$1 shows=$2
    shift 2
    mine "$@" >out 2>err
    ok $? "$name"
    grep -qF "$deep/$shows" out
    ok $? "$name: whole in a pipe"
    printf '"$BENANZA"' >command
    for word in "$@" -c "$deep/my config.yaml" --db "$deep/my results.db" -d lex; do
        printf " '%s'" "$word" >>command
    done
    printf '; echo left with $?; exec cat\n' >>command
    screen_open 80 70 "BENANZA='$BENANZA' LC_ALL=C.UTF-8 sh '$work/command'"
    see "left with 0" "$name on a terminal"
    screen -J >joined
    LC_ALL=C.UTF-8 awk -v shows="$shows" '
        /\/.*\.\..*\// && index($0, shows) && length($0) <= 80 { found = 1 } END { exit !found }' joined
    ok $? "$name: shortened, in a line that fits"
}
each bound tiny.onnx bound "$tiny"
each advise tiny.onnx advise "$tiny"
each sweep tiny.onnx sweep -b 1 "$tiny"
each scenarios tiny.onnx scenarios "$tiny"
each compare tiny.onnx compare --latency 1ms "$tiny"
each diff tiny.onnx diff "$tiny" --with '-w fusion'
each repro one.onnx repro --force -o "$deep/one.onnx" "$tiny" 1
each "db info" "my results.db" db info
each "db check" "my results.db" db check

# the explorer: what it says of a file
screen_open 80 24 "env LC_ALL=C.UTF-8 '$BENANZA' '$tiny' -c '$deep/my config.yaml' \
    --db '$deep/my results.db' -d lex --fresh; echo left with \$?; exec cat"
see "[1] Layers"
keys :
typed "write $deep/saved.txt"
keys Enter
see "saved.txt, " "wrote a file: the end of its name and its size are shown"
screen >shown
grep -q '^ wrote /.*….*saved.txt, ' shown
ok $? "the path is shortened in the middle"
[ -s "$deep/saved.txt" ]
ok $? "the file is there"
keys :
typed "open $deep/missing.onnx"
keys Enter
see "missing.onnx: no such file" "an error keeps the name and the reason"
keys :
typed "open $deep/rows.onnx"
keys Enter
see "rows.onnx  batch" "opens a model there"
keys Q
left 0
done_testing
