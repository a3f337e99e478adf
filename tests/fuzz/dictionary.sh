#!/bin/sh
# Words that inputs of a fuzz target are made of, taken from the sources, as a libFuzzer dictionary.
# usage: dictionary.sh SRCDIR TARGET
cd "$1" || exit 1
words() { # FILES
    cat "$@" | grep -oE '"[A-Za-z0-9_.:/=-]{1,40}"' | LC_ALL=C sort -u
}
case $2 in
config) words src/config/*.c src/problem/dtype.h
    printf '"%s"\n' ': ' '\x0a' '\x0a  ' '- ' '[' ']' '{' '}' ', ' '\x27' '\\\x22' '|' '>' '&a' '*a' '!!str' '---' '...' '# ' '%YAML' ;;
problem) words src/problem/*.c src/problem/*.h src/problem/kernels/*.c
    printf '"%s"\n' ',' ':' '+' '/' '@s' '@ncx' '@nxc' '.c' 'x' '281474976710656' '9223372036854775807' ;;
wire) words src/wire/*.c src/problem/execution_field.c src/problem/result.c ;;
profile) words src/profile/*.c src/profile/*/*.c ;;
ops) words src/ops/*.c src/ops/*/*.c src/problem/dtype.h ;;
graph) echo '"\xff"' ;;
infer | model) # keys of fields, small lengths, and names
    for key in 08 12 1a 22 2a 32 3a 42 4a 52 5a 62 6a 72 7a 82'\x'01 a2'\x'01 a8'\x'01 b2'\x'01 c2'\x'01 ca'\x'01; do
        printf '"\\x%s"\n' "$key"
    done
    printf '"%s"\n' '\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01' '\x80\x80\x80\x80\x80\x80\x80\x80\x40' '\xff\xff\xff\xff\x0f'
    words src/ops/*.c src/ops/*/*.c ;;
esac
