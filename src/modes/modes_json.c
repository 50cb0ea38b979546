/* Modes as JSON. */
#include "modes/modes.h"

#include "io/json_write.h"

static void number(mbg__json_writer *w, const char *key, double value) {
  mbg__json_key(w, key);
  mbg__json_number(w, value);
}

static void integer(mbg__json_writer *w, const char *key, int value) {
  mbg__json_key(w, key);
  mbg__json_integer(w, value);
}

static void string(mbg__json_writer *w, const char *key, const char *value) {
  mbg__json_key(w, key);
  mbg__json_string(w, value);
}

/* {PARAM: x, VECTOR: [x, ...]} */
static void gradient(mbg__json_writer *w, const mbg_model *model, const char *key, const double *g) {
  mbg__json_key(w, key);
  if (!g) {
    mbg__json_null(w);
    return;
  }
  mbg__json_begin_object(w);
  for (int i = 0; i < mbg_model_parameter_group_count(model); i++) {
    const char *name;
    int first, count;
    (void)mbg_model_parameter_group(model, i, &name, &first, &count);
    mbg__json_key(w, name);
    if (count > 0) {
      mbg__json_numbers(w, g + first, count);
    } else {
      mbg__json_number(w, g[first]);
    }
  }
  mbg__json_end_object(w);
}

static void shape(mbg__json_writer *w, const mbg_modes *modes, const char *key, const double *x) {
  mbg__json_key(w, key);
  mbg__json_begin_object(w);
  for (int b = 0; b < modes->summary.bodies; b++) {
    mbg__json_key(w, mbg_modes_body_name(modes, b));
    mbg__json_numbers(w, x + 6 * (size_t)b, 6);
  }
  mbg__json_end_object(w);
}

static void one_mode(mbg__json_writer *w, const mbg_modes *modes, int i) {
  const mbg_mode *m = mbg_modes_get_mode(modes, i);
  mbg__json_begin_object(w);
  string(w, "kind", mbg_mode_kind_name(m->kind));
  number(w, "frequency", m->frequency);
  number(w, "damping", m->damping);
  mbg__json_key(w, "eigenvalue");
  mbg__json_numbers(w, (const double[]){m->re, m->im}, 2);
  integer(w, "multiplicity", m->multiplicity);
  mbg__json_key(w, "body");
  if (m->body >= 0) {
    mbg__json_string(w, mbg_modes_body_name(modes, m->body));
  } else {
    mbg__json_null(w);
  }
  if (m->state) {
    string(w, "state", m->state);
  }
  number(w, "share", m->share);
  if (modes->summary.gradient) {
    gradient(w, modes->model, "frequency_gradient", mbg_modes_frequency_gradient(modes, i));
    gradient(w, modes->model, "damping_gradient", mbg_modes_damping_gradient(modes, i));
    gradient(w, modes->model, "re_gradient", mbg_modes_eigenvalue_gradient(modes, i, 0));
    gradient(w, modes->model, "im_gradient", mbg_modes_eigenvalue_gradient(modes, i, 1));
  }
  shape(w, modes, "shape", mbg_modes_shape(modes, i, 0));
  if (mbg_modes_shape(modes, i, 1)) {
    shape(w, modes, "shape_imaginary", mbg_modes_shape(modes, i, 1));
  }
  mbg__json_end_object(w);
}

static void all(mbg__json_writer *w, const mbg_modes *modes) {
  const mbg_modes_summary *s = &modes->summary;
  mbg__json_begin_object(w);
  string(w, "model", s->model);
  string(w, "at", mbg_modes_at_name((int)s->at));
  number(w, "time", s->time);
  integer(w, "degrees_of_freedom", s->freedoms);
  if (s->position_freedoms != s->freedoms) {
    integer(w, "position_freedoms", s->position_freedoms);
  }
  if (s->states > 0) {
    integer(w, "states", s->states);
  }
  integer(w, "redundant", s->redundant);
  integer(w, "massless", s->massless);
  integer(w, "zero", s->zero);
  integer(w, "unstable", s->unstable);
  mbg__json_key(w, "damped");
  mbg__json_boolean(w, s->damped);
  string(w, "solver", s->solver);
  mbg__json_key(w, "positions");
  mbg__json_begin_object(w);
  for (int b = 0; b < s->bodies; b++) {
    mbg__json_key(w, mbg_modes_body_name(modes, b));
    mbg__json_numbers(w, mbg_modes_body_position(modes, b), 3);
  }
  mbg__json_end_object(w);
  mbg__json_key(w, "modes");
  mbg__json_begin_array(w);
  for (int i = 0; i < s->count; i++) {
    one_mode(w, modes, i);
  }
  mbg__json_end_array(w);
  mbg__json_end_object(w);
}

int mbg_modes_json(mbg_context *ctx, const mbg_modes *modes, char **text) {
  MBG_NEED(ctx, ctx && modes && text);
  mbg__json_writer w;
  mbg__json_writer_init(&w, ctx, true);
  all(&w, modes);
  return mbg__json_writer_hand_over(&w, text);
}
