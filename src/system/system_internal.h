/* The workspace behind system/system.h. Arrays are named by what they hold and grouped by who fills them. */
#ifndef MBG_SYSTEM_SYSTEM_INTERNAL_H
#define MBG_SYSTEM_SYSTEM_INTERNAL_H

#include "base/pool.h"
#include "elements/beam.h"
#include "elements/modal_inertia.h"
#include "elements/modal_marker.h"
#include "system/system.h"
#include "system/term.h"

#include <string.h>

typedef real vec6[6];
typedef real mat6[36];

/* A block of a matrix over free velocities: rows of body Q, columns of body P. The rows of a column follow each other:
   entry (i, j) of the free components stands at column[j] + i. */
typedef struct {
  int Q, P;
  int *column; /* nfree(P) */
} mbg__block;

/* Blocks of one pair: of K and C over (A, B) x (A, B); -1 where an end is on the ground. */
typedef struct {
  int block[2][2];
} mbg__pair_blocks;

/* Free velocities of the bodies of a pair or of a modal body, and the slots of a matrix over them. */
typedef struct {
  int n;
  int *full; /* places in vectors of the whole model   (n) */
  int *slot; /* of K                                    (n x n) */
} mbg__local;

/* Entries of matrices that may differ from 0, one matrix an attribute: place[start[k]], ... of the k-th. */
typedef struct {
  const int *start;
  const unsigned char *place;
} mbg__places;

/* Where a pull adds its gradient: cotangents of frames, twists, their rates (nw), multipliers (nrow), attributes (na);
   each may be NULL. */
typedef struct {
  real *w, *v, *vd, *lambda, *a;
} mbg__cotangent;

/* A modal body: state, scratch of its variations (d...) and cotangents (g...). */
typedef struct {
  mbg__modal_state state;
  mbg__modal_blocks change;
  real *eta, *deta, *geta;                                /* (n) */
  real *nu, *nud, *dnu, *dnud, *gnu, *gnud, *r, *scratch; /* (6 + n) */
  real *dD, *gD;                                          /* flat arrays */
  mbg__local local;
  /* largest at accepted nodes: angular velocity of the frame, rotation and displacement of a marker by the modes,
     distance of a marker from the frame */
  double spin, turn, shift, reach;
  real energies[3]; /* of the last mbg__energy_terms: kinetic, strain, weight */
} mbg__modal_work;

/* A marker on a modal body: where it is. */
typedef struct {
  int modal;
  mbg__modal_marker m;
  real *gP;
} mbg__modal_end;

/* ... and the last direction it was pushed in. */
typedef struct {
  mbg__modal_marker_direction d;
  mbg__modal_marker_change change;
  real omega[6], *dP;
} mbg__modal_end_change;

/* A function of a force that uses signals: the signals of pairs and coordinates behind it, and the blocks they couple.
   The functions of a force follow each other. */
typedef struct {
  int force;
  int fn; /* of the model */
  int nbase;
  const int *base;    /* signals                                  (nbase) */
  int (*block)[2][2]; /* [end of force][end of signal's pair]  (nbase) */
  int **slot;         /* modal ends: local velocities of the pairs of force and signal, else NULL  (nbase) */
} mbg__cross;

/* K and C as a list of 6x6 blocks over the bodies' six components, each transposed: for products with few columns. */
typedef struct mbg__dense {
  const bool *used;    /* requested blocks                         (nblock) */
  mat6 *K, *C;         /*                                          (nblock) */
  bool *has_K, *has_C; /* false: the block is 0                    (nblock) */
} mbg__dense;

/* Scratch of one reference of beams: variations (or cotangents) of d0 and of N. */
typedef struct {
  bool any;
  real d0[6], N[3][144];
} mbg__beam_work;

/* Record of a beam at accepted nodes: the largest rotation between the nodes of an element, that element, the number of
   elements above MBG__BEAM_TURN_WARN and the time of the first; the largest stress that a signal of all elements met,
   its time and element. */
typedef struct {
  double turn, when;
  int element, count;
  double stress, stressed_when;
  int stressed;
} mbg__beam_watch;

typedef struct mbg__broad mbg__broad;

/* A joint on curves at the state: contact parameters, its rows, and what their derivatives by attributes need. */
typedef struct mbg__curve_work mbg__curve_work;
typedef struct {
  real y[2][MBG__CONTACT_Y];                 /* entries and contact parameters of each row */
  real d[2][MBG__CONTACT_Z][MBG__CONTACT_Y]; /* their derivatives by entries */
  real second[2][MBG__CONTACT_Z][MBG__CONTACT_Z][MBG__CONTACT_Y];
  real inverse[2][MBG__CONTACT_S][MBG__CONTACT_S];
  double triad[9];
  mbg__contact_jet jet[2];
  int *act;
  mbg__contact_slope *slope[2];
  real (*s_a)[MBG__CONTACT_S]; /* contact parameters of the last row by attributes */
  bool seen;                   /* a signal looks at it */
} mbg__contact_work;

struct mbg__system {
  mbg__arena arena;
  const mbg_model *model;
  const mbg__design *design;
  mbg__fn_work *fn_work;
  mbg__term *coord_term; /* coordinates as terms                       (ncoord) */

  bool moved_only;     /* pulls leave out attributes that no parameter moves */
  bool *marker_wanted; /* markers that depend on attributes of pulls    (nmarker) */
  int *moved0, *moved; /* moved_only: places in dep of those attributes  (nmarker + 1) */
  mbg__places *mass_a; /* entries of the mass matrix that attributes move (nbody) */
  bool bare;           /* constraints alone: no inertia, no forces */
  bool rest;           /* the state has no rates, and no modes add to those of markers */
  bool partial;        /* markers are those of a sample: not all belong to the frames */
  bool planar;         /* all bodies are rigid and move in their planes */
  bool flat;           /* markers, relative frames, twists and rates of the state are flat (math/flat.h) */
  long place;          /* number of the state */

  /* threads (system_share.c) */
  mbg__pool *pool;              /* NULL: none */
  int nclass, *class0, *class_; /* pairs of a class share no body and no attribute   (nclass + 1), (npair) */
  int *pair_term0, *pair_term;  /* terms of each pair, ascending; last those of none   (npair + 2), (nterm) */
  real (*weight3)[3];           /* scratch: what the weight of a body gives, energies  (nbody) */
  int nlaw, *laws;              /* terms with functions of time */
  int nouter, *outers;          /* terms with functions of their coordinate */
  bool any_broken;              /* some joint has no meaning at some relative frames */
  mbg__curve_work *curves;      /* system_curves.c                          (ncurve) */
  mbg__contact_work *contacts;  /*                                          (ncontact) */

  mbg__broad *broad; /* contacts between spheres (system_contacts.c), NULL: few or none */
  bool *apart;       /* contacts that it leaves out; with broad alone    (nforce) */

  /* selected by the rows of a state */
  const bool *rows; /* active rows, NULL: all */
  bool any_row;     /* is there one? */
  bool *pair_on;    /* pairs of active rows, forces, coordinates or signals  (npair) */
  bool *marker_on;  /* their markers                                 (nmarker) */
  bool *loaded;     /* pairs that carry wrenches                     (npair) */
  bool *touched;    /* scratch of pull: pairs with cotangents        (npair) */

  /* copied by update */
  real t;
  mbg__frame *H; /* frames                                        (nbody) */
  real *v, *vd;  /* twists and their rates                        (nw) */
  real *lambda;  /*                                               (nrow) */
  bool unloaded; /* all lambda are 0 */
  int *turns;    /*                                               (nturn) */

  /* filled by update */
  mbg__frame *Hm;                     /* marker frames                                 (nmarker) */
  vec6 *vm, *vdm;                     /* marker twists and rates                       (nmarker) */
  mbg__frame *G;                      /* relative frames H_A^-1 H_B                    (npair) */
  vec6 *vrel, *vdrel;                 /* relative twists and rates in B                (npair) */
  vec6 *a, *ad;                       /* Ad(G^-1) v_A, Ad(G^-1) vd_A                   (npair) */
  mbg__fn_jet *jet;                   /* laws of drivers, functions of couplings       (nfn) */
  mbg__term_value *term;              /*                                           (nterm) */
  mbg__term_value *coord;             /*                                           (ncoord) */
  real *phi, *phid, *gamma;           /*                                         (nrow) */
  real *y;                            /* signals                                       (nsignal) */
  long *sampled;                      /* the state at which a sample has evaluated a signal last        (nsignal) */
  bool *aside;                        /* signals of guards, which events evaluate themselves (nsignal) */
  real *tau;                          /* tension of laws                               (nforce) */
  vec6 *f;                            /* wrench of each force on B                     (nforce) */
  real *energy;                       /* elastic energy of each force                  (nforce) */
  mbg__beam_state *beam;              /* elements of beams                             (nelement) */
  vec6 *F;                            /* all wrenches on B of a pair, reactions too    (npair) */
  mbg__modal_work *modal;             /* modal bodies                                  (nmodal) */
  mbg__modal_end **end;               /* markers on them, NULL for others              (nmarker) */
  mbg__modal_end_change **end_change; /* of pushes                           (nmarker) */
  real *column; /* zero between calls                            (4 nw when there are modal bodies) */

  /* filled by linearize */
  struct {
    vec6 phid_G, phidd_G, gamma_v;
    mat6 L;        /* u^T L w = d(b u)[w] */
  } * row_g;       /* of each term; phidd_G = (b vd)_G + gamma_G   (nterm) */
  mat6 *F_G, *F_v; /* summed over the elements of a pair            (npair) */
  int *term_attr0; /* first place of a term in term_attr            (nterm + 1) */
  int *term_nattr; /* attributes in use                             (nterm) */
  mbg__term_attr *term_attr;
  int *force_a0;  /* first column of a force in f_a                (nforce + 1) */
  int *force_na;  /* columns in use                                (nforce) */
  vec6 *f_a;      /* wrench columns by attribute */
  int *f_aidx;    /* their attributes */
  real *tau_a;    /* laws: tension by the same attributes */
  real *energy_a; /* elastic energy by the same attributes */
  vec6 *energy_G; /*                                               (nforce) */
  struct {
    real q, qd;
  } * tau_d;               /* total derivatives of tensions      (nforce) */
  mat6 *force_G, *force_v; /* of each wrench force (NULL rows for laws are unused)   (nforce) */
  real *law_fn;            /* d tau / d function value                      (nforce x MBG__LAW_FN) */
  real *energy_fn;         /* d energy / d function value                   (nforce x MBG__LAW_FN) */
  vec6 *measure_a;         /* scratch: columns of the measures of a contact, */
  int *measure_aidx;       /* their attributes */
  real *measure_energy;    /* and energies */
  vec6 *f_fn;              /* wrench by the value of each function of a force   (nfn) */
  mbg__signal_out *sig;    /* gradients of signals of pairs               (nsignal) */
  real *weight;            /* scratch: weights of signals                   (nsignal) */

  /* signals in forces */
  bool *needed; /* signals behind forces                         (nsignal) */
  int ncross;
  mbg__cross *cross;
  int *cross_of; /* first entry of a force in cross, -1           (nforce) */

  /* late rates */
  int nlate;
  int *late;         /* forces                                       (nlate) */
  int *late_row;     /* free velocities whose rates they are         (nlate) */
  bool late_on;      /* they belong to the state */
  bool *late_needed; /* signals behind them                          (nsignal) */
  real *late_g;      /* scratch, zero between calls                  (3 nw + nrow) */

  /* matrices */
  int *nfree, (*free_)[6]; /* free components of each body             (nbody) */
  int nblock;
  mbg__block *blocks;
  int *body_block;               /* diagonal block of each body                   (nbody) */
  mbg__pair_blocks *pair_blocks; /*                                    (npair) */
  mbg__csc patK, patB;
  int (*term_slot)[2][6]; /* [term][end]: places in patB of the free components of that end  (nterm) */
  int *term_row;          /* row of each term                              (nterm) */
  mbg__local *pair_local; /* pairs with a modal end; n = 0 for others       (npair) */
  int **term_local;       /* places in patB of the local velocities of their terms, else NULL (nterm) */

  /* scratch of push and pull */
  vec6 *m_geo, *m_w, *m_dv, *m_dvd; /* per marker: geometry part, variations (or their cotangents) */
  vec6 *p_w, *p_dv, *p_dvd, *p_f;   /* per pair */
  mbg__beam_work *beam_work;        /* per reference of beams */
  mbg__beam_watch *beam_watch;      /* per beam */
  mbg__watch watch;                 /* see system_watch.c */
  bool *turned;                     /* elements that were above MBG__BEAM_TURN_WARN (nelement) */
  real *gradient;                   /* of one signal             (3 nw + nrow + na) */
};

/* an attribute whose derivative pulls compute */
static inline bool wanted(const mbg__system *s, int attr) {
  return !s->moved_only || s->design->start[attr] < s->design->start[attr + 1];
}

/* ga += the cotangent x of a marker's own motion, times its dependence on attributes */
static inline void marker_attributes_pull(const mbg__system *s, int marker, const real x[6], real *ga) {
  const mbg__placed *h = s->design->markers[marker];
  for (int k = 0; !s->moved_only && k < h->ndep; k++) {
    ga[h->dep[k]] += v6_dot(h->omega[k], x);
  }
  for (int i = s->moved0[marker]; s->moved_only && i < s->moved0[marker + 1]; i++) {
    ga[h->dep[s->moved[i]]] += v6_dot(h->omega[s->moved[i]], x);
  }
}

static inline bool row_on(const mbg__system *s, int row) { return !s->rows || s->rows[row]; }

/* body of a marker, -1 for the ground */
static inline int marker_body(const mbg__system *s, int marker) { return s->model->markers[marker].body; }

/* false: the frame itself has no mass (nodes of beams, modal bodies: their elements and modes have it) */
static inline bool has_inertia(const mbg__system *s, int body) {
  return s->model->bodies[body].type->nkey > 0 || s->model->bodies[body].state >= 0;
}
/* carriers of states have mass, but no weight */
static inline bool has_weight(const mbg__system *s, int body) {
  return s->model->gravity >= 0 && s->model->bodies[body].state < 0;
}

static inline const real *gravity_of(const mbg__system *s) {
  static const real none[3] = {0, 0, 0};
  return s->model->gravity >= 0 ? s->design->attr + s->model->gravity : none;
}

/* acceleration of a body by its weight */
static inline const real *gravity_on(const mbg__system *s, int body) {
  static const real none[3] = {0, 0, 0};
  return has_weight(s, body) ? s->design->attr + s->model->gravity : none;
}

/* masked components are reactions of the plane: not ours */
static inline void clear_masked(const mbg__system *s, real *r) {
  for (int i = 0; i < s->model->nw; i++) {
    if (s->model->dof[i] < 0) {
      r[i] = 0;
    }
  }
}

/* pair of a signal of a pair or a coordinate */
static inline int signal_pair(const mbg_model *m, const mbg__signal *sig) {
  return sig->type->of == MBG__OF_PAIR ? sig->pair : m->coords[sig->coord].pair;
}

/* system.c: marks the pairs of a row; the pairs of all forces and beam elements. */
void mbg__mark_row(const mbg_model *m, int row, bool *pair);
void mbg__mark_forces(const mbg_model *m, bool *pair);

/* system_pull.c */
int mbg__pull_create(mbg_context *ctx, mbg__system *s);

/* system_share.c: loops over elements that do not depend on each other. */
enum {
  MBG__EACH_COPY = MBG__LOOPS_SYSTEM,
  MBG__EACH_MODAL,
  MBG__EACH_MARKER,
  MBG__EACH_PAIR,
  MBG__EACH_TWIST_MODAL,
  MBG__EACH_TWIST_MARKER,
  MBG__EACH_TWIST_PAIR,
  MBG__EACH_RATE_MODAL,
  MBG__EACH_RATE_MARKER,
  MBG__EACH_RATE_PAIR,
  MBG__EACH_ROW,
  MBG__EACH_COORD,
  MBG__EACH_ROW_RATE,
  MBG__EACH_BODY_R,
  MBG__EACH_MODAL_R,
  MBG__EACH_BODY_M,
  MBG__EACH_MODAL_M,
  MBG__EACH_TERM_M,
  MBG__EACH_LINEARIZE,
  MBG__EACH_TEST,
  MBG__EACH_PAIR_PULL,
  MBG__EACH_BODY_PULL,
  MBG__EACH_MODAL_PULL,
  MBG__EACH_ENERGY,
  MBG__EACH_MODAL_ENERGY,
  MBG__EACH_CLEAR,
  MBG__EACH_TOUCHED,
  MBG__EACH_SAMPLE
};
int mbg__classes_create(mbg_context *ctx, mbg__system *s);
/* item(user, pair) for all pairs: class after class, in threads within a class. */
void mbg__each_class(const mbg__system *s, int loop, mbg__pool_item *item, void *user);

/* system_kinematics.c: markers and relative frames at the frames of a state, their twists, the rates of these. */
/* still: frames have not changed. */
void mbg__kin_update(mbg__system *s, bool still);
void mbg__kin_update_twists(mbg__system *s);
void mbg__kin_update_rates(mbg__system *s);
/* Frames and twists of the markers and pairs of a sample. */
void mbg__kin_update_some(mbg__system *s, const mbg__sampling *w);
/* w_m = J w + omega da, dv_m = J dv + ad(v_m) omega da, dvd_m = J dvd + ad(vd_m) omega da for all markers in use, then
   the relative variations of all pairs. J = Ad(h^-1); a marker on a modal body has modal columns as well. */
void mbg__kin_push(mbg__system *s, const mbg__direction *d);
void mbg__kin_pair_push(const mbg__system *s, int pair, const mbg__direction *d, vec6 w, vec6 dv, vec6 dvd);
/* Transposed for one pair: cotangents of (w_rel, dv_rel, dvd_rel) to bodies and attributes; gvd NULL: 0. */
void mbg__kin_pair_pull(const mbg__system *s, int pair, const vec6 gw, const vec6 gv, const real *gvd,
                        const mbg__cotangent *g);
/* ... of a signal of a level, by frames, twists and rates. */
void mbg__kin_signal_pull(const mbg__system *s, int pair, mbg__level level, const vec6 gw, const vec6 gv,
                          const vec6 gvd, const mbg__cotangent *g);
/* The same for a single marker. */
void mbg__kin_marker_pull(const mbg__system *s, int marker, const vec6 gw, const real *gv, const real *gvd,
                          const mbg__cotangent *g);
void mbg__kin_marker_push(const mbg__system *s, int marker, const mbg__direction *d, vec6 geo, vec6 w, vec6 dv,
                          vec6 dvd);
/* X (6x6): w_rel = X_A w_A + X_B w_B; side 0 is A, 1 is B; ends on rigid bodies. */
void mbg__kin_jacobian(const mbg__system *s, int pair, int side, real X[36]);

/* system_rows.c */
int mbg__rows_update(mbg_context *ctx, mbg__system *s);
/* system_curves.c: joints on curves and surfaces at the state; derivatives by attributes. */
int mbg__curves_create(mbg_context *ctx, mbg__system *s);
int mbg__curves_update(mbg_context *ctx, mbg__system *s);
void mbg__curves_linearize(mbg__system *s);
/* r[c][k]: derivative k of component c of a curve at s. */
int mbg__curve_point(mbg_context *ctx, mbg__system *s, int curve, real at, real r[3][4]);
/* Arc length up to a panel of a curve, of which a signal asks for it. */
real mbg__curve_arc_sum(const mbg__system *s, int curve, int panel);
/* system_curve_signals.c: panels of arc length, arc length up to each (panels + 1); signals with their gradients. */
int mbg__curve_panels(const mbg__curve *curve);
int mbg__curve_arcs(mbg_context *ctx, mbg__system *s, int curve, real *arc);
int mbg__curve_signal(mbg_context *ctx, mbg__system *s, const mbg__signal *sig, real *y);
void mbg__curve_signal_pull(mbg__system *s, const mbg__signal *sig, real c, const mbg__cotangent *g);
/* system_profiles.c: where a wheel or ball touches its profile. */
int mbg__profile_update(mbg_context *ctx, mbg__system *s, int contact);

/* system_tendons.c: positions at which a tendon has no path; pulleys that it would leave, at accepted nodes. */
int mbg__tendons_check(mbg_context *ctx, const mbg__system *s);
int mbg__tendons_at_node(mbg_context *ctx, const mbg__system *s);
/* Energies of tendons pass their weight c on to the signals of the lengths. */
void mbg__tendons_energy_pull(mbg__system *s, real c);
void mbg__coord_update(const mbg__system *s, int i);
void mbg__rows_linearize(mbg__system *s);
/* F += the wrenches of the multipliers. */
void mbg__rows_load(mbg__system *s);
/* Moves the linearization of a term from the relative twist `before` to vrel, with the multiplier lambda. */
void mbg__rows_shift(mbg__system *s, int term, real lambda, const vec6 before);
void mbg__term_in_of(const mbg__system *s, const mbg__term *t, mbg__term_in *in);

/* system_forces.c */
int mbg__forces_update(mbg_context *ctx, mbg__system *s);
int mbg__forces_linearize(mbg_context *ctx, mbg__system *s);
int mbg__law_update(mbg_context *ctx, mbg__system *s, int force);
int mbg__law_linearize(mbg_context *ctx, mbg__system *s, int force);
void mbg__env(mbg__system *s, mbg_context *ctx, int fn, mbg__fn_env *env);

/* system_late.c: rates that use accelerations, reactions, forces or energies. */
int mbg__late_create(mbg_context *ctx, mbg__system *s);
int mbg__late_update(mbg_context *ctx, mbg__system *s);
int mbg__late_linearize(mbg_context *ctx, mbg__system *s);
void mbg__late_matrices(mbg__system *s, const mbg__matrices *out);
/* the force takes part in the equations of the state */
static inline bool force_on(const mbg__system *s, int force) { return s->late_on || !s->model->forces[force].late; }

/* system_contacts.c: spheres that may touch. After the frames of markers: which contacts are apart; these are left out
   of pair_on (also when rows are selected) and of `loaded`. */
int mbg__broad_create(mbg_context *ctx, mbg__system *s);
void mbg__broad_sweep(mbg__system *s);
void mbg__broad_select(mbg__system *s);
void mbg__broad_unload(mbg__system *s);
static inline bool force_apart(const mbg__system *s, int force) { return s->broad && s->apart[force]; }

/* system_beams.c: elements of beams; inertia of elements is added to r and its derivatives. */
int mbg__beams_update(mbg_context *ctx, mbg__system *s);
void mbg__beams_linearize(mbg__system *s);
void mbg__beams_push(mbg__system *s, const mbg__direction *d); /* attributes: into p_f */
void mbg__beams_residual(const mbg__system *s, real *r);
void mbg__beams_mass_mul(const mbg__system *s, const real *x, real *y);
/* dr += M_a da u, and the gradient of z.M u by attributes; da, ga NULL: nothing. */
void mbg__beams_mass_push(mbg__system *s, const real *u, const real *da, real *dr);
void mbg__beams_mass_pull(mbg__system *s, const real *u, const real *z, real *ga);
void mbg__beams_inertia_push(const mbg__system *s, const mbg__direction *d, real *dr);
void mbg__beams_pull(mbg__system *s, const real *z, const mbg__cotangent *g);
void mbg__beams_matrices(const mbg__system *s, const mbg__matrices *out);
/* Energies (sig NULL: all beams) and the other signals of beams, with their gradients. */
real mbg__beams_kinetic(const mbg__system *s, int body); /* -1: all; of a node: its share */
real mbg__beams_gravity(const mbg__system *s);
real mbg__beams_strain_energy(const mbg__system *s, const mbg__signal *sig);
void mbg__beams_kinetic_pull(const mbg__system *s, int body, real c, const mbg__cotangent *g);
void mbg__beams_gravity_pull(const mbg__system *s, real c, const mbg__cotangent *g);
void mbg__beams_strain_energy_pull(const mbg__system *s, const mbg__signal *sig, real c, const mbg__cotangent *g);
real mbg__beam_signal(const mbg__system *s, const mbg__signal *sig);
void mbg__beam_signal_pull(const mbg__system *s, const mbg__signal *sig, real c, const mbg__cotangent *g);
/* system_beam_stress.c: the stress of all elements of a beam. */
real mbg__beam_stress(const mbg__system *s, const mbg__signal *sig);
void mbg__beam_stress_pull(const mbg__system *s, const mbg__signal *sig, real c, const mbg__cotangent *g);

/* system_validity.c: records at an accepted node the deformation and spin that mbg__system_warn reports. */
void mbg__validity_at_node(mbg__system *s);

/* system_watch.c: records at an accepted node what mbg__system_watched reports. */
int mbg__watch_create(mbg_context *ctx, mbg__system *s);
void mbg__watch_at_node(mbg__system *s);
/* system_energies.c: kinetic energy and that of gravity of a body, into its weight3, for the sums over all. */
void mbg__energy_body_terms(const mbg__system *s, int body);

/* system_modal.c: modal bodies; system_modal_ends.c: markers on them, "ends". */
int mbg__modals_create(mbg_context *ctx, mbg__system *s);
/* Of a view: what its pushes write to; the state of the bodies. */
int mbg__modals_create_view(mbg_context *ctx, mbg__system *view, const mbg__system *of);
void mbg__modals_view(mbg__system *view, const mbg__system *of);
void mbg__modals_update(mbg__system *s, bool still); /* shapes, unless still; twists and rates */
void mbg__modals_twists(mbg__system *s);
void mbg__modals_rates(mbg__system *s);
void mbg__modal_end_update(mbg__system *s, int marker);
void mbg__modal_end_twist(mbg__system *s, int marker);
void mbg__modal_end_rate(mbg__system *s, int marker);
void mbg__modal_end_push(const mbg__system *s, int marker, const mbg__direction *d, const vec6 geo, vec6 w, vec6 dv,
                         vec6 dvd);
void mbg__modal_end_pull(const mbg__system *s, int marker, const vec6 gw, const real *gv, const real *gvd,
                         const mbg__cotangent *g);
/* r -= J^T f; dr -= d(J^T f) in the direction of the last push; J z; gradient of c f.(dJ z) */
void mbg__modal_end_wrench_sub(const mbg__system *s, int marker, const vec6 f, real *r);
void mbg__modal_end_wrench_push(const mbg__system *s, int marker, const vec6 f, const vec6 df, real *dr);
void mbg__modal_end_test(const mbg__system *s, int marker, const real *z, vec6 out);
void mbg__modal_end_test_pull(const mbg__system *s, int marker, const real *z, const vec6 f, real c,
                              const mbg__cotangent *g);
void mbg__modals_residual(const mbg__system *s, real *r);
void mbg__modals_mass_mul(const mbg__system *s, const real *x, real *y);
void mbg__modals_inertia_push(const mbg__system *s, const mbg__direction *d, real *dr);
void mbg__modals_pull(const mbg__system *s, const real *z, const mbg__cotangent *g);
/* The mass matrix alone: dr += dM u in direction (w, da), and transposed for weights z. */
void mbg__modals_mass_push(const mbg__system *s, const real *u, const real *w, const real *da, real *dr);
void mbg__modals_mass_pull(const mbg__system *s, const real *u, const real *z, real *gw, real *ga);
void mbg__modals_matrices(const mbg__system *s, const mbg__matrices *out);
/* Energies; body -1: of all. */
real mbg__modals_kinetic(const mbg__system *s, int body);
real mbg__modals_strain(const mbg__system *s, int body);
void mbg__modals_kinetic_pull(const mbg__system *s, int body, real c, const mbg__cotangent *g);
void mbg__modals_strain_pull(const mbg__system *s, int body, real c, const mbg__cotangent *g);
void mbg__modals_gravity_pull(const mbg__system *s, real c, const mbg__cotangent *g);
/* Pairs with a modal end: matrices by columns, rows by transposes (slot: of each local velocity); gvd may be NULL. */
void mbg__modal_pair_matrices(const mbg__system *s, int pair, const mbg__matrices *out);
void mbg__modal_row(const mbg__system *s, int pair, const vec6 gw, const vec6 gv, const real *gvd, const int *slot,
                    real *by_w, real *by_v);
void mbg__local_wipe(const mbg__system *s, int pair, real *x);

/* system_push.c: dr -= d(J^T F) of both ends of a pair, in the direction of its last push with w_rel and dF. */
void mbg__pair_wrench_push(const mbg__system *s, int pair, const vec6 w, const vec6 df, real *dr);

/* system_matrices.c: adds c A to a block of a matrix; block < 0 or val NULL: nothing. */
void mbg__matrix_block(const mbg__system *s, int block, real c, const real A[36], real *val);

/* system_matrices_flat.c: what a body and a pair add to matrices, and its rows, in a plane; false: it is not there. Kr
   of end B, and whether the pair has F_v. */
bool mbg__flat_body_matrices(const mbg__system *s, int body, const mbg__matrices *out);
bool mbg__flat_pair_matrices(const mbg__system *s, int pair, const mat6 Kr, bool damped, const mbg__matrices *out);
bool mbg__flat_pair_rows(const mbg__system *s, int pair, const mbg__matrices *out);

/* system_energies.c: body -1: of all bodies. Strain energy of a modal body, of beams or of all, as the signal says. */
void mbg__energy_terms(const mbg__system *s); /* of all bodies, for the two sums */
void mbg__modals_energy_terms(const mbg__system *s);
real mbg__modals_gravity(const mbg__system *s);
real mbg__modals_energy_sum(const mbg__system *s, int which);
real mbg__energy_kinetic_sum(const mbg__system *s);
real mbg__energy_potential_sum(const mbg__system *s);
real mbg__energy_kinetic(const mbg__system *s, int body);
real mbg__energy_potential(const mbg__system *s);
real mbg__energy_strain(const mbg__system *s, const mbg__signal *sig);
void mbg__energy_kinetic_pull(const mbg__system *s, int body, real c, const mbg__cotangent *g);
void mbg__energy_potential_pull(const mbg__system *s, real c, const mbg__cotangent *g);
void mbg__energy_strain_pull(const mbg__system *s, const mbg__signal *sig, real c, const mbg__cotangent *g);

/* system_signals.c */
/* Component of a wrench f on B of a pair, in the axes of the signal's options; pair of a reaction. */
real mbg__wrench_component(const mbg__system *s, int pair, const int *opt, const real f[6]);
int mbg__reaction_pair(const mbg_model *m, const mbg__signal *sig);
/* Signals of a sampling whose relative motions are in place, and with their derivatives. */
int mbg__sample_values(mbg_context *ctx, mbg__system *s, const mbg__sampling *w, real *y);
int mbg__sample_both(mbg_context *ctx, mbg__system *s, const mbg__sampling *w, real *y);
int mbg__signal_finite(mbg_context *ctx, const mbg__system *s, int i);
/* Depth, normal force and sliding speed of a contact as the first of out->f; columns are valid until the next call. */
int mbg__force_measure(mbg_context *ctx, mbg__system *s, int force, bool derivatives, mbg__force_out *out);
int mbg__signal_value(mbg_context *ctx, mbg__system *s, int signal);
int mbg__signal_linearize(mbg_context *ctx, mbg__system *s, int signal);
/* Spreads weight[signal] of expression signals to the signals behind them, from `last` down to 0. */
void mbg__signal_spread(mbg__system *s, int last);

/* Signals inside a function of a force: adds c d F/d y to weight; and their part of the derivatives of its value. */
void mbg__fn_weights(mbg__system *s, int fn, real c);
real mbg__fn_signals_push(mbg__system *s, int fn, const mbg__direction *d);
void mbg__fn_signals_pull(mbg__system *s, int fn, real c, const mbg__cotangent *g);

static inline bool is_energy(const mbg__signal *sig) {
  return sig->type->role == MBG__ROLE_POTENTIAL || sig->type->role == MBG__ROLE_ENERGY;
}

static inline void clear_weights(mbg__system *s) { memset(s->weight, 0, (size_t)s->model->nsignal * sizeof(real)); }

/* The functions of a force that use signals: for (int c = s->cross_of[i]; cross_goes_on(s, c, i); c++). */
static inline bool cross_goes_on(const mbg__system *s, int c, int force) {
  return c >= 0 && c < s->ncross && s->cross[c].force == force;
}

/* Bodies that a marker moves with: none on the ground, one, or the frame of a modal body and its carriers. */
static inline int marker_parts(const mbg__system *s, int marker) {
  const int body = marker_body(s, marker);
  return body < 0 ? 0 : s->end[marker] ? 1 + s->model->modals[s->end[marker]->modal].ncarrier : 1;
}
static inline int marker_part(const mbg__system *s, int marker, int k) {
  return k == 0 ? marker_body(s, marker) : s->model->modals[s->end[marker]->modal].carrier + k - 1;
}
/* ... of a pair: the bodies of A, then the further bodies of B. */
int mbg__pair_parts(const mbg__system *s, int pair);
int mbg__pair_part(const mbg__system *s, int pair, int k);

/* system_pattern.c */
int mbg__pattern_create(mbg_context *ctx, mbg__system *s);

#endif
