/* Rows of joints. When both ends move in a plane (or are the ground), rows that no motion can change are dropped: the
   gradient of each row on the free motions is evaluated at a few configurations near the design. */
#include "load/load.h"

#include <string.h>

enum { TRIALS = 4 };
static const double gradient_min = 1e-9;

bool mbg__body_is_planar(const mbg__loader *L, int body) {
  return body < 0 || L->bodies.at[body].motion == MBG__PLANAR || L->bodies.at[body].motion == MBG__PLANAR_POINT;
}

/* ---------------------------------------------------------------------- configurations */

/* deterministic numbers in (-1, 1) */
static double next_random(unsigned long long *state) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

/* frame of a body near its design, moved in its free directions */
static void moved_frame(const mbg__loader *L, int body, int set, unsigned long long *state, mbg__frame *H) {
  real h[6] = {0};
  frame_identity(H);
  if (body < 0) {
    return;
  }
  for (int i = 0; i < 6; i++) {
    const double r = next_random(state);
    h[i] = L->bodies.at[body].mask >> i & 1 ? r : 0;
  }
  mbg__se3_retract(H, &L->placed[set].at[L->bodies.at[body].design].h, h);
}

/* gradient of an entry by the relative variation: x_k (r_k, 0), R_kl (0, e_l x r_k), r_k row k of R */
static void entry_gradient(const mbg__frame *G, int entry, real b[6]) {
  const int k = entry < MBG__X1 ? entry / 3 : entry - MBG__X1;
  v6_zero(b);
  if (entry >= MBG__X1) {
    v3_copy(b, G->R + 3 * k);
    return;
  }
  const real e[3] = {entry % 3 == 0, entry % 3 == 1, entry % 3 == 2};
  v3_cross(b + 3, e, G->R + 3 * k);
}

/* value and gradient of a term by the relative variation; any number stands for the law */
static void term_gradient(const mbg__loader *L, const mbg__term *t, const mbg__frame *G, real *phi, real b[6]) {
  real z[MBG__NZ + 2] = {0}, e[6];
  mbg__jet3 jet = {0};
  int n = 0;
  v6_zero(b);
  if (t->rate >= MBG__RATE_U1) {
    b[t->rate - MBG__RATE_U1] = 1;
    *phi = 0;
    return;
  }
  for (int i = 0; i < t->nentry; i++) {
    z[n++] = t->entry[i] < MBG__X1 ? G->R[t->entry[i]] : G->x[t->entry[i] - MBG__X1];
  }
  if (t->law >= 0) {
    z[n++] = 0.3;
  }
  for (int i = 0; i < t->nattr; i++) {
    z[n++] = t->attr_sign * L->values[0].at[t->attr[i]];
  }
  if (t->kernel) {
    t->kernel(z, 0, 1, &jet);
  } else {
    jet.F = z[0];
    jet.F_z[0] = 1;
  }
  *phi = jet.F;
  for (int i = 0; i < t->nentry; i++) {
    entry_gradient(G, t->entry[i], e);
    v6_axpy(b, jet.F_z[i], e);
  }
}

/* largest entry on the free motions of one end: wrench b on marker h (frame F = h for B, seen through G for A) */
static double free_part(const mbg__loader *L, int body, const mbg__frame *h, const real b[6]) {
  real f[6];
  double most = 0;
  if (body < 0) {
    return 0;
  }
  /* w_marker = Ad(h^-1) w_body */
  AdInvT_mul(f, h, b);
  for (int i = 0; i < 6; i++) {
    if (L->bodies.at[body].mask >> i & 1) {
      most = fmax(most, fabs(re(f[i])));
    }
  }
  return most;
}

/* Does the term change with the free motions of its ends? phi: its largest value on the way (a term that does not
   change keeps its value). */
static void term_at(const mbg__loader *L, const mbg__term *term, int set, unsigned long long *state, double *most,
                    double *phi) {
  const mbg__pair *pair = &L->pairs.at[term->pair];
  const mbg__marker *A = &L->markers.at[pair->A], *B = &L->markers.at[pair->B];
  const mbg__frame *hA = &L->placed[set].at[A->pose].h, *hB = &L->placed[set].at[B->pose].h;
  mbg__frame HA, HB, FA, FB, G;
  real b[6], a[6], value;
  moved_frame(L, A->body, set, state, &HA);
  moved_frame(L, B->body, set, state, &HB);
  frame_mul(&FA, &HA, hA);
  frame_mul(&FB, &HB, hB);
  frame_relative(&G, &FA, &FB);
  term_gradient(L, term, &G, &value, b);
  /* w_rel = w_B - Ad(G^-1) w_A */
  AdInvT_mul(a, &G, b);
  *most = fmax(*most, fmax(free_part(L, A->body, hA, a), free_part(L, B->body, hB, b)));
  *phi = fmax(*phi, fabs(re(value)));
}

int mbg__term_moves(mbg__loader *L, const mbg__term *term, bool *moves, double *phi) {
  unsigned long long state = 20240229;
  double most = 0;
  *phi = 0;
  for (int k = 0; k < TRIALS; k++) {
    term_at(L, term, 0, &state, &most, phi);
  }
  /* nor may the parameters make it move */
  double other = 0, unused = 0;
  for (int k = 0; k < TRIALS; k++) {
    term_at(L, term, 1, &state, &other, &unused);
  }
  *moves = !(most <= gradient_min && !(other > gradient_min));
  return MBG_OK;
}

/* ---------------------------------------------------------------------- rows */

static bool is_orientation(const mbg__row_spec *row) {
  for (int i = 0; i < row->nentry; i++) {
    if (row->entry[i] < MBG__X1) {
      return true;
    }
  }
  return false;
}

static bool is_point(const mbg__loader *L, int body) {
  return body >= 0 && (L->bodies.at[body].motion == MBG__POINT || L->bodies.at[body].motion == MBG__PLANAR_POINT);
}

static int check_points(mbg__item *item, const mbg__joint *joint, int A, int B) {
  const mbg__loader *L = item->L;
  const int point = is_point(L, A) ? A : is_point(L, B) ? B : -1;
  for (int k = 0; point >= 0 && k < joint->type->nrow; k++) {
    if (is_orientation(&joint->type->rows[k])) {
      return mbg__item_bad(item, mbg__json_member(item->json, "type"),
                           "a %s joint constrains the orientation of its ends, but body '%s' is a point without "
                           "orientation; use 'spherical'",
                           joint->type->key, L->bodies.at[point].name);
    }
  }
  return MBG_OK;
}

static bool has_coord(const mbg__joint_type *type, const char *name) {
  for (int i = 0; i < type->ncoord; i++) {
    if (strcmp(type->coords[i].name, name) == 0) {
      return true;
    }
  }
  return false;
}

/* planar motion: rotation about the normal, translation in the plane */
static int check_plane(mbg__item *item, const mbg__joint *joint, int A, int B) {
  const mbg__loader *L = item->L;
  const bool turns = has_coord(joint->type, "angle"), slides = !turns && has_coord(joint->type, "slide");
  if (joint->type->axes != MBG__AXES_Z || (!turns && !slides)) {
    return MBG_OK;
  }
  const mbg__pair *pair = &L->pairs.at[joint->pair];
  for (int i = 0; i < 2; i++) {
    const mbg__marker *m = &L->markers.at[i == 0 ? pair->A : pair->B];
    mbg__frame F = L->placed[0].at[m->pose].h, N;
    const int plane = A >= 0 ? A : B; /* its z is the normal */
    if (m->body >= 0) {
      frame_mul(&F, mbg__body_frame(L, m->body), &L->placed[0].at[m->pose].h);
    }
    N = *mbg__body_frame(L, plane);
    double c = 0;
    for (int k = 0; k < 3; k++) {
      c += re(F.R[3 * k + 2] * N.R[3 * k + 2]);
    }
    if (turns && fabs(c) < 1 - 1e-9) {
      return mbg__item_bad_key(item, item->json,
                               "both ends are planar: the axis of a %s joint must be normal to their plane",
                               joint->type->key);
    }
    /* point-on-line: only z of A is an axis */
    if (slides && fabs(c) > 1e-6 && (i == 0 || joint->type->nrow > 2)) {
      return mbg__item_bad_key(item, item->json, "both ends are planar: the axis of a %s joint must lie in their plane",
                               joint->type->key);
    }
  }
  return MBG_OK;
}

/* the angle whose full turns a row counts */
static int row_turn(mbg__item *item, const mbg__joint *joint, int *turn) {
  int err = MBG_OK, coord;
  *turn = -1;
  for (int i = 0; i < joint->type->ncoord; i++) {
    const mbg__coord_type *type = mbg__coord_find(joint->type->coords[i].coord);
    assert(type);
    if (type->turns) {
      MBG_TRY(mbg__coord_add(item->L, type, joint->pair, mbg__coord_sign(item->source, type), true, &coord));
      *turn = item->L->coords.at[coord].turn;
      break;
    }
  }
done:
  return err;
}

static bool at_velocity(const mbg__joint *joint) { return joint->type->decay > 0 && joint->opt[0] == 0; }

/* a term of a row; the first one makes the row */
static int add_term(mbg__loader *L, const mbg__row_spec *spec, const mbg__term *term, const mbg__joint *joint,
                    int index) {
  int err = MBG__ADD(L, L->terms, *term);
  if (err < 0) {
    return err;
  }
  if (!spec->name) {
    L->rows.at[L->rows.count - 1].nterm++;
    return MBG_OK;
  }
  const mbg__row row = {.kind = MBG__ROW_JOINT,
                        .owner = index,
                        .name = spec->name,
                        .term = L->terms.count - 1,
                        .nterm = 1,
                        .rate = spec->rate != MBG__RATE_NONE,
                        .decay = at_velocity(joint) && !spec->rate ? joint->attr + joint->type->decay - 1 : -1};
  return MBG__ADD(L, L->rows, row);
}

static int make_term(mbg__item *item, const mbg__joint *joint, const mbg__row_spec *spec, mbg__term *term) {
  *term = (mbg__term){.pair = joint->pair,
                      .kernel = spec->kernel,
                      .nentry = spec->nentry,
                      .law = -1,
                      .nattr = spec->nattr,
                      .attr_sign = spec->turns ? item->source->handed : 1, /* only an advance changes its hand */
                      .turn = -1,
                      .sign = 1,
                      .factor = -1,
                      .outer = -1,
                      .rate = spec->rate,
                      .coefficients = spec->coefficients};
  memcpy(term->entry, spec->entry, sizeof(spec->entry));
  if (joint->law >= 0 && spec->nattr == 1) {
    term->law = joint->law;
    term->nattr = 0;
  }
  for (int i = 0; i < term->nattr; i++) {
    term->attr[i] = joint->attr + spec->attr[i];
  }
  return spec->turns ? row_turn(item, joint, &term->turn) : MBG_OK;
}

/* a row by the contact of the joint; the second one of a planar curve is x3 */
static void make_contact_term(const mbg__item *item, const mbg__joint *joint, const mbg__row_spec *spec,
                              mbg__term *term) {
  const mbg__curve_contact *type = joint->type->contact;
  if (spec->contact > item->L->contacts.at[joint->contact].nrow) {
    term->nentry = 1;
    term->entry[0] = MBG__X3;
    return;
  }
  term->contact = 2 * joint->contact + spec->contact;
  term->nentry = type ? type->nz : 3;
  for (int i = 0; i < term->nentry; i++) {
    term->entry[i] = type ? type->entry[i] : MBG__X1 + i;
  }
}

/* a row of what rolls on a profile: its own numbers are radius and tube, or the radius of a ball */
static void make_profile_term(const mbg__joint *joint, const mbg__row_spec *spec, mbg__term *term) {
  *term = (mbg__term){.pair = joint->pair,
                      .nentry = 3,
                      .entry = {MBG__X1, MBG__X2, MBG__X3},
                      .law = -1,
                      .nattr = joint->type->profile == MBG__PROFILE_WHEEL ? 2 : 1,
                      .attr = {joint->attr, joint->attr + 1},
                      .attr_sign = 1,
                      .turn = -1,
                      .sign = 1,
                      .factor = -1,
                      .outer = -1,
                      .rate = spec->rate,
                      .contact = 2 * joint->contact + 1,
                      .profile = 1 + (int)(spec - joint->type->rows)};
}

static int joint_row(mbg__item *item, const mbg__joint *joint, int index, const mbg__row_spec *spec, bool may_drop) {
  int err = MBG_OK;
  mbg__loader *L = item->L;
  bool moves = true;
  double phi = 0;
  mbg__term term;
  if (joint->type->profile && joint->contact >= 0) {
    make_profile_term(joint, spec, &term);
    return add_term(L, spec, &term, joint, index);
  }
  MBG_TRY(make_term(item, joint, spec, &term));
  if (spec->contact) {
    make_contact_term(item, joint, spec, &term);
  }
  if (may_drop && !term.contact) {
    MBG_TRY(mbg__term_moves(L, &term, &moves, &phi));
  }
  if (!moves && phi > 1e-9 * (1 + fabs(phi))) {
    return mbg__item_bad_key(item, item->json,
                             is_orientation(spec)
                                 ? "row %s cannot be satisfied by planar motion: the axes of the markers differ"
                                 : "row %s cannot be satisfied by planar motion: the markers have different z",
                             spec->name);
  }
  if (moves) {
    MBG_TRY(add_term(L, spec, &term, joint, index));
  }
  for (const mbg__row_spec *more = spec->plus; more; more = more->plus) {
    MBG_TRY(make_term(item, joint, more, &term));
    MBG_TRY(add_term(L, more, &term, joint, index));
  }
done:
  return err;
}

/* joints for spatial bodies */
static int check_spatial(mbg__item *item, const mbg__joint *joint, int A, int B) {
  const mbg__loader *L = item->L;
  const int flat = A >= 0 && L->bodies.at[A].motion != MBG__SPATIAL   ? A
                   : B >= 0 && L->bodies.at[B].motion != MBG__SPATIAL ? B
                                                                      : -1;
  if (!joint->type->spatial || flat < 0) {
    return MBG_OK;
  }
  return mbg__item_bad(item, mbg__json_member(item->json, "type"),
                       "a %s joint is between spatial bodies and the ground, but body '%s' is planar or a point; there "
                       "take a coupling of type 'rack', or 'knife-edge'",
                       joint->type->key, L->bodies.at[flat].name);
}

int mbg__joint_rows(mbg__item *item, mbg__joint *joint, int index) {
  int err = MBG_OK;
  mbg__loader *L = item->L;
  const int A = L->markers.at[L->pairs.at[joint->pair].A].body, B = L->markers.at[L->pairs.at[joint->pair].B].body;
  const bool planar = mbg__body_is_planar(L, A) && mbg__body_is_planar(L, B);
  MBG_TRY(check_spatial(item, joint, A, B));
  MBG_TRY(item->bad ? MBG_OK : check_points(item, joint, A, B));
  if (planar && !item->bad) {
    MBG_TRY(check_plane(item, joint, A, B));
  }
  joint->row = L->rows.count;
  for (int k = 0; k < joint->type->nrow && !item->bad; k++) {
    MBG_TRY(joint_row(item, joint, index, &joint->type->rows[k], planar));
  }
  joint->nrow = L->rows.count - joint->row;
done:
  return err;
}
