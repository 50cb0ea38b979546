#include "math/lapack.h"

#include <pthread.h>

/* The one variable of the library that can change (tools/lint knows it): of the process, as the array it guards. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

void mbg__lapack_begin(void) { pthread_mutex_lock(&one_at_a_time); }

void mbg__lapack_end(void) { pthread_mutex_unlock(&one_at_a_time); }
