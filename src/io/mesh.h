/* mesh: triangles from files of STL (binary and text), OBJ and glTF 2.0 (.gltf, .glb). */
#ifndef MBG_IO_MESH_H
#define MBG_IO_MESH_H

#include "base/base.h"

enum { MBG__MESH_TRIANGLES_MAX = 2000000 };

typedef struct {
  int nvertex, ntriangle;
  double *vertices; /* no two are the same              (3 nvertex) */
  int *corners;     /* three different ones each        (3 ntriangle) */
} mbg__mesh;

/* Does the name of a file say that it is a mesh? */
bool mbg__mesh_is_file(const char *path);

/* Reads a file; its ending says how. Coordinates stay as they are: neither units nor axes are changed. Returns 0, or
   MBG_ERROR_IO or MBG_ERROR_INPUT with a message that names the file and quotes nothing of it. */
int mbg__mesh_read(mbg_context *ctx, mbg__arena *arena, const char *path, mbg__mesh *out);

/* ---------------------------------------------------------------------- for the readers */

/* Vertices and corners in growing arrays. */
typedef struct {
  mbg_context *ctx;
  mbg__arena *arena;
  const char *path;
  double *vertices;
  int *corners;
  int nvertex, ncorner, vertex_room, corner_room;
} mbg__mesh_reader;

/* Each returns MBG_OK, or a status with its message: a number that is not finite, too many triangles, memory. */
int mbg__mesh_vertex(mbg__mesh_reader *r, const double x[3]);
int mbg__mesh_triangle(mbg__mesh_reader *r, int a, int b, int c);

/* mesh_gltf.c */
int mbg__mesh_gltf(mbg__mesh_reader *r, const char *data, size_t length, bool binary);

#endif
