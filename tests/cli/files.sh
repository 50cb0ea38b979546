# an output file takes the place of the former one when it is complete, and the former one is kept as FILE~
run() {
  "$MBGRAD" simulate quarter-car --end 0.1 --quiet "$@"
  local status=$?
  [ $status = 0 ] || echo "status $status"
}
all=(--out run.csv --plot run.svg --state state.json)
run "${all[@]}"
run --out run.h5
sha1sum run.* state.json >first
echo "again: nothing changes, nothing is kept"
sleep 1.1
run "${all[@]}"
run --out run.h5
ls
echo "another run: the former files are kept, also through a link"
mv state.json elsewhere.json
ln -s elsewhere.json state.json
run "${all[@]}" --set p1=11000
run --out run.h5 --set p1=11000
sed 's/state.json/elsewhere.json/; s/$/~/' first | sha1sum -c
sha1sum -c first 2>/dev/null
readlink state.json
echo "a limit of file sizes, a full device, a closed pipe, a folder that cannot be written: the former file is intact"
sha1sum run.* elsewhere.json* >second
(ulimit -f 1; run --out run.csv --step 1e-3; run --plot run.svg --step 1e-3; run --out run.h5 --step 1e-3)
ln -s /dev/full full.csv
ln -s /dev/full full.json
run --out full.csv
run --state full.json
"$MBGRAD" simulate quarter-car --step 1e-5 --out - --end 0.3 | head -1
echo "status ${PIPESTATUS[0]}"
run --out /proc/self/run.csv 2>/dev/null
sha1sum -c --quiet second
ls
echo "what a killed run left behind is removed by the next one, what a living one writes is not"
touch -d yesterday "run.csv.999999-0.tmp" "run.csv.$$-0.tmp" "run.csv.999999-0.txt"
run "${all[@]}"
ls run.csv* | sed "s/$$/PROCESS/"
