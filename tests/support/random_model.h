/* Random models for property tests: the text of a valid model file from a seed.

   Bodies are placed at random and joined as they stand, so that the design configuration is assembled: phi = 0 there up
   to rounding and to the offsets that drivers, couplings, pins and guesses ask for. Joints that close loops leave more
   freedoms than they take, so that the rows of a random model are independent. Masses are 0.5-3, lengths 0.2-1,
   stiffnesses 10-200, rates at most 2; springs are not short, bushings not turned by more than one radian.
   Equal seeds and options give equal texts. */
#ifndef SUPPORT_RANDOM_MODEL_H
#define SUPPORT_RANDOM_MODEL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
  RANDOM_TREE,   /* spatial bodies, no loop */
  RANDOM_LOOP,   /* spatial bodies with one to three loops */
  RANDOM_PLANAR, /* planar bodies and planar points, trees or loops */
  RANDOM_MIXED,  /* all four motions */
  RANDOM_KINDS
} random_kind;

/* Switches of special models, for the whole model. */
enum {
  RANDOM_ALIGNED = 1 << 0,    /* axes along coordinate axes, quarter turns, offsets along axes by powers of two */
  RANDOM_COINCIDENT = 1 << 1, /* offsets of joints, centres of mass and markers are 0, bodies stand in one place */
  RANDOM_LEANING = 1 << 2,    /* zeros of directions that parameters move */
  RANDOM_EQUAL = 1 << 3,      /* equal masses, moments of a ball or a wheel */
  RANDOM_REST = 1 << 4,       /* nothing moves at the start */
  RANDOM_REACTIONS = 1 << 5,  /* reactions of everything */
  RANDOM_SPARSE = 1 << 6,     /* one or two bodies, few forces */
  RANDOM_LIGHT = 1 << 7,      /* some masses are 1e-2 of others, 1e-6 without forces */
  RANDOM_ROTORS = 1 << 8,     /* bodies that turn by 0.05 to 2 rad a step of 0.01 */
  RANDOM_WEIGHTLESS = 1 << 9, /* no gravity */
  RANDOM_STIFF = 1 << 10,     /* modal bodies with the stiffness of metal */
  RANDOM_SPECIAL = 1 << 11    /* set for all of them: three parameters of value 0, 1 and any, one unused */
};

/* Rates of states that come after the accelerations. */
typedef enum { RANDOM_LATE_NONE, RANDOM_LATE_ACCELERATIONS, RANDOM_LATE_ALL } random_late;

typedef struct {
  random_kind kind;
  int bodies;        /* 0: 2-6 */
  bool lower;        /* joints of spatial bodies are lower pairs, which a tree takes without rows; no screws */
  bool drivers;      /* drivers whose laws contain parameters */
  bool couplings;    /* couplings of joint coordinates, where two are free */
  bool curves;       /* ... some with laws, or a constant that varies in time */
  bool rolling;      /* wheels, balls and blades, where freedoms are left */
  bool guides;       /* joints on curves and surfaces, tendons, couplings of rates, gears, where freedoms are left */
  bool pins;         /* equations of the start */
  bool guesses;      /* guesses and rates that differ from the design configuration */
  bool forces;       /* forces of all types */
  bool conservative; /* forces only with an energy: springs, stops, bushings without damping */
  bool contacts;     /* a contact of two spheres, or of a sphere in a socket or on a road, with its signals */
  bool beams;        /* one or two beams, with signals of their own */
  bool modal;        /* some bodies are modal ones, with signals of their own */
  bool signals;      /* signals of all types, criteria */
  bool states;       /* states, which force laws, signals and criteria use */
  bool stiff;        /* ... some of them fast */
  random_late late;  /* ... two of them with accelerations, reactions, forces, energies in their rates */
  unsigned special;  /* switches of special models, 0: a general one */
  bool mirrorable;   /* nothing that a mirror image changes: no tyres or polar angles, no components in laws or pins */
  bool local_road;   /* tyres roll on a road of the model that moves with it when it becomes a part */
  bool indifferent;  /* nothing that depends on the place of the model in the world: no components in world axes */
  /* The same model moved: 12 numbers, R row-major, then x. Only with `indifferent` and spatial bodies; NULL: not moved.
     Gravity is turned too. Rotations given in the world are written in fewer ways than otherwise. */
  const double *placement;
  /* A folder for part.json and model.json (the text returned); NULL: no parts. Only without placement. */
  const char *folder;
} random_model_options;

/* Everything, of the kind seed % RANDOM_KINDS; without parts. */
random_model_options random_model_mix(uint64_t seed);

/* Adds rows that are not joints of a table: couplings, joints on curves and surfaces and tendons, wheels in every other
   model; and, in turn, states, modal bodies, beams or none of them. */
void random_model_rows(uint64_t seed, random_model_options *options);

/* A special one: switches and what it consists of are drawn from the seed. */
random_model_options random_model_special(uint64_t seed);

/* The text; free with free(). */
char *random_model(uint64_t seed, const random_model_options *options);

#endif
