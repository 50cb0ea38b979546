/* Included first in every source of an ensemble. */
#ifndef MBG_ENSEMBLE_DECLARE_H
#define MBG_ENSEMBLE_DECLARE_H

#include "base/where.h"
#include "elements/lists.h"

#include "elements/lists.def"

/* Messages take numbers of the first sample: a number of four is no argument of printf. Nobody reads them, because
   samples that fail together are computed one by one. */
template <class T> static inline T mbg__printed(T x) { return x; }
static inline double mbg__printed(const mbg__part &x) { return x.of[0]; }

template <class... T> static inline int mbg__fail(mbg_context *ctx, int status, const char *format, T... x) {
  int (*const fail)(mbg_context *, int, const char *, ...) = mbg__fail;
  return fail(ctx, status, format, mbg__printed(x)...);
}

template <class... T>
static inline int mbg__fail_at(mbg_context *ctx, int status, const mbg__where *where, int offset, const char *format,
                               T... x) {
  int (*const fail)(mbg_context *, int, const mbg__where *, int, const char *, ...) = mbg__fail_at;
  return fail(ctx, status, where, offset, format, mbg__printed(x)...);
}

template <class... T>
static inline void mbg__note(mbg_context *ctx, mbg_severity severity, const char *format, T... x) {
  void (*const note)(mbg_context *, mbg_severity, const char *, ...) = mbg__note;
  note(ctx, severity, format, mbg__printed(x)...);
}

template <class... T> static inline void mbg__format(char *buffer, size_t size, const char *format, T... x) {
  void (*const print)(char *, size_t, const char *, ...) = mbg__format;
  print(buffer, size, format, mbg__printed(x)...);
}

/* Constants of C++ are invisible to other sources unless they were declared before. */
#define MBG__DECLARE(family, name) extern const mbg__##family##_type mbg__##family##_##name;
MBG__ELEMENTS_body(MBG__DECLARE) MBG__ELEMENTS_coord(MBG__DECLARE) MBG__ELEMENTS_force(MBG__DECLARE)
    MBG__ELEMENTS_joint(MBG__DECLARE) MBG__ELEMENTS_law(MBG__DECLARE) MBG__ELEMENTS_signal(MBG__DECLARE)
#undef MBG__DECLARE

#endif
