/* The operands of one problem in device memory, filled once and shared by all algorithms of the problem: so many copies that
 * caches are as a cache state wants them, guard bytes before and behind each, and the reference values to check against. */
#ifndef RUNNER_CUDA_BUFFERS_H
#define RUNNER_CUDA_BUFFERS_H

#include "problem/result.h"
#include "runner/check.h"
#include "runner/cuda_work.h"
#include "runner/fill.h"

#define CUDA_GUARD 256        /* bytes, before and behind every operand */
#define CUDA_GUARD_BYTE 0xA5
#define CUDA_POISON_BYTE 0xFF /* NaN in every floating-point type */
#define CUDA_PARTS (PROBLEM_SHAPES + PROBLEM_EPILOGUES + 8)

enum cuda_part_kind { CUDA_PART_INPUT, CUDA_PART_DESTINATION, CUDA_PART_INDICES };

/* One operand. Constant ones (normalizations' scale and its like too) lie in one block, all others in another; a copy is a
 * copy of a block. */
struct cuda_part {
	enum cuda_part_kind kind;
	enum check_role role;      /* inputs */
	int number;
	struct cuda_layout layout;
	enum fill_kind fill;
	int64_t limit;
	bool constant;
	double bytes;              /* what its strides span */
	size_t at;                 /* in its block */
};

/* The parts of a problem, without memory: pure. -1: not in memory as we know it (types of less than a byte, strides that do
 * not fit the shape). `bytes`: of the two blocks, [0] constant. */
int cuda_parts_list(const struct problem *p, struct cuda_part *parts, int *count, double bytes[2], struct error *err);
/* The seed of an operand's values. */
uint64_t cuda_part_seed(const struct cuda_part *part);

struct cuda_block {
	char *base;                /* device memory; NULL: nothing in it */
	size_t bytes;              /* of one copy */
	int64_t copies;
};

/* Outputs to compare, computed at the first check. */
struct cuda_expected {
	int64_t index;
	double value, scale;
};

struct cuda_space; /* workspace, shared by those to whom it is large enough */

struct cuda_buffers {
	struct problem problem;
	int64_t sets, cold_sets;
	int users;
	struct cuda_part part[CUDA_PARTS];
	int part_count;
	struct cuda_block block[2];          /* [part.constant] */
	struct cuda_space *spaces;
	struct check_inputs inputs;
	struct cuda_expected *expected;
	int expected_count;                  /* -1: not computed yet; 0: there is no reference */
};

/* The buffers of this problem and these limits, with one user more. NULL: *status (no_memory, unsupported, failed) and err
 * say why; errors of memory are cleared. */
struct cuda_buffers *cuda_buffers_get(const struct problem *p, const struct backend_limits *limits, enum status *status,
	struct error *err);
/* -1 where so many bytes are more than the limits allow. */
int cuda_buffers_refuse(double bytes, const struct backend_limits *limits, struct error *err);
/* They stay for the next algorithm, until another problem comes or they are dropped. */
void cuda_buffers_put(struct cuda_buffers *b);
/* Frees what nobody uses. */
void cuda_buffers_drop(void);
/* Writes all operands and guards again. */
int cuda_buffers_refill(struct cuda_buffers *b, struct error *err);
double cuda_buffers_bytes(const struct cuda_buffers *b);
/* Address of a part in a copy of its block. */
char *cuda_buffers_at(const struct cuda_buffers *b, const struct cuda_part *part, int64_t copy);
/* All addresses for one execution but the workspace: constants from one copy, the others from another. */
void cuda_buffers_pointers(const struct cuda_buffers *b, int64_t constant_copy, int64_t other_copy,
	struct cuda_pointers *at);

/* Memory of a workspace with its guards, `copies` times, shared with the other algorithms. */
struct cuda_space *cuda_space_get(struct cuda_buffers *b, double bytes, int64_t copies, enum status *status,
	struct error *err);
void cuda_space_put(struct cuda_space *s);
char *cuda_space_at(const struct cuda_space *s, int64_t copy);

#endif
