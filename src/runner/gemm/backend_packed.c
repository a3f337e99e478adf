/* Matrix multiplications with few rows and a constant B, as in the decode step of a language model
 * (gemm_packed.h). */
#include "config.h"

#include "runner/measure/backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/gemm/gemm_packed.h"
#include "runner/host/copies.h"
#include "runner/host/team.h"
#include "runner/measure/clock.h"
#include "runner/verify/domain.h"
#include "runner/verify/reference.h"

#define SCALE_SEED 11
#define ZERO_SEED 12

enum buffer {
	BUFFER_A,
	BUFFER_B,
	BUFFER_C,
	BUFFER_EPILOGUE, /* the first one's operand, then those of the others */
	BUFFER_COUNT = BUFFER_EPILOGUE + PROBLEM_EPILOGUES
};

struct work {
	struct problem p;
	struct gemm_packed gemm;           /* arguments of the current execution */
	size_t bytes[BUFFER_COUNT];        /* 0: an epilogue without an operand */
	struct copies copies[BUFFER_COUNT];
	struct copies scratch;
	struct rotations turn;
	int64_t last;                      /* copy of C that was written last */
};

/* --- what it takes --- */

static bool is_dense(const struct operand *o, enum dtype type)
{
	return o->dtype == type && (o->layout == LAYOUT_ANY || o->layout == LAYOUT_NCX);
}

static int64_t volume(const struct problem_shape *s)
{
	int64_t n = 1;
	for (int i = 0; i < s->rank; i++)
		n *= s->dim[i];
	return n;
}

/* Rows of all batches, which lie one behind the other if B has no batch. */
static int64_t rows_of(const struct problem *p)
{
	return p->m * volume(&p->batch_a);
}

/* Bits of B's integers; 0: B has other values. */
static int bits_of(const struct problem *p)
{
	enum dtype t = p->operand[1].dtype;
	bool taken = t == DTYPE_S2 || t == DTYPE_U2 || t == DTYPE_S4 || t == DTYPE_U4 || t == DTYPE_S8 ||
		t == DTYPE_U8;
	return taken ? dtype_bits(t) : 0;
}

static bool is_signed(const struct problem *p)
{
	enum dtype t = p->operand[1].dtype;
	return t == DTYPE_S2 || t == DTYPE_S4 || t == DTYPE_S8;
}

/* B may be stored transposed, since it is packed beforehand; A only if its columns are single values. */
static bool takes(const struct problem *p)
{
	enum dtype type = p->operand[0].dtype;
	bool good = p->kernel == KERNEL_MATMUL && (type == DTYPE_F32 || type == DTYPE_BF16) &&
		p->accumulator == DTYPE_F32 && p->operand[1].constant && volume(&p->batch_b) == 1 &&
		(rows_of(p) <= GEMM_PACKED_ROWS || bits_of(p)) && (!p->transpose_a || p->m == 1);
	for (int i = 0; i < 3; i++)
		good = good && is_dense(&p->operand[i], i == 1 && bits_of(p) ? p->operand[1].dtype : type);
	for (int i = 0; i < p->epilogue_count; i++)
		good = good && gemm_packed_takes(&p->epilogue[i], type);
	return good;
}

static bool is_narrow(const struct problem *p)
{
	return p->operand[0].dtype == DTYPE_BF16;
}

static int algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	*list = (struct backend_list){ 0 };
	if (!takes(p))
		return error_set(err,
			"only dense matrix multiplications in f32 or bf16 with a constant matrix, of at most "
			"%d rows or by integers of 2, 4 or 8 bits, are packed", GEMM_PACKED_ROWS);
	struct backend_single *s = backend_single(list, p,
		&(struct algorithm){ .api = "plain C", .layouts = "wei=packed16", .math = "strict",
			.matrix = MATRIX_NO });
	char bits[16] = "";
	if (bits_of(p))
		snprintf(bits, sizeof(bits), "%dbits:", bits_of(p));
	snprintf(s->name, sizeof(s->name), "packed:%s%s:%d_threads", bits, gemm_isa(is_narrow(p))->name,
		team_size());
	return 0;
}

/* --- operands --- */

static void release(void *work)
{
	struct work *w = work;
	for (int i = 0; i < BUFFER_COUNT; i++)
		copies_close(&w->copies[i]);
	copies_close(&w->scratch);
	free(w);
}

static const struct epilogue *epilogue_of(const struct work *w, enum buffer i)
{
	return &w->p.epilogue[i - BUFFER_EPILOGUE];
}

static bool is_constant(const struct work *w, enum buffer i)
{
	return i < BUFFER_EPILOGUE ? w->p.operand[i].constant :
		w->bytes[i] && epilogue_of(w, i)->operand.constant;
}

static int64_t elements(const struct work *w, enum buffer i)
{
	const struct gemm_packed *g = &w->gemm;
	if (i < BUFFER_EPILOGUE)
		return i == BUFFER_A ? g->m * g->k : i == BUFFER_B ? g->k * g->n : g->m * g->n;
	if ((int)i - BUFFER_EPILOGUE >= g->epilogue_count || epilogue_of(w, i)->kind == EPILOGUE_ELTWISE)
		return 0;
	return epilogue_of(w, i)->kind == EPILOGUE_BIAS ? g->n : g->m * g->n;
}

/* Sets the buffers' sizes and how many copies they have; returns the bytes of all. */
static double sizes_set(struct work *w, const struct backend_limits *limits)
{
	const struct gemm_packed *g = &w->gemm;
	double sum = 0, need = 0, constant = 0;
	for (int i = 0; i < BUFFER_COUNT; i++) {
		w->bytes[i] = i == BUFFER_B ? gemm_packed_bytes(g) :
			(size_t)elements(w, (enum buffer)i) * (g->narrow ? 2 : 4);
		sum += (double)w->bytes[i];
		constant += is_constant(w, (enum buffer)i) ? copies_lines(w->bytes[i]) : 0;
	}
	int64_t net = limits->sets, cold = rotation_sets(sum, problem_bytes(&w->p), limits->cold_sets);
	w->turn = rotations_of(net, cold, constant, sum - constant);
	for (int i = 0; i < BUFFER_COUNT; i++) {
		w->copies[i].count = is_constant(w, (enum buffer)i) && net > cold ? net : cold;
		need += w->bytes[i] ? copies_need(w->bytes[i], w->copies[i].count) : 0;
	}
	return need + (double)gemm_packed_scratch(g) * team_size();
}

/* Scales are f32 or bf16, from 1/2 to 3/2 divided by the largest integer of their type. Zero points, and
 * integers of B, are any of their type. */
static double scale_at(const struct work *w, int64_t index)
{
	return w->p.size ? ldexp(fill_value(SCALE_SEED, index, FILL_POSITIVE, 0, w->p.operand[0].dtype),
		1 - w->gemm.bits) : 1;
}

static double integer_at(const struct work *w, uint64_t seed, int64_t index)
{
	return fill_value(seed, index, FILL_INDEX, (int64_t)1 << w->gemm.bits, DTYPE_S64);
}

static double zero_at(const struct work *w, int64_t index)
{
	return w->p.zero_points ? integer_at(w, ZERO_SEED, index) : w->gemm.zero;
}

/* Divisors are positive. */
static double value_at(const struct work *w, enum buffer i, int64_t index)
{
	if (i == BUFFER_B && w->gemm.bits)
		return integer_at(w, (uint64_t)i + 1, index);
	bool divisor = i >= BUFFER_EPILOGUE && epilogue_of(w, i)->kind == EPILOGUE_BINARY &&
		fill_mode_positive(epilogue_of(w, i)->mode);
	return fill_value((uint64_t)i + 1, index, divisor ? FILL_POSITIVE : FILL_SIGNED, 0,
		w->p.operand[0].dtype);
}

struct filling {
	struct work *w;
	enum buffer buffer;
};

static void fill_share(void *argument, int i, int count)
{
	const struct filling *f = argument;
	const struct gemm_packed *g = &f->w->gemm;
	enum dtype type = f->w->p.operand[0].dtype;
	char *to = copies_at(&f->w->copies[f->buffer], 0);
	int64_t n = elements(f->w, f->buffer);
	for (int64_t at = n * i / count; at < n * (i + 1) / count; at++)
		fill_encode(value_at(f->w, f->buffer, at), type, to + at * (g->narrow ? 2 : 4));
}

/* Whole panels: no two threads write to one word. */
static void pack_share(void *argument, int i, int count)
{
	const struct work *w = argument;
	const struct gemm_packed *g = &w->gemm;
	char *to = copies_at(&w->copies[BUFFER_B], 0);
	int64_t panels = (g->n - 1) / GEMM_LANES + 1, blocks = g->bits ? (g->k - 1) / g->block + 1 : 0;
	int64_t first = panels * i / count * GEMM_LANES, end = panels * (i + 1) / count * GEMM_LANES;
	for (int64_t row = 0; row < g->k; row++)
		for (int64_t at = row * g->n + first; at < row * g->n + end && at < (row + 1) * g->n; at++)
			gemm_packed_put(g, to, at, value_at(w, BUFFER_B, at));
	for (int64_t row = 0; row < blocks; row++)
		for (int64_t at = row * g->n + first; at < row * g->n + end && at < (row + 1) * g->n; at++) {
			gemm_packed_put_scale(g, to, at, scale_at(w, at));
			if (g->zero_points)
				gemm_packed_put_zero(g, to, at, zero_at(w, at));
		}
}

static bool buffer_make(struct work *w, enum buffer i)
{
	struct copies *c = &w->copies[i];
	struct filling f = { w, i };
	if (!w->bytes[i])
		return true;
	if (copies_open(c, w->bytes[i], c->count))
		return false;
	if (i == BUFFER_B) {
		memset(copies_at(c, 0), 0, w->bytes[i]);
		team_run(pack_share, w);
	} else if (i != BUFFER_C) {
		team_run(fill_share, &f);
	}
	copies_spread(c);
	return true;
}

static void *prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err)
{
	const struct backend_single *s = list->state;
	struct work *w = base_calloc(1, sizeof(*w));
	(void)index;
	w->p = s->problem;
	bool narrow = is_narrow(&w->p);
	w->gemm = (struct gemm_packed){ .isa = gemm_isa(narrow), .m = rows_of(&w->p), .n = w->p.mn,
		.k = w->p.mk, .narrow = narrow, .epilogue_count = w->p.epilogue_count,
		.epilogue = w->p.epilogue, .bits = bits_of(&w->p), .zero_points = w->p.zero_points,
		.block = w->p.size ? w->p.size : w->p.mk };
	/* stored integers are from 0 on; without zero points unsigned ones in blocks count from the middle */
	w->gemm.zero = is_signed(&w->p) || w->p.size ? (float)(1 << w->gemm.bits >> 1) : 0;
	double need = sizes_set(w, limits);
	bool good = need <= limits->memory_bytes;
	for (int i = 0; i < BUFFER_COUNT && good; i++)
		good = buffer_make(w, (enum buffer)i);
	size_t scratch = gemm_packed_scratch(&w->gemm) * (size_t)team_size();
	good = good && (!scratch || copies_open(&w->scratch, scratch, 1) == 0);
	w->gemm.scratch = good && scratch ? copies_at(&w->scratch, 0) : NULL;
	if (good)
		return w;
	release(w);
	*status = STATUS_NO_MEMORY;
	error_set(err, "needs %.0f MB of memory, %.0f MB are free", need / 1e6, limits->memory_bytes / 1e6);
	return NULL;
}

/* --- execution --- */

/* Returns a buffer's copy: of constants the next one in the rotation, of others only in CACHE_COLD. */
static void *taken(const struct work *w, enum buffer i, int64_t net, int64_t cold)
{
	bool rotates = is_constant(w, i);
	return w->bytes[i] ? copies_at(&w->copies[i], rotates && !cold ? net : cold) : NULL;
}

static void operands_take(struct work *w, enum cache cache)
{
	int64_t set = rotations_next(&w->turn, cache);
	bool all = cache_plain(cache) == CACHE_COLD;
	int64_t net = all ? 0 : set, cold = all ? set : 0;
	w->gemm.a = taken(w, BUFFER_A, net, cold);
	w->gemm.b = taken(w, BUFFER_B, net, cold);
	w->gemm.c = taken(w, BUFFER_C, net, cold);
	for (int i = 0; i < w->gemm.epilogue_count; i++)
		w->gemm.operand[i] = taken(w, (enum buffer)(BUFFER_EPILOGUE + i), net, cold);
	w->last = cold;
}

static int run(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	struct work *w = work;
	(void)err;
	double begin = clock_ns();
	for (int64_t i = 0; i < times; i++) {
		operands_take(w, cache);
		team_run(gemm_packed_share, &w->gemm);
	}
	*elapsed_ns = clock_elapsed(begin);
	return 0;
}

static double rotated_bytes(const void *work, enum cache cache)
{
	const struct work *w = work;
	double bytes = 0;
	for (int i = 0; i < BUFFER_COUNT; i++)
		bytes += is_constant(w, (enum buffer)i) ? copies_lines(w->bytes[i]) : 0;
	return rotations_bytes(&w->turn, cache, bytes);
}

/* --- checking --- */

/* Of integers as they are stored: a zero point is, too. Without blocks the values themselves. */
static double input_value(void *state, enum check_role role, int number, int64_t index)
{
	const struct work *w = state;
	if (role == CHECK_SCALE || role == CHECK_SHIFT)
		return role == CHECK_SCALE ? scale_at(w, index) : zero_at(w, index);
	if (role == CHECK_WEIGHTS && !w->p.size)
		return value_at(w, BUFFER_B, index) - (double)w->gemm.zero;
	enum buffer i = role == CHECK_SOURCE ? BUFFER_A : role == CHECK_WEIGHTS ? BUFFER_B :
		(enum buffer)(BUFFER_EPILOGUE + number);
	return value_at(state, i, index);
}

static double got_at(void *state, int64_t place)
{
	const struct work *w = state;
	const char *c = copies_at(&w->copies[BUFFER_C], w->last);
	return fill_decode(c + place * (w->gemm.narrow ? 2 : 4), w->p.operand[0].dtype);
}

/* Compares the last outputs, and those of one more execution into poisoned memory. */
static int check(void *work, double *worst, struct error *err)
{
	struct work *w = work;
	struct check_inputs in = { .value = input_value, .state = w };
	struct reference e;
	double ns;
	int bad = reference_make(&e, &w->p, &in, w->gemm.m * w->gemm.n, REFERENCE_MOST, err);
	check_forget(&in);
	*worst = bad ? 0 : reference_off(&e, got_at, w);
	if (bad || isinf(*worst))
		return bad;
	for (int64_t set = 0; set < w->turn.of[CACHE_COLD].count; set++)
		memset(copies_at(&w->copies[BUFFER_C], set), 0xff, w->bytes[BUFFER_C]);
	run(w, CACHE_COLD, 1, &ns, err);
	*worst = fmax(*worst, reference_off(&e, got_at, w));
	for (int i = 0; i < BUFFER_COUNT; i++)
		if (!copies_are_whole(&w->copies[i])) {
			*worst = INFINITY;
			error_set(err, "it writes beyond its operands");
		}
	return 0;
}

const struct backend backend_packed = { .api = "plain C", .algorithms = algorithms, .forget = backend_forget,
	.prepare = prepare, .run = run, .check = check, .rotated_bytes = rotated_bytes, .release = release };
