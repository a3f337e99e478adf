# A terminal for tests: the explorer in a private tmux server. Sourced after tap.sh. Nothing waits by the clock: `see` and
# `gone` look again until the text is there or not, and give up after a minute.
command -v tmux >/dev/null 2>&1 || skip_all "tmux is not installed"
[ -x "$BENANZA" ] || skip_all "benanza is not built"
terminals=0
socket=benanza-test-$$-0
unset TMUX TMUX_PANE COLUMNS LINES
TMUX_TMPDIR=$work
export TMUX_TMPDIR
# what was just killed may still be writing its last file
trap 'tmux -L "$socket" kill-server 2>/dev/null; rm -rf "$work" 2>/dev/null || { sleep 1; rm -rf "$work"; }' EXIT
printf '%s\n' 'set -g status off' 'set -g default-terminal screen' 'set -s escape-time 0' \
    'set -g history-limit 0' >"$work/tmux.conf"

# screen_open COLUMNS ROWS COMMAND: a shell command in a fresh terminal
screen_open() {
    tmux -L "$socket" kill-server 2>/dev/null
    terminals=$((terminals + 1))
    socket=benanza-test-$$-$terminals # a new server: the old one may still be on its way out
    tmux -L "$socket" -f "$work/tmux.conf" new-session -d -x "$1" -y "$2" "$3" ||
        skip_all "tmux cannot start here"
}
screen_size() { tmux -L "$socket" resize-window -x "$1" -y "$2"; }
keys() { tmux -L "$socket" send-keys "$@"; }
# typed TEXT: letter by letter, whatever key names it looks like
typed() { tmux -L "$socket" send-keys -l "$1"; }
screen() { tmux -L "$socket" capture-pane -p "$@"; }
terminal() { tmux -L "$socket" display-message -p "$1"; }

# looks WANTED TEXT NAME: until the screen holds the text (WANTED 0) or no longer does (1)
looks() {
    deadline=$(($(date +%s) + ${SCREEN_WAIT_S:-60}))
    while :; do
        screen >"$work/screen" 2>/dev/null
        grep -qF -- "$2" "$work/screen" && found=0 || found=1
        [ "$found" -eq "$1" ] && break
        [ "$(date +%s)" -ge "$deadline" ] && break
        sleep 0.05
    done
    [ "$found" -eq "$1" ] || sed 's/^/# screen: /' "$work/screen"
    ok "$([ "$found" -eq "$1" ]; echo $?)" "$3"
}
see() { looks 0 "$1" "${2:-shows: $1}"; }
gone() { looks 1 "$1" "${2:-no longer shows: $1}"; }
# left STATUS: the program ended with it (the command prints "left with N")
left() { see "left with $1" "leaves with $1"; }
