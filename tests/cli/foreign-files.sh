# data in a pipe is refused at once; of files outside the model's folder nothing is quoted, of those inside it is
mkdir -p model/sub
printf 't,x\n0,secret text\n' >foreign.csv
cp foreign.csv model/own.csv
printf 'key secret' >foreign.json
mkfifo model/pipe.csv
ln -s own.csv model/link.csv
model() {
  cat >model/model.json <<END
{
  "mbgrad": 1,
  "bodies": {"m": {"motion": "planar-point", "mass": 1}},
  $1
  "signals": {"x": {"type": "position", "of": "m", "component": "x"}},
  "criteria": {"fit": {"least_squares": "x", "data": "$2", "column": "secre"}},
  "run": {"end": 1, "step": 0.1}
}
END
}
for file in own.csv sub/../own.csv ./link.csv ../foreign.csv "$PWD/foreign.csv" pipe.csv /dev/zero; do
  model "" "$file"
  timeout 20 "$MBGRAD" check model 2>&1 | sed "s|$PWD|PWD|g"
done
printf 'secret\n0\n' >foreign.csv
model "" ../foreign.csv
"$MBGRAD" check model
printf 'secret\n0\n' >model/own.csv
model "" own.csv
"$MBGRAD" check model
model '"parts": {"p": {"use": "../foreign.json"}},' own.csv
"$MBGRAD" check model 2>&1 | grep foreign
# a model may come through a pipe
"$MBGRAD" check <(cat "$SRC/gallery/five-bar/model.json") | head -1

echo "robot files"
mkfifo pipe.xml
body='<worldbody><body><joint/><geom type="sphere" size="1"/></body></worldbody>'
for file in pipe.xml /dev/zero; do
  echo "<mujoco><include file=\"$file\"/>$body</mujoco>" >robot.xml
  timeout 20 "$MBGRAD" import robot.xml --out robot 2>&1 | sed "s|$PWD|PWD|g"
  echo "<sdf version=\"1.9\"><model name=\"m\"><include><uri>$file</uri></include></model></sdf>" >robot.sdf
  timeout 20 "$MBGRAD" import robot.sdf --out robot 2>&1 | sed "s|$PWD|PWD|g"
done
echo "<mujoco>$body</mujoco>" >robot.xml
"$MBGRAD" import robot.xml --out robot >/dev/null
timeout 20 "$MBGRAD" export robot --into pipe.xml --out again.xml
echo "status $?"
