#!/bin/sh
# A flow: commands after `:`, completed, from the history; the screen saved; a copy on the clipboard.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"
echo 'set -s set-clipboard on' >>"$work/tmux.conf"

explore 100 30 "'$tiny'"
see "[1] Layers"
keys :
see "Tab completes"
typed "vi"
keys Tab
typed "prob"
keys Tab
see ":view problems" "Tab completes the command and its argument"
keys Enter
see "[4] Problems" ":view"
keys :
typed "fusoin off"
keys Enter
see 'unknown command "fusoin"; did you mean fusion?'
keys : Up Up
see ":view problems" "Up twice: the first command"
keys Escape
keys :
typed "view layers"
keys Enter
see "[1] Layers"
keys :
typed "2"
keys Enter
keys y
see "copied the name: " "y copies"
name=$(sed -n 's/.*copied the name: \(.*[^ ]\) *$/\1/p' "$work/screen")
deadline=$(($(date +%s) + 60))
until [ "$(tmux -L "$socket" show-buffer 2>/dev/null)" = "$name" ] || [ "$(date +%s)" -ge "$deadline" ]; do
    sleep 0.05
done
[ -n "$name" ] && [ "$(tmux -L "$socket" show-buffer)" = "$name" ]
ok $? "the clipboard has $name"
keys :
typed "write $work/saved.txt"
keys Enter
see "wrote $work/saved.txt"
grep -qF "[1] Layers" "$work/saved.txt"
ok $? "the file has the screen"
keys :
typed "write $work/saved.txt"
keys Enter
see "the file exists; :write! replaces it" "it is not replaced"
keys :
typed "quit"
keys Enter
left 0
explore 100 30 "'$tiny'"
see "[1] Layers"
keys : Up Up
see ":write $work/saved.txt" "the history is kept"
keys Escape q
left 0
done_testing
