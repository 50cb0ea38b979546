/* term_rates: terms of rows on rates, chi = sum_j n_j(z) v_j, a component of the twist, or minus a function of time, in
   the places that terms of positions have: phid = chi, gamma = the part of its rate without vd, b = n. With n_j,i the
   derivatives by entries and e1, e2 of term.h (theory 8, section 3):

     phid_G w  = n_j,i v_j e1_i(w)            L: u^T L w = n_j,i u_j e1_i(w)          gamma = n_j,i v_j e1_i(v) + c_t
     gamma_G w = n_j,ik v_j e1_i(v) e1_k(w) + n_j,i v_j e2_i(w, v)
     gamma_v u = n_j,i (u_j e1_i(v) + v_j e1_i(u)) */
#ifndef MBG_SYSTEM_TERM_RATES_H
#define MBG_SYSTEM_TERM_RATES_H

#include "system/term.h"

/* As mbg__term_eval and mbg__term_attributes. */
void mbg__rate_term_eval(const mbg__term *term, const mbg__term_in *in, mbg__term_value *value,
                         mbg__term_gradient *gradient);
int mbg__rate_term_attributes(const mbg__term *term, const mbg__term_in *in, int nact, const int *law_act,
                              const real (*law_jact)[3], mbg__term_attr *out);

/* An entry of G: its value, and the rows e1 (on w) and e2(., v). */
real mbg__entry_value(const mbg__frame *G, int entry);
void mbg__entry_slopes(const mbg__frame *G, const real v[6], int entry, real e1[6], real e2[6]);

#endif
