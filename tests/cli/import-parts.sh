# tendons, sensors, actuators with states, scenery of MJCF; bushings and transmissions of URDF
cat >crab.xml <<'X'
<mujoco model="crab">
  <compiler angle="radian"/>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <geom type="box" size="0.5 0.5 0.05" pos="0 0 -1"/>
    <site name="hook" pos="0 0 1"/>
    <body name="arm">
      <joint name="a" axis="0 1 0" ref="0.2"/>
      <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03"/>
      <site name="tip" pos="0.4 0 0"/>
      <body name="hand" pos="0.4 0 0">
        <joint name="b" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.02"/>
        <body name="thumb" pos="0.2 0 0"><joint name="c" axis="0 0 1"/><geom size="0.03"/></body>
        <body name="finger" pos="0.2 0 0"><joint name="d" axis="0 0 1"/><geom size="0.03"/></body>
      </body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="sum" stiffness="3" damping="0.1"><joint joint="a" coef="0.5"/><joint joint="b" coef="-2"/></fixed>
    <fixed name="pair" stiffness="1" springlength="0.3"><joint joint="c" coef="1"/></fixed>
    <fixed name="other"><joint joint="d" coef="2"/></fixed>
    <spatial name="rope" stiffness="20" damping="1" range="0 2"><site site="hook"/><site site="tip"/></spatial>
    <spatial name="bent"><site site="hook"/><site site="tip"/><site site="hook"/></spatial>
  </tendon>
  <equality>
    <tendon name="grip" tendon1="other" tendon2="pair" polycoef="0.1 0.5"/>
    <tendon name="curved" tendon1="other" tendon2="pair" polycoef="0 1 2"/>
  </equality>
  <actuator>
    <position name="servo" joint="a" kp="5" kv="0.2" timeconst="0.1"/>
    <general name="pump" joint="b" dyntype="integrator" gainprm="2" biastype="affine" biasprm="0.1 -3 -0.5" gear="4"/>
    <general name="soft" joint="b" gaintype="affine" gainprm="1 0.5 0.25"/>
    <damper name="brake" joint="b" kv="0.3"/>
    <motor name="pull" tendon="sum" gear="2"/>
    <muscle name="calf" joint="b"/>
  </actuator>
  <sensor>
    <jointpos name="angle" joint="a"/>
    <jointvel joint="b"/>
    <tendonpos name="length" tendon="sum"/>
    <accelerometer name="imu" site="tip"/>
    <velocimeter name="speed" site="tip"/>
    <framezaxis name="up" objtype="xbody" objname="hand" reftype="xbody" refname="arm"/>
    <rangefinder name="eye" site="tip"/>
  </sensor>
</mujoco>
X
cat >table.urdf <<'X'
<robot name="table" xmlns:drake="https://drake.mit.edu">
  <link name="world"/>
  <link name="top"><inertial><mass value="5"/><inertia ixx="0.2" iyy="0.2" izz="0.3"/></inertial></link>
  <link name="wheel"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.02"/></inertial></link>
  <joint name="fly" type="floating"><parent link="world"/><child link="top"/></joint>
  <joint name="axle" type="continuous"><parent link="top"/><child link="wheel"/><origin xyz="0 0 0.2"/><axis xyz="0 0 1"/></joint>
  <frame name="foot" link="top" xyz="0.1 0 -0.3" rpy="0 0 0.5"/>
  <frame name="floor" link="world" xyz="0.1 0 -0.3" rpy="0 0 0.5"/>
  <drake:linear_bushing_rpy>
    <drake:bushing_frameA name="floor"/><drake:bushing_frameC name="foot"/>
    <drake:bushing_torque_stiffness value="50 50 20"/><drake:bushing_torque_damping value="1 1 1"/>
    <drake:bushing_force_stiffness value="1000 1000 4000"/><drake:bushing_force_damping value="10 10 40"/>
  </drake:linear_bushing_rpy>
  <transmission name="drive">
    <joint name="axle"/>
    <actuator name="motor"><mechanicalReduction>30</mechanicalReduction><drake:rotor_inertia value="1e-5"/><drake:gear_ratio value="30"/></actuator>
  </transmission>
  <transmission name="two"><joint name="axle"/><joint name="fly"/><actuator name="m"/></transmission>
</robot>
X
for robot in crab.xml table.urdf; do
  echo "== $robot"
  "$MBGRAD" import $robot
  "$MBGRAD" simulate "${robot%.*}" --end 0.01 --quiet --out run.csv && head -n 1 run.csv
done
python3 - <<'P'
import json
crab, table = (json.load(open(f"{name}/model.json")) for name in ("crab", "table"))
for model, section in ((crab, "states"), (crab, "couplings"), (crab, "forces"), (crab, "signals"), (table, "forces")):
    for name, entry in model[section].items():
        if name[:2] not in ("q_", "w_"):
            print(name, json.dumps(entry))
print(json.dumps(crab["markers"]["world"]), json.dumps(table["markers"]), json.dumps(table["controls"]), table["bodies"]["axle_rotor"]["inertia"][2])
P
echo "== refused"
for line in '<drake:linear_bushing_rpy><drake:bushing_frameA name="floor"/></drake:linear_bushing_rpy>' \
  '<drake:linear_bushing_rpy><drake:bushing_frameA name="floor"/><drake:bushing_frameC name="nowhere"/></drake:linear_bushing_rpy>' \
  '<drake:linear_bushing_rpy><drake:bushing_frameA name="floor"/><drake:bushing_frameC name="foot"/><drake:bushing_force_damping value="1 -1 1"/></drake:linear_bushing_rpy>' \
  '<transmission><joint name="axle"/><actuator name="m"><drake:rotor_inertia value="-1"/></actuator></transmission>'; do
  { sed '$d' table.urdf; echo "$line</robot>"; } >bad.urdf
  "$MBGRAD" import bad.urdf --out bad 2>&1
done
sed 's/<joint joint="d" coef="2"\/>/<joint joint="d" coef="2"\/><joint joint="d" coef="1"\/>/' crab.xml >bad.xml
"$MBGRAD" import bad.xml --out bad 2>&1
sed 's/<site site="hook"\/><site site="tip"\/><\/spatial>/<site site="nail"\/><site site="tip"\/><\/spatial>/' crab.xml >bad.xml
"$MBGRAD" import bad.xml --out bad 2>&1
sed 's/stiffness="3"/stiffness="-3"/' crab.xml >bad.xml
"$MBGRAD" import bad.xml --out bad 2>&1
true
