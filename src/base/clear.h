/* clear: cleared memory of an allocator. */
#ifndef MBG_BASE_CLEAR_H
#define MBG_BASE_CLEAR_H

#include "mbgrad/context.h"

/* A cleared block; NULL when out of memory. The preset allocator leaves large blocks untouched: what is never written
   takes no memory. */
void *mbg__allocator_clear(const mbg_allocator *a, size_t bytes);

#endif
