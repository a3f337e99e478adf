#!/bin/sh
# The attributes that operators' rules ask for, by operator, and the texts those may have, from tests/ops/*.case, as a
# C header. usage: attributes.sh SRCDIR
cd "$1" || exit 1
echo '#define FUZZ_COUNT(array) (sizeof(array) / sizeof((array)[0]))'
echo 'static const char *const fuzz_attributes[][2] = {'
cat tests/ops/*.case | awk '
    $1 == "op" { sub(/.*\//, "", $2); op = $2 }
    $1 == "attr" { for (i = 2; i <= NF; i++) if (split($i, part, "=") > 1) print "\t{ \"" op "\", \"" part[1] "\" }," }' |
    grep -E '"[A-Za-z0-9_]+", "[A-Za-z0-9_]+"' | LC_ALL=C sort -u
printf '\t{ "If", "then_branch" },\n\t{ "If", "else_branch" },\n\t{ "Loop", "body" },\n\t{ "Scan", "body" }\n};\n'
echo 'static const char *const fuzz_strings[] = {'
cat tests/ops/*.case | awk '$1 == "attr"' | grep -oE '"[A-Za-z0-9_,>-]*"' | LC_ALL=C sort -u | sed 's/$/,/'
echo '};'
