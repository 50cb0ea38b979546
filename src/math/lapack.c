#include "math/lapack.h"

#include <pthread.h>

/* of the process, as the work array of the library below is */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

void mbg__lapack_begin(void) { pthread_mutex_lock(&one_at_a_time); }

void mbg__lapack_end(void) { pthread_mutex_unlock(&one_at_a_time); }
