/* base: the scalar of an ensemble, one number of each of four samples (src/ensemble/vector_run.h).

   Some sources are compiled a third time, by a C++ compiler, with this class as `real`. Every operation is that of the
   double library in each lane, so that a sample has the bits of a run of its own. Branches look at re(x), here the
   numbers of all samples. A comparison whose answers differ, or a double that is asked for where the samples have
   different numbers, makes the samples of this vector diverge; they are then computed one by one. Where samples may
   differ, sources say so by r_where, which chooses for each of them. */
#ifndef MBG_BASE_REAL_ENSEMBLE_H
#define MBG_BASE_REAL_ENSEMBLE_H

#undef isfinite
#undef isnan
#undef signbit
#define restrict __restrict

enum { MBG__TWIN = 0, MBG__SAMPLES = 4 };

/* Vectors lie anywhere in memory. Where the assembler takes care of this, aligned ones are faster. */
#ifdef MBG_ANYWHERE
#define MBG__ALIGNED aligned(8)
#else
#define MBG__ALIGNED aligned(32)
#endif
typedef double mbg__four __attribute__((vector_size(32), MBG__ALIGNED));
typedef long long mbg__four_bits __attribute__((vector_size(32), MBG__ALIGNED));

/* The samples of this thread have taken different ways since it was cleared. */
extern __thread int mbg__diverged;
void mbg__diverge() __attribute__((cold));

/* ---------------------------------------------------------------------- answers, one of each sample */

struct mbg__answers {
  mbg__four_bits bits; /* 0 or -1 */
  int mask() const { return __builtin_ia32_movmskpd256((mbg__four)bits); }
  operator bool() const {
    const int all = mask();
    if (__builtin_expect(all != 0 && all != 15, 0)) {
      mbg__diverge();
    }
    return all & 1;
  }
};

static inline mbg__answers operator|(mbg__answers a, mbg__answers b) { return mbg__answers{a.bits | b.bits}; }
static inline mbg__answers operator&(mbg__answers a, mbg__answers b) { return mbg__answers{a.bits & b.bits}; }
static inline mbg__answers r_all(bool x) { return mbg__answers{(mbg__four_bits){} - (long long)x}; }
static inline bool r_every(mbg__answers a) { return a.mask() == 15; }
static inline bool r_some(mbg__answers a) { return a.mask() != 0; }
static inline bool r_other(mbg__answers but, mbg__answers a) {
  const int asked = 15 & ~but.mask(), yes = asked & a.mask();
  if (__builtin_expect(yes != 0 && yes != asked, 0)) {
    mbg__diverge();
  }
  return yes != 0;
}
static inline void r_diverge(mbg__answers apart) {
  if (apart.mask() != 0 && apart.mask() != 15) {
    mbg__diverge();
  }
}

static inline void r_diverge_all() { mbg__diverge(); }

static inline mbg__four mbg__spread(double x) { return (mbg__four){x, x, x, x}; }
static inline mbg__four mbg__choose(mbg__answers c, mbg__four a, mbg__four b) { return c.bits ? a : b; }

/* ---------------------------------------------------------------------- what branches look at: re(x) */

struct mbg__part {
  mbg__four of;
  mbg__part() : of(mbg__spread(0)) {}
  mbg__part(const mbg__part &x) : of(x.of) {}
  mbg__part &operator=(const mbg__part &x) {
    of = x.of;
    return *this;
  }
  mbg__part(double x) : of(mbg__spread(x)) {}
  explicit mbg__part(mbg__four x) : of(x) {}
  operator double() const {
    const mbg__four first = mbg__spread(of[0]);
    const mbg__four_bits same = (of == first) | ((of != of) & (first != first));
    if (__builtin_expect(mbg__answers{same}.mask() != 15, 0)) {
      mbg__diverge();
    }
    return of[0];
  }
};

template <class T> struct mbg__number {};
template <> struct mbg__number<double> { typedef int is; };
template <> struct mbg__number<int> { typedef int is; };
template <> struct mbg__number<long> { typedef int is; };
template <> struct mbg__number<unsigned long> { typedef int is; };
template <> struct mbg__number<bool> { typedef int is; };

#define MBG__OPERATOR(op, result)                                                                                      \
  static inline result operator op(const mbg__part &a, const mbg__part &b) { return result{a.of op b.of}; }            \
  template <class T, class = typename mbg__number<T>::is> static inline result operator op(const mbg__part &a, T b) {  \
    return result{a.of op mbg__spread((double)b)};                                                                     \
  }                                                                                                                    \
  template <class T, class = typename mbg__number<T>::is> static inline result operator op(T a, const mbg__part &b) {  \
    return result{mbg__spread((double)a) op b.of};                                                                     \
  }
MBG__OPERATOR(+, mbg__part)
MBG__OPERATOR(-, mbg__part)
MBG__OPERATOR(*, mbg__part)
MBG__OPERATOR(/, mbg__part)
MBG__OPERATOR(<, mbg__answers)
MBG__OPERATOR(>, mbg__answers)
MBG__OPERATOR(<=, mbg__answers)
MBG__OPERATOR(>=, mbg__answers)
MBG__OPERATOR(==, mbg__answers)
MBG__OPERATOR(!=, mbg__answers)
#undef MBG__OPERATOR
static inline mbg__part operator-(const mbg__part &a) { return mbg__part(-a.of); }
static inline mbg__part &operator+=(mbg__part &a, const mbg__part &b) { return a = a + b; }

/* a function of doubles in every lane */
#define MBG__LANEWISE(name)                                                                                            \
  static inline mbg__four name(mbg__four x) { return (mbg__four){name(x[0]), name(x[1]), name(x[2]), name(x[3])}; }    \
  static inline mbg__part name(const mbg__part &x) { return mbg__part(name(x.of)); }
#define MBG__LANEWISE_2(name)                                                                                          \
  static inline mbg__four name(mbg__four x, mbg__four y) {                                                             \
    return (mbg__four){name(x[0], y[0]), name(x[1], y[1]), name(x[2], y[2]), name(x[3], y[3])};                        \
  }                                                                                                                    \
  static inline mbg__part name(const mbg__part &x, const mbg__part &y) { return mbg__part(name(x.of, y.of)); }         \
  static inline mbg__part name(double x, const mbg__part &y) { return mbg__part(name(mbg__spread(x), y.of)); }         \
  static inline mbg__part name(const mbg__part &x, double y) { return mbg__part(name(x.of, mbg__spread(y))); }
MBG__LANEWISE(exp)
MBG__LANEWISE(log)
MBG__LANEWISE(sin)
MBG__LANEWISE(cos)
MBG__LANEWISE(tan)
MBG__LANEWISE(asin)
MBG__LANEWISE(acos)
MBG__LANEWISE(atan)
MBG__LANEWISE(sinh)
MBG__LANEWISE(cosh)
MBG__LANEWISE(tanh)
MBG__LANEWISE(floor)
MBG__LANEWISE(ceil)
MBG__LANEWISE_2(atan2)
MBG__LANEWISE_2(pow)
MBG__LANEWISE_2(copysign)
MBG__LANEWISE_2(hypot)
#undef MBG__LANEWISE
#undef MBG__LANEWISE_2
/* as maxsd and minsd, which the functions of doubles use; a NAN gives way */
static inline mbg__four fmax(mbg__four x, mbg__four y) { return (x > y) | (y != y) ? x : y; }
static inline mbg__four fmin(mbg__four x, mbg__four y) { return (x < y) | (y != y) ? x : y; }
static inline mbg__part fmax(const mbg__part &x, const mbg__part &y) { return mbg__part(fmax(x.of, y.of)); }
static inline mbg__part fmin(const mbg__part &x, const mbg__part &y) { return mbg__part(fmin(x.of, y.of)); }
static inline mbg__part fmax(double x, const mbg__part &y) { return mbg__part(fmax(mbg__spread(x), y.of)); }
static inline mbg__part fmin(double x, const mbg__part &y) { return mbg__part(fmin(mbg__spread(x), y.of)); }
static inline mbg__part fmax(const mbg__part &x, double y) { return mbg__part(fmax(x.of, mbg__spread(y))); }
static inline mbg__part fmin(const mbg__part &x, double y) { return mbg__part(fmin(x.of, mbg__spread(y))); }
static inline mbg__four sqrt(mbg__four x) { return __builtin_ia32_sqrtpd256(x); }
static inline mbg__four fabs(mbg__four x) {
  const mbg__four_bits mask = (mbg__four_bits){0} + 0x7fffffffffffffffLL;
  return (mbg__four)((mbg__four_bits)x & mask);
}
static inline mbg__part sqrt(const mbg__part &x) { return mbg__part(sqrt(x.of)); }
static inline mbg__part fabs(const mbg__part &x) { return mbg__part(fabs(x.of)); }
static inline bool isfinite(double x) { return __builtin_isfinite(x); }
static inline bool isnan(double x) { return __builtin_isnan(x); }
static inline bool signbit(double x) { return __builtin_signbit(x); }
static inline mbg__answers isfinite(const mbg__part &x) {
  return mbg__answers{fabs(x.of) <= mbg__spread(1.7976931348623157e308)};
}
static inline mbg__answers isnan(const mbg__part &x) { return mbg__answers{x.of != x.of}; }
static inline mbg__answers signbit(const mbg__part &x) { return mbg__answers{(mbg__four_bits)x.of < 0}; }

/* ---------------------------------------------------------------------- the scalar */

struct real {
  mbg__four of;
  real() = default;
  real(double x) : of(mbg__spread(x)) {}
  real(const mbg__part &x) : of(x.of) {}
  explicit real(mbg__four x) : of(x) {}
};

#define MBG__OPERATOR(op)                                                                                              \
  static inline real operator op(real a, real b) { return real(a.of op b.of); }                                        \
  static inline real &operator op##=(real &a, real b) {                                                                \
    a.of = a.of op b.of;                                                                                               \
    return a;                                                                                                          \
  }
MBG__OPERATOR(+)
MBG__OPERATOR(-)
MBG__OPERATOR(*)
MBG__OPERATOR(/)
#undef MBG__OPERATOR
static inline real operator-(real a) { return real(-a.of); }
static inline mbg__answers operator==(real a, real b) { return mbg__answers{a.of == b.of}; }
static inline mbg__answers operator!=(real a, real b) { return mbg__answers{a.of != b.of}; }

static inline mbg__part re(real x) { return mbg__part(x.of); }
static inline real r_value(const mbg__part &value, real x) { return (void)x, real(value.of); }
static inline real r_where(mbg__answers c, real a, real b) { return real(mbg__choose(c, a.of, b.of)); }
static inline mbg__part r_where_part(mbg__answers c, const mbg__part &a, const mbg__part &b) {
  return mbg__part(mbg__choose(c, a.of, b.of));
}
static inline real r_sqrt(real x) { return real(sqrt(x.of)); }
static inline real r_exp(real x) { return real(exp(x.of)); }
static inline real r_log(real x) { return real(log(x.of)); }
static inline real r_sin(real x) { return real(sin(x.of)); }
static inline real r_cos(real x) { return real(cos(x.of)); }
static inline real r_tan(real x) { return real(tan(x.of)); }
static inline real r_asin(real x) { return real(asin(x.of)); }
static inline real r_acos(real x) { return real(acos(x.of)); }
static inline real r_atan(real x) { return real(atan(x.of)); }
static inline real r_sinh(real x) { return real(sinh(x.of)); }
static inline real r_cosh(real x) { return real(cosh(x.of)); }
static inline real r_tanh(real x) { return real(tanh(x.of)); }
static inline real r_abs(real x) { return real(fabs(x.of)); }
static inline real r_atan2(real y, real x) { return real(atan2(y.of, x.of)); }
static inline real r_pow(real x, real y) { return real(pow(x.of, y.of)); }

#endif
