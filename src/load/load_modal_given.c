/* Modal bodies whose invariants and shapes are given in the file: every number is an attribute. Entries that follow
   by symmetry (I5_kj = -I5_jk, I9_kj = I9_jk^T, I6, K and C symmetric) are read and compared, but not used. */
#include "load/load_modal.h"

#include <string.h>

/* numbers of a mode, or of a pair of modes */
typedef enum { NUMBER, POLAR, AXIAL, TENSOR } kind;

typedef struct {
  mbg__modal_reader *r;
  const char *key, *unit;
  kind of;
  int first;       /* place of the first number */
  double symmetry; /* of entry (k, j) to entry (j, k), transposed: 1 or -1; 0: a list of one index */
} series;

static int width(kind k) { return k == NUMBER ? 1 : k == TENSOR ? 9 : 3; }

/* sign of component c in a mirrored part */
static double sign_of(const series *s, int c) {
  const mbg__source *source = s->r->item->source;
  switch (s->of) {
  case POLAR:
    return source->sign[c];
  case AXIAL:
    return source->handed * source->sign[c];
  case TENSOR:
    return source->sign[c / 3] * source->sign[c % 3];
  default:
    return 1;
  }
}

/* the numbers of one entry of the file: of a number as given, of the z (zz) component of a planar body, or of all */
static int entry_numbers(const series *s, const mbg__json *json, const char *label, const mbg__json *out[9]) {
  int err = MBG_OK;
  mbg__item *item = s->r->item;
  const mbg__json *row, *x;
  const bool planar = s->r->body->motion == MBG__PLANAR;
  memset(out, 0, 9 * sizeof(*out));
  if (s->of == NUMBER) {
    out[0] = json;
  } else if (planar && s->of != POLAR && json->kind != MBG__JSON_ARRAY) {
    out[s->of == AXIAL ? 2 : 8] = json;
  } else if (s->of != TENSOR) {
    MBG_TRY(mbg__item_array(item, json, label, 3, &row));
    for (int i = 0; row && i < 3; i++, row = row->next) {
      out[i] = row;
    }
  } else {
    MBG_TRY(mbg__item_array(item, json, label, 3, &row));
    for (int i = 0; row && i < 3; i++, row = row->next) {
      MBG_TRY(mbg__item_array(item, row, label, 3, &x));
      for (int j = 0; x && j < 3; j++, x = x->next) {
        out[3 * i + j] = x;
      }
    }
  }
done:
  return err;
}

/* a number that repeats another one */
static int check_repeated(const series *s, const mbg__json *json, const char *label, double other, double scale) {
  double value;
  mbg__formula formula;
  mbg__item *item = s->r->item;
  const int err = mbg__item_formula(item, json, label, 1, &formula, &value);
  if (err < 0 || isnan(value) || isnan(other) || fabs(value - s->symmetry * other) <= 1e-9 * scale) {
    return err;
  }
  if (s->symmetry < 0) {
    return mbg__item_bad(item, json, "%s is %g, must be %g: entries [k][j] and [j][k] have opposite signs", label,
                         value, -other);
  }
  return mbg__item_bad(item, json, "%s is %g, must be %g: entries [k][j] and [j][k] are equal%s", label, value, other,
                       s->of == TENSOR ? " transposed" : "");
}

/* entry (j, k), and (k, j) with it */
static int read_entry(const series *s, const mbg__json *json, int j, int k) {
  int err = MBG_OK, attr;
  mbg__modal_reader *r = s->r;
  const int n = r->modal->n, w = width(s->of);
  const bool pair = s->symmetry != 0;
  const mbg__json *numbers[9];
  char label[64];
  mbg__format(label, sizeof(label), pair ? "%s[%d][%d]" : "%s[%d]", s->key, j, k);
  MBG_TRY(entry_numbers(s, json, label, numbers));
  for (int c = 0; c < w; c++) {
    const int mirrored = s->of == TENSOR ? c % 3 * 3 + c / 3 : c;
    const int place = s->first + w * (pair ? n * j + k : j) + c, twin = s->first + w * (n * k + j) + mirrored;
    if (!numbers[c]) {
      continue;
    }
    if (w > 1) {
      mbg__format(label, sizeof(label), pair ? "%s[%d][%d][%d]" : "%s[%d][%d]", s->key, j, pair ? k : c, c);
    }
    /* on the diagonal of an antisymmetric one, and below that of a symmetric tensor */
    if (pair && j == k && (s->symmetry < 0 || mirrored < c)) {
      double other = 0, scale = 0;
      for (int i = 0; i < r->links.count; i++) {
        const double x = sign_of(s, c) * mbg__value(r->item->L, r->links.at[i].attr);
        other = s->symmetry > 0 && r->links.at[i].entry == twin ? x : other;
        scale = fmax(scale, r->links.at[i].entry >= s->first ? fabs(mbg__value(r->item->L, r->links.at[i].attr)) : 0);
      }
      MBG_TRY(check_repeated(s, numbers[c], label, other, fmax(scale, 1e-300)));
      continue;
    }
    MBG_TRY(mbg__item_attribute(r->item, numbers[c], label, s->unit, 0, sign_of(s, c), &attr));
    MBG_TRY(mbg__modal_link_add(r, place, attr, 1));
    if (pair && twin != place) {
      MBG_TRY(mbg__modal_link_add(r, twin, attr, s->symmetry));
    }
  }
done:
  return err;
}

/* entry (k, j) below the diagonal against (j, k) */
static int compare_entry(const series *s, const mbg__json *lower, const mbg__json *upper, int j, int k) {
  int err = MBG_OK;
  const mbg__json *a[9], *b[9];
  const int w = width(s->of);
  double value[9] = {0}, scale = 1e-300;
  mbg__formula formula;
  char label[64];
  mbg__format(label, sizeof(label), "%s[%d][%d]", s->key, k, j);
  MBG_TRY(entry_numbers(s, upper, label, b));
  MBG_TRY(entry_numbers(s, lower, label, a));
  for (int c = 0; c < w; c++) {
    if (b[c]) {
      MBG_TRY(mbg__item_formula(s->r->item, b[c], label, 1, &formula, &value[c]));
      scale = fmax(scale, fabs(value[c]));
    }
  }
  for (int c = 0; !s->r->item->bad && c < w; c++) {
    if (a[c]) {
      const int mirrored = s->of == TENSOR ? c % 3 * 3 + c / 3 : c;
      MBG_TRY(check_repeated(s, a[c], label, value[mirrored], scale));
    }
  }
done:
  return err;
}

/* an array with an entry for each mode, or rows of them for each pair */
static int read_series(const series *s, const mbg__json *json) {
  int err = MBG_OK;
  mbg__modal_reader *r = s->r;
  const int n = r->modal->n;
  const mbg__json *row, *entry, **all;
  char label[64];
  if (!json) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_array(r->item, json, s->key, n, &row));
  if (s->symmetry == 0) {
    for (int j = 0; row && j < n; j++, row = row->next) {
      MBG_TRY(read_entry(s, row, j, 0));
    }
    return MBG_OK;
  }
  all = MBG_TAKE(&r->item->L->temp, const mbg__json *, n *n);
  MBG_TRY(mbg__arena_check(r->item->L->ctx, &r->item->L->temp));
  for (int j = 0; row && j < n; j++, row = row->next) {
    mbg__format(label, sizeof(label), "%s[%d]", s->key, j);
    MBG_TRY(mbg__item_array(r->item, row, label, n, &entry));
    for (int k = 0; entry && k < n; k++, entry = entry->next) {
      all[n * j + k] = entry;
    }
  }
  for (int j = 0; !r->item->bad && j < n; j++) {
    for (int k = 0; k < n; k++) {
      MBG_TRY(k >= j ? read_entry(s, all[n * j + k], j, k) : compare_entry(s, all[n * j + k], all[n * k + j], k, j));
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- the invariants */

static int read_moments(mbg__modal_reader *r, const mbg__json *json) {
  int err = MBG_OK, attr, k = 0;
  static const int place[6][2] = {{0, 0}, {4, 4}, {8, 8}, {1, 3}, {2, 6}, {5, 7}};
  const mbg__json *I7 = mbg__json_member(json, "I7"), *entry;
  char label[32];
  MBG_TRY(mbg__item_attribute(r->item, mbg__json_member(json, "I1"), "I1", "kg", 0, 1, &attr));
  MBG_TRY(mbg__modal_link_add(r, r->at.I1, attr, 1));
  MBG_TRY(mbg__item_vector(r->item, mbg__json_member(json, "I2"), "I2", "kg m", 0, r->item->source->sign, &attr));
  for (int i = 0; i < 3; i++) {
    MBG_TRY(mbg__modal_link_add(r, r->at.I2 + i, attr + i, 1));
  }
  if (I7->kind != MBG__JSON_ARRAY) {
    if (r->body->motion != MBG__PLANAR) {
      return mbg__item_bad(r->item, I7,
                           "I7: a single number applies only to planar bodies; give [xx, yy, zz] or all six entries");
    }
    MBG_TRY(mbg__item_attribute(r->item, I7, "I7[2]", "kg m^2", 0, 1, &attr));
    return mbg__modal_link_add(r, r->at.I7 + 8, attr, 1);
  }
  if (I7->count != 3 && I7->count != 6) {
    return mbg__item_bad(r->item, I7, "I7: expected 3 or 6 entries, found %d", I7->count);
  }
  for (entry = I7->child; entry; entry = entry->next, k++) {
    const double *S = r->item->source->sign;
    const int i = place[k][0];
    mbg__format(label, sizeof(label), "I7[%d]", k);
    MBG_TRY(mbg__item_attribute(r->item, entry, label, "kg m^2", 0, S[i / 3] * S[i % 3], &attr));
    MBG_TRY(mbg__modal_link_add(r, r->at.I7 + i, attr, 1));
    if (place[k][1] != i) {
      MBG_TRY(mbg__modal_link_add(r, r->at.I7 + place[k][1], attr, 1));
    }
  }
done:
  return err;
}

/* planar and not given: I9_jk = I6_jk in zz */
static int fill_I9(mbg__modal_reader *r, const mbg__json *json) {
  int err = MBG_OK;
  const int n2 = r->modal->n * r->modal->n, count = r->links.count;
  if (r->body->motion != MBG__PLANAR || mbg__json_member(json, "I9")) {
    return MBG_OK;
  }
  for (int i = 0; i < count; i++) {
    const mbg__modal_link link = r->links.at[i];
    if (link.entry >= r->at.I6 && link.entry < r->at.I6 + n2) {
      MBG_TRY(mbg__modal_link_add(r, r->at.I9 + 9 * (link.entry - r->at.I6) + 8, link.attr, link.factor));
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- do they belong to one body? */

/* tr(I9_jk) = 2 I6_jk, and the antisymmetric parts: I9 - I9^T is I5, I8 - I8^T is I4 (all from I = a.b 1 - b a^T) */
typedef struct {
  const mbg__modal_reader *r;
  const double *D;
  const mbg__json *json;
} given;

static int misfit(const given *g, const char *key, int j, int k, double x, const char *other, double y) {
  char label[32];
  mbg__format(label, sizeof(label), k < 0 ? "[%d]" : "[%d][%d]", j, k);
  return mbg__item_bad(g->r->item, mbg__json_member(g->json, key),
                       "%s%s is inconsistent with %s: found %g, expected %g; both are moments of the same shapes", key,
                       label, other, x, y);
}

static int check_axial(const given *g, const char *key, const char *other, int j, int k, const double T[9],
                       const double a[3], double scale) {
  for (int c = 0; c < 3; c++) {
    const int p = (c + 1) % 3, q = (c + 2) % 3;
    const double x = T[3 * p + q] - T[3 * q + p];
    if (fabs(x - a[c]) > 1e-6 * scale) {
      return misfit(g, key, j, k, x, other, a[c]);
    }
  }
  return MBG_OK;
}

static int check_pair(const given *g, int j, int k) {
  const int n = g->r->modal->n;
  const mbg__modal_layout *l = &g->r->at;
  const double *T = g->D + l->I9 + 9 * (n * j + k), *I6 = g->D + l->I6;
  const double scale = sqrt(fabs(I6[n * j + j] * I6[n * k + k])), m = I6[n * j + k];
  const bool planar = g->r->body->motion == MBG__PLANAR;
  const double trace = planar ? 2 * T[8] : T[0] + T[4] + T[8];
  if (fabs(trace - 2 * m) > 1e-6 * scale) {
    return planar ? misfit(g, "I9", j, k, T[8], "I6", m) : misfit(g, "I9", j, k, trace, "2 I6 (the trace)", 2 * m);
  }
  return planar ? MBG_OK : check_axial(g, "I9", "I5", j, k, T, g->D + l->I5 + 3 * (n * j + k), scale);
}

static int check_given(mbg__modal_reader *r, const mbg__json *json) {
  int err = MBG_OK;
  const int n = r->modal->n;
  double *D = MBG_TAKE(&r->item->L->temp, double, r->at.count);
  MBG_TRY(mbg__arena_check(r->item->L->ctx, &r->item->L->temp));
  for (int i = 0; i < r->links.count; i++) {
    D[r->links.at[i].entry] += r->links.at[i].factor * mbg__value(r->item->L, r->links.at[i].attr);
  }
  const given g = {r, D, json};
  for (int j = 0; !r->item->bad && j < n; j++) {
    const double *I7 = D + r->at.I7, scale = sqrt(fabs(D[r->at.I6 + (n + 1) * j] * (I7[0] + I7[4] + I7[8])));
    if (r->body->motion != MBG__PLANAR) {
      MBG_TRY(check_axial(&g, "I8", "I4", j, -1, D + r->at.I8 + 9 * j, D + r->at.I4 + 3 * j, scale));
    }
    for (int k = j; !r->item->bad && k < n; k++) {
      MBG_TRY(check_pair(&g, j, k));
    }
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- nodes */

/* columns of a node: attributes (phit_j, phir_j), 0 where not given */
static int read_columns(mbg__modal_reader *r, mbg__item *item, mbg__modal_node *node) {
  int err = MBG_OK, index;
  static const char *const keys[] = {"translation", "rotation"}, *const units[] = {"", "1/m"};
  const mbg__json *entry[2] = {NULL, NULL}, *x;
  char label[96];
  for (int k = 0; k < 2; k++) {
    const mbg__json *json = mbg__json_member(item->json, keys[k]);
    if (json) {
      MBG_TRY(mbg__item_array(item, json, keys[k], r->modal->n, &entry[k]));
    }
  }
  node->columns = item->L->attributes.count;
  for (int j = 0; j < r->modal->n; j++) {
    for (int k = 0; k < 2; k++) {
      x = NULL;
      mbg__format(label, sizeof(label), "%s.%s[%d]", node->name, keys[k], j);
      if (entry[k]) {
        MBG_TRY(mbg__item_array(item, entry[k], label, 3, &x));
      }
      for (int c = 0; c < 3; c++) {
        const double sign = item->source->sign[c] * (k ? item->source->handed : 1);
        mbg__format(label, sizeof(label), "%s.%s[%d][%d]", node->name, keys[k], j, c);
        MBG_TRY(mbg__item_attribute(item, x, label, units[k], 0, sign, &index));
        const bool out = r->body->motion == MBG__PLANAR && (k == 0) == (c == 2);
        if (out && mbg__value(item->L, index) != 0) {
          MBG_TRY(mbg__item_bad(item, x, "%s is %g, must be 0: the body is planar", label, mbg__value(item->L, index)));
        }
        x = x ? x->next : NULL;
      }
      entry[k] = entry[k] ? entry[k]->next : NULL;
    }
  }
done:
  return err;
}

static int read_node(mbg__modal_reader *r, const mbg__json *json) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_MODAL_NODE};
  mbg__item item = *r->item;
  mbg__modal_node node = {.name = mbg__intern(item.L, json->key)};
  bool yes;
  char label[MBG__HINT_SIZE];
  if (!node.name) {
    return mbg__fail_memory(item.L->ctx);
  }
  item.json = json;
  MBG_TRY(mbg__item_object(&item, json, json->key, &yes));
  if (yes) {
    MBG_TRY(mbg__item_keys(&item, json, keys, 1, NULL, 0));
    mbg__format(label, sizeof(label), "%s.at", json->key);
    MBG_TRY(mbg__item_vector(&item, mbg__json_member(json, "at"), label, "m", 0, NULL, &node.at));
    MBG_TRY(read_columns(r, &item, &node));
  }
  r->item->bad = r->item->bad || item.bad;
  MBG_TRY(MBG__ADD(item.L, r->nodes, node));
done:
  return err;
}

static int read_nodes(mbg__modal_reader *r) {
  int err = MBG_OK;
  const mbg__json *json = mbg__json_member(r->item->json, "nodes");
  bool yes;
  if (!json) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_object(r->item, json, "nodes", &yes));
  for (const mbg__json *node = yes ? json->child : NULL; node; node = node->next) {
    if (strcmp(node->key, "note") != 0 || node->kind != MBG__JSON_STRING) {
      MBG_TRY(read_node(r, node));
    }
  }
done:
  return err;
}

int mbg__modal_given(mbg__modal_reader *r) {
  int err = MBG_OK;
  static const mbg__file_object keys[] = {MBG__KEYS_INVARIANTS};
  const mbg__json *json = mbg__json_member(r->item->json, "invariants");
  const series list[] = {
      {r, "I3", "kg", POLAR, r->at.I3, 0},    {r, "I4", "kg m", AXIAL, r->at.I4, 0},
      {r, "I5", "kg", AXIAL, r->at.I5, -1},   {r, "I6", "kg", NUMBER, r->at.I6, 1},
      {r, "I8", "kg m", TENSOR, r->at.I8, 0}, {r, "I9", "kg", TENSOR, r->at.I9, 1},
      {r, "K", "N/m", NUMBER, r->at.K, 1},    {r, "C", "N s/m", NUMBER, r->at.C, 1},
  };
  bool yes;
  r->modal->given = true;
  MBG_TRY(mbg__item_object(r->item, json, "invariants", &yes));
  if (!yes) {
    return MBG_OK;
  }
  MBG_TRY(mbg__item_keys(r->item, json, keys, 1, NULL, 0));
  if (r->item->bad) {
    return MBG_OK;
  }
  static const char *const all[] = {"I4", "I8", "I9"};
  for (int k = 0; r->body->motion != MBG__PLANAR && k < MBG_COUNT(all); k++) {
    if (!mbg__json_member(json, all[k])) {
      MBG_TRY(mbg__item_bad_key(r->item, json, "'%s' is missing: a spatial body needs it", all[k]));
    }
  }
  if (r->item->bad) {
    return MBG_OK;
  }
  MBG_TRY(read_moments(r, json));
  for (int k = 0; !r->item->bad && k < MBG_COUNT(list); k++) {
    MBG_TRY(read_series(&list[k], mbg__json_member(json, list[k].key)));
  }
  MBG_TRY(fill_I9(r, json));
  if (!r->item->bad) {
    MBG_TRY(check_given(r, json));
  }
  MBG_TRY(read_nodes(r));
done:
  return err;
}
