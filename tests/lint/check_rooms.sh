#!/bin/sh
# The order of the rooms and the homes of foreign libraries (docs/architecture.md), as TAP.
top=${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$top" || exit 1

order="base problem yaml model ops plan config store wire drive profile analyze doctor session ui commands"
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
    ui) find ui -name '*.[ch]' ;;
    *) [ ! -d src/"$1" ] || find src/"$1" -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' ;;
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

for room in $order; do
    for file in $(files_of "$room"); do
        sed -nE 's|^#include "([a-z_/]*private\.h)".*|\1|p' "$file" | while read -r header; do
            case $header in "$room"/*) ;; *) echo "$file includes $header" ;; esac
        done
    done
done >>"$failures"
report "a private header is included in its own room only"

for file in $(files_of runner); do
    for other in $(includes "$file"); do
        case $other in base | problem | wire | runner) ;; *) echo "$file includes $other" >>"$failures" ;; esac
    done
done
report "the runner stands on base, problem and wire alone"

# main.c and the two platforms, in src/runner itself, may include every box
boxes="verify measure host onednn plain gemm beside kernels gpu own nvrtc cublaslt cudnn"
boxes="$boxes cudnn_legacy protocol"
for box in $boxes; do
    case $box in # what it may include besides itself
    verify) below= ;;
    measure) below="verify" ;;
    host | kernels | protocol) below="verify measure" ;;
    onednn | plain | gemm | beside) below="verify measure host" ;;
    gpu) below="verify measure kernels" ;;
    own | nvrtc | cublaslt | cudnn) below="verify measure kernels gpu" ;;
    cudnn_legacy) below="verify measure kernels gpu cudnn" ;;
    esac
    for file in $(files_of "runner/$box"); do
        for other in $(sed -n 's|^#include "runner/\([a-z_]*\)/.*|\1|p' "$file" | sort -u); do
            case " $below $box " in *" $other "*) ;; *) echo "$file includes runner/$other" >>"$failures" ;; esac
        done
        sed -n 's|^#include "\(runner/[a-z_]*\.h\)".*|\1|p' "$file" | sed "s|^|$file includes |" >>"$failures"
    done
    report "box runner/$box includes only boxes below it"
done
for box in src/runner/*/; do
    case " $boxes " in *" $(basename "$box") "*) ;; *) echo "$box is not in the order of boxes" >>"$failures" ;; esac
done
for file in src/runner/*.[ch]; do
    case $(basename "$file") in main.c | platform_cpu.c | platform_cuda.c) ;; *) echo "$file belongs in a box" >>"$failures" ;; esac
done
report "every file of the runner is in a box"

# the explorer: includes go down, and only the table of views names them
ui_boxes="screen model views frame"
ui_below=
for box in $ui_boxes; do
    for file in ui/"$box"/*.[ch]; do
        for other in $(sed -n 's|^#include "ui/\([a-z_]*\)/.*|\1|p' "$file" | sort -u); do
            case " $ui_below $box " in
            *" $other "*) ;;
            *) echo "$file includes ui/$other" >>"$failures" ;;
            esac
        done
        sed -n 's|^#include "\(ui/[a-z_]*\.h\)".*|\1|p' "$file" | sed "s|^|$file includes |" >>"$failures"
    done
    report "box ui/$box includes only boxes below it"
    ui_below="$ui_below $box"
done
for file in ui/*.[ch] ui/*/; do
    case " $ui_boxes " in
    *" $(basename "$file") "*) ;;
    *) [ ! -e "$file" ] || echo "$file is not in a box" >>"$failures" ;;
    esac
done
grep -ohE '^const struct view view_[a-z_]+' ui/views/*.c | sed 's/.* //' | while read -r view; do
    grep -q "V(${view#view_})" ui/views/view_list.h || echo "$view is not in ui/views/view_list.h"
    grep -nE "\\b$view\\b" ui/frame/*.[ch]
done >>"$failures"
report "every view is in the table, and the frame names none"

# home PATTERN ALLOWED-PATH-REGEX NAME
home() {
    grep -lE "#include [<\"]($1)" $(git ls-files 'src/*.[ch]' 'ui/*.[ch]' 2>/dev/null || find src ui -name '*.[ch]') \
        2>/dev/null | grep -vE "$2" >>"$failures"
    report "home of $3"
}
home 'sqlite3\.h' '^src/store/' sqlite3
home 'zlib\.h' '^src/(drive/records|profile/stream)\.c$' zlib
home 'sha2\.h' '^src/base/digest\.c$' libmd
home 'yaml\.h' '^src/yaml/' libyaml
home 'protobuf-c|onnx\.pb-c\.h' '^src/model/' protobuf-c
home 'jansson\.h' '^src/base/json\.h$' jansson
home 'n?curses(w)?[./]|ncursesw/|term\.h>' '^ui/screen/term(_out)?\.c$' curses
home 'dnnl' '^src/runner/onednn/' oneDNN
home 'cudnn' '^src/runner/cudnn' cuDNN
home 'cublasLt' '^src/runner/cublaslt/' cuBLASLt
home '(cuda|nvml|cupti)[a-z_]*\.h' '^src/runner/(gpu|kernels)/' 'the CUDA runtime'

# what differs between kernels is in their rows; epilogues are modes of eltwise and binary
grep -nE 'KERNEL_[A-Z]+' src/problem/*.[ch] | sed -E 's/PROBLEM_KERNEL_H//g; s/KERNEL_(COUNT|LIST|ENUM|NAME|ROW|BINARY|ELTWISE|LAYOUT_[A-Z]*)//g' |
    grep -E 'KERNEL_[A-Z]+' >>"$failures"
# a table indexed by kernel: one a backend, and one of its vectorized kernels; a switch:
# oneDNN's own primitives, one a version
grep -rlE '^[[:space:]]+(\[KERNEL_[A-Z]+\] =|case KERNEL_)' $(find src ui -name '*.c') |
    grep -vE '^src/runner/(plain/plain_(kernels|lines)|onednn/onednn_(case|compat)|own/cuda_own)\.c$' \
        >>"$failures"
report "kernels differ in their rows, not in lists and switches"

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
