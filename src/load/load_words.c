/* Words that other programs use for our types and keys. */
#include "load/load.h"

#include <ctype.h>
#include <string.h>

typedef struct {
  const char *word, *ours;
} synonym;

/* words in small letters with '-'; one word may have several meanings, of which the place in the file takes one */
static const synonym synonyms[] = {
    /* types of joints */
    {"ball", "spherical"},
    {"ball-joint", "spherical"},
    {"ball-and-socket", "spherical"},
    {"socket", "spherical"},
    {"gimbal", "spherical"},
    {"hinge", "revolute"},
    {"pin", "revolute"},
    {"rotational", "revolute"},
    {"rotary", "revolute"},
    {"rotation", "revolute"},
    {"continuous", "revolute"},
    {"bearing", "revolute"},
    {"slider", "prismatic"},
    {"slide", "prismatic"},
    {"sliding", "prismatic"},
    {"translational", "prismatic"},
    {"translation", "prismatic"},
    {"linear", "prismatic"},
    {"rail", "prismatic"},
    {"weld", "fixed"},
    {"welded", "fixed"},
    {"rigid", "fixed"},
    {"clamp", "fixed"},
    {"lock", "fixed"},
    {"cardan", "universal"},
    {"hooke", "universal"},
    {"u-joint", "universal"},
    {"helical", "screw"},
    {"rod", "distance"},
    {"link", "distance"},
    {"massless-link", "distance"},
    {"inline", "point-on-line"},
    {"in-line", "point-on-line"},
    {"inplane", "point-on-plane"},
    {"in-plane", "point-on-plane"},
    /* types of forces */
    {"spring", "spring-damper"},
    {"damper", "spring-damper"},
    {"linear-spring", "spring-damper"},
    {"tsda", "spring-damper"},
    {"rsda", "torsion-spring-damper"},
    {"torsional-spring", "torsion-spring-damper"},
    {"rotational-spring", "torsion-spring-damper"},
    {"limit", "stop"},
    {"bumper", "stop"},
    {"tire", "tyre"},
    {"collision", "contact"},
    {"hertz", "contact"},
    {"hunt-crossley", "contact"},
    {"wheel", "tyre"},
    {"motor", "actuator"},
    {"air-resistance", "drag"},
    {"torque", "force"},
    /* types of signals */
    {"imu", "accelerometer"},
    {"gyro", "gyroscope"},
    {"angle", "coordinate"},
    {"length", "distance"},
    {"displacement", "position"},
    {"speed", "velocity"},
    {"joint-force", "reaction"},
    /* keys of bodies and markers */
    {"orientation", "rotate"},
    {"rotation", "rotate"},
    {"attitude", "rotate"},
    {"quaternion", "rotate"},
    {"euler", "rotate"},
    {"rpy", "rotate"},
    {"matrix", "rotate"},
    {"pos", "position"},
    {"xyz", "position"},
    {"origin", "position"},
    {"location", "position"},
    {"center-of-mass", "com"},
    {"centre-of-mass", "com"},
    {"center", "com"},
    {"cog", "com"},
    {"cm", "com"},
    {"tensor", "inertia"},
    {"moment-of-inertia", "inertia"},
    {"moments-of-inertia", "inertia"},
    {"omega", "angular_velocity"},
    {"dof", "motion"},
    {"body", "on"},
    {"parent", "on"},
    {"position", "at"},
    {"location", "at"},
    {"point", "at"},
    {"origin", "at"},
    {"anchor", "at"},
    {"pos", "at"},
    /* keys of joints and forces */
    {"bodies", "between"},
    {"markers", "between"},
    {"connects", "between"},
    {"parent", "between"},
    {"direction", "axis"},
    {"k", "stiffness"},
    {"c", "damping"},
    {"d", "damping"},
    {"rest-length", "rest"},
    {"free-length", "rest"},
    {"unstretched", "rest"},
    {"l0", "rest"},
    {"x0", "rest"},
    /* keys of signals */
    {"body", "of"},
    {"marker", "of"},
    {"point", "of"},
    {"frame", "in"},
    {"axes", "in"},
    {"axis", "component"},
    {"direction", "component"},
    {"reference", "relative_to"},
    /* keys of parameters and runs */
    {"initial", "value"},
    {"nominal", "value"},
    {"lower", "min"},
    {"lb", "min"},
    {"upper", "max"},
    {"ub", "max"},
    {"dt", "step"},
    {"h", "step"},
    {"timestep", "step"},
    {"time-step", "step"},
    {"step-size", "step"},
    {"t-end", "end"},
    {"tend", "end"},
    {"stop", "end"},
    {"duration", "end"},
    {"final-time", "end"},
    {"end-time", "end"},
    {"t0", "start"},
    {"t-start", "start"},
    {"solver", "formulation"},
    {"tol", "tolerance"},
    {"rtol", "relative_tolerance"},
    {"atol", "absolute_tolerance"},
    /* sections */
    {"links", "bodies"},
    {"parts", "bodies"},
    {"frames", "markers"},
    {"constraints", "joints"},
    {"motors", "drivers"},
    {"motions", "drivers"},
    {"actuators", "forces"},
    {"springs", "forces"},
    {"loads", "forces"},
    {"elements", "forces"},
    {"gears", "couplings"},
    {"sensors", "signals"},
    {"outputs", "signals"},
    {"measurements", "signals"},
    {"variables", "parameters"},
    {"objectives", "criteria"},
    {"costs", "criteria"},
    {"simulation", "run"},
    {"settings", "run"},
};

static const struct {
  const char *noun, *word, *advice;
} elsewhere[] = {
    {"joint", "free", "a body that no joint holds moves freely: leave the joint out"},
    {"joint", "floating", "a body that no joint holds moves freely: leave the joint out"},
    {"joint", "6dof", "a body that no joint holds moves freely: leave the joint out"},
    {"joint", "gear", "a gear is an entry of \"couplings\" between the angles of two revolute joints"},
    {"joint", "belt", "a belt is an entry of \"couplings\" between the angles of two revolute joints"},
    {"joint", "rack-and-pinion", "it is an entry of \"couplings\" between an angle and a displacement"},
    {"joint", "motor", "a prescribed motion is an entry of \"drivers\", a motor torque one of \"forces\""},
    {"joint", "bushing", "a bushing is an entry of \"forces\""},
    {"joint", "spring", "a spring is an entry of \"forces\", type 'spring-damper'"},
    {"joint", "spring-damper", "a spring is an entry of \"forces\""},
    {"force", "gravity", "gravity is a key of the model: \"gravity\": [0, 0, -9.81]"},
};

/* small letters, '-' for '_' and blanks */
static void plain_word(const char *word, char *out, size_t size) {
  size_t n = 0;
  for (; word[n] && n + 1 < size; n++) {
    const char c = word[n];
    out[n] = c == '_' || c == ' ' ? '-' : (char)tolower((unsigned char)c);
  }
  out[n] = 0;
}

static const char *find_word(const char *word, const char *const *candidates, int count) {
  char plain[64];
  for (int i = 0; i < count; i++) {
    plain_word(candidates[i], plain, sizeof(plain));
    if (strcmp(plain, word) == 0) {
      return candidates[i];
    }
  }
  return NULL;
}

const char *mbg__near_word(const char *word, const char *const *candidates, int count) {
  char plain[64], ours[64];
  plain_word(word, plain, sizeof(plain));
  const char *found = find_word(plain, candidates, count);
  for (int i = 0; !found && i < MBG_COUNT(synonyms); i++) {
    if (strcmp(synonyms[i].word, plain) == 0) {
      plain_word(synonyms[i].ours, ours, sizeof(ours));
      found = find_word(ours, candidates, count);
    }
  }
  return found ? found : mbg__near(word, candidates, count);
}

const char *mbg__word_elsewhere(const char *owner, const char *word) {
  char plain[64];
  plain_word(word, plain, sizeof(plain));
  for (int i = 0; i < MBG_COUNT(elsewhere); i++) {
    if (strncmp(owner, elsewhere[i].noun, strlen(elsewhere[i].noun)) == 0 && strcmp(elsewhere[i].word, plain) == 0) {
      return elsewhere[i].advice;
    }
  }
  return NULL;
}
