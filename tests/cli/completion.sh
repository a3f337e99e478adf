#!/bin/sh
# Completion of shells: in bash, what Tab offers; for each shell a script that it can read; installed.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
command -v bash >/dev/null 2>&1 || skip_all "bash is not installed"
for shell in bash zsh fish; do
    try 0 "a script for $shell" "$BENANZA" help --completion "$shell"
    cp "$work/out" "$work/script.$shell"
    for word in bound export what-if; do
        grep -q -e "$word" "$work/script.$shell"
        ok $? "$shell: has $word"
    done
    if command -v "$shell" >/dev/null 2>&1; then
        try 0 "$shell reads it" "$shell" -n "$work/script.$shell"
        [ ! -s "$work/err" ]
        ok $? "without a word"
    fi
done
try 2 "no other shell" "$BENANZA" help --completion csh
says err "use bash, zsh or fish"

mkdir "$work/here"
cd "$work/here" || exit 1
: >model.onnx
: >"other model.onnx"
# offers WORD...: what Tab offers for the last of these words, as bash divides them
cat >"$work/tab.bash" <<'END'
source "$1"
shift
compopt() { :; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_benanza
printf '%s\n' "${COMPREPLY[@]}"
END
offers() { bash "$work/tab.bash" "$work/script.bash" "$@" | sort | tr '\n' ' '; }
# tab WANTED NAME WORD...
tab() {
    wanted=$1 tab_name=$2
    shift 2
    got=$(offers "$@")
    [ "$got" = "$wanted " ] || echo "# offered: $got"
    [ "$got" = "$wanted " ]
    ok $? "$tab_name"
}
tab "bound" "a command" benanza bou
sed -n 's/^\t\(-[^)]*\)) kind=.*/\1/p' "$work/script.bash" | sort >"$work/options"
[ "$(wc -l <"$work/options")" -ge 30 ] && [ -z "$(uniq -d "$work/options")" ]
ok $? "an option of several commands has one row"
tab "model.onnx models" "or a file" benanza model
tab "model.onnx other model.onnx" "files of a command" benanza bound ""
tab "--config --constants" "an option of the command" benanza layers --con
tab "--config" "not of another one" benanza bound --con
tab "bf16" "a type" benanza bound -t bf
tab "f32,bf16" "the last of a list" benanza bound -t f32,bf
tab "bf16" "after =" benanza bound --dtype = bf
tab "fusion" "a what-if" benanza bound -w fus
tab "pattern" "its choice" benanza bound -w fusion = pat
tab "pattern" "its choice in a list" benanza bound -w matrix,fusion = pat
tab "all epilogue fold off pattern" "all choices" benanza bound -w fusion =
tab "h100" "a described device" benanza bound -d h10
tab "export" "a command of a family" benanza db ex
tab "--as --ascii --assume" "its options" benanza db export --a
tab "problems" "a view" benanza model.onnx --frame 80x24 --view prob
tab "zsh" "a shell" benanza help --completion z
tab "sweep" "a command to be helped with" benanza help sw

# as it is installed
make -s -C "$(dirname "$BENANZA")" completion/benanza completion/_benanza completion/benanza.fish \
    >/dev/null 2>&1
for pair in bash:benanza zsh:_benanza fish:benanza.fish; do
    cmp -s "$work/script.${pair%%:*}" "$(dirname "$BENANZA")/completion/${pair#*:}"
    ok $? "make writes ${pair#*:}"
done
done_testing
