# bench/instructions with a stand-in for callgrind, whose profile gives the program a chosen count
mkdir bin
cat >bin/valgrind <<'SCRIPT'
#!/bin/sh
COUNT=$(cat "${0%/*}/count")
for word in "$@"; do
  case $word in
  --callgrind-out-file=*) file=${word#*=} ;;
  *) if [ -z "$program" ] && [ "${word#-}" = "$word" ]; then program=$word; fi ;;
  esac
done
if [ "$COUNT" = stops ]; then
  echo "no such model" >&2
  exit 2
fi
cat >"$file" <<PROFILE
version: 1
events: Ir
ob=(1) /lib/ld.so
fn=(1) start
0 77
cob=(2) $program
calls=1 0
0 123456
ob=(2)
fn=(2) main
12 $((COUNT - 5))
cob=(1)
calls=3 0
12 777
13 5
PROFILE
SCRIPT
chmod +x bin/valgrind
export PATH="$PWD/bin:$PATH"
guard() { # count, options
  echo "$1" >bin/count
  shift
  echo "\$ bench/instructions $*"
  "$SRC/bench/instructions" "$MBGRAD" --file counts.tsv "$@" 2>&1 | sed -E 's/^  (counts|program)  .*/  \1 COMPILER/'
  echo "status ${PIPESTATUS[0]}"
}
two=qr-five-bar-simulate,qr-five-bar-gradient
guard 1000000 --update --only $two
grep -v '^# compiler' counts.tsv
guard 1029000 --only $two
guard 1031000 --only $two
guard 950000 --only $two
guard 950000 --only check-vehicle
guard 2000000 --update --only check-vehicle
cut -f 1 counts.tsv | grep -v '^#'
guard 0 --only no-such
guard stops --only $two
sed -i 's/^# compiler: .*/# compiler: another one/' counts.tsv
guard 1000000 --only $two
PATH=/nowhere "$(python3 -c 'import sys; print(sys.executable)')" "$SRC/bench/instructions" "$MBGRAD"
echo "status $?"
"$SRC/bench/instructions" nothing/here 2>&1
echo "status $?"
"$SRC/bench/instructions" --list | wc -l
