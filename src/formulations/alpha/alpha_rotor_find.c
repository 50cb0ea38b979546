/* Which bodies are rotors (theory 4, section 14): groups of rigid bodies that fixed joints hold together, whose other
   joints turn about one line, with m e^2 <= 0.25 J, e the distance of the centre of mass from the line and J the moment
   of inertia about it. */
#include "formulations/alpha/alpha_work.h"

#include <string.h>

static const double eccentric = 0.25, off_line = 1e-9;

/* Bodies that fixed joints hold together: its line, all joints that lead out of it, and its inertia about a point of
   the line, in world axes at the start. */
typedef struct {
  bool any, unfit, planar;
  double x[3], d[3];
  double mass, mc[3], J[3][3];
} group;

typedef struct {
  const mbg__alpha *a;
  mbg__alpha *out;
  int *root;     /* of a body: the first body of its group   (nbody) */
  group *groups; /* by root                                  (nbody) */
} search;

static const mbg__frame *start_frame(const mbg__alpha *a, int body) { return &mbg__start_result_of(a->start)->H[body]; }

/* y = R x (+ origin) in plain numbers */
static void to_world(const mbg__frame *H, const double x[3], bool point, double y[3]) {
  for (int i = 0; i < 3; i++) {
    y[i] = point ? re(H->x[i]) : 0;
    for (int j = 0; j < 3; j++) {
      y[i] += re(H->R[3 * i + j]) * x[j];
    }
  }
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static int root_of(const search *s, int body) {
  while (s->root[body] != body) {
    body = s->root[body];
  }
  return body;
}

static void weld(search *s) {
  const mbg_model *m = s->a->m;
  for (int b = 0; b < m->nbody; b++) {
    s->root[b] = b;
  }
  for (int i = 0; i < m->njoint; i++) {
    const mbg__pair *p = &m->pairs[m->joints[i].pair];
    const int A = m->markers[p->A].body, B = m->markers[p->B].body;
    if (A >= 0 && B >= 0 && !strcmp(m->joints[i].type->key, "fixed")) {
      const int r = root_of(s, A), q = root_of(s, B);
      s->root[r < q ? q : r] = r < q ? r : q;
    }
  }
}

/* the joint axis of a marker belongs to the line of its group */
static void read_axle(const search *s, int marker, group *g) {
  const mbg__frame *h = &mbg__system_design(s->a->sys)->markers[marker]->h;
  const mbg__frame *H = start_frame(s->a, s->a->m->markers[marker].body);
  const double at[3] = {re(h->x[0]), re(h->x[1]), re(h->x[2])}, z[3] = {re(h->R[2]), re(h->R[5]), re(h->R[8])};
  double x[3], d[3], gap[3];
  to_world(H, at, true, x);
  to_world(H, z, false, d);
  if (!g->any) {
    memcpy(g->x, x, sizeof x);
    memcpy(g->d, d, sizeof d);
    g->any = true;
  }
  for (int i = 0; i < 3; i++) {
    gap[i] = x[i] - g->x[i];
  }
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    g->unfit = g->unfit || fabs(d[j] * g->d[k] - d[k] * g->d[j]) > off_line ||
               fabs(gap[j] * g->d[k] - gap[k] * g->d[j]) > off_line * s->a->m->size;
  }
}

/* the line of all joints that lead out of each group */
static void find_lines(const search *s) {
  const mbg_model *m = s->a->m;
  for (int i = 0; i < m->njoint; i++) {
    const mbg__pair *p = &m->pairs[m->joints[i].pair];
    const char *type = m->joints[i].type->key;
    const bool turns = !strcmp(type, "revolute") || !strcmp(type, "cylindrical");
    for (int side = 0; side < 2; side++) {
      const int marker = side ? p->B : p->A, other = m->markers[side ? p->A : p->B].body;
      const int body = m->markers[marker].body;
      if (body >= 0 && (other < 0 || root_of(s, other) != root_of(s, body))) {
        group *g = &s->groups[root_of(s, body)];
        g->unfit = g->unfit || !turns;
        read_axle(s, marker, g);
      }
    }
  }
}

/* moments of inertia of a body about a point of the line: J + (m |r|^2 + 2 r.mc) - r (m r + mc)^T - mc r^T */
static void add_inertia(const search *s, int body, group *g) {
  const real *M = mbg__system_design(s->a->sys)->M + 36 * body;
  const mbg__frame *H = start_frame(s->a, body);
  const double own[3] = {re(M[6 * 5 + 1]), re(M[6 * 3 + 2]), re(M[6 * 4])}, mass = re(M[0]);
  double mc[3], r[3], R[3][3], JR[3][3] = {{0}};
  to_world(H, own, false, mc);
  for (int i = 0; i < 3; i++) {
    r[i] = re(H->x[i]) - g->x[i];
    for (int j = 0; j < 3; j++) {
      R[i][j] = re(H->R[3 * i + j]);
    }
  }
  for (int i = 0; i < 9; i++) {
    for (int k = 0; k < 3; k++) {
      JR[i / 3][i % 3] += re(M[6 * (3 + i / 3) + 3 + k]) * R[i % 3][k];
    }
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      g->J[i][j] += R[i][0] * JR[0][j] + R[i][1] * JR[1][j] + R[i][2] * JR[2][j] +
                    (i == j ? mass * dot(r, r) + 2 * dot(r, mc) : 0) - r[i] * (mass * r[j] + mc[j]) - mc[i] * r[j];
    }
  }
  for (int i = 0; i < 3; i++) {
    g->mc[i] += mc[i] + mass * r[i];
  }
  g->mass += mass;
}

static double moment(const group *g, const double x[3], const double y[3]) {
  return x[0] * dot(g->J[0], y) + x[1] * dot(g->J[1], y) + x[2] * dot(g->J[2], y);
}

/* is its centre of mass near the line? Pendulums and doors have m e^2 of 2/3 to 1 J */
static bool balanced(const group *g) {
  const double J = moment(g, g->d, g->d), along = dot(g->mc, g->d);
  return J > 0 && g->mass > 0 && dot(g->mc, g->mc) - along * along <= eccentric * J * g->mass;
}

/* a rigid body that turns about an axis of the plane, or freely */
static bool can_turn(const mbg__alpha *a, int body) {
  const mbg__body *b = &a->m->bodies[body];
  return b->modal < 0 && b->carrier < 0 && b->type->inertia &&
         (b->motion == MBG__SPATIAL ||
          (b->motion == MBG__PLANAR && fabs(fabs(re(start_frame(a, body)->R[8])) - 1) <= off_line));
}

static void find_groups(search *s) {
  const mbg_model *m = s->a->m;
  weld(s);
  find_lines(s);
  for (int b = 0; b < m->nbody; b++) {
    group *g = &s->groups[root_of(s, b)];
    g->planar = m->bodies[b].motion == MBG__PLANAR && (g->planar || root_of(s, b) == b);
    g->unfit = g->unfit || !can_turn(s->a, b) || m->bodies[b].axes == MBG__HISTORY_BODY;
    if (!g->unfit) {
      add_inertia(s, b, g);
    }
  }
}

/* a marker on the line of the group, on this body; -1: none */
static int own_marker(const search *s, int body) {
  const mbg_model *m = s->a->m;
  for (int i = 0; i < m->njoint; i++) {
    const mbg__pair *p = &m->pairs[m->joints[i].pair];
    for (int side = 0; side < 2 && strcmp(m->joints[i].type->key, "fixed") != 0; side++) {
      if (m->markers[side ? p->B : p->A].body == body) {
        return side ? p->B : p->A;
      }
    }
  }
  return -1;
}

/* points of the axle: by the marker of a joint, else along fixed joints from a rotor that has one */
static void find_points(const search *s) {
  mbg__alpha *a = s->out;
  const mbg_model *m = a->m;
  bool more = true;
  for (int k = 0; k < a->nrotor; k++) {
    mbg__rotor *r = &a->rotors[k];
    const group *g = &s->groups[root_of(s, r->body)];
    r->marker = g->any && !g->unfit ? own_marker(s, r->body) : -1;
    r->via = -1;
  }
  while (more) {
    more = false;
    for (int i = 0; i < m->njoint; i++) {
      const mbg__pair *p = &m->pairs[m->joints[i].pair];
      for (int side = 0; side < 2 && !strcmp(m->joints[i].type->key, "fixed"); side++) {
        const int from = side ? p->A : p->B, to = side ? p->B : p->A;
        const int f = m->markers[from].body, t = m->markers[to].body;
        const int k = f >= 0 ? a->rotor_of[f] : -1, own = t >= 0 ? a->rotor_of[t] : -1;
        if (k >= 0 && own >= 0 && (a->rotors[k].marker >= 0 || a->rotors[k].via >= 0) && a->rotors[own].marker < 0 &&
            a->rotors[own].via < 0) {
          a->rotors[own].via = k;
          a->rotors[own].weld[0] = from;
          a->rotors[own].weld[1] = to;
          more = true;
        }
      }
    }
  }
}

int mbg__rotors_find(mbg_context *ctx, mbg__alpha *a, bool detect) {
  const mbg_model *m = a->m;
  a->rotor_of = MBG_TAKE(&a->arena, int, m->nbody);
  a->rotors = MBG_TAKE(&a->arena, mbg__rotor, m->nbody);
  a->v = MBG_TAKE(&a->arena, real, m->nw);
  a->vd = MBG_TAKE(&a->arena, real, m->nw);
  int err = mbg__arena_check(ctx, &a->arena);
  search s = {.a = a, .out = a};
  s.root = mbg__alloc_zero(ctx, (size_t)m->nbody + 1, sizeof(*s.root));
  s.groups = mbg__alloc_zero(ctx, (size_t)m->nbody + 1, sizeof(*s.groups));
  if (err == MBG_OK && (!s.root || !s.groups)) {
    err = mbg__fail_memory(ctx);
  }
  if (err == MBG_OK) {
    find_groups(&s);
  }
  for (int b = 0; err == MBG_OK && b < m->nbody; b++) {
    const group *g = &s.groups[root_of(&s, b)];
    const bool asked = m->bodies[b].axes == MBG__HISTORY_WORLD && can_turn(a, b);
    a->rotor_of[b] = -1;
    if (asked || (detect && g->any && !g->unfit && balanced(g))) {
      a->rotor_of[b] = a->nrotor;
      a->rotors[a->nrotor++] = (mbg__rotor){.body = b, .off = m->bodies[b].voff};
    }
  }
  if (err == MBG_OK) {
    find_points(&s);
  }
  mbg__free(ctx, s.root);
  mbg__free(ctx, s.groups);
  return err;
}
