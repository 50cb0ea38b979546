/* deflate: compression (RFC 1951) and base64 (RFC 4648), for data inside of pages. The same bytes give the same result
   everywhere. */
#ifndef MBG_IO_DEFLATE_H
#define MBG_IO_DEFLATE_H

#include "io/json_write.h"

/* Appends the compressed bytes, without a header (deflate-raw of browsers). Returns 0, or MBG_ERROR_MEMORY with a
   message. */
int mbg__deflate(mbg_context *ctx, const void *data, size_t size, mbg__buffer *out);

/* Appends the bytes as base64, on one line. */
void mbg__base64(const void *data, size_t size, mbg__buffer *out);

#endif
