/* Results of a run at its nodes: signals, attributes, the last state. */
#include "event/event.h"
#include "run/run_internal.h"

#include <string.h>

static int node_count(const mbg_run *run) { return run ? run->nodes.nnode : 0; }

/* ---------------------------------------------------------------------- nodes and signals */

bool mbg_run_partial(const mbg_run *run) { return run && run->nodes.partial; }

int mbg_run_node_count(const mbg_run *run) { return node_count(run); }

double mbg_run_node_time(const mbg_run *run, int node) {
  return node >= 0 && node < node_count(run) ? mbg__nodes_time(&run->nodes, node) : NAN;
}

/* the ends of steps and the samples have no weight in the rule of the integrals */
bool mbg_run_node_inner(const mbg_run *run, int node) {
  return node >= 0 && node < node_count(run) && (run->formulation->supports & MBG__ODE) && run->plan.step > 0 &&
         mbg__nodes_omega(&run->nodes, node) != 0;
}

int mbg_run_times(const mbg_run *run, double *t) {
  MBG_NEED(NULL, run && t);
  for (int i = 0; i < run->nodes.nnode; i++) {
    t[i] = mbg__nodes_time(&run->nodes, i);
  }
  return MBG_OK;
}

double mbg_run_signal(const mbg_run *run, int node, int signal) {
  for (int k = 0; node >= 0 && node < node_count(run) && k < run->nused; k++) {
    if (run->used[k] == signal) {
      return mbg__run_column(run, node, k);
    }
  }
  return NAN;
}

int mbg_run_signals(const mbg_run *run, double *values) {
  MBG_NEED(NULL, run && values);
  for (int node = 0; node < run->nodes.nnode; node++, values += run->m->nsignal) {
    for (int i = 0; i < run->m->nsignal; i++) {
      values[i] = NAN;
    }
    for (int k = 0; k < run->nused; k++) {
      values[run->used[k]] = mbg__run_column(run, node, k);
    }
  }
  return MBG_OK;
}

int mbg_run_kept_count(const mbg_run *run) { return run ? run->nused : 0; }

int mbg_run_kept_signal(const mbg_run *run, int kept) {
  return kept >= 0 && kept < mbg_run_kept_count(run) ? run->used[kept] : -1;
}

double mbg__run_column(const mbg_run *run, int node, int column) {
  const int place = run->nodes.place ? run->nodes.place[column] : column;
  return place < 0 ? (double)NAN : re(mbg__nodes_values(&run->nodes, node)[place]);
}

/* ---------------------------------------------------------------------- attributes */

int mbg_run_attribute_count(const mbg_run *run) { return run ? run->m->na : 0; }

static const mbg__attribute *attribute(const mbg_run *run, int index) {
  return index >= 0 && index < mbg_run_attribute_count(run) ? &run->m->attributes[index] : NULL;
}

const char *mbg_run_attribute_owner(const mbg_run *run, int index) {
  const mbg__attribute *a = attribute(run, index);
  return a ? a->owner : NULL;
}

const char *mbg_run_attribute_key(const mbg_run *run, int index) {
  const mbg__attribute *a = attribute(run, index);
  return a ? a->label->key : NULL;
}

const char *mbg_run_attribute_unit(const mbg_run *run, int index) {
  const mbg__attribute *a = attribute(run, index);
  return a ? (a->label->unit ? a->label->unit : "") : NULL;
}

/* reference sizes of units, so that numbers that happen to be zero are not hidden when ranked */
static double unit_reference(const mbg_model *m, const char *unit) {
  return !unit ? 0 : !strcmp(unit, "m") ? 0.1 * m->size : !strcmp(unit, "rad") ? 0.1 : 0;
}

int mbg_run_attributes(const mbg_run *run, double *values, double *scales) {
  MBG_NEED(NULL, run);
  for (int i = 0; i < run->m->na; i++) {
    const double value = re(run->design->attr[i]);
    if (values) {
      values[i] = value;
    }
    if (scales) {
      scales[i] = fmax(fabs(value), unit_reference(run->m, run->m->attributes[i].label->unit));
    }
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- frames, twists, modal coordinates */

int mbg_run_frames(const mbg_run *run, double *frames) {
  MBG_NEED(NULL, run && frames && run->nodes.npose > 0);
  const size_t n = 12 * (size_t)mbg__frames(run->m);
  for (int node = 0; node < run->nodes.nnode; node++) {
    const real *pose = mbg__nodes_values(&run->nodes, node) + run->nused;
    for (size_t i = 0; i < n; i++) {
      *frames++ = re(pose[i]);
    }
  }
  return MBG_OK;
}

int mbg_run_twists(const mbg_run *run, double *twists) {
  MBG_NEED(NULL, run && twists && run->nodes.npose > 0);
  for (int node = 0; node < run->nodes.nnode; node++) {
    const real *v = mbg__nodes_values(&run->nodes, node) + run->nused + 12 * (size_t)run->m->nbody;
    for (int b = 0; b < mbg__frames(run->m); b++) {
      for (int i = 0; i < 6; i++) {
        *twists++ = re(v[run->m->bodies[b].voff + i]);
      }
    }
  }
  return MBG_OK;
}

/* coordinate eta_j is a component of the origin of a carrier, its rate a component of the twist */
int mbg_run_modal(const mbg_run *run, double *coordinates, double *rates) {
  MBG_NEED(NULL, run && coordinates && rates && run->nodes.npose > 0);
  const mbg_model *m = run->m;
  for (int node = 0; node < run->nodes.nnode; node++) {
    const real *pose = mbg__nodes_values(&run->nodes, node) + run->nused, *v = pose + 12 * (size_t)m->nbody;
    for (int i = 0; i < m->nmodal; i++) {
      for (int j = 0; j < m->modals[i].n; j++) {
        const int body = mbg__modal_carrier(&m->modals[i], j);
        *coordinates++ = re(pose[12 * (size_t)body + 9 + (size_t)(j % 3)]);
        *rates++ = re(v[m->bodies[body].voff + j % 3]);
      }
    }
  }
  return MBG_OK;
}

/* ---------------------------------------------------------------------- events */

int mbg_run_event_count(const mbg_run *run) { return node_count(run) > 0 ? run->nodes.nfiring : 0; }

int mbg_run_event_at(const mbg_run *run, int index, mbg_run_event *event) {
  MBG_NEED(NULL, run && event && index >= 0 && index < mbg_run_event_count(run));
  const mbg__firing *f = &run->nodes.firings[index];
  *event = (mbg_run_event){.name = run->m->events[f->event].name,
                           .time = f->t,
                           .rate = f->gdot,
                           .grazing = f->grazing,
                           .impulse = re(f->impulse),
                           .jump = f->jump,
                           .node = f->node};
  return MBG_OK;
}

/* ---------------------------------------------------------------------- without a copy */

/* no array of doubles in the twin */
const double *mbg_run_time_array(const mbg_run *run) {
  return node_count(run) > 0 && !MBG__TWIN ? (const double *)(const void *)run->nodes.t : NULL;
}

/* the twin, whose scalars are complex, has no array of doubles */
const double *mbg_run_value_array(const mbg_run *run) {
  return sizeof(real) == sizeof(double) && node_count(run) > 0 && !run->nodes.place ? (const void *)run->nodes.y : NULL;
}

int mbg_run_value_width(const mbg_run *run) {
  return node_count(run) > 0 && !run->nodes.place ? run->nodes.nused + run->nodes.npose : 0;
}

static bool has_pose(const mbg_run *run, int body) {
  return node_count(run) > 0 && run->nodes.npose > 0 && body >= 0 && body < mbg__frames(run->m);
}

int mbg_run_frame_column(const mbg_run *run, int body) { return has_pose(run, body) ? run->nused + 12 * body : -1; }

int mbg_run_twist_column(const mbg_run *run, int body) {
  return has_pose(run, body) ? run->nused + 12 * run->m->nbody + run->m->bodies[body].voff : -1;
}

/* ---------------------------------------------------------------------- state */

void mbg__run_flatten(const mbg__frame *H, const real *v, double frame[12], double twist[6]) {
  for (int i = 0; i < 9; i++) {
    frame[i] = re(H->R[i]);
  }
  for (int i = 0; i < 3; i++) {
    frame[9 + i] = re(H->x[i]);
  }
  for (int i = 0; i < 6; i++) {
    twist[i] = re(v[i]);
  }
}

int mbg__run_state_take(mbg_context *ctx, mbg__arena *arena, const mbg_model *m, mbg__run_state *state) {
  state->H = MBG_TAKE(arena, mbg__frame, m->nbody);
  state->v = MBG_TAKE(arena, real, m->nw);
  state->turns = MBG_TAKE(arena, int, m->nturn);
  state->marks = MBG_TAKE(arena, double, mbg__events_marks(m));
  return mbg__arena_check(ctx, arena);
}

mbg__run_state mbg__run_began(const mbg_run *run) {
  const mbg__start_result *start = mbg__start_result_of(run->start);
  return (mbg__run_state){.t = re(start->t), .H = start->H, .v = start->v, .turns = start->turns, .marks = run->marks};
}

int mbg__run_last(const mbg_run *run, mbg__run_state *out) {
  if (!run->simulated) {
    return MBG_ERROR_INPUT;
  }
  mbg__events_marks_copy(run->m, run->marks, out->marks);
  mbg__events_marks_after(run->m, run->nodes.nfiring, run->nodes.firings, run->nodes.nnode - 1, out->marks);
  return run->formulation->ops->last(run->work, &out->t, out->H, out->v, out->turns);
}

int mbg_run_last_state(const mbg_run *run, double *t, double *frames, double *twists) {
  MBG_NEED(NULL, run && t && frames && twists);
  const mbg_model *m = run->m;
  mbg__arena scratch;
  mbg__arena_init(&scratch, &run->arena.allocator);
  mbg__run_state s;
  int err = mbg__run_state_take(NULL, &scratch, m, &s);
  err = err < 0 ? err : mbg__run_last(run, &s);
  for (int b = 0; err == MBG_OK && b < mbg__frames(m); b++) {
    mbg__run_flatten(&s.H[b], s.v + m->bodies[b].voff, frames + 12 * b, twists + 6 * b);
  }
  *t = err == MBG_OK ? s.t : *t;
  mbg__arena_destroy(&scratch);
  return err;
}
