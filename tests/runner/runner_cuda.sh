#!/bin/sh
# The CUDA runner as a program, planning for described GPUs: the protocol, options, files of answers; and what it says where
# there is no GPU. Measuring is proved on a machine with one (make check-gpu). TAP.
program=benanza-runner-cuda
top=${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
machine="--plan $top/data/devices/h100.json"
. "$top/tests/lib/runner.sh"
"$runner" $machine --info >"$out" 2>"$err"
if ! grep -q '^stack .*cuDNN.*cuBLASLt' "$out"; then
    echo "1..0 # SKIP cuDNN or cuBLASLt cannot be loaded here"
    exit 0
fi
conv16=conv:f16@nxc,f16.c@nxc,f16@nxc/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1
gemm=matmul:f16,f16.c,f16/f32:ba1bb1m128n768k768:ta0tb0

check_protocol
check_options "--threads 2" "--plan" "--plan x --device 0" "--check --plan x" "--cache net,hot"
serve --compile-threads 65 --info
[ $? -eq 2 ] && grep -q "0 to 64" "$err"
ok $? "--compile-threads has a limit"
check_batch list_line
check_batch run_line

# --- planning ---
run_line 1 "$conv16" | serve
has '"type":"algorithm","id":1,.*"matrix":"yes"' "a job to run is answered with what would run"
has '"type":"done","id":1,"status":"unsupported","why":"planned only: there is no device","problem":"conv' "and that it cannot"
hasnt '"type":"result"' "without a result"
serve --problem "$conv16"
has '^   0  ' "--problem lists"
hasnt 'median' "and does not measure"
serve --problem "$gemm" && grep -q 'not in this list: .*cuBLASLt cannot be asked without a GPU' "$err"
ok $? "and says which library it could not ask"
serve --problem reduce:f16,f16:mean:64x1024:64x1 && grep -q 'cuBLASLt cannot be asked' "$err" &&
    serve --problem reduce:f16,f16:rmax:64x1024:64x1 && ! grep -q 'cuBLASLt' "$err"
ok $? "of sums, but not of maxima, which are no products"
run_line 1 "$conv16" | sed 's/}/,"caches":["cold"]}/' | serve
has '"type":"done","id":1,"status":"unsupported","why":"planned only' "cold caches can be asked for"

for device in "$top"/data/devices/*.json; do
    machine="--plan $device"
    { list_line 1 "$conv16"; list_line 2 "$gemm"; } | serve
    grep -q '"type":"done","id":1' "$out" && grep -q '"type":"done","id":2' "$out"
    ok $? "plans for ${device##*/}"
done

# --- what is missing ---
machine=
echo '{"name":"half a device"}' >"$dir/half.json"
sed 's/"sm": 90/"sm": 80/' "$top/data/devices/h100.json" >"$dir/two-generations.json"
sed 's/"multiProcessorCount": 132/"multiProcessorCount": "132"/' "$top/data/devices/h100.json" >"$dir/text-for-a-number.json"
sed "s/\"deviceName\": \"/&$(printf '%01000d' 0)/" "$top/data/devices/h100.json" >"$dir/long-name.json"
sed '/warpSize/d; s/\("totalGlobalMem": [0-9]*\),/\1/' "$top/data/devices/h100.json" >"$dir/no-warp-size.json"
for bad in "$dir"/*.json "$dir/none.json" "$top/README.md"; do
    [ "$bad" = "$file" ] && continue
    serve --plan "$bad" </dev/null
    [ $? -eq 3 ] && [ ! -s "$out" ] && [ "$(wc -l <"$err")" -eq 1 ] && grep -q "${bad##*/}" "$err"
    ok $? "no description of a device: ${bad##*/}"
done
if [ ! -e /dev/nvidiactl ] && [ ! -e /dev/dxg ]; then
    serve </dev/null
    [ $? -eq 3 ] && [ ! -s "$out" ] && [ "$(wc -l <"$err")" -eq 1 ] && grep -q 'benanza -d h100 MODEL' "$err"
    ok $? "no GPU: one line that says what to do, status 3"
    serve --device 7 --info
    [ $? -eq 3 ] && [ "$(wc -l <"$err")" -eq 1 ]
    ok $? "for a chosen one too"
fi
readelf -d "$runner" 2>/dev/null >"$out"
hasnt 'NEEDED.*\(cudnn\|cublas\|libcuda\|nvidia\|cupti\|stdc\|jansson\)' "it can be copied alone: no such library is linked"
readelf --dyn-syms -W "$runner" 2>/dev/null >"$out"
hasnt 'arc4random' "nor a function of the newest C library, which only libstdc++ would use"
echo "1..$count"
