#include "view/solids.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------- lists */

typedef struct {
  int nvertex, nindex, most, room;
  float *at, *normal;
  uint16_t *index;
} mesh;

static bool begin(mbg__glb *g, mesh *m, int vertices, int indices) {
  *m = (mesh){.most = vertices, .room = indices};
  m->at = MBG_TAKE(&g->arena, float, 3 * (size_t)vertices);
  m->normal = MBG_TAKE(&g->arena, float, 3 * (size_t)vertices);
  m->index = MBG_TAKE(&g->arena, uint16_t, indices);
  return !g->arena.failed;
}

static void vertex(mesh *m, double x, double y, double z, double nx, double ny, double nz) {
  const double length = sqrt(nx * nx + ny * ny + nz * nz);
  const double v[6] = {x, y, z, nx / length, ny / length, nz / length};
  for (int k = 0; k < 3; k++) {
    m->at[3 * m->nvertex + k] = (float)v[k];
    m->normal[3 * m->nvertex + k] = (float)v[3 + k];
  }
  m->nvertex++;
}

static void triangle(mesh *m, int a, int b, int c) {
  m->index[m->nindex++] = (uint16_t)a;
  m->index[m->nindex++] = (uint16_t)b;
  m->index[m->nindex++] = (uint16_t)c;
}

static int finish(mbg__glb *g, const mesh *m) {
  const int first = mbg__glb_floats(g, m->at, m->nvertex, 3, true, MBG__GLB_VERTICES);
  mbg__glb_floats(g, m->normal, m->nvertex, 3, false, MBG__GLB_VERTICES);
  mbg__glb_shorts(g, m->index, m->nindex, 1, MBG__GLB_INDICES);
  return first;
}

/* ---------------------------------------------------------------------- unit shapes */

int mbg__solid_box(mbg__glb *g) {
  mesh m;
  if (!begin(g, &m, 24, 36)) {
    return 0;
  }
  for (int face = 0; face < 6; face++) {
    const int k = face / 2;
    const double side = face % 2 ? 0.5 : -0.5;
    for (int c = 0; c < 4; c++) {
      double p[3], n[3] = {0};
      p[k] = side;
      p[(k + 1) % 3] = (c == 1 || c == 2) ? 0.5 : -0.5;
      p[(k + 2) % 3] = c >= 2 ? 0.5 : -0.5;
      n[k] = 2 * side;
      vertex(&m, p[0], p[1], p[2], n[0], n[1], n[2]);
    }
    const int a = 4 * face, turn = face % 2;
    triangle(&m, a, turn ? a + 1 : a + 2, turn ? a + 2 : a + 1);
    triangle(&m, a, turn ? a + 2 : a + 3, turn ? a + 3 : a + 2);
  }
  return finish(g, &m);
}

enum { ROUND = 24, RINGS = 12 };

int mbg__solid_cylinder(mbg__glb *g) {
  mesh m;
  if (!begin(g, &m, 4 * ROUND + 2, 12 * ROUND)) {
    return 0;
  }
  for (int end = 0; end < 2; end++) {
    for (int k = 0; k < 2 * ROUND; k++) {
      const double a = 2 * M_PI * (k % ROUND) / ROUND, c = cos(a), s = sin(a), z = end ? 1 : -1;
      vertex(&m, c, s, z / 2, k < ROUND ? c : 0, k < ROUND ? s : 0, k < ROUND ? 0 : z);
    }
  }
  vertex(&m, 0, 0, -0.5, 0, 0, -1);
  vertex(&m, 0, 0, 0.5, 0, 0, 1);
  for (int k = 0; k < ROUND; k++) {
    const int next = (k + 1) % ROUND, top = 2 * ROUND;
    triangle(&m, k, next, top + k);
    triangle(&m, next, top + next, top + k);
    triangle(&m, 4 * ROUND, ROUND + next, ROUND + k);
    triangle(&m, 4 * ROUND + 1, top + ROUND + k, top + ROUND + next);
  }
  return finish(g, &m);
}

int mbg__solid_sphere(mbg__glb *g) {
  mesh m;
  if (!begin(g, &m, (RINGS - 1) * ROUND + 2, 6 * (RINGS - 1) * ROUND)) {
    return 0;
  }
  for (int i = 1; i < RINGS; i++) {
    const double b = M_PI * i / RINGS;
    for (int k = 0; k < ROUND; k++) {
      const double a = 2 * M_PI * k / ROUND, x = sin(b) * cos(a), y = sin(b) * sin(a), z = cos(b);
      vertex(&m, x, y, z, x, y, z);
    }
  }
  vertex(&m, 0, 0, 1, 0, 0, 1);
  vertex(&m, 0, 0, -1, 0, 0, -1);
  const int pole = (RINGS - 1) * ROUND, last = (RINGS - 2) * ROUND;
  for (int k = 0; k < ROUND; k++) {
    const int next = (k + 1) % ROUND;
    triangle(&m, pole, k, next);
    triangle(&m, pole + 1, last + next, last + k);
    for (int i = 0; i + 2 < RINGS; i++) {
      triangle(&m, i * ROUND + k, (i + 1) * ROUND + k, i * ROUND + next);
      triangle(&m, i * ROUND + next, (i + 1) * ROUND + k, (i + 1) * ROUND + next);
    }
  }
  return finish(g, &m);
}

/* the tip has a vertex for each side, with the normal between its neighbours */
int mbg__solid_cone(mbg__glb *g) {
  mesh m;
  if (!begin(g, &m, 3 * ROUND + 1, 6 * ROUND)) {
    return 0;
  }
  for (int k = 0; k < ROUND; k++) {
    const double a = 2 * M_PI * k / ROUND, b = 2 * M_PI * (k + 0.5) / ROUND;
    vertex(&m, cos(a), sin(a), -0.5, cos(a), sin(a), 1);
    vertex(&m, 0, 0, 0.5, cos(b), sin(b), 1);
    vertex(&m, cos(a), sin(a), -0.5, 0, 0, -1);
  }
  vertex(&m, 0, 0, -0.5, 0, 0, -1);
  for (int k = 0; k < ROUND; k++) {
    const int next = (k + 1) % ROUND;
    triangle(&m, 3 * k, 3 * next, 3 * k + 1);
    triangle(&m, 3 * ROUND, 3 * next + 2, 3 * k + 2);
  }
  return finish(g, &m);
}

/* ---------------------------------------------------------------------- meshes */

int mbg__solid_mesh(mbg__glb *g, const mbg__mesh *o) {
  float *at = MBG_TAKE(&g->arena, float, 3 * (size_t)o->nvertex);
  for (int i = 0; at && i < 3 * o->nvertex; i++) {
    at[i] = (float)o->vertices[i];
  }
  const int first = at ? mbg__glb_floats(g, at, o->nvertex, 3, true, MBG__GLB_VERTICES) : 0;
  if (at) {
    (void)mbg__glb_ints(g, o->corners, 3 * o->ntriangle, MBG__GLB_INDICES);
  }
  return first;
}

/* ---------------------------------------------------------------------- tubes */

void mbg__tube_vertex(int k, double *c, double *s) {
  *c = cos(2 * M_PI * k / MBG__TUBE_RING);
  *s = sin(2 * M_PI * k / MBG__TUBE_RING);
}

int mbg__solid_tube(mbg__glb *g, int n, const mbg__section_place *sections) {
  enum { R = MBG__TUBE_RING };
  mesh m;
  if (!begin(g, &m, n * R, 6 * (n - 1) * R)) {
    return 0;
  }
  for (int i = 0; i < n; i++) {
    const mbg__section_place *o = &sections[i];
    for (int k = 0; k < R; k++) {
      double c, s, p[3];
      mbg__tube_vertex(k, &c, &s);
      for (int j = 0; j < 3; j++) {
        p[j] = c * o->y[j] + s * o->z[j];
      }
      vertex(&m, o->at[0] + p[0], o->at[1] + p[1], o->at[2] + p[2], p[0], p[1], p[2]);
    }
  }
  for (int i = 0; i + 1 < n; i++) {
    for (int k = 0; k < R; k++) {
      const int a = i * R + k, b = i * R + (k + 1) % R;
      triangle(&m, a, b, a + R);
      triangle(&m, b, b + R, a + R);
    }
  }
  return finish(g, &m);
}

/* ---------------------------------------------------------------------- plates */

/* normal of the side from point i to the next one, to the right of it */
static void side_normal(int n, const double (*at)[3], int i, double out[2]) {
  const double *a = at[(i + n) % n], *b = at[(i + 1 + n) % n], x = b[0] - a[0], y = b[1] - a[1], length = hypot(x, y);
  out[0] = length > 0 ? y / length : 1;
  out[1] = length > 0 ? -x / length : 0;
}

/* at point i of a side: between both sides, unless there is a corner */
static void point_normal(int n, const double (*at)[3], int side, int i, double out[2]) {
  double before[2], behind[2];
  side_normal(n, at, i - 1, before);
  side_normal(n, at, i, behind);
  if (before[0] * behind[0] + before[1] * behind[1] < 0.8) {
    side_normal(n, at, side, out);
    return;
  }
  out[0] = before[0] + behind[0];
  out[1] = before[1] + behind[1];
}

int mbg__solid_plate(mbg__glb *g, int n, const double (*at)[3], int ntriangle, const int (*corners)[3], double half) {
  mesh m;
  if (!begin(g, &m, 6 * n, 6 * (ntriangle + n))) {
    return 0;
  }
  for (int face = -1; face <= 1; face += 2) {
    for (int i = 0; i < n; i++) {
      vertex(&m, at[i][0], at[i][1], face * half, 0, 0, face);
    }
    const int first = face < 0 ? 0 : n;
    for (int i = 0; i < ntriangle; i++) {
      triangle(&m, first + corners[i][0], first + corners[i][face < 0 ? 2 : 1], first + corners[i][face < 0 ? 1 : 2]);
    }
  }
  for (int i = 0; i < n; i++) {
    const int a = m.nvertex;
    for (int k = 0; k < 4; k++) { /* below and above point i, then of the next one */
      const double *p = at[(i + k / 2) % n];
      double normal[2];
      point_normal(n, at, i, i + k / 2, normal);
      vertex(&m, p[0], p[1], k % 2 ? half : -half, normal[0], normal[1], 0);
    }
    triangle(&m, a, a + 2, a + 1);
    triangle(&m, a + 2, a + 3, a + 1);
  }
  return finish(g, &m);
}
