/* The types of blocks: their keys, and the pieces that they become (theory 6, section 1). Names of pieces start with
   the name of the block, which itself is the output. */
#include "load/load_blocks.h"

#define NUMBER(word, ...)                                                                                              \
  { .name = word, .kind = MBG__KEY_NUMBER, __VA_ARGS__ }
#define INPUT(word, ...)                                                                                               \
  { .name = word, .kind = MBG__KEY_FN, .required = true, __VA_ARGS__ }
#define IN INPUT("input", .help = "expression of t, controls, states and signals up to velocities")
#define GAIN NUMBER("gain", .help = "factor of the input, 1 when absent")

/* ---------------------------------------------------------------------- filters */

static const mbg__key integrator_keys[] = {IN, GAIN};
static const char *const integrator_presets[] = {NULL, "1"};
static const mbg__block_piece integrator_pieces[] = {
    {MBG__PIECE_STATE, "$", "$_gain*$_input", "initial", "0", NULL, NULL},
};

static const mbg__key lag_keys[] = {
    IN,
    GAIN,
    NUMBER("time", .required = true, .sign = MBG__POSITIVE, .unit = "s", .help = "time constant"),
};
static const char *const lag_presets[] = {NULL, "1", NULL};
static const mbg__block_piece lag_pieces[] = {
    {MBG__PIECE_STATE, "$", "($_gain*$_input - $)/$_time", "initial", "steady", NULL, NULL},
};

static const mbg__key lead_lag_keys[] = {
    IN,
    GAIN,
    NUMBER("lead", .required = true, .unit = "s", .help = "time constant of the numerator"),
    NUMBER("lag", .required = true, .sign = MBG__POSITIVE, .unit = "s", .help = "time constant of the denominator"),
};
static const char *const lead_lag_presets[] = {NULL, "1", NULL, NULL};
static const mbg__block_piece lead_lag_pieces[] = {
    {MBG__PIECE_STATE, "$_state", "($_input - $_state)/$_lag", "initial", "steady", NULL, NULL},
    {MBG__PIECE_SIGNAL, "$", "$_gain*($_state + $_lead/$_lag*($_input - $_state))", NULL, NULL, NULL, NULL},
};

static const mbg__key low_pass_keys[] = {
    IN,
    GAIN,
    NUMBER("frequency", .required = true, .sign = MBG__POSITIVE, .unit = "Hz", .help = "corner frequency"),
    NUMBER("damping", .sign = MBG__POSITIVE, .help = "damping ratio, 1/sqrt(2) when absent"),
};
static const char *const low_pass_presets[] = {NULL, "1", NULL, "sqrt(0.5)"};
#define LOW_PASS "2*pi*$_frequency*(2*pi*$_frequency*($_gain*$_input - $) - 2*$_damping*$_rate)"
static const mbg__block_piece low_pass_pieces[] = {
    {MBG__PIECE_STATE, "$", "$_rate", "initial", "steady", NULL, NULL},
    {MBG__PIECE_STATE, "$_rate", LOW_PASS, NULL, "steady", NULL, "initial"},
    {MBG__PIECE_STATE, "$_rate", LOW_PASS, NULL, "0", "initial", NULL},
};

static const mbg__key delay_keys[] = {
    IN,
    NUMBER("time", .required = true, .sign = MBG__POSITIVE, .unit = "s", .help = "delay"),
};
static const char *const delay_presets[] = {NULL, NULL};

/* ---------------------------------------------------------------------- controllers */

static const mbg__key pid_keys[] = {
    INPUT("input", .help = "error: target minus measured value, of t, controls, states and signals up to velocities"),
    NUMBER("kp", .required = true, .help = "proportional gain"),
    NUMBER("ki", .help = "integral gain; absent: no integral"),
    NUMBER("kd", .help = "derivative gain; absent: no derivative"),
    NUMBER("filter", .sign = MBG__POSITIVE, .unit = "s", .help = "time constant that filters the derivative"),
    NUMBER("min", .help = "lower limit of the output, with `max`"),
    NUMBER("max", .help = "upper limit of the output, reached smoothly (tanh)"),
    NUMBER("tracking", .sign = MBG__POSITIVE, .unit = "s",
           .help = "time in which the integral leaves a limit (anti-windup), kp/ki when absent"),
};
static const char *const pid_presets[] = {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
#define WINDUP "$_ki*$_input + ($ - $_raw)"
static const mbg__block_piece pid_pieces[] = {
    {MBG__PIECE_STATE, "$_filtered", "($_input - $_filtered)/$_filter", NULL, "steady", "kd", NULL},
    {MBG__PIECE_SIGNAL, "$_derivative", "$_kd*($_input - $_filtered)/$_filter", NULL, NULL, "kd", NULL},
    {MBG__PIECE_SIGNAL, "$_derivative", "0", NULL, NULL, NULL, "kd"},
    {MBG__PIECE_STATE, "$_integral", "$_ki*$_input", "initial", "0", "ki", "max"},
    {MBG__PIECE_STATE, "$_integral", WINDUP "/$_tracking", "initial", "0", "ki max tracking", NULL},
    {MBG__PIECE_STATE, "$_integral", WINDUP "*$_ki/$_kp", "initial", "0", "ki max", "tracking"},
    {MBG__PIECE_SIGNAL, "$_integral", "0", NULL, NULL, NULL, "ki"},
    {MBG__PIECE_SIGNAL, "$_raw", "$_kp*$_input + $_integral + $_derivative", NULL, NULL, NULL, NULL},
    {MBG__PIECE_SIGNAL, "$", "$_raw", NULL, NULL, NULL, "max"},
    {MBG__PIECE_SIGNAL, "$", "($_max + $_min)/2 + ($_max - $_min)/2*tanh((2*$_raw - $_max - $_min)/($_max - $_min))",
     NULL, NULL, "max", NULL},
};

/* `key` needs `other`, because of what the text says */
static int check_needs(mbg__item *item, const char *key, const char *other, const char *why) {
  const mbg__json *json = mbg__json_member(item->json, key);
  return !json || mbg__json_member(item->json, other)
             ? MBG_OK
             : mbg__item_bad_key(item, json, "'%s' needs '%s': %s", key, other, why);
}

static int check_pid(mbg__item *item) {
  static const char *const needs[][3] = {
      {"kd", "filter", "a derivative is filtered"},
      {"filter", "kd", "it filters the derivative"},
      {"min", "max", "the output is limited on both sides"},
      {"max", "min", "the output is limited on both sides"},
      {"tracking", "ki", "it resets the integral at a limit"},
      {"tracking", "max", "it resets the integral at a limit"},
      {"initial", "ki", "it is the integral at the start"},
  };
  int err = MBG_OK;
  for (int i = 0; i < MBG_COUNT(needs); i++) {
    MBG_TRY(check_needs(item, needs[i][0], needs[i][1], needs[i][2]));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- actuators */

static const mbg__key motor_keys[] = {
    INPUT("voltage", .unit = "V", .help = "expression of t, controls, states and signals up to velocities"),
    NUMBER("resistance", .required = true, .sign = MBG__POSITIVE, .unit = "ohm", .help = "of the winding"),
    NUMBER("inductance", .required = true, .sign = MBG__POSITIVE, .unit = "H", .help = "of the winding"),
    NUMBER("constant", .required = true, .unit = "N m/A", .help = "torque by current, and voltage by speed"),
    NUMBER("gear", .help = "turns of the motor for one of the joint, 1 when absent"),
};
static const char *const motor_presets[] = {NULL, NULL, NULL, NULL, "1"};
static const mbg__block_piece motor_pieces[] = {
    {MBG__PIECE_RATE, "$_speed", NULL, NULL, NULL, NULL, NULL},
    {MBG__PIECE_STATE, "$_current", "($_voltage - $_resistance*$_current - $_constant*$_gear*$_speed)/$_inductance",
     "initial", "steady", NULL, NULL},
    {MBG__PIECE_SIGNAL, "$", "$_gear*$_constant*$_current", NULL, NULL, NULL, NULL},
    {MBG__PIECE_JOINT_FORCE, "$", "$", NULL, NULL, NULL, NULL},
};

/* four throttles of a valve, open by 1 + valve and 1 - valve; q(d) = d/(d^2 + smoothing^2)^(1/4), a square root with
   finite slope at 0 */
static const mbg__key cylinder_keys[] = {
    INPUT("valve", .help = "position of the valve, -1 to 1; positive: the cylinder grows"),
    NUMBER("area_a", .required = true, .sign = MBG__POSITIVE, .unit = "m^2",
           .help = "piston area of the chamber that pushes"),
    NUMBER("area_b", .required = true, .sign = MBG__POSITIVE, .unit = "m^2",
           .help = "ring area of the chamber that pulls"),
    NUMBER("volume_a", .required = true, .sign = MBG__POSITIVE, .unit = "m^3", .help = "oil in chamber a at `length`"),
    NUMBER("volume_b", .required = true, .sign = MBG__POSITIVE, .unit = "m^3", .help = "oil in chamber b at `length`"),
    NUMBER("length", .required = true, .sign = MBG__POSITIVE, .unit = "m", .help = "length at which the volumes hold"),
    NUMBER("bulk_modulus", .required = true, .sign = MBG__POSITIVE, .unit = "Pa", .help = "of the oil"),
    NUMBER("flow", .required = true, .sign = MBG__POSITIVE, .unit = "m^3/(s Pa^(1/2))",
           .help = "flow of a throttle of the valve in the middle by root of pressure"),
    NUMBER("supply", .required = true, .sign = MBG__POSITIVE, .unit = "Pa", .help = "pressure of the pump"),
    NUMBER("tank", .unit = "Pa", .help = "pressure of the tank, 1e5 when absent"),
    NUMBER("leakage", .sign = MBG__NOT_NEGATIVE, .unit = "m^3/(s Pa)",
           .help = "flow from a to b by pressure, 0 when absent"),
    NUMBER("smoothing", .sign = MBG__POSITIVE, .unit = "Pa",
           .help = "pressure below which throttles are linear, 1e5 when absent"),
};
static const char *const cylinder_presets[] = {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, "1e5", "0", "1e5"};
#define THROTTLE(open, p, q) "(1 " open " $_valve)*(" p " - " q ")/((" p " - " q ")^2 + $_smoothing^2)^0.25"
#define FLOW(in, out, p) "$_flow*(" THROTTLE(in, "$_supply", p) " - " THROTTLE(out, p, "$_tank") ")"
/* a root of the volumes stops a run when the piston leaves the cylinder */
static const mbg__block_piece cylinder_pieces[] = {
    {MBG__PIECE_DISTANCE, "$_distance", NULL, NULL, NULL, NULL, NULL},
    {MBG__PIECE_DISTANCE_RATE, "$_speed", NULL, NULL, NULL, NULL, NULL},
    {MBG__PIECE_SIGNAL, "$_flow_a", FLOW("+", "-", "$_pressure_a"), NULL, NULL, NULL, NULL},
    {MBG__PIECE_SIGNAL, "$_flow_b", FLOW("-", "+", "$_pressure_b"), NULL, NULL, NULL, NULL},
    {MBG__PIECE_SIGNAL, "$_oil_a", "$_volume_a + $_area_a*($_distance - $_length)", NULL, NULL, NULL, NULL},
    {MBG__PIECE_SIGNAL, "$_oil_b", "$_volume_b - $_area_b*($_distance - $_length)", NULL, NULL, NULL, NULL},
    {MBG__PIECE_STATE, "$_pressure_a",
     "$_bulk_modulus/sqrt($_oil_a)^2*($_flow_a - $_area_a*$_speed - $_leakage*($_pressure_a - $_pressure_b))",
     "pressure_a", "steady $_supply/2", NULL, NULL},
    {MBG__PIECE_STATE, "$_pressure_b",
     "$_bulk_modulus/sqrt($_oil_b)^2*($_flow_b + $_area_b*$_speed + $_leakage*($_pressure_a - $_pressure_b))",
     "pressure_b", "steady $_supply/2", NULL, NULL},
    {MBG__PIECE_SIGNAL, "$", "$_area_a*$_pressure_a - $_area_b*$_pressure_b", NULL, NULL, NULL, NULL},
    {MBG__PIECE_DISTANCE_FORCE, "$", "$", NULL, NULL, NULL, NULL},
};

static int check_cylinder(mbg__item *item) {
  const mbg__json *ends = mbg__json_member(item->json, "between");
  return !ends || (ends->kind == MBG__JSON_ARRAY && ends->count == 2)
             ? MBG_OK
             : mbg__item_bad(item, ends, "between: expected the names of two markers or bodies");
}

/* sliding builds up over a length of the road; the force is limited by friction */
static const mbg__key tyre_keys[] = {
    INPUT("sliding", .unit = "m/s", .help = "speed at which the tread of a stiff tyre would slide, along the force"),
    INPUT("speed", .unit = "m/s", .help = "speed at which the wheel travels"),
    INPUT("load", .unit = "N", .help = "force that presses the wheel onto the road"),
    NUMBER("relaxation", .required = true, .sign = MBG__POSITIVE, .unit = "m", .help = "relaxation length"),
    NUMBER("stiffness", .required = true, .sign = MBG__POSITIVE, .unit = "N", .help = "force by slip, of small slip"),
    NUMBER("friction", .required = true, .sign = MBG__POSITIVE,
           .help = "coefficient of friction, the limit of force by load"),
};
static const char *const tyre_presets[] = {NULL, NULL, NULL, NULL, NULL, NULL};
static const mbg__block_piece tyre_pieces[] = {
    {MBG__PIECE_STATE, "$_slip", "($_sliding - abs($_speed)*$_slip)/$_relaxation", "initial", "steady", NULL, NULL},
    {MBG__PIECE_SIGNAL, "$", "$_friction*$_load*tanh($_stiffness*$_slip/($_friction*$_load))", NULL, NULL, NULL, NULL},
};

/* ---------------------------------------------------------------------- the list */

#define BLOCK(word, text, list, ...)                                                                                   \
  {                                                                                                                    \
    .key = word, .help = text, .keys = list##_keys, .nkey = MBG_COUNT(list##_keys), .presets = list##_presets,         \
    __VA_ARGS__                                                                                                        \
  }
#define PIECES(list) .pieces = list##_pieces, .npiece = MBG_COUNT(list##_pieces)

static const mbg__block_type types[] = {
    BLOCK("pid", "controller with proportional, integral and filtered derivative part, limits and anti-windup", pid,
          PIECES(pid), .own = {MBG__KEYS_BLOCK, MBG__KEYS_BLOCK_START}, .check = check_pid),
    BLOCK("lag", "first-order lag, gain/(1 + time s)", lag, PIECES(lag),
          .own = {MBG__KEYS_BLOCK, MBG__KEYS_BLOCK_START}),
    BLOCK("lead-lag", "gain (1 + lead s)/(1 + lag s)", lead_lag, PIECES(lead_lag),
          .own = {MBG__KEYS_BLOCK, MBG__KEYS_BLOCK_START}),
    BLOCK("low-pass", "second-order filter, gain w^2/(s^2 + 2 damping w s + w^2), w = 2 pi frequency", low_pass,
          PIECES(low_pass), .own = {MBG__KEYS_BLOCK, MBG__KEYS_BLOCK_START}),
    BLOCK("integrator", "gain/s", integrator, PIECES(integrator), .own = {MBG__KEYS_BLOCK, MBG__KEYS_BLOCK_START}),
    BLOCK("delay", "delay by a Pade approximation of its order in numerator and denominator", delay,
          .own = {MBG__KEYS_BLOCK, MBG__KEYS_BLOCK_DELAY}),
    BLOCK("hydraulic-cylinder", "cylinder between two markers with a four-way valve and compressible oil", cylinder,
          PIECES(cylinder), .own = {MBG__KEYS_BLOCK, MBG__KEYS_BLOCK_CYLINDER}, .check = check_cylinder),
    BLOCK("dc-motor", "motor on a joint with resistance and inductance of its winding", motor, PIECES(motor),
          .own = {MBG__KEYS_BLOCK, MBG__KEYS_BLOCK_MOTOR}),
    BLOCK("tyre", "force of a tyre with relaxation length, limited by friction", tyre, PIECES(tyre),
          .own = {MBG__KEYS_BLOCK, MBG__KEYS_BLOCK_START}),
};

const mbg__block_type *mbg__block_types(int *n) {
  *n = MBG_COUNT(types);
  return types;
}

/* ---------------------------------------------------------------------- delay */

/* Pade approximation N(s)/D(s), D(s) = sum d_k (tau s)^k, N(s) = D(-s), tau = time/n.
   With D X = input and z_k = tau^k X^(k)

     z_k' = z_k+1/tau   z_n-1' = (input - sum d_k z_k)/(d_n tau)   output = sum ((-1)^k - (-1)^n) d_k z_k + (-1)^n input

   so that z is (input, 0, ...) when nothing changes. */
int mbg__delay_rates(mbg__loader *L, const char *name, int n, char **rates, char **output) {
  const size_t size = (size_t)(n + 2) * (strlen(name) + 48);
  double d = 1;
  char *last = mbg__arena_take(&L->temp, size, 1);
  *output = mbg__arena_take(&L->temp, size, 1);
  for (int k = 0; k < n; k++) {
    rates[k] = mbg__arena_take(&L->temp, size, 1);
  }
  if (mbg__arena_check(L->ctx, &L->temp) < 0) {
    return MBG_ERROR_MEMORY;
  }
  mbg__format(last, size, "(%s_input", name);
  mbg__format(*output, size, n % 2 ? "-%s_input" : "%s_input", name);
  for (int k = 0; k < n; k++) {
    size_t at = strlen(last);
    mbg__format(last + at, size - at, " - %.17g*%s_z[%d]", d, name, k);
    if ((n - k) % 2) {
      at = strlen(*output);
      mbg__format(*output + at, size - at, " %c %.17g*%s_z[%d]", k % 2 ? '-' : '+', 2 * d, name, k);
    }
    mbg__format(rates[k], size, "%d*%s_z[%d]/%s_time", n, name, k + 1, name);
    d *= (double)n * (n - k) / ((double)(2 * n - k) * (k + 1)); /* d_k+1/d_k = n c_k+1/c_k */
  }
  mbg__format(rates[n - 1], size, "%s)*%.17g/%s_time", last, n / d, name);
  return MBG_OK;
}
