/* The search for the first event in a step (theory 7, section 2). */
#include "event/event_internal.h"

#include <float.h>
#include <string.h>

enum { LOCATE_MAX = 100, HALVINGS = 40, DEPTH = 8, SECANTS = 5 };

/* see is_far; rates are looked at after so many nodes */
enum { FAR = 3, LOOK = 16 };

/* events closer than this share of a step are at one time */
static const double together = 1e-9;

typedef struct {
  mbg_context *ctx;
  mbg__events *ev;
  const mbg__event_steps *steps;
  real t, h;
  double limit;  /* length of the step to the first event so far, h: none */
  double length; /* of the trial */
  double looked; /* where gm and gdm are known */
  bool shorter;  /* the trial was a longer one, and is that of its length but for rounding */
} search;

/* guards at the end of a step of this length; shorter: to rounding, and not the step that a run takes */
static int try_by(search *s, double length, bool shorter) {
  const real h = length == re(s->h) ? s->h : length;
  int err = MBG_OK;
  MBG_TRY((shorter ? s->steps->shorten : s->steps->step)(s->ctx, s->steps->user, h));
  s->length = length;
  s->shorter = shorter;
  const mbg__state state = s->steps->state(s->ctx, s->steps->user, true);
  MBG_TRY(mbg__guards_at(s->ctx, s->ev, &state, s->ev->gt, s->ev->gdt));
  s->ev->rated_t = true;
done:
  return err;
}

static int try_length(search *s, double length) {
  return length == s->length && !s->shorter ? MBG_OK : try_by(s, length, false);
}

/* ... shorter than the trial */
static int try_shorter(search *s, double length) {
  return s->steps->shorten && !s->shorter ? try_by(s, length, true) : try_length(s, length);
}

/* ---------------------------------------------------------------------- guards that are far from 0 */

/* No rates are needed where a guard is at both ends so far from 0 that it would have to move several times as fast as
   by its values in this step and the last, and by its rate where that was known last. */
static bool is_far(const search *s, int i, double length) {
  const mbg__events *ev = s->ev;
  const double g0 = ev->g[i], g1 = ev->gt[i], now = fabs(g1 - g0) / s->length;
  const double known = ev->slope[i] > ev->speed[i] ? ev->slope[i] : ev->speed[i], rate = now > known ? now : known;
  const double least = ev->open[i] ? fmin(g0, g1) : -fmax(g0, g1);
  return !ev->at_zero[i] && least > FAR * length * rate;
}

/* a guard that is closed until its side changes has no event */
static bool opens(const mbg__events *ev, int i) { return !ev->open[i] && ev->gt[i] > 0; }

/* the length of the step to a time event, 0: not in this step */
static double to_time(const search *s, int i, double beyond) {
  const double t = re(s->t), h = re(s->h), length = re(s->ev->design->attr[s->ev->m->events[i].at]) - t;
  const double near = 1e-12 * (fabs(t) + h);
  if (s->ev->fired[i] > 0 || length <= near || length > beyond + near) {
    return 0;
  }
  return fabs(length - h) <= near ? h : length;
}

/* may there be an event? Rates are needed for those of guards */
static bool any_near(const search *s, double length, bool *rates) {
  bool any = false;
  *rates = false;
  for (int i = 0; i < s->ev->m->nevent; i++) {
    const bool armed = s->ev->armed[i], guard = s->ev->m->events[i].guard >= 0;
    *rates = *rates || (armed && guard && !opens(s->ev, i) && !is_far(s, i, length));
    any = any || *rates || (armed && !guard && to_time(s, i, length) > 0);
  }
  return any;
}

/* guards at the end of the first trial; rates there, and at its start, where they are needed. beyond: as in search.
   any: there may be an event */
static int begin(search *s, double beyond, bool *any) {
  mbg__events *ev = s->ev;
  bool rates = false;
  int err = MBG_OK;
  const mbg__state end = s->steps->state(s->ctx, s->steps->user, true);
  ev->rated_t = mbg__events_disturb(ev) || ev->unrated >= LOOK;
  if (!ev->rated_t) {
    MBG_TRY(mbg__guard_values(s->ctx, ev, &end, ev->gt));
    *any = any_near(s, beyond, &rates);
  }
  if (ev->rated_t || rates) {
    MBG_TRY(mbg__guards_at(s->ctx, ev, &end, ev->gt, ev->gdt));
    for (int i = 0; i < ev->m->nevent; i++) {
      ev->speed[i] = fmax(ev->speed[i], fabs(ev->gdt[i]));
    }
    ev->rated_t = true;
    *any = any_near(s, beyond, &rates);
  }
  if (!ev->rated && rates) {
    const mbg__state start = s->steps->state(s->ctx, s->steps->user, false);
    MBG_TRY(mbg__guards_at(s->ctx, ev, &start, ev->gm, ev->gd));
    ev->rated = true;
  }
done:
  return err;
}

/* ---------------------------------------------------------------------- the first crossing */

/* the local minimum of the cubic through (0, g0), (1, g1) with slopes d0, d1; 1 when there is none inside below 0 */
static double dip(double g0, double d0, double g1, double d1) {
  const double b = 3 * (g1 - g0) - 2 * d0 - d1, a = d0 + d1 - 2 * (g1 - g0), disc = b * b - 3 * a * d0;
  const double s = !(disc > 0) ? 1 : b > 0 ? -d0 / (b + sqrt(disc)) : (sqrt(disc) - b) / (3 * a);
  return s > 0 && s < 1 && g0 + s * (d0 + s * (b + s * a)) <= 0 ? s : 1;
}

/* g of the cubic in the middle */
static double middle(double g0, double d0, double g1, double d1) { return (g0 + g1) / 2 + (d0 - d1) / 8; }

/* guards inside the trial of length h, into gm and gdm */
static int look(search *s, double length) {
  mbg__events *ev = s->ev;
  const size_t bytes = (size_t)ev->m->nevent * sizeof(double);
  int err = MBG_OK;
  if (length == s->looked) {
    return MBG_OK;
  }
  if (s->steps->inside && length < s->length) {
    const mbg__state state = s->steps->inside(s->ctx, s->steps->user, length);
    MBG_TRY(mbg__guards_at(s->ctx, ev, &state, ev->gm, ev->gdm));
  } else {
    MBG_TRY(try_length(s, length));
    memcpy(ev->gm, ev->gt, bytes);
    memcpy(ev->gdm, ev->gdt, bytes);
  }
  s->looked = length;
done:
  return err;
}

/* guard i along a part of the step, or (side -1) the guard with its sign changed */
typedef struct {
  double a, ga, da, b, gb, db;
  double side;
} part;

static bool crossed(const part *p, double g) { return p->side > 0 ? g <= 0 : g > 0; }

/* Is the cubic above its error, 16 error x^2 (1-x)^2 with the one in the middle, everywhere inside? Its Bernstein
   coefficients b are those of 3 b1 x (1-x)^2 + 3 b2 x^2 (1-x) + ..., and x (1-x) <= 1/4: 4 error < 3 min(b1, b2) will
   do, here with a factor of 8. An end at 0 that opens, after an impact, is no reason to look again. */
static bool clear_of(const part *p, double error) {
  const double h = p->b - p->a, b1 = p->ga + h * p->da / 3, b2 = p->gb - h * p->db / 3;
  return p->ga >= 0 && p->gb >= 0 && 3 * fmin(b1, b2) > 32 * error;
}

/* Looks between two open ends for a guard that closes and opens again: where the cubic through both dips below 0, or
   could, by its error in the middle, one looks again. *at > 0: closed there, by a step of this length. Between two
   closed ends for one that opens and closes again. */
static int find_inside(search *s, int i, part p, int depth, double *at) {
  mbg__events *ev = s->ev;
  const double h = p.b - p.a, reach = h / 2 * fmax(fabs(p.da), fabs(p.db));
  int err = MBG_OK;
  const double x = dip(p.ga, h * p.da, p.gb, h * p.db);
  if (x < 1) {
    MBG_TRY(try_length(s, p.a + h * x));
    if (crossed(&p, ev->gt[i])) {
      *at = p.a + h * x;
      return MBG_OK;
    }
  }
  if (depth == DEPTH || (x == 1 && (p.ga + p.gb) / 2 > 1.5 * reach)) {
    return MBG_OK;
  }
  const double m = p.a + h / 2;
  MBG_TRY(look(s, m));
  const double gm = p.side * ev->gm[i], dm = p.side * ev->gdm[i];
  const double error = fabs(gm - middle(p.ga, h * p.da, p.gb, h * p.db));
  const part left = {p.a, p.ga, p.da, m, gm, dm, p.side}, right = {m, gm, dm, p.b, p.gb, p.db, p.side};
  if ((ev->at_zero[i] || ev->passed[i]) && p.a == 0 && gm <= 8 * DBL_EPSILON * ev->range[i]) {
    /* still at the zero of its event, but for rounding: without restitution a gap opens slowly */
    return find_inside(s, i, (part){m, fmax(gm, 0), fmax(dm, 0), p.b, p.gb, p.db, p.side}, depth + 1, at);
  }
  if (gm <= 0) {
    MBG_TRY(try_length(s, m));
    if (crossed(&p, ev->gt[i])) {
      *at = m;
      return MBG_OK;
    }
  }
  const bool resolved = error <= 1e-3 * (fmax(p.ga, p.gb) + reach); /* else its error says little, too */
  if (x == 1 && gm > 0 && resolved && (fmin(gm, fmin(p.ga, p.gb)) > 8 * error || clear_of(&p, error))) {
    return MBG_OK;
  }
  MBG_TRY(find_inside(s, i, left, depth + 1, at));
  if (*at > 0) {
    return MBG_OK;
  }
  MBG_TRY(find_inside(s, i, right, depth + 1, at));
done:
  return err;
}

static int zeno(search *s, int i) {
  return mbg__fail(s->ctx, MBG_ERROR_CONVERGENCE,
                   "zeno: the gap of event '%s' does not open after its impact at t = %.9g; use a compliant contact, "
                   "or end the run",
                   s->ev->m->events[i].name, re(s->t));
}

/* lo: the longest of h, h/2, h/4 ... after which the guard is open */
static int find_open(search *s, int i, double *lo, double *hi) {
  int err = MBG_OK;
  *hi = s->limit;
  for (int k = 0; k < HALVINGS; k++) {
    *lo = *hi / 2;
    MBG_TRY(try_length(s, *lo));
    if (s->ev->gt[i] > 0) {
      return MBG_OK;
    }
    *hi = *lo;
  }
  return zeno(s, i);
done:
  return err;
}

/* ... of a guard that is closed at both ends, but not in between */
static int find_bump(search *s, int i, double *lo, double *hi) {
  const mbg__events *ev = s->ev;
  const double h = s->limit;
  int err = MBG_OK;
  *lo = *hi = 0;
  MBG_TRY(try_length(s, h));
  if (ev->gt[i] > 0) {
    return MBG_OK;
  }
  const part p = {0, fmax(-ev->g[i], 0), -ev->gd[i], h, -ev->gt[i], -ev->gdt[i], -1};
  MBG_TRY(find_inside(s, i, p, 0, lo));
  *hi = *lo > 0 ? h : 0;
  MBG_TRY(try_length(s, h));
done:
  return err;
}

/* A bracket of the first crossing of guard i: open at lo, closed at hi; hi = 0: there is none. */
static int find_bracket(search *s, int i, double beyond, double *lo, double *hi) {
  mbg__events *ev = s->ev;
  const double g0 = ev->at_zero[i] ? 0 : ev->g[i], h = s->limit;
  int err = MBG_OK;
  *lo = *hi = 0;
  MBG_TRY(try_length(s, h));
  if (ev->gt[i] <= 0) {
    *hi = h;
    return ev->at_zero[i] ? find_open(s, i, lo, hi) : MBG_OK;
  }
  MBG_TRY(find_inside(s, i, (part){0, g0, ev->gd[i], h, ev->gt[i], ev->gdt[i], 1}, 0, hi));
  if (*hi > 0) {
    return MBG_OK;
  }
  MBG_TRY(try_length(s, h));
  if (beyond > h && ev->gt[i] + ev->gdt[i] * (beyond - h) <= 0) {
    MBG_TRY(try_length(s, beyond));
    *lo = h;
    *hi = ev->gt[i] <= 0 ? beyond : 0;
  }
done:
  return err;
}

/* The cubic p(x) = g0 + x (c1 + x (c2 + x c3)) of a guard along a step. */
typedef struct {
  double g0, c1, c2, c3;
} cubic;

static double value(const cubic *p, double x) { return p->g0 + x * (p->c1 + x * (p->c2 + x * p->c3)); }

static double slope_of(const cubic *p, double x) { return p->c1 + x * (2 * p->c2 + 3 * x * p->c3); }

/* by values and rates at both ends, 0 and h */
static cubic by_rates(const mbg__events *ev, int i, double h) {
  const double rise = ev->gt[i] - ev->g[i], d0 = h * ev->gd[i], d1 = h * ev->gdt[i];
  return (cubic){ev->g[i], ev->gd[i], (3 * rise - 2 * d0 - d1) / (h * h), (d0 + d1 - 2 * rise) / (h * h * h)};
}

/* where it falls through 0 between lo and hi, from x on */
static double root(const cubic *p, double x, double lo, double hi) {
  for (int k = 0; k < LOCATE_MAX && hi - lo > DBL_EPSILON * hi; k++) {
    const double g = value(p, x), next = x - g / slope_of(p, x);
    *(g > 0 ? &lo : &hi) = x;
    if (fabs(next - x) <= DBL_EPSILON * hi) {
      break;
    }
    x = next > lo && next < hi ? next : (lo + hi) / 2;
  }
  return x;
}

/* The first length where the bracket is the step itself: where the guard passes 0 inside it. */
typedef struct {
  double x, g;  /* length, guard inside the step there */
  double slope; /* of the guard inside the step, NAN: not known */
  double bend;  /* its second derivative */
} crossing;

/* by the cubic through both ends, then Newton */
static int cross_inside(search *s, int i, crossing *c) {
  const double h = s->length;
  const cubic p = by_rates(s->ev, i, h);
  int err = MBG_OK;
  const double x = root(&p, h / 2, 0, h);
  *c = (crossing){.x = x, .g = NAN, .slope = NAN, .bend = 2 * p.c2 + 6 * p.c3 * x};
  if (!s->steps->inside || !(x < h)) {
    return MBG_OK;
  }
  MBG_TRY(look(s, x));
  const double g = s->ev->gm[i], next = x - g / slope_of(&p, x);
  if (next > 0 && next < h) {
    MBG_TRY(look(s, next));
    c->x = next;
    c->g = s->ev->gm[i];
    c->slope = (c->g - g) / (next - x) + c->bend * (next - x) / 2;
    c->slope = fabs(next - x) > 1e-7 * h ? c->slope : slope_of(&p, next); /* beyond the rounding of g */
  }
done:
  return err;
}

/* The length that follows the first one, whose step has the guard g. It differs from the guard inside the longer step
   by what accelerations there miss, as x^3 (h - x) (theory 7, section 2). */
static double second_length(const crossing *c, double h, double g, double *slope) {
  *slope = c->slope + (g - c->g) * (3 / c->x - 1 / (h - c->x));
  const double change = -g / *slope;
  return c->x + change - c->bend / (2 * *slope) * change * change;
}

/* The change of a guard that counts as a jump: a share of its range so far, and in the step by its rate. */
static double jump_of(const search *s, int i) {
  const mbg__events *ev = s->ev;
  const double known = fmax(ev->largest[i], fabs(ev->g[i]));
  return 1e-3 * fmax(known, re(s->h) * fabs(ev->gd[i]));
}

/* At its zero a guard is 0 but for rounding, and falls. Where it does neither, the bracket is narrowed to see whether
   it jumps: no length of a step makes such a guard 0, and its rate says nothing of the time of the event. */
static int check_jump(search *s, int i, double lo, double hi, double *length) {
  const mbg__events *ev = s->ev;
  const mbg__event *e = &ev->m->events[i];
  const double least = 4 * DBL_EPSILON * (fabs(re(s->t)) + re(s->h)), most = jump_of(s, i);
  double above = ev->at_zero[i] ? 0 : ev->g[i];
  int err = MBG_OK;
  if (fabs(ev->gt[i]) <= most && ev->gdt[i] < 0) {
    return MBG_OK;
  }
  for (int k = 0; k < LOCATE_MAX && hi - lo > least; k++) {
    const double x = (lo + hi) / 2;
    MBG_TRY(try_length(s, x));
    *(ev->gt[i] > 0 ? &lo : &hi) = x;
  }
  if (lo > 0) {
    MBG_TRY(try_length(s, lo));
    above = ev->gt[i];
  }
  MBG_TRY(try_length(s, hi));
  *length = hi;
  if (above - ev->gt[i] > most) {
    return mbg__fail_at(s->ctx, MBG_ERROR_INPUT, &e->where, 0,
                        "the guard jumps from %.6g to %.6g at t = %.9g; an event happens where its guard passes 0 "
                        "without a jump: take a quantity (\"x - 1\") instead of its sign or a comparison, and \"at\" "
                        "for a time",
                        -e->direction * above, -e->direction * ev->gt[i], re(s->t) + hi);
  }
done:
  return err;
}

/* Newton on the length of a step that is taken anew each time, inside the bracket. The rate of the guard misses the
   slope by the error of the step; two lengths give it, or the guard inside the longer step. */
static int locate(search *s, int i, double lo, double hi, double *length) {
  const double least = 4 * DBL_EPSILON * (fabs(re(s->t)) + re(s->h)), end = hi;
  const mbg__events *ev = s->ev;
  const bool whole = lo == 0 && hi == s->length && ev->g[i] > 0 && ev->gt[i] < 0;
  crossing c = {.x = hi, .slope = NAN};
  double before = NAN, g_before = NAN, slope = NAN;
  int err = MBG_OK;
  MBG_TRY(whole ? cross_inside(s, i, &c) : MBG_OK);
  double x = c.x;
  for (int k = 0; k < LOCATE_MAX; k++) {
    MBG_TRY(k == 0 && c.slope < 0 && x < end ? try_shorter(s, x) : try_length(s, x));
    const double g = ev->gt[i], secant = (g - g_before) / (x - before);
    double next = NAN;
    *length = x;
    *(g > 0 ? &lo : &hi) = x;
    if (k == 0 && c.slope < 0) {
      next = second_length(&c, end, g, &slope);
    } else {
      if (!(secant < 0 || slope < 0)) {
        slope = ev->gdt[i];
      } else if (secant < 0 && fabs(x - before) > 1e-7 * re(s->h)) {
        slope = secant; /* beyond the rounding of g */
      }
      next = x - g / slope;
    }
    before = x;
    g_before = g;
    if (g == 0 || hi - lo <= least || fabs(next - x) <= least) {
      break;
    }
    x = next > lo && next < hi ? next : (lo + hi) / 2;
  }
  MBG_TRY(check_jump(s, i, lo, hi, length));
done:
  return err;
}

/* found: another event limits the step */
static int find(search *s, int i, double beyond, bool found, double *length) {
  const mbg__events *ev = s->ev;
  double lo, hi;
  int err = MBG_OK;
  *length = 0;
  if (ev->m->events[i].guard < 0) {
    *length = to_time(s, i, beyond);
    return MBG_OK;
  }
  if (is_far(s, i, found ? s->limit : beyond)) {
    return MBG_OK;
  }
  MBG_TRY(ev->open[i] ? find_bracket(s, i, found ? s->limit : beyond, &lo, &hi) : find_bump(s, i, &lo, &hi));
  if (hi > 0) {
    MBG_TRY(locate(s, i, lo, hi, length));
  } else if (found && ev->open[i] && ev->gt[i] + ev->gdt[i] * together * re(s->h) <= 0) {
    *length = s->limit; /* at the same time */
  }
done:
  return err;
}

/* Gz = gdot^2 / (2 |gdd| ghat), gdd by the change of gdot along the step */
static double grazing(const search *s, int i) {
  const mbg__events *ev = s->ev;
  const double gdd = (ev->gdt[i] - ev->gd[i]) / s->length;
  return ev->gdt[i] * ev->gdt[i] / (2 * fabs(gdd) * fmax(ev->largest[i], fabs(ev->g[i])));
}

/* ---------------------------------------------------------------------- imaginary parts */

/* The imaginary part of the length to event i, whose real part is found: that of tau - t, or the one for which that of
   the guard is 0. The guard's depends on it linearly: its rate misses the slope by the error of the step, and the first
   secant has it to rounding. The trial becomes this step. */
static int move_with(search *s, int i, double length, real *h1) {
  const mbg__event *e = &s->ev->m->events[i];
  int err = MBG_OK;
  *h1 = length;
#ifdef MBG_COMPLEX
  double x = 0, slope = -e->direction * s->ev->gdt[i], last = 0;
  if (e->guard < 0) {
    *h1 = r_value(length, s->ev->design->attr[e->at] - s->t);
  }
  for (int k = 0; k < SECANTS; k++) {
    MBG_TRY(s->steps->step(s->ctx, s->steps->user, *h1));
    const mbg__state state = s->steps->state(s->ctx, s->steps->user, true);
    MBG_TRY(mbg__guards_at(s->ctx, s->ev, &state, s->ev->gt, s->ev->gdt));
    const double g = e->guard < 0 ? 0 : im(s->ev->y[s->ev->guard_of[i]]);
    slope = k == 1 ? (g - last) / x : slope;
    x = -g / slope;
    last = g;
    if (g == 0 || fabs(x) <= 4 * DBL_EPSILON * fabs(im(*h1))) {
      break;
    }
    __imag__ *h1 += x;
  }
done:
#else
  (void)e;
#endif
  return err;
}

int mbg__events_search(mbg_context *ctx, mbg__events *ev, const mbg__event_steps *steps, real t, real step,
                       double beyond, real *h1, int *event) {
  const double h = re(step);
  search s = {ctx, ev, steps, t, step, h, h, NAN, false};
  double length;
  bool any;
  int err = MBG_OK;
  *event = -1;
  *h1 = step;
  ev->length = h;
  ev->together = false;
  memset(ev->closing, 0, (size_t)ev->m->nevent * sizeof(bool));
  MBG_TRY(begin(&s, beyond, &any));
  if (!any) {
    return MBG_OK;
  }
  for (int i = 0; i < ev->m->nevent; i++) {
    MBG_TRY(ev->armed[i] ? find(&s, i, beyond, *event >= 0, &length) : (length = 0, MBG_OK));
    const bool first = length > 0 && (*event < 0 || length < s.limit - together * h);
    ev->closing[i] = length > 0 && !first && length <= s.limit + together * h;
    if (first) {
      memset(ev->closing, 0, (size_t)i * sizeof(bool));
      s.limit = length;
      *event = i;
    }
  }
  MBG_TRY(try_length(&s, s.limit));
  ev->length = s.limit;
  for (int i = 0; i < ev->m->nevent; i++) {
    ev->together = ev->together || ev->closing[i];
  }
  if (*event >= 0) {
    ev->grazing = ev->m->events[*event].guard >= 0 ? grazing(&s, *event) : INFINITY;
    MBG_TRY(move_with(&s, *event, s.limit, h1));
  }
done:
  return err;
}
