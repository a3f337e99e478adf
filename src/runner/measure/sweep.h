/* Goes through the combinations of several choices, those of a library's settings. All of them if there are
 * not too many, else as many as allowed, spread evenly over the whole. */
#ifndef RUNNER_SWEEP_H
#define RUNNER_SWEEP_H

#include <stdbool.h>
#include <stdint.h>

#define SWEEP_AXES 64

struct sweep {
	int axes;
	int size[SWEEP_AXES];  /* number of choices of each axis */
	int at[SWEEP_AXES];    /* the present combination */
	int64_t total;         /* number of combinations */
	int64_t left;          /* of those that will be visited */
	int64_t index, step;   /* of the present one; from one to the next */
};

/* Begins a sweep over the product of `axes` (at most SWEEP_AXES) sizes of at least 1, which visits at most
 * `most` combinations, each once. Axes whose product with those before would exceed 2^62 keep their first
 * choice. 0 axes have one combination. */
void sweep_open(struct sweep *s, const int *size, int axes, int64_t most);
/* Goes to the next combination, at first to the first choice of each axis. Returns false after the last. */
bool sweep_next(struct sweep *s);

/* Writes the values from `least` to `last` in steps of `stride` (at least 1) that are tried of a setting: all
 * if they fit in `room` (at least 2), else the first, those that are powers of two, and the last. Returns
 * their number; 0 if the range is empty. */
int sweep_values(int64_t least, int64_t last, int64_t stride, int64_t *to, int room);

#endif
