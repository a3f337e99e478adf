/* Attention on a CPU, composed of oneDNN primitives: scores = q k', a mask that is added (the problem's own,
 * or the causal one), softmax, scores times v. The scores of all heads are in memory between them. Heads of q
 * that share keys and values become further rows of one matmul. */
#include "config.h"

#include "runner/measure/backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"
#include "runner/measure/clock.h"
#include "runner/host/copies.h"
#include "runner/verify/reference.h"
#include "runner/verify/fill.h"
#include "runner/onednn/onednn_layout.h"
#include "runner/onednn/onednn_offers.h"

#define CHECK_COST 1e8 /* multiplications of a check, at most */
#define PART_ARGS 3
#define MASK 3 /* its number among the sources (verify/check.h) */

enum part { PART_SCORES, PART_MASK, PART_SOFTMAX, PART_VALUES, PART_COUNT };
enum buffer { BUFFER_Q, BUFFER_K, BUFFER_V, BUFFER_OUT, BUFFER_SCORES, BUFFER_MASK, BUFFER_COUNT };

/* Arguments of each part. */
static const struct {
	int arg;
	enum buffer buffer;
} given[PART_COUNT][PART_ARGS] = {
	[PART_SCORES] = { { DNNL_ARG_SRC, BUFFER_Q }, { DNNL_ARG_WEIGHTS, BUFFER_K },
		{ DNNL_ARG_DST, BUFFER_SCORES } },
	[PART_MASK] = { { DNNL_ARG_SRC_0, BUFFER_SCORES }, { DNNL_ARG_SRC_1, BUFFER_MASK },
		{ DNNL_ARG_DST, BUFFER_SCORES } },
	[PART_SOFTMAX] = { { DNNL_ARG_SRC, BUFFER_SCORES }, { DNNL_ARG_DST, BUFFER_SCORES } },
	[PART_VALUES] = { { DNNL_ARG_SRC, BUFFER_SCORES }, { DNNL_ARG_WEIGHTS, BUFFER_V },
		{ DNNL_ARG_DST, BUFFER_OUT } },
};

struct state {
	struct problem problem;
	struct algorithm algorithm;
	struct str name;
	dnnl_primitive_desc_t pd[PART_COUNT]; /* NULL: not needed */
};

struct work {
	const struct state *state;
	int64_t elements[BUFFER_COUNT];
	struct copies copies[BUFFER_COUNT];
	struct rotation cold;
	dnnl_primitive_t primitive[PART_COUNT];
	dnnl_exec_arg_t (*args[PART_COUNT])[PART_ARGS]; /* per copy */
	int arg_count[PART_COUNT];
	int64_t last;                                   /* last copy used */
};

/* --- parts --- */

static int64_t planes(const struct problem *p)
{
	return p->n * p->kv_heads;
}

static int64_t rows(const struct problem *p)
{
	return p->heads / p->kv_heads * p->query_length;
}

static dnnl_data_type_t type_of(const struct problem *p)
{
	return p->operand[0].dtype == DTYPE_F32 ? dnnl_f32 : dnnl_bf16;
}

static onednn_md matrix(const struct problem *p, int64_t planes_count, int64_t m, int64_t n, bool turned)
{
	const int64_t dims[] = { planes_count, m, n }, strides[] = { m * n, turned ? 1 : n, turned ? m : 1 };
	return onednn_md_strides(3, dims, type_of(p), strides);
}

static onednn_md rows_of(const struct problem *p, int64_t m, int64_t n)
{
	const int64_t dims[] = { m, n }, strides[] = { n, 1 };
	return onednn_md_strides(2, dims, type_of(p), strides);
}

/* The scores (whole), or the problem's mask, as n x heads x queries x keys. */
static onednn_md mask_side(const struct problem *p, bool whole)
{
	const struct problem_shape *mask = problem_mask(p);
	int64_t dims[] = { p->n, p->heads, p->query_length, p->key_length }, strides[4], step = 1;
	for (int i = 3; i >= 0; i--) {
		dims[i] = whole ? dims[i] : mask->dim[i];
		strides[i] = step;
		step *= dims[i];
	}
	return onednn_md_strides(4, dims, type_of(p), strides);
}

static void op_make(const struct problem *p, enum part part, struct onednn_op *op)
{
	int64_t b = planes(p), m = rows(p), n = p->key_length;
	*op = (struct onednn_op){ .kind = KERNEL_MATMUL };
	switch (part) {
	case PART_SCORES:
		op->src = matrix(p, b, m, p->head_size, false);
		op->src1 = matrix(p, b, p->head_size, n, true);
		op->dst = matrix(p, b, m, n, false);
		break;
	case PART_MASK:
		op->kind = KERNEL_BINARY;
		op->algorithm = dnnl_binary_add;
		op->src = problem_mask(p) ? mask_side(p, true) : rows_of(p, b, m * n);
		op->src1 = problem_mask(p) ? mask_side(p, false) : rows_of(p, 1, m * n);
		op->dst = problem_mask(p) ? mask_side(p, true) : rows_of(p, b, m * n);
		break;
	case PART_SOFTMAX:
		op->kind = KERNEL_SOFTMAX;
		op->algorithm = dnnl_softmax_accurate;
		op->axis = 1;
		op->src = rows_of(p, b * m, n);
		op->dst = rows_of(p, b * m, n);
		break;
	default:
		op->src = matrix(p, b, m, n, false);
		op->src1 = matrix(p, b, n, p->value_size, false);
		op->dst = matrix(p, b, m, p->value_size, false);
		break;
	}
}

/* Scales the scores by 1 / sqrt(head_size). */
static dnnl_primitive_attr_t attributes_make(const struct problem *p, enum part part)
{
	dnnl_primitive_attr_t attr = NULL;
	dnnl_post_ops_t post = NULL;
	if (part != PART_SCORES || dnnl_primitive_attr_create(&attr) != dnnl_success)
		return NULL;
	if (dnnl_post_ops_create(&post) == dnnl_success) {
		onednn_post_eltwise(post, dnnl_eltwise_linear, (float)(1 / sqrt((double)p->head_size)), 0);
		dnnl_primitive_attr_set_post_ops(attr, post);
		dnnl_post_ops_destroy(post);
	}
	return attr;
}

static int part_find(struct state *s, enum part part, struct error *err)
{
	struct onednn_op op;
	dnnl_status_t status;
	const char *name = NULL;
	dnnl_primitive_attr_t attr = attributes_make(&s->problem, part);
	op_make(&s->problem, part, &op);
	int found = onednn_implementations(onednn_engine, &op, attr, &s->pd[part], 1, &status);
	onednn_md_free(op.src);
	onednn_md_free(op.src1);
	onednn_md_free(op.dst);
	if (attr)
		dnnl_primitive_attr_destroy(attr);
	if (!found)
		return error_set(err, "oneDNN has no %s for attention of these types and sizes (%s)",
			kernel_name(op.kind), dnnl_status2str(status));
	dnnl_primitive_desc_query(s->pd[part], dnnl_query_impl_info_str, 0, &name);
	str_addf(&s->name, "%s%s", part == PART_SCORES ? "composed:" : "+", name ? name : "unnamed");
	return 0;
}

/* --- the backend --- */

static void state_free(struct state *s)
{
	for (int i = 0; i < PART_COUNT; i++)
		if (s->pd[i])
			dnnl_primitive_desc_destroy(s->pd[i]);
	str_free(&s->name);
	free(s);
}

static int refuse(const struct problem *p, struct error *err)
{
	if (p->kernel != KERNEL_ATTENTION)
		return error_set(err, "only attention is composed of several primitives");
	if (p->epilogue_count || p->accumulator != DTYPE_F32)
		return error_set(err, "attention on oneDNN has no epilogues and accumulates in f32");
	for (int i = 0; i < 4; i++) {
		const struct operand *o = &p->operand[i];
		if (o->dtype != p->operand[0].dtype || (o->dtype != DTYPE_F32 && o->dtype != DTYPE_BF16))
			return error_set(
				err, "attention on oneDNN takes f32 or bf16, not %s", dtype_name(o->dtype));
		if (o->constant || o->layout == LAYOUT_NXC || o->layout == LAYOUT_STRIDES)
			return error_set(err,
				"attention on oneDNN takes dense row-major operands that are not constant");
	}
	return onednn_stream ? 0 : error_set(err, "oneDNN has no CPU engine");
}

static double elements_of(const struct problem *p, enum buffer i)
{
	double m = (double)rows(p) * (double)p->key_length;
	if (i < BUFFER_SCORES) {
		struct problem_shape s = problem_operand_shape(p, i);
		return (double)s.dim[0] * (double)s.dim[1] * (double)s.dim[2] * (double)s.dim[3];
	}
	if (i == BUFFER_SCORES)
		return m * (double)planes(p);
	const struct problem_shape *mask = problem_mask(p);
	if (mask)
		return (double)mask->dim[0] * (double)mask->dim[1] * (double)mask->dim[2] *
			(double)mask->dim[3];
	return p->mode == MODE_CAUSAL ? m : 0;
}

static double bytes_of(const struct problem *p, enum buffer i)
{
	return elements_of(p, i) * dtype_bits(p->operand[0].dtype) / 8;
}

static int algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	*list = (struct backend_list){ 0 };
	if (refuse(p, err))
		return -1;
	double inside = bytes_of(p, BUFFER_SCORES) + bytes_of(p, BUFFER_MASK);
	if (!(inside < 1e15)) /* its dimensions are within range, too */
		return error_set(err, "attention on oneDNN stores all scores: %.0f GB", inside / 1e9);
	struct state *s = base_calloc(1, sizeof(*s));
	s->problem = *p;
	for (int i = 0; i < PART_COUNT; i++)
		if ((i != PART_MASK || p->mode != MODE_FULL) && part_find(s, (enum part)i, err)) {
			state_free(s);
			return -1;
		}
	s->algorithm = (struct algorithm){ .api = "oneDNN",
		.name = s->name.p,
		.layouts = "",
		.math = "strict",
		.matrix = strstr(s->name.p, "amx") ? MATRIX_YES : MATRIX_NO,
		.workspace_bytes = inside };
	list->count = 1;
	list->algorithm = &s->algorithm;
	list->state = s;
	return 0;
}

static void forget(struct backend_list *list)
{
	if (list->state)
		state_free(list->state);
	*list = (struct backend_list){ 0 };
}

static void release(void *work)
{
	struct work *w = work;
	for (int i = 0; i < PART_COUNT; i++) {
		for (int64_t set = 0; w->args[i] && set < w->cold.count; set++)
			for (int j = 0; j < PART_ARGS; j++)
				if (w->args[i][set][j].memory)
					dnnl_memory_destroy(w->args[i][set][j].memory);
		free(w->args[i]);
		if (w->primitive[i])
			dnnl_primitive_destroy(w->primitive[i]);
	}
	for (int i = 0; i < BUFFER_COUNT; i++)
		copies_close(&w->copies[i]);
	free(w);
}

static double source_value(const struct problem *p, int number, int64_t index)
{
	return fill_value((uint64_t)number + 1, index, FILL_SIGNED, 0, p->operand[number].dtype);
}

/* The problem's mask; or 0 if the query sees the key, else a value that makes its softmax weight 0. The i-th
 * query from the end sees all keys but the last i. */
static double mask_value(const struct problem *p, int64_t index)
{
	if (problem_mask(p))
		return fill_value(MASK + 1, index, FILL_SIGNED, 0, p->operand[0].dtype);
	int64_t query = index / p->key_length % p->query_length, key = index % p->key_length;
	return key <= query + p->key_length - p->query_length ? 0 : -INFINITY;
}

static bool buffer_make(struct work *w, enum buffer i)
{
	const struct problem *p = &w->state->problem;
	int64_t bytes = dtype_bits(p->operand[0].dtype) / 8;
	w->elements[i] = (int64_t)elements_of(p, i);
	if (copies_open(&w->copies[i], (size_t)(w->elements[i] * bytes), w->elements[i] ? w->cold.count : 1))
		return false;
	for (int64_t at = 0; at < w->elements[i] && i != BUFFER_OUT && i != BUFFER_SCORES; at++)
		fill_encode(i == BUFFER_MASK ? mask_value(p, at) : source_value(p, (int)i, at),
			p->operand[0].dtype, copies_at(&w->copies[i], 0) + at * bytes);
	copies_spread(&w->copies[i]);
	return true;
}

static bool part_make(struct work *w, int part)
{
	dnnl_primitive_desc_t pd = w->state->pd[part];
	if (dnnl_primitive_create(&w->primitive[part], pd) != dnnl_success)
		return false;
	while (w->arg_count[part] < PART_ARGS && given[part][w->arg_count[part]].arg)
		w->arg_count[part]++;
	w->args[part] = base_calloc((size_t)w->cold.count, sizeof(*w->args[part]));
	for (int64_t set = 0; set < w->cold.count; set++)
		for (int i = 0; i < w->arg_count[part]; i++) {
			int arg = given[part][i].arg;
			dnnl_memory_t m = onednn_memory(onednn_argument(pd, arg), onednn_engine,
				copies_at(&w->copies[given[part][i].buffer], set));
			if (!m)
				return false;
			w->args[part][set][i] = (dnnl_exec_arg_t){ arg, m };
		}
	return true;
}

static void *prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err)
{
	struct work *w = base_calloc(1, sizeof(*w));
	double need = 0, bytes = 0;
	(void)index;
	w->state = list->state;
	const struct problem *p = &w->state->problem;
	*status = STATUS_NO_MEMORY;
	for (int i = 0; i < BUFFER_COUNT; i++)
		bytes += bytes_of(p, (enum buffer)i);
	w->cold = rotation_of(rotation_sets(bytes, problem_bytes(p), limits->cold_sets));
	for (int i = 0; i < BUFFER_COUNT; i++)
		need += copies_need((size_t)bytes_of(p, (enum buffer)i), w->cold.count);
	bool good = need <= limits->memory_bytes;
	for (int i = 0; i < BUFFER_COUNT && good; i++)
		good = buffer_make(w, (enum buffer)i);
	if (!good)
		error_set(err, "needs %.0f MB of memory, %.0f MB are free", need / 1e6,
			limits->memory_bytes / 1e6);
	for (int i = 0; i < PART_COUNT && good; i++)
		if (w->state->pd[i] && !part_make(w, i)) {
			good = false;
			*status = STATUS_FAILED;
			error_set(err, "oneDNN cannot create the primitives of an attention");
		}
	if (good)
		return w;
	release(w);
	return NULL;
}

static int run(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	struct work *w = work;
	dnnl_status_t status = dnnl_success;
	struct rotation still = { .count = 1 },
			*r = cache_plain(cache) == CACHE_COLD ? &w->cold : &still;
	double begin = clock_ns();
	for (int64_t i = 0; i < times && status == dnnl_success; i++) {
		w->last = rotation_next(r);
		for (int j = 0; j < PART_COUNT && status == dnnl_success; j++)
			if (w->primitive[j])
				status = dnnl_primitive_execute(
					w->primitive[j], onednn_stream, w->arg_count[j], w->args[j][w->last]);
	}
	dnnl_stream_wait(onednn_stream);
	*elapsed_ns = clock_elapsed(begin);
	return status == dnnl_success
		? 0
		: error_set(err, "oneDNN: execution failed (%s)", dnnl_status2str(status));
}

static double input_value(void *state, enum check_role role, int number, int64_t index)
{
	const struct problem *p = &((const struct work *)state)->state->problem;
	if (role != CHECK_SOURCE)
		return NAN;
	return number == MASK ? mask_value(p, index) : source_value(p, number, index);
}

static double got_at(void *state, int64_t place)
{
	const struct work *w = state;
	enum dtype type = w->state->problem.operand[3].dtype;
	return fill_decode(copies_at(&w->copies[BUFFER_OUT], w->last) + place * dtype_bits(type) / 8, type);
}

static bool is_whole_memory(const struct work *w, double *worst, struct error *err)
{
	for (int i = 0; i < BUFFER_COUNT; i++)
		if (!copies_are_whole(&w->copies[i])) {
			*worst = INFINITY;
			error_set(err, "it writes beyond its operands");
			return false;
		}
	return true;
}

/* Checks the outputs, and again after an execution into poisoned outputs: the first result could come from
 * an earlier execution. */
static int judge(struct work *w, const struct reference *e, double *worst, struct error *err)
{
	double ns;
	*worst = reference_off(e, got_at, w);
	if (isinf(*worst))
		return 0;
	for (int64_t set = 0; set < w->cold.count; set++)
		memset(copies_at(&w->copies[BUFFER_OUT], set), 0xff, w->copies[BUFFER_OUT].bytes);
	if (run(w, CACHE_COLD, 1, &ns, err)) {
		*worst = INFINITY;
		return 0;
	}
	*worst = fmax(*worst, reference_off(e, got_at, w));
	if (isinf(*worst))
		error_set(err, "a second execution gives other results or writes nothing");
	else
		is_whole_memory(w, worst, err);
	return 0;
}

static int check(void *work, double *worst, struct error *err)
{
	struct work *w = work;
	const struct problem *p = &w->state->problem;
	struct check_inputs in = { .value = input_value, .state = w };
	struct reference e;
	double cost = (double)p->key_length * (double)(p->head_size + 1);
	*worst = 0;
	if (!is_whole_memory(w, worst, err))
		return 0;
	int bad = reference_make(&e, p, &in, w->elements[BUFFER_OUT],
		(int64_t)fmax(16, fmin(REFERENCE_MOST, CHECK_COST / cost)), err);
	check_forget(&in);
	return bad ? bad : judge(w, &e, worst, err);
}

const struct backend backend_attention = { .api = "oneDNN", .algorithms = algorithms, .forget = forget,
	.prepare = prepare, .run = run, .check = check, .release = release };
