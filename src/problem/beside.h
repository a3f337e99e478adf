/* Problems that run side by side, as one problem: the set of the branches between a fork and a join of a
 * graph. A branch is a sequence of problems, which run one after the other.
 *
 *   beside   = "beside:" branch { "%" branch }      2 to BESIDE_BRANCHES; ascending by their bytes, so that a
 *   branch   = problem { "=" problem }              set has one spelling
 *
 *   beside:matmul:f32,f32.c,f32/f32:...%matmul:f32,f32.c,f32/f32:...
 *
 * What flows from one problem to the next is no part of it: each has its own operands. No problem of a
 * branch is itself one of branches. */
#ifndef PROBLEM_BESIDE_H
#define PROBLEM_BESIDE_H

#include "base/str.h"
#include "problem/result.h"

#define BESIDE_PREFIX "beside:"
#define BESIDE_BRANCHES 8  /* most branches */
#define BESIDE_PARTS 24    /* most problems of all branches together */

/* The branches of a problem, as pieces of its text. */
struct beside {
	int branch_count, part_count;
	int first[BESIDE_BRANCHES + 1]; /* branch i has the parts first[i] to first[i + 1] - 1 */
	struct text part[BESIDE_PARTS];
};

/* Splits the texts of branches (without "beside:"), borrowed. Returns -1 with err if there are too few or too
 * many; does not parse the problems. */
int beside_split(struct text branches, struct beside *b, struct error *err);
/* Writes the text of the problem to buf (PROBLEM_TEXT_SIZE bytes); sorts the branches, each given as its text
 * ("a=b"). Returns -1 if there are too few, or the text is too long. Does not check the problems. */
int beside_text(const char **branches, int count, char *buf);
/* What ran for one of the problems: a line of the result's `kernels`, in the order of the problems.
 *
 *   lane 1, 2 threads: conv oneDNN jit:avx2, workspace 4096, notes winograd
 *
 * The workspace in bytes, where it is known; the algorithm's notes, if it has some. beside_ran_write adds
 * what follows the colon, and a newline; beside_ran_next reads the line at *lines and goes on to the next:
 * false at the end, or at a line of another form. */
struct beside_ran {
	struct text kernel, api, name; /* api: up to its first blank */
	double workspace_bytes;        /* NaN unknown */
	struct text notes;
};
void beside_ran_write(struct str *out, enum kernel kernel, const struct algorithm *a);
bool beside_ran_next(const char **lines, struct beside_ran *ran);
/* The sum of what `of` says of each problem of the branches. */
double beside_sum(const struct problem *p, double (*of)(const struct problem *part));

#endif
