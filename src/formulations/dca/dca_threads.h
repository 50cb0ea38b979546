/* Parallel with OpenMP, serial without. */
#ifndef MBG_FORMULATIONS_DCA_DCA_THREADS_H
#define MBG_FORMULATIONS_DCA_DCA_THREADS_H

#ifdef _OPENMP
#include <omp.h>
/* Number of the calling thread in its parallel region, and threads of the region: may be fewer than asked for. */
static inline int mbg__thread(void) { return omp_get_thread_num(); }
static inline int mbg__thread_count(void) { return omp_get_num_threads(); }
#else
static inline int mbg__thread(void) { return 0; }
static inline int mbg__thread_count(void) { return 1; }
#endif

#endif
