#!/bin/sh
# The order of the rooms and the homes of foreign libraries (docs/architecture.md), as TAP.
top=${abs_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
cd "$top" || exit 1

order="base problem model ops plan config store wire drive profile analyze doctor session ui commands"
failures=$(mktemp)
trap 'rm -f "$failures"' EXIT
count=0

report() { # name; failures in $failures
    count=$((count + 1))
    if [ -s "$failures" ]; then
        echo "not ok $count - $1"
        sed 's/^/# /' "$failures"
    else
        echo "ok $count - $1"
    fi
    : >"$failures"
}

rank() {
    i=0
    for room in $order; do
        i=$((i + 1))
        [ "$room" = "$1" ] && { echo $i; return; }
    done
    echo 0
}

files_of() { # room
    case $1 in
    ui) ls ui/*.c ui/*.h 2>/dev/null ;;
    *) ls src/"$1"/*.c src/"$1"/*.h src/"$1"/*.cu 2>/dev/null ;;
    esac
}

# includes FILE: rooms it includes
includes() {
    sed -n 's|^#include "\([a-z_]*\)/.*|\1|p' "$1" | sort -u
}

for room in $order; do
    mine=$(rank "$room")
    for file in $(files_of "$room"); do
        for other in $(includes "$file"); do
            theirs=$(rank "$other")
            if [ "$theirs" -eq 0 ] || [ "$theirs" -gt "$mine" ]; then
                echo "$file includes $other, which is not before $room" >>"$failures"
            fi
        done
    done
    report "room $room includes only rooms before it"
done

for file in $(files_of runner); do
    for other in $(includes "$file"); do
        case $other in base | problem | wire | runner) ;; *) echo "$file includes $other" >>"$failures" ;; esac
    done
done
report "the runner stands on base, problem and wire alone"

# home PATTERN ALLOWED-PATH-REGEX NAME
home() {
    grep -lE "#include [<\"]($1)" $(git ls-files 'src/*.[ch]' 'ui/*.[ch]' 2>/dev/null || find src ui -name '*.[ch]') \
        2>/dev/null | grep -vE "$2" >>"$failures"
    report "home of $3"
}
home 'sqlite3\.h' '^src/store/' sqlite3
home 'zlib\.h' '^src/drive/records\.c$' zlib
home 'yaml\.h' '^src/config/' libyaml
home 'protobuf-c|onnx\.pb-c\.h' '^src/model/' protobuf-c
home 'jansson\.h' '^src/base/json\.h$' jansson
home 'n?curses(w)?[./]|ncursesw/|term\.h>' '^ui/term\.c$' curses
home 'dnnl' '^src/runner/' oneDNN
home 'cuda|cudnn|cublas' '^src/runner/' CUDA

for file in $(find src ui \( -name '*.c' -o -name '*.h' \)); do
    lines=$(wc -l <"$file")
    [ "$lines" -gt 700 ] && echo "$file: $lines lines" >>"$failures"
done
report "no file over 700 lines"

for file in $(find src ui -name '*.c'); do
    awk -v file="$file" '
        /^[a-zA-Z_].*\)[ \t]*$/ { name = $0 }
        /^\{/ { start = FNR }
        /^\}/ { if (start && FNR - start > 100) printf "%s:%d: %d lines: %s\n", file, start, FNR - start, name; start = 0 }
    ' "$file" >>"$failures"
    head -n 20 "$file" | grep -q '^#include "config.h"' || echo "$file does not include config.h first" >>"$failures"
done
report "no function over 100 lines, config.h in every source"

echo "1..$count"
