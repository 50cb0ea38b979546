/* glb: binary glTF 2.0: numbers in one block of bytes, and the JSON that refers to them. */
#ifndef MBG_VIEW_GLB_H
#define MBG_VIEW_GLB_H

#include "io/json_write.h"

typedef enum { MBG__GLB_FLOAT, MBG__GLB_SHORT, MBG__GLB_INT } mbg__glb_type;

/* A row of numbers in the block: `count` items of `width` numbers. */
typedef struct {
  size_t offset;
  int count, width;
  mbg__glb_type type;
  bool matrix; /* 4 x 4 */
  bool bounds; /* least and greatest values are written */
  double low[3], high[3];
  int target; /* of OpenGL, 0: none */
} mbg__glb_accessor;

typedef struct {
  mbg_context *ctx;
  mbg__buffer bytes;
  mbg__arena arena;
  int naccessor, capacity;
  mbg__glb_accessor *accessors;
} mbg__glb;

enum { MBG__GLB_VERTICES = 34962, MBG__GLB_INDICES = 34963 };

void mbg__glb_init(mbg__glb *glb, mbg_context *ctx);
void mbg__glb_destroy(mbg__glb *glb);

/* Appends numbers, as floats, unsigned shorts or ints; the index of the accessor. width 16: matrices. */
int mbg__glb_floats(mbg__glb *glb, const float *values, int count, int width, bool bounds, int target);
int mbg__glb_shorts(mbg__glb *glb, const uint16_t *values, int count, int width, int target);
int mbg__glb_ints(mbg__glb *glb, const int *values, int count, int target);

/* Members "accessors", "bufferViews" and "buffers" of the open object. */
void mbg__glb_tables(const mbg__glb *glb, mbg__json_writer *w);

/* The file: *data (mbg_text_destroy) of *length bytes. */
int mbg__glb_finish(mbg__glb *glb, mbg__json_writer *w, char **data, size_t *length);

#endif
