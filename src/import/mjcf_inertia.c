/* Numbers that MJCF gives by the inertia M of the mechanism with all joints at zero: `springdamper` of a joint, its
   time constant T and damping ratio z, means the stiffness I/(T z)^2 and the damping 2 I/T; `dampratio` z of a servo
   means kv = 2 z sqrt(kp I). I = 1/(j M^-1 j^T), j the derivative of the joint's coordinate or the servo's length by
   the freedoms; so MuJoCo 4.0 has it. */
#include "import/mjcf.h"
#include "math/dense.h"

#include <math.h>
#include <string.h>

enum { FREEDOMS_MAX = 3000 };

/* Mass, first moments and inertia about the origin of the world: they add. */
typedef struct {
  double mass, h[3], J[9];
} lump;

typedef struct {
  mbg__robot *robot;
  int *carrier;      /* joint of each link, -1: none */
  int *first;        /* freedom of each joint */
  mbg__frame *place; /* of each link */
  lump *lumps;       /* of each link with all that it carries */
  double *twists;    /* of each freedom, in the world (n x 6) */
  mbg__cholesky M;
  int n;
} zero_state;

static int freedoms(mbg__robot_kind kind) {
  return kind == MBG__ROBOT_FREE ? 6 : kind == MBG__ROBOT_SPHERICAL ? 3 : kind == MBG__ROBOT_FIXED ? 0 : 1;
}

/* links come after those that carry them */
static void place_link(zero_state *z, int l) {
  const mbg__robot_joint *joint = &z->robot->joints[z->carrier[l]];
  mbg__frame at = joint->in_parent, back;
  if (joint->parent >= 0) {
    frame_mul(&at, &z->place[joint->parent], &joint->in_parent);
  }
  frame_inv(&back, &joint->in_child);
  frame_mul(&z->place[l], &at, &back);
  for (int k = 0; k < freedoms(joint->kind); k++) {
    double own[6] = {0};
    if (joint->kind == MBG__ROBOT_REVOLUTE) {
      v3_copy(own + 3, joint->axis);
    } else if (joint->kind == MBG__ROBOT_PRISMATIC) {
      v3_copy(own, joint->axis);
    } else {
      own[joint->kind == MBG__ROBOT_SPHERICAL ? 3 + k : k] = 1;
    }
    Ad_mul(z->twists + 6 * (size_t)(z->first[z->carrier[l]] + k), &at, own);
  }
}

static void lump_of(const mbg__robot_mass *own, const mbg__frame *H, lump *out) {
  const double *b = own->inertia;
  const double full[9] = {b[0], b[3], b[4], b[3], b[1], b[5], b[4], b[5], b[2]};
  double p[3], half[9];
  frame_point(p, H, own->com);
  m3_mul(half, H->R, full);
  m3_mul_NT(out->J, half, H->R);
  out->mass = own->mass;
  v3_scale(out->h, own->mass, p);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) {
      out->J[3 * i + j] += own->mass * ((i == j ? v3_dot(p, p) : 0) - p[i] * p[j]);
    }
  }
}

static void add_lump(lump *a, const lump *b) {
  a->mass += b->mass;
  v3_add(a->h, a->h, b->h);
  m3_add(a->J, a->J, b->J);
}

/* momentum (m U + W x h, h x U + J W) of the twist (U, W) */
static void momentum(const lump *b, const double s[6], double out[6]) {
  v3_scale(out, b->mass, s);
  v3_cross_add(out, 1, s + 3, b->h);
  m3_mulv(out + 3, b->J, s + 3);
  v3_cross_add(out + 3, 1, b->h, s);
}

/* M_kj = S_j . (momentum of all that freedom k carries) for k and the freedoms below it toward the ground */
static void fill(zero_state *z, int l) {
  const mbg__robot_joint *joint = &z->robot->joints[z->carrier[l]];
  for (int k = z->first[z->carrier[l]]; k < z->first[z->carrier[l]] + freedoms(joint->kind); k++) {
    double F[6];
    momentum(&z->lumps[l], z->twists + 6 * (size_t)k, F);
    for (int at = l; at >= 0 && z->carrier[at] >= 0; at = z->robot->joints[z->carrier[at]].parent) {
      const int first = z->first[z->carrier[at]], count = freedoms(z->robot->joints[z->carrier[at]].kind);
      for (int j = first; j < first + count; j++) {
        const double M = vn_dot(6, z->twists + 6 * (size_t)j, F);
        z->M.A[(size_t)k * (size_t)z->n + (size_t)j] = z->M.A[(size_t)j * (size_t)z->n + (size_t)k] = M;
      }
    }
    z->M.A[(size_t)k * (size_t)(z->n + 1)] += joint->armature;
  }
}

/* the joints that carry links and the numbers of their freedoms */
static int count(zero_state *z, mbg__arena *arena) {
  z->carrier = MBG_TAKE(arena, int, z->robot->nlink);
  z->first = MBG_TAKE(arena, int, z->robot->njoint);
  const int err = mbg__arena_check(z->robot->ctx, arena);
  if (err < 0) {
    return err;
  }
  for (int l = 0; l < z->robot->nlink; l++) {
    z->carrier[l] = -1;
  }
  for (int j = 0; j < z->robot->njoint; j++) {
    const mbg__robot_joint *joint = &z->robot->joints[j];
    z->first[j] = z->n;
    if (!joint->loop && joint->child >= 0) {
      z->carrier[joint->child] = j;
      z->n += freedoms(joint->kind);
    }
  }
  return MBG_OK;
}

/* M, then its factors */
static int factor(zero_state *z, mbg__arena *arena) {
  mbg__robot *robot = z->robot;
  int err = MBG_OK;
  z->place = MBG_TAKE(arena, mbg__frame, robot->nlink);
  z->lumps = MBG_TAKE(arena, lump, robot->nlink);
  z->twists = MBG_TAKE(arena, double, 6 * z->n);
  (void)mbg__cholesky_prepare(&z->M, arena, z->n);
  MBG_TRY(mbg__arena_check(robot->ctx, arena));
  memset(z->M.A, 0, (size_t)z->n * (size_t)z->n * sizeof(double));
  for (int l = 0; l < robot->nlink; l++) {
    frame_identity(&z->place[l]);
    if (z->carrier[l] >= 0) {
      place_link(z, l);
    }
    lump_of(&robot->links[l].own, &z->place[l], &z->lumps[l]);
  }
  for (int l = robot->nlink - 1; l >= 0; l--) {
    const int parent = z->carrier[l] >= 0 ? robot->joints[z->carrier[l]].parent : -1;
    if (parent >= 0) {
      add_lump(&z->lumps[parent], &z->lumps[l]);
    }
  }
  for (int l = 0; l < robot->nlink; l++) {
    if (z->carrier[l] >= 0) {
      fill(z, l);
    }
  }
  err = mbg__cholesky_factor(&z->M, NULL);
done:
  return err;
}

/* ---------------------------------------------------------------------- what needs it */

static bool has_spring(const mbg__robot_joint *joint) { return joint->spring_time > 0 && joint->spring_ratio > 0; }

static bool is_needed(const mbg__robot *robot) {
  bool needed = false;
  for (int j = 0; j < robot->njoint; j++) {
    needed = needed || has_spring(&robot->joints[j]);
  }
  for (int i = 0; i < robot->nactuator; i++) {
    needed = needed || robot->actuators[i].ratio > 0;
  }
  return needed;
}

/* I = 1/(j M^-1 j^T) of a row j; the column is scratch */
static double inertia_along(const zero_state *z, double *row, double *column) {
  vn_copy(z->n, column, row);
  mbg__cholesky_solve(&z->M, column, 1);
  return 1 / vn_dot(z->n, row, column);
}

static void take_springs(const zero_state *z, double *row) {
  for (int j = 0; j < z->robot->njoint; j++) {
    mbg__robot_joint *joint = &z->robot->joints[j];
    if (!has_spring(joint)) {
      continue;
    }
    vn_zero(z->n, row);
    row[z->first[j]] = 1;
    const double inertia = inertia_along(z, row, row + z->n), T = joint->spring_time, ratio = joint->spring_ratio;
    joint->stiffness = inertia / (T * T * ratio * ratio);
    joint->damping = 2 * inertia / T;
  }
}

static void take_servos(const zero_state *z, double *row) {
  for (int i = 0; i < z->robot->nactuator; i++) {
    mbg__robot_actuator *a = &z->robot->actuators[i];
    const mbg__robot_tendon *t = a->tendon < 0 ? NULL : &z->robot->tendons[a->tendon];
    if (!(a->ratio > 0)) {
      continue;
    }
    vn_zero(z->n, row);
    if (!t) {
      row[z->first[a->joint]] = a->gear;
    }
    for (int k = 0; t && k < t->count; k++) {
      const mbg__robot_term *term = &z->robot->terms[t->first + k];
      row[z->first[term->joint]] = a->gear * term->factor;
    }
    a->bias[2] = -2 * a->ratio * sqrt(a->gain[0] * inertia_along(z, row, row + z->n));
  }
}

int mbg__mjcf_take_ratios(mbg__mjcf *m) {
  zero_state z = {.robot = m->robot};
  mbg__arena arena;
  int err = MBG_OK;
  if (!is_needed(m->robot)) {
    return MBG_OK;
  }
  mbg__arena_init(&arena, mbg__context_allocator(m->robot->ctx));
  MBG_TRY(count(&z, &arena));
  if (z.n > FREEDOMS_MAX) {
    err = mbg__xml_fail(m->robot->ctx, m->root, "springdamper and dampratio with more than %d freedoms", FREEDOMS_MAX);
    goto done;
  }
  err = factor(&z, &arena);
  if (err == MBG_ERROR_SINGULAR) {
    err = mbg__xml_fail(m->robot->ctx, m->root,
                        "springdamper and dampratio need a mass in every joint: the mass matrix is singular");
  }
  MBG_TRY(err);
  double *row = MBG_TAKE(&arena, double, 2 * z.n);
  MBG_TRY(mbg__arena_check(m->robot->ctx, &arena));
  take_springs(&z, row);
  take_servos(&z, row);
done:
  mbg__arena_destroy(&arena);
  return err;
}
