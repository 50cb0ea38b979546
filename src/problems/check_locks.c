/* Two joints between the same bodies that hold each other: a second hinge across the first. */
#include "problems/check.h"
#include "system/system_internal.h"
#include "tree/spanning_tree.h"

#include <stdlib.h>
#include <string.h>

/* a joint with one freedom, by the bodies that it joins */
typedef struct {
  int low, high, joint;
  bool slides;
} hinge;

static int by_bodies(const void *a, const void *b) {
  const hinge *x = a, *y = b;
  if (x->low != y->low) {
    return x->low < y->low ? -1 : 1;
  }
  if (x->high != y->high) {
    return x->high < y->high ? -1 : 1;
  }
  return x->joint < y->joint ? -1 : 1;
}

/* flexible bodies give way */
static bool is_rigid(const mbg_model *m, int body) { return body < 0 || m->bodies[body].modal < 0; }

static int list_hinges(const mbg_model *m, hinge *list) {
  int n = 0;
  for (int j = 0; j < m->njoint; j++) {
    const int A = mbg__joint_body(m, j, 0), B = mbg__joint_body(m, j, 1);
    const char *key = m->joints[j].type->key;
    const bool slides = strcmp(key, "prismatic") == 0;
    if ((slides || strcmp(key, "revolute") == 0) && is_rigid(m, A) && is_rigid(m, B)) {
      list[n++] = (hinge){A < B ? A : B, A < B ? B : A, j, slides};
    }
  }
  qsort(list, (size_t)n, sizeof(*list), by_bodies);
  return n;
}

/* origin and axis of a joint in the world, at the start */
static void joint_line(const mbg__check_work *w, int joint, double x[3], double z[3]) {
  const mbg__frame *H = &w->sys->Hm[w->m->pairs[w->m->joints[joint].pair].B];
  for (int k = 0; k < 3; k++) {
    x[k] = re(H->x[k]);
    z[k] = re(H->R[3 * k + 2]);
  }
}

/* angle between two axes, and the distance of parallel ones */
static void compare_lines(const mbg__check_work *w, int a, int b, double *angle, double *apart) {
  double x[2][3], z[2][3], d[3], cross = 0, dot = 0, along = 0, far = 0;
  joint_line(w, a, x[0], z[0]);
  joint_line(w, b, x[1], z[1]);
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    const double c = z[0][i] * z[1][j] - z[0][j] * z[1][i];
    cross += c * c;
    dot += z[0][k] * z[1][k];
    d[k] = x[1][k] - x[0][k];
    along += d[k] * z[0][k];
    far += d[k] * d[k];
  }
  *angle = atan2(sqrt(cross), fabs(dot));
  *apart = sqrt(fmax(far - along * along, 0));
}

static int warn_pair(mbg__check_work *w, const hinge *a, const hinge *b) {
  static const double parallel = 1e-6, together = 1e-6;
  const mbg_model *m = w->m;
  double angle, apart;
  char how[200];
  compare_lines(w, a->joint, b->joint, &angle, &apart);
  const bool same_line = angle <= parallel && apart <= together * fmax(m->size, 1e-3);
  if (a->slides && b->slides ? angle <= parallel : !a->slides && !b->slides && same_line) {
    return MBG_OK;
  }
  if (a->slides != b->slides) {
    mbg__format(how, sizeof(how), "each holds the motion that the other leaves; take a 'cylindrical' joint for both");
  } else if (angle > parallel) {
    mbg__format(how, sizeof(how), "their axes stand at %.3g deg to each other; %s", angle * 180 / M_PI,
                a->slides ? "axes of two slides must be parallel"
                          : "axes of two hinges must lie on one line (a 'universal' or 'spherical' joint turns about "
                            "more than one)");
  } else {
    mbg__format(how, sizeof(how), "their axes are parallel, %.3g m apart; axes of two hinges must lie on one line",
                apart);
  }
  return mbg__warn(w->ctx, &w->check->warnings,
                   "joints '%s' (%s) and '%s' (%s) lock '%s' to '%s', no freedom is left between them: %s",
                   m->joints[a->joint].name, m->joints[a->joint].type->key, m->joints[b->joint].name,
                   m->joints[b->joint].type->key, m->bodies[b->high].name,
                   b->low < 0 ? "ground" : m->bodies[b->low].name, how);
}

int mbg__check_locks(mbg__check_work *w) {
  int err = MBG_OK;
  hinge *list = MBG_TAKE(&w->arena, hinge, w->m->njoint);
  MBG_TRY(mbg__arena_check(w->ctx, &w->arena));
  const int n = list_hinges(w->m, list);
  for (int i = 1; i < n; i++) {
    if (list[i].low == list[i - 1].low && list[i].high == list[i - 1].high) {
      MBG_TRY(warn_pair(w, &list[i - 1], &list[i]));
    }
  }
done:
  return err;
}
