/* Fuzz programs: each makes inputs from seeds, one input a seed, and puts them to the library. What all of them share:
   the command line, a limit of time, the report of a crash with its seed, memory that is counted, numbers that must be
   finite.

     fuzz.NAME                                the inputs of a test (more with MBG_TEST_LONG=1)
     fuzz.NAME COUNT                          seeds 1 .. COUNT
     fuzz.NAME FIRST COUNT                    seeds FIRST .. FIRST+COUNT-1
     fuzz.NAME --write FILE SEED              also writes the input of this seed
     fuzz.NAME --keep FOLDER FIRST COUNT      writes an input that fails: FOLDER/NAME-SEED

   With MBG_FUZZ_SAY=1 set, every input that ends with an error is a line (seed, status, first message), and so is every
   one that takes more than half a second.

   tests/fuzz/campaign runs all of them on all cores. */
#ifndef SUPPORT_FUZZ_H
#define SUPPORT_FUZZ_H

#include "mbgrad/mbgrad.h"
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>

/* an assertion that also holds without asserts and without cmocka around it */
#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                  \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

/* ---------------------------------------------------------------------- bytes */

typedef struct {
  char *at; /* a 0 follows the last byte */
  size_t length, room;
} fuzz_text;

void fuzz_put(fuzz_text *text, const char *bytes, size_t count);
void fuzz_puts(fuzz_text *text, const char *string);
void fuzz_printf(fuzz_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void fuzz_clear(fuzz_text *text);
void fuzz_free(fuzz_text *text);

/* Bytes into and out of the middle; a count beyond the end is cut. */
void fuzz_insert(fuzz_text *text, size_t at, const char *bytes, size_t count);
void fuzz_erase(fuzz_text *text, size_t at, size_t count);

/* One change without regard to structure: a bit, a byte, a piece inserted, removed or repeated. pieces: bytes that mean
   something in this format. */
void fuzz_damage(support_rng *rng, fuzz_text *text, const char *const *pieces, int npiece);

/* Some bytes of another text, inserted somewhere. */
void fuzz_splice(support_rng *rng, fuzz_text *text, const char *other);

/* true in one of n cases */
bool fuzz_one_of(support_rng *rng, int n);
/* one of the strings of a constant array */
#define FUZZ_PICK(rng, list) ((list)[support_index((rng), (int)(sizeof(list) / sizeof((list)[0])))])

/* Numbers as text: zeros, signs, the ends of the range, large whole numbers. */
const char *fuzz_number(support_rng *rng);
/* Words that are no numbers in JSON and CSV, or numbers out of range: "1e999", "NaN", "0x10". */
const char *fuzz_no_number(support_rng *rng);

/* ---------------------------------------------------------------------- programs */

typedef enum {
  FUZZ_REFUSED,  /* with a message */
  FUZZ_ACCEPTED, /* read; what was asked then ended with a message */
  FUZZ_ANSWERED, /* numbers came out */
  FUZZ_OUTCOMES
} fuzz_outcome;

typedef struct {
  const char *name;        /* of the program */
  int inputs, inputs_long; /* of a test */
  int problems;            /* that inputs are made for */
  void (*open)(void);      /* before the first input, in a folder of its own; or NULL */
  void (*close)(void);     /* or NULL */
  void (*make)(support_rng *rng, int problem, fuzz_text *out);
  fuzz_outcome (*take)(support_rng *rng, int problem, const char *text, size_t length);
} fuzz_program;

int fuzz_main(const fuzz_program *program, int argc, char **argv);
int fuzz_libfuzzer(const fuzz_program *program, const uint8_t *data, size_t size);

#ifdef MBG_LIBFUZZER
#define FUZZ_MAIN(program)
#else
#define FUZZ_MAIN(program)                                                                                             \
  int main(int argc, char **argv) { return fuzz_main(&(program), argc, argv); }
#endif

/* main, and the function that libFuzzer calls with the bytes of a file */
#define FUZZ_PROGRAM(program)                                                                                          \
  int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);                                                        \
  int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return fuzz_libfuzzer(&(program), data, size); }      \
  FUZZ_MAIN(program)

/* The folder of the sources, for tests/fuzz/corpus, gallery and docs; MBG_FUZZ_ROOT in the environment: another one. */
const char *fuzz_root(void);
/* A file of tests/fuzz/corpus; free with free(). */
char *fuzz_corpus(const char *name);
/* The same into the present folder. */
void fuzz_copy_corpus(const char *name, const char *copy);

/* ---------------------------------------------------------------------- what must hold */

/* A context whose memory is counted and limited to 1 GiB; closing it fails when a block is left. One at a time. */
mbg_context *fuzz_context(void);
void fuzz_context_close(mbg_context *ctx);

/* After an error: a known status with a message, and every message is one line of printable text. Out of memory only at
   the limit. */
void fuzz_check_error(const mbg_context *ctx, int err);

/* Fails with the name of the numbers unless all are finite. */
void fuzz_check_finite(const char *what, const double *x, size_t count);

/* Questions to a model, as random as the rng, over few steps. Every number that comes out is finite. */
fuzz_outcome fuzz_ask(support_rng *rng, mbg_context *ctx, const mbg_model *model);
/* A simulation and its gradients; ANSWERED with both. formulation: NULL: any. state: a file to start from, NULL: none;
   REFUSED when it cannot be read. */
fuzz_outcome fuzz_ask_gradient(support_rng *rng, mbg_context *ctx, const mbg_model *model, const char *formulation,
                               const char *state);
/* Searches; restart: the file of a search with the options that these functions choose, NULL: none. REFUSED when the
   search cannot be begun or goes another way than its file. */
fuzz_outcome fuzz_ask_identify(support_rng *rng, mbg_context *ctx, const mbg_model *model, const char *restart);
fuzz_outcome fuzz_ask_optimize(support_rng *rng, mbg_context *ctx, const mbg_model *model, const char *restart);
fuzz_outcome fuzz_ask_control(support_rng *rng, mbg_context *ctx, const mbg_model *model, const char *restart);

#endif
