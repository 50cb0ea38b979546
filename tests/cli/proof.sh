# proof of a gradient, for readers: what rounding decides is left out
clean() { sed -E 's/agree to [0-9.e-]+/agree to X/; s/reaches [0-9.e-]+/reaches X/; s/\(relative step [0-9.e-]+\)/(relative step H)/'; }
"$MBGRAD" check quarter-car --gradient --plot proof.svg >out 2>/dev/null
echo "status $?"
tr -s '\n ' ' ' <out | grep -oE '[A-Za-z0-9_]+ gradient proven exact for|steps (small enough|TOO LONG)'
sed -n '/proof of the gradient/p; /other formulation/,$p' out
tr -s '\n ' ' ' <out | grep -oE '[A-Za-z0-9_]+ gradient proven exact for these steps: slope [0-9.]+ over [0-9]' | sed -E 's/slope (1\.9|2\.0)[0-9]/slope 2/; s/over [3-9]/over 3 or more/'
# direct and adjoint in all digits, finite differences in six
awk '/^psi0 =/, /^$/' out | awk 'NF == 5 && $2 ~ /^[-0-9]/ { printf "%s %.6g %.6g %.6g\n", $1, $2, $3, $4; next } { print }'
# remainders of the larger steps
awk '/^  eps/ { n = 5 } n-- > 0' out | sed -n 1,5p
python3 -c 'import xml.etree.ElementTree as ET; print(len([e for e in ET.parse("proof.svg").getroot().iter() if e.get("class") == "d"]))'
