/* What the tests of the element families share: inputs at special and random places, comparison by blocks, attributes
   and options by the key tables.

   A derivative agrees when the largest entry of the difference is at most TOLERANCE times the largest entry of its
   block (theory 0, section 11). The reference is the complex step of the same kernel in the twin, free of truncation:
   what is left is the rounding of some hundred operations, a few 1e-15; 1e-12 leaves room for the cancellations of a
   logarithm near pi and of stiffnesses of different size in one block. */
#ifndef UNIT_ELEMENTS_ELEMENTS_H
#define UNIT_ELEMENTS_ELEMENTS_H

#include "model/types.h"
#include "support/support.h"
#include "twin/twin_elements.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOLERANCE 1e-12

/* ---------------------------------------------------------------------- comparison by blocks */

enum { BLOCKS = 800 };

typedef struct {
  char name[60];
  int inputs;         /* compared so far */
  int nonzero;        /* of which the reference was not all zero */
  double error, norm; /* worst error and the largest entry of the block there */
} block;

typedef struct {
  int count;
  block blocks[BLOCKS];
} report;

static inline block *report_block(report *r, const char *type, const char *name) {
  char full[160];
  snprintf(full, sizeof full, "%s %s", type, name);
  for (int i = 0; i < r->count; i++) {
    if (strcmp(r->blocks[i].name, full) == 0) {
      return &r->blocks[i];
    }
  }
  assert_true(r->count < BLOCKS);
  block *b = &r->blocks[r->count++];
  *b = (block){0};
  strcpy(b->name, full);
  return b;
}

/* Compares a block a with its reference b. */
static inline void report_compare(report *r, const char *type, const char *name, int n, const double *a,
                                  const double *b) {
  double d = 0, s = 0;
  for (int i = 0; i < n; i++) {
    d = isnan(a[i] - b[i]) ? INFINITY : fmax(d, fabs(a[i] - b[i]));
    s = fmax(s, fabs(b[i]));
  }
  block *w = report_block(r, type, name);
  const double error = d / fmax(s, 1e-50); /* the twin's zeros carry squares of TWIN_STEP */
  w->inputs++;
  w->nonzero += s > 1e-50;
  if (!(error <= w->error)) {
    w->error = error;
    w->norm = s;
  }
}

/* Prints the worst error of every block and fails when one is too large or was not compared often enough. */
static inline void report_assert(const report *r, int inputs, double tol) {
  const block *worst = NULL;
  for (int i = 0; i < r->count; i++) {
    const block *b = &r->blocks[i];
    print_message("  %-44s %8.1e   %d inputs%s\n", b->name, b->error, b->inputs, b->nonzero ? "" : ", zero");
    if (b->inputs < inputs) {
      fail_msg("%s: %d inputs, at least %d wanted", b->name, b->inputs, inputs);
    }
    worst = !worst || !(b->error <= worst->error) ? b : worst;
  }
  assert_non_null(worst);
  if (!(worst->error <= tol)) {
    fail_msg("%s: error %g of a block of size %g, allowed %g", worst->name, worst->error, worst->norm, tol);
  }
}

/* ---------------------------------------------------------------------- relative frames */

/* rotation angles near 0, near pi and on both sides of the cut of atan2; distances, one of them 0 */
static const double special_angles[] = {0, 1e-12, 1e-6, 1e-3, 1, M_PI - 1e-3, M_PI - 1e-6};
static const double special_lengths[] = {0, 1e-8, 1, 100};

enum {
  SPECIAL = MBG_COUNT(special_angles) * MBG_COUNT(special_lengths),
  CUTS = 18, /* turns about each axis, by +-(pi - eps), eps = 1e-3, 1e-9, 0 */
  RANDOM = 200,
  FRAMES = SPECIAL + CUTS + RANDOM
};

static inline void turn_about(int axis, double angle, double R[9]) {
  const double c = cos(angle), s = sin(angle);
  const int i = (axis + 1) % 3, j = (axis + 2) % 3;
  m3_identity(R);
  R[4 * i] = R[4 * j] = c;
  R[3 * i + j] = -s;
  R[3 * j + i] = s;
}

/* Frame i of FRAMES. */
static inline mbg__frame frame_sample(int i, support_rng *rng) {
  static const double eps[] = {1e-3, 1e-9, 0};
  mbg__frame G;
  double length = support_uniform(rng, 0.1, 3);
  if (i < SPECIAL) {
    support_rotation_by(rng, special_angles[i / MBG_COUNT(special_lengths)], G.R);
    length = special_lengths[i % MBG_COUNT(special_lengths)];
  } else if (i < SPECIAL + CUTS) {
    const int k = i - SPECIAL;
    turn_about(k % 3, (k / 3 % 2 ? -1 : 1) * (M_PI - eps[k / 6]), G.R);
  } else {
    support_rotation(rng, G.R);
  }
  support_direction(rng, G.x);
  v3_scale(G.x, length, G.x);
  return G;
}

/* Rotation by pi exactly: log has no derivative there. */
static inline bool frame_at_pi(const mbg__frame *G) { return G->R[0] + G->R[4] + G->R[8] < -1 + 1e-15; }

/* Entry MBG__R11 .. MBG__X3 of a frame. */
static inline double frame_entry(const mbg__frame *G, int entry) {
  return entry < MBG__X1 ? G->R[entry] : G->x[entry - MBG__X1];
}

/* G (1 + i s w~) for the twin; w NULL: G itself */
static inline void frame_step(const mbg__frame *G, const double *w, double _Complex out[12]) {
  double dR[9] = {0}, dx[3] = {0};
  if (w) {
    double W[9];
    m3_skew(W, w + 3);
    m3_mul(dR, G->R, W);
    m3_mulv(dx, G->R, w);
  }
  for (int i = 0; i < 9; i++) {
    out[i] = twin_step(G->R[i], dR[i]);
  }
  for (int i = 0; i < 3; i++) {
    out[9 + i] = twin_step(G->x[i], dx[i]);
  }
}

/* x + i s e_k for the twin; k < 0: x itself */
static inline void vector_step(int n, const double *x, int k, double _Complex *out) {
  for (int i = 0; i < n; i++) {
    out[i] = twin_step(x[i], i == k);
  }
}

static inline void unit6(int k, double e[6]) {
  v6_zero(e);
  e[k] = 1;
}

/* ---------------------------------------------------------------------- keys */

enum { ATTRIBUTES = 60, OPTIONS = 4 };

static inline int key_attributes(const mbg__key *key) {
  switch (key->kind) {
  case MBG__KEY_NUMBER:
    return 1;
  case MBG__KEY_VEC3:
    return 3;
  case MBG__KEY_SYM6:
    return 21;
  default:
    return 0;
  }
}

static inline int key_functions(const mbg__key *key) {
  return key->kind == MBG__KEY_FN ? 1 : key->kind == MBG__KEY_FN3 ? 3 : 0;
}

static inline int word_count(const char *text) {
  int n = 0;
  for (const char *p = text; p && *p; p++) {
    n += *p != ' ' && (p == text || p[-1] == ' ');
  }
  return n;
}

/* number of choices of an option, 0 for other keys */
static inline int key_choices(const mbg__key *key) {
  return key->kind == MBG__KEY_CHOICE ? word_count(key->choices)
         : key->kind == MBG__KEY_BOOL ? 2
                                      : key->kind == MBG__KEY_CURVE;
}

static inline int count_attributes(const mbg__key *keys, int nkey) {
  int n = 0;
  for (int i = 0; i < nkey; i++) {
    n += key_attributes(&keys[i]);
  }
  return n;
}

static inline int count_functions(const mbg__key *keys, int nkey) {
  int n = 0;
  for (int i = 0; i < nkey; i++) {
    n += key_functions(&keys[i]);
  }
  return n;
}

/* Number of combinations of the options; combination c of them in opt. */
static inline int option_sample(const mbg__key *keys, int nkey, int c, int opt[OPTIONS]) {
  int total = 1, n = 0;
  for (int i = 0; i < nkey; i++) {
    const int choices = key_choices(&keys[i]);
    if (choices > 0) {
      assert_true(n < OPTIONS);
      opt[n++] = c / total % choices;
      total *= choices;
    }
  }
  return total;
}

/* Attributes by the signs of the keys; every fourth sample has one key at its bound: 0, or 1e-3 where it must be
   positive, or its preset. */
static inline void attribute_sample(const mbg__key *keys, int nkey, int sample, support_rng *rng, double *attr) {
  const int at_bound = sample % 4 == 3 ? support_index(rng, nkey > 0 ? nkey : 1) : -1;
  for (int i = 0, n = 0; i < nkey; i++) {
    for (int k = 0; k < key_attributes(&keys[i]); k++, n++) {
      attr[n] = keys[i].sign == MBG__ANY_SIGN ? support_normal(rng) : support_uniform(rng, 0.2, 3);
      if (i == at_bound) {
        attr[n] = keys[i].sign == MBG__POSITIVE ? 1e-3 : keys[i].preset;
      }
    }
  }
}

#endif
