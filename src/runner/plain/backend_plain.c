/* Kernels in plain C on the runner's threads, for problems that oneDNN does not support: gather, select,
 * topk, argreduce, scan, instancenorm, groupnorm, rmsnorm, functions of bytes; also quantize and dequantize,
 * which oneDNN has too, and squares, cubes, functions with an exponential, batchnorm, broadcasts and concat,
 * for which it is slow (it joins whole channels of one image on one thread). The loops are vectorized by the
 * compiler; each output is computed by one thread.
 *
 * Elementwise functions and softmax in f32 have algorithms in place, too: runtimes write over an activation
 * that is not read again, which halves the memory that passes through the caches (21 MB of sigmoid on two
 * cores with 32 MB of L3: a quarter of the time). Their note is "in_place"; the analysis decides for which
 * layers they count. */
#include "config.h"

#include "problem/kernel.h"
#include "runner/measure/backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/verify/check.h"
#include "runner/measure/clock.h"
#include "runner/host/copies.h"
#include "runner/verify/domain.h"
#include "runner/verify/fill.h"
#include "runner/plain/plain_convert.h"
#include "runner/plain/plain_kernels.h"
#include "runner/plain/plain_lines.h"
#include "runner/host/team.h"
#include "runner/verify/integers.h"

#define EPSILON 1e-5
#define INDEX_SETS 1024    /* maximum number of index sets of a gather */
#define SAMPLES 512

/* All threads, and for small problems one; not in place and in place. */
#define OFFERS 4
struct offers {
	struct problem problem;
	struct algorithm algorithm[OFFERS];
	int threads[OFFERS];
	bool in_place[OFFERS];
	char name[OFFERS][48];
	int count;
};

struct work {
	struct problem p;
	struct plain plain;                 /* arguments of the current execution */
	int operands;
	struct copies operand[PROBLEM_OPERANDS];
	int64_t elements[PROBLEM_OPERANDS];
	struct copies scale, shift;         /* f32 */
	struct copies indices;              /* topk's second output */
	struct rotations turn;
	int64_t executions, last[PROBLEM_OPERANDS]; /* so far; last copy of each operand used */
	int threads;
	int overwritten;                    /* source that is also the destination, or -1 */
	struct plain_table table;
	float *partial;
};

static void offer(struct offers *o, int threads, bool in_place)
{
	const struct problem *p = &o->problem;
	bool by_lines = in_place || plain_by_lines(p);
	int i = o->count++;
	o->threads[i] = threads;
	o->in_place[i] = in_place;
	snprintf(o->name[i], sizeof(o->name[i]), "%s%s%s:%d_threads%s",
		plain_by_table(p) ? "table" : kernel_name(p->kernel), by_lines ? ":" : "",
		by_lines ? plain_lines()->name : "", threads, in_place ? ":in_place" : "");
	o->algorithm[i] = (struct algorithm){ .api = "plain C", .name = o->name[i], .layouts = "",
		.math = "strict", .rank = i, .matrix = MATRIX_NO, .notes = in_place ? "in_place" : "" };
}

static int algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	bool apart = plain_refuses(p, err) == 0,
		in_place = plain_overwritten(p) >= 0 && plain_takes_order(p);
	*list = (struct backend_list){ 0 };
	if (!apart && !in_place)
		return -1;
	struct offers *o = base_calloc(1, sizeof(*o));
	o->problem = *p;
	for (int k = 0; k < 2; k++)
		for (int one = 0; (k ? in_place : apart) && one <= team_is_too_large(p); one++)
			offer(o, one ? 1 : team_size(), k);
	*list = (struct backend_list){ .count = o->count, .algorithm = o->algorithm, .state = o };
	return 0;
}

static void release(void *work)
{
	struct work *w = work;
	for (int i = 0; i < PROBLEM_OPERANDS; i++)
		copies_close(&w->operand[i]);
	copies_close(&w->scale);
	copies_close(&w->shift);
	copies_close(&w->indices);
	free(w->partial);
	free(w);
}

/* Source values: all bytes for a function of bytes; few for a softmax, so that most of its results are not
 * 0. */
static double byte_value(const struct problem *p, int64_t index)
{
	int64_t range = p->kernel == KERNEL_SOFTMAX ? 16 : 256;
	double value = fill_value(1, index, FILL_INDEX, range, DTYPE_S32);
	return p->operand[0].dtype == DTYPE_S8 ? value - (double)(range / 2) : value;
}

static bool is_index(const struct work *w, int i)
{
	return i > 0 && i == kernel_row(w->p.kernel)->index_operand;
}

/* Value of source i at a logical index. Index operands differ between sets; copies of constants are equal. */
static double source_value(const struct work *w, int i, int64_t set, int64_t index)
{
	bool index_set = is_index(w, i);
	if (plain_by_table(&w->p))
		return byte_value(&w->p, index);
	uint64_t seed = (uint64_t)(i + 1) + (index_set ? (uint64_t)set << 8 : 0);
	bool divisor = w->p.kernel == KERNEL_BINARY && i == 1 && fill_mode_positive(w->p.mode);
	return fill_value(seed, index, index_set ? FILL_INDEX : divisor ? FILL_POSITIVE : FILL_SIGNED,
		index_set ? w->p.shape[0].dim[w->p.axis] : 0, w->p.operand[i].dtype);
}

static double role_value(const struct problem *p, enum check_role role, int64_t index)
{
	if (kernel_row(p->kernel)->quantizer)
		return fill_value(101, index, FILL_FACTOR, integer_factor_limit(p), DTYPE_F32);
	bool positive = role == CHECK_SCALE || role == CHECK_VARIANCE;
	enum fill_kind kind = positive ? FILL_POSITIVE : FILL_SIGNED;
	return fill_value(101 + (uint64_t)(role - CHECK_SCALE), index, kind, 0, DTYPE_F32);
}

/* Factor (CHECK_SCALE) or addend (CHECK_SHIFT) number `index`. As every runtime does beforehand, those of a
 * batchnorm include its mean and variance. */
static float parameter(const struct problem *p, enum check_role role, int64_t index)
{
	double value = role_value(p, role, index);
	if (p->kernel != KERNEL_BATCHNORM)
		return (float)value;
	double by = role_value(p, CHECK_SCALE, index) /
		sqrt(role_value(p, CHECK_VARIANCE, index) + EPSILON);
	return (float)(role == CHECK_SCALE ? by : value - role_value(p, CHECK_MEAN, index) * by);
}

/* Copies of operand i in CACHE_NET. A gather that reads few rows of a large table would find them in the
 * caches, so each index set selects other rows. */
static int64_t sets_of(const struct work *w, int i, int64_t constant_sets)
{
	const struct problem *p = &w->p;
	if (i == w->operands - 1)
		return 1;
	if (is_index(w, i) && p->operand[0].constant) {
		struct problem_shape from = problem_operand_shape(p, 0), to = problem_operand_shape(p, 2);
		int64_t rounds = plain_volume(&from, 0, from.rank) / plain_volume(&to, 0, to.rank) + 1;
		int64_t most = INDEX_SETS > constant_sets ? INDEX_SETS / constant_sets : 1;
		return constant_sets * (rounds < most ? rounds : most);
	}
	return p->operand[i].constant ? constant_sets : 1;
}

static size_t bytes_of(const struct work *w, int i)
{
	return (size_t)dtype_bytes(w->p.operand[i].dtype, (double)w->elements[i]);
}

/* Bytes of all copies, of the operands and of the other buffers (counted before they exist). */
static double sizes_set(struct work *w, const struct backend_limits *limits)
{
	double bytes = 0, need = 0, constant = 0;
	for (int i = 0; i < w->operands; i++) {
		struct problem_shape s = problem_operand_shape(&w->p, i);
		w->elements[i] = w->p.kernel == KERNEL_CONCAT ? plain_source_begin(&w->p, w->p.shape_count) :
			plain_volume(&s, 0, s.rank);
		bytes += (double)bytes_of(w, i);
		constant += w->p.operand[i].constant ? (double)bytes_of(w, i) : 0;
	}
	int64_t net = constant > 0 ? limits->sets : 1,
		cold = rotation_sets(bytes, problem_bytes(&w->p), limits->cold_sets);
	/* of a gather's table only the selected rows pass */
	double passes = fmin(constant, problem_constant_bytes(&w->p));
	w->turn = rotations_of(net, cold, passes, fmax(0, problem_bytes(&w->p) - passes));
	for (int i = 0; i < w->operands - (w->overwritten >= 0); i++) {
		int64_t sets = sets_of(w, i, net);
		w->operand[i].count = sets > cold ? sets : cold;
		need += copies_need(bytes_of(w, i), w->operand[i].count);
	}
	double beside = 8 * (double)problem_parameter_count(&w->p);
	if (kernel_row(w->p.kernel)->second_output)
		beside = 8 * (double)w->elements[1];
	return need + (beside + 2 * COPIES_LINE) * (double)cold;
}

/* Encodes one value; types that fill.h does not support get zeros. */
static void element_write(const struct work *w, int i, int64_t set, int64_t index, char *to)
{
	enum dtype type = w->p.operand[i].dtype;
	size_t bytes = (size_t)dtype_bits(type) / 8;
	double value = source_value(w, i, set, index);
	memset(to, 0, bytes);
	if (isfinite(value))
		fill_encode(value, type, to);
}

struct filling {
	struct work *w;
	int operand;
	int64_t set;
};

/* f32 is exact for 4-bit types. */
static double element_read(const char *from, enum dtype type, int64_t at)
{
	float small;
	if (dtype_bits(type) >= 8)
		return fill_decode(from + at * (dtype_bits(type) / 8), type);
	plain_load(&small, from, type, at, 1);
	return (double)small;
}

/* Packs two values per byte. */
static void packed_share(const struct filling *f, char *to, int i, int count)
{
	enum dtype type = f->w->p.operand[f->operand].dtype;
	int64_t n = f->w->elements[f->operand], pairs = (n + 1) / 2;
	for (int64_t at = pairs * i / count, end = pairs * (i + 1) / count; at < end; at++) {
		float pair[2] = { (float)source_value(f->w, f->operand, f->set, 2 * at),
			(float)source_value(f->w, f->operand, f->set, 2 * at + 1) };
		plain_store(to, type, 2 * at, pair, n - 2 * at < 2 ? 1 : 2);
	}
}

static void fill_share(void *argument, int i, int count)
{
	struct filling *f = argument;
	int64_t n = f->w->elements[f->operand], bytes = dtype_bits(f->w->p.operand[f->operand].dtype) / 8;
	char *to = copies_at(&f->w->operand[f->operand], f->set);
	if (bytes == 0) {
		packed_share(f, to, i, count);
		return;
	}
	for (int64_t at = n * i / count, end = n * (i + 1) / count; at < end; at++)
		element_write(f->w, f->operand, f->set, at, to + at * bytes);
}

static bool operand_make(struct work *w, int i)
{
	struct copies *c = &w->operand[i];
	if (copies_open(c, bytes_of(w, i), c->count))
		return false;
	struct filling f = { w, i, 0 };
	for (; i < w->operands - 1 && f.set < (is_index(w, i) ? c->count : 1); f.set++)
		team_run(fill_share, &f);
	if (!is_index(w, i))
		copies_spread(c);
	return true;
}

static bool factors_make(struct work *w, struct copies *c, enum check_role role)
{
	int64_t values = problem_parameter_count(&w->p);
	if (copies_open(c, (size_t)values * sizeof(float), w->turn.of[CACHE_COLD].count))
		return false;
	for (int64_t i = 0; i < values; i++) {
		float value = parameter(&w->p, role, i);
		memcpy(copies_at(c, 0) + i * (int64_t)sizeof(value), &value, sizeof(value));
	}
	copies_spread(c);
	return true;
}

static bool buffers_make(struct work *w)
{
	for (int i = 0; i < w->operands - (w->overwritten >= 0); i++)
		if (!operand_make(w, i))
			return false;
	if (problem_parameter_count(&w->p) &&
		(!factors_make(w, &w->scale, CHECK_SCALE) || !factors_make(w, &w->shift, CHECK_SHIFT)))
		return false;
	if (plain_passes(&w->p) > 1)
		w->partial = base_calloc(2 * TEAM_MOST, sizeof(*w->partial));
	if (!kernel_row(w->p.kernel)->second_output)
		return true;
	if (copies_open(&w->indices, (size_t)w->elements[1] * sizeof(int64_t),
		    w->turn.of[CACHE_COLD].count))
		return false;
	copies_spread(&w->indices);
	return true;
}

static void *prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err)
{
	const struct offers *o = list->state;
	struct work *w = base_calloc(1, sizeof(*w));
	*status = STATUS_NO_MEMORY;
	w->p = o->problem;
	w->threads = o->threads[index];
	w->overwritten = o->in_place[index] ? plain_overwritten(&w->p) : -1;
	w->operands = problem_operand_count(&w->p);
	double need = sizes_set(w, limits);
	if (!(need <= limits->memory_bytes) || !buffers_make(w)) {
		release(w);
		error_set(err, "needs %.0f MB of memory, %.0f MB are free", need / 1e6,
			limits->memory_bytes / 1e6);
		return NULL;
	}
	if (plain_by_table(&w->p))
		plain_table_make(&w->p, &w->table);
	w->plain = (struct plain){ .problem = &w->p,
		.lines = plain_lines(),
		.table = &w->table,
		.partial = w->partial,
		.epsilon = (float)EPSILON };
	return w;
}

static void *beside(const struct copies *c, int64_t set)
{
	return c->base ? copies_at(c, set) : NULL;
}

/* Sets the arguments of the next execution. */
static void operands_take(struct work *w, enum cache cache)
{
	int64_t next = rotations_next(&w->turn, cache);
	bool all = cache_plain(cache) == CACHE_COLD;
	int64_t cold = all ? next : 0, net = all ? 0 : next;
	int last = w->operands - 1;
	for (int i = 0; i < w->operands; i++) {
		int64_t set = all ? cold : w->p.operand[i].constant ? net : 0;
		if (is_index(w, i) && cache_plain(cache) != CACHE_WARM)
			set = w->executions++ % w->operand[i].count;
		w->last[i] = i == last && !all ? 0 : set;
	}
	for (int i = 0; i < last; i++)
		w->plain.source[i] = copies_at(&w->operand[i], w->last[i]);
	last = w->overwritten >= 0 ? w->overwritten : last;
	w->plain.destination = copies_at(&w->operand[last], w->last[last]);
	w->plain.scale = beside(&w->scale, cold);
	w->plain.shift = beside(&w->shift, cold);
	w->plain.indices = beside(&w->indices, cold);
}

static int run(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	struct work *w = work;
	int passes = plain_passes(&w->p);
	void (*share)(void *, int, int) = w->overwritten >= 0 ? plain_in_place_share : plain_share;
	(void)err;
	double begin = clock_ns();
	for (int64_t i = 0; i < times; i++) {
		operands_take(w, cache);
		for (w->plain.pass = 0; w->plain.pass < passes; w->plain.pass++)
			if (w->threads == 1)
				share(&w->plain, 0, 1);
			else
				team_run(share, &w->plain);
		__asm__ volatile("" : : "r"(w->plain.destination) : "memory"); /* do not optimize away */
	}
	*elapsed_ns = clock_elapsed(begin);
	return 0;
}

static double input_value(void *state, enum check_role role, int number, int64_t index)
{
	const struct work *w = state;
	if (w->p.kernel == KERNEL_CONCAT)
		return source_value(w, 0, w->last[0], plain_source_begin(&w->p, number) + index);
	return role == CHECK_SOURCE ? source_value(w, number, w->last[number], index)
				    : role_value(&w->p, role, index);
}

static double off_by(enum dtype type, double got, double value, double scale)
{
	double off = integer_error(type, got, value) / (scale > 0 ? scale : 1);
	return isnan(off) ? INFINITY : off;
}

/* In place, the last run's input was the result of the run before it: runs once more on fresh input. */
static void check_again(struct work *w)
{
	struct filling f = { w, w->overwritten, w->last[w->overwritten] };
	team_run(fill_share, &f);
	if (w->threads == 1)
		plain_in_place_share(&w->plain, 0, 1);
	else
		team_run(plain_in_place_share, &w->plain);
}

static int check(void *work, double *worst, struct error *err)
{
	struct work *w = work;
	struct check_inputs in = { .value = input_value, .state = w, .epsilon = EPSILON };
	int last = w->operands - 1;
	int64_t total = w->elements[last], count = total < SAMPLES ? total : SAMPLES;
	enum dtype type = w->p.operand[last].dtype;
	int bad = 0;
	*worst = 0;
	if (w->overwritten >= 0)
		check_again(w);
	for (int64_t i = 0; i < count && !bad; i++) {
		double value, scale, off = INFINITY;
		bool known = false;
		int64_t at = check_sample(&w->p, total, count, i);
		double got = element_read(w->plain.destination, type, at);
		bool accepted = !w->plain.indices && check_accepts(&w->p, &in, at, got, 0, &known);
		if (known)
			off = accepted ? 0 : INFINITY;
		else if (check_output(&w->p, &in, at, &value, &scale))
			off = off_by(type, got, value, scale);
		else
			bad = error_set(err, "no reference for %s", kernel_name(w->p.kernel));
		if (!bad && w->plain.indices &&
			!check_accepts(&w->p, &in, at, (double)w->plain.indices[at], 0, &known))
			off = INFINITY;
		if (!bad && off > *worst)
			*worst = off;
	}
	check_forget(&in);
	bool whole =
		copies_are_whole(&w->indices) && copies_are_whole(&w->scale) && copies_are_whole(&w->shift);
	for (int i = 0; i < w->operands; i++)
		whole = whole && copies_are_whole(&w->operand[i]);
	if (!bad && !whole) {
		*worst = INFINITY;
		error_set(err, "it writes beyond its operands");
	}
	return bad;
}

static double rotated_bytes(const void *work, enum cache cache)
{
	const struct work *w = work;
	double bytes = 0;
	for (int i = 0; i < w->operands - 1; i++)
		if (w->p.operand[i].constant)
			bytes += rotations_bytes(&w->turn, cache, copies_lines(w->operand[i].bytes));
	if (kernel_row(w->p.kernel)->index_operand && w->p.operand[0].constant) {
		double taken = (double)w->operand[1].count * (double)w->elements[w->operands - 1] *
			dtype_bits(w->p.operand[0].dtype) / 8;
		return taken < bytes ? taken : bytes;
	}
	return bytes;
}

const struct backend backend_plain = { .api = "plain C", .algorithms = algorithms, .forget = backend_forget,
	.prepare = prepare, .run = run, .check = check, .rotated_bytes = rotated_bytes, .release = release };
