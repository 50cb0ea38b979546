/* Experiments in threads and ranks: what is done with each of them, and which results all ranks get. */
#include "problems/cases.h"
#include "problems/identify.h"
#include "problems/sequence.h"
#include "run/run.h"

#include <string.h>

static void evaluate(void *user, const void *stage, int k) {
  mbg_identify *id = user;
  mbg__experiment *e = &id->experiment[k];
  e->status = ((const mbg__fit_stage *)stage)->evaluate(e->ctx, id, e);
}

static void results(void *user, const void *stage, int k, mbg__parcel *p) {
  const mbg__fit_stage *s = stage;
  mbg_identify *id = user;
  if (s->results) {
    s->results(id, &id->experiment[k], p);
  }
}

static uint64_t sum_of(const void *user) {
  const mbg_identify *id = user;
  uint64_t h = mbg__sum(MBG__SUM_START, id->p0, (size_t)id->np * sizeof(double));
  h = mbg__sum(h, id->at, (size_t)id->n * sizeof(double));
  return mbg__sum(h, &id->m, sizeof(id->m));
}

int mbg__identify_make_work(mbg_context *ctx, mbg_identify *id) {
  mbg__work_case *cases = MBG_TAKE(&id->arena, mbg__work_case, id->nexperiment);
  for (int k = 0; cases && k < id->nexperiment; k++) {
    mbg__experiment *e = &id->experiment[k];
    const char *run = id->nexperiment > 1 ? mbg_model_active_run(e->model) : NULL;
    cases[k] = (mbg__work_case){.ctx = e->ctx, .run = run, .status = &e->status};
  }
  id->work = (mbg__case_work){.count = id->nexperiment,
                              .threads = id->o.threads,
                              .ranks = id->o.ranks,
                              .cases = cases,
                              .user = id,
                              .evaluate = evaluate,
                              .results = results,
                              .sum = sum_of};
  return mbg__arena_check(ctx, &id->arena);
}

int mbg__identify_evaluate_all(mbg_context *ctx, mbg_identify *id, const mbg__fit_stage *stage) {
  int status;
  const int err = mbg__work_evaluate(ctx, &id->work, stage, true, &status);
  return err < 0 ? err : status;
}

/* ---------------------------------------------------------------------- first simulations */

/* The first simulation of each run decides which redundant rows are dropped, and its steps: it is always the one at the
   start, so that what follows does not depend on where an identification was resumed. */
static int first_of(mbg_context *ctx, mbg_identify *id, mbg__experiment *e) {
  int err = MBG_OK;
  mbg__case_parameters(e->model, id->p0, e->p);
  MBG_TRY(mbg_run_set_parameters(ctx, e->run, e->p));
  MBG_TRY(mbg_run_simulate(ctx, e->run));
  MBG_TRY(mbg_run_partial(e->run) ? MBG_ERROR_INTERRUPTED : MBG_OK);
  e->step = mbg__run_step(e->run);
  for (int k = e->channel; k < e->channel + e->nchannel; k++) {
    id->channel[k].shown.samples = mbg__criteria_samples(mbg__run_criteria_of(e->run), id->channel[k].criterion);
  }
done:
  return err;
}

static void first_results(mbg_identify *id, mbg__experiment *e, mbg__parcel *p) {
  mbg__parcel_numbers(p, 1, &e->step);
  for (int k = e->channel; k < e->channel + e->nchannel; k++) {
    mbg__parcel_bytes(p, sizeof(int), &id->channel[k].shown.samples);
  }
}

int mbg__identify_first(mbg_context *ctx, mbg_identify *id) {
  static const mbg__fit_stage first = {first_of, first_results};
  const int err = mbg__identify_evaluate_all(ctx, id, &first);
  return err == MBG_ERROR_INTERRUPTED
             ? mbg__fail(ctx, err, "interrupted during the first simulation; there is no result")
             : err;
}

/* ---------------------------------------------------------------------- samples */

static int samples_of(mbg_context *ctx, mbg_identify *id, mbg__experiment *e) {
  (void)ctx;
  for (int k = e->channel; k < e->channel + e->nchannel; k++) {
    const mbg__channel *c = &id->channel[k];
    for (int i = 0; i < c->shown.samples; i++) {
      const mbg__criteria_sample s = mbg__criteria_sample_at(mbg__run_criteria_of(e->run), c->criterion, i);
      c->time[i] = s.time;
      c->data[i] = s.value;
    }
  }
  return MBG_OK;
}

static void sample_results(mbg_identify *id, mbg__experiment *e, mbg__parcel *p) {
  for (int k = e->channel; k < e->channel + e->nchannel; k++) {
    mbg__parcel_numbers(p, (size_t)id->channel[k].shown.samples, id->channel[k].time);
    mbg__parcel_numbers(p, (size_t)id->channel[k].shown.samples, id->channel[k].data);
  }
}

int mbg__identify_samples(mbg_context *ctx, mbg_identify *id) {
  static const mbg__fit_stage samples = {samples_of, sample_results};
  return mbg__identify_evaluate_all(ctx, id, &samples);
}

/* ---------------------------------------------------------------------- sequences of events */

static int events_of(mbg_context *ctx, mbg_identify *id, mbg__experiment *e) {
  (void)ctx, (void)id;
  e->events = mbg__sequence_sum(e->run);
  return MBG_OK;
}

static void event_results(mbg_identify *id, mbg__experiment *e, mbg__parcel *p) {
  (void)id;
  mbg__parcel_bytes(p, sizeof(e->events), &e->events);
}

int mbg__identify_sequence(mbg_context *ctx, mbg_identify *id, const double *x, uint64_t *sum) {
  static const mbg__fit_stage sequences = {events_of, event_results};
  int err = MBG_OK;
  *sum = 0;
  if (id->model->nevent == 0) {
    return MBG_OK;
  }
  MBG_TRY(mbg__identify_simulate(ctx, id, x));
  if (err > 0) {
    return MBG_OK;
  }
  MBG_TRY(mbg__identify_evaluate_all(ctx, id, &sequences));
  for (int k = 0; k < id->nexperiment; k++) {
    *sum = mbg__sum(k == 0 ? MBG__SUM_START : *sum, &id->experiment[k].events, sizeof(uint64_t));
  }
done:
  return err;
}

static int note_of(mbg_context *ctx, mbg_identify *id, mbg__experiment *e) {
  (void)id;
  mbg__sequence_note(ctx, e->run, NULL, 0);
  return MBG_OK;
}

int mbg__identify_note_events(mbg_context *ctx, mbg_identify *id) {
  static const mbg__fit_stage notes = {note_of, NULL};
  int err = MBG_OK;
  if (id->model->nevent > 0) {
    MBG_TRY(mbg__identify_evaluate_all(ctx, id, &notes));
    mbg__sequence_note_changes(ctx, id->changes);
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- masses */

static int mass_of(mbg_context *ctx, mbg_identify *id, mbg__experiment *e) {
  const int n = mbg_run_attribute_count(e->run);
  double *values = mbg__alloc(ctx, (size_t)n + 1, sizeof(double));
  (void)id;
  if (!values) {
    return mbg__fail_memory(ctx);
  }
  (void)mbg_run_attributes(e->run, values, NULL);
  e->mass = 0;
  for (int i = 0; i < n; i++) {
    e->mass += !strcmp(mbg_run_attribute_key(e->run, i), "mass") ? values[i] : 0;
  }
  mbg__free(ctx, values);
  return MBG_OK;
}

static void mass_results(mbg_identify *id, mbg__experiment *e, mbg__parcel *p) {
  (void)id;
  mbg__parcel_numbers(p, 1, &e->mass);
}

int mbg__identify_masses(mbg_context *ctx, mbg_identify *id) {
  static const mbg__fit_stage masses = {mass_of, mass_results};
  return mbg__identify_evaluate_all(ctx, id, &masses);
}
