# Runs one case of the program: bash run.sh CASE.sh
#
# CASE.sh is run by bash in an empty temporary folder with MBGRAD (the program; default: build/mbgrad) and SRC (the
# source tree; default: the tree of this file) set. Beside it lie CASE.out (expected stdout), CASE.err (expected stderr; none: empty), CASE.status (exit status; none: 0).
# Text is compared as it is; the path of the source tree reads as $SRC. With UPDATE=1 the expected files are written.
set -u
unset MBGRAD_GALLERY NO_COLOR
export LC_ALL=C.UTF-8 # the order of ls and sort

export SRC=${SRC:-$(realpath "$(dirname "$0")/../..")}
MBGRAD=$(realpath -e "${MBGRAD:-$SRC/build/mbgrad}") || exit 2
export MBGRAD
case_file=$(realpath -e "$1") || exit 2
stem=${case_file%.sh}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/work"

(cd "$tmp/work" && bash "$case_file" >"$tmp/raw.out" 2>"$tmp/raw.err" </dev/null)
status=$?
for stream in out err; do
  text=$(cat "$tmp/raw.$stream"; echo .)
  text=${text%.}
  printf '%s' "${text//"$SRC"/\$SRC}" >"$tmp/got.$stream"
done

if [ "${UPDATE:-}" = 1 ]; then
  cp "$tmp/got.out" "$stem.out"
  rm -f "$stem.err" "$stem.status"
  if [ -s "$tmp/got.err" ]; then cp "$tmp/got.err" "$stem.err"; fi
  if [ $status != 0 ]; then echo $status >"$stem.status"; fi
  exit 0
fi

failed=0
for stream in out err; do
  expected=$stem.$stream
  [ -e "$expected" ] || expected=/dev/null
  diff -u --label "expected $stream" --label "got $stream" "$expected" "$tmp/got.$stream" || failed=1
done
expected=0
if [ -e "$stem.status" ]; then expected=$(cat "$stem.status"); fi
if [ $status != "$expected" ]; then
  echo "exit status $status, expected $expected"
  failed=1
fi
exit $failed
