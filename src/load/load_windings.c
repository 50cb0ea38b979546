/* Wraps of tendons on pulleys at the first guess: which way round a strand reaches its pulley, and positions without a
   path (theory 8, section 11). */
#include "elements/strand_kernels.h"
#include "load/load_tendons.h"

#include <math.h>

/* A strand at the first guess: what its pulley sees. */
typedef struct {
  double x[3], rho, turned, parallel;
} sight;

static void marker_frame(const mbg__loader *L, int marker, mbg__frame *F) {
  const mbg__marker *m = &L->markers.at[marker];
  *F = L->placed[0].at[m->pose].h;
  if (m->body >= 0) {
    frame_mul(F, &L->placed[0].at[L->bodies.at[m->body].guess].h, &L->placed[0].at[m->pose].h);
  }
}

static sight look(const mbg__loader *L, const mbg__strand *s) {
  const mbg__term *t = s->length;
  mbg__frame A, B, G;
  marker_frame(L, L->pairs.at[t->pair].A, &A);
  marker_frame(L, L->pairs.at[t->pair].B, &B);
  frame_relative(&G, &A, &B);
  sight out = {.x = {re(G.x[0]), re(G.x[1]), re(G.x[2])}, .parallel = re(G.R[8])};
  out.rho = (t->nattr > 0 ? t->attr_sign * mbg__value(L, t->attr[0]) : 0) +
            (t->nattr > 1 ? t->joined * mbg__value(L, t->attr[1]) : 0);
  out.turned = atan2(re(G.R[3]), re(G.R[0]));
  return out;
}

/* the half-axis next to an angle */
static int quarter_of(double angle) { return (int)floor(angle / (M_PI / 2) + 0.5); }

static void set_wind(mbg__loader *L, const mbg__strand *s, int which, int quarters) {
  mbg__term *const own[2] = {s->length, s->angle};
  own[which]->wind = s->bearing[which]->wind = quarters;
  if (s->row_term >= 0) {
    L->terms.at[s->row_term + which].wind = quarters;
  }
}

static double direction(const sight *at, const mbg__strand *s) {
  const real z[4] = {at->x[0], at->x[1], at->x[2], at->rho};
  return re(mbg__strand_direction(z, s->length->wind, s->back));
}

/* angle of the second pulley, and direction of the strand in its axes */
static double arrival(const sight *at, const mbg__strand *s) {
  if (!s->angle) {
    return direction(at, s);
  }
  const int quarters = s->angle->wind;
  const double off = at->turned - quarters * (M_PI / 2);
  return direction(at, s) - (at->turned - 2 * M_PI * floor(off / (2 * M_PI) + 0.5));
}

static int no_path(mbg__item *item, const mbg__loader *L, const mbg__strand *s, const sight *at) {
  const mbg__via *a = &L->vias.at[s->from], *b = &L->vias.at[s->to];
  const double d = hypot(at->x[0], at->x[1]), rho = fabs(at->rho);
  if (a->radius < 0 && b->radius < 0) {
    return mbg__item_bad_key(item, item->json, "'%s' and '%s' coincide at the start: the tendon has no length there",
                             a->name, b->name);
  }
  if (a->radius >= 0 && b->radius >= 0) {
    return mbg__item_bad_key(item, item->json,
                             "no tangent between the pulleys '%s' and '%s' at the start: their axes are %.4g m apart, "
                             "more than %.4g m are needed",
                             a->name, b->name, d, rho);
  }
  const mbg__via *pulley = s->back ? b : a, *point = s->back ? a : b;
  return rho > 0 ? mbg__item_bad_key(item, item->json,
                                     "'%s' is inside the pulley '%s' at the start: %.4g m from its axis, the radius is "
                                     "%.4g m",
                                     point->name, pulley->name, d, rho)
                 : mbg__item_bad_key(item, item->json, "'%s' lies on the axis of the pulley '%s' at the start",
                                     point->name, pulley->name);
}

/* every strand has a path, and its cut lies behind it */
static int open_strand(mbg__item *item, mbg__loader *L, const mbg__strand *s) {
  const sight at = look(L, s);
  const bool points = s->length->nattr == 0;
  const double d = points ? sqrt(at.x[0] * at.x[0] + at.x[1] * at.x[1] + at.x[2] * at.x[2]) : hypot(at.x[0], at.x[1]);
  if (isnan(d)) {
    return MBG_OK; /* reported */
  }
  if (!(d - fabs(at.rho) > 1e-9 * (fabs(at.rho) + 1e-3))) {
    return no_path(item, L, s, &at);
  }
  if (points) {
    return MBG_OK;
  }
  if (s->angle && !(at.parallel > 1 - 1e-6)) {
    return mbg__item_bad_key(item, item->json, "the axles (z) of the pulleys '%s' and '%s' do not point the same way",
                             L->vias.at[s->from].name, L->vias.at[s->to].name);
  }
  set_wind(L, s, 0, quarter_of(atan2(at.x[1], at.x[0])));
  if (s->angle) {
    set_wind(L, s, 1, quarter_of(at.turned));
  }
  return MBG_OK;
}

/* whole turns, so that the wrap of a pulley is from 0 to 2 pi, beside those of the file */
static void wind_via(mbg__loader *L, const mbg__via *v) {
  static const double touching = 1e-9;
  const mbg__strand *in = v->in >= 0 ? &L->strands.at[v->in] : NULL, *out = v->out >= 0 ? &L->strands.at[v->out] : NULL;
  const sight at_in = in ? look(L, in) : (sight){0}, at_out = out ? look(L, out) : (sight){0};
  const double wrap = v->side * ((out ? direction(&at_out, out) : 0) - (in ? arrival(&at_in, in) : 0));
  const int more = v->turns - (int)floor((wrap + touching) / (2 * M_PI));
  const int quarters = 4 * more * (v->side > 0 ? 1 : -1);
  if (!in) {
    set_wind(L, out, 0, out->length->wind + quarters);
  } else if (in->angle) {
    set_wind(L, in, 1, in->angle->wind + quarters);
  } else {
    set_wind(L, in, 0, in->length->wind - quarters);
  }
}

int mbg__load_windings(mbg__loader *L) {
  int err = MBG_OK;
  for (int i = 0; L->errors == 0 && i < L->tendons.count; i++) {
    const mbg__tendon *t = &L->tendons.at[i];
    const mbg__tendon_at *at = &L->tendon_at.at[i];
    char owner[MBG__HINT_SIZE];
    mbg__item item;
    mbg__format(owner, sizeof(owner), "%s '%s'", t->row >= 0 ? "coupling" : "force", t->name);
    MBG_TRY(mbg__item_make(L, at->source, at->json, owner, &item));
    for (int k = t->strand; k < t->strand + t->nstrand; k++) {
      MBG_TRY(open_strand(&item, L, &L->strands.at[k]));
    }
    for (int k = t->via; !item.bad && k < t->via + t->nvia; k++) {
      if (L->vias.at[k].radius >= 0) {
        wind_via(L, &L->vias.at[k]);
      }
    }
  }
done:
  return err;
}
