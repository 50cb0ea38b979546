# each ends with status 2 and says what would be right
try() { "$MBGRAD" "$@"; echo "status $?"; }
try check
try check five-bar four-bar
try check five-bar --json=yes
try check five-bar --json --json
try check five-bar --set
try check five-bar --set k1
try check five-bar --set k1=stiff
try check five-bar --set k3=1
try check five-bar --set mass=1
try check five-bar -z
try check five-bar --frobnicate
