/* The operands of one problem in device memory, filled once and shared by all algorithms of the problem: as
 * many buffer sets as the cache states need, guard bytes before and after each operand, and the reference
 * values for the check. */
#ifndef RUNNER_CUDA_BUFFERS_H
#define RUNNER_CUDA_BUFFERS_H

#include "problem/result.h"
#include "runner/verify/check.h"
#include "runner/gpu/cuda_work.h"
#include "runner/verify/fill.h"

#define CUDA_GUARD 256        /* guard bytes before and after every operand */
#define CUDA_GUARD_BYTE 0xA5
#define CUDA_POISON_BYTE 0xFF /* NaN in every floating-point type */
#define CUDA_PARTS (PROBLEM_SHAPES + PROBLEM_EPILOGUES + 8)

enum cuda_part_kind { CUDA_PART_INPUT, CUDA_PART_DESTINATION, CUDA_PART_INDICES };

/* One operand. The constant ones (also the scale, shift, mean and variance of a normalization) lie in one
 * block, all others in a second one. Blocks are replicated as a whole. */
struct cuda_part {
	enum cuda_part_kind kind;
	enum check_role role;      /* of an input */
	int number;                /* of a source or an epilogue, as in struct check_inputs */
	struct cuda_layout layout;
	enum fill_kind fill;
	int64_t limit;             /* of fill_value */
	bool constant;
	double bytes;              /* span of the strides */
	size_t at;                 /* byte offset in its block */
};

/* Lists the operands of a problem and lays them out in the two blocks; allocates nothing and needs no device.
 * bytes: size of the block of variable operands [0] and of constant ones [1]. Returns -1 and sets err if the
 * runner cannot hold an operand: a type of less than 8 bits, or strides that do not fit the shape. */
int cuda_parts_list(
	const struct problem *p, struct cuda_part *parts, int *count, double bytes[2], struct error *err);
/* Returns the seed of an operand's values; it depends on role and number. */
uint64_t cuda_part_seed(const struct cuda_part *part);

struct cuda_block {
	char *base;                /* device memory; NULL if the block is empty */
	size_t bytes;              /* of one copy */
	int64_t copies;
};

/* Reference value of one output element, computed by the first check. */
struct cuda_expected {
	int64_t index;             /* row-major */
	double value, scale;       /* scale: sum of the absolute terms, see check_output */
};

struct cuda_space; /* a workspace, shared by the algorithms that fit in it */

struct cuda_buffers {
	struct problem problem;
	int64_t sets, cold_sets;             /* buffer sets for CACHE_NET and CACHE_COLD, at least 1 */
	int users;
	struct cuda_part part[CUDA_PARTS];
	int part_count;
	struct cuda_block block[2];          /* [part.constant] */
	struct cuda_space *spaces;
	struct check_inputs inputs;
	struct cuda_expected *expected;
	int expected_count;                  /* -1: not computed yet; 0: the kernel has no reference */
};

/* Returns the buffers for this problem and these limits and adds a user. Reuses those of the preceding call
 * if problem and set counts are equal. Returns NULL and sets *status (no_memory, unsupported, failed) and err
 * on failure; no CUDA error stays pending. */
struct cuda_buffers *cuda_buffers_get(
	const struct problem *p, const struct backend_limits *limits, enum status *status, struct error *err);
/* Returns -1 and sets err if `bytes` exceed the memory limit. */
int cuda_buffers_refuse(double bytes, const struct backend_limits *limits, struct error *err);
/* Removes a user. The memory stays allocated for the next algorithm, until buffers of another problem are
 * requested or cuda_buffers_drop is called. */
void cuda_buffers_put(struct cuda_buffers *b);
/* Frees the buffers kept from the last problem if they have no user. */
void cuda_buffers_drop(void);
/* Writes all inputs and guard bytes again and waits for the stream. */
int cuda_buffers_refill(struct cuda_buffers *b, struct error *err);
double cuda_buffers_bytes(const struct cuda_buffers *b);
/* Returns the address of an operand in copy number `copy` (modulo their count) of its block. */
char *cuda_buffers_at(const struct cuda_buffers *b, const struct cuda_part *part, int64_t copy);
/* Sets all addresses for one execution except the workspace: constant operands from one copy, the others from
 * another. */
void cuda_buffers_pointers(const struct cuda_buffers *b, int64_t constant_copy, int64_t other_copy,
	struct cuda_pointers *at);

/* Returns a workspace of at least `bytes` in at least `copies` copies, each with guard bytes, and adds a
 * user. It may be shared with other algorithms. Returns NULL and sets *status and err on failure. */
struct cuda_space *cuda_space_get(struct cuda_buffers *b, double bytes, int64_t copies, enum status *status,
	struct error *err);
void cuda_space_put(struct cuda_space *s);
char *cuda_space_at(const struct cuda_space *s, int64_t copy);

#endif
