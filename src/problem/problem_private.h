/* Shared by the files of src/problem. */
#ifndef PROBLEM_PROBLEM_PRIVATE_H
#define PROBLEM_PROBLEM_PRIVATE_H

#include "problem/kernel.h"

#define PROBLEM_NUMBER_MAX ((int64_t)1 << 48)

/* Returns -1 with err unless every field is in range and the fields are consistent. */
int problem_check(const struct problem *p, struct error *err);

/* ---- for the rows of kernels; checks return -1 with err */

/* Checks that v[from] to v[to - 1] are from 1 to PROBLEM_NUMBER_MAX; `what` names them in the error. */
int problem_check_positive(const int64_t *v, int from, int to, const char *what, struct error *err);
/* Checks rank and dimensions. */
int problem_check_shape(const struct problem_shape *s, struct error *err);
/* Checks that `axis` is a dimension of shape 0. */
int problem_check_axis(const struct problem *p, struct error *err);

/* Number of elements of a shape, and of operand i of a problem. */
double problem_shape_volume(const struct problem_shape *s);
double problem_operand_volume(const struct problem *p, int i);

#endif
