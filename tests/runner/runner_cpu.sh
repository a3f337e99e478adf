#!/bin/sh
# The CPU runner as a program: the protocol on its pipes, every kernel family measured once, answers checked, as TAP.
program=benanza-runner-cpu
machine=
. "${srcdir:-$(dirname "$0")/../..}/tests/lib/runner.sh"
# Threads sleep while they wait: on a busy machine those that spin hold each other up.
export OMP_NUM_THREADS=2 GOMP_SPINCOUNT=0

check_protocol

# --- measuring ---
serve </dev/null
has '"stack":"oneDNN [0-9.]* (.*2 threads.*strict"' "hello names the library, the threads and the math mode"

{ run_line 1 "$conv"; printf '{"type":"algorithms","id":2,"problem":"%s"}\n' "$conv"; } | serve
ok $? "jobs are done after the end of the input"
has '"type":"result","id":1,.*"status":"ok","cache":"net","launch":"amortized"' "a result of net, amortized"
has '"type":"result","id":1,.*"cache":"warm","launch":"isolated"' "a result of warm, isolated"
has '"type":"done","id":1,"status":"ok"' "done"
has '"type":"algorithm","id":2,"algorithm":{"api":"oneDNN"' "algorithms are listed"
has '"type":"done","id":2,"status":"ok"' "and that is done"
grep '"type":"result"' "$out" | grep -v '"rank":0' | grep -v '"status":"ok"' >/dev/null
[ $? -ne 0 ]
ok $? "no algorithm failed"

side="beside:$conv%$relu"
{ run_line 1 "$side"; } | serve
ok $? "branches side by side are measured"
has '"result","id":1,.*"api":"beside","name":"threads:1+1".*"status":"ok","cache":"net"' \
    "with a thread each"
has '"kernels":"lane [12], 1 thread: conv .*lane [12], 1 thread: eltwise ' \
    "the result names what ran in each lane"
OMP_NUM_THREADS=4
{ printf '{"type":"algorithms","id":1,"problem":"%s"}\n' "$side"; } | serve
has '"name":"threads:2+2"' "four threads are split equally"
has '"name":"by_cost:2_lanes"' "or by what the branches take"
run_line 1 "$side" | serve --check
has '"type":"check","id":1,.*"name":"by_cost:2_lanes.*"status":"ok"' "their outputs are checked"
OMP_NUM_THREADS=1
run_line 1 "$side" | serve
has '"type":"done","id":1,"status":"unsupported","why":"branches run side by side on two threads or more' \
    "one thread runs none"
OMP_NUM_THREADS=2

{ run_line 1 "eltwise:s64,s64:relu:4"; run_line 2 "nonsense:1"; run_line 3 "conv:f32,f32.c,f32/f32:n1c1h1w1k1r3s3"; } | serve
ok $? "problems that cannot be measured do not end it"
has '"type":"result","id":1,.*"name":"",.*"status":"unsupported"' "an unsupported problem has a result with that status"
has '"type":"done","id":1,"status":"unsupported","why":"oneDNN has no type s64"' "with the reason"

{ printf '{"type":"run","id":4,"kind":"model","payload":"resnet50.onnx"}\n'; run_line 5 "eltwise:f32,f32:relu:4"; } | serve
ok $? "a job of an unknown kind does not end it"
has '"magic":.*"jobs":\["problem"\]' "the hello lists the kinds of jobs that a file may have"
has '"type":"result","id":4,"kind":"model","result":{"problem":"resnet50.onnx",.*"name":"",.*"status":"unsupported"' \
    "a job of an unknown kind has a result"
has '"type":"done","id":4,"status":"unsupported","why":".*no jobs of the kind \\"model\\"","kind":"model"' "that names the kind"
has '"type":"done","id":5,"status":"ok"' "the next job is done"

{
    for type in c64 c128 s4 u4 s2 u2 f8e4m3fnuz f8e5m2fnuz f8e8m0 f6e2m3 f6e3m2 f4e2m1; do
        run_line 1 "gather:$type.c,s64,$type:100x8:ax0:1x4"
        run_line 2 "select:bool,$type,$type,$type:8:8:8"
        run_line 3 "transpose:$type,$type:8x4:perm1x0"
        run_line 4 "matmul:$type,$type.c,f32/f32:ba1bb1m8n8k8:ta0tb0"
    done
} | serve
[ "$(grep -c '"type":"done","id":[1-4],"status":"unsupported"' "$out")" -eq 48 ]
ok $? "element types that no backend supports are unsupported, for data movement too"

run_line 1 "dropout:f32,f32:drop,0.5:8" | serve
has '"type":"done","id":1,"status":"unsupported","why":".*dropout is not measured on a CPU"' "a kernel without a backend is unsupported"
run_line 1 "matmul:u8,u8,s32/s32:ba1bb1m16n24k8:ta0tb0" | serve
grep '"type":"result"' "$out" | grep -qv '"notes":"wei_as_s8"'
[ $? -eq 1 ] && grep -q '"type":"done","id":1,"status":"ok"' "$out"
ok $? "weights that the library takes in another type are measured in that type, with a note"
run_line 1 "matmul:s32,s8,s32/s32:ba1bb1m16n24k8:ta0tb0" | serve
has '"type":"done","id":1,"status":"unsupported","why":"oneDNN ' "types that the library does not multiply are unsupported"
run_line 1 "matmul:f64,f64.c,f64/f64:ba1bb1m1n8k8:ta0tb0" | serve
has '"type":"done","id":1,"status":"unsupported","why":"oneDNN [^;]*"' "so are few rows, for that reason"
run_line 1 "matmul:f32,f4e2m1.c,f32/f32:ba1bb1m1n16k64:ta0tb0:b32z0" | serve
has '"type":"done","id":1,"status":"unsupported","why":"no kernel multiplies f32 by f4e2m1 ' \
    "so are blocks of fp4, named with both types"

run_line 1 "attention:f16,f16,f16,f16/f32:full:n1hq2hk2lq4lk4d8e8" | serve
has '"type":"done","id":1,"status":"unsupported","why":"attention on oneDNN takes f32 or bf16, not f16"' "so are types of a composed kernel"

{ run_line 1 "eltwise:f32,f32:relu:1000000x10000000"; } | serve
has '"status":"no_memory"' "a problem too large for the memory has the status no_memory"

{ run_line 1 "$conv" | sed 's/"budget_ms":2/"budget_ms":3600000/'; run_line 2 "$conv"; run_line 3 "$conv"
    echo '{"type":"cancel","id":2}'; echo '{"type":"cancel","id":1}'; } | serve
ok $? "cancelled jobs end"
has '"type":"done","id":1,"status":"failed","why":"cancelled"' "the running one"
has '"type":"done","id":2,"status":"failed","why":"cancelled"' "a waiting one"
has '"type":"done","id":3,"status":"ok"' "and no other"
{ run_line 1 "$conv" | sed 's/"budget_ms":2/"budget_ms":3600000/'; echo '{"type":"quit"}'; } | serve
ok $? "quit ends it at once"

DNNL_VERBOSE=1
export DNNL_VERBOSE
run_line 1 "$conv" | serve
unset DNNL_VERBOSE
all_json
ok $? "standard output is protocol only, although the library prints"
grep -q _verbose "$err"
ok $? "the library's lines are on standard error"

run_line 1 "$conv" | sed 's/}/,"samples":true,"caches":["warm"],"launches":["isolated"]}/' | serve
has '"sample_ns":\[' "raw samples on request"
hasnt '"cache":"net"' "only the requested cache states"
hasnt '"launch":"amortized"' "only the requested launches"
run_line 1 "$conv" | sed 's/}/,"caches":["cold"]}/' | serve
if grep -q '"llc_bytes":[0-9]\{1,8\}[,.]' "$out"; then # under 100 MB
    has '"type":"result","id":1,.*"status":"ok","cache":"cold","launch":"amortized"' "cold on request"
fi
hasnt '"cache":"warm"' "and no other state"
run_line 1 "eltwise:f32,f32:relu:4" | sed 's/}/,"caches":["cold"]}/' | serve
has '"type":"done","id":1,"status":"failed","why":"nothing to measure' "cold is refused if too few bytes pass"

# little memory, if a file can be put over the system's: a distance whose copies have no room is not measured
printf 'MemAvailable: 20000 kB\n' >"$dir/meminfo"
over="mount --bind $dir/meminfo /proc/meminfo"
if unshare -rm sh -c "$over" 2>/dev/null; then
    run_line 1 "matmul:f32,f32.c,f32/f32:ba1bb1m1n64k64:ta0tb0" | sed 's/}/,"caches":["warm","64m"]}/' |
        unshare -rm sh -c "$over && exec '$runner'" >"$out" 2>"$err"
    has '"status":"no_memory","cache":"64m".*of copies of its' "a distance without room is not measured"
    hasnt '"status":"ok","cache":"64m"' "under its name"
    has '"status":"ok","cache":"1m","launch":"isolated"' "but the farthest that has room"
fi

# the two largest of the device's peaks, one after the other: each of two algorithms has the same input
{ run_line 1 "copy:u8,u8:b67108864"; run_line 2 "matmul:f32,f32,f32/f32:ba1bb1m1n8192k4096:ta0tb0"; } |
    sed 's/}/,"caches":["warm"],"launches":["amortized"]}/' >"$dir/peaks"
python3 - "$runner" "$dir/peaks" >"$out" 2>"$err" <<'PY'
import resource, subprocess, sys
with open(sys.argv[2], "rb") as jobs:
    subprocess.run([sys.argv[1]], stdin=jobs, check=True)
most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
print(f"{most / 1e6:.0f} MB")
with open(sys.argv[1], "rb") as program:
    sys.exit(most > 240e6 and b"__asan_init" not in program.read())
PY
ok $? "peaks take less than 240 MB in the runner"
[ "$(grep -c '"status":"ok","cache":"warm"' "$out")" -ge 3 ]
ok $? "by several algorithms at once"

# a long job: the heartbeat comes from the same process during it
python3 - "$runner" >"$out" 2>"$err" <<'PY'
import json, subprocess, sys
p = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
long = "matmul:f32,f32,f32/f32:ba1bb1m3000n3000k3000:ta0tb0"
p.stdin.write(json.dumps({"type": "run", "id": 9, "problem": long, "budget_ms": 3600000}) + "\n")
p.stdin.flush()
for line in p.stdout:
    m = json.loads(line)
    if m.get("type") == "heartbeat" and m["id"] == 9:
        print("beat", m["what"])
        break
p.stdin.write('{"type":"cancel","id":0}\n')
p.stdin.flush()
for line in p.stdout:
    if json.loads(line).get("type") == "done":
        print("done")
        break
p.stdout.close()
print("left", p.wait(timeout=600))
PY
has '^beat' "a heartbeat while it measures"
has '^done' "cancel everything"
has '^left' "it ends when nobody reads"

# --- every kernel family ---
i=0
while read -r problem; do
    i=$((i + 1))
    run_line $i "$problem"
done >"$dir/jobs" <<PROBLEMS
$conv
conv:f32,f32.c,f32/f32:n1c16h14w14k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f32.c+add:f32+relu
conv:f32,f32.c,f32/f32:n1c16h14w14k16r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:g16+clip,0,6
conv:f32,f32.c,f32/f32:n1c8w64k8s3:pw2qw2:sw1:dw2:g1+bias:f32.c+gelu_erf
conv:f32,f32.c,f32/f32:n1c4d6h6w6k8t3r3s3:pd0ph0pw0qd0qh0qw0:sd1sh1sw1:dd1dh1dw1:g1
conv:f32@nxc,f32.c,f32@nxc/f32:n1c8h10w12k8r3s2:ph1pw0qh0qw1:sh1sw2:dh1dw1:g2
matmul:f32,f32.c,f32/f32:ba1bb1m32n64k48:ta0tb1+bias:f32.c+gelu_tanh
matmul:f32,f32,f32/f32:ba4bb4m16n24k8:ta0tb1
matmul:f32,f32,f32/f32:ba4bb4m16n24k8:ta1tb0
matmul:f32,f32@s8x32x1,f32/f32:ba4bb4m16n8k3:ta0tb0
matmul:f32,f32,f32/f32:ba4x1bb1x3m5n6k7:ta0tb0
matmul:f32,f32.c,f32/f32:ba4bb1m16n24k8:ta0tb0+bias:f32.c+add:f32
pool:f32,f32:max:n1c16h14w14r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1
pool:f32,f32:avg_include:n1c16h9w8r3s2:ph1pw0qh0qw1:sh2sw1:dh1dw1
pool:f32,f32:avg_exclude:n1c16h9w8r3s2:ph1pw0qh0qw1:sh2sw1:dh1dw1
batchnorm:f32,f32:1x16x7x7
layernorm:f32,f32:16x64:ax1
layernorm:f32,f32:2x4x8x16:ax2
softmax:f32,f32:soft:1x4x16x16:ax3
softmax:f32,f32:log:4x10x7:ax1
eltwise:f32,f32:relu:1x16x7x7
eltwise:f32,f32:gelu_erf:32x64
eltwise:f32,f32:hard_sigmoid,0.2,0.5:1x16x7x7
eltwise:f32,f32:pow,1,2:100
eltwise:f32,f32:logarithm:100
eltwise:f32,f32:swish,1:100
binary:f32,f32,f32:add:1x16x7x7:1x16x7x7
binary:f32,f32.c,f32:mul:1x16x7x7:16x1x1
binary:f32,f32,f32:div:1x16x7x7:1x16x7x7
binary:f32,f32,f32:sub:1x16x7x7:1
binary:f32,f32,f32:lt:3x1:2x3x4
reduce:f32,f32:mean:1x16x7x7:1x16x1x1
reduce:f32,f32:l2:2x3x4:2x1x4
reduce:f32,f32:rmax:8x32:8x1
concat:f32,f32:1x16x7x7,1x24x7x7:ax1
concat:f32,f32:3x4,5x4,1x4:ax0
concat:f16,f16:3x2x1,3x2x7,3x2x5:ax2
transpose:f32,f32:1x16x4x8:perm0x2x1x3
transpose:f32,f32:5x6x7:perm2x0x1
resample:f32,f32:nearest:n1c16h5w6:oh10ow12
resample:f32,f32:linear:n1c16h5w6:oh9ow7
lrn:f32,f32:across,0.0001,0.75:1x16x7x7:n5
cast:f32,bf16:1x16x7x7
copy:u8,u8:b100000
copy:u8.c,u8:b100
gather:f32.c,s64,f32:500x32:ax0:1x16
gather:f16,s32,f16:2x3x4:ax1:5x6
select:bool,f32,f32,f32:1x1x16x16:1x4x16x16:1
select:bool,s64,s64,s64:4x1:3:4x3
select:u8,u8,u8,u8:3x1x5:1x4x1:5
topk:f32,f32:largest:1x1000:ax1:k5
topk:s64,s64:smallest:7x9x3:ax1:k4
argreduce:f32,s64:argmax:8x100:ax1
argreduce:s32,s32:argmin:4x9x5:ax1
argreduce:u8,s64:argmax:8x100:ax1
argreduce:s8,s32:argmin:4x9x5:ax1
scan:s64,s64:cumsum:1x128:ax1
scan:f32,f32:cumsum:5x128x3:ax1
topk:f16,f16:largest:1x1000:ax1:k5
topk:bf16,bf16:smallest:7x9x3:ax1:k4
argreduce:f16,s64:argmax:8x100:ax1
argreduce:bf16,s32:argmin:4x9x5:ax1
scan:f16,f16:cumsum:1x128:ax1
scan:bf16,bf16:cumsum:5x128x3:ax1
rmsnorm:f32,f32:16x64:ax1
instancenorm:f32,f32:2x8x7x7
groupnorm:f32,f32:2x12x7x7:g3
conv:u8,s8.c,s32/s32:n1c16h14w14k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1
conv:u8,s8.c,u8/s32:n1c64h14w14k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+scale:f32.c+bias:f32.c+relu
conv:u8,s8.c,u8/s32:n1c64h14w14k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+scale:f32.c+bias:f32.c+add:u8+relu
conv:u8,s8.c,s8/s32:n1c16h14w14k16r1s1:ph0pw0qh0qw0:sh2sw2:dh1dw1:g1+scale:f32.c
conv:s8,s8.c,s8/s32:n1c16h14w14k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+scale:f32.c+bias:f32.c
conv:s8,s8.c,f32/s32:n1c16h14w14k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+scale:f32.c+bias:f32.c+sigmoid
conv:s8,s8.c,s32/s32:n1c5h7w9k6r3s2:ph1pw0qh0qw1:sh1sw2:dh2dw1:g1
conv:u8,s8.c,f32/s32:n1c16h14w14k16r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:g16+scale:f32.c+bias:f32.c+clip,0,6
conv:u8,s8.c,u8/s32:n1c16h14w14k16r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:g4+scale:f32.c+bias:f32.c+relu
conv:u8@nxc,s8.c@nxc,u8@nxc/s32:n1c16h14w14k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+scale:f32.c+bias:f32.c
conv:u8,s8.c,u8/s32:n1c16w64k16s3:pw1qw1:sw1:dw1:g1+scale:f32.c+bias:f32.c+relu
conv:u8,s8.c,u8/s32:n1c16d5h6w7k16t3r3s3:pd1ph1pw1qd1qh1qw1:sd1sh1sw1:dd1dh1dw1:g1+scale:f32.c+bias:f32.c+relu
matmul:u8,s8.c,f32/s32:ba1bb1m32n64k48:ta0tb0+scale:f32.c+bias:f32.c
matmul:u8,s8.c,u8/s32:ba1bb1m32n64k48:ta0tb0+scale:f32.c+bias:f32.c+relu
matmul:s8,s8.c,s8/s32:ba1bb1m32n64k48:ta0tb1+scale:f32.c
matmul:s8,s8,s32/s32:ba4bb4m16n24k8:ta0tb1
matmul:u8,s8.c,s32/s32:ba4bb1m16n24k8:ta0tb0
matmul:u8,s8,u8/s32:ba4bb4m16n24k8:ta0tb0+scale:f32.c+add:u8
matmul:u8,s8.c,f32/s32:ba1bb1m128n768k768:ta0tb0+scale:f32+bias:f32.c+gelu_erf
matmul:u8,u8,u8/s32:ba6bb6m40n64k400:ta0tb0+scale:f32.c
matmul:u8,u8.c,f32/s32:ba1bb1m32n64k48:ta0tb1+scale:f32.c+bias:f32.c
conv:u8,u8.c,u8/s32:n1c64h14w14k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+scale:f32.c+bias:f32.c+relu
conv:u8,u8.c,s32/s32:n1c16h14w14k16r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g16
deconv:u8,u8.c,u8/s32:n1c16h14w14k8r2s2:ph0pw0qh0qw0:sh2sw2:dh1dw1:uh0uw0:g1+scale:f32.c+bias:f32.c+relu
deconv:f32,f32.c,f32/f32:n1c16h14w14k8r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:uh1uw1:g1+bias:f32.c+relu
deconv:f32,f32.c,f32/f32:n1c16h14w14k8r2s2:ph0pw0qh0qw0:sh2sw2:dh1dw1:uh0uw0:g1
deconv:f32,f32.c,f32/f32:n2c8h5w6k6r3s2:ph1pw0qh0qw1:sh2sw3:dh1dw2:uh1uw0:g2
deconv:f32,f32,f32/f32:n1c8w10k4s4:pw1qw1:sw2:dw1:uw0:g1
deconv:f32,f32.c,f32/f32:n1c8d3h4w5k4t2r2s2:pd0ph0pw0qd0qh0qw0:sd2sh2sw2:dd1dh1dw1:ud0uh0uw0:g1+bias:f32.c
deconv:f32@nxc,f32.c@nxc,f32@nxc/f32:n1c16h14w14k8r2s2:ph0pw0qh0qw0:sh2sw2:dh1dw1:uh0uw0:g1
deconv:u8,s8.c,u8/s32:n1c16h14w14k8r2s2:ph0pw0qh0qw0:sh2sw2:dh1dw1:uh0uw0:g1+scale:f32.c+bias:f32.c+relu
deconv:s8,s8.c,f32/s32:n1c16h14w14k8r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:uh1uw1:g1+scale:f32.c
deconv:u8,s8.c,s32/s32:n1c16w14k8s3:pw1qw1:sw2:dw1:uw1:g1
rnn:f32,f32.c,f32:lstm:t8n1i5h5d1
rnn:f32,f32.c,f32:lstm:t7n3i10h20d2
rnn:f32,f32.c,f32:gru:t7n3i10h20d1
rnn:f32,f32.c,f32:gru:t7n3i10h20d2
rnn:f32,f32.c,f32:rnn_tanh:t7n3i10h20d2
rnn:f32,f32.c,f32:rnn_relu:t17n3i10h20d2
attention:f32,f32,f32,f32/f32:full:n2hq8hk2lq4lk6d16e8
attention:f32,f32,f32,f32/f32:causal:n1hq4hk4lq33lk40d16e24
attention:f32,f32,f32,f32/f32:causal:n2hq6hk2lq9lk9d16e8
attention:f32,f32,f32,f32/f32:full:n1hq32hk8lq1lk100d32e32
quantize:f32,u8:tensor:1x3x33x35
quantize:f32,s8:axis:5x6x7x8:ax1
quantize:f32,s8:axis:64x9:ax0
quantize:f32@nxc,u8@nxc:tensor:1x3x33x35
quantize:f32@nxc,u8@nxc:axis:1x3x33x35:ax1
dequantize:u8,f32:tensor:1x3x33x35
dequantize:s8,f32:axis:5x6x7x8:ax1
dequantize:s32,f32:axis:1x64x9:ax1
quantize:f32,u8:dynamic:128x77
quantize:f32,u8:block:128x77:ax1:b16
pool:u8,u8:max:n1c16h14w14r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1
pool:s8,s8:avg_include:n1c16h14w14r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1
pool:u8,u8:avg_exclude:n1c16h14w14r7s7:ph0pw0qh0qw0:sh1sw1:dh1dw1
pool:f32,f32:max:n1c16w14s3:pw1qw1:sw2:dw1
pool:f32,f32:avg_include:n1c16d6h7w8t2r2s2:pd0ph0pw0qd0qh0qw0:sd2sh2sw2:dd1dh1dw1
binary:u8,u8,u8:add:1x16x7x7:1x16x7x7
eltwise:s8,s8:relu:1x16x7x7
eltwise:u8,u8:sigmoid:1x16x7x7
eltwise:s8,s8:leaky_relu,0.1:1x3x7x7
eltwise:u8,s8:affine,0.25,-21:1001
eltwise:u8@nxc,u8@nxc:hard_swish:1x16x7x7
eltwise:s8,u8:gelu_erf:999
softmax:u8,u8:soft:1x6x40x400:ax3
softmax:u8,u8:soft:3x10:ax1
softmax:s8,s8:soft:2x10x7:ax1
softmax:s8,u8:soft:2x300x7:ax1
concat:u8,u8:1x16x7x7,1x24x7x7:ax1
conv:f32,f32.c,f32/f32:n1c8w64k8s3:pw1qw1:sw1:dw1:g8+bias:f32.c
conv:f32,f32.c,f32/f32:n1c4d6h6w6k8t3r3s3:pd1ph1pw1qd1qh1qw1:sd2sh2sw2:dd1dh1dw1:g1+bias:f32.c+relu
quantize:f16,s4:block:6x100:ax1:b32
quantize:f16,u4:block:100x7:ax0:b32
quantize:f32,u16:tensor:1001
quantize:bf16,f8e4m3:tensor:999
quantize:f32,s8:dynamic:1000
dequantize:u4,f16:block:64x70:ax1:b32
dequantize:s4,bf16:block:64x7:ax0:b30
dequantize:f8e5m2,f16:tensor:100
rmsnorm:bf16,bf16:16x64:ax1
instancenorm:f16,f16:2x8x7x7
groupnorm:bf16,bf16:2x8x49:g8
PROBLEMS
problems=$i
(export OMP_NUM_THREADS=1 && serve <"$dir/jobs") # with two, they mostly wait for each other: the problems are small
ok $? "a batch of every kernel family"
all_json
ok $? "all of it JSON"
for i in $(seq $problems); do
    problem=$(sed -n "${i}s/.*\"problem\":\"\([^\"]*\)\".*/\1/p" "$dir/jobs")
    grep -q "\"type\":\"done\",\"id\":$i,\"status\":\"ok\"" "$out" &&
        grep -q "\"type\":\"result\",\"id\":$i,.*\"status\":\"ok\"" "$out"
    ok $? "measured: $problem"
done
# Algorithms that are inexact by design are suspect, and only those: oneDNN's 8-bit Winograd (src/runner/verify/tolerance.c).
grep '"type":"result"' "$out" | grep -v '"status":"ok"' |
    grep -v '"name":"jit_int8_wino.*"notes":"[^"]*approximate".*"status":"mistrusted"' >"$dir/failed"
[ ! -s "$dir/failed" ]
ok $? "no algorithm of them failed"
! grep '"type":"result"' "$out" | grep '"notes":"[^"]*approximate"' | grep '"status":"ok"' | grep -q -v '"stop":"shortlist"'
ok $? "no time of an approximate algorithm is measured in full"

# --- correctness: outputs of two threads against reference values ---
serve --check <"$dir/jobs"
ok $? "the outputs of every kernel family are checked"
cp "$out" "$dir/checks"
for i in $(seq $problems); do
    problem=$(sed -n "${i}s/.*\"problem\":\"\([^\"]*\)\".*/\1/p" "$dir/jobs")
    grep "\"type\":\"check\",\"id\":$i,\"problem\"" "$dir/checks" >"$out"
    grep -q '"status":"ok"' "$out" && ! grep -v '"status":"ok"' "$out" |
        grep -q -v '"name":"jit_int8_wino:.*"notes":"[^"]*approximate".*"status":"mistrusted"'
    ok $? "right: $problem"
done

# A root or logarithm in a chain: the operands' values keep every step inside its domain.
for problem in eltwise:f32,f32:logarithm:1000+sqrt eltwise:bf16,bf16:affine,-1,1:1000+sqrt \
    eltwise:f32,f32:logarithm:1000+affine,-1,0+logarithm binary:f32,f32,f32:sub:100:100+sqrt \
    reduce:f32,f32:mean:10x10:10x1+logarithm+sqrt; do
    "$runner" --check --problem "$problem" >"$out" 2>"$err" && grep -q '^good' "$out" && ! grep -q '^WRONG' "$out"
    right=$?
    case $problem in # oneDNN has no bf16 of most kernels below AVX-512
    *bf16*) [ $right -eq 0 ] || grep -q 'unsupported: oneDNN [0-9.]* on avx2 has no' "$err"; right=$? ;;
    esac
    ok $right "right: $problem"
done

# Sums as products with ones are one more algorithm, behind the library's own.
for one in reduce:f32,f32:mean:40x100:40x1 reduce:f32,f32:sum:40x100:1x100 \
    pool:f32@nxc,f32@nxc:avg_include:n2c32h7w7r7s7:ph0pw0qh0qw0:sh1sw1:dh1dw1 \
    scan:f32,f32:cumsum:40x60:ax1; do
    run_line 1 "$one" | serve --check
    has '"name":"ones_[a-z]*:[^"]*".*"status":"ok","worst"' "right as a product with ones: $one"
    list_line 1 "$one" | serve
    grep '"type":"algorithm"' "$out" | head -n 1 | grep -q -v '"name":"ones_'
    ok $? "which is not the first choice"
done
run_line 1 reduce:f32,f32:rmax:40x100:40x1 | serve --check
hasnt '"name":"ones_' "an extreme value is no product"

# --- for a person ---
"$runner" --problem "$conv" --budget-ms 2 >"$out" 2>"$err"
ok $? "--problem measures"
has '^rank  algorithm' "and prints a table"
has 'net   amortized' "of states"
"$runner" --problem "matmul:f32,f32,f32/f32:ba1bb1m1500n1500k1500:ta0tb0" --budget-ms 1 --launch isolated >"$out" 2>"$err"
has '(.* \.\. .*)  *3 \(budget\|disturbed\)' "three samples have a range"
"$runner" --problem "$conv" --budget-ms 2 --json >"$out" 2>"$err"
all_json
ok $? "--json prints lines of JSON"
"$runner" --info >"$out" 2>"$err"
has '^stack  *oneDNN' "--info"
cpu=$(python3 -c "import os; print(min(os.sched_getaffinity(0)))")
OMP_PROC_BIND=close OMP_PLACES="{$cpu}" OMP_NUM_THREADS=2 "$runner" --info >"$out" 2>"$err"
has '2 threads bound to 1 core, strict' "threads that share a core are not reported as one a core"
OMP_PROC_BIND=close OMP_PLACES="{$cpu}" OMP_NUM_THREADS=1 "$runner" --info >"$out" 2>"$err"
has '1 thread bound one a core, strict' "a thread with its own core is"
OMP_NUM_THREADS=1 "$runner" --threads 2 --info >"$out" 2>"$err"
has '^threads  *2' "--threads overrides the environment"
check_options "--threads 0" "--device cuda:0" "--plan x"

# --- answers in a file ---
check_batch run_line
file=$dir/states
run_line 1 "$conv" | sed 's/}/,"caches":["net"],"launches":["isolated"]}/' >"$dir/one"
serve --output "$file" <"$dir/one"
run_line 2 "$conv" | serve --output "$file"
grep -q '"type":"done","id":2,"status":"ok","why":"","caches":\["net","warm"\],"launches":\["amortized","isolated"\]' "$file"
ok $? "states that were not measured are measured"
list_line 3 "$conv" | serve --output "$file"
grep -q '"type":"algorithm","id":3' "$file"
ok $? "a measured problem can be listed"
run_line 4 "$conv" | serve --output "$file"
! grep -q '"id":4' "$file"
ok $? "and is not measured again"
printf '{"type":"run","id":1,"problem":"%s"}\n' "$conv" | serve --budget-ms 1 --cache warm --launch isolated
has '"caches":\["warm"\],"launches":\["isolated"\]' "the command line gives the defaults of jobs"
run_line 1 "$conv" | sed 's/}/,"caches":["net"],"launches":["amortized"]}/' | serve --cache warm --launch isolated
has '"caches":\["net"\],"launches":\["amortized"\]' "and does not override them"
run_line 1 "$conv" | serve --budget-ms 1 --algorithms 1
[ "$(sed -n 's/.*"type":"result".*"api":"\([^"]*\)","name":"\([^"]*\)".*/\1 \2/p' "$out" | sort -u | wc -l)" -eq 1 ]
ok $? "--algorithms 1 measures one"

# --- checks of many problems ---
"$runner" --check --problem cast:bool,f32:64x64 >"$out" 2>"$err" && ! grep -q '^WRONG' "$out"
ok $? "right: a cast from bool"
for type in bool u8 s8 s32 bf16; do
    "$runner" --check --problem transpose:$type,$type:3x64x65:perm1x2x0 >"$out" 2>"$err" && ! grep -q -e '^WRONG' -e '^not checked' "$out"
    ok $? "right: a transpose of $type"
done
"$runner" --check --problem cast:s32,bool:64x64 >"$out" 2>"$err"
grep -q 'unsupported: oneDNN has no conversion to bool' "$err"
ok $? "a cast to bool is not replaced by one to u8"

# --- one thread, where starting several takes longer than the work ---
run_line 1 eltwise:f32,f32:pow,1,3:1x1x3072 | serve --check
has '"api":"plain C","name":"eltwise:2_threads",.*"status":"ok","worst"' "a cube is computed by products"
for types in f16,f32 f32,f16 bf16,f16; do
    run_line 1 "cast:$types:3x700" | serve --check
    has '"api":"plain C","name":"cast:2_threads",.*"status":"ok","worst"' "a cast $types by lines"
done
run_line 1 eltwise:f32,f32:pow,1,2.5:1x1x3072 | serve --check
grep -q '"type":"check","id":1' "$out" && ! grep -q '"api":"plain C"' "$out"
ok $? "other powers are the library's"

for one in eltwise:f32,f32:gelu_tanh:1x1x3072 binary:f32,f32,f32:add:1x768:1x768 layernorm:f32,f32:1x768:ax1 \
    softmax:f32,f32:soft:12x129:ax1 concat:f32,f32:1x8,1x8:ax1 \
    matmul:f32,f32,f32/f32:ba12bb12m1n64k16:ta0tb0 \
    conv:f32,f32.c,f32/f32:n1c8h4w4k8r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+relu \
    gather:f32.c,s64,f32:500x768:ax0:1x1 select:bool,f32,f32,f32:129:129:129 \
    topk:f32,f32:largest:1x1000:ax1:k5 quantize:f32,u8:dynamic:1x768; do
    run_line 1 "$one" | serve --check
    has '"name":"[^"]*:1_threads*",.*"status":"ok","worst"' "right on one thread: $one"
done
{ run_line 1 eltwise:f32,f32:relu:1024x1024; run_line 2 gather:f32,s64,f32:1024x1024:ax0:1000; } |
    serve --check
grep -q '"type":"check","id":2' "$out" && ! grep -q ':1_thread' "$out"
ok $? "large problems run on all threads only"
run_line 1 eltwise:f32,f32:relu:64 | OMP_NUM_THREADS=1 "$runner" --check >"$out" 2>"$err"
grep -q '"type":"check","id":1' "$out" && ! grep -q ':1_thread"' "$out"
ok $? "a machine of one thread has no second list"

{ run_line 1 "$conv"; list_line 2 "$relu"; run_line 3 "nonsense:1"; } | serve --check --algorithms 2
ok $? "--check takes jobs"
[ "$(grep -c '"type":"check","id":1,.*"status":"ok","worst":[0-9e.-]*,"allowed":[0-9e.-]*,"why":""' "$out")" -le 2 ] &&
    grep -q '"type":"check","id":2,"problem":"eltwise' "$out"
ok $? "one line per algorithm, up to the limit"
all_json
ok $? "all of it JSON"
echo "1..$count"
