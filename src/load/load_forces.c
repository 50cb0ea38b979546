/* Forces: laws along a coordinate, and wrenches between two markers. */
#include "elements/contact_shape.h"
#include "load/load.h"
#include "load/load_tendons.h"

#include <string.h>

typedef struct {
  const mbg__law_type *law; /* law or type is NULL */
  const mbg__force_type *type;
  const mbg__key *keys;
  int nkey;
} force_type;

static int find_type(mbg__item *item, force_type *out) {
  int nlaw, nforce, k;
  const mbg__law_type *const *laws = mbg__law_types(&nlaw);
  const mbg__force_type *const *forces = mbg__force_types(&nforce);
  const char *keys[MBG__TYPES_MAX];
  *out = (force_type){0};
  assert(nlaw + nforce <= MBG__TYPES_MAX);
  for (int i = 0; i < nlaw; i++) {
    keys[i] = laws[i]->key;
  }
  for (int i = 0; i < nforce; i++) {
    keys[nlaw + i] = forces[i]->key;
  }
  const int err = mbg__item_own_type(item, keys, nlaw + nforce, &k);
  if (k >= 0 && k < nlaw) {
    *out = (force_type){laws[k], NULL, laws[k]->keys, laws[k]->nkey};
  } else if (k >= 0) {
    *out = (force_type){NULL, forces[k - nlaw], forces[k - nlaw]->keys, forces[k - nlaw]->nkey};
  }
  return err;
}

static bool has_key(const force_type *t, const char *name) {
  for (int k = 0; k < t->nkey; k++) {
    if (strcmp(t->keys[k].name, name) == 0) {
      return true;
    }
  }
  return false;
}

int mbg__force_objects(const mbg__law_type *law, const mbg__force_type *type, mbg__file_object own[4]) {
  int n = 0;
  own[n++] = MBG__KEYS_FORCE;
  if (law && law->tendon) {
    own[n++] = MBG__KEYS_TENDON;
    return n;
  }
  own[n++] = MBG__KEYS_BETWEEN;
  if (law) {
    own[n++] = MBG__KEYS_LAW;
  } else if (type->on_one) {
    own[n++] = MBG__KEYS_ON;
  }
  if (type && type->z_axis) {
    own[n++] = MBG__KEYS_SPIN;
  }
  return n;
}

static int check_keys(mbg__item *item, const force_type *t) {
  mbg__file_object own[4];
  const int n = mbg__force_objects(t->law, t->type, own);
  return mbg__item_keys(item, item->json, own, n, t->keys, t->nkey);
}

/* ---------------------------------------------------------------------- laws */

static int law_along(mbg__item *item, mbg__force *force, const mbg__json *along) {
  int err = MBG_OK, n, k = -1;
  const mbg__coord_type *const *types = mbg__coord_types(&n);
  const mbg__coord_type *type = mbg__coord_find(force->law->coord);
  char all[256] = "";
  if (along) {
    for (int i = 0; i < n; i++) {
      const size_t used = strlen(all);
      mbg__format(all + used, sizeof(all) - used, "%s%s", i ? " " : "", types[i]->key);
    }
    MBG_TRY(mbg__item_choice(item, along, "along", all, &k));
    type = k >= 0 ? types[k] : NULL;
  }
  if (!type || force->pair < 0) {
    return MBG_OK;
  }
  const double sign = mbg__coord_sign(item->source, type);
  if (sign == 0) {
    return mbg__item_bad_key(item, item->json, "coordinate '%s' cannot be mirrored along this axis", type->key);
  }
  MBG_TRY(mbg__coord_add(item->L, type, force->pair, sign, true, &force->coord));
done:
  return err;
}

static int law_place(mbg__item *item, mbg__force *force) {
  int err = MBG_OK;
  static const mbg__ends_rule rule = {MBG__AXES_Z, false, false, true};
  const mbg__json *joint = mbg__json_member(item->json, "joint"), *between = mbg__json_member(item->json, "between");
  const mbg__json *along = mbg__json_member(item->json, "along");
  const mbg__json *coordinate = mbg__json_member(item->json, "coordinate");
  if (!joint == !between) {
    return item->bad ? MBG_OK
                     : mbg__item_bad_key(item, item->json, "give 'between' or 'joint'%s", joint ? ", not both" : "");
  }
  if (joint && along) {
    MBG_TRY(mbg__item_bad_key(item, along, "'along' requires 'between'; with 'joint' use 'coordinate'"));
  }
  if (between && coordinate) {
    MBG_TRY(mbg__item_bad_key(item, coordinate, "'coordinate' requires 'joint'; with 'between' use 'along'"));
  }
  if (between) {
    MBG_TRY(mbg__item_ends(item, &rule, &force->pair));
    return law_along(item, force, along);
  }
  mbg__symbol *symbol;
  MBG_TRY(mbg__item_reference(item, joint, "joint", MBG__NAME_JOINT, &symbol));
  if (symbol) {
    force->joint = symbol->index;
    force->pair = item->L->joints.at[symbol->index].pair;
    MBG_TRY(mbg__item_joint_coord(item, symbol, coordinate, true, &force->coord));
  }
done:
  return err;
}

/* Absent limits are infinite; one is required, and lower is below upper. */
static int check_limits(mbg__item *item, const force_type *t, const mbg__force *force) {
  const mbg__json *lower = mbg__json_member(item->json, "lower"), *upper = mbg__json_member(item->json, "upper");
  if (item->bad || !has_key(t, "lower") || !has_key(t, "upper")) {
    return MBG_OK;
  }
  if (!lower && !upper) {
    return mbg__item_bad_key(item, item->json, "'lower' or 'upper' is missing");
  }
  int attr[2] = {-1, -1};
  for (int k = 0, a = force->attr; k < t->nkey; k++) {
    if (t->keys[k].kind != MBG__KEY_NUMBER) {
      continue;
    }
    attr[0] = strcmp(t->keys[k].name, "lower") == 0 ? a : attr[0];
    attr[1] = strcmp(t->keys[k].name, "upper") == 0 ? a : attr[1];
    a++;
  }
  const double low = mbg__value(item->L, attr[0]), high = mbg__value(item->L, attr[1]);
  if (low >= high) {
    return mbg__item_bad(item, lower ? lower : upper, "lower %g is not below upper %g", low, high);
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- wrenches */

/* marker B with z along the axis */
static int spin_marker(mbg__item *item, const mbg__json *axis, int *marker) {
  int err = MBG_OK, direction, first, pose;
  mbg__loader *L = item->L;
  const mbg__where where = mbg__item_where_key(item, item->json);
  const mbg__marker on = L->markers.at[*marker];
  MBG_TRY(mbg__item_direction(item, axis, "axis", &direction));
  if (item->bad) {
    return MBG_OK;
  }
  MBG_TRY(mbg__pose_begin(L, &first));
  MBG_TRY(mbg__pose_op_add(L, MBG__POSE_OF, 0, on.pose));
  MBG_TRY(mbg__pose_enter_local(L, item->source));
  MBG_TRY(mbg__pose_align(L, 2, direction));
  MBG_TRY(mbg__pose_leave(L, item->source));
  MBG_TRY(mbg__pose_end(item, first, &pose));
  MBG_TRY(mbg__marker_add(L, NULL, on.body, pose, &where, marker));
  L->markers.at[*marker].node = on.node;
done:
  return err;
}

/* "on": B is the marker, A the ground of the part; roads belong to the ground of the model */
static int wrench_on(mbg__item *item, const mbg__force_type *type, const mbg__json *on, int *pair) {
  int err = MBG_OK, A, B;
  mbg__loader *L = item->L;
  static const mbg__json ground = {.kind = MBG__JSON_STRING, .text = "ground", .length = 6};
  const mbg__json *axis = type->z_axis ? mbg__json_member(item->json, "axis") : NULL;
  mbg__item world = *item;
  MBG_TRY(mbg__item_marker(item, on, "on", &B));
  if (B < 0) {
    return MBG_OK;
  }
  if (L->markers.at[B].body < 0) {
    return mbg__item_bad(item, on, "on: a force on the ground has no effect");
  }
  world.source = type->of_world ? L->sources.at[0] : item->source;
  MBG_TRY(mbg__item_marker(&world, &ground, "on", &A));
  if (axis) {
    MBG_TRY(spin_marker(item, axis, &B));
  }
  MBG_TRY(mbg__pair_add(L, A, B, pair));
done:
  return err;
}

/* keys that place the markers of "between" would have no effect beside "on" */
static int check_on_keys(mbg__item *item, const force_type *t) {
  static const char *const keys[] = {"at", "axis", "x", "points", "axes", "in"};
  for (int i = 0; i < MBG_COUNT(keys); i++) {
    const mbg__json *value = mbg__json_member(item->json, keys[i]);
    if (value && !has_key(t, keys[i]) && !(t->type->z_axis && strcmp(keys[i], "axis") == 0)) {
      return mbg__item_bad_key(
          item, value, "'%s' goes with 'between'; 'on' names a marker or a body, so put a marker there", keys[i]);
    }
  }
  return MBG_OK;
}

static int wrench_place(mbg__item *item, const force_type *t, mbg__force *force) {
  int err = MBG_OK;
  const mbg__ends_rule rule = {MBG__AXES_Z, false, false, !has_key(t, "in")};
  const mbg__json *on = t->type->on_one ? mbg__json_member(item->json, "on") : NULL;
  const mbg__json *between = mbg__json_member(item->json, "between");
  if (on && between) {
    return mbg__item_bad_key(item, between, "give 'on' or 'between', not both");
  }
  if (on) {
    MBG_TRY(check_on_keys(item, t));
    return wrench_on(item, t->type, on, &force->pair);
  }
  if (!between) {
    return item->bad ? MBG_OK : mbg__item_missing(item, item->json, t->type->on_one ? "on" : "between");
  }
  MBG_TRY(mbg__item_ends(item, &rule, &force->pair));
  if (!rule.has_in && force->pair >= 0) {
    MBG_TRY(mbg__item_world_axes(item, force->pair, true));
  }
done:
  return err;
}

static int check_data(mbg__item *item, const mbg__force *force) {
  char why[256] = "";
  if (item->bad || !force->type || !force->type->check) {
    return MBG_OK;
  }
  if (force->type->check(item->L->values[0].at + force->attr, force->opt, why, sizeof(why))) {
    return MBG_OK;
  }
  return mbg__item_bad_key(item, item->json, "%s", why);
}

/* A road belongs to its shape. The side of a plane and the course of a road turn around in a mirror across them. */
static int check_contact(mbg__item *item, const mbg__force *force) {
  static const char *const axes[] = {"x", "y", "z"};
  const mbg__json *road = mbg__json_member(item->json, "road");
  if (item->bad || !force->type || !force->type->measure) {
    return MBG_OK;
  }
  const bool has_road = force->opt[0] == MBG__CONTACT_ROAD, flat = has_road || force->opt[0] == MBG__CONTACT_PLANE;
  if (!has_road == (road != NULL)) {
    return has_road ? mbg__item_missing(item, item->json, "road")
                    : mbg__item_bad_key(item, road, "'road' belongs to the shape 'sphere-road'");
  }
  const double *sign = item->source->sign;
  const int up = force->opt[1], along = up == 0, axis = sign[up] < 0 ? up : along;
  if ((force->shaped || mbg__json_member(item->json, "between")) && flat &&
      (sign[up] < 0 || (has_road && sign[along] < 0))) {
    return mbg__item_bad_key(item, item->json, "this contact cannot be mirrored along %s: use 'on'", axes[axis]);
  }
  return MBG_OK;
}

/* value of a function that depends on no time, control or signal; 0 for others */
static int constant_function(mbg__loader *L, int fn, double *value) {
  const mbg__fn *f = &L->fns.at[fn];
  real x[8], y = 0;
  *value = 0;
  if (f->ninput > MBG_COUNT(x)) {
    return MBG_OK;
  }
  for (int k = 0; k < f->ninput; k++) {
    if (f->input[k].role != MBG__ROLE_ATTR) {
      return MBG_OK;
    }
    x[k] = mbg__value(L, f->input[k].index);
  }
  real *work = mbg__alloc(L->ctx, mbg__expr_scratch(f->expr), sizeof(real));
  if (!work) {
    return mbg__fail_memory(L->ctx);
  }
  *value = mbg__expr_value(NULL, f->expr, x, work, &y) == MBG_OK ? re(y) : 0;
  mbg__free(L->ctx, work);
  return MBG_OK;
}

/* a constant force on a planar body lies in the plane, its torque is normal to the plane; a point takes no torque */
static int check_plane(mbg__item *item, const mbg__force *force) {
  mbg__loader *L = item->L;
  double f[6], n[6];
  if (item->bad || !force->type || strcmp(force->type->key, "force") != 0 || force->pair < 0 || force->nfn != 6) {
    return MBG_OK;
  }
  const mbg__pair *pair = &L->pairs.at[force->pair];
  const mbg__marker *B = &L->markers.at[pair->B], *axes = force->opt[0] != 1 ? &L->markers.at[pair->A] : B;
  const mbg__motion motion = B->body >= 0 ? L->bodies.at[B->body].motion : MBG__SPATIAL;
  const mbg__frame *h = &L->placed[0].at[axes->pose].h;
  for (int k = 0; k < 6; k++) {
    const int err = constant_function(L, force->fn + k, &f[k]);
    if (err < 0) {
      return err;
    }
  }
  for (int k = 0; k < 6; k++) {
    const double *v = f + 3 * (k / 3);
    n[k] = re(h->R[3 * (k % 3)] * v[0] + h->R[3 * (k % 3) + 1] * v[1] + h->R[3 * (k % 3) + 2] * v[2]);
  }
  const double force_size = fabs(n[0]) + fabs(n[1]) + fabs(n[2]), torque_size = fabs(n[3]) + fabs(n[4]) + fabs(n[5]);
  if ((motion == MBG__POINT || motion == MBG__PLANAR_POINT) && torque_size > 0) {
    return mbg__item_bad_key(item, item->json, "a torque cannot act on the point '%s'", L->bodies.at[B->body].name);
  }
  if ((motion == MBG__PLANAR || motion == MBG__PLANAR_POINT) && fabs(n[2]) > 1e-9 * force_size) {
    return mbg__item_bad_key(item, item->json, "the force has an out-of-plane component %g on the planar body '%s'",
                             n[2], L->bodies.at[B->body].name);
  }
  if (motion == MBG__PLANAR && fabs(n[3]) + fabs(n[4]) > 1e-9 * torque_size) {
    return mbg__item_bad_key(item, item->json, "the torque on the planar body '%s' must act about z",
                             L->bodies.at[B->body].name);
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- all of them */

static void begin_force(const mbg__item *item, mbg__force *force) {
  *force = (mbg__force){.name = item->name, .pair = -1, .coord = -1, .joint = -1};
  force->where = mbg__item_where_key(item, item->json);
}

/* numbers and functions */
static int read_force(mbg__item *item, const force_type *t, mbg__force *force) {
  int err = MBG_OK;
  force->law = t->law;
  force->type = t->type;
  MBG_TRY(mbg__item_type_numbers(item, t->keys, t->nkey, &force->attr, &force->nattr, &force->opt));
  MBG_TRY(mbg__item_type_functions(item, t->keys, t->nkey, &force->fn, &force->nfn));
  force->nact = force->nattr;
  for (int k = 0; k < force->nfn; k++) {
    force->nact += item->L->fns.at[force->fn + k].nact;
  }
done:
  return err;
}

static int load_force(mbg__item *item, mbg__force *force) {
  int err = MBG_OK;
  force_type t;
  bool yes;
  begin_force(item, force);
  MBG_TRY(mbg__item_object(item, item->json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(find_type(item, &t));
  if (!t.law && !t.type) {
    return MBG_OK;
  }
  MBG_TRY(check_keys(item, &t));
  if (t.law && t.law->tendon) {
    force->law = t.law;
    MBG_TRY(mbg__item_type_numbers(item, t.keys, t.nkey, &force->attr, &force->nattr, &force->opt));
    return mbg__tendon_forces(item, force);
  }
  MBG_TRY(read_force(item, &t, force));
  MBG_TRY(t.law ? law_place(item, force) : wrench_place(item, &t, force));
  MBG_TRY(check_limits(item, &t, force));
  MBG_TRY(check_data(item, force));
  MBG_TRY(check_contact(item, force));
  MBG_TRY(check_plane(item, force));
done:
  return err;
}

static int add_force(mbg__item *item, mbg__symbol *symbol) {
  mbg__force force;
  symbol->index = item->L->forces.count;
  const int err = load_force(item, &force);
  if (err < 0 || item->L->forces.count > symbol->index) { /* a tendon has added its forces */
    return err;
  }
  return MBG__ADD(item->L, item->L->forces, force);
}

const mbg__force_type *mbg__contact_type(void) {
  int n, k = 0;
  const mbg__force_type *const *types = mbg__force_types(&n);
  while (strcmp(types[k]->key, "contact") != 0) {
    k++;
    assert(k < n);
  }
  return types[k];
}

int mbg__contact_force_add(mbg__item *item, const mbg__force_type *type, int pair, int *index) {
  int err = MBG_OK;
  const force_type t = {NULL, type, type->keys, type->nkey};
  mbg__force force;
  begin_force(item, &force);
  force.pair = pair;
  force.shaped = true;
  MBG_TRY(read_force(item, &t, &force));
  MBG_TRY(check_data(item, &force));
  MBG_TRY(check_contact(item, &force));
  *index = item->L->forces.count;
  MBG_TRY(MBG__ADD(item->L, item->L->forces, force));
done:
  return err;
}

int mbg__load_forces(mbg__loader *L) { return mbg__load_each(L, MBG__NAME_FORCE, add_force); }
