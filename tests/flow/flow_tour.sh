#!/bin/sh
# A flow: benanza --tour, from begin to end by the keys that its boxes name. Each shows what its step says.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
tour() { # COLUMNS ROWS [ENVIRONMENT AND OPTIONS]
    columns=$1 rows=$2
    shift 2
    screen_open "$columns" "$rows" \
        "env LC_ALL=C.UTF-8 TMPDIR='$work/tmp' BENANZA_DB='$work/mine.db' $*; echo left with \$?; exec cat"
}
mkdir "$work/tmp"
# press: the key that the box names, letter by letter; Enter is a name of a key, in tmux too
press() {
    name=$(screen | sed -n 's/.*Press \([^ ]*\) .*/\1/p')
    case $name in
    Enter) keys Enter ;;
    *) typed "$name" ;;
    esac
}
# what is on the screen after the key of each step; the step's number is in the box
after() {
    case $1 in
    1) echo "[2] Detail" ;;
    2) echo "[ga] Algorithms" ;;
    3) echo "layers by the saving of fusion" ;;
    4) echo "FUSION" ;;
    5) echo "run layers in parallel (at most)" ;;
    6) echo "[gr] Roofline" ;;
    7) echo "PARALLEL" ;;
    8) echo "[gt] Timeline" ;;
    9) echo "[gy] Groups" ;;
    10) echo "op=Conv" ;;
    11) echo "slower algorithms" ;;
    12) echo "[5] Devices" ;;
    13) echo "[8] Help" ;;
    esac
}
walk() {
    step=1
    while [ "$step" -lt 14 ]; do
        see "Tour $step of 14" "$1: step $step"
        press
        see "$(after $step)" "$1: after step $step: $(after $step)"
        step=$((step + 1))
    done
    see "Press q"
    press
    left 0
}

tour 80 24 "'$BENANZA' --tour"
walk "80x24"
[ ! -e "$work/mine.db" ] && [ ! -e "$work/data" ] && [ ! -e "$work/state" ] && [ ! -e "$work/config" ]
ok $? "neither a database nor a state is written"
[ -z "$(ls -A "$work/tmp")" ]; ok $? "its own database is removed"

tour 80 24 "NO_COLOR=1 '$BENANZA' --tour --ascii"
walk "ASCII, mono"

# n does each step, other keys are not passed on, keys that move are
mkdir -p "$work/config/benanza"
printf 'keys:\n  close: x\n  stop: q\nbatch: 4\nmeasure: always\n' >"$work/config/benanza/config.yaml"
tour 120 40 "'$BENANZA' --tour"
see "batch 1" "the user's configuration has no effect"
keys b
see "the tour waits for Enter" "other keys are not passed on"
keys j
see "/bn1/BatchNormalization  118 us" "keys that move are"
for step in 2 3 4 5 6 7 8 9 10 11 12 13 14; do
    keys n
    see "Tour $step of 14" "n goes to step $step"
done
keys Escape
left 0
[ ! -e "$work/state" ]; ok $? "still no state"

tour 40 10 "'$BENANZA' --tour"
see "Tour 1 of 14"
see "Press Enter"
keys q
left 0
try 2 "a model" "$BENANZA" --tour model.onnx
says err "--tour takes no model"
try 2 "no folder for its database" env TMPDIR="$work/none" "$BENANZA" --tour --frame 80x24
says err "set TMPDIR to a folder that can be written"
try 0 "one screen" "$BENANZA" --tour --frame 80x24 --keys 'Enter ga'
says out "Tour 3 of 14: Algorithms"

# what killed tours left
mkdir -p "$work/tmp/benanza-tour-killed" "$work/tmp/benanza-tour-running" "$work/tmp/benanza-tour-young"
for name in killed running young; do touch "$work/tmp/benanza-tour-$name/tour.db"; done
touch -d '1 hour ago' "$work/tmp/benanza-tour-killed" "$work/tmp/benanza-tour-running"
try 0 "a tour beside others" flock "$work/tmp/benanza-tour-running" \
    env TMPDIR="$work/tmp" "$BENANZA" --tour --frame 80x24
[ "$(ls "$work/tmp" | tr '\n' ' ')" = "benanza-tour-running benanza-tour-young " ]
ok $? "removes the folder of a killed one, and its own"
done_testing
