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
#include "runner/verify/fill.h"
#include "runner/verify/reference.h"

enum buffer { BUFFER_A, BUFFER_B, BUFFER_BIAS, BUFFER_C, BUFFER_COUNT };

struct work {
	struct problem p;
	struct gemm_packed gemm;           /* arguments of the current execution */
	size_t bytes[BUFFER_COUNT];        /* 0: no bias */
	struct copies copies[BUFFER_COUNT];
	struct rotation net, cold;
	int64_t last;                      /* copy of C that was written last */
};

/* --- what it takes --- */

static bool is_dense_f32(const struct operand *o)
{
	return o->dtype == DTYPE_F32 && (o->layout == LAYOUT_ANY || o->layout == LAYOUT_NCX);
}

static int64_t volume(const struct problem_shape *s)
{
	int64_t n = 1;
	for (int i = 0; i < s->rank; i++)
		n *= s->dim[i];
	return n;
}

static bool takes(const struct problem *p)
{
	const struct epilogue *e = &p->epilogue[0];
	return p->kernel == KERNEL_MATMUL && p->m <= GEMM_PACKED_ROWS && (!p->transpose_a || p->m == 1) &&
		volume(&p->batch_a) == 1 && volume(&p->batch_b) == 1 && p->operand[1].constant &&
		is_dense_f32(&p->operand[0]) && is_dense_f32(&p->operand[1]) &&
		is_dense_f32(&p->operand[2]) &&
		p->accumulator == DTYPE_F32 && (!p->epilogue_count ||
		(p->epilogue_count == 1 && e->kind == EPILOGUE_BIAS && is_dense_f32(&e->operand)));
}

static int algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	*list = (struct backend_list){ 0 };
	if (!takes(p))
		return error_set(err, "only dense f32 matrix multiplications of at most %d rows with a "
			"constant matrix and at most a bias are packed", GEMM_PACKED_ROWS);
	struct backend_single *s = backend_single(list, p,
		&(struct algorithm){ .api = "plain C", .layouts = "wei=packed16", .math = "strict",
			.matrix = MATRIX_NO });
	snprintf(s->name, sizeof(s->name), "packed:%s:%d_threads", gemm_isa()->name, team_size());
	return 0;
}

/* --- operands --- */

static void release(void *work)
{
	struct work *w = work;
	for (int i = 0; i < BUFFER_COUNT; i++)
		copies_close(&w->copies[i]);
	free(w);
}

static bool is_constant(const struct work *w, enum buffer i)
{
	const struct problem *p = &w->p;
	return i == BUFFER_A ? p->operand[0].constant :
		i == BUFFER_BIAS ? w->bytes[i] && p->epilogue[0].operand.constant : i == BUFFER_B;
}

/* Sets the buffers' sizes and how many copies they have; returns the bytes of all. */
static double sizes_set(struct work *w, const struct backend_limits *limits)
{
	const struct problem *p = &w->p;
	double sum = 0, need = 0;
	w->bytes[BUFFER_A] = (size_t)(p->m * p->mk) * sizeof(float);
	w->bytes[BUFFER_B] = gemm_packed_bytes(p->mn, p->mk);
	w->bytes[BUFFER_BIAS] = p->epilogue_count ? (size_t)p->mn * sizeof(float) : 0;
	w->bytes[BUFFER_C] = (size_t)(p->m * p->mn) * sizeof(float);
	for (int i = 0; i < BUFFER_COUNT; i++)
		sum += (double)w->bytes[i];
	w->net = rotation_of(limits->sets);
	w->cold = rotation_of(rotation_cold(sum, problem_bytes(p), limits->cold_sets));
	for (int i = 0; i < BUFFER_COUNT; i++) {
		w->copies[i].count = is_constant(w, (enum buffer)i) && w->net.count > w->cold.count ?
			w->net.count : w->cold.count;
		need += w->bytes[i] ? copies_need(w->bytes[i], w->copies[i].count) : 0;
	}
	return need;
}

static double value_at(enum buffer i, int64_t index)
{
	return fill_value((uint64_t)i + 1, index, FILL_SIGNED, 0, DTYPE_F32);
}

struct filling {
	struct work *w;
	enum buffer buffer;
};

static void fill_share(void *argument, int i, int count)
{
	const struct filling *f = argument;
	const struct problem *p = &f->w->p;
	float *to = (float *)(void *)copies_at(&f->w->copies[f->buffer], 0);
	int64_t n = f->buffer == BUFFER_B ? p->mk * p->mn : (int64_t)(f->w->bytes[f->buffer] / sizeof(float));
	for (int64_t at = n * i / count, end = n * (i + 1) / count; at < end; at++) {
		float value = (float)value_at(f->buffer, at);
		if (f->buffer == BUFFER_B)
			gemm_packed_put(to, p->mn, p->mk, at, value);
		else
			to[at] = value;
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
	if (i == BUFFER_B)
		memset(copies_at(c, 0), 0, w->bytes[i]);
	if (i != BUFFER_C)
		team_run(fill_share, &f);
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
	w->gemm = (struct gemm_packed){ .isa = gemm_isa(), .m = w->p.m, .n = w->p.mn, .k = w->p.mk };
	double need = sizes_set(w, limits);
	bool good = need <= limits->memory_bytes;
	for (int i = 0; i < BUFFER_COUNT && good; i++)
		good = buffer_make(w, (enum buffer)i);
	if (good)
		return w;
	release(w);
	*status = STATUS_NO_MEMORY;
	error_set(err, "needs %.0f MB of memory, %.0f MB are free", need / 1e6, limits->memory_bytes / 1e6);
	return NULL;
}

/* --- execution --- */

/* Returns a buffer's copy: of constants the next one in the rotation, of others only in CACHE_COLD. */
static float *taken(const struct work *w, enum buffer i, int64_t net, int64_t cold)
{
	bool rotates = is_constant(w, i);
	return w->bytes[i] ? (float *)(void *)copies_at(&w->copies[i], rotates && !cold ? net : cold) : NULL;
}

static void operands_take(struct work *w, enum cache cache)
{
	int64_t net = cache == CACHE_NET ? rotation_next(&w->net) : 0,
		cold = cache == CACHE_COLD ? rotation_next(&w->cold) : 0;
	w->gemm.a = taken(w, BUFFER_A, net, cold);
	w->gemm.b = taken(w, BUFFER_B, net, cold);
	w->gemm.bias = taken(w, BUFFER_BIAS, net, cold);
	w->gemm.c = taken(w, BUFFER_C, net, cold);
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

static double rotated_bytes(const void *work)
{
	const struct work *w = work;
	double bytes = 0;
	for (int i = 0; i < BUFFER_COUNT; i++)
		bytes += is_constant(w, (enum buffer)i) ? copies_lines(w->bytes[i]) : 0;
	return bytes * (double)w->net.count;
}

/* --- checking --- */

static double input_value(void *state, enum check_role role, int number, int64_t index)
{
	(void)number;
	(void)state;
	return value_at(role == CHECK_SOURCE	? BUFFER_A
			: role == CHECK_WEIGHTS ? BUFFER_B
						: BUFFER_BIAS,
		index);
}

static double got_at(void *state, int64_t place)
{
	const struct work *w = state;
	return (double)((const float *)(const void *)copies_at(&w->copies[BUFFER_C], w->last))[place];
}

/* Compares the last outputs, and those of one more execution into poisoned memory. */
static int check(void *work, double *worst, struct error *err)
{
	struct work *w = work;
	struct check_inputs in = { .value = input_value, .state = w };
	struct reference e;
	double ns;
	int bad = reference_make(&e, &w->p, &in, w->p.m * w->p.mn, REFERENCE_MOST, err);
	check_forget(&in);
	*worst = bad ? 0 : reference_off(&e, got_at, w);
	if (bad || isinf(*worst))
		return bad;
	for (int64_t set = 0; set < w->cold.count; set++)
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
