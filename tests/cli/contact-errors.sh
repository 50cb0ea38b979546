# contacts that are not defined, at a time of the run or in a mirrored part
model() {
  echo '{ "mbgrad": 1, "bodies": { "ball": {"mass": 1, "inertia": [1, 1, 1], "position": '"$1"', "velocity": '"$2"'} },'
  echo '  "forces": { "touch": {"type": "contact", "on": "ball", "radius": 0.1, "stiffness": 1, "width": 0.001, '"$3"'} },'
  echo '  "run": {"end": 0.2, "step": 0.01} }'
}
model '[-0.1, 0, 0.3]' '[1, 0, -2]' '"shape": "sphere-road", "road": "-0.05*cos(20*x)"' >valley.json
model '[0, 0, 0]' '[1, 0, 0]' '"shape": "sphere-sphere", "radius_a": 0.1' >centres.json
echo '{"mbgrad": 1, "markers": {"m": {"on": "ground"}}, "bodies": {"b": {"mass": 1}}, "forces": {"floor": {"type": "contact",' \
  '"between": ["m", "b"], "shape": "sphere-plane", "up": "x", "radius": 0.1, "stiffness": 1, "width": 0.001}}}' >left.part
echo '{ "mbgrad": 1, "parts": {"L": {"use": "left.part"}, "R": {"use": "left.part", "mirror": "x"}} }' >mirrored.json
for file in valley centres mirrored; do
  "$MBGRAD" simulate $file.json 2>&1 | sed 's/^/  /'
done
true
