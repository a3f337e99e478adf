#!/bin/sh
# Outside the suite (make check-newest): installs the newest onnx and onnxruntime in BUILD/newest and runs the comparisons
# with them. Prints what the operator table lacks and every comparison that differs; exit status 1 if there are any.
#   tests/packages/check_newest.sh SOURCE BUILD
set -u

source=$1
build=$2
python=$build/newest/bin/python3

python3 -m venv "$build/newest" || exit 2
"$build/newest/bin/pip" install -q --disable-pip-version-check --upgrade onnx onnxruntime openvino sympy || {
    echo "check-newest: cannot install onnx, onnxruntime, openvino and sympy; is the package index reachable?" >&2
    exit 2
}
# onnx_nodes.py looks for a newer onnx beside its interpreter, finds none here, and uses the installed one.
"$build/newest/bin/pip" list --disable-pip-version-check --format=freeze |
    grep -E '^(onnx|onnxruntime|openvino|numpy)==' || :

failed=0
for test in ort/ort_contrib onnx/onnx_nodes onnx/onnx_inference onnx/onnx_functions onnx/onnx_symbols onnx/onnx_values \
    ort/ort_ops ort/ort_graphs agents/agents_models; do
    name=$(basename "$test") log=$build/newest/$(basename "$test").log
    PATH=$build/newest/bin:$PATH BENANZA=$build/benanza builddir=$build srcdir=$source abs_srcdir=$source LC_ALL=C.UTF-8 \
        "$python" "$source/tests/$test.py" >"$log" 2>&1
    status=$?
    echo "$name: $(grep -c '^ok' "$log") passed, $(grep -c '^not ok' "$log") failed, exit status $status ($log)"
    sed -n '/^not ok/,/^ok/{/^ok/!p;}' "$log" | head -n 60
    [ "$status" -eq 0 ] || { failed=1; grep -q '^not ok' "$log" || tail -n 3 "$log"; }
done
exit "$failed"
