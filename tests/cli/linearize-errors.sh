# what linearize refuses
try() { "$MBGRAD" linearize "$@"; echo "status $?"; }
try five-bar --at rest
try five-bar --inputs mass
try five-bar --outputs x9
try five-bar --coordinates A,1,B
try five-bar --coordinates A,A
try five-bar --coordinates crank
try five-bar --by k9
try five-bar --locus k1=1:2
try five-bar --locus k1 --plot x.svg
try five-bar --locus k9=1:2 --plot x.svg
try five-bar --locus k1=2:1 --plot x.svg
try five-bar --plot x.svg
try five-bar --bode x.svg --inputs k1 --frequencies 3
try five-bar --bode x.svg
try five-bar --out x.txt
try five-bar --at -1
try overhead-crane
try rotating-beam --at steady
