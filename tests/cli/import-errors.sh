# files that cannot be imported: file, line and column, what is wrong and what to do; nothing is written
try() {
  printf '%s' "$1" >robot.urdf
  shift
  "$MBGRAD" import robot.urdf "$@" 2>messages
  local status=$?
  sed "s|$PWD/||" messages >&2
  echo "status $status" >&2
  [ ! -e robot ] || echo "a folder is left" >&2
}
mass='<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
two="<link name='a'>$mass</link><link name='b'>$mass</link>"
joint() { printf "<joint name='%s' type='%s'><parent link='%s'/><child link='%s'/>%s</joint>" "$@"; }
try ''
try 'robot'
try '<robot name="r"><link name="a"></robot>'
try '<urdf/>'
try '<robot/>'
try '<robot><link/></robot>'
try "<robot>$two<link name='a'/></robot>"
try "<robot>$two$(joint j hinge a b '')</robot>"
try "<robot>$two$(joint j revolut a b '')</robot>"
try "<robot>$two$(joint j revolute a c '')</robot>"
try "<robot>$two$(joint j revolute a a '')</robot>"
try "<robot>$two$(joint j revolute a b '')$(joint k revolute b a '')</robot>"
try "<robot>$two$(joint j screw a b '')</robot>"
try "<robot>$two$(joint j revolute a b '')$(joint j revolute b a '')</robot>"
try "<robot>$two<joint name='j' type='revolute'><parent link='a'/></joint></robot>"
try "<robot>$two$(joint j revolute a b '<axis xyz="0 0 0"/>')</robot>"
try "<robot>$two$(joint j revolute a b '<axis xyz="0 1"/>')</robot>"
try "<robot>$two$(joint j revolute a b '<origin xyz="0 1e999 0"/>')</robot>"
try "<robot>$two$(joint j revolute a b '<limit lower="${x}"/>')</robot>"
try "<robot>$two$(joint j revolute a b '<mimic joint="j"/>')</robot>"
try '<robot><link name="a"><inertial><mass value="-1"/></inertial></link></robot>'
try '<robot xmlns:xacro="x"><xacro:property name="r" value="1"/><link name="a"/></robot>'
try '<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><robot name="&b;"/>'
try '<!DOCTYPE r [<!ENTITY a SYSTEM "/etc/hostname">]><robot name="x">&a;</robot>'
try "<robot>$(printf '<g>%.0s' $(seq 300))</robot>"
try "<robot>$two<loop_joint name='l' type='revolute'><link1 link='a'/></loop_joint></robot>"
try '<sdf><model name="m"><link name="a"/></model><model/></sdf>'
try '<sdf><model name="m"><link name="a"/><joint name="j" type="revolute"><parent>world</parent><child>a</child><axis><mimic joint="k"/></axis></joint></model></sdf>'
try '<sdf><model name="m"><link name="a"/><drake:linear_spring_damper><drake:linear_spring_damper_body_A>a</drake:linear_spring_damper_body_A></drake:linear_spring_damper></model></sdf>'
try '<sdf><model name="m"><link name="a"/><drake:linear_bushing_rpy><drake:bushing_frameA>b</drake:bushing_frameA></drake:linear_bushing_rpy></model></sdf>'
try '<sdf><model><include><uri>x</uri></include></model></sdf>'
try '<sdf><model><include/></model></sdf>'
try '<sdf><model name="m"><include><uri>robot.urdf</uri></include></model></sdf>'
mkdir empty && try '<sdf><include><uri>model://empty</uri></include></sdf>'
echo '<robot/>' >other.urdf && try '<sdf><include><uri>other.urdf</uri></include></sdf>'
try '<sdf><model name="m"><frame name="f" attached_to="g"/><frame name="g" attached_to="f"/><joint name="j" type="fixed"><parent>world</parent><child>f</child></joint></model></sdf>'
try '<sdf><model name="m"><link name="a"/><model name="n"><pose relative_to="n::b">0 0 0 0 0 0</pose><link name="b"/></model></model></sdf>'
try '<sdf><model name="m"><link name="a"/><model name="n" placement_frame="c"><link name="b"/></model></model></sdf>'
try '<sdf><model><link name="a"><pose relative_to="b">0 0 0 0 0 0</pose></link><frame name="b"><pose relative_to="a"/></frame></model></sdf>'
try '<sdf><model><link name="a"><pose>0 0 0</pose></link></model></sdf>'
body() { printf '<mujoco>%s<worldbody><body name="a">%s</body></worldbody>%s</mujoco>' "$@"; }
try "$(body '' '<joint type="hing"/>' '')"
try "$(body '' '<joint axis="0 0 0"/>' '')"
try "$(body '' '<geom type="mesh" mesh="m"/>' '')"
try "$(body '' '<geom size="-1"/>' '')"
try "$(body '' '<geom class="c"/>' '')"
try "$(body '<compiler eulerseq="xyw"/>' '' '')"
try "$(body '<include file="robot.urdf"/>' '' '')"
try "$(body '<include file="absent.xml"/>' '' '')"
for i in 1 2 3; do # 11 + 11^2 + 11^3 files
  printf '<mujoco>%s</mujoco>' "$(printf "<include file='tree$i.xml'/>%.0s" $(seq 11))" >tree$((i - 1)).xml
done
echo '<mujoco/>' >tree3.xml
try "$(body '<include file="tree0.xml"/>' '' '')"
{ echo '<mujoco><!--' && head -c 17000000 /dev/zero | tr '\0' x && echo '--></mujoco>'; } >large.xml
try "$(body '<include file="large.xml"/>' '' '')"
try "$(body '' '' '<equality><connect body1="a" body2="b" anchor="0 0 0"/></equality>')"
try '<mujoco><worldbody/></mujoco>'
key() { body '' '<joint/><geom size="0.1"/>' "<keyframe><key name=\"home\" $1/></keyframe>"; }
try "$(key 'qpos="1 2"')" --start home
try "$(key 'qvel="x"')" --start home
try "$(key 'ctrl="1"')" --start home
try "$(key '')" --start hme
try "$(body '' '<freejoint/><geom size="0.1"/>' '<keyframe><key qpos="0 0 0 0 0 0 0"/></keyframe>')" --start key_1
try "$(body '' '<joint springdamper="1 1"/><geom size="0.1" mass="0"/>' '')"
try "<robot>$two</robot>" --start home
try "<robot>$two</robot>" --parameters masses
try "<robot>$two</robot>" --without stops
try "<robot>$two</robot>" --base loose
"$MBGRAD" import absent.urdf
"$MBGRAD" import .
"$MBGRAD" import
mkdir kept && echo mine >kept/model.json
"$MBGRAD" import robot.urdf --out kept
cat kept/model.json
