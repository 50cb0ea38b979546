/* figure: what pictures show on a body or a marker, "shape" in the file. No equation knows of it: its numbers and the
   operations of its pose are not among the attributes and operations of the model, they have lists of their own, which
   view evaluates. */
#ifndef MBG_MODEL_FIGURE_H
#define MBG_MODEL_FIGURE_H

#include "base/where.h"

struct mbg__attribute;
struct mbg__pose_op;

typedef enum {
  MBG__FIGURE_BOX,      /* edges */
  MBG__FIGURE_CYLINDER, /* radius, length along z */
  MBG__FIGURE_SPHERE,   /* radius */
  MBG__FIGURE_CAPSULE,  /* radius, length between the centres of its ends */
  MBG__FIGURE_CONE,     /* radius, length along z to its tip */
  MBG__FIGURE_ARROW,    /* radius (0: by its length), length along z from the origin */
  MBG__FIGURE_MESH,     /* factors of its coordinates */
  MBG__FIGURE_KINDS
} mbg__figure_kind;

typedef struct {
  mbg__figure_kind kind;
  int body;         /* -1: on the marker */
  int marker;       /* -1: on the body */
  int number;       /* the first of its numbers */
  int first, count; /* operations of its pose, whose attributes are numbers of figures */
  bool turned;      /* along -z: in a mirrored part */
  int color;        /* 0xrrggbb, -1: the colour of its body */
  double opacity;
  const char *file; /* MESH: its path, relative to the current folder */
  mbg__where where;
} mbg__figure;

typedef struct {
  int n;
  mbg__figure *at;
  int nnumber;
  struct mbg__attribute *numbers;
  int nop;
  struct mbg__pose_op *ops;
} mbg__figures;

#endif
