# what sweep refuses
run() { echo "+ sweep $*" >&2; "$MBGRAD" sweep "$@" >out; echo "status $?"; }
run five-bar
run five-bar --vary L1=1:2:3
run five-bar --vary L01=1:2
run five-bar --vary L01=1:x:3
run five-bar --vary L01=1:2:0
run five-bar --vary L01=1,,2
run five-bar --vary L01=1:2:3 --vary L01=5
run five-bar --vary L01=1,2 --random 3
run five-bar --vary L01=1:2:30000 --vary L02=1:2:30000
run five-bar --vary L01=1:2:3 --criteria psi,phi
run five-bar --vary L01=1:2:3 --jobs none
run five-bar --vary L01=1:2:2 --end 0.1 --out no/such/folder.csv
echo '{ "mbgrad": 1, "parameters": { "k": 1 }, "criteria": {}, "run": { "end": 1, "step": 0.5 } }' >model.json
run model.json --random 3 --vary k
run model.json --random 3 --vary k=1:2
run five-bar --vary L01=-1e308:1e308:3
