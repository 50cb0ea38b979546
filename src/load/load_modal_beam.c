/* Modal bodies generated from a beam: numbers of its elements, modes at the nominal parameters, integrals. */
#include "load/load_modal.h"
#include "model/modal_beam.h"

#include <string.h>

/* the different attributes among the numbers of the elements */
static int list_attributes(mbg__loader *L, mbg__modal_beam *b) {
  const int room = b->count * MBG__BEAM_NUMBERS;
  b->slot = mbg__arena_take(L->arena, (size_t)b->count, sizeof(*b->slot));
  b->attrs = MBG_TAKE(L->arena, int, room);
  if (mbg__arena_check(L->ctx, L->arena) < 0) {
    return MBG_ERROR_MEMORY;
  }
  for (int e = 0; e < b->count; e++) {
    for (int k = 0; k < MBG__BEAM_NUMBERS; k++) {
      int s = -1;
      for (int i = 0; b->attr[e][k] >= 0 && s < 0 && i < b->nattr; i++) {
        s = b->attrs[i] == b->attr[e][k] ? i : -1;
      }
      if (b->attr[e][k] >= 0 && s < 0) {
        s = b->nattr;
        b->attrs[b->nattr++] = b->attr[e][k];
      }
      b->slot[e][k] = s;
    }
  }
  return MBG_OK;
}

/* coefficients of each element at the nominal parameters */
static int nominal(mbg__loader *L, const mbg__modal_beam *b, double (**out)[MBG__BEAM_COEFS]) {
  *out = mbg__arena_take(&L->temp, (size_t)b->count, sizeof(**out));
  if (!*out) {
    return mbg__fail_memory(L->ctx);
  }
  for (int e = 0; e < b->count; e++) {
    real z[MBG__BEAM_NUMBERS], c[MBG__BEAM_COEFS];
    for (int k = 0; k < MBG__BEAM_NUMBERS; k++) {
      z[k] = b->attr[e][k] < 0 ? 0 : mbg__value(L, b->attr[e][k]);
    }
    mbg__beam_coefs(&b->rule, z, c, NULL);
    for (int k = 0; k < MBG__BEAM_COEFS; k++) {
      (*out)[e][k] = re(c[k]);
    }
  }
  return MBG_OK;
}

static int check_modes(mbg__modal_reader *r, const mbg__modal_beam *b, bool planar) {
  const mbg__json *modes = mbg__json_member(r->item->json, "modes");
  const int least = mbg__modal_beam_static(b, planar), most = mbg__modal_beam_most(b, planar);
  if (r->modal->n < least) {
    return mbg__item_bad(r->item, modes, "modes: 'craig-bampton' needs at least its %d static modes, found %d", least,
                         r->modal->n);
  }
  if (r->modal->n > most) {
    return mbg__item_bad(r->item, modes, "modes: a mesh of %d elements has %d modes, found %d; use more elements",
                         b->count, most, r->modal->n);
  }
  return MBG_OK;
}

static int read_beam(mbg__item *item, mbg__modal_beam *b) {
  int err = MBG_OK, theory = 0, boundary = 0;
  static const mbg__file_object keys[] = {MBG__KEYS_MODAL_BEAM};
  const mbg__json *elements = mbg__json_member(item->json, "elements"),
                  *length = mbg__json_member(item->json, "length");
  MBG_TRY(mbg__item_keys(item, item->json, keys, 1, NULL, 0));
  if (item->bad) {
    return MBG_OK;
  }
  b->count = 20;
  if (elements) {
    MBG_TRY(mbg__item_count(item, elements, "elements", &b->count));
  }
  if (!item->bad && b->count > 1000) {
    MBG_TRY(mbg__item_bad(item, elements, "elements: at most 1000, found %d", b->count));
  }
  if (item->bad) {
    return MBG_OK;
  }
  MBG_TRY(
      mbg__item_choice(item, mbg__json_member(item->json, "theory"), "theory", "timoshenko euler-bernoulli", &theory));
  MBG_TRY(mbg__item_choice(item, mbg__json_member(item->json, "boundary"), "boundary",
                           "fixed-free pinned craig-bampton", &boundary));
  b->shear = theory == 0;
  b->boundary = (mbg__beam_boundary)boundary;
  MBG_TRY(mbg__item_attribute(item, length, "length", "m", 0, 1, &b->length));
  MBG_TRY(mbg__item_check_sign(item, length, MBG__POSITIVE, b->length));
  b->attr = mbg__arena_take(item->L->arena, (size_t)b->count, sizeof(*b->attr));
  MBG_TRY(mbg__arena_check(item->L->ctx, item->L->arena));
  MBG_TRY(mbg__item_beam_numbers(item, b->count, &b->rule, b->attr));
done:
  return err;
}

int mbg__modal_generated(mbg__modal_reader *r) {
  int err = MBG_OK;
  mbg__loader *L = r->item->L;
  const bool planar = r->body->motion == MBG__PLANAR;
  mbg__item item = *r->item;
  mbg__modal_beam *b = MBG_TAKE(L->arena, mbg__modal_beam, 1);
  double(*coefs)[MBG__BEAM_COEFS];
  bool yes;
  MBG_TRY(mbg__arena_check(L->ctx, L->arena));
  item.json = mbg__json_member(r->item->json, "beam");
  MBG_TRY(mbg__item_object(&item, item.json, "beam", &yes));
  if (yes) {
    MBG_TRY(read_beam(&item, b));
  }
  r->item->bad = r->item->bad || item.bad;
  if (r->item->bad) {
    return MBG_OK;
  }
  MBG_TRY(check_modes(r, b, planar));
  if (r->item->bad) {
    return MBG_OK;
  }
  MBG_TRY(list_attributes(L, b));
  MBG_TRY(nominal(L, b, &coefs));
  MBG_TRY(mbg__modal_beam_modes(L->ctx, L->arena, b, r->modal->n, planar, (const double(*)[MBG__BEAM_COEFS])coefs,
                                mbg__value(L, b->length)));
  MBG_TRY(mbg__modal_beam_integrate(L->ctx, L->arena, b, r->modal->n, r->modal->sign));
  r->modal->beam = b;
done:
  return err;
}
