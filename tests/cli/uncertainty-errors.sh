# what uncertainty refuses
run() { echo "+ uncertainty $*" >&2; "$MBGRAD" uncertainty "$@" >out; echo "status $?"; }
run five-bar
run five-bar --spread 5
run five-bar --spread k1=-5%
run five-bar --spread k9=5%
run five-bar --spread k1=x
run five-bar --spread k1=5% --uniform k9
run five-bar --spread k1=5% --correlation k1=0.5
run five-bar --spread 5% --correlation k1,k2=1.5
run five-bar --spread 5% --correlation k1,k2=0.5 --uniform k1 --step 0.05
run five-bar --spread 5% --correlation k1,k2=0.9 --correlation k2,m1=0.9 --correlation k1,m1=-0.9 --step 0.05
run five-bar --spread k1=5% --limit psi=1
run five-bar --spread k1=5% --limit psi=2:1
run five-bar --spread k1=5% --limit phi=1:2
run five-bar --spread k1=5% --out samples.csv
run five-bar --spread k1=5% --samples none
run five-bar --spread k1=5% --samples 20000000
printf 'k1,m2\n25,1.25\n' >one-row.csv
run five-bar --covariance one-row.csv
printf 'k1,m2\n25,1.25\n1.25,-1\n' >negative.csv
run five-bar --covariance negative.csv
printf 'k1,m2\n25,1.25\n2,1\n' >lopsided.csv
run five-bar --covariance lopsided.csv
run five-bar --covariance none.csv
run simple-pendulum --spread 5% --integrator bdf
echo '{ "mbgrad": 1, "parameters": { "k": { "value": 1, "deviation": -1 } }, "run": { "end": 1, "step": 0.5 } }' >model.json
run model.json
run five-bar --spread k1=1e300 --step 0.05 --end 0.2
