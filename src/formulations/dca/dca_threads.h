/* OpenMP where it is there. */
#ifndef MBG_FORMULATIONS_DCA_DCA_THREADS_H
#define MBG_FORMULATIONS_DCA_DCA_THREADS_H

#ifdef _OPENMP
#include <omp.h>
static inline int mbg__thread(void) { return omp_get_thread_num(); }
/* threads that work on the region: may be fewer than were asked for (limits, load, a caller's own region) */
static inline int mbg__team(void) { return omp_get_num_threads(); }
static inline int mbg__threads_max(void) { return omp_get_num_procs(); }
#else
static inline int mbg__thread(void) { return 0; }
static inline int mbg__team(void) { return 1; }
static inline int mbg__threads_max(void) { return 1; }
#endif

#endif
