/* The page: web/dist/page.html with its title and its data. The data are the length of the scene (4 bytes, lowest
   first), the scene (JSON), the motion (view/motion.h), the meshes (view/figures.h), roads that move (view/surface.h),
   loads (view/loads.h) and derivatives of the motion (view/sensitivities.h), then the first three of the runs beside
   it, compressed, as base64. */
#include "mbgrad/view.h"
#include "io/deflate.h"
#include "run/run.h"
#include "run/run_internal.h"
#include "view/figures.h"
#include "view/loads.h"
#include "view/motion.h"
#include "view/outline.h"
#include "view/page.h"
#include "view/scene_json.h"
#include "view/sensitivities.h"
#include "view/surface.h"
#include "view/view_internal.h"

#include <string.h>

static const mbg_view_options defaults = {.frames = 1000, .ghosts = 6, .numbers = 40};

void mbg_view_options_default(mbg_view_options *options, size_t size) {
  mbg__options_default(options, size, &defaults, sizeof(defaults));
}

/* ---------------------------------------------------------------------- data */

typedef struct {
  double *p, *psi, *gradient; /* criteria and gradient: NULL when not known */
} results;

/* criteria that a partial run does not reach are left out */
static int take_results(mbg_context *ctx, mbg__arena *arena, mbg_run *run, bool gradient, results *r) {
  const mbg_model *m = run->m;
  int err = MBG_OK;
  r->p = MBG_TAKE(arena, double, m->np + 1);
  r->psi = MBG_TAKE(arena, double, m->ncriterion + 1);
  r->gradient = gradient ? MBG_TAKE(arena, double, (size_t)m->np *(size_t)m->ncriterion + 1) : NULL;
  MBG_TRY(mbg__arena_check(ctx, arena));
  MBG_TRY(mbg_run_parameters(run, r->p));
  const int mark = mbg__message_mark(ctx);
  if (mbg_run_criteria(ctx, run, r->psi) < 0) {
    mbg__message_rewind(ctx, mark);
    r->psi = NULL;
  }
  if (r->gradient && m->np > 0 && m->ncriterion > 0) {
    MBG_TRY(mbg_run_gradient(ctx, run, MBG_METHOD_AUTO, r->gradient, NULL));
  }
done:
  return err;
}

/* scene, motion and meshes of a run, as members of an open object */
static int write_run(mbg_context *ctx, mbg_run *run, int frames, const results *r, mbg__json_writer *w,
                     mbg__buffer *bytes) {
  mbg__scene scene;
  int err = MBG_OK;
  MBG_TRY(mbg__scene_make(ctx, &scene, run->design, run));
  mbg__scene_json(w, &scene);
  mbg__scene_json_results(w, run->m, r->p, r->psi, r->gradient);
  mbg__json_key(w, "motion");
  mbg__json_begin_object(w);
  MBG_TRY(mbg__motion_write(ctx, run, frames, w, bytes));
  mbg__json_end_object(w);
  mbg__figures_write(w, &scene, bytes);
  MBG_TRY(mbg__surfaces_write(ctx, &scene, run, frames, w, bytes));
  MBG_TRY(mbg__outlines_write(ctx, &scene, run, frames, w));
done:
  mbg__scene_destroy(&scene);
  return err;
}

/* "ghosts" and "effects" */
static int write_sensitivities(mbg_context *ctx, mbg_run *run, const mbg_view_options *o, const results *r,
                               mbg__json_writer *w, mbg__buffer *bytes) {
  const int room = o->ghosts < run->m->np ? o->ghosts : run->m->np;
  int *own = mbg__alloc(ctx, (size_t)room + 1, sizeof(int)), count = o->ghosts, err = MBG_OK;
  if (!own) {
    return mbg__fail_memory(ctx);
  }
  if (!o->ghost) {
    count = mbg__effects_choose(run->m, r->p, r->gradient, room, own);
  }
  MBG_TRY(mbg__ghosts_write(ctx, run, o->frames, count, o->ghost ? o->ghost : own, w, bytes));
  MBG_TRY(mbg__effects_write(ctx, run, o->numbers, w));
done:
  mbg__free(ctx, own);
  return err;
}

static int write_others(mbg_context *ctx, const mbg_view_options *o, mbg__json_writer *w, mbg__buffer *bytes) {
  mbg__arena arena;
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  mbg__json_key(w, "others");
  mbg__json_begin_array(w);
  for (int i = 0; i < o->nother; i++) {
    results r = {0};
    MBG_TRY(take_results(ctx, &arena, o->others[i], false, &r));
    mbg__json_begin_object(w);
    mbg__json_key(w, "label");
    mbg__json_string(w, o->labels && o->labels[i] ? o->labels[i] : o->others[i]->m->name);
    MBG_TRY(write_run(ctx, o->others[i], o->frames, &r, w, bytes));
    mbg__json_end_object(w);
  }
  mbg__json_end_array(w);
done:
  mbg__arena_destroy(&arena);
  return err;
}

static int write_data(mbg_context *ctx, mbg_run *run, const mbg_view_options *o, mbg__buffer *data) {
  mbg__json_writer w;
  mbg__buffer bytes;
  mbg__arena arena;
  results r = {0};
  const char *text, *motion;
  size_t length, size;
  int err = MBG_OK;
  mbg__arena_init(&arena, mbg__context_allocator(ctx));
  mbg__json_writer_init(&w, ctx, false);
  mbg__buffer_init(&bytes, ctx);
  MBG_TRY(take_results(ctx, &arena, run, o->gradient, &r));
  mbg__json_begin_object(&w);
  mbg__json_key(&w, "label");
  mbg__json_string(&w, o->label ? o->label : run->m->name);
  MBG_TRY(write_run(ctx, run, o->frames, &r, &w, &bytes));
  if (o->loads) {
    MBG_TRY(mbg__loads_write(ctx, run, o->frames, &w, &bytes));
  }
  if (o->gradient) {
    MBG_TRY(write_sensitivities(ctx, run, o, &r, &w, &bytes));
  }
  if (o->nother > 0) {
    MBG_TRY(write_others(ctx, o, &w, &bytes));
  }
  mbg__json_end_object(&w);
  MBG_TRY(mbg__json_writer_finish(&w, &text, &length));
  MBG_TRY(mbg__buffer_finish(&bytes, &motion, &size));
  for (int k = 0; k < 4; k++) {
    mbg__buffer_add(data, (const char[]){(char)(length >> (8 * k) & 255)}, 1);
  }
  mbg__buffer_add(data, text, length);
  mbg__buffer_add(data, motion, size);
done:
  mbg__buffer_destroy(&bytes);
  mbg__json_writer_destroy(&w);
  mbg__arena_destroy(&arena);
  return err;
}

/* ---------------------------------------------------------------------- page */

static void add_escaped(mbg__buffer *out, const char *text) {
  for (; *text; text++) {
    const char *as = *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : *text == '&' ? "&amp;" : NULL;
    if (as) {
      mbg__buffer_text(out, as);
    } else {
      mbg__buffer_add(out, text, 1);
    }
  }
}

/* the page up to a mark, which is replaced by what follows */
static const char *add_up_to(mbg__buffer *out, const char *from, const char *mark) {
  const char *at = strstr(from, mark);
  assert(at);
  mbg__buffer_add(out, from, (size_t)(at - from));
  return at + strlen(mark);
}

static int check_options(mbg_context *ctx, const mbg_run *run, const mbg_view_options *o) {
  if (o->frames < 2) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "frames is %d; at least 2 are needed", o->frames);
  }
  if (o->ghosts < 0 || o->numbers < 0 || o->nother < 0 || (o->nother > 0 && !o->others)) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "ghosts, numbers and others must be counts");
  }
  for (int i = 0; o->gradient && o->ghost && i < o->ghosts; i++) {
    if (o->ghost[i] < 0 || o->ghost[i] >= run->m->np) {
      return mbg__fail(ctx, MBG_ERROR_INPUT, "ghost[%d] is %d; the model has %d parameters", i, o->ghost[i],
                       run->m->np);
    }
  }
  return MBG_OK;
}

static int check_run(mbg_context *ctx, const mbg_run *run) {
  if (mbg_run_node_count(run) == 0) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "simulate first: there is no motion to show");
  }
  if (run->m->nbody > 0 && run->nodes.npose == 0) {
    return mbg__fail(ctx, MBG_ERROR_INPUT, "the run keeps no poses; create it with keep_poses");
  }
  return MBG_OK;
}

int mbg__view_check(mbg_context *ctx, const mbg_run *run, const mbg_view_options *o) {
  int err = MBG_OK;
  MBG_TRY(check_options(ctx, run, o));
  MBG_TRY(check_run(ctx, run));
  for (int i = 0; i < o->nother; i++) {
    MBG_NEED(ctx, o->others[i]);
    MBG_TRY(check_run(ctx, o->others[i]));
  }
done:
  return err;
}

int mbg_view_page(mbg_context *ctx, mbg_run *run, const mbg_view_options *options, char **page) {
  MBG_NEED(ctx, ctx && run && page);
  mbg_view_options o = defaults;
  mbg__buffer data, packed, out;
  const char *bytes, *rest = (const char *)mbg__view_page;
  size_t size;
  int err = MBG_OK;
  *page = NULL;
  mbg__buffer_init(&data, ctx);
  mbg__buffer_init(&packed, ctx);
  mbg__buffer_init(&out, ctx);
  MBG_TRY(mbg__options_take(ctx, "view", options, &o, sizeof(o)));
  MBG_TRY(mbg__view_check(ctx, run, &o));
  MBG_TRY(write_data(ctx, run, &o, &data));
  MBG_TRY(mbg__buffer_finish(&data, &bytes, &size));
  MBG_TRY(mbg__deflate(ctx, bytes, size, &packed));
  rest = add_up_to(&out, rest, "{{title}}");
  add_escaped(&out, run->m->name);
  rest = add_up_to(&out, rest, "{{data}}");
  MBG_TRY(mbg__buffer_finish(&packed, &bytes, &size));
  mbg__base64(bytes, size, &out);
  mbg__buffer_text(&out, rest);
  MBG_TRY(mbg__buffer_hand_over(&out, page));
done:
  mbg__buffer_destroy(&out);
  mbg__buffer_destroy(&packed);
  mbg__buffer_destroy(&data);
  return err;
}
