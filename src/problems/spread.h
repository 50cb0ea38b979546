/* spread: places in a box that fill it evenly, however many there are. */
#ifndef MBG_PROBLEMS_SPREAD_H
#define MBG_PROBLEMS_SPREAD_H

/* Coordinate j (of n) of place k, between 0 and 1. The seed shifts them all. */
double mbg__spread(int n, int k, int j, unsigned seed);

#endif
