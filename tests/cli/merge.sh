#!/bin/sh
# db merge: what other databases hold, once; interrupted, repeated, from files of any kind. The runner measures nothing.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
unset BENANZA_DATA || :
command -v sqlite3 >/dev/null 2>&1 || skip_all "the sqlite3 shell is not installed"
tiny=$top/tests/models/tiny.onnx
json() { python3 -c "import json,sys; d=json.load(open('$work/out')); print($1)"; }
is() { got=$(json "$2" 2>&1); [ "$got" = "$1" ] || echo "# got $got, not $1"; ok "$([ "$got" = "$1" ]; echo $?)" "$2 = $1"; }
same() { [ "$1" = "$2" ] || echo "# got $1, not $2"; ok "$([ "$1" = "$2" ]; echo $?)" "$3"; }
sql() { sqlite3 "$work/$1" "$2"; }
count() { sql "$1" "SELECT count(*) FROM $2"; }
merge() { "$BENANZA" db merge --json --db "$work/$1" "$work/$2"; }

"$BENANZA" bench -q --emit-jobs "$tiny" >"$work/jobs"
jobs=$(wc -l <"$work/jobs")
rows=$((jobs * 4))
for who in 1 2; do
    sh "$top/tests/lib/word_runner.sh" "Word $who" "words, 1 thread" <"$work/jobs" >"$work/word$who"
    "$BENANZA" db import -q --db "$work/$who.db" "$work/word$who"
done

# once
cp "$work/1.db" "$work/all.db"
try 0 "another device's results" merge all.db 2.db
is "$rows $rows 0 $jobs 0" "'%d %d %d %d %d' % (d['results'], d['added'], d['already'], d['finished'], d['left_out'])"
is "1 False" "'%d %s' % (d['files'], d['interrupted'])"
try 0 "again" merge all.db 2.db
is "$rows 0 $rows 0" "'%d %d %d %d' % (d['results'], d['added'], d['already'], d['finished'])"
same "$(count all.db identity) $(count all.db attributes) $(count all.db result) $(count all.db finished)" \
    "2 2 $((rows * 2)) $((jobs * 2))" "two devices, everything once"
try 0 "check" "$BENANZA" db check --db "$work/all.db"
cat "$work/word1" "$work/word2" >"$work/both"
"$BENANZA" db import -q --db "$work/imported.db" "$work/both"
"$BENANZA" db export --db "$work/imported.db" >"$work/imported.jsonl"
"$BENANZA" db export --db "$work/all.db" | cmp -s - "$work/imported.jsonl"; ok $? "merged is what exported and imported is"
printf 'runners:\n  word: [sh, "%s", Word 2, "words, 1 thread"]\n' "$top/tests/lib/word_runner.sh" >"$work/word.yaml"
cp "$work/all.db" "$work/bench.db"
try 0 "bench has nothing to do" "$BENANZA" bench --json -c "$work/word.yaml" -d word --db "$work/bench.db" "$tiny"
is "0 $jobs" "'%d %d' % (d['measured'], d['already'] + $jobs - d['problems'])"
try 0 "several into a new file" "$BENANZA" db merge --db "$work/new/er.db" "$work/1.db" "$work/2.db" "$work/all.db"
says out "$((rows * 4)) results: $((rows * 2)) added, $((rows * 2)) known already; $((jobs * 2)) more problems"

# the newest stands
sed 's/"measured_at":1700000000/"measured_at":1700000009/; s/"median_ns":[0-9]*/"median_ns":7/; s/"\(min\|q1\|q3\|mean\|lo\|hi\)_ns":[0-9]*/"\1_ns":7/g' \
    "$work/word1" >"$work/later"
"$BENANZA" db import -q --db "$work/later.db" "$work/later"
bound() { "$BENANZA" bound --json -d "Word 1" --db "$work/$1" "$tiny"; }
bound later.db >"$work/out"
newest=$(json "d['bound_ns']")
cp "$work/later.db" "$work/last.db"
for pair in "1.db later.db" "last.db 1.db"; do
    into=${pair% *}
    cp "$work/$into" "$work/into.db"
    try 0 "the same keys from ${pair#* } into $into" merge into.db "${pair#* }"
    is "$rows" "d['added']"
    bound into.db >"$work/out"
    is "$newest" "d['bound_ns']"
done
same "$(sql into.db 'SELECT count(*), count(DISTINCT problem) FROM finished')" "$jobs|$jobs" "each is finished once"

# rows of devices, dimensions
sql later.db "UPDATE attributes SET host = 'elsewhere', first_seen = 100, last_seen = 200;
    INSERT INTO model_dims VALUES ('/m/a.onnx', '{\"batch\":8}', 50), ('/m/b.onnx', '{\"batch\":2}', 50)"
cp "$work/1.db" "$work/rows.db"
sql rows.db "INSERT INTO model_dims VALUES ('/m/a.onnx', '{\"batch\":1}', 60), ('/m/b.onnx', '{\"batch\":1}', 40)"
try 0 "what another host recorded" merge rows.db later.db
is 1 "d['dims']"
same "$(sql rows.db "SELECT model || json FROM model_dims ORDER BY model" | tr '\n' ' ')" \
    '/m/a.onnx{"batch":1} /m/b.onnx{"batch":2} ' "dimensions: the later given stand"
same "$(sql rows.db "SELECT first_seen, last_seen FROM attributes WHERE host = 'elsewhere'")" "100|200" "its row, with its dates"
same "$(sql rows.db "SELECT count(*) FROM result r JOIN attributes a ON a.id = r.attributes WHERE a.host = 'elsewhere'")" "$rows" \
    "which its results carry"
same "$(count rows.db identity)" 1 "of the one device"
try 0 "again" merge rows.db later.db
is "0 0" "'%d %d' % (d['added'], d['dims'])"
sql later.db "UPDATE attributes SET first_seen = 9000000000000, last_seen = 9000000000000"
try 0 "a row of the far future" merge rows.db later.db
[ "$(sql rows.db "SELECT max(last_seen) <= unixepoch() AND max(first_seen) <= unixepoch() FROM attributes")" = 1 ]
ok $? "was not seen later than now"

# what files are like
try 2 "the database into itself" merge 1.db 1.db
one_line
ln "$work/1.db" "$work/hard.db"
ln -s 1.db "$work/soft.db"
try 2 "by another name" merge 1.db hard.db
try 2 "by a link" merge soft.db 1.db
try 2 "a file that is not there" merge all.db none.db
one_line
says err "$work/none.db"
[ ! -e "$work/none.db" ]; ok $? "and is not made"
try 2 "results in lines" merge all.db word1
one_line
says err "$work/word1: not a database"
sqlite3 "$work/foreign.db" "CREATE TABLE result (x)"
try 2 "another program's" merge all.db foreign.db
says err "foreign.db: a database of another program"
cp "$work/2.db" "$work/newer.db"
sql newer.db "PRAGMA user_version = 99"
try 2 "of a newer version" merge all.db newer.db
one_line
says err "newer.db: schema version 99"
same "$(sql newer.db 'PRAGMA user_version')" 99 "which stays as it is"
cp "$work/2.db" "$work/bent.db"
python3 - "$work/bent.db" <<'END'
import sys
with open(sys.argv[1], "r+b") as f:
    size = f.seek(0, 2)
    f.seek(4096 * 4)
    f.write(b"\xa5" * (size - 4096 * 5))
END
cp "$work/1.db" "$work/whole.db"
try 2 "damaged in its middle" "$BENANZA" db merge --db "$work/whole.db" "$work/bent.db"
one_line
says err "$work/bent.db: damaged"
try 0 "nothing else is harmed" "$BENANZA" db check --db "$work/whole.db"
cp "$work/2.db" "$work/hostile.db"
sql hostile.db "PRAGMA ignore_check_constraints = ON; DROP TRIGGER result_no_update;
    UPDATE result SET q1_ns = 9e9 WHERE id = 1; UPDATE result SET status = 'splendid' WHERE id = 2;
    UPDATE problem SET text = 'nonsense:' || char(27) || '[2J' WHERE id = 3; UPDATE result SET median_ns = 'x' || zeroblob(1) WHERE 0"
try 1 "rows that mean nothing" merge whole.db hostile.db
is "6 $((rows - 6)) $((jobs - 2))" "'%d %d %d' % (d['left_out'], d['added'], d['finished'])"
says err "hostile.db: "
! grep -q "$(printf '\033')" "$work/err"; ok $? "nothing of theirs reaches the terminal"
try 0 "are not taken over" "$BENANZA" db check --db "$work/whole.db"

# a source that another process writes to
"$BENANZA" db import -q --db "$work/busy.db" "$work/word1"
mkfifo "$work/sql"
sqlite3 "$work/busy.db" <"$work/sql" >"$work/held" 2>&1 &
writer=$!
exec 4>"$work/sql"
echo "BEGIN IMMEDIATE; UPDATE attributes SET host = 'busy'; SELECT 'held';" >&4
i=0
while ! grep -q held "$work/held" && kill -0 $writer 2>/dev/null && [ $i -lt 100000 ]; do i=$((i + 1)); done
try 0 "a source in the middle of another's transaction" merge 2.db busy.db
is "$rows" "d['added']"
same "$(sql 2.db "SELECT count(*) FROM attributes WHERE host = 'busy'")" 0 "what is committed, no more"
echo "COMMIT;" >&4
exec 4>&-
wait $writer
try 2 "a source that is not there" merge 2.db nowhere.db
grep -q "nowhere.db: No such file or directory; give another file$" "$work/err"
ok $? "the advice is about the file, not about --db"
try 2 "merge of nothing" "$BENANZA" db merge
says err "usage"
if [ "$(id -u)" -ne 0 ]; then
    chmod 444 "$work/1.db"
    try 0 "a source that may only be read" merge new/er.db 1.db
fi
done_testing
