/* term: scalar functions F(z) of one relative frame (rows of joints, drivers, couplings; coordinates) with all their
   derivatives along motions. Entries e of G are linear in its matrix, so that with dG = G w~ (theory 0, section 3)

     e1(w) = <E, G w~>      e2(w, v) = <E, G w~ v~>      e3(w, v, v) = <E, G w~ v~ v~>

   and, with F_i, F_ij, F_ijk the derivatives of F by entries and F_t.. those by time through the law s(t):

     b w       = F_i e1_i(w)
     phid      = b v + F_t
     gamma     = F_i e2_i(v, v) + F_ij e1_i(v) e1_j(v) + 2 F_it e1_i(v) + F_tt
     phid_G w  = F_i e2_i(w, v) + F_ij e1_i(w) e1_j(v) + F_it e1_i(w)
     gamma_G w = F_i e3_i(w, v, v) + F_ij (e1_i(w) e2_j(v, v) + 2 e2_i(w, v) e1_j(v)) + F_ijk e1_i(w) e1_j(v) e1_k(v)
                 + 2 F_it e2_i(w, v) + 2 F_ijt e1_i(w) e1_j(v) + F_itt e1_i(w)
     gamma_v u = F_i (e2_i(u, v) + e2_i(v, u)) + 2 F_ij e1_i(u) e1_j(v) + 2 F_it e1_i(u) */
#ifndef MBG_SYSTEM_TERM_H
#define MBG_SYSTEM_TERM_H

#include "model/model.h"

/* F of a contact at the state, and its derivatives by attributes. */
typedef struct {
  mbg__jet3 jet;
  int nact;
  const int *act;
  const mbg__contact_slope *slope;
  real s[3], inverse[3][3]; /* on a profile (term_profile.h): the contact, where jet is the height */
} mbg__contact_jet;

/* What a term needs beside the relative motion: values of its law and attributes. */
typedef struct {
  const mbg__frame *G; /* NULL for a constant */
  const real *v;       /* relative twist (6) */
  const real *vd;      /* its rate (6) */
  const real *attr;    /* all attribute values of the model */
  const real *law;     /* (s, s', s'') or NULL */
  const real *outer;   /* (f, f', f'', f''') of the outer function at the coordinate, or NULL */
  int turns;
  const mbg__contact_jet *contact; /* of a term of a contact, or NULL */
} mbg__term_in;

/* Values. */
typedef struct {
  real phi, phid, gamma;
  real b[6];
} mbg__term_value;

/* Gradients on the relative motion. */
typedef struct {
  real phid_G[6], gamma_G[6], gamma_v[6];
  real bvd_G[6]; /* (b vd)_G */
  real L[36];    /* (b^T)_G: u^T L w = d(b u)[w] */
} mbg__term_gradient;

/* Derivatives by one attribute. */
typedef struct {
  int attr;
  real phi, phid, phidd; /* phidd: at vd */
  real b[6];
} mbg__term_attr;

/* Values; gradient (may be NULL) as well. */
void mbg__term_eval(const mbg__term *term, const mbg__term_in *in, mbg__term_value *value,
                    mbg__term_gradient *gradient);

/* F is an entry of G and nothing else; the entry is one of R, not of x. L has one block then: rows of translations (x)
   or rotations (R), columns of rotations. */
static inline bool mbg__term_plain(const mbg__term *t) {
  return !t->kernel && t->law < 0 && t->factor < 0 && t->outer < 0 && t->pair >= 0 && !t->rate && !t->contact;
}
static inline bool mbg__term_turns(const mbg__term *t) { return t->entry[0] < MBG__X1; }

/* Values alone of such a term. */
void mbg__term_eval_plain(const mbg__term *t, const mbg__frame *G, const real v[6], mbg__term_value *value);

/* b, phid_G and L alone, of a coordinate. */
void mbg__coord_slopes(const mbg__term *coord, const mbg__term_in *in, real b[6], real phid_G[6], real L[36]);

/* Derivatives by attributes: law_act (nact) with law_jact (nact x 3) are the active attributes of the law, or of the
   outer function. Returns how many entries of out were written: nact + nattr + (1 for a factor) at most. */
int mbg__term_attributes(const mbg__term *term, const mbg__term_in *in, int nact, const int *law_act,
                         const real (*law_jact)[3], mbg__term_attr *out);

/* The coordinate sign * F at which an outer function is taken. */
real mbg__term_coordinate(const mbg__term *term, const mbg__term_in *in);

/* Most entries that mbg__term_attributes writes. */
int mbg__term_attr_max(const mbg_model *model, const mbg__term *term);

/* A coordinate as a term, for forces and signals: q = sign * F. */
void mbg__term_of_coord(const mbg__coord *coord, mbg__term *term);

#endif
