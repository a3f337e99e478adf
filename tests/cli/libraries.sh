#!/bin/sh
# Libraries that a runner lacks: said by devices, doctor, bound and bench; a driver that is too old. First
# with a runner that measures nothing, then with the CUDA runner on a library without functions and on an old
# driver, if a compiler makes them.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
tiny=$top/tests/models/tiny.onnx
cuda=$(dirname "$BENANZA")/benanza-runner-cuda
json() { python3 -c "import json,sys; d=json.load(open('$work/out')); print($1)"; }
is() {
    got=$(json "$2" 2>&1)
    [ "$got" = "$1" ] || echo "# got $got, not $1"
    ok "$([ "$got" = "$1" ]; echo $?)" "$2 = $1"
}

# libraries.json: the attribute; \u001b is an escape character
cat >"$work/libraries.json" <<'EOF'
"libraries":[{"name":"cuDNN","present":true,"version":"9.19.0","path":"/opt/libcudnn.so.9"},
{"name":"cuBLASLt","present":false,"why":"libcublasLt.so.13: cannot\\u001b[31m open",
"tried":["/opt/cuda","/opt/wheels"],"fix":"install cuBLAS"},{"name":7}]
EOF
cat >"$work/lacks.sh" <<EOF
list=\$(tr -d '\n' <"$work/libraries.json")
sh "$top/tests/lib/word_runner.sh" "GPU 1" "CUDA 13.0, no cuBLASLt" |
    sed -u "1s|\"attributes\":{}|\"attributes\":{\$list}|"
EOF
printf 'runners:\n  lacks: [sh, "%s"]\n' "$work/lacks.sh" >"$work/lacks.yaml"
missing='cuBLASLt missing: libcublasLt.so.13: cannot?[31m open; install cuBLAS'
bench() { "$BENANZA" "$@" -c "$work/lacks.yaml" -d lacks --db "$work/lacks.db" "$tiny"; }

try 0 "devices" "$BENANZA" devices -c "$work/lacks.yaml"
says out "cuDNN 9.19.0 (/opt/libcudnn.so.9)"
says out "$missing"
says out "searched: /opt/cuda, /opt/wheels"
try 0 "devices" "$BENANZA" devices -c "$work/lacks.yaml" --json
list="[r for r in d['runners'] if r['runner'] == 'lacks'][0]['libraries']"
is "[('cuDNN', True), ('cuBLASLt', False)]" "[(l['name'], l['present']) for l in $list]"
is "9.19.0 install cuBLAS" "$list[0]['version'] + ' ' + $list[1]['fix']"
"$BENANZA" doctor -c "$work/lacks.yaml" --json >"$work/out" 2>"$work/err"
is "ok bends" "' '.join(f['outcome'] for f in d['findings'] if f['check'] == 'libraries')"
is "install cuBLAS" "[f['cure'] for f in d['findings'] if f['check'] == 'libraries'][1]"
try 0 "bench" bench bench
says err "benanza: $missing"
try 0 "bench again" bench bench --json
is "['$missing']" "d['warnings']"
try 0 "bound" bench bound
says out "warning: $missing"
try 0 "bound" bench bound --json
is "['$missing']" "d['warnings']"

# the real runner
if [ -x "$cuda" ] && command -v gcc >/dev/null 2>&1; then
    mkdir "$work/libs" "$work/old"
    echo 'int benanza_empty;' >"$work/empty.c"
    for one in 10 11 12 13 14; do gcc -shared -o "$work/libs/libcublasLt.so.$one" "$work/empty.c"; done
    LD_LIBRARY_PATH=$work/libs "$cuda" --plan "$top/data/devices/h100.json" --info >"$work/out" 2>"$work/err"
    grep -q '^stack .*, no cuBLASLt' "$work/out"; ok $? "the CUDA runner's stack says what is missing"
    grep -q 'cuBLASLt missing: libcublasLt.so.[0-9]* has no cublasLtGetVersion' "$work/err"
    ok $? "so does its log"
    # a driver of CUDA 12
    echo 'int cuDriverGetVersion(int *v) { *v = 12040; return 0; }' >"$work/old.c"
    echo 'int cuInit(unsigned f) { return f ? 1 : 0; }' >>"$work/old.c"
    gcc -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$work/old/libcuda.so.1" "$work/old.c"
    needs=$("$cuda" --plan "$top/data/devices/h100.json" --info 2>/dev/null |
        sed -n 's/^stack  *CUDA \([0-9]*\).*/\1/p')
    if [ "${needs:-0}" -gt 12 ]; then
        LD_LIBRARY_PATH=$work/old "$cuda" --info >"$work/out" 2>"$work/err" </dev/null
        ok "$([ $? -eq 3 ]; echo $?)" "an old driver: status 3"
        says err "supports CUDA 12.4"
        says err "needs CUDA $needs"
        says err "driver 580 or newer"
        printf 'runners:\n  old: [env, "LD_LIBRARY_PATH=%s", "%s"]\n' "$work/old" "$cuda" >"$work/old.yaml"
        "$BENANZA" devices -c "$work/old.yaml" >"$work/out" 2>"$work/err"
        says out "driver 580 or newer"
        "$BENANZA" doctor -c "$work/old.yaml" --json >"$work/out" 2>"$work/err"
        is "bends" "[f['outcome'] for f in d['findings'] if '580 or newer' in f['what']][0]"
    fi
fi
done_testing
