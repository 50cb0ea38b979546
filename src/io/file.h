/* file: whole files in and out of memory, and paths between them. */
#ifndef MBG_IO_FILE_H
#define MBG_IO_FILE_H

#include "base/base.h"

enum { MBG__FILE_BYTES_MAX = 256 * 1024 * 1024 };

/* Reads a whole file, or a pipe to its end, into the arena; a 0 follows the last byte. length may be NULL. Returns
   0, or MBG_ERROR_IO with a message that names the path (missing, a folder, larger than 256 MiB, ...). */
int mbg__file_read(mbg_context *ctx, mbg__arena *arena, const char *path, char **text, size_t *length);
/* The same for data: a pipe or a device, which might never end, is refused. */
int mbg__file_read_data(mbg_context *ctx, mbg__arena *arena, const char *path, char **text, size_t *length);

/* Writes a whole file: into a temporary file in the same folder, which is renamed when complete, so that no reader
   sees a partial file. Keeps the permissions of a file that is replaced. A link stays, and what it points to is
   replaced; devices and pipes are written in place. Returns 0, or MBG_ERROR_IO with a message; the former file is then
   intact. */
int mbg__file_write(mbg_context *ctx, const char *path, const char *text, size_t length);

/* A path in a file, relative to the current folder: "data.csv" in "a/b.json" is "a/data.csv"; absolute paths stay
   unchanged. NULL when out of memory. */
const char *mbg__path_beside(mbg__arena *arena, const char *file, const char *path);

/* Does a path in a file lead out of the folder of that file? Absolute paths do. */
bool mbg__path_outside(const char *path);

#endif
