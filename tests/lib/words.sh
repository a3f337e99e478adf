# Sourced by tests of commands after tap.sh: a runner with fixed costs (word_runner.sh), so that reports are
# the same everywhere.  bz COMMAND...: the program with this runner, in $work, with the database t.db.
cd "$work" || exit 1
ln -s "$top/tests/models" models # their paths in reports are as long wherever the tests lie
models=models
COLUMNS=80
export COLUMNS
cat >config.yaml <<Y
runners:
    lex: [sh, "$top/tests/lib/word_runner.sh", "Word 1", "words 1", "2"]
Y
bz() { "$BENANZA" "$@" -c config.yaml --db "$work/t.db" -d lex; }
