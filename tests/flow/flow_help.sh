#!/bin/sh
# A flow: help and back, every view, without colour, in ASCII.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"

explore 80 24 "'$tiny'"
see "[1] Layers"
screen -e | grep -q "$(printf '\033')\[[0-9;]*3[0-7]m"
ok $? "there is colour"
keys "?"
see "[8] Help"
see "In this view"
keys G
see "An optimization that you switch" "its end"
keys Escape
see "[1] Layers"
keys Tab
see "[2] Detail"
keys Tab
see "[3] What-if"
keys Tab
see "[4] Problems"
keys Tab
see "[5] Devices"
keys Tab
see "[O] Models"
keys Tab
see "[6] Doctor"
see "refresh"
gone "measuring the load of this machine" "the findings come by themselves"
keys Tab
see "[7] Advice"
keys Tab
see "[gr] Roofline"
keys Tab
see "[gt] Timeline"
keys Tab
see "[gm] Map"
keys Tab
see "[gn] Graph"
keys Tab
see "[gd] Distribution"
keys Tab
see "[gs] Scenarios"
keys Tab
see "[gy] Groups"
keys Tab
see "[ga] Algorithms"
keys Tab
see "[gw] Sweep"
keys Tab
see "[gq] Queue"
see "no jobs yet: b measures missing problems"
keys Tab
see "[gl] Messages"
keys Tab
see "[ge] Reality"
see "no real execution of this model"
keys Tab
see "[8] Help"
keys Tab
see "[1] Layers"
keys BTab
see "[8] Help" "backwards"
keys F1
see "[8] Help"
keys 1
see "[1] Layers"
keys q
left 0

wrap="NO_COLOR=1"
explore 80 24 "'$tiny'"
see "[1] Layers" "NO_COLOR"
screen -e >"$work/screen"
grep -q "$(printf '\033')\[[0-9;]*[34][0-7]m" "$work/screen"
ok "$([ $? -ne 0 ]; echo $?)" "no colour"
grep -q "$(printf '\033')\[[0-9;]*7m" "$work/screen"
ok $? "the selected row is reversed all the same"
keys Q
left 0

wrap="LC_ALL=POSIX"
explore 80 24 "'$tiny'"
see "[1] Layers" "a locale without UTF-8"
see ">*" "ASCII signs"
LC_ALL=C grep -q '[^ -~]' "$work/screen"
ok "$([ $? -ne 0 ]; echo $?)" "and nothing else"
keys Q
left 0

wrap="TERM=no-such-terminal"
explore 80 24 "'$tiny'"
see "no terminfo entry for terminal" "an unknown terminal"
left 2
done_testing
