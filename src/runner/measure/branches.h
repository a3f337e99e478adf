/* The problems of branches that run side by side (problem/beside.h): the algorithm of each, and its work.
 * What backends that run them share; they differ in how branches run at the same time. */
#ifndef RUNNER_BRANCHES_H
#define RUNNER_BRANCHES_H

#include "problem/beside.h"
#include "runner/measure/offers.h"

/* A problem of a branch, with the algorithm that runs. */
struct branch_step {
	struct problem problem;
	struct offers offers;          /* open if `backend` is set */
	const struct backend *backend; /* that of the algorithm */
	struct algorithm algorithm;
	int threads, index;            /* threads for which it was chosen; its offer */
	double ns;                     /* of one execution in the choice */
	void *work;
};

struct branches {
	struct beside beside;
	struct branch_step step[BESIDE_PARTS];
	bool matrix;                   /* algorithms on matrix units are allowed */
};

/* Which algorithms the problems have: *matrix: one may use matrix units; *plain: each has one that does not.
 * Returns -1 with err if a problem has none at all. */
int branches_look(const struct problem *p, bool *matrix, bool *plain, struct error *err);
/* Parses the problems into zeroed *b. Returns -1 with err. branches_close also closes what failed. */
int branches_open(struct branches *b, const struct problem *p, bool matrix, struct error *err);
void branches_close(struct branches *b);
/* Chooses the fastest of a step's algorithms (of the first ones of each library, strict ones only) by running
 * each alone; keeps a choice for the same number of threads. Returns -1 with err. */
int branch_choose(struct branch_step *s, int threads, bool matrix, double memory_bytes, struct error *err);
/* Prepares a step's work with operands of its own. Returns -1 with *status and err. */
int branch_prepare(struct branch_step *s, const struct backend_limits *limits, enum status *status,
	struct error *err);
/* What the problems of a branch take one after the other, by the choice. */
double branch_cost(const struct branches *b, int branch);

/* For struct backend: the largest error of all problems that can be compared, as a share of the one that is
 * allowed for each; the sum of the bytes. */
int branches_check(struct branches *b, double *worst, struct error *err);
double branches_rotated_bytes(const struct branches *b, enum cache cache);

#endif
