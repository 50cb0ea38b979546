/* term_profile: rows of wheels and balls that roll on a height profile z = f(x, y) of A (theory 8, section 4). All
   three rows are chi = n(G).v: the gap, whose rate is that of the material point along the normal, and two along the
   tangent plane. The contact is at s = (s1, s2) on the profile S = (s1, s2, f), and at the angle th on the wheel; with
   P = x + r R (cos th, sin th, 0), N the unit normal, p = P - x - rho N and t a direction in A's axes

     (P - S).S_1 = 0,   (P - S).S_2 = 0,   N.R(-sin th, cos th, 0) = 0,      n = (R^T t, R^T (p x t))

   Derivatives by truncated arithmetic: value, derivative along v, along six directions, and along both. */
#ifndef MBG_SYSTEM_TERM_PROFILE_H
#define MBG_SYSTEM_TERM_PROFILE_H

#include "system/term.h"

enum { MBG__PROFILE_GAP, MBG__PROFILE_FIRST, MBG__PROFILE_SECOND };

/* As mbg__term_eval and mbg__term_attributes. */
void mbg__profile_term_eval(const mbg__term *term, const mbg__term_in *in, mbg__term_value *value,
                            mbg__term_gradient *gradient);
int mbg__profile_term_attributes(const mbg__term *term, const mbg__term_in *in, mbg__term_attr *out);

/* Residuals of the contact equations at s, slopes J and what tells a singular contact: the metric less the curvature
   (1 on a plane), and the cosine between the wheel's radius and the normal (1 for balls). f: the height with its
   derivatives at s. r: 0 for balls, which have two equations. */
void mbg__profile_equations(const mbg__frame *G, real r, const mbg__jet3 *f, const real s[3], real F[3], real J[3][3],
                            double *metric, double *upright);

/* I = J^-1, of 2 x 2 or 3 x 3. */
void mbg__profile_invert(int n, real J[3][3], real I[3][3]);

#endif
