/* load_modal: shared by the readers of modal bodies (load/load_modal*.c). */
#ifndef MBG_LOAD_LOAD_MODAL_H
#define MBG_LOAD_LOAD_MODAL_H

#include "load/load.h"

/* A modal body while it is read. */
typedef struct {
  mbg__item *item;
  const mbg__body *body;
  mbg__modal *modal;
  mbg__modal_layout at;
  MBG__LIST_OF(mbg__modal_link) links;
  MBG__LIST_OF(mbg__modal_node) nodes;
} mbg__modal_reader;

/* D[entry] += factor * attr */
int mbg__modal_link_add(mbg__modal_reader *r, int entry, int attr, double factor);

/* load_modal_given.c: "invariants" and "nodes". */
int mbg__modal_given(mbg__modal_reader *r);
/* load_modal_beam.c: "beam". */
int mbg__modal_generated(mbg__modal_reader *r);
/* load_modal_files.c: "files". */
int mbg__modal_imported(mbg__modal_reader *r);

#endif
