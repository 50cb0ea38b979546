/* The motion as binary glTF: a node for each body with its shapes and its animation, beams as skins of their nodes,
   modal bodies as morph targets, curves and surfaces with their markers. The root turns the upward direction of the
   model to y, as glTF wants it. */
#include "view/view_glb.h"
#include "mbgrad/view.h"
#include "run/run_internal.h"
#include "view/motion.h"
#include "view/view_internal.h"

#include <string.h>

/* ---------------------------------------------------------------------- short forms */

static void integer(mbg__json_writer *w, const char *key, int value) {
  mbg__json_key(w, key);
  mbg__json_integer(w, value);
}

static void array(mbg__json_writer *w, const char *key) {
  mbg__json_key(w, key);
  mbg__json_begin_array(w);
}

static void begin_node(mbg__json_writer *w, const char *name) {
  mbg__json_begin_object(w);
  if (name) {
    mbg__json_key(w, "name");
    mbg__json_string(w, name);
  }
}

static void numbers(mbg__json_writer *w, const char *key, const double *v, int n) {
  mbg__json_key(w, key);
  mbg__json_numbers(w, v, n);
}

/* ---------------------------------------------------------------------- motion */

/* times from 0 on; equal ones as floats are left out */
static void put_times(mbg__glb_file *f) {
  const double t0 = mbg_run_node_time(f->run, f->node[0]);
  int n = 0;
  for (int i = 0; i < f->n; i++) {
    const float t = (float)(mbg_run_node_time(f->run, f->node[i]) - t0);
    if (n == 0 || t > f->scratch[n - 1]) {
      f->node[n] = f->node[i];
      f->scratch[n++] = t;
    }
  }
  f->n = n;
  f->times = mbg__glb_floats(&f->glb, f->scratch, n, 1, true, 0);
}

static void put_motion(mbg__glb_file *f, int body) {
  double q[4] = {0, 0, 0, 1};
  for (int i = 0; i < f->n; i++) {
    for (int k = 0; k < 3; k++) {
      f->scratch[3 * i + k] = (float)mbg__glb_frame(f, body, i)[9 + k];
    }
  }
  f->motion[2 * body] = mbg__glb_floats(&f->glb, f->scratch, f->n, 3, false, 0);
  for (int i = 0; i < f->n; i++) {
    const double before[4] = {q[0], q[1], q[2], q[3]};
    mbg__motion_quaternion(mbg__glb_frame(f, body, i), before, q);
    for (int k = 0; k < 4; k++) {
      f->scratch[4 * i + k] = (float)q[k];
    }
  }
  f->motion[2 * body + 1] = mbg__glb_floats(&f->glb, f->scratch, f->n, 4, false, 0);
}

static int put_weights(mbg_context *ctx, mbg__glb_file *f) {
  const mbg_model *m = f->scene.m;
  const size_t nodes = (size_t)mbg_run_node_count(f->run), all = (size_t)mbg_model_modal_count(m);
  double *eta = MBG_TAKE(&f->scene.arena, double, 2 * nodes * all + 1);
  float *out = MBG_TAKE(&f->scene.arena, float, (size_t)f->n *all + 1);
  int err = MBG_OK;
  MBG_TRY(mbg__arena_check(ctx, &f->scene.arena));
  MBG_TRY(all > 0 ? mbg_run_modal(f->run, eta, eta + nodes * all) : MBG_OK);
  for (int k = 0, first = 0; k < m->nmodal; first += m->modals[k++].n) {
    const int n = m->modals[k].n;
    for (int i = 0; i < f->n * n; i++) {
      out[i] = (float)eta[(size_t)f->node[i / n] * all + (size_t)(first + i % n)];
    }
    f->weights[k] = mbg__glb_floats(&f->glb, out, f->n * n, 1, false, 0);
  }
done:
  return err;
}

static void put_channel(mbg__json_writer *w, int sampler, int node, const char *path) {
  mbg__json_begin_object(w);
  integer(w, "sampler", sampler);
  mbg__json_key(w, "target");
  mbg__json_begin_object(w);
  integer(w, "node", node);
  mbg__json_key(w, "path");
  mbg__json_string(w, path);
  mbg__json_end_object(w);
  mbg__json_end_object(w);
}

/* node of the mesh of a modal body: behind the root and the beams */
static int modal_node(const mbg__glb_file *f, int k) { return f->bodies + 1 + f->scene.m->nbeam + k; }

static void put_animation(mbg__glb_file *f) {
  mbg__json_writer *w = &f->w;
  if (f->n < 2 || f->bodies == 0) {
    return;
  }
  array(w, "animations");
  mbg__json_begin_object(w);
  array(w, "channels");
  for (int i = 0; i < 2 * f->bodies; i++) {
    put_channel(w, i, i / 2, i % 2 ? "rotation" : "translation");
  }
  for (int k = 0; k < f->scene.m->nmodal; k++) {
    put_channel(w, 2 * f->bodies + k, modal_node(f, k), "weights");
  }
  mbg__json_end_array(w);
  array(w, "samplers");
  for (int i = 0; i < 2 * f->bodies + f->scene.m->nmodal; i++) {
    mbg__json_begin_object(w);
    integer(w, "input", f->times);
    integer(w, "output", i < 2 * f->bodies ? f->motion[i] : f->weights[i - 2 * f->bodies]);
    mbg__json_end_object(w);
  }
  mbg__json_end_array(w);
  mbg__json_end_object(w);
  mbg__json_end_array(w);
}

/* ---------------------------------------------------------------------- shapes */

static int solid_of(const mbg__draw *d) {
  static const int solids[] = {[MBG__DRAW_BOX] = MBG__GLB_BOX,
                               [MBG__DRAW_CYLINDER] = MBG__GLB_CYLINDER,
                               [MBG__DRAW_SPHERE] = MBG__GLB_SPHERE,
                               [MBG__DRAW_CAPSULE] = MBG__GLB_CYLINDER,
                               [MBG__DRAW_CONE] = MBG__GLB_CONE};
  return d->kind == MBG__DRAW_MESH ? MBG__GLB_SOLIDS + d->mesh : solids[d->kind];
}

/* a capsule is a cylinder and two spheres */
static int parts_of(const mbg__draw *d) { return d->kind == MBG__DRAW_CAPSULE ? 3 : 1; }

/* the colours of the page */
static int color_of(int body) {
  static const int colors[] = {0x4c8bf5, 0xf08c2e, 0x35a77c, 0xc94f7c, 0x8a6fd1,
                               0xc9a227, 0x2fa4b8, 0x9a6b4b, 0x7fa33a, 0xd9634c};
  return body < 0 ? 0x8d97a5 : colors[body % MBG_COUNT(colors)];
}

/* index of a material or a mesh, which is made when it is new */
static int material_of(mbg__glb_file *f, int color, double opacity) {
  for (int i = 0; i < f->nmaterial; i++) {
    if (f->materials[i].color == color && f->materials[i].opacity == opacity) {
      return i;
    }
  }
  f->materials[f->nmaterial] = (mbg__glb_material){color, opacity};
  return f->nmaterial++;
}

static int mesh_of(mbg__glb_file *f, int solid, const mbg__draw *d) {
  const int material = material_of(f, d->color >= 0 ? d->color : color_of(d->body), d->opacity);
  for (int i = 0; i < f->nmesh; i++) {
    if (f->meshes[i].solid == solid && f->meshes[i].material == material) {
      return i;
    }
  }
  f->meshes[f->nmesh] = (mbg__glb_mesh){solid, material};
  return f->nmesh++;
}

static int body_material(mbg__glb_file *f, int body) { return material_of(f, color_of(body), 1); }

enum { GRID = 0x7d8b9f }; /* colour of lines of surfaces */

static int outline_material(mbg__glb_file *f, const mbg__outline *o) {
  const int body = f->scene.m->markers[o->marker].body;
  return o->kind == MBG__OUTLINE_GRID ? material_of(f, GRID, 1) : body_material(f, body);
}

static void number_shapes(mbg__glb_file *f) {
  const mbg_model *m = f->scene.m;
  int next = f->bodies + 1 + m->nbeam + m->nmodal;
  for (int i = 0; i < f->scene.nshape; i++) {
    const mbg__draw *d = &f->scene.shapes[i];
    (void)mesh_of(f, solid_of(d), d);
    if (d->kind == MBG__DRAW_CAPSULE) {
      (void)mesh_of(f, MBG__GLB_SPHERE, d);
    }
    f->shapes[i] = next;
    next += parts_of(d);
  }
  f->shapes[f->scene.nshape] = next;
  for (int i = 0; i < m->nbeam; i++) {
    (void)body_material(f, m->beams[i].body);
  }
  for (int i = 0; i < m->nmodal; i++) {
    (void)body_material(f, m->modals[i].body);
  }
  for (int i = 0; i < f->outlines.count; i++) {
    (void)outline_material(f, &f->outlines.at[i]);
  }
}

/* a node of a shape: place, quaternion, scale */
static void put_part(mbg__glb_file *f, const mbg__draw *d, int mesh, double along, const double scale[3]) {
  mbg__json_writer *w = &f->w;
  double q[4], at[3];
  mbg__motion_quaternion(d->frame, (const double[4]){0, 0, 0, 1}, q);
  for (int i = 0; i < 3; i++) {
    at[i] = d->frame[9 + i] + along * d->frame[3 * i + 2];
  }
  begin_node(w, NULL);
  integer(w, "mesh", mesh);
  numbers(w, "translation", at, 3);
  numbers(w, "rotation", q, 4);
  numbers(w, "scale", scale, 3);
  mbg__json_end_object(w);
}

static void put_shape(mbg__glb_file *f, const mbg__draw *d) {
  const double *s = d->size, r[3] = {s[0], s[0], s[0]}, rod[3] = {s[0], s[0], s[1]};
  const bool whole = d->kind == MBG__DRAW_BOX || d->kind == MBG__DRAW_MESH;
  put_part(f, d, mesh_of(f, solid_of(d), d), 0, whole ? s : d->kind == MBG__DRAW_SPHERE ? r : rod);
  for (int end = -1; d->kind == MBG__DRAW_CAPSULE && end <= 1; end += 2) {
    put_part(f, d, mesh_of(f, MBG__GLB_SPHERE, d), end * s[1] / 2, r);
  }
}

/* ---------------------------------------------------------------------- meshes */

/* first: positions, normals (not of meshes of the scene, nor of lines), triangles or lines, then what skins and targets
   need */
static void put_mesh(mbg__json_writer *w, int first, int material, bool normals, bool skin, int targets, bool lines) {
  mbg__json_begin_object(w);
  array(w, "primitives");
  mbg__json_begin_object(w);
  mbg__json_key(w, "attributes");
  mbg__json_begin_object(w);
  integer(w, "POSITION", first);
  if (normals) {
    integer(w, "NORMAL", first + 1);
  }
  if (skin) {
    integer(w, "JOINTS_0", first + 3);
    integer(w, "WEIGHTS_0", first + 4);
  }
  mbg__json_end_object(w);
  integer(w, "indices", first + 1 + normals);
  integer(w, "material", material);
  if (lines) {
    integer(w, "mode", 1);
  }
  if (targets > 0) {
    array(w, "targets");
    for (int j = 0; j < targets; j++) {
      mbg__json_begin_object(w);
      integer(w, "POSITION", first + 3 + j);
      mbg__json_end_object(w);
    }
    mbg__json_end_array(w);
  }
  mbg__json_end_object(w);
  mbg__json_end_array(w);
  mbg__json_end_object(w);
}

/* shapes in the order of their numbers, then beams, modal bodies, outlines */
static void put_meshes(mbg__glb_file *f) {
  const mbg_model *m = f->scene.m;
  if (f->nmesh + m->nbeam + m->nmodal + f->outlines.count == 0) {
    return;
  }
  array(&f->w, "meshes");
  for (int i = 0; i < f->nmesh; i++) {
    const mbg__glb_mesh *o = &f->meshes[i];
    put_mesh(&f->w, f->solid[o->solid], o->material, o->solid < MBG__GLB_SOLIDS, false, 0, false);
  }
  for (int i = 0; i < m->nbeam; i++) {
    put_mesh(&f->w, f->beams[i], body_material(f, m->beams[i].body), true, true, 0, false);
  }
  for (int i = 0; i < m->nmodal; i++) {
    put_mesh(&f->w, f->modals[i], body_material(f, m->modals[i].body), true, false, m->modals[i].n, false);
  }
  for (int i = 0; i < f->outlines.count; i++) {
    const mbg__outline *o = &f->outlines.at[i];
    const bool grid = o->kind == MBG__OUTLINE_GRID;
    put_mesh(&f->w, f->outline[i], outline_material(f, o), !grid, false, 0, grid);
  }
  mbg__json_end_array(&f->w);
}

/* a colour of the page, as light */
static void put_material(mbg__json_writer *w, const mbg__glb_material *o) {
  double c[4] = {0, 0, 0, o->opacity};
  for (int k = 0; k < 3; k++) {
    c[k] = pow((o->color >> (16 - 8 * k) & 255) / 255.0, 2.2);
  }
  mbg__json_begin_object(w);
  mbg__json_key(w, "pbrMetallicRoughness");
  mbg__json_begin_object(w);
  numbers(w, "baseColorFactor", c, 4);
  integer(w, "metallicFactor", 0);
  mbg__json_end_object(w);
  if (o->opacity < 1) {
    mbg__json_key(w, "alphaMode");
    mbg__json_string(w, "BLEND");
  }
  mbg__json_end_object(w);
}

static void put_materials(mbg__glb_file *f) {
  if (f->nmaterial == 0) {
    return;
  }
  array(&f->w, "materials");
  for (int i = 0; i < f->nmaterial; i++) {
    put_material(&f->w, &f->materials[i]);
  }
  mbg__json_end_array(&f->w);
}

/* ---------------------------------------------------------------------- nodes */

static int outline_body(const mbg__glb_file *f, int i) { return f->scene.m->markers[f->outlines.at[i].marker].body; }

/* nodes of the shapes and outlines on a body, or (-1) on the ground, as entries of an open array */
static void put_children(mbg__glb_file *f, int body) {
  for (int i = 0; i < f->scene.nshape; i++) {
    for (int k = f->shapes[i]; f->scene.shapes[i].body == body && k < f->shapes[i + 1]; k++) {
      mbg__json_integer(&f->w, k);
    }
  }
  for (int i = 0; i < f->outlines.count; i++) {
    if (outline_body(f, i) == body) {
      mbg__json_integer(&f->w, f->shapes[f->scene.nshape] + i);
    }
  }
}

static bool has_shapes(const mbg__glb_file *f, int body) {
  for (int i = 0; i < f->scene.nshape; i++) {
    if (f->scene.shapes[i].body == body) {
      return true;
    }
  }
  for (int i = 0; i < f->outlines.count; i++) {
    if (outline_body(f, i) == body) {
      return true;
    }
  }
  return false;
}

static void put_body(mbg__glb_file *f, int body) {
  mbg__json_writer *w = &f->w;
  const double *H = mbg__glb_frame(f, body, 0);
  const int modal = f->scene.m->bodies[body].modal;
  double q[4];
  mbg__motion_quaternion(H, (const double[4]){0, 0, 0, 1}, q);
  begin_node(w, f->scene.m->bodies[body].name);
  numbers(w, "translation", H + 9, 3);
  numbers(w, "rotation", q, 4);
  if (modal >= 0 || has_shapes(f, body)) {
    array(w, "children");
    put_children(f, body);
    if (modal >= 0) {
      mbg__json_integer(w, modal_node(f, modal));
    }
    mbg__json_end_array(w);
  }
  mbg__json_end_object(w);
}

/* turns the upward direction u to y: quaternion (u x y, 1 + u.y) */
static void put_root(mbg__glb_file *f) {
  const double *u = f->scene.up, length = sqrt(2 * (1 + u[1]));
  double q[4] = {1, 0, 0, 0};
  if (length > 1e-6) {
    q[0] = -u[2] / length;
    q[2] = u[0] / length;
    q[3] = (1 + u[1]) / length;
  }
  begin_node(&f->w, f->scene.m->name);
  numbers(&f->w, "rotation", q, 4);
  if (f->bodies > 0 || has_shapes(f, -1)) {
    array(&f->w, "children");
    for (int b = 0; b < f->bodies; b++) {
      mbg__json_integer(&f->w, b);
    }
    put_children(f, -1);
    mbg__json_end_array(&f->w);
  }
  mbg__json_end_object(&f->w);
}

/* in the frame of its marker */
static void put_outline(mbg__glb_file *f, int i) {
  const mbg_model *m = f->scene.m;
  double h[12], q[4];
  mbg__scene_flatten(&f->scene.design->markers[f->outlines.at[i].marker]->h, h);
  mbg__motion_quaternion(h, (const double[4]){0, 0, 0, 1}, q);
  begin_node(&f->w, m->joints[f->outlines.at[i].joint].name);
  integer(&f->w, "mesh", f->nmesh + m->nbeam + m->nmodal + i);
  numbers(&f->w, "translation", h + 9, 3);
  numbers(&f->w, "rotation", q, 4);
  mbg__json_end_object(&f->w);
}

static void put_nodes(mbg__glb_file *f) {
  const mbg_model *m = f->scene.m;
  array(&f->w, "nodes");
  for (int b = 0; b < f->bodies; b++) {
    put_body(f, b);
  }
  put_root(f);
  for (int i = 0; i < m->nbeam + m->nmodal; i++) {
    begin_node(&f->w, i < m->nbeam ? m->beams[i].name : m->modals[i - m->nbeam].name);
    integer(&f->w, "mesh", f->nmesh + i);
    if (i < m->nbeam) {
      integer(&f->w, "skin", i);
    }
    mbg__json_end_object(&f->w);
  }
  for (int i = 0; i < f->scene.nshape; i++) {
    put_shape(f, &f->scene.shapes[i]);
  }
  for (int i = 0; i < f->outlines.count; i++) {
    put_outline(f, i);
  }
  mbg__json_end_array(&f->w);
}

static void put_skins(mbg__glb_file *f) {
  const mbg_model *m = f->scene.m;
  if (m->nbeam == 0) {
    return;
  }
  array(&f->w, "skins");
  for (int i = 0; i < m->nbeam; i++) {
    mbg__json_begin_object(&f->w);
    array(&f->w, "joints");
    for (int j = 0; j <= m->beams[i].count; j++) {
      mbg__json_integer(&f->w, m->beams[i].body + j);
    }
    mbg__json_end_array(&f->w);
    integer(&f->w, "inverseBindMatrices", f->beams[i] + 5);
    mbg__json_end_object(&f->w);
  }
  mbg__json_end_array(&f->w);
}

/* the root, and the meshes of beams, whose place skins determine */
static void put_scene(mbg__glb_file *f) {
  integer(&f->w, "scene", 0);
  array(&f->w, "scenes");
  mbg__json_begin_object(&f->w);
  array(&f->w, "nodes");
  for (int i = 0; i <= f->scene.m->nbeam; i++) {
    mbg__json_integer(&f->w, f->bodies + i);
  }
  mbg__json_end_array(&f->w);
  mbg__json_end_object(&f->w);
  mbg__json_end_array(&f->w);
  mbg__json_key(&f->w, "asset");
  mbg__json_begin_object(&f->w);
  mbg__json_key(&f->w, "version");
  mbg__json_string(&f->w, "2.0");
  mbg__json_key(&f->w, "generator");
  mbg__json_string(&f->w, "mbgrad");
  mbg__json_end_object(&f->w);
}

/* ---------------------------------------------------------------------- all */

static int take_memory(mbg_context *ctx, mbg__glb_file *f, int frames) {
  mbg__arena *a = &f->scene.arena;
  const mbg_model *m = f->scene.m;
  f->bodies = mbg__frames(m);
  f->node = MBG_TAKE(a, int, mbg_run_node_count(f->run));
  f->motion = MBG_TAKE(a, int, 2 * f->bodies + 1);
  f->weights = MBG_TAKE(a, int, m->nmodal + 1);
  f->beams = MBG_TAKE(a, int, m->nbeam + 1);
  f->modals = MBG_TAKE(a, int, m->nmodal + 1);
  f->shapes = MBG_TAKE(a, int, f->scene.nshape + 1);
  f->solid = MBG_TAKE(a, int, MBG__GLB_SOLIDS + f->scene.nmesh);
  f->meshes = MBG_TAKE(a, mbg__glb_mesh, 2 * f->scene.nshape + 1);
  int err = MBG_OK;
  MBG_TRY(mbg__arena_check(ctx, a));
  f->n = mbg__motion_nodes(f->run, frames, f->node);
  MBG_TRY(mbg__outlines_find(ctx, a, &f->scene, f->run, f->n, f->node, 2e-4, &f->outlines));
  f->outline = MBG_TAKE(a, int, f->outlines.count + 1);
  f->materials = MBG_TAKE(a, mbg__glb_material, f->scene.nshape + m->nbeam + m->nmodal + f->outlines.count + 1);
  f->scratch = MBG_TAKE(a, float, 4 * (size_t)f->n);
  MBG_TRY(mbg__arena_check(ctx, a));
done:
  return err;
}

/* solids that are in use, meshes of the scene */
static int put_solids(mbg_context *ctx, mbg__glb_file *f) {
  static int (*const make[MBG__GLB_SOLIDS])(mbg__glb *) = {mbg__solid_box, mbg__solid_cylinder, mbg__solid_sphere,
                                                           mbg__solid_cone};
  for (int k = 0; k < MBG__GLB_SOLIDS; k++) {
    bool used = false;
    for (int i = 0; i < f->nmesh; i++) {
      used = used || f->meshes[i].solid == k;
    }
    f->solid[k] = used ? make[k](&f->glb) : -1;
  }
  for (int i = 0; i < f->scene.nmesh; i++) {
    f->solid[MBG__GLB_SOLIDS + i] = mbg__solid_mesh(&f->glb, &f->scene.meshes[i].mesh);
  }
  return mbg__arena_check(ctx, &f->glb.arena);
}

static int put_numbers(mbg_context *ctx, mbg__glb_file *f) {
  const mbg_model *m = f->scene.m;
  int err = MBG_OK;
  number_shapes(f);
  MBG_TRY(put_solids(ctx, f));
  for (int i = 0; i < m->nbeam; i++) {
    MBG_TRY(mbg__glb_beam(ctx, f, &m->beams[i]));
  }
  for (int i = 0; i < m->nmodal; i++) {
    MBG_TRY(mbg__glb_modal(ctx, f, &m->modals[i]));
  }
  MBG_TRY(mbg__glb_outlines(ctx, f));
  if (f->n > 1 && f->bodies > 0) {
    put_times(f);
    for (int b = 0; b < f->bodies; b++) {
      put_motion(f, b);
    }
    MBG_TRY(put_weights(ctx, f));
  }
done:
  return err;
}

int mbg_view_glb(mbg_context *ctx, mbg_run *run, const mbg_view_options *options, char **data, size_t *length) {
  MBG_NEED(ctx, ctx && run && data && length);
  mbg_view_options o;
  mbg__glb_file f = {.run = run};
  int err = MBG_OK;
  *data = NULL;
  *length = 0;
  mbg_view_options_default(&o, sizeof(o));
  mbg__glb_init(&f.glb, ctx);
  mbg__json_writer_init(&f.w, ctx, false);
  MBG_TRY(mbg__options_take(ctx, "view", options, &o, sizeof(o)));
  MBG_TRY(mbg__view_check(ctx, run, &o));
  MBG_TRY(mbg__scene_make(ctx, &f.scene, run->design, run));
  MBG_TRY(take_memory(ctx, &f, o.frames));
  MBG_TRY(put_numbers(ctx, &f));
  mbg__json_begin_object(&f.w);
  put_scene(&f);
  put_nodes(&f);
  put_meshes(&f);
  put_materials(&f);
  put_skins(&f);
  put_animation(&f);
  mbg__glb_tables(&f.glb, &f.w);
  mbg__json_end_object(&f.w);
  MBG_TRY(mbg__glb_finish(&f.glb, &f.w, data, length));
done:
  mbg__scene_destroy(&f.scene);
  mbg__json_writer_destroy(&f.w);
  mbg__glb_destroy(&f.glb);
  return err;
}
