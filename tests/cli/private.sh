#!/bin/sh
# What others could read or run: folders and files of state, fields of CSV, pipes in place of files.
. "${abs_srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lib/tap.sh"
. "$top/tests/lib/words.sh"

umask 022
HOME=$work/home
export HOME
unset XDG_STATE_HOME
mkdir "$HOME"
try 0 "a log" bz layers -v "$models/tiny.onnx"
[ "$(stat -c %a "$HOME/.local/state/benanza")" = 700 ]
ok $? "the state folder is the user's alone"
[ "$(stat -c %a "$HOME/.local/state/benanza/log")" = 600 ]
ok $? "and so is the log"

# a name that some spreadsheets split at ; or a tab, behind which a formula would begin
PYTHONPATH=$top/tests/lib python3 -c "
from onnx_wire import *
import sys
names = ['a;=1+1', 'b\t=1+1', '=1+1', 'plain', 'c\'d']
nodes = [node('Relu', ['x'], ['y%d' % i], name=name) for i, name in enumerate(names)]
sys.stdout.buffer.write(model(graph(nodes, [value_info('x', [1, 4])], [value_info('y0', None)])))" >names.onnx
try 0 "layers with formulas" bz layers --csv names.onnx
for field in '"a;=1+1"' "\"'=1+1\"" 'plain' "\"c'd\""; do
    grep -qF ",$field," out
    ok $? "is written as $field"
done

mkfifo pipe.json
timeout 20 "$BENANZA" bound -d pipe.json --db none.db "$models/tiny.onnx" >out 2>err </dev/null
[ $? -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && grep -q 'pipe.json: not a file' err
ok $? "a pipe as a description is refused"
done_testing
