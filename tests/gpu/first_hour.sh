#!/bin/sh
# One command for a bare machine with a GPU: finds the runner and CUDA's libraries, takes up the last tar,
# runs smoke, then the other tiers until the time is up, and packs everything into the tar.
#
#   first_hour.sh [--minutes N] [--tar FILE] [--out FOLDER] [option of check_gpu.py]...
#
# N is 55, FILE benanza-gpu-results.tar.gz, FOLDER gpu-results beside it, or in $TMPDIR or /tmp if the tar
# lies in $OUT, of which a lent machine returns a few files. Needs sh, tar and Python 3 without packages; no
# root, no network. The same command continues, also on another machine with the tar alone. The last line
# names the exit status: 0 passed, 1 failed, 2 nothing could be run, 3 time is up.
set -u
here=$(cd "$(dirname "$0")" && pwd)
minutes=55 tar=benanza-gpu-results.tar.gz out= runner=${RUNNER:-}

die() { echo "first_hour.sh: $*" >&2; exit 2; }

# Options taken here; the rest stays in "$@".
n=$#
while [ "$n" -gt 0 ]; do
    word=$1
    shift
    n=$((n - 1))
    case $word in
    --minutes | --tar | --out | --runner)
        [ "$n" -gt 0 ] || die "$word needs a value"
        case $word in
        --minutes) minutes=$1 ;;
        --tar) tar=$1 ;;
        --out) out=$1 ;;
        --runner) runner=$1 ;;
        esac
        shift
        n=$((n - 1))
        ;;
    -h | --help)
        sed -n '2,10s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *) set -- "$@" "$word" ;;
    esac
done
[ -n "$out" ] || case $tar in
"${OUT:-/dev/null}"/*) out=${TMPDIR:-/tmp}/gpu-results ;;
*) out=$(dirname "$tar")/gpu-results ;;
esac
python=${PYTHON:-$(command -v python3)} || die "no python3 in PATH; set PYTHON"

for place in "$here" "$here/../../build" "$here/../.." .; do
    [ -z "$runner" ] && [ -x "$place/benanza-runner-cuda" ] && runner=$place/benanza-runner-cuda
done
[ -n "$runner" ] || runner=$(command -v benanza-runner-cuda) ||
    die "no benanza-runner-cuda beside this script, in build/ or in PATH; give --runner PROGRAM"

# The libraries of Python wheels (nvidia/cudnn/lib, nvidia/cu13/lib ...) and of toolkits, for the runner
# alone: PyTorch has its own.
libraries=$("$python" - 2>/dev/null <<'END'
import glob, os, site, sys, sysconfig
folders = [*sys.path, *site.getsitepackages(), site.getusersitepackages(), sysconfig.get_paths()["purelib"]]
seen = dict.fromkeys(os.path.realpath(f) for f in folders if f and os.path.isdir(f))
wheels = [lib for f in seen for lib in sorted(glob.glob(os.path.join(f, "nvidia", "*", "lib")))]
roots = [os.environ.get("CUDA_HOME", ""), "/usr/local/cuda", *sorted(glob.glob("/usr/local/cuda-1*"))[::-1]]
toolkits = [os.path.join(root, "lib64") for root in roots]
print(":".join(lib for lib in dict.fromkeys(wheels + toolkits) if glob.glob(os.path.join(lib, "*.so*"))))
END
) || libraries=
echo "# runner $runner"
echo "# libraries $libraries"

# The jobs of the bundled models, in the order of their value.
jobs=
for folder in "$here/gpu-jobs" "$here/../../build/gpu-jobs" gpu-jobs; do
    [ -z "$jobs" ] && [ -f "$folder/order.txt" ] &&
        jobs=$(sed "s|^|$folder/|" "$folder/order.txt")
done
[ -n "$jobs" ] || echo "# no gpu-jobs/order.txt (make gpu-jobs): nothing is recorded"

case " $* " in
*" --jobs "*) ;;
*)
    old=$IFS
    IFS='
'
    set -f
    # shellcheck disable=SC2086
    [ -z "$jobs" ] || set -- "$@" --jobs $jobs
    set +f
    IFS=$old
    ;;
esac
exec "$python" "$here/check_gpu.py" --runner "$runner" --need-device --minutes "$minutes" --tar "$tar" \
    --libraries "$libraries" --out "$out" "$@"
