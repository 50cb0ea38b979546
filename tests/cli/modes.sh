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
echo "== no freedom"
"$MBGRAD" modes spring-balanced-arm
echo "== equal modes, a parameter that ends the equilibrium"
cat >sliding.json <<'END'
{"mbgrad": 1, "name": "sliding", "parameters": {"k": 50, "slope": 0}, "gravity": ["9.81*sin(slope)", "-9.81*cos(slope)", 0],
 "bodies": {"a": {"mass": 2, "motion": "planar-point"}, "b": {"mass": 2, "motion": "planar-point", "position": [1, 0, 0]}},
 "forces": {"left": {"type": "spring-damper", "between": ["ground", "a"], "along": "y", "stiffness": "k"},
            "right": {"type": "spring-damper", "between": ["ground", "b"], "along": "y", "stiffness": "2*k - 50"}}}
END
"$MBGRAD" modes sliding.json --modes 1 --gradient
"$MBGRAD" modes sliding.json --gradient --csv - | awk -F, '{ printf "%s %s %s %.5f \"%s\"\n", $1, $2, $4, $8, $9 }'
