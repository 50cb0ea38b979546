/* Bodies: type, motion, inertia, design configuration, first guess. */
#include "load/load.h"

#include <string.h>

/* ---------------------------------------------------------------------- inertia */

static int check_inertia_shape(mbg__item *item, mbg__motion motion) {
  const mbg__json *json = mbg__json_member(item->json, "inertia");
  if (!json) {
    return MBG_OK;
  }
  if (motion == MBG__POINT || motion == MBG__PLANAR_POINT) {
    return mbg__item_bad_key(item, json, "a point has no inertia");
  }
  if (json->kind == MBG__JSON_ARRAY && json->count != 3 && json->count != 6) {
    return mbg__item_bad(item, json,
                         "inertia: expected 3 or 6 entries, [xx, yy, zz] or [xx, yy, zz, xy, xz, yz], or a matrix of "
                         "three rows, found %d",
                         json->count);
  }
  const mbg__json *row = json->kind == MBG__JSON_ARRAY ? json->child : NULL;
  for (const bool matrix = row && row->kind == MBG__JSON_ARRAY; row; row = row->next) {
    if (matrix != (row->kind == MBG__JSON_ARRAY) || (matrix && (row->count != 3 || json->count != 3))) {
      return mbg__item_bad(item, row, "inertia: a matrix has three rows of three numbers");
    }
  }
  if (motion == MBG__SPATIAL && (json->kind == MBG__JSON_NUMBER || json->kind == MBG__JSON_STRING)) {
    return mbg__item_bad(
        item, json, "inertia: a single number applies only to planar bodies; give [xx, yy, zz] or all six entries");
  }
  return MBG_OK;
}

/* eigenvalues of a symmetric matrix, by Jacobi rotations */
static void eigenvalues(double A[3][3], double e[3]) {
  for (int sweep = 0; sweep < 30; sweep++) {
    for (int p = 0; p < 2; p++) {
      for (int q = p + 1; q < 3; q++) {
        if (A[p][q] == 0) {
          continue;
        }
        const double h = (A[q][q] - A[p][p]) / (2 * A[p][q]);
        const double t = (h < 0 ? -1 : 1) / (fabs(h) + sqrt(h * h + 1)), c = 1 / sqrt(t * t + 1), s = t * c;
        for (int k = 0; k < 3; k++) {
          const double a = A[k][p], b = A[k][q];
          A[k][p] = c * a - s * b;
          A[k][q] = s * a + c * b;
        }
        for (int k = 0; k < 3; k++) {
          const double a = A[p][k], b = A[q][k];
          A[p][k] = c * a - s * b;
          A[q][k] = s * a + c * b;
        }
      }
    }
  }
  for (int i = 0; i < 3; i++) {
    e[i] = A[i][i];
  }
}

/* principal moments about the centre of mass, smallest first, from the mass matrix; scale: size of the numbers */
static void principal_moments(const real M[36], double e[3], double *zz, double *scale) {
  const double m = re(M[0]);
  const double c[3] = {m > 0 ? re(M[31]) / m : 0, m > 0 ? re(M[20]) / m : 0, m > 0 ? re(M[24]) / m : 0};
  const double cc = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
  double J[3][3];
  *scale = 0;
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      J[i][j] = re(M[6 * (3 + i) + 3 + j]) - m * ((i == j) * cc - c[i] * c[j]);
      *scale = fmax(*scale, fabs(re(M[6 * (3 + i) + 3 + j])));
    }
  }
  *zz = J[2][2];
  eigenvalues(J, e);
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < 2; i++) {
      if (e[i] > e[i + 1]) {
        const double swap = e[i];
        e[i] = e[i + 1];
        e[i + 1] = swap;
      }
    }
  }
}

static int check_inertia(mbg__item *item, const mbg__body *body) {
  const mbg__json *json = mbg__json_member(item->json, "inertia");
  real M[36];
  double e[3], zz, scale;
  if (item->bad || body->motion == MBG__POINT || body->motion == MBG__PLANAR_POINT) {
    return MBG_OK;
  }
  body->type->inertia(item->L->values[0].at + body->attr, body->opt, M, NULL);
  principal_moments(M, e, &zz, &scale);
  const double tolerance = 1e-9 * scale;
  if (!json) {
    return MBG_OK;
  }
  if (body->motion == MBG__PLANAR && json->kind != MBG__JSON_ARRAY) {
    if (zz < -tolerance) {
      return mbg__item_bad(item, json, "inertia about the centre of mass must not be negative, is %g", zz);
    }
    return MBG_OK;
  }
  if (e[0] < -tolerance) {
    return mbg__item_bad(item, json,
                         "inertia is not positive: its principal moments about the centre of mass are %g, %g, %g", e[0],
                         e[1], e[2]);
  }
  const mbg__json *moments = mbg__json_member(item->json, "moments");
  const bool any = moments && moments->kind == MBG__JSON_STRING && !strcmp(moments->text, "any");
  if (e[2] > e[0] + e[1] + tolerance && !any) {
    return mbg__item_bad(
        item, json,
        "inertia violates the triangle inequality: the principal moment %g exceeds the sum of the others, %g and %g",
        e[2], e[0], e[1]);
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- first guess */

const mbg__frame *mbg__body_frame(const mbg__loader *L, int body) {
  return &L->placed[0].at[L->bodies.at[body].design].h;
}

/* position and rotation: the pose of design or guess */
static int read_pose(mbg__item *item, const mbg__json *json, mbg__own_pose *own, mbg__guess override, int *pose) {
  int err = MBG_OK, first;
  mbg__loader *L = item->L;
  const mbg__json *position = mbg__json_member(json, "position"), *rotate = mbg__json_member(json, "rotate");
  mbg__own_pose mine = *own;
  if (override && !position && !rotate) {
    return MBG_OK;
  }
  if (override == MBG__GUESS_FROM_OUTSIDE && (!position || !rotate)) {
    return mbg__item_bad(item, json, "give both position and rotate for a body of a part");
  }
  if (override && own->nrotate < 0 && (!position || !rotate)) {
    return mbg__item_bad(item, json, "give both position and rotate for a node of a beam");
  }
  if (position || !override) {
    MBG_TRY(mbg__item_vector(item, position, "position", "m", 0, NULL, &mine.translate));
  }
  MBG_TRY(mbg__pose_begin(L, &first));
  MBG_TRY(mbg__pose_enter(L, item->source));
  MBG_TRY(mbg__pose_op_add(L, MBG__POSE_TRANSLATE, 0, mine.translate));
  mine.rotate = L->ops.count;
  if (rotate || !override) {
    MBG_TRY(mbg__item_rotate(item, rotate, "rotate"));
  } else {
    for (int k = 0; k < own->nrotate; k++) {
      const mbg__pose_op op = L->ops.at[own->rotate + k];
      MBG_TRY(mbg__pose_op_add(L, op.kind, op.mode, op.attr));
    }
  }
  mine.nrotate = L->ops.count - mine.rotate;
  MBG_TRY(mbg__pose_leave(L, item->source));
  MBG_TRY(mbg__pose_end(item, first, pose));
  if (!override) {
    *own = mine;
  }
done:
  return err;
}

/* one of the two velocities: as given, as it was, or zero */
static int read_velocity(mbg__item *item, const mbg__json *json, const char *key, const char *unit, int before,
                         int *first) {
  int err = MBG_OK, index;
  const mbg__json *given = mbg__json_member(json, key);
  if (given || before < 0) {
    return mbg__item_vector(item, given, key, unit, 0, NULL, first);
  }
  *first = item->L->attributes.count;
  for (int i = 0; i < 3; i++) {
    const mbg__attribute a = item->L->attributes.at[before + i];
    const mbg__where where = mbg__attribute_where(&a);
    MBG_TRY(mbg__attribute_add(item, &a.formula, a.label->key, a.label->unit, &where, &index));
  }
done:
  return err;
}

static int read_velocities(mbg__item *item, const mbg__json *json, mbg__body *body, mbg__guess override) {
  int err = MBG_OK, in = 0, second;
  const mbg__json *v = mbg__json_member(json, "velocity"), *w = mbg__json_member(json, "angular_velocity");
  const int before = override ? body->velocity : -1;
  MBG_TRY(mbg__item_choice(item, mbg__json_member(json, "in"), "in", "world body", &in));
  if (override && !v && !w) {
    return MBG_OK;
  }
  const bool other =
      (in == 1) != body->velocity_in_body || override == MBG__GUESS_FROM_OUTSIDE || body->velocity_point >= 0;
  if (override && (!v || !w) && other) {
    return mbg__item_bad(item, json, "give both velocities if their axes differ from the axes in the body's own entry");
  }
  MBG_TRY(read_velocity(item, json, "velocity", "m/s", before, &body->velocity));
  MBG_TRY(read_velocity(item, json, "angular_velocity", "rad/s", before < 0 ? -1 : before + 3, &second));
  body->velocity_in_body = in == 1;
  body->velocity_point = -1;
  body->velocity_frame = item->source->frame;
  memcpy(body->velocity_sign, item->source->sign, sizeof(body->velocity_sign));
done:
  return err;
}

/* the guessed twist must be one that the body can have */
static int check_velocity(mbg__item *item, const mbg__json *json, const mbg__body *body) {
  static const char *const what[6] = {"along its x axis", "along its y axis", "along its z axis",
                                      "about its x axis", "about its y axis", "about its z axis"};
  mbg__loader *L = item->L;
  real given[6], v[6], A[9];
  if (item->bad) {
    return MBG_OK;
  }
  double size = 0;
  for (int i = 0; i < 6; i++) {
    given[i] = L->values[0].at[body->velocity + i] * body->velocity_sign[i % 3];
    given[i] *= i < 3 ? 1 : item->source->handed;
    size = fmax(size, fabs(re(given[i])));
  }
  m3_identity(A);
  if (!body->velocity_in_body) {
    m3_transpose(A, L->placed[0].at[body->guess].h.R);
    if (body->velocity_frame >= 0) {
      m3_mul_TN(A, L->placed[0].at[body->guess].h.R, L->placed[0].at[body->velocity_frame].h.R);
    }
  }
  m3_mulv(v, A, given);
  m3_mulv(v + 3, A, given + 3);
  for (int i = 0; i < 6; i++) {
    if (!(body->mask >> i & 1) && fabs(re(v[i])) > 1e-9 * size) {
      const mbg__json *at = mbg__json_member(json, i < 3 ? "velocity" : "angular_velocity");
      return mbg__item_bad(item, at ? at : json, "its \"motion\" does not let the body move %s", what[i]);
    }
  }
  return MBG_OK;
}

/* a planar body moves in the x-y plane of its file: its z axis stays normal to it, whatever the parameters are */
static int check_plane(mbg__item *item, const mbg__json *json, const mbg__body *body, int pose) {
  mbg__loader *L = item->L;
  if (item->bad || body->motion == MBG__SPATIAL || body->motion == MBG__POINT) {
    return MBG_OK;
  }
  for (int set = 0; set < 2; set++) {
    const mbg__frame *H = &L->placed[set].at[pose].h;
    real n[3] = {0, 0, 1}, c = 0;
    if (item->source->frame >= 0) {
      const mbg__frame *P = &L->placed[set].at[item->source->frame].h;
      n[0] = P->R[2];
      n[1] = P->R[5];
      n[2] = P->R[8];
    }
    for (int i = 0; i < 3; i++) {
      c += n[i] * H->R[3 * i + 2];
    }
    if (1 - fabs(re(c)) > 1e-12) {
      return mbg__item_bad(item, mbg__json_member(json, "rotate"), "rotate: a planar body rotates about z only");
    }
  }
  return MBG_OK;
}

int mbg__body_guess(mbg__item *item, const mbg__json *json, mbg__body *body, mbg__own_pose *own, mbg__guess override) {
  int err = MBG_OK;
  MBG_TRY(read_pose(item, json, own, override, &body->guess));
  if (!override) {
    body->design = body->guess;
  }
  MBG_TRY(check_plane(item, json, body, body->guess));
  MBG_TRY(read_velocities(item, json, body, override));
  MBG_TRY(check_velocity(item, json, body));
done:
  return err;
}

/* ---------------------------------------------------------------------- bodies */

static int find_type(mbg__item *item, const mbg__body_type **out) {
  int n, k = 0;
  const mbg__body_type *const *types = mbg__body_types(&n);
  const mbg__json *json = mbg__json_member(item->json, "type");
  const char *keys[MBG__TYPES_MAX];
  *out = NULL;
  assert(n > 0 && n <= MBG__TYPES_MAX);
  for (int i = 0; i < n; i++) {
    keys[i] = types[i]->key;
    k = strcmp(keys[i], "rigid") == 0 ? i : k;
  }
  const int err = json ? mbg__item_type(item, json, keys, n, &k) : MBG_OK;
  *out = k >= 0 ? types[k] : NULL;
  return err;
}

static const unsigned masks[] = {
    [MBG__SPATIAL] = 0x3f, [MBG__PLANAR] = 0x23, [MBG__POINT] = 0x07, [MBG__PLANAR_POINT] = 0x03};

static int check_mass(mbg__item *item, const mbg__body *body) {
  real M[36];
  if (item->bad) {
    return MBG_OK;
  }
  body->type->inertia(item->L->values[0].at + body->attr, body->opt, M, NULL);
  if (re(M[0]) == 0) {
    mbg__note(item->L->ctx, MBG_NOTE, "%s:%d:%d: %s: the mass is zero", body->where.file, body->where.line,
              body->where.column, item->owner);
  }
  return MBG_OK;
}

static int load_body(mbg__item *item, mbg__body *body, mbg__own_pose *own) {
  int err = MBG_OK, motion = 0;
  bool yes;
  *body = (mbg__body){.name = item->name,
                      .nvel = 6,
                      .design = -1,
                      .guess = -1,
                      .velocity_frame = -1,
                      .velocity_point = -1,
                      .modal = -1,
                      .carrier = -1,
                      .state = -1};
  body->where = mbg__item_where_key(item, item->json);
  MBG_TRY(mbg__item_object(item, item->json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(find_type(item, &body->type));
  if (!body->type) {
    return MBG_OK;
  }
  const mbg__file_object keys[] = {MBG__KEYS_BODY, body->type->modal ? MBG__KEYS_MODAL : MBG__KEYS_RIGID};
  MBG_TRY(mbg__item_keys(item, item->json, keys, 2, body->type->keys, body->type->nkey));
  MBG_TRY(mbg__item_choice(item, mbg__json_member(item->json, "motion"), "motion",
                           body->type->modal ? "spatial planar" : "spatial planar point planar-point", &motion));
  body->motion = (mbg__motion)motion;
  body->mask = masks[motion];
  if (!body->type->modal) {
    int axes = MBG__HISTORY_AUTO;
    MBG_TRY(mbg__item_choice(item, mbg__json_member(item->json, "axes"), "axes", "auto body world", &axes));
    body->axes = (mbg__history_axes)axes;
  }
  MBG_TRY(check_inertia_shape(item, body->motion));
  MBG_TRY(mbg__item_type_numbers(item, body->type->keys, body->type->nkey, &body->attr, &body->nattr, &body->opt));
  if (body->type->modal) {
    body->modal = item->L->modals.count;
    MBG_TRY(mbg__item_modal(item, body));
  } else {
    MBG_TRY(check_mass(item, body));
    MBG_TRY(check_inertia(item, body));
  }
  MBG_TRY(mbg__body_guess(item, item->json, body, own, MBG__GUESS_OWN));
done:
  return err;
}

/* {"outer": "chassis"}: the body of the outer file that "bind" names */
static int bind_body(mbg__item *item, mbg__symbol *symbol) {
  int err = MBG_OK, body = -2;
  static const mbg__file_object keys[] = {MBG__KEYS_OUTER_BODY};
  mbg__source *source = item->source;
  const char *slot = NULL;
  MBG_TRY(mbg__item_keys(item, item->json, keys, 1, NULL, 0));
  MBG_TRY(mbg__item_text(item, mbg__json_member(item->json, "outer"), "outer", &slot));
  if (!slot) {
    return MBG_OK;
  }
  if (!source->outer) {
    return mbg__item_bad(item, mbg__json_member(item->json, "outer"), "\"outer\" is allowed only in a part");
  }
  const mbg__json *bound = mbg__json_member(mbg__json_member(source->part, "bind"), slot);
  mbg__item part = *item;
  part.source = source->outer;
  if (!bound) {
    MBG_TRY(mbg__item_bad_key(&part, source->part, "\"bind\" of the part does not name a body for '%s'", slot));
  } else {
    MBG_TRY(mbg__item_body(&part, bound, "bind", &body));
    if (body == -1) {
      MBG_TRY(mbg__item_bad(&part, bound, "bind: 'ground' is not a body"));
    }
  }
  item->bad = part.bad;
  symbol->index = body;
done:
  return err;
}

int mbg__body_add(mbg__loader *L, const mbg__body *body, const mbg__own_pose *own) {
  int err = MBG_OK;
  const mbg__own_pose none = {.translate = -1, .nrotate = -1};
  MBG_TRY(MBG__ADD(L, L->bodies, *body));
  MBG_TRY(MBG__ADD(L, L->body_pose, own ? *own : none));
  MBG_TRY(MBG__ADD(L, L->body_marker, -1));
done:
  return err;
}

static int add_body(mbg__item *item, mbg__symbol *symbol) {
  int err = MBG_OK;
  mbg__body body;
  mbg__own_pose own = {0};
  if (mbg__json_member(symbol->json, "outer")) {
    return bind_body(item, symbol);
  }
  MBG_TRY(load_body(item, &body, &own));
  symbol->index = item->L->bodies.count;
  MBG_TRY(mbg__body_add(item->L, &body, &own));
done:
  return err;
}

int mbg__load_bodies(mbg__loader *L) { return mbg__load_each(L, MBG__NAME_BODY, add_body); }
