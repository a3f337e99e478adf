#!/bin/sh
# A planner (docs/wire.md): what it does follows from $1. answers: one engine for every problem; hangs: says hello and no more;
# dies: ends at the first question.
how=$1
printf '%s\n' '{"magic":"BENANZA-RUNNER","protocol":1,"runner":"plan","version":"1","name":"plan","model":"Plan 1","stack":"stand-in 1","threads":0,"llc_bytes":null,"has_matrix":true,"host":"test","attributes":{}}'
while IFS= read -r line; do
    case $line in
    *'"type":"quit"'*) exit 0 ;;
    *'"type":"algorithms"'*) ;;
    *) continue ;;
    esac
    [ "$how" != dies ] || { echo "the library is broken" >&2; exit 9; }
    [ "$how" != hangs ] || continue
    id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
    printf '{"type":"algorithm","id":%s,"algorithm":{"api":"plan","name":"eng7","layouts":"","math":"strict","rank":0,"matrix":"no","workspace_bytes":0}}\n' "$id"
    printf '{"type":"done","id":%s,"status":"ok","why":""}\n' "$id"
done
