#!/bin/sh
# A flow: what terminals and users do: ASCII and no colours, ^S, a paste, the largest screen, names from a
# hostile model, keys of the configuration.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"

explore 80 24 "'$tiny' --ascii --no-color"
see "[1] Layers"
LC_ALL=C grep -q '[^ -~]' "$work/screen"
ok $((1 - $?)) "only ASCII"
screen -e >"$work/colored"
grep -q "$(printf '\033\[[0-9;]*3[0-7]m')" "$work/colored"
ok $((1 - $?)) "no colour"
keys Q
left 0

# ^S stops the terminal's output until ^Q, but not here: neither now nor before the program was ready
explore 80 24 "'$tiny'"
see "[1] Layers"
keys C-s j
see ">●    stem_bn" "^S does not freeze the screen"
keys Q
left 0
screen_open 80 24 "env LC_ALL=C.UTF-8 sh -c 'printf ready; read line; exec \"\$@\"' sh '$BENANZA' \
    -c '$config' -d gate --db '$work/flow.db' --fresh '$tiny'; stty -a; exec cat"
see "ready"
keys Enter C-s
see "[1] Layers" "nor does one that was typed before"
keys Q
see " ixon" "flow control is back afterwards"

# a paste is text where one types, and does no harm elsewhere
explore 80 24 "'$tiny'"
see "[1] Layers"
keys /
tmux -L "$socket" set-buffer "join"
tmux -L "$socket" paste-buffer
see "/join" "pasted into a search"
keys Enter
see ">●─╯  join " "and found"
tmux -L "$socket" set-buffer "$(printf 'jfj\nQ:quit\nQ')"
tmux -L "$socket" paste-buffer -p
see "does not act as keys" "elsewhere it is no keys"
keys /
see "Enter"
tmux -L "$socket" set-buffer "$(printf 'jo\nin')"
tmux -L "$socket" paste-buffer -p
see "/join" "lines of a paste are one text"
keys Escape 1
see "[1] Layers"
keys Escape d
see "Batch, data type"
tmux -L "$socket" set-buffer "$(printf '1\033Q:quit\rQ2')"
tmux -L "$socket" paste-buffer -p
see "Esc or q leaves" "ESC in a paste does not end it: what follows is no keys"
keys Escape
see "q quit"
keys Q
left 0

explore 80 24 "'$tiny'"
see "[1] Layers"
keys :
see "Tab completes"
tmux -L "$socket" set-buffer "$(printf 'one\033Qtwo')"
tmux -L "$socket" paste-buffer -p
see ":oneQtwo" "and the rest is text"
keys Escape Q
left 0

# a state folder that cannot be written
wrap=XDG_STATE_HOME=/dev/null
explore 80 24 "'$tiny'"
see "[1] Layers"
keys Q
see "not stored for the next" "what is not kept is said at the end"
left 0
wrap=

explore 300 100 "'$tiny'"
see "[1] Layers"
see "Inputs (Enter" "the details are beside"
see "state" "and columns at the right"
keys Q
left 0

explore 80 24 "'$top/tests/models/hostile.onnx'"
see "hostile.onnx"
see "red" "a name with escape sequences"
[ "$(terminal '#{pane_title}')" != owned ]
ok $? "they do not reach the terminal"
keys Enter
see "[2] Detail"
keys Q
left 0

{ cat "$config"; printf 'keys:\n  redraw: ^L F5\n  advice: R A\n'; } >"$work/keys.yaml"
config=$work/keys.yaml
explore 80 24 "'$tiny'"
see "[1] Layers"
keys R
see "Advice" "a key of the configuration"
keys "?"
see "[8] Help"
keys Q
left 0
done_testing
