/* Curves: expressions of s, or splines through points; and the contacts of joints on them. */
#include "load/load.h"
#include "model/curve.h"

#include <string.h>

static const char *const axes[3] = {"x", "y", "z"};

/* ---------------------------------------------------------------------- keys */

static const mbg__file_key curve_keys[] = {
    {"points", MBG__SHAPE_NESTED, false, NULL,
     "points that a spline goes through, at s = 0, 1, 2, ...; of two coordinates (x-y plane) or three"},
    {"degree", MBG__SHAPE_CHOICE, false, "cubic quintic", "of the spline; quintic when absent"},
    {"closed", MBG__SHAPE_BOOL, false, NULL, "the curve returns to its first point"},
    {"x", MBG__SHAPE_NUMBER, false, NULL, "coordinate as an expression of s"},
    {"y", MBG__SHAPE_NUMBER, false, NULL, "coordinate as an expression of s"},
    {"z", MBG__SHAPE_NUMBER, false, NULL, "coordinate as an expression of s; absent: the curve lies in the x-y plane"},
    {"from", MBG__SHAPE_NUMBER, false, NULL, "first s of expressions, 0 when absent"},
    {"to", MBG__SHAPE_NUMBER, false, NULL, "last s of expressions; of a closed curve one period after the first"},
};

mbg__file_keys mbg__curve_keys(void) { return (mbg__file_keys){curve_keys, MBG_COUNT(curve_keys)}; }

/* ---------------------------------------------------------------------- values at the nominal parameters */

/* A curve while it is read. */
typedef struct {
  mbg__item *item;
  mbg__curve *c;
  real *D;
  double r[MBG__CURVE_SAMPLES + 1][3], speed[MBG__CURVE_SAMPLES + 1];
} reader;

static int expression_point(reader *w, double s, real r[3][4]) {
  mbg__loader *L = w->item->L;
  memset(r, 0, 12 * sizeof(real));
  for (int k = 0; k < w->c->dim; k++) {
    const mbg__fn *fn = &L->fns.at[w->c->fn + k];
    real *x = MBG_TAKE(&L->temp, real, 3 * fn->ninput),
         *scratch = MBG_TAKE(&L->temp, real, mbg__expr_scratch(fn->expr));
    if (!x || !scratch) {
      return mbg__fail_memory(L->ctx);
    }
    for (int i = 0; i < fn->ninput; i++) {
      const bool arg = fn->input[i].role == MBG__ROLE_ARG;
      x[3 * i] = arg ? s : L->values[0].at[fn->input[i].index];
      x[3 * i + 1] = arg;
    }
    const int err = mbg__expr_jet(L->ctx, fn->expr, x, scratch, r[k], NULL);
    if (err < 0) {
      return mbg__item_filed(w->item, err);
    }
  }
  return MBG_OK;
}

static int point_at(reader *w, double s, real r[3][4]) {
  if (w->c->fn >= 0) {
    return expression_point(w, s, r);
  }
  mbg__spline_point(w->c, w->D, s, r);
  return MBG_OK;
}

/* samples; a closed curve has the first one again at the end */
static int sample(reader *w) {
  const mbg__curve *c = w->c;
  for (int i = 0; i < MBG__CURVE_SAMPLES + c->closed && !w->item->bad; i++) {
    real r[3][4];
    const int err = point_at(w, mbg__curve_sample(c, i), r);
    if (err < 0) {
      return err;
    }
    w->speed[i] = 0;
    for (int k = 0; k < 3; k++) {
      w->r[i][k] = re(r[k][0]);
      w->speed[i] += re(r[k][1]) * re(r[k][1]);
    }
    w->speed[i] = sqrt(w->speed[i]);
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- checks */

static double distance(const double *a, const double *b) {
  const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

static double extent(const reader *w) {
  double most = 0;
  for (int i = 0; i < MBG__CURVE_SAMPLES; i++) {
    most = fmax(most, distance(w->r[i], w->r[0]));
  }
  return most;
}

/* a cusp: the speed falls to nothing against its neighbours; a corner: the direction jumps from sample to sample */
static int check_kinks(reader *w, double size) {
  const mbg__curve *c = w->c;
  const int n = MBG__CURVE_SAMPLES;
  double mean = 0;
  for (int i = 0; i < n; i++) {
    mean += w->speed[i] / n;
  }
  for (int i = 0; i < n; i++) {
    if (!(w->speed[i] > 1e-6 * mean)) {
      return mbg__item_bad_key(w->item, w->item->json, "the curve stands still at s = %g: r'(s) must not vanish",
                               mbg__curve_sample(c, i));
    }
  }
  for (int i = c->closed ? 0 : 1; i < (c->closed ? n : n - 1); i++) {
    const double *a = w->r[(i + n - 1) % n], *b = w->r[i], *d = w->r[(i + 1) % n];
    double dot = 0;
    const double la = distance(a, b), lb = distance(b, d);
    for (int k = 0; k < 3; k++) {
      dot += (b[k] - a[k]) * (d[k] - b[k]);
    }
    if (dot < 0.5 * la * lb && la + lb > 1e-9 * size) {
      return mbg__item_bad_key(
          w->item, w->item->json,
          "the curve has a kink near s = %g: it turns by %.0f degrees within %.2g m; curves must be "
          "smooth",
          mbg__curve_sample(c, i), acos(fmax(-1, dot / (la * lb))) * 180 / acos(-1.0), la + lb);
    }
  }
  return MBG_OK;
}

static double area(const double *a, const double *b, const double *c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* do two pieces of the polygon of samples meet, up to rounding? Pieces of one line are told apart by their boxes. */
static bool cross(const double *a, const double *b, const double *c, const double *d) {
  for (int k = 0; k < 2; k++) {
    if (fmax(a[k], b[k]) < fmin(c[k], d[k]) || fmax(c[k], d[k]) < fmin(a[k], b[k])) {
      return false;
    }
  }
  const double tiny = 1e-9 * distance(a, b) * distance(c, d), zero = tiny * tiny;
  return area(a, b, c) * area(a, b, d) <= zero && area(c, d, a) * area(c, d, b) <= zero;
}

static int check_crossing(reader *w) {
  const mbg__curve *c = w->c;
  const int n = MBG__CURVE_SAMPLES - !c->closed; /* pieces */
  for (int i = 0; c->dim == 2 && i < n; i++) {
    for (int j = i + 2; j < n - (i == 0 && c->closed); j++) {
      if (cross(w->r[i], w->r[i + 1], w->r[j], w->r[j + 1])) {
        return mbg__item_bad_key(w->item, w->item->json,
                                 "the curve crosses itself near (%.4g, %.4g), at s = %.4g and s = %.4g", w->r[i][0],
                                 w->r[i][1], mbg__curve_sample(c, i), mbg__curve_sample(c, j));
      }
    }
  }
  return MBG_OK;
}

/* a closed curve of expressions comes back with its first two derivatives */
static int check_closed(reader *w, double size) {
  const mbg__curve *c = w->c;
  real a[3][4], b[3][4];
  static const char *const what[3] = {"does not close", "has a kink where it closes",
                                      "has a jump of curvature where it closes"};
  int err = point_at(w, c->from, a);
  err = err < 0 ? err : point_at(w, c->to, b);
  for (int order = 0; order < 3 && err == MBG_OK && !w->item->bad; order++) {
    double most = 0, scale = size;
    for (int k = 0; k < c->dim; k++) {
      most = fmax(most, fabs(re(a[k][order]) - re(b[k][order])));
      scale = fmax(scale, fabs(re(a[k][order])));
    }
    if (most > 1e-6 * scale) {
      err = mbg__item_bad_key(w->item, w->item->json,
                              "the curve is said to be closed but %s: at s = %g and s = %g %s differ by %.3g",
                              what[order], c->from, c->to,
                              order == 0   ? "its points"
                              : order == 1 ? "its first derivatives"
                                           : "its second derivatives",
                              most);
    }
  }
  return err;
}

static int check(reader *w) {
  int err = MBG_OK;
  MBG_TRY(sample(w));
  const double size = extent(w);
  if (!w->item->bad && !(size > 0)) {
    MBG_TRY(mbg__item_bad_key(w->item, w->item->json, "all points of the curve are the same"));
  }
  if (!w->item->bad && w->c->closed && w->c->fn >= 0) {
    MBG_TRY(check_closed(w, size));
  }
  if (!w->item->bad) {
    MBG_TRY(check_kinks(w, size));
  }
  if (!w->item->bad) {
    MBG_TRY(check_crossing(w));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- points */

static int read_point(reader *w, const mbg__json *json, int k) {
  int err = MBG_OK, i = 0, index;
  const mbg__json *entry = NULL;
  char label[64];
  mbg__format(label, sizeof(label), "points[%d]", k);
  MBG_TRY(mbg__item_array(w->item, json, label, -1, &entry));
  if (w->item->bad) {
    return MBG_OK;
  }
  if (k == 0 && (json->count == 2 || json->count == 3)) {
    w->c->dim = json->count;
  }
  if (json->count != w->c->dim) {
    return mbg__item_bad(w->item, json,
                         w->c->dim == 0 ? "%s has %d coordinates; a point has two or three"
                                        : "%s has %d coordinates, the points before it have %d",
                         label, json->count, w->c->dim);
  }
  for (; entry; entry = entry->next) {
    mbg__format(label, sizeof(label), "points[%d][%d]", k, i++);
    MBG_TRY(mbg__item_attribute(w->item, entry, label, "m", 0, 1, &index));
  }
done:
  return err;
}

static int check_point(reader *w, const mbg__json *json, int k, int before) {
  const mbg__loader *L = w->item->L;
  const mbg__curve *c = w->c;
  bool same = true;
  for (int x = 0; x < c->dim; x++) {
    same = same && mbg__value(L, c->attr + k * c->dim + x) == mbg__value(L, c->attr + before * c->dim + x);
  }
  if (!same) {
    return MBG_OK;
  }
  return mbg__item_bad(w->item, json,
                       c->closed && before == 0
                           ? "points[%d] is points[%d] again; a closed curve returns by itself: leave "
                             "the last point out"
                           : "points[%d] and points[%d] are the same",
                       k, before);
}

static int make_spline(reader *w) {
  int err = MBG_OK;
  mbg__loader *L = w->item->L;
  mbg__curve *c = w->c;
  c->to = c->closed ? c->npoint : c->npoint - 1;
  c->nbasis = mbg__spline_basis(c->degree, c->npoint, c->closed);
  double *C = MBG_TAKE(L->arena, double, (size_t)c->nbasis *(size_t)c->npoint);
  w->D = MBG_TAKE(&L->temp, real, c->nbasis * c->dim);
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
  MBG_TRY(mbg__spline_matrix(L->ctx, &L->temp, c->degree, c->npoint, c->closed, C));
  c->C = C;
  for (int j = 0; j < c->nbasis; j++) {
    for (int k = 0; k < c->npoint * c->dim; k++) {
      w->D[j * c->dim + k % c->dim] += C[j * c->npoint + k / c->dim] * L->values[0].at[c->attr + k];
    }
  }
done:
  return err;
}

static int read_points(reader *w, const mbg__json *json) {
  int err = MBG_OK, degree = 1;
  mbg__curve *c = w->c;
  const mbg__json *point = NULL;
  MBG_TRY(mbg__item_choice(w->item, mbg__json_member(w->item->json, "degree"), "degree", "cubic quintic", &degree));
  c->degree = degree == 0 ? 3 : 5;
  c->fn = -1;
  c->attr = w->item->L->attributes.count;
  MBG_TRY(mbg__item_array(w->item, json, "points", -1, &point));
  if (w->item->bad) {
    return MBG_OK;
  }
  c->npoint = json->count;
  if (c->npoint < c->degree + 1 || c->npoint > MBG__CURVE_POINTS_MAX) {
    return mbg__item_bad(w->item, json, "a %s spline takes %d to %d points, found %d",
                         c->degree == 3 ? "cubic" : "quintic", c->degree + 1, MBG__CURVE_POINTS_MAX, c->npoint);
  }
  for (int k = 0; point && !w->item->bad; point = point->next) {
    MBG_TRY(read_point(w, point, k++));
  }
  point = json->child;
  for (int k = 0; point && !w->item->bad; point = point->next, k++) {
    MBG_TRY(k > 0 ? check_point(w, point, k, k - 1) : MBG_OK);
    MBG_TRY(c->closed && k == c->npoint - 1 && !w->item->bad ? check_point(w, point, k, 0) : MBG_OK);
  }
  if (!w->item->bad) {
    MBG_TRY(make_spline(w));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- expressions */

/* abs, min, max, comparisons of s */
static int check_smooth(reader *w, const mbg__json *json, int k) {
  mbg__loader *L = w->item->L;
  const mbg__fn *fn = &L->fns.at[w->c->fn + k];
  bool *marks = MBG_TAKE(&L->temp, bool, mbg__expr_lines(fn->expr) + 1);
  bool *inputs = MBG_TAKE(&L->temp, bool, fn->ninput + 1);
  const int err = mbg__arena_check(L->ctx, &L->temp);
  if (err < 0) {
    return err;
  }
  mbg__expr_kinked(fn->expr, marks, inputs);
  for (int i = 0; i < mbg__expr_ninputs(fn->expr); i++) {
    if (inputs[i] && fn->input[i].role == MBG__ROLE_ARG) {
      return mbg__item_bad(w->item, json, "%s has a kink in s (abs, min, max or a condition); curves must be smooth",
                           axes[k]);
    }
  }
  return MBG_OK;
}

static int read_range(reader *w) {
  int err = MBG_OK;
  mbg__curve *c = w->c;
  const mbg__json *from = mbg__json_member(w->item->json, "from"), *to = mbg__json_member(w->item->json, "to");
  if (!to) {
    return mbg__item_missing(w->item, w->item->json, "to");
  }
  if (from) {
    MBG_TRY(mbg__item_fixed(w->item, from, "from", &c->from, NULL));
  }
  MBG_TRY(mbg__item_fixed(w->item, to, "to", &c->to, NULL));
  if (!w->item->bad && !(c->to > c->from)) {
    MBG_TRY(mbg__item_bad(w->item, to, "to = %g must be larger than from = %g", c->to, c->from));
  }
done:
  return err;
}

static int read_expressions(reader *w) {
  int err = MBG_OK, fn;
  mbg__curve *c = w->c;
  const mbg__json *z = mbg__json_member(w->item->json, "z"), *degree = mbg__json_member(w->item->json, "degree");
  c->dim = z ? 3 : 2;
  c->fn = w->item->L->fns.count;
  if (degree) {
    MBG_TRY(mbg__item_bad_key(w->item, degree, "degree is of splines through points; this curve is given by x, y"));
  }
  for (int k = 0; k < c->dim; k++) {
    const mbg__function_rule rule = {.key = axes[k], .args = "s", .unit = "m", .smooth = true, .sign = 1};
    const mbg__json *json = mbg__json_member(w->item->json, axes[k]);
    if (!json) {
      return mbg__item_missing(w->item, w->item->json, axes[k]);
    }
    MBG_TRY(mbg__item_function(w->item, json, &rule, &fn));
    if (w->item->bad) {
      return MBG_OK;
    }
    MBG_TRY(check_smooth(w, json, k));
  }
  MBG_TRY(read_range(w));
done:
  return err;
}

/* ---------------------------------------------------------------------- curves */

static int read_curve(reader *w) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_CURVE};
  mbg__item *item = w->item;
  const mbg__json *points, *closed = mbg__json_member(item->json, "closed");
  MBG_TRY(mbg__item_keys(item, item->json, keys, 1, NULL, 0));
  if (closed) {
    MBG_TRY(mbg__item_bool(item, closed, "closed", &w->c->closed));
  }
  points = mbg__json_member(item->json, "points");
  for (int k = 0; points && k < 3; k++) {
    const mbg__json *other = mbg__json_member(item->json, axes[k]);
    if (other) {
      MBG_TRY(mbg__item_bad_key(item, other, "a curve has either points or expressions x, y, z of s"));
    }
  }
  if (points && mbg__json_member(item->json, "to")) {
    MBG_TRY(mbg__item_bad_key(item, mbg__json_member(item->json, "to"),
                              "the points of a spline are at s = 0, 1, 2, ...: 'to' is of expressions"));
  }
  MBG_TRY(points ? read_points(w, points) : read_expressions(w));
  if (!item->bad) {
    MBG_TRY(check(w));
  }
done:
  return err;
}

static int load_curve(mbg__item *item, mbg__symbol *symbol) {
  int err = MBG_OK;
  mbg__loader *L = item->L;
  bool yes;
  mbg__curve curve = {.name = item->name, .fn = -1, .where = mbg__item_where_key(item, item->json)};
  reader *w = MBG_TAKE(&L->temp, reader, 1);
  MBG_TRY(mbg__arena_check(L->ctx, &L->temp));
  *w = (reader){.item = item, .c = &curve};
  MBG_TRY(mbg__item_object(item, item->json, NULL, &yes));
  if (yes) {
    MBG_TRY(read_curve(w));
  }
  symbol->index = L->curves.count;
  MBG_TRY(MBG__ADD(L, L->curves, curve));
done:
  return err;
}

int mbg__load_curves(mbg__loader *L) { return mbg__load_each(L, MBG__NAME_CURVE, load_curve); }

/* ---------------------------------------------------------------------- contacts of joints */

static int check_curve(mbg__item *item, const mbg__joint *joint, const char *key, const mbg__curve *c) {
  const mbg__loader *L = item->L;
  const mbg__json *json = mbg__json_member(item->json, key);
  const mbg__pair *pair = &L->pairs.at[joint->pair];
  const bool flat = joint->type->contact->nz != 3;
  if (c->dim == 3 && flat) {
    return mbg__item_bad(item, json, "curve '%s' has three coordinates; a %s joint takes curves in a plane (x, y)",
                         c->name, joint->type->key);
  }
  for (int k = 0; k < 2 && c->dim == 3; k++) {
    const int body = L->markers.at[k == 0 ? pair->A : pair->B].body;
    if (body >= 0 && mbg__body_is_planar(L, body)) {
      return mbg__item_bad(item, json, "curve '%s' has three coordinates, but body '%s' moves in a plane", c->name,
                           L->bodies.at[body].name);
    }
  }
  return MBG_OK;
}

static int curve_numbers(const mbg__loader *L, const mbg__curve *c) {
  int n = c->fn < 0 ? c->npoint * c->dim : 0;
  for (int k = 0; c->fn >= 0 && k < c->dim; k++) {
    n += L->fns.at[c->fn + k].nact;
  }
  return n;
}

int mbg__joint_contact(mbg__item *item, mbg__joint *joint, int index) {
  int err = MBG_OK, opt = 0, ncurve = 0, nfn;
  mbg__loader *L = item->L;
  const mbg__joint_type *type = joint->type;
  mbg__contact contact = {.joint = index, .curve = {-1, -1}, .surface = -1, .nact = joint->nattr, .nrow = 1};
  for (int k = 0; k < 3; k++) {
    if (item->source->sign[k] < 0) {
      return mbg__item_bad_key(item, item->json, "a %s joint in a mirrored part is not supported", type->key);
    }
  }
  for (int k = 0; k < type->nkey && !item->bad; k++) {
    const mbg__key *key = &type->keys[k];
    if (key->kind == MBG__KEY_CURVE) {
      const int i = joint->opt[opt];
      if (i < 0) {
        item->bad = true; /* its error is filed */
        return MBG_OK;
      }
      contact.curve[ncurve++] = i;
      contact.nact += curve_numbers(L, &L->curves.at[i]);
      contact.nrow = type->nrow > 1 && L->curves.at[i].dim == 3 ? 2 : 1;
      MBG_TRY(check_curve(item, joint, key->name, &L->curves.at[i]));
    }
    opt += key->kind == MBG__KEY_CURVE || key->kind == MBG__KEY_CHOICE || key->kind == MBG__KEY_BOOL;
  }
  if (!type->contact) {
    MBG_TRY(mbg__item_type_functions(item, type->keys, type->nkey, &contact.surface, &nfn));
    contact.nact += contact.surface < L->fns.count ? L->fns.at[contact.surface].nact : 0;
  }
  joint->contact = L->contacts.count;
  MBG_TRY(MBG__ADD(L, L->contacts, contact));
done:
  return err;
}

/* ---------------------------------------------------------------------- signals of contacts */

/* the curve that a signal of a contact looks at, or what is wrong with it */
static int check_contact(mbg__item *item, const mbg__json *json, const mbg__joint *joint, mbg__signal *signal) {
  const mbg__loader *L = item->L;
  const mbg__json *on = mbg__json_member(item->json, "on"), *quantity = mbg__json_member(item->json, "quantity");
  if (item->bad || !joint->type || !quantity) {
    return MBG_OK;
  }
  if (!joint->type->contact || joint->contact < 0) {
    return mbg__item_bad(item, json,
                         "joint '%s' is of type '%s'; a curve-contact needs a joint of type 'point-on-curve', "
                         "'roller-on-curve', 'flat-on-curve' or 'curve-on-curve'",
                         joint->name, joint->type->key);
  }
  const int curve = L->contacts.at[joint->contact].curve[signal->opt[1]];
  if (curve < 0) {
    return mbg__item_bad(item, on, "on: joint '%s' has no follower curve; leave 'on' out", joint->name);
  }
  if (signal->opt[0] == MBG__CURVE_Z && L->curves.at[curve].dim == 2) {
    return mbg__item_bad(item, quantity, "quantity: curve '%s' lies in the x-y plane, its z is always 0",
                         L->curves.at[curve].name);
  }
  if (signal->opt[0] == MBG__CURVE_NORMAL && L->contacts.at[joint->contact].nrow > 1) {
    return mbg__item_bad(item, quantity,
                         "quantity: curve '%s' is spatial, and the force on it has no single normal; use signals of "
                         "type 'reaction'",
                         L->curves.at[curve].name);
  }
  return MBG_OK;
}

/* of one row, that of the gap: the normal force; the others need no reaction */
int mbg__signal_of_contact(mbg__item *item, mbg__signal *signal) {
  int err = MBG_OK;
  const mbg__json *json = mbg__json_member(item->json, "joint");
  mbg__symbol *symbol = NULL;
  MBG_TRY(json ? mbg__item_reference(item, json, "joint", MBG__NAME_JOINT, &symbol) : MBG_OK);
  if (!symbol) {
    return MBG_OK;
  }
  const mbg__joint *joint = &item->L->joints.at[symbol->index];
  MBG_TRY(check_contact(item, json, joint, signal));
  if (!item->bad && !symbol->bad) {
    int *rows = MBG_TAKE(item->L->arena, int, 1);
    MBG_TRY(mbg__arena_check(item->L->ctx, item->L->arena));
    rows[0] = signal->row = joint->row;
    signal->nrow = 1;
    signal->rows = rows;
    signal->pair = joint->pair;
    signal->nrows = signal->opt[0] == MBG__CURVE_NORMAL;
    signal->level = signal->nrows ? MBG__LEVEL_REACTION : MBG__LEVEL_POSITION;
  }
done:
  return err;
}
