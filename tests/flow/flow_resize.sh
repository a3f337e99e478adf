#!/bin/sh
# A flow: sizes change under the program; signals stop, continue and end it; the terminal is given back.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"

explore 80 24 "'$resnet'"
see "[1] Layers"
gone "Inputs (Enter" "no detail pane at 80 columns"
screen_size 120 40
see "Inputs (Enter" "it stands at the right at 120"
screen_size 30 8
see "terminal too small"
keys j
screen_size 80 24
see "[1] Layers" "back"
gone "Inputs (Enter" "as before"
see ">" "with a row selected"
screen_size 40 10
see "bound unknown yet" "the smallest that is drawn"
keys q
left 0

# pid: of the explorer itself
pid() { cat "$work/pid"; }
# with_pid SHELL: the explorer under a shell that notes its process
started="sh -c 'echo \$\$ >$work/pid; exec \"\$@\"' sh"
wrap=$started
for signal in TERM HUP INT; do
    explore 80 24 "'$tiny'"
    see "[1] Layers" "before SIG$signal"
    [ "$(terminal '#{alternate_on}')" = 1 ]
    ok $? "on the alternate screen"
    kill -s $signal "$(pid)"
    case $signal in TERM) left 143 ;; HUP) left 129 ;; INT) left 130 ;; esac
    [ "$(terminal '#{alternate_on}#{cursor_flag}#{keypad_flag}')" = 010 ]
    ok $? "the screen, the cursor and the keypad are given back"
done

explore 80 24 "'$tiny'; stty -a >'$work/modes'"
see "[1] Layers"
kill -s SEGV "$(pid)"
left 0
[ "$(terminal '#{alternate_on}#{cursor_flag}')" = 01 ]
ok $? "after a crash too"
grep -q '[^-]icanon' "$work/modes" && grep -q ' echo ' "$work/modes"
ok $? "lines and echo are back"

wrap="env TERM=vt100"
explore 80 24 "'$tiny'"
see "? help" "a terminal without a second screen"
keys q
left 0
gone "q quit" "its last line is free for the prompt"
wrap=

# stopped and continued by an interactive shell
screen_open 80 24 "env PS1='prompt> ' LANGUAGE= LC_ALL=C.UTF-8 bash --norc --noprofile -i"
see "prompt>"
typed "'$BENANZA' -c '$config' -d gate --db '$work/flow.db' '$tiny'"
keys Enter
see "[1] Layers"
keys C-z
see "Stopped"
typed "fg"
keys Enter
see "[1] Layers" "drawn again"
keys q
see "prompt>"
done_testing
