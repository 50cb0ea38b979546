/* Calls of LAPACK and BLAS, one at a time. OpenBLAS without threads, as Debian has it, gives one work array to the
   callers of all threads: dgetrf, dpotrf and zgetrf of 12 rows in two threads were wrong in one of a hundred calls. */
#ifndef MBG_MATH_LAPACK_H
#define MBG_MATH_LAPACK_H

#ifdef __cplusplus
#define MBG__FORTRAN extern "C"
#else
#define MBG__FORTRAN
#endif

MBG__FORTRAN void mbg__lapack_begin(void);
MBG__FORTRAN void mbg__lapack_end(void);

#define MBG__LAPACK(...)                                                                                               \
  do {                                                                                                                 \
    mbg__lapack_begin();                                                                                               \
    __VA_ARGS__;                                                                                                       \
    mbg__lapack_end();                                                                                                 \
  } while (0)

#endif
