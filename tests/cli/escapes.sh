# control characters of a model never reach a terminal: names, notes, units, keys and paths show them as \x1b
printf '{"mbgrad": 1, "name": "a\\u001b[31mred\\u009b7m\\u007f", "note": "x\\u0007y\\u001b]0;t\\u0007 z",
 "bodies": {"m": {"motion": "planar-point", "mass": 1}},
 "parameters": {"k": {"value": 1, "unit": "m\\u001b[1m", "note": "n\\u001b[5m"}},
 "signals": {"x": {"type": "position", "of": "m", "component": "x"}},
 "run": {"end": 1, "step": 0.1}}' >model.json
sed 's/"run": {/"run\\u001b[2J": {/; s/"planar-point"/"pl\\u009bne"/' model.json >bad.json
for command in "check model.json" "check model.json --json" "simulate model.json" "simulate model.json --json" "check bad.json" \
  $'check no\033[31m.json' $'simulate model.json --out no\033[31m' $'simulate model.json --signals x\a'; do
  "$MBGRAD" $command >>all 2>>err
done
grep -c . all
LC_ALL=C grep -c '[[:cntrl:]]' all err
LC_ALL=C grep -c $'\xc2[\x80-\x9f]' all err
cut -c1-90 err
