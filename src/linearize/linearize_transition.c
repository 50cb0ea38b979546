/* Transitions along a run (theory 6, section 6). From sample to sample

     x_k  --lift-->  (H, v)_k  --run of the interval-->  (H, v)  --read off-->  x_(k+1)

   A piece of the run starts at the state that belongs to x_k alone: rates that the steps have left off the rows are
   brought back to them with the rates of the coordinates as they are. One adjoint from the end has a row for each
   state: with its cotangents (gw, gv) of the start and ga of the attributes,

     A_k = gw w + gv dv over the lifts of states,    B_k = gw w + gv dv + ga da over those of inputs */
#include "linearize/linearize.h"

#include "mbgrad/model.h"

#include <string.h>

typedef struct {
  mbg_context *ctx;
  mbg_run *run;
  const mbg_model *m;
  mbg_model plain; /* without criteria */
  mbg_linearize_options opt;
  mbg__arena arena;
  double *p;
  mbg__run_state state;        /* the present sample */
  mbg__linearize_work work[2]; /* linear models there and at the sample before */
  mbg__linearize_work *k;      /* the first of them */
  real *poses, *gw, *gv, *ga;  /* see read_rows and mbg__run_pull_end */
  mbg_transitions *out;
} transit;

/* ---------------------------------------------------------------------- samples */

static void end_work(mbg__linearize_work *k) {
  if (k->ctx) {
    mbg__linearize_end(k);
    k->ctx = NULL;
  }
}

/* a linear model begins at the present state: coordinates are known */
static int begin_sample(transit *s) {
  mbg__linearize_work *k = s->k = s->k == s->work ? s->work + 1 : s->work;
  int err = MBG_OK;
  *k = (mbg__linearize_work){.ctx = s->ctx, .given = s->m, .opt = s->opt};
  mbg__arena_init(&k->arena, mbg__context_allocator(s->ctx));
  k->opt.at = MBG_LINEARIZE_RUN;
  k->p = MBG_TAKE(&k->arena, real, s->m->np);
  MBG_TRY(mbg__arena_check(s->ctx, &k->arena));
  for (int i = 0; i < s->m->np; i++) {
    k->p[i] = s->p[i];
  }
  MBG_TRY(mbg__linearize_extend(k));
  MBG_TRY(mbg__linearize_lists(k));
  MBG_TRY(mbg__linearize_point_at(k, &s->state));
  MBG_TRY(mbg__linearize_coordinates(k));
done:
  return err;
}

/* ... and ends, with rates that satisfy the rows; it becomes sample n of the result */
static int end_sample(transit *s, int n) {
  mbg__linearize_work *k = s->k;
  int err = MBG_OK;
  const mbg__state state = mbg__linearize_state(k);
  MBG_TRY(mbg__linear_settle(s->ctx, k->at.sys, &k->spec, &state, NULL, s->state.v));
  memcpy(k->at.v, s->state.v, (size_t)s->m->nw * sizeof(real));
  MBG_TRY(mbg__linearize_matrices(k));
  MBG_TRY(mbg__linearize_object(k, &s->out->samples[n]));
done:
  return err;
}

/* coordinates and outputs of the start are those of all samples; names live with the first one */
static int keep_names(transit *s) {
  const mbg_linearize *first = s->out->samples[0];
  const int f = first->summary.position_freedoms, n = first->summary.outputs;
  const char **coordinates = MBG_TAKE(&s->arena, const char *, f), **outputs = MBG_TAKE(&s->arena, const char *, n);
  if (mbg__arena_check(s->ctx, &s->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int i = 0; i < f; i++) {
    coordinates[i] = first->states[i].name;
  }
  for (int i = 0; i < n; i++) {
    outputs[i] = first->outputs[i].name;
  }
  s->opt.ncoordinate = f;
  s->opt.coordinates = coordinates;
  s->opt.noutput = n;
  s->opt.outputs = outputs;
  return MBG_OK;
}

/* ---------------------------------------------------------------------- an interval */

/* cotangents of the states at the end of an interval: poses (n x 2 nw), ga (n x na) */
static int read_rows(transit *s) {
  const mbg__linearize_work *k = s->k;
  const size_t nw = (size_t)s->m->nw, na = (size_t)s->m->na;
  const int n = s->out->summary.states, places = mbg__linear_places(&k->spec);
  const mbg__state state = mbg__linearize_state(k);
  int err = MBG_OK;
  memset(s->poses, 0, (size_t)n * 2 * nw * sizeof(real));
  memset(s->ga, 0, (size_t)n * na * sizeof(real));
  MBG_TRY(mbg__system_update(s->ctx, k->at.sys, &state));
  MBG_TRY(mbg__system_linearize(s->ctx, k->at.sys));
  MBG_TRY(mbg__system_linearize_signals(s->ctx, k->at.sys));
  for (int i = 0; i < n; i++) {
    const bool rate = i >= places;
    real *gw = s->poses + 2 * nw * (size_t)i;
    mbg__q_pull(k->at.sys, &k->spec.q[rate ? mbg__linear_rate(&k->spec, i - places) : i], rate, gw, gw + nw,
                s->ga + na * (size_t)i);
  }
done:
  return err;
}

/* row i of A_k and B_k from the lifts at the beginning of the interval */
static int fill_row(transit *s, const mbg__linear *lift, const real *da, int interval, int i) {
  const size_t nw = (size_t)s->m->nw, na = (size_t)s->m->na, row = (size_t)i;
  const size_t n = (size_t)s->out->summary.states, nin = (size_t)s->out->summary.inputs, at = (size_t)interval;
  double *A = s->out->matrix[0] + (at * n + row) * n, *B = s->out->matrix[1] + (at * n + row) * nin;
  for (size_t c = 0; c < n + nin; c++) {
    real x = vn_dot((int)nw, s->gw + nw * row, lift->w + nw * c) + vn_dot((int)nw, s->gv + nw * row, lift->dv + nw * c);
    x += c < n ? 0 : vn_dot((int)na, s->ga + na * row, da + na * (c - n));
    *(c < n ? &A[c] : &B[c - n]) = re(x);
    if (!isfinite(re(x))) {
      const mbg_linearize *sample = s->out->samples[interval];
      return mbg__fail(s->ctx, MBG_ERROR_CONVERGENCE,
                       "t = %g: the transition is not finite: %s by %s; take smaller steps", s->state.t,
                       sample->states[i].name, c < n ? sample->states[c].name : sample->inputs[c - n].name);
    }
  }
  return MBG_OK;
}

/* attributes along each input (ninput x na) */
static int input_directions(transit *s, mbg__linearize_work *k, real **da) {
  const mbg__linear_spec *spec = &k->spec;
  const size_t na = (size_t)s->m->na;
  mbg__arena *arena = &k->arena;
  real *dp = MBG_TAKE(arena, real, s->m->np);
  *da = MBG_TAKE(arena, real, na * (size_t)spec->ninput);
  const int err = mbg__arena_check(s->ctx, arena);
  for (int c = 0; err == MBG_OK && c < spec->ninput; c++) {
    mbg__linear_input_push(k->at.design, &spec->inputs[c], dp, *da + na * (size_t)c);
  }
  return err;
}

static int check_steps(transit *s, const mbg_run *piece) {
  const int steps = mbg_run_node_count(piece) - 1, least = mbg__run_least_steps(piece);
  return steps >= least
             ? MBG_OK
             : mbg__fail(s->ctx, MBG_ERROR_INPUT,
                         "the interval of %g s has %d step%s of formulation '%s', which needs %d to get going "
                         "after each sample; take smaller steps, a longer interval, or formulation 'ali3p', "
                         "'dca' or 'qr'",
                         s->out->summary.interval, steps, steps == 1 ? "" : "s", mbg_run_formulation(piece), least);
}

/* the state at the end of a piece becomes the present one; its linear model begins */
static int move_on(transit *s, const mbg_run *piece) {
  int err = MBG_OK;
  MBG_TRY(mbg__run_last(piece, &s->state));
  const int status = begin_sample(s);
  if (status == MBG_ERROR_INPUT && s->k->at.result) {
    return mbg__fail(s->ctx, MBG_ERROR_SINGULAR,
                     "t = %g: the coordinates of the start do not describe this position; choose others", s->state.t);
  }
  MBG_TRY(status);
done:
  return err;
}

static int interval(transit *s, int n) {
  const mbg_transitions_summary *about = &s->out->summary;
  mbg__linearize_work *from = s->k;
  mbg_run *piece = NULL;
  real *da;
  int err = MBG_OK;
  const int mark = mbg__message_mark(s->ctx);
  MBG_TRY(input_directions(s, from, &da));
  MBG_TRY(mbg__run_piece(s->ctx, s->run, &s->plain, &s->state, about->start + (n + 1) * about->interval, &piece));
  MBG_TRY(check_steps(s, piece));
  if (n > 0) {
    mbg__message_rewind(s->ctx, mark); /* what the first piece says about the model holds for all */
  }
  MBG_TRY(move_on(s, piece));
  MBG_TRY(read_rows(s));
  MBG_TRY(mbg__run_pull_end(s->ctx, piece, about->states, s->poses, s->gw, s->gv, s->ga));
  for (int i = 0; i < about->states; i++) {
    MBG_TRY(fill_row(s, &from->linear, da, n, i));
  }
  MBG_TRY(end_sample(s, n + 1));
done:
  mbg_run_destroy(piece);
  end_work(from);
  return err;
}

/* ---------------------------------------------------------------------- the whole */

static int plan(transit *s, double length) {
  mbg_transitions_summary *about = &s->out->summary;
  const double start = s->state.t, end = mbg_run_end(s->run);
  if (!isfinite(length) || !(length > 0)) {
    return mbg__fail(s->ctx, MBG_ERROR_INPUT, "the interval of transitions must be a positive time");
  }
  const double count = floor((end - start) / length * (1 + 1e-12) + 1e-9);
  if (!(count >= 1 && count <= 1e6)) {
    return mbg__fail(s->ctx, MBG_ERROR_INPUT, "the run from %g s to %g s has %s intervals of %g s", start, end,
                     count < 1 ? "no" : "more than a million", length);
  }
  *about = (mbg_transitions_summary){.model = s->m->name ? s->m->name : "",
                                     .formulation = mbg_run_formulation(s->run),
                                     .start = start,
                                     .interval = length,
                                     .count = (int)count};
  return MBG_OK;
}

static int make_result(transit *s) {
  const mbg__linearize_work *k = s->k;
  mbg_transitions_summary *about = &s->out->summary;
  const size_t n = (size_t)mbg__linear_states(&k->spec), nin = (size_t)k->spec.ninput, nw = (size_t)s->m->nw;
  const size_t count = (size_t)about->count;
  about->states = (int)n;
  about->inputs = k->spec.ninput;
  about->outputs = k->spec.noutput;
  s->out->samples = MBG_TAKE(&s->out->arena, mbg_linearize *, count + 1);
  s->out->matrix[0] = MBG_TAKE(&s->out->arena, double, count *n *n);
  s->out->matrix[1] = MBG_TAKE(&s->out->arena, double, count *n *nin);
  s->poses = MBG_TAKE(&s->arena, real, n * 2 * nw);
  s->gw = MBG_TAKE(&s->arena, real, n * nw);
  s->gv = MBG_TAKE(&s->arena, real, n * nw);
  s->ga = MBG_TAKE(&s->arena, real, n * (size_t)s->m->na);
  const int err = mbg__arena_check(s->ctx, &s->out->arena);
  return err < 0 ? err : mbg__arena_check(s->ctx, &s->arena);
}

static int follow(transit *s, double length) {
  int err = MBG_OK;
  s->p = MBG_TAKE(&s->arena, double, s->m->np);
  MBG_TRY(mbg__run_state_take(s->ctx, &s->arena, s->m, &s->state));
  (void)mbg_run_parameters(s->run, s->p);
  MBG_TRY(mbg__run_first(s->ctx, s->run, &s->state));
  MBG_TRY(plan(s, length));
  MBG_TRY(begin_sample(s));
  MBG_TRY(make_result(s));
  MBG_TRY(end_sample(s, 0));
  MBG_TRY(keep_names(s));
  mbg__linearize_note_constant(s->ctx, s->out->samples[0]);
  for (int n = 0; n < s->out->summary.count; n++) {
    MBG_TRY(interval(s, n));
  }
done:
  return err;
}

static int check_options(mbg_context *ctx, const mbg_linearize_options *o) {
  MBG_NEED(ctx,
           (o->ninput <= 0 || o->inputs) && (o->noutput <= 0 || o->outputs) && (o->ncoordinate <= 0 || o->coordinates));
  return o->gradient ? mbg__fail(ctx, MBG_ERROR_UNSUPPORTED, "transitions have no derivatives by the parameters")
                     : MBG_OK;
}

int mbg_transitions_create(mbg_context *ctx, mbg_run *run, const mbg_linearize_options *options, double length,
                           mbg_transitions **out) {
  MBG_NEED(ctx, ctx && run && out);
  transit s = {.ctx = ctx, .run = run, .m = mbg__run_model(run), .plain = *mbg__run_model(run)};
  int err = MBG_OK;
  *out = NULL;
  s.plain.ncriterion = 0;
  mbg__arena_init(&s.arena, mbg__context_allocator(ctx));
  MBG_TRY(mbg__linearize_options_take(ctx, options, &s.opt));
  MBG_TRY(check_options(ctx, &s.opt));
  s.out = mbg__alloc_zero(ctx, 1, sizeof(*s.out));
  MBG_TRY(s.out ? MBG_OK : mbg__fail_memory(ctx));
  mbg__arena_init(&s.out->arena, mbg__context_allocator(ctx));
  MBG_TRY(follow(&s, length));
  *out = s.out;
done:
  end_work(&s.work[0]);
  end_work(&s.work[1]);
  mbg__arena_destroy(&s.arena);
  if (err < 0) {
    mbg_transitions_destroy(s.out);
  }
  return err;
}

void mbg_transitions_destroy(mbg_transitions *t) {
  if (t) {
    const mbg_allocator allocator = t->arena.allocator;
    for (int i = 0; t->samples && i <= t->summary.count; i++) {
      mbg_linearize_destroy(t->samples[i]);
    }
    mbg__arena_destroy(&t->arena);
    allocator.release(allocator.user, t);
  }
}

const mbg_transitions_summary *mbg_transitions_get_summary(const mbg_transitions *t) { return t ? &t->summary : NULL; }

const mbg_linearize *mbg_transitions_sample(const mbg_transitions *t, int k) {
  return t && k >= 0 && k <= t->summary.count ? t->samples[k] : NULL;
}

const double *mbg_transitions_matrix(const mbg_transitions *t, int k, char which) {
  if (!t || k < 0 || k >= t->summary.count || (which != 'A' && which != 'B')) {
    return NULL;
  }
  const size_t n = (size_t)t->summary.states, columns = which == 'A' ? n : (size_t)t->summary.inputs;
  return t->matrix[which - 'A'] + (size_t)k * n * columns;
}
