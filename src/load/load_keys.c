/* The keys of the objects of a model file that do not depend on the type of an element; each type has its own table
   of keys (model/types.h). The loader checks the file against these lists, and the schema is written from them. */
#include "load/load.h"

#include <string.h>

static const mbg__file_key model_keys[] = {
    {"mbgrad", MBG__SHAPE_VERSION, true, NULL, "version of the format"},
    {"$schema", MBG__SHAPE_TEXT, false, NULL, "address of the JSON Schema of model files, for editors; not read"},
    {"name", MBG__SHAPE_TEXT, false, NULL, "name of the model"},
    {"parameters", MBG__SHAPE_SECTION, false, NULL, "numbers with respect to which gradients are taken"},
    {"constants", MBG__SHAPE_NAMES_TO_NUMBERS, false, NULL, "numbers and expressions of parameters and constants"},
    {"tables", MBG__SHAPE_SECTION, false, NULL, "tabulated functions of one or two arguments"},
    {"controls", MBG__SHAPE_SECTION, false, NULL, "functions of time given by samples"},
    {"curves", MBG__SHAPE_SECTION, false, NULL, "curves of cams, slots and wires"},
    {"gravity", MBG__SHAPE_VEC3, false, NULL, "acceleration of gravity in world axes; absent: none"},
    {"bodies", MBG__SHAPE_SECTION, false, NULL, "bodies"},
    {"beams", MBG__SHAPE_SECTION, false, NULL, "flexible beams: nodes and elements"},
    {"markers", MBG__SHAPE_SECTION, false, NULL, "frames fixed on bodies or on the ground"},
    {"joints", MBG__SHAPE_SECTION, false, NULL, "constraints between two markers"},
    {"drivers", MBG__SHAPE_SECTION, false, NULL, "joint coordinates given in time"},
    {"couplings", MBG__SHAPE_SECTION, false, NULL, "relations of joint coordinates"},
    {"forces", MBG__SHAPE_SECTION, false, NULL, "forces and torques"},
    {"contacts", MBG__SHAPE_SECTION, false, NULL,
     "contacts between the shapes of bodies and markers, which become forces"},
    {"signals", MBG__SHAPE_SECTION, false, NULL, "scalars measured during the motion"},
    {"states", MBG__SHAPE_SECTION, false, NULL, "first-order differential equations beside the mechanism"},
    {"blocks", MBG__SHAPE_SECTION, false, NULL, "ready controllers, filters and actuators, which become states"},
    {"modes", MBG__SHAPE_NAMES_TO_NUMBERS, false, NULL, "integers that events set, with their first values"},
    {"events", MBG__SHAPE_SECTION, false, NULL, "what happens where a guard passes 0, or at a given time"},
    {"criteria", MBG__SHAPE_SECTION, false, NULL, "scalars of a whole run"},
    {"initial", MBG__SHAPE_SECTION, false, NULL, "the start"},
    {"parts", MBG__SHAPE_SECTION, false, NULL, "other model files used in this one"},
    {"run", MBG__SHAPE_SECTION, false, NULL, "how to run the model"},
    {"control", MBG__SHAPE_SECTION, false, NULL, "the problem that `mbgrad control` solves"},
    {"runs", MBG__SHAPE_SECTION, false, NULL, "several runs of the model: experiments, load cases"},
    {"identify", MBG__SHAPE_SECTION, false, NULL, "the problem that `mbgrad identify` solves"},
    {"optimize", MBG__SHAPE_SECTION, false, NULL,
     "the problem that `mbgrad optimize` solves: parameters, objective, limits"},
};

/* ---------------------------------------------------------------------- numbers */

static const mbg__file_key parameter_keys[] = {
    {"value", MBG__SHAPE_VALUES, true, NULL, "nominal value; an array makes a vector"},
    {"count", MBG__SHAPE_COUNT, false, NULL, "number of entries of a vector"},
    {"min", MBG__SHAPE_PLAIN, false, NULL, "lower bound"},
    {"max", MBG__SHAPE_PLAIN, false, NULL, "upper bound"},
    {"unit", MBG__SHAPE_TEXT, false, NULL, "unit, for reports"},
    {"scale", MBG__SHAPE_CHOICE, false, "linear log", "scale that optimizers use"},
    {"deviation", MBG__SHAPE_PLAIN, false, NULL, "standard deviation of its scatter, for `mbgrad uncertainty`"},
    {"distribution", MBG__SHAPE_CHOICE, false, "normal uniform", "how it scatters"},
};
static const mbg__file_key table_keys[] = {
    {"x", MBG__SHAPE_COLUMN, true, NULL, "arguments, increasing; with a file: the name of the column"},
    {"y", MBG__SHAPE_COLUMN, true, NULL, "values, or with `z` the second arguments; with a file: name of the column"},
    {"z", MBG__SHAPE_GRID, false, NULL,
     "values of a table of two arguments, a row for each x; with a file: the column"},
    {"file", MBG__SHAPE_TEXT, false, NULL, "CSV file beside the model"},
    {"interpolation", MBG__SHAPE_CHOICE, false, "linear cubic monotone",
     "straight lines, the natural spline, or cubics that do not overshoot (one argument)"},
    {"extrapolation", MBG__SHAPE_CHOICE, false, "error hold extend", "rule for arguments outside the table"},
};
static const mbg__file_key control_keys[] = {
    {"times", MBG__SHAPE_TIMES, true, NULL, "times of the samples, increasing; with a file: the name of the column"},
    {"values", MBG__SHAPE_SAMPLES, true, NULL,
     "samples: an array, a vector parameter, or one number for all; with a file: the name of the column"},
    {"file", MBG__SHAPE_TEXT, false, NULL, "CSV file beside the model"},
    {"interpolation", MBG__SHAPE_CHOICE, false, "linear cubic", "straight lines, or the natural spline"},
};
static const mbg__file_key times_keys[] = {
    {"from", MBG__SHAPE_PLAIN, true, NULL, "first time"},
    {"to", MBG__SHAPE_PLAIN, true, NULL, "last time"},
    {"count", MBG__SHAPE_COUNT, true, NULL, "number of times, both ends included"},
};

/* ---------------------------------------------------------------------- bodies, markers */

#define GUESS_KEYS                                                                                                     \
  {"position", MBG__SHAPE_VEC3, false, NULL, "origin of the body's frame"},                                            \
      {"rotate", MBG__SHAPE_ROTATE, false, NULL, "rotation of the body's frame"},                                      \
      {"velocity", MBG__SHAPE_VEC3, false, NULL, "velocity of the origin"},                                            \
      {"angular_velocity", MBG__SHAPE_VEC3, false, NULL, "angular velocity"}, {                                        \
    "in", MBG__SHAPE_CHOICE, false, "world body", "axes of the two velocities"                                         \
  }

static const mbg__file_key body_keys[] = {
    {"type", MBG__SHAPE_NAME, false, NULL, "type of the body"},
    GUESS_KEYS,
    {"shape", MBG__SHAPE_FIGURES, false, NULL, "what pictures show; absent: a shape by masses and joints"},
};
static const mbg__file_key rigid_keys[] = {
    {"motion", MBG__SHAPE_CHOICE, false, "spatial planar point planar-point", "motion of the body"},
    {"axes", MBG__SHAPE_CHOICE, false, "auto body world", "axes in which lie and dae step the twist of the body"},
    {"inertia", MBG__SHAPE_INERTIA, false, NULL, "[xx, yy, zz, xy, xz, yz], [xx, yy, zz], the matrix, or (planar) zz"},
};
static const mbg__file_key modal_keys[] = {
    {"motion", MBG__SHAPE_CHOICE, false, "spatial planar", "motion of the body"},
    {"modes", MBG__SHAPE_COUNT, true, NULL, "number of modal coordinates"},
    {"invariants", MBG__SHAPE_SECTION, false, NULL, "inertia and stiffness as given numbers, with `nodes`"},
    {"beam", MBG__SHAPE_SECTION, false, NULL, "or: a beam along x, whose modes are computed"},
    {"files", MBG__SHAPE_SECTION, false, NULL, "or: matrices and nodes of a finite-element model, which is reduced"},
    {"nodes", MBG__SHAPE_SECTION, false, NULL, "points for markers, with the mode shapes there"},
    {"damping", MBG__SHAPE_NUMBER, false, NULL,
     "stiffness-proportional damping: time that multiplies the stiffness matrix"},
    {"mass_damping", MBG__SHAPE_NUMBER, false, NULL,
     "mass-proportional damping: rate that multiplies the modal mass matrix"},
    {"deformation", MBG__SHAPE_NUMBERS, false, NULL, "modal coordinates at the start, a guess"},
    {"deformation_rate", MBG__SHAPE_NUMBERS, false, NULL, "their rates"},
};
static const mbg__file_key invariants_keys[] = {
    {"I1", MBG__SHAPE_NUMBER, true, NULL, "int rho: the mass"},
    {"I2", MBG__SHAPE_VEC3, false, NULL, "int rho s"},
    {"I3", MBG__SHAPE_NESTED, false, NULL, "int rho phi_j: a vector for each mode"},
    {"I4", MBG__SHAPE_NESTED, false, NULL, "int rho s x phi_j: a vector (planar: z) for each mode"},
    {"I5", MBG__SHAPE_NESTED, false, NULL, "int rho phi_j x phi_k: rows of vectors (planar: z)"},
    {"I6", MBG__SHAPE_NESTED, true, NULL, "int rho phi_j.phi_k: rows of numbers"},
    {"I7", MBG__SHAPE_SAMPLES, true, NULL, "int rho s~^T s~: [xx, yy, zz, xy, xz, yz] about the origin (planar: zz)"},
    {"I8", MBG__SHAPE_NESTED, false, NULL, "int rho s~^T phi_j~: a matrix (planar: zz) for each mode"},
    {"I9", MBG__SHAPE_NESTED, false, NULL, "int rho phi_j~^T phi_k~: rows of matrices (planar: zz; I6 when absent)"},
    {"K", MBG__SHAPE_NESTED, true, NULL, "stiffness: rows of numbers"},
    {"C", MBG__SHAPE_NESTED, false, NULL, "damping: rows of numbers"},
};
static const mbg__file_key modal_node_keys[] = {
    {"at", MBG__SHAPE_VEC3, false, NULL, "place in the axes of the body"},
    {"translation", MBG__SHAPE_NESTED, false, NULL, "displacement of each mode: one vector per mode"},
    {"rotation", MBG__SHAPE_NESTED, false, NULL, "rotation of each mode: one vector per mode"},
};
static const mbg__file_key modal_beam_keys[] = {
    {"length", MBG__SHAPE_NUMBER, true, NULL, "length along x from the origin"},
    {"elements", MBG__SHAPE_COUNT, false, NULL, "elements of the mesh that gives the modes; 20 when absent"},
    {"section", MBG__SHAPE_SECTION, true, NULL, "cross section; axes 2 and 3 are y and z of the body"},
    {"theory", MBG__SHAPE_CHOICE, false, "timoshenko euler-bernoulli", "beam theory with shear, or without"},
    {"boundary", MBG__SHAPE_CHOICE, false, "fixed-free pinned craig-bampton", "boundary conditions of the modes"},
    {"E", MBG__SHAPE_SERIES, true, NULL, "Young's modulus"},
    {"nu", MBG__SHAPE_SERIES, false, NULL, "Poisson's ratio, or `G`"},
    {"G", MBG__SHAPE_SERIES, false, NULL, "shear modulus"},
    {"rho", MBG__SHAPE_SERIES, true, NULL, "density"},
    {"fill", MBG__SHAPE_SERIES, false, NULL, "filling x: stiffness times k_min + (1 - k_min) x^s, mass times x"},
    {"penalty", MBG__SHAPE_PLAIN, false, NULL, "exponent s of the filling, 3 when absent"},
    {"stiffness_min", MBG__SHAPE_PLAIN, false, NULL, "k_min of the filling, 0.001 when absent"},
};
static const mbg__file_key modal_files_keys[] = {
    {"mass", MBG__SHAPE_TEXT, true, NULL, "Matrix Market file of the mass matrix, or FILE.h5[:DATASET]"},
    {"stiffness", MBG__SHAPE_TEXT, true, NULL, "Matrix Market file of the stiffness matrix, or FILE.h5[:DATASET]"},
    {"nodes", MBG__SHAPE_TEXT, true, NULL,
     "file of the nodes in the order of the matrices: number, x, y, z in CSV, or FILE.h5[:DATASET]"},
    {"shapes", MBG__SHAPE_TEXT, false, NULL,
     "Matrix Market file or FILE.h5[:DATASET] of the shapes, a column each; computed when absent"},
    {"fixed", MBG__SHAPE_PLAINS, false, NULL, "numbers of the nodes that the frame is fixed to"},
    {"interface", MBG__SHAPE_PLAINS, false, NULL,
     "numbers of the interface nodes (joints, forces), which get static modes"},
    {"mass_factor", MBG__SHAPE_NUMBER, false, NULL, "factor on the mass matrix"},
    {"stiffness_factor", MBG__SHAPE_NUMBER, false, NULL, "factor on the stiffness matrix"},
};
static const mbg__file_key outer_body_keys[] = {
    {"outer", MBG__SHAPE_TEXT, true, NULL, "in a part: a body of the outer model, see \"bind\""},
};
static const mbg__file_key guess_keys[] = {GUESS_KEYS};

static const mbg__file_key marker_keys[] = {
    {"on", MBG__SHAPE_NAME, true, NULL, "body, or ground"},
    {"at", MBG__SHAPE_VEC3, false, NULL, "origin"},
    {"rotate", MBG__SHAPE_ROTATE, false, NULL, "rotation"},
    {"in", MBG__SHAPE_CHOICE, false, "body world", "axes of the body, or the world in the design configuration"},
    {"node", MBG__SHAPE_NAME, false, NULL, "node of a modal body that it moves with"},
    {"shape", MBG__SHAPE_FIGURES, false, NULL, "what pictures show there; absent: nothing"},
};
static const mbg__file_key rotate_vector_keys[] = {
    {"vector", MBG__SHAPE_VEC3, true, NULL, "rotation vector"},
};
static const mbg__file_key rotate_axis_keys[] = {
    {"axis", MBG__SHAPE_VEC3, true, NULL, "axis, of any length"},
    {"angle", MBG__SHAPE_NUMBER, true, NULL, "angle"},
};
static const mbg__file_key rotate_zx_keys[] = {
    {"z", MBG__SHAPE_VEC3, true, NULL, "direction of z"},
    {"x", MBG__SHAPE_VEC3, false, NULL, "a vector in the half plane of z and x"},
};

/* ---------------------------------------------------------------------- joints */

static const mbg__file_key between_keys[] = {
    {"between", MBG__SHAPE_TWO_NAMES, false, NULL, "the two markers or bodies"},
    {"at", MBG__SHAPE_VEC3, false, NULL, "place of both markers, in the world in the design configuration"},
    {"axis", MBG__SHAPE_VEC3, false, NULL, "direction of z of both markers, with `at`"},
    {"x", MBG__SHAPE_VEC3, false, NULL, "a vector in the half plane of z and x, with `at` and `axis`"},
    {"points", MBG__SHAPE_TWO_VEC3, false, NULL, "place of each marker"},
    {"axes", MBG__SHAPE_TWO_VEC3, false, NULL, "direction of z of each marker, with `points`"},
    {"in", MBG__SHAPE_CHOICE, false, "body world", "axes of `points` and `axes`"},
};
static const mbg__file_key axis2_keys[] = {
    {"axis2", MBG__SHAPE_VEC3, false, NULL, "second axis, with `at` and `axis`"},
};
static const mbg__file_key joint_keys[] = {
    {"type", MBG__SHAPE_NAME, true, NULL, "type of the joint"},
    {"cut", MBG__SHAPE_BOOL, false, NULL, "hint to formulations that cut loops"},
};
static const mbg__file_key driver_keys[] = {
    {"joint", MBG__SHAPE_NAME, true, NULL, "joint"},
    {"coordinate", MBG__SHAPE_NAME, false, NULL, "one of its free coordinates"},
    {"law", MBG__SHAPE_NUMBER, true, NULL, "the coordinate as an expression of t"},
};
static const mbg__file_key coupling_term_keys[] = {
    {"joint", MBG__SHAPE_NAME, true, NULL, "joint"},
    {"coordinate", MBG__SHAPE_NAME, false, NULL, "one of its free coordinates"},
    {"factor", MBG__SHAPE_NUMBER, false, NULL, "factor of the coordinate or of its law, 1 when absent"},
    {"law", MBG__SHAPE_NUMBER, false, NULL, "expression of the coordinate `x` in its place"},
};

/* ---------------------------------------------------------------------- forces */

static const mbg__file_key force_keys[] = {
    {"type", MBG__SHAPE_NAME, true, NULL, "type of the force"},
};
static const mbg__file_key law_keys[] = {
    {"along", MBG__SHAPE_NAME, false, NULL, "coordinate of B relative to A that the law acts on, with `between`"},
    {"joint", MBG__SHAPE_NAME, false, NULL, "joint, instead of `between`"},
    {"coordinate", MBG__SHAPE_NAME, false, NULL, "coordinate of the joint"},
};
static const mbg__file_key on_keys[] = {
    {"on", MBG__SHAPE_NAME, false, NULL, "marker B; A is the ground"},
};
static const mbg__file_key spin_keys[] = {
    {"axis", MBG__SHAPE_VEC3, false, NULL, "direction of z of marker B, in the axes of the marker that `on` names"},
};

/* ---------------------------------------------------------------------- beams */

static const mbg__file_key beam_keys[] = {
    {"elements", MBG__SHAPE_COUNT, true, NULL, "number of elements"},
    {"from", MBG__SHAPE_VEC3, false, NULL, "first node"},
    {"to", MBG__SHAPE_VEC3, false, NULL, "last node of a straight beam"},
    {"points", MBG__SHAPE_POINTS, false, NULL, "points on the axis, from the first node to the last, instead of `to`"},
    {"direction", MBG__SHAPE_VEC3, false, NULL, "tangent at the first node, with `length`"},
    {"length", MBG__SHAPE_NUMBER, false, NULL, "length along the axis, instead of `to`"},
    {"curvature", MBG__SHAPE_VEC3, false, NULL, "twist and curvatures about axes 2 and 3, with `length`"},
    {"orient", MBG__SHAPE_VEC3, false, NULL,
     "a vector in the half plane of axes 1 and 2 at the first node, with `points` at all"},
    {"section", MBG__SHAPE_SECTION, true, NULL, "cross section"},
    {"E", MBG__SHAPE_SERIES, true, NULL, "Young's modulus"},
    {"nu", MBG__SHAPE_SERIES, false, NULL, "Poisson's ratio, or `G`"},
    {"G", MBG__SHAPE_SERIES, false, NULL, "shear modulus"},
    {"rho", MBG__SHAPE_SERIES, true, NULL, "density"},
    {"damping", MBG__SHAPE_SERIES, false, NULL, "time eta of Kelvin-Voigt damping: eta times the stiffness"},
    {"fill", MBG__SHAPE_SERIES, false, NULL, "filling x: stiffness times k_min + (1 - k_min) x^s, mass times x"},
    {"penalty", MBG__SHAPE_PLAIN, false, NULL, "exponent s of the filling, 3 when absent"},
    {"stiffness_min", MBG__SHAPE_PLAIN, false, NULL, "k_min of the filling, 0.001 when absent"},
    {"mass", MBG__SHAPE_CHOICE, false, "consistent lumped", "mass matrix of the elements"},
    {"velocity", MBG__SHAPE_VEC3, false, NULL, "velocity of the first node; the beam moves as a rigid body"},
    {"angular_velocity", MBG__SHAPE_VEC3, false, NULL, "angular velocity"},
};
static const mbg__file_key series_keys[] = {
    {"from", MBG__SHAPE_NUMBER, true, NULL, "value at the first node"},
    {"to", MBG__SHAPE_NUMBER, true, NULL, "value at the last node; each element takes the value at its middle"},
};

#define SECTION_KEYS                                                                                                   \
  {"type", MBG__SHAPE_NAME, true, NULL, "kind of the section"},                                                        \
      {"shear", MBG__SHAPE_PAIR, false, NULL, "shear correction, one number or [k2, k3]; 5/6 when absent"}, {          \
    "torsion", MBG__SHAPE_SERIES, false, NULL, "torsion constant, or `saint-venant`; I2 + I3 when absent"              \
  }

static const mbg__file_key rectangle_keys[] = {
    SECTION_KEYS,
    {"width", MBG__SHAPE_SERIES, true, NULL, "along axis 2"},
    {"height", MBG__SHAPE_SERIES, true, NULL, "along axis 3"},
};
static const mbg__file_key circle_keys[] = {
    SECTION_KEYS,
    {"diameter", MBG__SHAPE_SERIES, true, NULL, "diameter"},
};
static const mbg__file_key tube_keys[] = {
    SECTION_KEYS,
    {"diameter", MBG__SHAPE_SERIES, true, NULL, "outer diameter"},
    {"wall", MBG__SHAPE_SERIES, true, NULL, "thickness of the wall"},
};
static const mbg__file_key general_keys[] = {
    {"type", MBG__SHAPE_NAME, true, NULL, "kind of the section"},
    {"shear", MBG__SHAPE_PAIR, false, NULL, "shear correction, one number or [k2, k3]; 5/6 when absent"},
    {"A", MBG__SHAPE_SERIES, true, NULL, "area"},
    {"I2", MBG__SHAPE_SERIES, true, NULL, "second moment about axis 2"},
    {"I3", MBG__SHAPE_SERIES, true, NULL, "second moment about axis 3"},
    {"Jt", MBG__SHAPE_SERIES, true, NULL, "torsion constant"},
};

/* ---------------------------------------------------------------------- signals */

static const mbg__file_key signal_keys[] = {
    {"type", MBG__SHAPE_NAME, true, NULL, "type of the signal"},
};
static const mbg__file_key of_pair_keys[] = {
    {"of", MBG__SHAPE_NAME, true, NULL, "marker B"},
    {"relative_to", MBG__SHAPE_NAME, false, NULL, "marker A; ground when absent"},
};
static const mbg__file_key of_coord_keys[] = {
    {"joint", MBG__SHAPE_NAME, false, NULL, "joint, or `of`"},
    {"of", MBG__SHAPE_NAME, false, NULL, "marker B, instead of `joint`"},
    {"relative_to", MBG__SHAPE_NAME, false, NULL, "marker A; ground when absent"},
    {"coordinate", MBG__SHAPE_NAME, false, NULL, "coordinate of the joint or of B relative to A"},
};
static const mbg__file_key of_joint_keys[] = {
    {"joint", MBG__SHAPE_NAME, false, NULL, "joint"},
    {"driver", MBG__SHAPE_NAME, false, NULL, "driver, instead of `joint`"},
    {"coupling", MBG__SHAPE_NAME, false, NULL, "coupling, instead of `joint`"},
};
static const mbg__file_key of_force_keys[] = {
    {"force", MBG__SHAPE_NAME, true, NULL, "force element"},
};
static const mbg__file_key of_tendon_keys[] = {
    {"coupling", MBG__SHAPE_NAME, false, NULL, "coupling of type `tendon`"},
    {"force", MBG__SHAPE_NAME, false, NULL, "force of type `elastic-tendon`, instead of `coupling`"},
};
static const mbg__file_key of_bodies_keys[] = {
    {"of", MBG__SHAPE_NAME, false, NULL, "body; all when absent"},
};
static const mbg__file_key of_control_keys[] = {
    {"control", MBG__SHAPE_NAME, true, NULL, "control"},
    {"unit", MBG__SHAPE_TEXT, false, NULL, "unit, for reports and plots"},
};
static const mbg__file_key of_value_keys[] = {
    {"value", MBG__SHAPE_NUMBER, true, NULL, "expression of t, names and other signals"},
    {"unit", MBG__SHAPE_TEXT, false, NULL, "unit, for reports and plots"},
};
static const mbg__file_key of_modes_keys[] = {
    {"of", MBG__SHAPE_NAME, true, NULL, "modal body"},
    {"mode", MBG__SHAPE_ELEMENT, true, NULL, "number of the mode, from 0"},
};
static const mbg__file_key of_rod_keys[] = {
    {"joint", MBG__SHAPE_NAME, true, NULL, "joint: of type `distance` for an axial force, on a curve for its contact"},
};
static const mbg__file_key of_beam_keys[] = {
    {"of", MBG__SHAPE_NAME, false, NULL, "modal body, instead of `beam`, for its strain energy"},
    {"beam", MBG__SHAPE_NAME, false, NULL, "beam; absent (energies): all beams"},
    {"element", MBG__SHAPE_ELEMENT_OR_ALL, false, NULL,
     "number of the element, from 0, or \"all\" (stress); absent (energies): all elements"},
};

static const mbg__file_key of_event_keys[] = {
    {"event", MBG__SHAPE_NAME, true, NULL, "event with an impact"},
};

static const mbg__file_key state_keys[] = {
    {"rate", MBG__SHAPE_SAMPLES, true, NULL,
     "derivative by time: expression of t, names, states and signals; an array makes a vector"},
    {"initial", MBG__SHAPE_SAMPLES, false, NULL,
     "value at the start, of names and signals of positions and velocities, or \"steady\": the rate is 0 there; 0 when "
     "absent"},
    {"guess", MBG__SHAPE_SAMPLES, false, NULL, "where the search for a steady value begins; 0 when absent"},
    {"scale", MBG__SHAPE_SAMPLES, false, NULL,
     "typical size, for tolerances and linear equations; max(1, |initial|) when absent"},
    {"unit", MBG__SHAPE_TEXT, false, NULL, "unit, for reports"},
};

/* ---------------------------------------------------------------------- events */

static const mbg__file_key event_keys[] = {
    {"guard", MBG__SHAPE_NUMBER, false, NULL,
     "signal or expression of positions, velocities and states: its zero is the event"},
    {"direction", MBG__SHAPE_CHOICE, false, "- +", "the guard falls through 0, or rises; an impact has \"-\""},
    {"at", MBG__SHAPE_NUMBER, false, NULL, "instead of a guard: the time, an expression of parameters"},
    {"armed", MBG__SHAPE_NUMBER, false, NULL, "expression of modes; the event happens only while it is not 0"},
    {"impact", MBG__SHAPE_SECTION, false, NULL, "the guard is a gap that closes, and velocities jump"},
    {"set", MBG__SHAPE_NAMES_TO_NUMBERS, false, NULL, "modes and their values after the event"},
    {"end", MBG__SHAPE_BOOL, false, NULL, "the run ends here"},
};
static const mbg__file_key impact_keys[] = {
    {"restitution", MBG__SHAPE_NUMBER, true, NULL, "coefficient of restitution, from 0 to 1"},
    {"signal", MBG__SHAPE_NUMBER, false, NULL, "the gap, instead of the guard: a signal or expression of positions"},
    {"friction", MBG__SHAPE_NUMBER, false, NULL, "coefficient of friction, with `along`"},
    {"along", MBG__SHAPE_NAME, false, NULL, "signal of the sliding speed, a velocity"},
    {"slip_speed", MBG__SHAPE_NUMBER, false, NULL, "speed over which the friction impulse grows"},
};

/* ---------------------------------------------------------------------- criteria */

static const mbg__file_key data_keys[] = {
    {"time", MBG__SHAPE_PLAINS, true, NULL, "times, increasing"},
    {"value", MBG__SHAPE_PLAINS, true, NULL, "values at these times"},
};

/* ---------------------------------------------------------------------- start, parts, run */

static const mbg__file_key initial_keys[] = {
    {"start", MBG__SHAPE_CHOICE, false, "assemble exact equilibrium", "method that finds the start"},
    {"bodies", MBG__SHAPE_SECTION, false, NULL, "first guesses that differ from the design configuration"},
    {"pin", MBG__SHAPE_SECTION, false, NULL, "equations of the start"},
};
static const mbg__file_key pin_keys[] = {
    {"joint", MBG__SHAPE_NAME, false, NULL, "joint, or `signal`"},
    {"coordinate", MBG__SHAPE_NAME, false, NULL, "one of its free coordinates"},
    {"signal", MBG__SHAPE_NAME, false, NULL, "signal of position or velocity level, instead of `joint`"},
    {"value", MBG__SHAPE_NUMBER, false, NULL, "its value at the start"},
    {"rate", MBG__SHAPE_NUMBER, false, NULL, "its rate at the start"},
};
static const mbg__file_key part_keys[] = {
    {"use", MBG__SHAPE_TEXT, true, NULL, "model file beside this one"},
    {"at", MBG__SHAPE_VEC3, false, NULL, "origin of the part's world"},
    {"rotate", MBG__SHAPE_ROTATE, false, NULL, "rotation of the part's world"},
    {"mirror", MBG__SHAPE_CHOICE, false, "x y z", "reflection of the part's world, before it is moved"},
    {"set", MBG__SHAPE_NAMES_TO_NUMBERS, false, NULL, "values of the part's parameters"},
    {"bind", MBG__SHAPE_NAMES_TO_NAMES, false, NULL, "bodies of this model for the part's outer bodies"},
};
#define MBG_FORMULATION(key, ...) #key " "
const char mbg__formulation_words[] =
#include "formulations/formulations.def"
    ;
#define MBG_METHOD(id, name) name " "
const char mbg__method_words[] =
#include "formulations/formulations.def"
    ;
#define MBG_INTEGRATOR(key) #key " "
const char mbg__integrator_words[] =
#include "formulations/formulations.def"
    ;

static const mbg__file_key run_keys[] = {
    {"formulation", MBG__SHAPE_CHOICE, false, mbg__formulation_words, "formulation"},
    {"method", MBG__SHAPE_CHOICE, false, mbg__method_words, "method of the gradient"},
    {"start", MBG__SHAPE_NUMBER, false, NULL, "time of the start, 0 when absent"},
    {"end", MBG__SHAPE_NUMBER, false, NULL, "time of the end"},
    {"step", MBG__SHAPE_NUMBER, false, NULL, "fixed step; \"auto\": found for the accuracy"},
    {"accuracy", MBG__SHAPE_NUMBER, false, NULL,
     "relative error of criteria and gradients for which the step is found, 1e-3 when absent"},
    {"tolerance", MBG__SHAPE_NUMBER, false, NULL, "relative and absolute tolerance, instead of a step"},
    {"relative_tolerance", MBG__SHAPE_NUMBER, false, NULL, "relative tolerance of formulations with error control"},
    {"absolute_tolerance", MBG__SHAPE_NUMBER, false, NULL, "absolute tolerance of formulations with error control"},
    {"integrator", MBG__SHAPE_CHOICE, false, mbg__integrator_words, "integrator of formulations with error control"},
    {"stabilization", MBG__SHAPE_NUMBER, false, NULL, "rate at which position errors of the constraints decay (qr)"},
    {"rho_inf", MBG__SHAPE_NUMBER, false, NULL, "spectral radius at infinity of generalized-alpha"},
    {"alpha_f", MBG__SHAPE_NUMBER, false, NULL, "damping of HHT"},
    {"kappa", MBG__SHAPE_NUMBER, false, NULL, "penalty factor of the projections of ali3p"},
    {"iteration", MBG__SHAPE_CHOICE, false, "saddle augmented", "how a step of ali3p finds its multipliers"},
    {"alpha", MBG__SHAPE_NUMBER, false, NULL, "penalty of the augmented iteration of ali3p"},
    {"varsigma", MBG__SHAPE_NUMBER, false, NULL, "factor of alpha in the projections of ali3p"},
    {"projection", MBG__SHAPE_CHOICE, false, "mass tangent", "matrix of the projections of ali3p"},
    {"index", MBG__SHAPE_NUMBER, false, NULL, "3, or 2: velocities satisfy their constraints too"},
    {"breaks", MBG__SHAPE_NUMBERS, false, NULL, "times that become steps"},
    {"memory", MBG__SHAPE_NUMBER, false, NULL, "bytes that a trajectory may take"},
    {"redundant", MBG__SHAPE_CHOICE, false, "drop error", "what to do with redundant constraints"},
    {"max_events", MBG__SHAPE_COUNT, false, NULL, "most events of a run, 1000 when absent"},
};

static const mbg__file_key control_task_keys[] = {
    {"controls", MBG__SHAPE_SECTION, false, NULL, "the controls to be found; absent: all"},
    {"objective", MBG__SHAPE_OBJECTIVE, false, NULL, "criterion to be minimized, or criteria with their weights"},
    {"effort", MBG__SHAPE_NUMBER, false, NULL, "weight of half the integral of the squared controls"},
    {"stages", MBG__SHAPE_COUNT, false, NULL, "number of stages with decreasing effort weight"},
    {"reduction", MBG__SHAPE_NUMBER, false, NULL, "factor of the effort weight from stage to stage"},
    {"optimizer", MBG__SHAPE_CHOICE, false, "lbfgs ipopt ipopt-exact newton cg steepest", "method of descent"},
    {"iterations", MBG__SHAPE_COUNT, false, NULL, "iteration limit of a stage"},
    {"gradient_tolerance", MBG__SHAPE_NUMBER, false, NULL, "end when the gradient has fallen by this factor"},
};
static const mbg__file_key task_control_keys[] = {
    {"samples", MBG__SHAPE_COUNT, false, NULL,
     "number of samples, evenly spaced over the run; absent: as in `controls`"},
    {"interpolation", MBG__SHAPE_CHOICE, false, "linear cubic",
     "interpolation between the samples; absent: as in `controls`"},
    {"min", MBG__SHAPE_NUMBER, false, NULL, "lower bound of the samples"},
    {"max", MBG__SHAPE_NUMBER, false, NULL, "upper bound of the samples"},
    {"effort", MBG__SHAPE_NUMBER, false, NULL, "weight of the effort of this control"},
};
static const mbg__file_key runs_keys[] = {
    {"set", MBG__SHAPE_NAMES_TO_SETTINGS, false, NULL, "values of parameters and constants in this run"},
    {"criteria", MBG__SHAPE_NAMES, false, NULL, "the criteria of this run; all when absent"},
    {"data", MBG__SHAPE_TEXT, false, NULL, "CSV file of the least-squares criteria of this run"},
    {"files", MBG__SHAPE_NAMES_TO_NAMES, false, NULL, "files of tables and of least-squares criteria in this run"},
};
static const mbg__file_key identify_keys[] = {
    {"parameters", MBG__SHAPE_NAMES, false, NULL, "parameters to identify; absent: the parameters with bounds, or all"},
    {"criteria", MBG__SHAPE_NAMES, false, NULL, "least-squares criteria that are fitted; all when absent"},
};

static const mbg__file_key optimize_keys[] = {
    {"parameters", MBG__SHAPE_NAMES, false, NULL, "parameters to vary; absent: the parameters with bounds"},
    {"objective", MBG__SHAPE_TEXT, true, NULL, "criterion to be minimized, or an expression of criteria"},
    {"scale", MBG__SHAPE_NUMBER, false, NULL, "size of the objective; its value at the start when absent"},
    {"robust", MBG__SHAPE_NUMBER, false, NULL, "standard deviations of the objective that are added to it"},
    {"constraints", MBG__SHAPE_SECTION, false, NULL, "limits of criteria, by their names, and of means of parameters"},
    {"runs", MBG__SHAPE_NAMES_TO_NUMBERS, false, NULL, "the runs that count, with their weights; absent: all, each 1"},
    {"combine", MBG__SHAPE_CHOICE, false, "sum worst", "objective of several runs: weighted sum, or the largest"},
    {"filter", MBG__SHAPE_NAMES_TO_NUMBERS, false, NULL, "vectors that are smoothed, with the radius in entries"},
    {"optimizer", MBG__SHAPE_CHOICE, false, "lbfgs nlopt-lbfgs newton slsqp mma conlin ipopt ipopt-gn ipopt-exact",
     "method; absent: chosen by the problem"},
    {"iterations", MBG__SHAPE_COUNT, false, NULL, "most iterations"},
    {"tolerance", MBG__SHAPE_NUMBER, false, NULL, "residual of the conditions of optimality, relative to the start"},
    {"settle", MBG__SHAPE_NUMBER, false, NULL, "end when ten iterations change the best objective by less, relatively"},
};
static const mbg__file_key limit_keys[] = {
    {"min", MBG__SHAPE_NUMBER, false, NULL, "lower limit"},
    {"max", MBG__SHAPE_NUMBER, false, NULL, "upper limit"},
    {"equal", MBG__SHAPE_NUMBER, false, NULL, "value that the quantity must have, instead of limits"},
    {"scale", MBG__SHAPE_NUMBER, false, NULL, "size of the quantity, in which violations are measured"},
    {"aggregate", MBG__SHAPE_NUMBER, false, NULL,
     "path criteria: one smooth constraint of this sharpness for all points"},
    {"mean", MBG__SHAPE_NAMES_TO_NUMBERS, false, NULL, "instead of a criterion: mean of parameters, with weights"},
};

#define KEYS(list)                                                                                                     \
  { list, MBG_COUNT(list) }

static const mbg__file_keys tables[] = {
    [MBG__KEYS_MODEL] = KEYS(model_keys),
    [MBG__KEYS_PARAMETER] = KEYS(parameter_keys),
    [MBG__KEYS_TABLE] = KEYS(table_keys),
    [MBG__KEYS_CONTROL] = KEYS(control_keys),
    [MBG__KEYS_TIMES] = KEYS(times_keys),
    [MBG__KEYS_BODY] = KEYS(body_keys),
    [MBG__KEYS_RIGID] = KEYS(rigid_keys),
    [MBG__KEYS_MODAL] = KEYS(modal_keys),
    [MBG__KEYS_INVARIANTS] = KEYS(invariants_keys),
    [MBG__KEYS_MODAL_NODE] = KEYS(modal_node_keys),
    [MBG__KEYS_MODAL_BEAM] = KEYS(modal_beam_keys),
    [MBG__KEYS_MODAL_FILES] = KEYS(modal_files_keys),
    [MBG__KEYS_OUTER_BODY] = KEYS(outer_body_keys),
    [MBG__KEYS_MARKER] = KEYS(marker_keys),
    [MBG__KEYS_BETWEEN] = KEYS(between_keys),
    [MBG__KEYS_JOINT] = KEYS(joint_keys),
    [MBG__KEYS_AXIS2] = KEYS(axis2_keys),
    [MBG__KEYS_DRIVER] = KEYS(driver_keys),
    [MBG__KEYS_COUPLING_TERM] = KEYS(coupling_term_keys),
    [MBG__KEYS_RATE_TERM] = {mbg__rate_term_keys, MBG__RATE_TERM_KEYS},
    [MBG__KEYS_FORCE] = KEYS(force_keys),
    [MBG__KEYS_LAW] = KEYS(law_keys),
    [MBG__KEYS_ON] = KEYS(on_keys),
    [MBG__KEYS_SPIN] = KEYS(spin_keys),
    [MBG__KEYS_BEAM] = KEYS(beam_keys),
    [MBG__KEYS_SERIES] = KEYS(series_keys),
    [MBG__KEYS_RECTANGLE] = KEYS(rectangle_keys),
    [MBG__KEYS_CIRCLE] = KEYS(circle_keys),
    [MBG__KEYS_TUBE] = KEYS(tube_keys),
    [MBG__KEYS_GENERAL] = KEYS(general_keys),
    [MBG__KEYS_SIGNAL] = KEYS(signal_keys),
    [MBG__KEYS_OF_PAIR] = KEYS(of_pair_keys),
    [MBG__KEYS_OF_COORD] = KEYS(of_coord_keys),
    [MBG__KEYS_OF_JOINT] = KEYS(of_joint_keys),
    [MBG__KEYS_OF_FORCE] = KEYS(of_force_keys),
    [MBG__KEYS_OF_BODIES] = KEYS(of_bodies_keys),
    [MBG__KEYS_OF_CONTROL] = KEYS(of_control_keys),
    [MBG__KEYS_OF_VALUE] = KEYS(of_value_keys),
    [MBG__KEYS_OF_BEAM] = KEYS(of_beam_keys),
    [MBG__KEYS_OF_MODES] = KEYS(of_modes_keys),
    [MBG__KEYS_OF_ROD] = KEYS(of_rod_keys),
    [MBG__KEYS_STATE] = KEYS(state_keys),
    [MBG__KEYS_EVENT] = KEYS(event_keys),
    [MBG__KEYS_IMPACT] = KEYS(impact_keys),
    [MBG__KEYS_OF_EVENT] = KEYS(of_event_keys),
    [MBG__KEYS_OF_TENDON] = KEYS(of_tendon_keys),
    [MBG__KEYS_CRITERION] = {NULL, 0},
    [MBG__KEYS_DATA] = KEYS(data_keys),
    [MBG__KEYS_INITIAL] = KEYS(initial_keys),
    [MBG__KEYS_GUESS] = KEYS(guess_keys),
    [MBG__KEYS_PIN] = KEYS(pin_keys),
    [MBG__KEYS_PART] = KEYS(part_keys),
    [MBG__KEYS_RUN] = KEYS(run_keys),
    [MBG__KEYS_CONTROL_TASK] = KEYS(control_task_keys),
    [MBG__KEYS_TASK_CONTROL] = KEYS(task_control_keys),
    [MBG__KEYS_RUNS] = KEYS(runs_keys),
    [MBG__KEYS_IDENTIFY] = KEYS(identify_keys),
    [MBG__KEYS_OPTIMIZE] = KEYS(optimize_keys),
    [MBG__KEYS_LIMIT] = KEYS(limit_keys),
    [MBG__KEYS_ROTATE_VECTOR] = KEYS(rotate_vector_keys),
    [MBG__KEYS_ROTATE_AXIS] = KEYS(rotate_axis_keys),
    [MBG__KEYS_ROTATE_ZX] = KEYS(rotate_zx_keys),
};

mbg__file_keys mbg__file_keys_of(mbg__file_object object) {
  const bool figure = object >= MBG__KEYS_BOX && object <= MBG__KEYS_MESH;
  const bool coupling = object >= MBG__KEYS_COUPLING && object < MBG__KEYS_COUPLING_TERM;
  const bool criterion = object >= MBG__KEYS_TERMINAL && object <= MBG__KEYS_COMBINATION;
  const bool block = object >= MBG__KEYS_BLOCK && object <= MBG__KEYS_BLOCK_MOTOR;
  const bool tendon = object >= MBG__KEYS_TENDON && object <= MBG__KEYS_PULLEY;
  return figure                        ? mbg__figure_keys((int)(object - MBG__KEYS_BOX))
         : tendon                      ? mbg__tendon_keys(object)
         : coupling                    ? mbg__coupling_keys((int)(object - MBG__KEYS_COUPLING))
         : criterion                   ? mbg__criterion_keys((int)(object - MBG__KEYS_TERMINAL))
         : block                       ? mbg__block_keys((int)(object - MBG__KEYS_BLOCK))
         : object == MBG__KEYS_CONTACT ? mbg__contact_keys()
         : object == MBG__KEYS_CURVE   ? mbg__curve_keys()
                                       : tables[object];
}

mbg__file_object mbg__signal_object(const mbg__signal_type *type) {
  return type->modes                     ? MBG__KEYS_OF_MODES
         : type->role == MBG__ROLE_AXIAL ? MBG__KEYS_OF_ROD
         : type->role == MBG__ROLE_CURVE ? MBG__KEYS_OF_ROD
                                         : (mbg__file_object)(MBG__KEYS_OF_PAIR + (int)type->of);
}

bool mbg__key_hidden(const char *name) {
  return strcmp(name, "inertia_diagonal") == 0 || strcmp(name, "inertia_products") == 0;
}
