# what would need more memory or time than there is, is refused with the number that it would need; not under sanitizers
run() {
  timeout 60 "$MBGRAD" "$@"
  echo "status $?"
}
run control overhead-crane --samples 1e9
run simulate quarter-car --interval 1e-9
run simulate quarter-car --interval 1e-9 --formulation qr
run simulate quarter-car --step 1e-12
run simulate quarter-car --end 1e15
run sweep quarter-car --vary p1=1:2 --random 1e9
run sweep quarter-car --vary p1=1:2:1e7 --vary p2=1:2:3
run optimize quarter-car-design --starts 1e9
run identify noisy-pendulum --starts 1e9
sed 's/"path": "F"/"path": "F", "every": 1e-9/' "$SRC/gallery/quarter-car/model.json" >model.json
run gradient model.json
echo "a limit of memory"
ulimit -v 300000
run simulate quarter-car --step 2e-8 --quiet
run gradient quarter-car --step 2e-8
run sweep quarter-car --vary p1=10000:20000 --random 1e7
