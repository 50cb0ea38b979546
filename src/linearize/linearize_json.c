/* Linear models and transitions as JSON. */
#include "linearize/linearize.h"

#include "io/json_write.h"

typedef const mbg_linearize_name *(*name_of)(const mbg_linearize *linear, int index);

static void names(mbg__json_writer *w, const char *key, const mbg_linearize *s, int count, name_of get) {
  mbg__json_key(w, key);
  mbg__json_begin_array(w);
  for (int i = 0; i < count; i++) {
    const mbg_linearize_name *n = get(s, i);
    mbg__json_begin_object(w);
    mbg__json_key(w, "name");
    mbg__json_string(w, n->name);
    mbg__json_key(w, "unit");
    mbg__json_string(w, n->unit);
    mbg__json_key(w, "what");
    mbg__json_string(w, n->what);
    mbg__json_key(w, "value");
    mbg__json_number(w, n->value);
    if (get == mbg_linearize_input) {
      mbg__json_key(w, "constant");
      mbg__json_boolean(w, n->constant);
    }
    mbg__json_end_object(w);
  }
  mbg__json_end_array(w);
}

static void matrix(mbg__json_writer *w, const char *key, const double *A, int rows, int columns) {
  mbg__json_key(w, key);
  mbg__json_begin_array(w);
  for (int i = 0; i < rows; i++) {
    mbg__json_numbers(w, A + (size_t)i * (size_t)columns, columns);
  }
  mbg__json_end_array(w);
}

static void matrices(mbg__json_writer *w, const mbg_linearize *s, int derivative) {
  for (char q = 'A'; q <= 'D'; q++) {
    int rows = 0, columns = 0;
    const double *A = mbg_linearize_matrix(s, q, &rows, &columns);
    matrix(w, (const char[]){q, 0}, derivative < 0 ? A : mbg_linearize_derivative(s, q, derivative), rows, columns);
  }
}

static void poles(mbg__json_writer *w, const mbg_linearize *s) {
  mbg__json_key(w, "poles");
  mbg__json_begin_array(w);
  for (int i = 0; i < s->summary.states; i++) {
    mbg__json_numbers(w, (const double[]){s->re[i], s->im[i]}, 2);
  }
  mbg__json_end_array(w);
}

static void derivatives(mbg__json_writer *w, const mbg_linearize *s) {
  mbg__json_key(w, "derivatives");
  mbg__json_begin_object(w);
  for (int i = 0; i < s->summary.parameters; i++) {
    char name[256];
    (void)mbg_model_parameter_name(s->model, s->by[i], name, sizeof(name));
    mbg__json_key(w, name);
    mbg__json_begin_object(w);
    matrices(w, s, i);
    mbg__json_end_object(w);
  }
  mbg__json_end_object(w);
}

int mbg_linearize_json(mbg_context *ctx, const mbg_linearize *s, char **text) {
  MBG_NEED(ctx, ctx && s && text);
  mbg__json_writer w;
  mbg__json_writer_init(&w, ctx, true);
  mbg__json_begin_object(&w);
  mbg__json_key(&w, "model");
  mbg__json_string(&w, s->summary.model);
  mbg__json_key(&w, "at");
  mbg__json_string(&w, mbg_linearize_at_name((int)s->summary.at));
  mbg__json_key(&w, "time");
  mbg__json_number(&w, s->summary.time);
  mbg__json_key(&w, "degrees_of_freedom");
  mbg__json_integer(&w, s->summary.freedoms);
  if (s->summary.position_freedoms != s->summary.freedoms) {
    mbg__json_key(&w, "position_freedoms");
    mbg__json_integer(&w, s->summary.position_freedoms);
  }
  mbg__json_key(&w, "redundant");
  mbg__json_integer(&w, s->summary.redundant);
  mbg__json_key(&w, "unstable");
  mbg__json_integer(&w, s->summary.unstable);
  mbg__json_key(&w, "condition");
  mbg__json_number(&w, s->summary.condition);
  names(&w, "states", s, s->summary.states, mbg_linearize_state);
  names(&w, "inputs", s, s->summary.inputs, mbg_linearize_input);
  names(&w, "outputs", s, s->summary.outputs, mbg_linearize_output);
  matrices(&w, s, -1);
  poles(&w, s);
  if (s->summary.parameters > 0) {
    derivatives(&w, s);
  }
  mbg__json_end_object(&w);
  return mbg__json_writer_hand_over(&w, text);
}

static void values(mbg__json_writer *w, const char *key, const mbg_linearize *s, int count, name_of get) {
  mbg__json_key(w, key);
  mbg__json_begin_array(w);
  for (int i = 0; i < count; i++) {
    mbg__json_number(w, get(s, i)->value);
  }
  mbg__json_end_array(w);
}

/* a sample: time, values, and what leads from it to the next one */
static void sample(mbg__json_writer *w, const mbg_transitions *t, int k) {
  const mbg_transitions_summary *about = &t->summary;
  const mbg_linearize *s = t->samples[k];
  mbg__json_begin_object(w);
  mbg__json_key(w, "time");
  mbg__json_number(w, s->summary.time);
  values(w, "x", s, about->states, mbg_linearize_state);
  values(w, "y", s, about->outputs, mbg_linearize_output);
  if (k < about->count) {
    matrix(w, "A", mbg_transitions_matrix(t, k, 'A'), about->states, about->states);
    matrix(w, "B", mbg_transitions_matrix(t, k, 'B'), about->states, about->inputs);
  }
  matrix(w, "C", s->matrix[2], about->outputs, about->states);
  matrix(w, "D", s->matrix[3], about->outputs, about->inputs);
  mbg__json_end_object(w);
}

int mbg_transitions_json(mbg_context *ctx, const mbg_transitions *t, char **text) {
  MBG_NEED(ctx, ctx && t && text);
  const mbg_transitions_summary *about = &t->summary;
  mbg__json_writer w;
  mbg__json_writer_init(&w, ctx, true);
  mbg__json_begin_object(&w);
  mbg__json_key(&w, "model");
  mbg__json_string(&w, about->model);
  mbg__json_key(&w, "formulation");
  mbg__json_string(&w, about->formulation);
  mbg__json_key(&w, "start");
  mbg__json_number(&w, about->start);
  mbg__json_key(&w, "interval");
  mbg__json_number(&w, about->interval);
  names(&w, "states", t->samples[0], about->states, mbg_linearize_state);
  names(&w, "inputs", t->samples[0], about->inputs, mbg_linearize_input);
  names(&w, "outputs", t->samples[0], about->outputs, mbg_linearize_output);
  mbg__json_key(&w, "samples");
  mbg__json_begin_array(&w);
  for (int k = 0; k <= about->count; k++) {
    sample(&w, t, k);
  }
  mbg__json_end_array(&w);
  mbg__json_end_object(&w);
  return mbg__json_writer_hand_over(&w, text);
}
