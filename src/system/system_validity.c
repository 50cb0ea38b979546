/* Range of validity of flexible bodies, watched at accepted nodes and reported once a run.

   A linear modal body has no centrifugal stiffening: (spin/frequency)^2 is its relative error; 0.5 rad and a fifth of
   the length are beyond small deformations (theory 3, sections 2 and 13). The strain of a beam element is constant
   along it, which loses accuracy when the element turns far between its nodes (theory 4, section 10). */
#include "system/system_internal.h"

#include <string.h>

static double size3(const real x[3]) { return sqrt(re(x[0]) * re(x[0]) + re(x[1]) * re(x[1]) + re(x[2]) * re(x[2])); }

static void watch_modals(mbg__system *s) {
  const mbg_model *m = s->model;
  for (int i = 0; i < m->nmodal; i++) {
    s->modal[i].spin = fmax(s->modal[i].spin, size3(s->modal[i].nu + 3));
  }
  for (int i = 0; m->nmodal > 0 && i < m->nmarker; i++) {
    const mbg__modal_end *e = s->end[i];
    real moved[3];
    if (!e || !s->marker_on[i]) {
      continue;
    }
    mbg__modal_work *w = &s->modal[e->modal];
    v3_sub(moved, e->m.E.x, e->m.h->x);
    w->turn = fmax(w->turn, size3(e->m.th));
    w->shift = fmax(w->shift, size3(moved));
    w->reach = fmax(w->reach, size3(e->m.h->x));
  }
}

static void watch_beams(mbg__system *s) {
  for (int i = 0; i < s->model->nelement; i++) {
    const int number = s->model->elements[i].beam;
    mbg__beam_watch *w = &s->beam_watch[number];
    const double turn2 = re(v3_dot(s->beam[i].d + 3, s->beam[i].d + 3));
    if (turn2 <= MBG__BEAM_TURN_WARN * MBG__BEAM_TURN_WARN) {
      continue;
    }
    w->when = w->count > 0 ? w->when : (double)re(s->t);
    w->count += !s->turned[i];
    s->turned[i] = true;
    if (sqrt(turn2) > w->turn) {
      w->turn = sqrt(turn2);
      w->element = i - s->model->beams[number].first;
    }
  }
}

void mbg__validity_at_node(mbg__system *s) {
  watch_modals(s);
  watch_beams(s);
}

static void warn_modal(mbg_context *ctx, const mbg__modal *m, const mbg__modal_work *w, double lowest) {
  if (w->spin > 0.3 * lowest) {
    mbg__note(ctx, MBG_WARNING,
              "%s:%d:%d: body '%s' rotates at up to %.3g rad/s, and its modes begin at %.3g rad/s: a linear modal body "
              "has no centrifugal stiffening; use a beam",
              m->where.file, m->where.line, m->where.column, m->name, w->spin, lowest);
  }
  if (w->turn > 0.5 || w->shift > 0.2 * w->reach) {
    mbg__note(ctx, MBG_WARNING,
              "%s:%d:%d: body '%s' deforms by up to %.3g rad and %.3g m, beyond the range of linear modes; use a beam",
              m->where.file, m->where.line, m->where.column, m->name, w->turn, w->shift);
  }
}

static void warn_beam(mbg_context *ctx, const mbg__beam *beam, const mbg__beam_watch *w) {
  if (w->count > 0) {
    mbg__note(ctx, MBG_WARNING,
              "%s:%d:%d: beam '%s': element %d turns by up to %.3g rad between its nodes, %d of %d elements by more "
              "than %g, first at t = %g; use more elements",
              beam->where.file, beam->where.line, beam->where.column, beam->name, w->element, w->turn, w->count,
              beam->count, MBG__BEAM_TURN_WARN, mbg__time_shown(w->when));
  }
}

static void note_stress(mbg_context *ctx, const mbg__beam *beam, const mbg__beam_watch *w) {
  if (w->stress > 0) {
    mbg__note(ctx, MBG_NOTE, "beam '%s': the largest stress of all elements is %.4g N/m^2 in element %d at t = %g",
              beam->name, w->stress, w->stressed, mbg__time_shown(w->stressed_when));
  }
}

void mbg__system_warn(mbg_context *ctx, mbg__system *s) {
  for (int i = 0; i < s->model->nmodal; i++) {
    mbg__modal_work *w = &s->modal[i];
    if (ctx) {
      warn_modal(ctx, &s->model->modals[i], w, s->design->modals[i].lowest);
    }
    w->spin = w->turn = w->shift = w->reach = 0;
  }
  for (int i = 0; i < s->model->nbeam; i++) {
    if (ctx) {
      warn_beam(ctx, &s->model->beams[i], &s->beam_watch[i]);
      note_stress(ctx, &s->model->beams[i], &s->beam_watch[i]);
    }
    s->beam_watch[i] = (mbg__beam_watch){0};
  }
  memset(s->turned, 0, (size_t)s->model->nelement * sizeof(*s->turned));
}

/* ---------------------------------------------------------------------- forces that steps do not resolve */

/* inertia that resists a coordinate, at least: of both bodies as if nothing hung on them, without the ground */
static double coordinate_inertia(const mbg__system *s, const mbg__coord *c) {
  const mbg__pair *pair = &s->model->pairs[c->pair];
  double inverse = 0;
  for (int i = 0; i < 2; i++) {
    const int body = s->model->markers[i == 0 ? pair->A : pair->B].body, first = c->type->angular ? 3 : 0;
    double J = 0;
    for (int k = first; body >= 0 && k < first + 3; k++) {
      J = fmax(J, re(s->design->M[36 * body + 7 * k]));
    }
    inverse += J > 0 ? 1 / J : 0;
  }
  return inverse > 0 ? 1 / inverse : INFINITY;
}

static double law_sharpness(const mbg__system *s, const mbg__force *f, double h, const char **key) {
  const mbg__law_in in = {
      .q = s->coord[f->coord].phi, .qd = s->coord[f->coord].phid, .attr = s->design->attr + f->attr, .opt = f->opt};
  return f->law->sharp(&in, h, coordinate_inertia(s, &s->model->coords[f->coord]), key);
}

void mbg__system_sharp(const mbg__system *s, double h, const char *other, char *advice, size_t size) {
  static const double jump = 10;
  const mbg_model *m = s->model;
  double most = jump;
  mbg__format(advice, size, "%s", other);
  for (int i = 0; i < m->nforce; i++) {
    const mbg__force *f = &m->forces[i];
    const char *key = "";
    const double x = f->law && f->law->sharp ? law_sharpness(s, f, h, &key) : 0;
    if (x > most) {
      most = x;
      mbg__format(advice, size,
                  "force '%s' (%s) is a jump for such steps (each goes %.2g times its %s); make the %s larger "
                  "or the step smaller",
                  f->name, f->law->key, x, key, key);
    }
  }
}
