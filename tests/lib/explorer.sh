# The explorer on a model, with the runner of gate_runner.sh. Sourced after screen.sh.
gate=$work/gate
mkfifo "$gate"
exec 3<>"$gate" # keeps it open: nobody waits for the other end
cat >"$work/gate.yaml" <<END
measure: ${measure:-never}
runners:
  gate: [sh, "$top/tests/lib/gate_runner.sh", "$gate"]
END
cat >"$work/nothing.yaml" <<END
runners:
  gate: [sh, -c, "exit 7"]
END
tiny=$top/tests/models/tiny.onnx
resnet=$top/data/models/resnet50.onnx
# explore COLUMNS ROWS [ARGUMENTS]: $wrap comes before the program, $config is the
# configuration in force; with fresh= the last state of the model comes back
fresh=--fresh
config=$work/gate.yaml
wrap=
explore() {
    columns=$1 rows=$2
    shift 2
    screen_open "$columns" "$rows" \
        "env LC_ALL=C.UTF-8 $wrap '$BENANZA' \
             -c '$config' -d gate --db '$work/flow.db' $fresh $*; echo left with \$?; exec cat"
}
