#include "view/figures.h"

#include "model/pose.h"

#include <string.h>

/* ---------------------------------------------------------------------- numbers */

/* the numbers of all figures */
static int evaluate(mbg_context *ctx, mbg__scene *s, real **out) {
  const mbg__figures *all = &s->m->figures;
  const mbg__design *d = s->design;
  int err = MBG_OK, inputs = 1;
  size_t room = 1;
  for (int i = 0; i < all->nnumber; i++) {
    const mbg__formula *f = &all->numbers[i].formula;
    const size_t scratch = f->expr ? mbg__expr_scratch(f->expr) : 0;
    const int n = mbg__formula_inputs(f);
    inputs = n > inputs ? n : inputs;
    room = scratch > room ? scratch : room;
  }
  real *value = MBG_TAKE(&s->arena, real, all->nnumber + 1);
  real *x = MBG_TAKE(&s->arena, real, inputs), *scratch = MBG_TAKE(&s->arena, real, room);
  MBG_TRY(mbg__arena_check(ctx, &s->arena));
  for (int i = 0; i < all->nnumber; i++) {
    const mbg__formula *f = &all->numbers[i].formula;
    value[i] = f->expr ? 0 : f->number;
    for (int k = 0; k < mbg__formula_inputs(f); k++) {
      const int j = f->input[k];
      x[k] = j < s->m->np ? d->p[j] : d->constants[j - s->m->np];
    }
    if (f->expr) {
      MBG_TRY(mbg__expr_value(ctx, f->expr, x, scratch, &value[i]));
    }
  }
  *out = value;
done:
  return err;
}

static int count_of(mbg__figure_kind kind) {
  return kind == MBG__FIGURE_BOX || kind == MBG__FIGURE_MESH ? 3 : kind == MBG__FIGURE_SPHERE ? 1 : 2;
}

static int check_numbers(mbg_context *ctx, const mbg__scene *s, const mbg__figure *f, const real *value) {
  for (int i = 0; i < count_of(f->kind); i++) {
    const mbg__attribute *a = &s->m->figures.numbers[f->number + i];
    const double x = re(value[f->number + i]);
    const bool preset = f->kind == MBG__FIGURE_ARROW && i == 0 && !a->formula.expr && x == 0;
    const bool good = isfinite(x) && (x > 0 || preset || (f->kind == MBG__FIGURE_MESH && x != 0));
    if (!good) {
      const mbg__where at = mbg__attribute_where(a);
      return mbg__fail_at(ctx, MBG_ERROR_INPUT, &at, 0, "%s is %g at these parameters; it must be %s", a->label->key, x,
                          f->kind == MBG__FIGURE_MESH ? "a number other than 0" : "positive");
    }
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- meshes */

/* the mesh of a file, read once */
static int find_mesh(mbg_context *ctx, mbg__scene *s, const mbg__figure *f, int *mesh) {
  const mbg__figures *all = &s->m->figures;
  if (!s->meshes) {
    s->meshes = MBG_TAKE(&s->arena, mbg__scene_mesh, all->n);
    const int err = mbg__arena_check(ctx, &s->arena);
    if (err < 0) {
      return err;
    }
  }
  for (int i = 0; i < s->nmesh; i++) {
    if (!strcmp(s->meshes[i].file, f->file)) {
      *mesh = i;
      return MBG_OK;
    }
  }
  mbg__scene_mesh *o = &s->meshes[s->nmesh];
  const int mark = mbg__message_mark(ctx), err = mbg__mesh_read(ctx, &s->arena, f->file, &o->mesh);
  if (err == MBG_ERROR_MEMORY) {
    return err;
  }
  if (err < 0) {
    char why[700];
    mbg__format(why, sizeof(why), "%s", mbg_context_message(ctx, mbg_context_message_count(ctx) - 1));
    mbg__message_rewind(ctx, mark);
    return mbg__fail_at(ctx, err, &f->where, 0, "the mesh cannot be drawn: %s", why);
  }
  const int most = o->mesh.nvertex > 3 * o->mesh.ntriangle ? o->mesh.nvertex : 3 * o->mesh.ntriangle;
  o->file = f->file;
  o->scratch = MBG_TAKE(&s->arena, uint32_t, most);
  if (!o->scratch) {
    return mbg__fail_memory(ctx);
  }
  for (int k = 0; k < 3; k++) {
    o->low[k] = o->high[k] = o->mesh.vertices[k];
  }
  for (int i = 0; i < 3 * o->mesh.nvertex; i++) {
    o->low[i % 3] = fmin(o->low[i % 3], o->mesh.vertices[i]);
    o->high[i % 3] = fmax(o->high[i % 3], o->mesh.vertices[i]);
  }
  *mesh = s->nmesh++;
  return MBG_OK;
}

/* ---------------------------------------------------------------------- figures */

static int find_frame(mbg_context *ctx, const mbg__scene *s, const mbg__figure *f, const real *value, mbg__frame *out) {
  const mbg__figures *all = &s->m->figures;
  mbg__placed own = {0};
  int where = 0;
  if (!mbg__pose_eval(all->ops + f->first, f->count, value, NULL, &own, &where)) {
    return mbg__fail_at(ctx, MBG_ERROR_INPUT, &f->where, 0,
                        "rotate: at these parameters a direction has length zero, or two directions are parallel");
  }
  if (f->turned && (f->kind == MBG__FIGURE_CONE || f->kind == MBG__FIGURE_ARROW)) {
    for (int i = 0; i < 3; i++) {
      own.h.R[3 * i + 1] = -own.h.R[3 * i + 1];
      own.h.R[3 * i + 2] = -own.h.R[3 * i + 2];
    }
  }
  *out = own.h;
  if (f->marker >= 0) {
    frame_mul(out, &s->design->markers[f->marker]->h, &own.h);
  }
  return MBG_OK;
}

static void put(mbg__scene *s, const mbg__figure *f, mbg__draw_kind kind, const mbg__frame *H, double along,
                const double size[3]) {
  const double none[3] = {0, 0, 0};
  const int body = f->marker >= 0 ? s->m->markers[f->marker].body : f->body;
  mbg__draw *d = mbg__scene_add(s, kind, body, none);
  mbg__scene_flatten(H, d->frame);
  for (int i = 0; i < 3; i++) {
    d->frame[9 + i] += along * d->frame[3 * i + 2];
  }
  memcpy(d->size, size, sizeof(d->size));
  d->marker = f->marker;
  d->color = f->color;
  d->opacity = f->opacity;
}

/* a shaft and a head of three times its radius */
static void put_arrow(mbg__scene *s, const mbg__figure *f, const mbg__frame *H, double radius, double length) {
  const double r = radius > 0 ? radius : length / 40, head = fmin(9 * r, 0.4 * length);
  put(s, f, MBG__DRAW_CYLINDER, H, (length - head) / 2, (const double[3]){r, length - head, 0});
  put(s, f, MBG__DRAW_CONE, H, length - head / 2, (const double[3]){3 * r, head, 0});
}

static int add_figure(mbg_context *ctx, mbg__scene *s, const mbg__figure *f, const real *value) {
  static const mbg__draw_kind kinds[MBG__FIGURE_KINDS] = {
      [MBG__FIGURE_BOX] = MBG__DRAW_BOX,       [MBG__FIGURE_CYLINDER] = MBG__DRAW_CYLINDER,
      [MBG__FIGURE_SPHERE] = MBG__DRAW_SPHERE, [MBG__FIGURE_CAPSULE] = MBG__DRAW_CAPSULE,
      [MBG__FIGURE_CONE] = MBG__DRAW_CONE,     [MBG__FIGURE_ARROW] = MBG__DRAW_CYLINDER,
      [MBG__FIGURE_MESH] = MBG__DRAW_MESH,
  };
  double size[3] = {0, 0, 0};
  mbg__frame H;
  int err = MBG_OK, mesh = -1;
  MBG_TRY(check_numbers(ctx, s, f, value));
  MBG_TRY(find_frame(ctx, s, f, value, &H));
  for (int i = 0; i < count_of(f->kind); i++) {
    size[i] = re(value[f->number + i]);
  }
  if (f->kind == MBG__FIGURE_ARROW) {
    put_arrow(s, f, &H, size[0], size[1]);
    goto done;
  }
  if (f->kind == MBG__FIGURE_MESH) {
    MBG_TRY(find_mesh(ctx, s, f, &mesh));
  }
  put(s, f, kinds[f->kind], &H, 0, size);
  if (mesh >= 0 && s->nshape > 0) {
    s->shapes[s->nshape - 1].mesh = mesh;
  }
done:
  return err;
}

int mbg__figures_add(mbg_context *ctx, mbg__scene *s) {
  real *value;
  int err = MBG_OK;
  if (s->m->figures.n > 0) {
    MBG_TRY(evaluate(ctx, s, &value));
  }
  for (int i = 0; i < s->m->figures.n; i++) {
    MBG_TRY(add_figure(ctx, s, &s->m->figures.at[i], value));
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- bytes */

static void put_planes(mbg__buffer *bytes, const uint32_t *value, int n, int planes) {
  for (int k = 0; k < planes; k++) {
    for (int i = 0; i < n; i++) {
      const char byte = (char)(value[i] >> (8 * k) & 255);
      mbg__buffer_add(bytes, &byte, 1);
    }
  }
}

static void put_vertices(mbg__buffer *bytes, const mbg__scene_mesh *o, const double step[3], uint32_t *scratch) {
  const mbg__mesh *m = &o->mesh;
  for (int k = 0; k < 3; k++) {
    uint32_t last = 0;
    for (int i = 0; i < m->nvertex; i++) {
      const double above = m->vertices[3 * (size_t)i + (size_t)k] - o->low[k];
      const uint32_t x = step[k] > 0 ? (uint32_t)lround(above / step[k]) : 0;
      scratch[i] = x - last;
      last = x;
    }
    put_planes(bytes, scratch, m->nvertex, 2);
  }
}

static void put_corners(mbg__buffer *bytes, const mbg__mesh *m, uint32_t *scratch) {
  int last = 0;
  for (int i = 0; i < 3 * m->ntriangle; i++) {
    const int d = m->corners[i] - last;
    scratch[i] = d < 0 ? 2 * (uint32_t)-d - 1 : 2 * (uint32_t)d;
    last = m->corners[i];
  }
  put_planes(bytes, scratch, 3 * m->ntriangle, 4);
}

void mbg__figures_write(mbg__json_writer *w, const mbg__scene *s, mbg__buffer *bytes) {
  mbg__json_key(w, "meshes");
  mbg__json_begin_array(w);
  for (int i = 0; i < s->nmesh; i++) {
    const mbg__scene_mesh *o = &s->meshes[i];
    double step[3];
    for (int k = 0; k < 3; k++) {
      step[k] = (o->high[k] - o->low[k]) / 65535;
    }
    mbg__json_begin_object(w);
    mbg__json_key(w, "vertices");
    mbg__json_integer(w, o->mesh.nvertex);
    mbg__json_key(w, "triangles");
    mbg__json_integer(w, o->mesh.ntriangle);
    mbg__json_key(w, "low");
    mbg__json_numbers(w, o->low, 3);
    mbg__json_key(w, "step");
    mbg__json_numbers(w, step, 3);
    mbg__json_end_object(w);
    put_vertices(bytes, o, step, o->scratch);
    put_corners(bytes, &o->mesh, o->scratch);
  }
  mbg__json_end_array(w);
}
