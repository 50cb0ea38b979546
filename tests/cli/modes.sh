# equilibrium, frequencies, damping, derivatives and shapes
"$MBGRAD" modes quarter-car --gradient --shapes
echo "== undamped, zero and repeated modes"
"$MBGRAD" modes heavy-top
echo "== CSV"
"$MBGRAD" modes noisy-pendulum --csv - --gradient | awk -F, 'NR == 1 { print; next } { printf "%s %s %.6f %.6f %.6f %.6f\n", $1, $2, $3, $4, $8, $10 }'
echo "== files"
"$MBGRAD" modes swinging-beam --undamped --modes 4 --csv modes.csv --plot modes.svg
wc -l <modes.csv
grep -c '<animate' modes.svg
head -c 42 modes.svg; echo
echo "== JSON"
"$MBGRAD" modes quarter-car --json --gradient >modes.json
python3 - <<'END'
import json
d = json.load(open("modes.json"))
print(sorted(d), d["at"], d["degrees_of_freedom"], d["solver"])
m = d["modes"][0]
print(sorted(m), sorted(m["frequency_gradient"]), sorted(m["shape"]))
END
