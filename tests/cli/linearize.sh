# linear models: tables, zeros, derivatives, files and plots
"$MBGRAD" linearize five-bar
echo "== a crane about its start, with zeros"
"$MBGRAD" linearize overhead-crane --at start --outputs x_t,x_l --zeros
echo "== derivatives by one parameter, other coordinates"
"$MBGRAD" linearize five-bar --coordinates B,3 --outputs x2 --inputs k1 --by k2 | sed -n '/^states/,/^$/p; /by k2/,$p'
echo "== a time of a run"
"$MBGRAD" linearize five-bar --at 0.3 --step 0.01 --outputs x2 | head -12
"$MBGRAD" linearize five-bar --at 0.3 --step 0.01 --outputs x2 --inputs k1 --by k2 | sed -n '/^C by/,$p'
echo "== CSV"
"$MBGRAD" linearize overhead-crane --at start --outputs x_t --out - | head -6
echo "== files"
"$MBGRAD" linearize overhead-crane --at start --outputs x_t --out crane.mtx --bode bode.svg --frequencies 0.01:10 >table
cat crane-B.mtx
grep -c '<path' bode.svg
"$MBGRAD" linearize five-bar --locus k1=50:150 --plot locus.svg >table
grep -c 'k1 = 150' locus.svg
"$MBGRAD" linearize five-bar --json --by k1 >linear.json
python3 - <<'END'
import json
d = json.load(open("linear.json"))
print(sorted(d), d["at"], [s["name"] for s in d["states"]], sorted(d["derivatives"]["k1"]))
print(len(d["A"]), len(d["A"][0]), len(d["poles"]), len(d["C"]))
END
echo "== an input that moves constraints"
"$MBGRAD" linearize overhead-crane --at start --inputs L --outputs x_l >table
