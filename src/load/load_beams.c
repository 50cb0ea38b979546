/* Beams: their shape, nodes as bodies, elements between them. */
#include "load/load.h"
#include "model/pose.h"

#include <string.h>

/* A node has no inertia of its own: the elements have it. */
static void no_inertia(const real *attr, const int *opt, real *M, real *M_a) {
  (void)attr;
  (void)opt;
  (void)M_a;
  m6_zero(M);
}

const mbg__body_type mbg__beam_node = {.key = "node", .help = "node of a beam", .inertia = no_inertia};

/* a beam while it is read */
typedef struct {
  mbg__item *item;
  mbg__beam *beam;
  int n;
  int (*attr)[MBG__BEAM_NUMBERS]; /* of each element */
  int start;                      /* pose of the first node without the part's, or its operations */
} reader;

/* ---------------------------------------------------------------------- shape */

/* axis 2 by default: y of the file, or z for beams along y */
static int read_orient(reader *r, const double along[3], int *first) {
  int err = MBG_OK, index;
  mbg__item *item = r->item;
  const mbg__json *json = mbg__json_member(item->json, "orient");
  if (json) {
    return mbg__item_direction(item, json, "orient", first);
  }
  const double l = sqrt(along[0] * along[0] + along[1] * along[1] + along[2] * along[2]);
  const int axis = fabs(along[1]) > 0.9 * l ? 2 : 1;
  const mbg__where where = mbg__item_where_key(item, item->json);
  *first = item->L->attributes.count;
  for (int k = 0; k < 3; k++) {
    const mbg__formula formula = {.number = k == axis};
    char label[32];
    mbg__format(label, sizeof(label), "orient[%d]", k);
    MBG_TRY(mbg__attribute_add(item, &formula, label, "", &where, &index));
  }
done:
  return err;
}

/* any entry of v may be large: numbers of at most 1 */
static void shrink(double v[3]) {
  const double most = fmax(fmax(fabs(v[0]), fabs(v[1])), fabs(v[2]));
  for (int k = 0; k < 3 && most > 0; k++) {
    v[k] /= most;
  }
}

static int check_orient(reader *r, const double along[3], int orient) {
  double a = 0, b = 0, ab = 0, o[3];
  for (int k = 0; k < 3; k++) {
    o[k] = mbg__value(r->item->L, orient + k);
  }
  shrink(o);
  for (int k = 0; k < 3; k++) {
    a += along[k] * along[k];
    b += o[k] * o[k];
    ab += along[k] * o[k];
  }
  if (r->item->bad || ab * ab < (1 - 1e-12) * a * b) {
    return MBG_OK;
  }
  return mbg__item_bad_key(r->item, mbg__json_member(r->item->json, "orient"), "orient is parallel to the beam");
}

/* attributes start, end, orient in a row */
static int read_line(reader *r) {
  int err = MBG_OK, end, orient;
  mbg__item *item = r->item;
  double along[3], size = 0;
  const mbg__json *from = mbg__json_member(item->json, "from"), *to = mbg__json_member(item->json, "to");
  MBG_TRY(mbg__item_vector(item, from, "from", "m", 0, NULL, &r->beam->shape));
  MBG_TRY(mbg__item_vector(item, to, "to", "m", 0, NULL, &end));
  for (int k = 0; k < 3; k++) {
    along[k] = mbg__value(item->L, end + k) - mbg__value(item->L, r->beam->shape + k);
    size += fabs(along[k]);
  }
  if (!item->bad && !(size / r->n > 1e-12)) {
    return mbg__item_bad(item, to, "to: coincides with 'from', so the elements have length zero");
  }
  if (!item->bad && !isfinite(size)) {
    return mbg__item_bad(item, to, "to: the distance from 'from' is not a finite number");
  }
  shrink(along);
  MBG_TRY(read_orient(r, along, &orient));
  MBG_TRY(check_orient(r, along, orient));
done:
  return err;
}

/* rotation between the nodes of an element: the logarithm of the relative frame is limited to pi, its accuracy to
   less (theory 4, section 10) */
static int check_turn(reader *r, const mbg__json *json, const char *key, double turn) {
  const mbg__beam *beam = r->beam;
  const char *which = beam->kind == MBG__POSE_CURVE ? "an element" : "each element";
  if (r->item->bad || turn <= MBG__BEAM_TURN_WARN) {
    return MBG_OK;
  }
  if (turn >= MBG__BEAM_TURN_MAX) {
    return mbg__item_bad(r->item, json, "%s: %s turns by %.3g rad; use more elements", key, which, turn);
  }
  mbg__note(r->item->L->ctx, MBG_WARNING, "%s:%d:%d: beam '%s': %s turns by %.3g rad; above %g rad use more elements",
            beam->where.file, beam->where.line, beam->where.column, beam->name, which, turn, MBG__BEAM_TURN_WARN);
  return MBG_OK;
}

/* attributes start | direction, orient | length, curvature */
static int read_helix(reader *r) {
  int err = MBG_OK, direction, orient, second;
  mbg__item *item = r->item;
  double along[3], k2 = 0;
  const mbg__json *way = mbg__json_member(item->json, "direction"), *length = mbg__json_member(item->json, "length");
  const mbg__json *bend = mbg__json_member(item->json, "curvature");
  if (!way) {
    return mbg__item_bad_key(item, length ? length : bend, "'%s' needs 'direction', the tangent at the first node",
                             length ? "length" : "curvature");
  }
  MBG_TRY(mbg__item_vector(item, mbg__json_member(item->json, "from"), "from", "m", 0, NULL, &r->start));
  MBG_TRY(mbg__item_direction(item, way, "direction", &direction));
  for (int k = 0; k < 3; k++) {
    along[k] = mbg__value(item->L, direction + k);
  }
  MBG_TRY(read_orient(r, along, &orient));
  MBG_TRY(check_orient(r, along, orient));
  MBG_TRY(mbg__item_attribute(item, length, "length", "m", 0, 1, &r->beam->shape));
  MBG_TRY(mbg__item_check_sign(item, length, MBG__POSITIVE, r->beam->shape));
  MBG_TRY(mbg__item_vector(item, bend, "curvature", "1/m", 0, NULL, &second));
  for (int k = 0; k < 3; k++) {
    k2 += mbg__value(item->L, second + k) * mbg__value(item->L, second + k);
  }
  MBG_TRY(check_turn(r, bend, "curvature", mbg__value(item->L, r->beam->shape) / r->n * sqrt(k2)));
done:
  return err;
}

/* axis 2 of a curve by default: y of the file, or z when a segment between two points is along y */
static int read_curve_orient(reader *r) {
  const mbg__loader *L = r->item->L;
  double along[3] = {1, 0, 0};
  int orient;
  for (int i = 1; i < r->beam->npoint; i++) {
    double d[3], l2 = 0;
    for (int k = 0; k < 3; k++) {
      const int at = r->beam->shape + 3 * i + k;
      d[k] = mbg__value(L, at) - mbg__value(L, at - 3);
      l2 += d[k] * d[k];
    }
    if (fabs(d[1]) > 0.9 * sqrt(l2)) {
      memcpy(along, d, sizeof(along));
    }
  }
  return read_orient(r, along, &orient);
}

static bool curve_frame(const reader *r, const real *attr, double fraction, mbg__frame *H) {
  const mbg__pose_op op = {.kind = MBG__POSE_CURVE, .mode = r->beam->npoint, .fraction = fraction};
  int dep[MBG__FACTOR_DEPS];
  real omega[MBG__FACTOR_DEPS][6];
  mbg__placed node = {.dep = dep, .omega = omega};
  if (!mbg__pose_factor(&op, attr, &node)) {
    return false;
  }
  *H = node.h;
  return true;
}

/* Every node has a frame, and elements do not turn too far. The rotation is summed over parts of the element: between
   its nodes it is known but for full turns. */
static int check_curve(reader *r, const mbg__json *json) {
  enum { PARTS = 8 };
  mbg__item *item = r->item;
  const int n = 3 * r->beam->npoint + 3;
  real *attr = mbg__arena_take(&item->L->temp, (size_t)n, sizeof(*attr)), d[6];
  mbg__frame last, H, G;
  double most = 0, turn = 0;
  if (!attr) {
    return mbg__fail_memory(item->L->ctx);
  }
  for (int k = 0; k < n; k++) {
    attr[k] = mbg__value(item->L, r->beam->shape + k);
  }
  frame_identity(&last);
  for (int k = 0; k <= PARTS * r->n; k++, last = H) {
    if (!curve_frame(r, attr, (double)k / (PARTS * r->n), &H)) {
      return mbg__item_bad(item, json,
                           "points: in element %d the curve has no tangent, or the tangent is parallel to 'orient'",
                           k / PARTS < r->n ? k / PARTS : r->n - 1);
    }
    frame_relative(&G, &last, &H);
    mbg__se3_log(d, &G);
    turn = k % PARTS == 1 ? 0 : turn;
    turn += k > 0 ? sqrt(re(v3_dot(d + 3, d + 3))) : 0;
    most = fmax(most, turn);
  }
  return check_turn(r, json, "points", most);
}

/* attributes of all points and orient in a row */
static int read_curve(reader *r) {
  int err = MBG_OK, index;
  mbg__item *item = r->item;
  const mbg__json *json = mbg__json_member(item->json, "points"), *before = NULL;
  char label[32];
  if (json->kind != MBG__JSON_ARRAY) {
    return mbg__item_wrong(item, json, "points", "an array of points");
  }
  if (json->count < 2) {
    return mbg__item_bad(item, json, "points: give two or more, found %d", json->count);
  }
  for (const mbg__json *entry = json->child; entry; before = entry, entry = entry->next) {
    mbg__format(label, sizeof(label), "points[%d]", r->beam->npoint);
    MBG_TRY(mbg__item_vector(item, entry, label, "m", 0, NULL, &index));
    r->beam->shape = r->beam->npoint++ == 0 ? index : r->beam->shape;
    double size = 0;
    for (int k = 0; before && k < 3; k++) {
      size += fabs(mbg__value(item->L, index + k) - mbg__value(item->L, index + k - 3));
    }
    if (before && !item->bad && !(size > 1e-12)) {
      return mbg__item_bad(item, entry, "%s: coincides with the previous point", label);
    }
  }
  MBG_TRY(read_curve_orient(r));
  if (!item->bad) {
    MBG_TRY(check_curve(r, json));
  }
done:
  return err;
}

static int read_shape(reader *r) {
  mbg__item *item = r->item;
  static const char *const ways[] = {"to", "length", "points"}, *const helix_only[] = {"direction", "curvature"};
  static int (*const read[])(reader *) = {read_line, read_helix, read_curve};
  static const mbg__pose_kind kinds[] = {MBG__POSE_LINE, MBG__POSE_HELIX, MBG__POSE_CURVE};
  int way = -1, count = 0;
  for (int k = 0; k < MBG_COUNT(ways); k++) {
    const bool given = mbg__json_member(item->json, ways[k]) != NULL;
    way = given ? k : way;
    count += given;
  }
  if (count != 1) {
    return mbg__item_bad_key(item, item->json, "give one of 'to', 'length' and 'points'%s", count ? ", not more" : "");
  }
  for (int k = 0; way != 1 && k < MBG_COUNT(helix_only); k++) {
    const mbg__json *json = mbg__json_member(item->json, helix_only[k]);
    if (json) {
      return mbg__item_bad_key(item, json, "'%s' applies only to beams given by 'length'", helix_only[k]);
    }
  }
  const mbg__json *from = mbg__json_member(item->json, "from");
  if (from && way == 2) {
    return mbg__item_bad_key(item, from, "'points' start with the first node; remove 'from'");
  }
  r->beam->kind = kinds[way];
  for (int k = 0; k < 6; k++) {
    r->beam->sign[k] = item->source->sign[k % 3] * (k < 3 ? 1 : item->source->handed);
  }
  return read[way](r);
}

/* ---------------------------------------------------------------------- nodes and elements */

static int node_pose(reader *r, int k, int *pose) {
  int err = MBG_OK, first;
  mbg__item *item = r->item;
  mbg__loader *L = item->L;
  MBG_TRY(mbg__pose_begin(L, &first));
  MBG_TRY(mbg__pose_enter(L, item->source));
  if (r->beam->kind == MBG__POSE_HELIX) {
    MBG_TRY(mbg__pose_op_add(L, MBG__POSE_TRANSLATE, 0, r->start));
    MBG_TRY(mbg__pose_op_add(L, MBG__POSE_XY, 0, r->start + 3));
  }
  MBG_TRY(mbg__pose_op_add(L, r->beam->kind, r->beam->npoint, r->beam->shape));
  L->ops.at[L->ops.count - 1].fraction = (double)k / r->n;
  MBG_TRY(mbg__pose_leave(L, item->source));
  MBG_TRY(mbg__pose_end(item, first, pose));
done:
  return err;
}

static int add_nodes(reader *r, int velocity) {
  int err = MBG_OK;
  mbg__item *item = r->item;
  mbg__loader *L = item->L;
  mbg__body body = {.type = &mbg__beam_node,
                    .mask = 0x3f,
                    .nvel = 6,
                    .velocity = velocity,
                    .velocity_point = -1,
                    .modal = -1,
                    .carrier = -1,
                    .state = -1};
  char name[MBG__HINT_SIZE];
  body.where = mbg__item_where_key(item, item->json);
  body.velocity_frame = item->source->frame;
  memcpy(body.velocity_sign, item->source->sign, sizeof(body.velocity_sign));
  r->beam->body = L->bodies.count;
  for (int k = 0; k <= r->n; k++) {
    mbg__format(name, sizeof(name), "%s.%d", item->json->key, k);
    mbg__symbol *symbol = mbg__name_find(L, item->source, MBG__NAME_BODY, name);
    MBG_TRY(node_pose(r, k, &body.design));
    body.guess = body.design;
    body.name = symbol ? symbol->name : "";
    MBG_TRY(mbg__body_add(L, &body, NULL));
    body.velocity_point = L->bodies.at[r->beam->body].design;
    if (symbol) {
      symbol->index = L->bodies.count - 1;
      symbol->bad = item->bad;
    }
  }
done:
  return err;
}

static int add_elements(reader *r, int index) {
  int err = MBG_OK, A, B;
  mbg__loader *L = r->item->L;
  r->beam->first = L->elements.count;
  r->beam->count = r->n;
  r->beam->reference = L->model->nreference;
  L->model->nreference += r->beam->kind == MBG__POSE_CURVE ? r->n : 1;
  for (int e = 0; e < r->n; e++) {
    mbg__beam_element *element = MBG__PUSH(L, L->elements);
    if (!element) {
      return mbg__fail_memory(L->ctx);
    }
    element->beam = index;
    element->reference = r->beam->reference + (r->beam->kind == MBG__POSE_CURVE ? e : 0);
    element->body[0] = r->beam->body + e;
    element->body[1] = r->beam->body + e + 1;
    memcpy(element->attr, r->attr[e], sizeof(element->attr));
    MBG_TRY(mbg__body_marker(L, element->body[0], &A));
    MBG_TRY(mbg__body_marker(L, element->body[1], &B));
    MBG_TRY(mbg__pair_add(L, A, B, &element->pair));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- beams */

static int load_beam(mbg__item *item, mbg__beam *beam, int index) {
  int err = MBG_OK, velocity, second, mass = 0;
  static const mbg__file_object keys[] = {MBG__KEYS_BEAM};
  reader r = {.item = item, .beam = beam};
  bool yes;
  *beam = (mbg__beam){.name = item->name, .where = mbg__item_where_key(item, item->json)};
  MBG_TRY(mbg__item_object(item, item->json, NULL, &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_keys(item, item->json, keys, 1, NULL, 0));
  if (!item->bad) {
    MBG_TRY(mbg__item_count(item, mbg__json_member(item->json, "elements"), "elements", &r.n));
  }
  if (!item->bad && r.n > MBG__LOAD_BEAM_MAX) {
    return mbg__item_bad(item, mbg__json_member(item->json, "elements"), "elements: %d, but a beam has at most %d", r.n,
                         MBG__LOAD_BEAM_MAX);
  }
  if (item->bad) {
    return MBG_OK;
  }
  r.attr = mbg__arena_take(&item->L->temp, (size_t)r.n, sizeof(*r.attr));
  MBG_TRY(mbg__arena_check(item->L->ctx, &item->L->temp));
  MBG_TRY(mbg__item_choice(item, mbg__json_member(item->json, "mass"), "mass", "consistent lumped", &mass));
  beam->lumped = mass == 1;
  MBG_TRY(mbg__item_beam_numbers(item, r.n, &beam->rule, r.attr));
  MBG_TRY(read_shape(&r));
  MBG_TRY(mbg__item_vector(item, mbg__json_member(item->json, "velocity"), "velocity", "m/s", 0, NULL, &velocity));
  MBG_TRY(mbg__item_vector(item, mbg__json_member(item->json, "angular_velocity"), "angular_velocity", "rad/s", 0, NULL,
                           &second));
  if (item->bad) {
    return MBG_OK;
  }
  MBG_TRY(add_nodes(&r, velocity));
  MBG_TRY(add_elements(&r, index));
done:
  return err;
}

/* marks the nodes of a beam with errors bad */
static void mark_nodes(mbg__item *item) {
  char name[MBG__HINT_SIZE];
  for (int k = 0;; k++) {
    mbg__format(name, sizeof(name), "%s.%d", item->json->key, k);
    mbg__symbol *symbol = mbg__name_find(item->L, item->source, MBG__NAME_BODY, name);
    if (!symbol || symbol->json != item->json) {
      return;
    }
    symbol->bad = true;
  }
}

static int add_beam(mbg__item *item, mbg__symbol *symbol) {
  int err = MBG_OK;
  mbg__loader *L = item->L;
  mbg__beam beam;
  symbol->index = L->beams.count;
  MBG_TRY(load_beam(item, &beam, symbol->index));
  MBG_TRY(MBG__ADD(L, L->beams, beam));
  if (item->bad) {
    mark_nodes(item);
  }
done:
  return err;
}

int mbg__load_beams(mbg__loader *L) { return mbg__load_each(L, MBG__NAME_BEAM, add_beam); }
