#!/bin/sh
# The check for GPUs with the real CPU runner in the GPU's place: it passes what is right, fails what is wrong,
# continues the runner's files, and skips where there is no device. tests/gpu/tiers.py has the rest.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
script=$top/tests/gpu/check_gpu.py
export OMP_NUM_THREADS=1 # nothing here depends on times, and other tests run meanwhile
[ -x "$runner" ] || skip_all "benanza-runner-cpu was not built"
command -v python3 >/dev/null || skip_all "no python3"
cat >"$work/problems" <<'END'
# two that every CPU can, in f32 at least
eltwise:T,T:relu:1x64
conv:T,T.c,T/f32:n1c8h8w8k8r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1
END
echo "sm 75" >"$work/manifest" # nothing is expected of a CPU
check() { python3 "$script" --problems "$work/problems" --manifest "$work/manifest" "$@"; }
answers() { cat "$work/$1"/*/"$2.jsonl"; }

cat >"$work/no_device" <<'END'
#!/bin/sh
echo "benanza-runner-cuda: no NVIDIA driver found (libcuda.so.1)" >&2
exit 3
END
cat >"$work/wrong" <<END
#!/bin/sh
"$runner" "\$@"
status=\$?
for last; do :; done
[ -f "\$last" ] && sed -i 's/\("type":"check".*"algorithm":.*\)"status":"ok"/\1"status":"mistrusted"/' "\$last"
exit \$status
END
cat >"$work/lossy" <<END
#!/bin/sh
case "\$*" in *--info*) exec "$runner" "\$@";; esac
[ "\$(cat "$work/losses" 2>/dev/null | wc -l)" -ge 2 ] && exec "$runner" "\$@"
echo >>"$work/losses"
for last; do :; done
head -n "\$(wc -l <"$work/losses")" >"$work/some"
"$runner" "\$@" <"$work/some"
exit 3
END
cat >"$work/lost" <<END
#!/bin/sh
case "\$*" in *--info*) exec "$runner" "\$@";; esac
echo "the device is lost" >&2
exit 3
END
chmod +x "$work/no_device" "$work/wrong" "$work/lossy" "$work/lost"

try 0 "without a device" check --runner "$work/no_device" --out "$work/none"
grep -q "^1\.\.0 # SKIP .*no NVIDIA driver found" "$work/out"; ok $? "skips, and says why"
[ ! -e "$work/none" ]; ok $? "leaves nothing behind"
try 2 "no tier of that name" check --runner "$runner" --out "$work/a" --tier nothing
try 2 "a device is needed" check --runner "$work/no_device" --out "$work/a" --need-device
says out "no NVIDIA driver found"
try 0 "what is right" check --runner "$runner" --out "$work/a" --tier correct
says out "eltwise:f32,f32:relu:1x64: "
grep -q '^ok .*conv:f32.*[1-9] of [1-9][0-9]* algorithms correct' "$work/out"; ok $? "the convolution's algorithms are right"
says out "tier correct: 0 passed"
before=$(answers a correct | wc -l)
try 0 "the same again" check --runner "$runner" --out "$work/a" --tier correct
[ "$(answers a correct | wc -l)" -eq "$before" ]; ok $? "nothing is checked twice"
try 1 "what is wrong" check --runner "$work/wrong" --out "$work/b" --tier correct
says out "# mistrusted oneDNN"
try 0 "a device that is lost on the way" check --runner "$work/lossy" --out "$work/e" --tier correct
says out "the runner lost the device; starting another one"
[ "$(answers e correct | grep -c '"type":"done"')" -eq "$(cat "$work"/e/*/correct.jobs | wc -l)" ]
ok $? "every problem is answered once"
try 1 "a device that is lost at once" check --runner "$work/lost" --out "$work/f" --tier correct
says out "# exit status 3: the device is lost"
try 3 "no time left" check --runner "$runner" --out "$work/c" --tier correct --minutes 0.00001
says out "tier correct: 3 time is up"
printf '%s\n' '{"type":"run","id":1,"problem":"eltwise:f32,f32:relu:1x64","budget_ms":1}' \
    '{"type":"run","id":2,"problem":"eltwise:s64,s64:relu:4","budget_ms":1}' >"$work/few.jsonl"
try 0 "models" check --runner "$runner" --out "$work/d" --tier record --jobs "$work/few.jsonl"
says out "recorded: few: 2 of 2 problems: 1 ok, 1 unsupported"
try 0 "their results can be kept" "$BENANZA" db import "$work"/d/*/recorded.jsonl
bad=0
for type in f32 f16 bf16; do
    grep -v '^#' "$top/tests/gpu/problems.txt" | grep . | sed "s/\bT\b/$type/g"
done | sort -u | sed 's/.*/{"type":"algorithms","id":1,"problem":"&"}/' >"$work/all"
"$runner" <"$work/all" >"$work/out" 2>"$work/err"
grep -q 'problem text' "$work/out" && bad=1
ok $bad "every problem of the list is one"
[ "$(grep -c '"type":"done"' "$work/out")" -eq "$(wc -l <"$work/all")" ]; ok $? "and has its answer"
done_testing
