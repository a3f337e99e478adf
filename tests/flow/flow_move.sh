#!/bin/sh
# A flow: open the bundled ResNet-50, move, search, filter, sort, leave.
. "${abs_srcdir:-$(dirname "$0")/../..}/tests/lib/tap.sh"
. "$top/tests/lib/screen.sh"
. "$top/tests/lib/explorer.sh"

explore 80 24 "'$resnet'"
see "resnet50.onnx  batch 1  f32"
see "Gate 1, " "the runner is up"
see "bound unknown yet"
see "b measure"
keys G
see "Gemm" "the end of the model"
keys g
see "conv1"
keys 3 j
see "/maxpool/MaxPool  not measured" "a count"
gone "[3] What-if" "is not a view"
keys 3
see "[3] What-if" "a digit alone is one"
keys 1
see "[1] Layers"
keys z
see "o fold-open" "what may follow z"
keys o
see "no layers inside this one" "zo"
keys g
keys /
typed layer3.5
see "/layer3.5" "the search is shown while it is typed"
see "layer3.5" "and followed"
keys Enter
gone "Enter accepts"
keys Enter
see "[2] Detail" "Enter opens details"
keys G
see "strides" "with the attributes"
keys Escape
see "[1] Layers" "Esc goes back"
keys "&"
typed maxpool
keys Enter
see "rows match \"maxpool\"" "a filter"
keys Escape
keys s
see "sorted by cost"
keys s s
see "sorted by name"
keys g
keys "&"
typed "op=Conv cost>1"
see "\"1\" is not a number with a unit: cost>1ms" "a bad term is said while it is typed"
keys C-u
typed "op=MaxPool"
keys Enter
see "1 of 175 rows match" "a filter by a term"
keys Escape
gone "1/175" "and without"
keys z M
see "32 layers" "zM closes the scopes"
keys /
typed layer3.2/conv2
keys Enter
see "layer3.2/conv2  " "a search opens the scope of what it finds"
keys C-o
see "/maxpool/MaxPool  not measured" "^O comes back"
keys "]" u
gone "/maxpool/MaxPool  not measured" "]u goes to the next layer without a cost"
keys '"' q G "'" q
gone "Gemm  not measured" "a mark"
keys V
see "b measure marked (1)" "V marks a layer for b"
keys U
see "1 mark removed" "U removes the marks"
keys zR "|" "|"
see "flops    bytes" "other columns"
keys q
left 0
done_testing
