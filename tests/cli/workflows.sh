#!/bin/sh
# The keys of WORKFLOWS in the manual page do what it says: on the results of --tour, on a described device.
. "${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
printf 'measure: never\nrunners:\n  cuda: [sh, -c, "exit 3"]\n' >"$work/config.yaml"
"$BENANZA" db import -q --db "$work/tour.db" "$top/data/tour/resnet50.jsonl.gz"
# flow MODEL DEVICE KEYS TEXT...: the last screen has the texts
flow() {
    model=$1 device=$2 pressed=$3
    shift 3
    try 0 "$pressed" "$BENANZA" -q -c "$work/config.yaml" --db "$work/tour.db" -d "$device" \
        "$top/data/models/$model.onnx" --frame 80x24 --keys "$pressed"
    for text; do
        says out "$text"
    done
}
flow resnet50 1 's' "sorted by cost" "layer4.0/conv2"
flow resnet50 1 's Enter' "[2] Detail" "/layer4/layer4.0/conv2/Conv"
flow resnet50 1 's Enter ga' "[ga] Algorithms" "brgconv"
flow resnet50 1 '$f' "layers by the saving of fusion" "layer1.0/conv3"
flow resnet50 1 '$l' "layers by the saving of launch"
flow resnet50 1 '$f f' "FUSION" "fused"
flow resnet50 1 'gy . Enter' "62/175" "costliest first"
flow resnet50 1 'gy 4. j Enter' "121/175" "costliest first"
flow resnet50 1 'gy 4. j Enter Esc' "all 175 layers known"
flow resnet50 1 '& bound:memory Enter' "121/175"
flow resnet50 1 '& scope:layer4 Enter' "32/175"
flow resnet50 1 'p gt n' "[gt] Timeline" "on the critical path"
flow resnet50 1 'p ]c' "/bn1/BatchNormalization"
flow resnet50 1 'gr' "[gr] Roofline"
flow resnet50 1 'A T 30ms Enter' "Target 30.0 ms: reached"
flow resnet50 1 'A T 5ms Enter' "Target 5.00 ms: not reached"
flow resnet50 1 'A Space' "PARALLEL"
flow resnet50 1 'A j Space' "FUSION"
flow resnet50 1 'A j Enter' "is:marked" "layers are marked; U removes the marks, A returns"
flow resnet50 1 '$f f l zU' "what-ifs as in options and configuration: algorithm,launch" "fusion -"
flow resnet50 1 'f p u' "FUSION" "parallel -"
flow resnet50 1 'ge' "[ge] Reality" "slower algorithms"
flow resnet50 1 'gq' "[gq] Queue"
flow resnet50 h100 'gw' "[gw] Sweep" "*32 f32"
flow resnet50 h100 'gw j Enter' "batch 2"
flow resnet50 h100 't m r' "bf16"
flow bert_base h100 'd 512 Enter' "sequence 512"
flow bert_base h100 ': text:dim Space sequence=512 Enter' "sequence 512"
flow resnet50 h100 'D / l40s Enter V gs' "[gs] Scenarios" "H100" "l40s" "~-260 us"
cd "$work" || exit 1
flow resnet50 1 ': text:w Space report.html Enter' "wrote report.html"
[ -s "$work/report.html" ]; ok $? "a report"
done_testing
