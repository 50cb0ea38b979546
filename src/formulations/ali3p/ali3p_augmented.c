/* The augmented Lagrangian iteration of the paper (equations 1a, 1b) as a way to the same step:

     (s J + Phi_z^T s alpha Phi_z T) dD = -s (E1(z, lambda) + Phi_z^T alpha Phi(z)),  z <- z exp(dD)      s = h^2/4
     lambda <- lambda + alpha Phi(z)

   One Newton step between two corrections of the multipliers; the violation of a row falls by 1/(1 + kappa), kappa =
   alpha h^2/4 (Phi_z M^-1 Phi_z^T). The matrix has the size of the coordinates. Drivers prescribe: their multipliers
   stay unknowns, and the bodies they move need no mass. Multipliers end with alpha times the rounding of Phi, which the
   factors of the projections remove (theory 5, section 9). */
#include "formulations/ali3p/ali3p_work.h"

enum { POLISH = sizeof(real) == sizeof(double) ? 0 : 2, ITERATIONS = 60, AGE = 3 };

struct mbg__penalty {
  mbg__csc A; /* coordinates, then hard rows */
  mbg__klu *klu;
  int *slots;         /* of the entries of J, of products over soft rows, of hard rows, in the order of list_entries */
  int *rowptr, *left; /* Phi_z T in the matrix of the step: entries of a row   (rows + 1), (all of them) */
  int *col;           /* their columns */
  int *place;         /* of a hard row among the unknowns, -1: soft            (rows) */
  double *alpha;      /* (rows) */
  real *force, *b;    /* lambda + alpha Phi (rows), right side and solution    (coordinates + hard rows) */
};

/* ---------------------------------------------------------------------- matrix */

/* entries of Phi_z T row by row */
static void list_rows(const mbg__ali3p *a, mbg__penalty *p) {
  const mbg__csc *S = &a->step.A;
  for (int pass = 0; pass < 2; pass++) {
    for (int j = 0; j < a->n; j++) {
      for (int e = S->colptr[j]; e < S->colptr[j + 1]; e++) {
        const int r = S->rowind[e] - a->n;
        if (r >= 0 && pass == 0) {
          p->rowptr[r + 1]++;
        } else if (r >= 0) {
          p->left[p->rowptr[r]] = e;
          p->col[p->rowptr[r]++] = j;
        }
      }
    }
    /* sums of counts, then back to the beginnings, which the second pass has moved */
    for (int r = 0; r < a->nrow && pass == 0; r++) {
      p->rowptr[r + 1] += p->rowptr[r];
    }
    for (int r = a->nrow; r > 0 && pass == 1; r--) {
      p->rowptr[r] = p->rowptr[r - 1];
    }
  }
  p->rowptr[0] = 0;
}

/* Calls of one visitor for pairs and values: row and col NULL: adds the values of the step's matrix at the slots. */
static int visit_entries(const mbg__ali3p *a, mbg__penalty *p, real s, int *row, int *col) {
  const mbg__csc *S = &a->step.A;
  int k = 0;
#define ENTRY(i, j, value)                                                                                             \
  do {                                                                                                                 \
    if (row) {                                                                                                         \
      row[k] = i;                                                                                                      \
      col[k] = j;                                                                                                      \
    } else {                                                                                                           \
      p->A.val[p->slots[k]] += value;                                                                                  \
    }                                                                                                                  \
    k++;                                                                                                               \
  } while (0)
  for (int j = 0; j < a->n; j++) {
    for (int e = S->colptr[j]; e < S->colptr[j + 1] && S->rowind[e] < a->n; e++) {
      ENTRY(S->rowind[e], j, S->val[e]);
    }
  }
  for (int r = 0; r < a->nrow; r++) {
    const int hard = p->place[r];
    for (int e = S->colptr[a->n + r]; e < S->colptr[a->n + r + 1] && S->rowind[e] < a->n; e++) {
      for (int l = p->rowptr[r]; hard < 0 && l < p->rowptr[r + 1]; l++) {
        ENTRY(S->rowind[e], p->col[l], s * p->alpha[r] * S->val[e] * S->val[p->left[l]]);
      }
      if (hard >= 0) {
        ENTRY(S->rowind[e], hard, S->val[e]);
      }
    }
    for (int l = p->rowptr[r]; hard >= 0 && l < p->rowptr[r + 1]; l++) {
      ENTRY(hard, p->col[l], S->val[p->left[l]]);
    }
  }
#undef ENTRY
  return k;
}

/* entries with repetitions, as double: rows may be many and long */
static double count_entries(const mbg__ali3p *a, const mbg__penalty *p) {
  const mbg__csc *S = &a->step.A;
  double count = mbg__csc_count(S);
  for (int r = 0; r < a->nrow; r++) {
    const double length = p->rowptr[r + 1] - p->rowptr[r];
    count += p->place[r] < 0 ? length * (S->colptr[a->n + r + 1] - S->colptr[a->n + r]) : 0;
  }
  return count;
}

static int build_matrix(mbg_context *ctx, mbg__ali3p *a, mbg__penalty *p, int size) {
  const double count = count_entries(a, p);
  int err = MBG_OK, *row = NULL, *col = NULL;
  if (count > 5e7) {
    return mbg__fail(ctx, MBG_ERROR_UNSUPPORTED,
                     "the mechanism is too large for \"iteration\": \"augmented\": its loops would fill the matrix; "
                     "take \"saddle\"");
  }
  row = mbg__alloc(ctx, (size_t)count + 1, sizeof(int));
  col = mbg__alloc(ctx, (size_t)count + 1, sizeof(int));
  p->slots = MBG_TAKE(&a->arena, int, (size_t)count);
  if (!row || !col || !p->slots) {
    err = mbg__fail_memory(ctx);
    goto MBG__TO(done);
  }
  const int entries = visit_entries(a, p, 0, row, col);
  if (mbg__csc_build(&p->A, &a->arena, size, size, entries, row, col, p->slots) < 0 ||
      mbg__klu_prepare(&p->klu, mbg__context_allocator(ctx), &p->A, MBG__KLU_FROZEN, a->n) < 0) {
    err = mbg__fail_memory(ctx);
  }
done:
  mbg__free(ctx, row);
  mbg__free(ctx, col);
  return err;
}

int mbg__penalty_create(mbg_context *ctx, mbg__ali3p *a) {
  const size_t entries = (size_t)mbg__csc_count(&a->step.A), nrow = (size_t)a->nrow;
  mbg__penalty *p = MBG_TAKE(&a->arena, mbg__penalty, 1);
  int size = a->n;
  a->penalty = p;
  if (!p) {
    return mbg__fail_memory(ctx);
  }
  p->rowptr = MBG_TAKE(&a->arena, int, nrow + 1);
  p->left = MBG_TAKE(&a->arena, int, entries);
  p->col = MBG_TAKE(&a->arena, int, entries);
  p->place = MBG_TAKE(&a->arena, int, nrow);
  p->alpha = MBG_TAKE(&a->arena, double, nrow);
  p->force = MBG_TAKE(&a->arena, real, nrow);
  p->b = MBG_TAKE(&a->arena, real, (size_t)a->n + nrow);
  if (a->arena.failed) {
    return mbg__fail_memory(ctx);
  }
  for (int r = 0; r < a->nrow; r++) {
    p->place[r] = a->hard[r] ? size++ : -1;
  }
  list_rows(a, p);
  return build_matrix(ctx, a, p, size);
}

void mbg__penalty_thaw(mbg__penalty *p) { mbg__klu_thaw(p->klu); }

void mbg__penalty_destroy(mbg__penalty *p) {
  if (p) {
    mbg__klu_destroy(p->klu);
    p->klu = NULL;
  }
}

mbg__part mbg__ali3p_alpha(const mbg__ali3p *a, int row, double h) {
  return r_where_part(r_all(a->alpha > 0), a->alpha, 4 / (h * h * a->eps[row]));
}

/* ---------------------------------------------------------------------- messages */

/* kappa of a row: its violation falls by 1/(1 + kappa) an iteration */
static double kappa_of(const mbg__ali3p *a, int row, double h) {
  return a->penalty->alpha[row] * h * h / 4 * a->eps[row] * a->kappa;
}

/* the penalty suits neither small nor large rows: which, and what would */
static bool blame_penalty(const mbg__ali3p *a, double h, char *advice, size_t size) {
  const int *rows;
  int least = -1, most = -1;
  double good = 0;
  char label[160];
  (void)mbg__tree_rows(a->tree, &rows);
  for (int r = 0; r < a->nrow; r++) {
    if (!a->hard[r]) {
      least = least < 0 || kappa_of(a, r, h) < kappa_of(a, least, h) ? r : least;
      most = most < 0 || kappa_of(a, r, h) > kappa_of(a, most, h) ? r : most;
      good = fmax(good, 4 / (h * h * a->eps[r]));
    }
  }
  if (!(a->alpha > 0) || least < 0) {
    return false;
  }
  if (kappa_of(a, least, h) < 10) {
    mbg__row_label(a->m, rows[least], label, sizeof(label));
    mbg__format(advice, size,
                "alpha = %g is too small for this step: an iteration leaves %.2g of a violation at %s; take alpha = "
                "%.0e, a smaller step, or no alpha, which lets each row have its own",
                a->alpha, 1 / (1 + kappa_of(a, least, h)), label, good);
    return true;
  }
  if (kappa_of(a, most, h) > 1e6) {
    mbg__row_label(a->m, rows[most], label, sizeof(label));
    mbg__format(advice, size,
                "alpha = %g is too large for this step: at %s it exceeds the inertia %.0e times, and rounding drowns "
                "the motion; take alpha = %.0e, or no alpha, which lets each row have its own",
                a->alpha, label, kappa_of(a, most, h), good);
    return true;
  }
  return false;
}

static int not_converged(mbg_context *ctx, const mbg__ali3p *a, const mbg__ali3p_node *to, int iterations,
                         double change) {
  char advice[400];
  const bool blamed = blame_penalty(a, re(*to->h), advice, sizeof(advice));
  return mbg__ali3p_not_converged(ctx, a, to, "the augmented Lagrangian iteration", iterations, change,
                                  blamed ? advice : NULL);
}

/* ---------------------------------------------------------------------- iteration */

/* The stiffness is that of lambda: alpha Phi is none of the forces at the end, and large at the beginning. */
static int factor(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *to) {
  mbg__penalty *p = a->penalty;
  int where = -1, err = MBG_OK;
  MBG_TRY(mbg__ali3p_evaluate(ctx, a, to, to->lambda));
  MBG_TRY(mbg__tree_linearize(ctx, a->tree));
  a->counts->assemblies++;
  mbg__tree_matrix_step(a->tree, &a->step, *to->h, to->D, NULL);
  mbg__csc_zero(&p->A);
  (void)visit_entries(a, p, *to->h * *to->h / 4, NULL, NULL);
  a->counts->factorizations++;
  err = mbg__klu_factor(p->klu, &where);
  if (err == MBG_ERROR_SINGULAR) {
    char advice[400];
    const bool blamed = blame_penalty(a, re(*to->h), advice, sizeof(advice));
    err = mbg__fail(ctx, MBG_ERROR_SINGULAR, "step to t = %g (h = %g): the matrix with the penalty is singular; %s",
                    mbg__time_shown(re(*to->t)), re(*to->h), blamed ? advice : "take \"iteration\": \"saddle\"");
  } else if (err < 0) {
    err = mbg__fail_memory(ctx);
  }
done:
  return err;
}

/* Newton's step of (1a); phi: at the positions of `to` */
static int iterate(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *from, const mbg__ali3p_node *to, bool fresh,
                   double *change) {
  mbg__penalty *p = a->penalty;
  const real s = *to->h * *to->h / 4;
  int err = MBG_OK;
  for (int r = 0; r < a->nrow; r++) {
    p->force[r] = to->lambda[r] + (p->place[r] < 0 ? p->alpha[r] * a->phi[r] : 0);
  }
  if (fresh) {
    MBG_TRY(factor(ctx, a, to));
  }
  MBG_TRY(mbg__ali3p_evaluate(ctx, a, to, p->force));
  vn_scale(a->n, p->b, -s, a->E1);
  for (int r = 0; r < a->nrow; r++) {
    if (p->place[r] >= 0) {
      p->b[p->place[r]] = -a->phi[r];
    }
  }
  mbg__klu_solve(p->klu, p->b, 1);
  vn_axpy(a->n, to->D, 1, p->b);
  for (int r = 0; r < a->nrow; r++) {
    to->lambda[r] += p->place[r] >= 0 ? p->b[p->place[r]] / s : 0;
  }
  *change = mbg__ali3p_largest(a->n, p->b);
  mbg__ali3p_follow(a, from, to);
  a->counts->newton_iterations++;
  a->counts->solves++;
done:
  return err;
}

/* Phi of positions that have changed by p->b, and what it would be if it were linear */
static int follow_rows(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *to, double *bent, double *straight) {
  const mbg__penalty *p = a->penalty;
  int err = MBG_OK;
  vn_copy(a->nrow, p->force, a->phi);
  MBG_TRY(mbg__ali3p_evaluate_near(ctx, a, to));
  *bent = *straight = 0;
  for (int r = 0; r < a->nrow; r++) {
    real linear = p->force[r];
    for (int l = p->rowptr[r]; l < p->rowptr[r + 1]; l++) {
      linear += a->step.A.val[p->left[l]] * p->b[p->col[l]];
    }
    *straight = fmax(*straight, p->place[r] < 0 ? (double)fabs(re(linear)) : 0);
    *bent = fmax(*bent, p->place[r] < 0 ? (double)fabs(re(a->phi[r] - linear)) : 0);
  }
done:
  return err;
}

/* (1a) by a step of Newton, then (1b) where Phi is what the multipliers lack and not what Newton has left. corrected:
   Phi at rounding is no correction either, and needs none. */
static int step(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *from, const mbg__ali3p_node *to, bool fresh,
                double *change, bool *corrected) {
  const mbg__penalty *p = a->penalty;
  double bent = 0, straight = 0;
  int err = MBG_OK;
  MBG_TRY(iterate(ctx, a, from, to, fresh, change));
  MBG_TRY(follow_rows(ctx, a, to, &bent, &straight));
  *corrected = bent <= 0.5 * straight;
  for (int r = 0; *corrected && r < a->nrow; r++) {
    to->lambda[r] += p->place[r] < 0 ? p->alpha[r] * a->phi[r] : 0;
  }
  *corrected = *corrected || mbg__ali3p_largest(a->nrow, a->phi) <= 1e-15 * fmax(1, a->m->size);
done:
  return err;
}

/* The error after a change, by the rate of changes, is rounding; no rate below 1/100: what a correction of multipliers
   changes is seen in the next iteration. */
static bool is_small(double change, double last, double size) {
  const double rate = fmax(change / last, 0.01), left = rate < 1 ? change * rate / (1 - rate) : change;
  return left <= 1e-15 * (1e-2 + size);
}

int mbg__ali3p_augmented(mbg_context *ctx, mbg__ali3p *a, const mbg__ali3p_node *from, const mbg__ali3p_node *to,
                         real h) {
  double change = INFINITY, last = INFINITY;
  bool fresh = true, corrected = false, last_one = false;
  int err = MBG_OK, it = 0, age = 0;
  for (int r = 0; r < a->nrow; r++) {
    a->penalty->alpha[r] = a->hard[r] ? 0 : (double)mbg__ali3p_alpha(a, r, re(h));
  }
  mbg__ali3p_predict(a, from, h, to);
  MBG_TRY(mbg__ali3p_evaluate_near(ctx, a, to));
  for (; it < ITERATIONS; it++) {
    MBG_TRY(step(ctx, a, from, to, fresh, &change, &corrected));
    age = fresh ? 0 : age + 1;
    const bool converged = corrected && is_small(change, last, mbg__ali3p_largest(a->n, to->D));
    /* changes that no longer fall are rounding, but an old matrix turns rounding of multipliers into motion */
    const bool small = it > 0 && (converged || (change >= 0.9 * last && last < 1e-11)) &&
                       mbg__ali3p_largest(a->nrow, a->phi) <= 1e-13 * fmax(1, a->m->size);
    if (!isfinite(change) || last_one || (small && (converged || age == 0))) {
      break;
    }
    last_one = small;
    /* a rate that the penalty sets is not the fault of the matrix: it is kept for a while */
    fresh = small || !corrected || (it > 0 && age >= AGE && change > 0.2 * last);
    last = change;
  }
  if (!isfinite(change) || it == ITERATIONS) {
    err = not_converged(ctx, a, to, it, change);
    goto MBG__TO(done);
  }
  for (int polish = 0; polish < POLISH; polish++) {
    MBG_TRY(step(ctx, a, from, to, polish == 0, &change, &corrected));
  }
  MBG_TRY(mbg__ali3p_evaluate(ctx, a, to, to->lambda));
done:
  return err;
}

void mbg__ali3p_polish(mbg__ali3p *a, const mbg__ali3p_node *n) {
  vn_scale(a->n, a->b, -1, a->E1);
  vn_zero(a->nrow, a->b + a->n);
  mbg__tree_matrix_solve(a->tree, &a->mass, a->b, 1);
  a->counts->solves++;
  vn_axpy(a->nrow, n->lambda, 1, a->b + a->n);
}
