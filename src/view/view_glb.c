/* The motion as binary glTF: a node for each body with its shapes and its animation, beams as skins of their nodes,
   modal bodies as morph targets. The root turns the upward direction of the model to y, as glTF wants it. */
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

static int kind_of(const mbg__draw *d) { return d->kind == MBG__DRAW_BOX ? 0 : d->kind == MBG__DRAW_SPHERE ? 2 : 1; }

static int colour_of(int body) { return body < 0 ? 0 : body % MBG__GLB_COLOURS; }

/* a capsule is a cylinder and two spheres */
static int parts_of(const mbg__draw *d) { return d->kind == MBG__DRAW_CAPSULE ? 3 : 1; }

static void use_colour(mbg__glb_file *f, int colour) {
  if (f->material[colour] < 0) {
    f->material[colour] = f->nmaterial++;
  }
}

static void use_mesh(mbg__glb_file *f, int kind, int colour) {
  use_colour(f, colour);
  if (f->mesh[kind][colour] < 0) {
    f->mesh[kind][colour] = f->nmesh++;
  }
}

static void number_shapes(mbg__glb_file *f) {
  const mbg_model *m = f->scene.m;
  int next = f->bodies + 1 + m->nbeam + m->nmodal;
  for (int k = 0; k < MBG__GLB_KINDS * MBG__GLB_COLOURS; k++) {
    f->mesh[k / MBG__GLB_COLOURS][k % MBG__GLB_COLOURS] = f->material[k % MBG__GLB_COLOURS] = -1;
  }
  for (int i = 0; i < f->scene.nshape; i++) {
    const mbg__draw *d = &f->scene.shapes[i];
    use_mesh(f, kind_of(d), colour_of(d->body));
    if (d->kind == MBG__DRAW_CAPSULE) {
      use_mesh(f, 2, colour_of(d->body));
    }
    f->shapes[i] = next;
    next += parts_of(d);
  }
  f->shapes[f->scene.nshape] = next;
  for (int i = 0; i < m->nbeam; i++) {
    use_colour(f, colour_of(m->beams[i].body));
  }
  for (int i = 0; i < m->nmodal; i++) {
    use_colour(f, colour_of(m->modals[i].body));
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
  const int colour = colour_of(d->body);
  const double *s = d->size, r[3] = {s[0], s[0], s[0]}, rod[3] = {s[0], s[0], s[1]};
  put_part(f, d, f->mesh[kind_of(d)][colour], 0, kind_of(d) == 0 ? s : kind_of(d) == 2 ? r : rod);
  for (int end = -1; d->kind == MBG__DRAW_CAPSULE && end <= 1; end += 2) {
    put_part(f, d, f->mesh[2][colour], end * s[1] / 2, r);
  }
}

/* ---------------------------------------------------------------------- meshes */

static void put_mesh(mbg__json_writer *w, int first, int material, bool skin, int targets) {
  mbg__json_begin_object(w);
  array(w, "primitives");
  mbg__json_begin_object(w);
  mbg__json_key(w, "attributes");
  mbg__json_begin_object(w);
  integer(w, "POSITION", first);
  integer(w, "NORMAL", first + 1);
  if (skin) {
    integer(w, "JOINTS_0", first + 3);
    integer(w, "WEIGHTS_0", first + 4);
  }
  mbg__json_end_object(w);
  integer(w, "indices", first + 2);
  integer(w, "material", material);
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

/* shapes in the order of their numbers, then beams, then modal bodies */
static void put_meshes(mbg__glb_file *f) {
  const mbg_model *m = f->scene.m;
  if (f->nmesh + m->nbeam + m->nmodal == 0) {
    return;
  }
  array(&f->w, "meshes");
  for (int i = 0; i < f->nmesh; i++) {
    for (int k = 0; k < MBG__GLB_KINDS * MBG__GLB_COLOURS; k++) {
      if (f->mesh[k / MBG__GLB_COLOURS][k % MBG__GLB_COLOURS] == i) {
        put_mesh(&f->w, f->solid[k / MBG__GLB_COLOURS], f->material[k % MBG__GLB_COLOURS], false, 0);
      }
    }
  }
  for (int i = 0; i < m->nbeam; i++) {
    put_mesh(&f->w, f->beams[i], f->material[colour_of(m->beams[i].body)], true, 0);
  }
  for (int i = 0; i < m->nmodal; i++) {
    put_mesh(&f->w, f->modals[i], f->material[colour_of(m->modals[i].body)], false, m->modals[i].n);
  }
  mbg__json_end_array(&f->w);
}

/* a colour of the page, as light */
static void put_material(mbg__json_writer *w, int colour) {
  static const int colours[MBG__GLB_COLOURS] = {0x4c8bf5, 0xf08c2e, 0x35a77c, 0xc94f7c, 0x8a6fd1,
                                                0xc9a227, 0x2fa4b8, 0x9a6b4b, 0x7fa33a, 0xd9634c};
  double c[4] = {0, 0, 0, 1};
  for (int k = 0; k < 3; k++) {
    c[k] = pow((colours[colour] >> (16 - 8 * k) & 255) / 255.0, 2.2);
  }
  mbg__json_begin_object(w);
  mbg__json_key(w, "pbrMetallicRoughness");
  mbg__json_begin_object(w);
  numbers(w, "baseColorFactor", c, 4);
  integer(w, "metallicFactor", 0);
  mbg__json_end_object(w);
  mbg__json_end_object(w);
}

static void put_materials(mbg__glb_file *f) {
  if (f->nmaterial == 0) {
    return;
  }
  array(&f->w, "materials");
  for (int i = 0; i < f->nmaterial; i++) {
    for (int k = 0; k < MBG__GLB_COLOURS; k++) {
      if (f->material[k] == i) {
        put_material(&f->w, k);
      }
    }
  }
  mbg__json_end_array(&f->w);
}

/* ---------------------------------------------------------------------- nodes */

static void put_body(mbg__glb_file *f, int body) {
  mbg__json_writer *w = &f->w;
  const double *H = mbg__glb_frame(f, body, 0);
  double q[4];
  bool any = false;
  mbg__motion_quaternion(H, (const double[4]){0, 0, 0, 1}, q);
  begin_node(w, f->scene.m->bodies[body].name);
  numbers(w, "translation", H + 9, 3);
  numbers(w, "rotation", q, 4);
  const int modal = f->scene.m->bodies[body].modal;
  for (int i = 0; i < f->scene.nshape || (i == f->scene.nshape && modal >= 0); i++) {
    const bool shape = i < f->scene.nshape;
    if (shape && f->scene.shapes[i].body != body) {
      continue;
    }
    if (!any) {
      array(w, "children");
      any = true;
    }
    if (!shape) {
      mbg__json_integer(w, modal_node(f, modal));
    }
    for (int k = f->shapes[i]; shape && k < f->shapes[i + 1]; k++) {
      mbg__json_integer(w, k);
    }
  }
  if (any) {
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
  if (f->bodies > 0) {
    array(&f->w, "children");
    for (int b = 0; b < f->bodies; b++) {
      mbg__json_integer(&f->w, b);
    }
    mbg__json_end_array(&f->w);
  }
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
  int err = MBG_OK;
  MBG_TRY(mbg__arena_check(ctx, a));
  f->n = mbg__motion_nodes(f->run, frames, f->node);
  f->scratch = MBG_TAKE(a, float, 4 * (size_t)f->n);
  MBG_TRY(mbg__arena_check(ctx, a));
done:
  return err;
}

static int put_numbers(mbg_context *ctx, mbg__glb_file *f) {
  static int (*const make[MBG__GLB_KINDS])(mbg__glb *) = {mbg__solid_box, mbg__solid_cylinder, mbg__solid_sphere};
  const mbg_model *m = f->scene.m;
  int err = MBG_OK;
  number_shapes(f);
  for (int k = 0; k < MBG__GLB_KINDS; k++) {
    bool used = false;
    for (int c = 0; c < MBG__GLB_COLOURS; c++) {
      used = used || f->mesh[k][c] >= 0;
    }
    f->solid[k] = used ? make[k](&f->glb) : -1;
  }
  for (int i = 0; i < m->nbeam; i++) {
    MBG_TRY(mbg__glb_beam(ctx, f, &m->beams[i]));
  }
  for (int i = 0; i < m->nmodal; i++) {
    MBG_TRY(mbg__glb_modal(ctx, f, &m->modals[i]));
  }
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
  MBG_TRY(mbg__scene_make(ctx, &f.scene, run->design));
  MBG_TRY(mbg__options_take(ctx, "view", options, &o, sizeof(o)));
  MBG_TRY(mbg__view_check(ctx, run, &o));
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
