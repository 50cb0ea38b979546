/* Mass properties of meshes, as MuJoCo has them: tetrahedra from a point to each triangle. The preset of the format,
   "legacy", counts all volumes as positive, so that a mesh with hollows is too heavy; "exact" counts them with their
   signs. */
#include "import/mjcf.h"
#include "io/file.h"
#include "io/mesh.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* ---------------------------------------------------------------------- files of .msh */

static uint32_t word_at(const unsigned char *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static double float_at(const unsigned char *p) {
  const uint32_t word = word_at(p);
  float value;
  memcpy(&value, &word, sizeof(value));
  return value;
}

/* Counts of vertices, normals, texture coordinates and triangles, then all of them; numbers of 4 bytes. */
static int read_msh(mbg_context *ctx, mbg__arena *arena, const char *path, mbg__mesh *out) {
  char *text;
  size_t length;
  int err = MBG_OK;
  uint64_t n[4] = {0};
  MBG_TRY(mbg__file_read_data(ctx, arena, path, &text, &length));
  const unsigned char *data = (const unsigned char *)text;
  for (int i = 0; i < 4 && length >= 16; i++) {
    n[i] = word_at(data + 4 * i);
  }
  if (n[0] == 0 || n[3] == 0 || n[0] > 3 * (uint64_t)MBG__MESH_TRIANGLES_MAX || n[3] > MBG__MESH_TRIANGLES_MAX ||
      length != 16 + 4 * (3 * n[0] + 3 * n[1] + 2 * n[2] + 3 * n[3])) {
    err = mbg__fail(ctx, MBG_ERROR_INPUT, "%s: no mesh of the format .msh with triangles", path);
    goto done;
  }
  const unsigned char *corners = data + 16 + 4 * (3 * n[0] + 3 * n[1] + 2 * n[2]);
  *out = (mbg__mesh){.nvertex = (int)n[0], .ntriangle = (int)n[3]};
  out->vertices = MBG_TAKE(arena, double, 3 * n[0]);
  out->corners = MBG_TAKE(arena, int, 3 * n[3]);
  MBG_TRY(mbg__arena_check(ctx, arena));
  for (size_t i = 0; i < 3 * n[0]; i++) {
    out->vertices[i] = float_at(data + 16 + 4 * i);
  }
  for (size_t i = 0; i < 3 * n[3]; i++) {
    const uint32_t corner = word_at(corners + 4 * i);
    out->corners[i] = corner < n[0] ? (int)corner : -1;
    if (corner >= n[0]) {
      err = mbg__fail(ctx, MBG_ERROR_INPUT, "%s: triangle %d has a vertex that is not there", path, (int)(i / 3) + 1);
      goto done;
    }
  }
done:
  return err;
}

static bool is_msh(const char *path) {
  const size_t n = strlen(path);
  return n > 4 && !strcmp(path + n - 4, ".msh");
}

/* ---------------------------------------------------------------------- integrals */

/* the corners of a triangle, from a point */
static void corners_of(const mbg__mesh *mesh, int triangle, const double from[3], double v[3][3]) {
  for (int i = 0; i < 3; i++) {
    v3_sub(v[i], mesh->vertices + 3 * (size_t)mesh->corners[3 * (size_t)triangle + (size_t)i], from);
  }
}

static double volume_of(double v[3][3], bool exact) {
  double across[3];
  v3_cross(across, v[1], v[2]);
  const double volume = v3_dot(v[0], across) / 6;
  return exact ? volume : fabs(volume);
}

/* mean of the triangles, by their areas */
static void middle(const mbg__mesh *mesh, double out[3]) {
  static const double origin[3] = {0, 0, 0};
  double sum[3] = {0, 0, 0}, area = 0;
  for (int t = 0; t < mesh->ntriangle; t++) {
    double v[3][3], a[3], b[3], across[3];
    corners_of(mesh, t, origin, v);
    v3_sub(a, v[1], v[0]);
    v3_sub(b, v[2], v[0]);
    v3_cross(across, a, b);
    const double own = v3_norm(across) / 2;
    area += own;
    for (int i = 0; i < 3; i++) {
      sum[i] += own * (v[0][i] + v[1][i] + v[2][i]) / 3;
    }
  }
  v3_scale(out, area > 0 ? 1 / area : 0, sum);
}

/* centre of mass: the one of tetrahedra from `from` */
static double centre(const mbg__mesh *mesh, bool exact, const double from[3], double out[3]) {
  double sum[3] = {0, 0, 0}, volume = 0;
  for (int t = 0; t < mesh->ntriangle; t++) {
    double v[3][3];
    corners_of(mesh, t, from, v);
    const double own = volume_of(v, exact);
    volume += own;
    for (int i = 0; i < 3; i++) {
      sum[i] += own * (v[0][i] + v[1][i] + v[2][i]) / 4;
    }
  }
  for (int i = 0; i < 3; i++) {
    out[i] = from[i] + (volume != 0 ? sum[i] / volume : 0);
  }
  return volume;
}

/* of density 1: volume of tetrahedra from the centre of mass and inertia about it */
static void integrate(const mbg__mesh *mesh, bool exact, mbg__robot_mass *out) {
  double from[3], P[3][3] = {{0}}, volume = 0;
  middle(mesh, from);
  centre(mesh, exact, from, out->com);
  for (int t = 0; t < mesh->ntriangle; t++) {
    double v[3][3];
    corners_of(mesh, t, out->com, v);
    const double own = volume_of(v, exact);
    volume += own;
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) {
        const double sum_i = v[0][i] + v[1][i] + v[2][i], sum_j = v[0][j] + v[1][j] + v[2][j];
        P[i][j] += own / 20 * (sum_i * sum_j + v[0][i] * v[0][j] + v[1][i] * v[1][j] + v[2][i] * v[2][j]);
      }
    }
  }
  const double trace = P[0][0] + P[1][1] + P[2][2];
  out->mass = volume;
  for (int i = 0; i < 3; i++) {
    out->inertia[i] = trace - P[i][i];
  }
  out->inertia[3] = -P[0][1];
  out->inertia[4] = -P[0][2];
  out->inertia[5] = -P[1][2];
}

/* ---------------------------------------------------------------------- the asset */

/* vertices by refpos, refquat and scale of <mesh> */
static int move(const mbg__mjcf *m, const mbg__mjcf_element *e, mbg__mesh *mesh) {
  double scale[3] = {1, 1, 1}, q[4] = {1, 0, 0, 0}, square = 0;
  mbg__frame H;
  int err = MBG_OK;
  frame_identity(&H);
  MBG_TRY(mbg__mjcf_numbers(m, e, "scale", 3, 3, scale, NULL));
  MBG_TRY(mbg__mjcf_numbers(m, e, "refpos", 3, 3, H.x, NULL));
  MBG_TRY(mbg__mjcf_numbers(m, e, "refquat", 4, 4, q, NULL));
  for (int i = 0; i < 4; i++) {
    square += q[i] * q[i];
  }
  if (!(square > 0)) {
    err = mbg__xml_fail(m->robot->ctx, e->at, "refquat has no direction");
    goto done;
  }
  mbg__mjcf_turn(H.R, q);
  for (int k = 0; k < mesh->nvertex; k++) {
    double moved[3];
    frame_point_inv(moved, &H, mesh->vertices + 3 * (size_t)k);
    for (int i = 0; i < 3; i++) {
      mesh->vertices[3 * (size_t)k + (size_t)i] = scale[i] * moved[i];
    }
  }
done:
  return err;
}

int mbg__mjcf_mesh_mass(mbg__mjcf *m, const mbg__mjcf_element *geom, mbg__robot_mass *out) {
  mbg_context *ctx = m->robot->ctx;
  mbg__mjcf_element e;
  mbg__arena arena;
  mbg__mesh mesh;
  const char *name = mbg__mjcf_value(m, geom, "mesh"), *file = NULL;
  int err = MBG_OK;
  *out = (mbg__robot_mass){0};
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  MBG_TRY(mbg__mjcf_find_mesh(m, geom, &e, &file));
  const char *how = mbg__mjcf_value(m, &e, "inertia"), *path = file ? mbg__robot_mesh_path(m->robot, file) : NULL;
  if (!path) {
    err = mbg__xml_fail(ctx, geom->at, "its mass needs the mesh '%s', %s; or give its body <inertial>",
                        name ? name : "", file ? "whose file is not there" : "which has no file");
    goto done;
  }
  if (how && strcmp(how, "legacy") != 0 && strcmp(how, "exact") != 0) {
    err = mbg__xml_fail(ctx, e.at, "inertia=\"%.20s\" is not computed: expected legacy or exact", how);
    goto done;
  }
  MBG_TRY(is_msh(path) ? read_msh(ctx, &arena, path, &mesh) : mbg__mesh_read(ctx, &arena, path, &mesh));
  MBG_TRY(move(m, &e, &mesh));
  integrate(&mesh, how && !strcmp(how, "exact"), out);
  if (!(out->mass > 0)) {
    err = mbg__xml_fail(ctx, geom->at, "the mesh '%s' has no volume", name);
  }
done:
  mbg__arena_destroy(&arena);
  return err;
}
