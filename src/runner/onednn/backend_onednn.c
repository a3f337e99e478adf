/* The backend of oneDNN: memory of the arguments, their contents, execution and check. */
#include "config.h"

#include "runner/measure/backend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner/measure/clock.h"
#include "runner/host/copies.h"
#include "runner/host/team.h"
#include "runner/verify/reference.h"
#include "runner/onednn/onednn_offers.h"
#include "runner/verify/integers.h"

#define INPUTS_CHECKED 4096 /* number of values of an input that a check compares */
#define INPUT_SLACK 1e-6    /* relative tolerance of an input given as a quotient */

struct work {
	struct onednn_offers *offers;
	const struct onednn_candidate *candidate;
	dnnl_primitive_t primitive;
	int arg_count;                    /* of the case, plus the scratchpad */
	struct copies copies[ONEDNN_ARGS + 1];
	dnnl_memory_t *memory[ONEDNN_ARGS + 1]; /* per copy */
	double constant_bytes;            /* of one set */
	struct rotations turn;
	dnnl_exec_arg_t *args;            /* for each copy of the constants; the rest is copy 0 */
	dnnl_exec_arg_t *cold_args;       /* all arguments rotate; NULL: they do not */
	int64_t last;                     /* last set of outputs written */
	bool apart;                       /* it shares no input with others */
	struct work *next;                /* of offers->open */
};

static void release(void *work)
{
	struct work *w = work;
	for (struct work **at = &w->offers->open; *at; at = &(*at)->next)
		if (*at == w) {
			*at = w->next;
			break;
		}
	for (int i = 0; i < w->arg_count; i++) {
		for (int64_t set = 0; w->memory[i] && set < w->copies[i].count; set++)
			if (w->memory[i][set])
				dnnl_memory_destroy(w->memory[i][set]);
		free(w->memory[i]);
		copies_close(&w->copies[i]);
	}
	if (w->primitive)
		dnnl_primitive_destroy(w->primitive);
	free(w->args);
	free(w->cold_args);
	free(w);
}

static int64_t elements(const struct onednn_arg *a)
{
	int64_t n = 1;
	for (int i = 0; i < a->rank; i++)
		n *= a->dims[i];
	return n;
}

static bool is_whole(enum dtype t)
{
	return !dtype_is_float(t);
}

/* Random values of an input from a fixed seed (xorshift64); integers for integer types (integers.h). */
struct source {
	const struct onednn_arg *a;
	uint64_t x;
	float by;
	bool whole, even, truth;
	int least;
};

static struct source source_of(const struct onednn_case *c, int i)
{
	const struct onednn_arg *a = &c->arg[i];
	bool whole = a->fill != FILL_ONE && is_whole(a->dtype);
	return (struct source){ .a = a,
		.x = 0x9e3779b97f4a7c15u * (uint64_t)(i + 1),
		.by = a->fill == FILL_SMALL ? (float)integer_small_limit(&c->problem) : 1,
		.whole = whole,
		.even = whole && a->arg == DNNL_ARG_WEIGHTS && a->dtype == DTYPE_S8,
		.truth = whole && a->dtype == DTYPE_BOOL,
		.least = a->fill == FILL_POSITIVE ? 2 : c->shifted ? 0 : -6 }; /* u8 and s8: no shift */
}

static inline float source_next(struct source *s, int64_t i)
{
	const struct onednn_arg *a = s->a;
	s->x ^= s->x << 13;
	s->x ^= s->x >> 7;
	s->x ^= s->x << 17;
	float unit = (float)(s->x >> 40) / 16777216.0f; /* [0, 1) */
	float v = a->fill == FILL_ONE	   ? 1
		: a->fill == FILL_POSITIVE ? 0.5f + unit
		: a->fill == FILL_FACTOR   ? ldexpf(1, -(int)a->fill_limit - (int)(3 * unit))
					   : (2 * unit - 1) / s->by;
	if (s->even)
		v = (float)(2 * (int)(unit * (float)(4 - s->least / 2)) + s->least);
	else if (s->whole)
		v = s->truth ? (float)(a->fill == FILL_POSITIVE || unit >= 0.5f) :
			(float)(int)(unit * 8) + (a->fill == FILL_POSITIVE ? 1.0f : 0.0f);
	return a->values ? a->values[i] : a->divisor ? v / a->divisor[i] : v;
}

static void values_write(const struct onednn_case *c, int i, float *to)
{
	struct source s = source_of(c, i);
	int64_t n = elements(s.a);
	for (int64_t j = 0; j < n; j++)
		to[j] = source_next(&s, j);
}

static onednn_md plain_md(const struct onednn_arg *a)
{
	int64_t strides[ONEDNN_RANK];
	onednn_strides_ncx(a->rank, a->dims, strides);
	return onednn_md_strides(
		a->rank, a->dims, dnnl_f32, a->plain_strides[0] ? a->plain_strides : strides);
}

static onednn_md argument_md(const struct work *w, int i)
{
	const struct onednn_case *c = w->candidate->from;
	if (i < c->arg_count && c->arg[i].attribute)
		return c->arg[i].md;
	return onednn_argument(w->candidate->pd, i < c->arg_count ? c->arg[i].arg : DNNL_ARG_SCRATCHPAD);
}

/* True if the bytes of an input are its values as values_read would return them. */
static bool is_in_place(const struct work *w, int i)
{
	const struct onednn_arg *a = &w->candidate->from->arg[i];
	onednn_md plain = plain_md(a);
	bool same = plain && !a->permuted && !a->divisor && dnnl_memory_desc_equal(plain, argument_md(w, i));
	onednn_md_free(plain);
	return same;
}

static float *values_in_place(const struct work *w, int i)
{
	return (float *)(void *)copies_at(&w->copies[i], 0);
}

/* Fills an input in the layout and type that the implementation takes. */
static int input_fill(struct work *w, int i, onednn_md md, struct error *err)
{
	const struct onednn_case *c = w->candidate->from;
	const struct onednn_arg *a = &c->arg[i];
	float **plain = &w->offers->plain[i];
	if (!*plain && is_in_place(w, i)) {
		values_write(c, i, values_in_place(w, i));
		return 0;
	}
	if (!*plain && (*plain = malloc((size_t)elements(a) * sizeof(float))))
		values_write(c, i, *plain);
	onednn_md from = plain_md(a);
	dnnl_status_t status = *plain && from
		? onednn_reorder(onednn_engine, onednn_stream, from, *plain, md, copies_at(&w->copies[i], 0))
		: dnnl_out_of_memory;
	onednn_md_free(from);
	return status == dnnl_success ? 0 :
		error_set(err, "oneDNN cannot lay out the input %s (%s)", a->role, dnnl_status2str(status));
}

static size_t argument_bytes(const struct work *w, int i)
{
	return onednn_md_bytes(argument_md(w, i));
}

static bool is_constant(const struct work *w, int i)
{
	const struct onednn_case *c = w->candidate->from;
	return i < c->arg_count && c->arg[i].constant;
}

static int64_t copies_wanted(const struct work *w, int i)
{
	int64_t net = w->turn.of[CACHE_NET].count, cold = w->turn.of[CACHE_COLD].count;
	return is_constant(w, i) && net > cold ? net : cold;
}

/* The input of another work that has the same values in the same layout and, like this one, once; NULL: none.
 * Where copies rotate, each work needs its own: they would come nearer than their distance. */
static struct copies *input_elsewhere(const struct work *w, int i, onednn_md md)
{
	for (struct work *other = w->offers->open; other; other = other->next)
		if (other->candidate->from == w->candidate->from && other->copies[i].count == 1 &&
			dnnl_memory_desc_equal(md, argument_md(other, i)))
			return &other->copies[i];
	return NULL;
}

static int argument_prepare(struct work *w, int i, struct error *err)
{
	const struct onednn_case *c = w->candidate->from;
	struct copies *copies = &w->copies[i];
	onednn_md md = argument_md(w, i);
	int64_t count = copies_wanted(w, i);
	bool input = i < c->arg_count && !c->arg[i].output;
	struct copies *same = input && count == 1 && !w->apart ? input_elsewhere(w, i, md) : NULL;
	if (same)
		copies_share(same, copies);
	else if (copies_open(copies, onednn_md_bytes(md), count))
		return error_set(err, "no memory for %lld buffers of %zu bytes", (long long)count,
			onednn_md_bytes(md));
	w->memory[i] = base_calloc((size_t)count, sizeof(*w->memory[i]));
	for (int64_t set = 0; set < count; set++)
		if (!(w->memory[i][set] = onednn_memory(md, onednn_engine, copies_at(copies, set))))
			return error_set(err, "oneDNN cannot make a memory object");
	if (input && !same && input_fill(w, i, md, err))
		return -1;
	copies_spread(copies);
	return 0;
}

/* Plans the copies: their number depends on the bytes that this algorithm uses (rotation_sets). */
static void rotation_plan(struct work *w, const struct backend_limits *limits)
{
	double bytes = 0;
	for (int i = 0; i < w->arg_count; i++) {
		bytes += (double)argument_bytes(w, i);
		w->constant_bytes += is_constant(w, i) ? copies_lines(argument_bytes(w, i)) : 0;
	}
	const struct problem *p = &w->offers->problem;
	w->turn = rotations_of(rotation_sets(w->constant_bytes, problem_constant_bytes(p), limits->sets),
		rotation_sets(bytes, problem_bytes(p), limits->cold_sets), w->constant_bytes,
		bytes - w->constant_bytes);
}

/* Arguments of each execution. all: copy `set` of every argument; else only of constants. */
static dnnl_exec_arg_t *args_make(const struct work *w, int64_t count, bool all)
{
	const struct onednn_case *c = w->candidate->from;
	dnnl_exec_arg_t *args = base_calloc((size_t)(count * w->arg_count), sizeof(*args));
	for (int64_t set = 0; set < count; set++)
		for (int i = 0; i < w->arg_count; i++)
			args[set * w->arg_count + i] = (dnnl_exec_arg_t){
				i < c->arg_count ? c->arg[i].arg : DNNL_ARG_SCRATCHPAD,
				w->memory[i][all || is_constant(w, i) ? set : 0] };
	return args;
}

static double bytes_needed(const struct work *w)
{
	const struct onednn_case *c = w->candidate->from;
	double sum = 0;
	for (int i = 0; i < w->arg_count; i++) {
		sum += copies_need(argument_bytes(w, i), copies_wanted(w, i));
		if (i < c->arg_count && !c->arg[i].output && !w->offers->plain[i] && !is_in_place(w, i))
			sum += (double)elements(&c->arg[i]) * sizeof(float);
	}
	return sum;
}

static void *prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err)
{
	struct onednn_offers *o = list->state;
	struct work *w = base_calloc(1, sizeof(*w));
	w->offers = o;
	w->apart = limits->apart;
	w->candidate = &o->candidate[index];
	w->arg_count = w->candidate->from->arg_count + (o->algorithm[index].workspace_bytes > 0);
	*status = STATUS_NO_MEMORY;
	rotation_plan(w, limits);
	double need = bytes_needed(w);
	int bad = need > limits->memory_bytes ? error_set(err, "needs %.0f MB of memory, %.0f MB are free",
							need / 1e6, limits->memory_bytes / 1e6)
					      : 0;
	threads_limit(w->candidate->single ? 1 : team_size());
	if (!bad && dnnl_primitive_create(&w->primitive, w->candidate->pd) != dnnl_success) {
		*status = STATUS_FAILED;
		bad = error_set(err, "oneDNN cannot create the primitive");
	}
	threads_limit(team_size());
	for (int i = 0; i < w->arg_count && !bad; i++)
		bad = argument_prepare(w, i, err);
	if (bad) {
		release(w);
		return NULL;
	}
	int64_t cold = w->turn.of[CACHE_COLD].count;
	w->args = args_make(w, w->turn.of[CACHE_NET].count, false);
	w->cold_args = cold > 1 ? args_make(w, cold, true) : NULL;
	w->next = o->open;
	o->open = w;
	return w;
}

static int run(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	struct work *w = work;
	dnnl_status_t status = dnnl_success;
	bool cold = cache_plain(cache) == CACHE_COLD && w->cold_args;
	const dnnl_exec_arg_t *args = cold ? w->cold_args : w->args;
	int64_t set = 0;
	threads_limit(w->candidate->single ? 1 : team_size());
	double begin = clock_ns();
	for (int64_t i = 0; i < times && status == dnnl_success; i++) {
		set = rotations_next(&w->turn, cache);
		status = dnnl_primitive_execute(
			w->primitive, onednn_stream, w->arg_count, args + set * w->arg_count);
	}
	dnnl_stream_wait(onednn_stream);
	*elapsed_ns = clock_elapsed(begin);
	threads_limit(team_size());
	w->last = cold ? set : 0;
	return status == dnnl_success
		? 0
		: error_set(err, "oneDNN: execution failed (%s)", dnnl_status2str(status));
}

static double rotated_bytes(const void *work, enum cache cache)
{
	const struct work *w = work;
	return rotations_bytes(&w->turn, cache, w->constant_bytes);
}

/* --- checking --- */

/* True if the library changes 8-bit weights for its arithmetic (e.g. halves them), so that they cannot be
 * read back. */
static bool is_corrected(const struct onednn_arg *a)
{
	return a->arg == DNNL_ARG_WEIGHTS && a->dtype == DTYPE_S8;
}

/* Values of a packed input that cannot be unpacked: those written, rounded to its type. */
static void values_remembered(const struct work *w, int i, float *to)
{
	const struct onednn_arg *a = &w->candidate->from->arg[i];
	for (int64_t j = 0; j < elements(a); j++) {
		double held = 0;
		fill_encode((double)w->offers->plain[i][j], a->dtype, &held);
		to[j] = (float)fill_decode(&held, a->dtype);
	}
}

/* Reads back an argument as floats in the problem's order; NULL: not possible. */
static float *values_read(const struct work *w, int i)
{
	const struct onednn_arg *a = &w->candidate->from->arg[i];
	size_t n = (size_t)elements(a);
	float *v = base_malloc(n * sizeof(float));
	void *bytes = copies_at(&w->copies[i], a->output ? w->last : 0);
	if (a->permuted) {
		enum dtype type = w->offers->problem.operand[1].dtype;
		for (size_t j = 0; j < n; j++)
			v[j] = (float)fill_decode(
				(const char *)bytes + j * (size_t)dtype_bits(type) / 8, type);
		return v;
	}
	onednn_md to = plain_md(a);
	dnnl_status_t status = is_corrected(a) ? dnnl_unimplemented :
		onednn_reorder(onednn_engine, onednn_stream, argument_md(w, i), bytes, to, v);
	onednn_md_free(to);
	if (status != dnnl_success && (a->output || !w->offers->plain[i])) {
		free(v);
		return NULL;
	}
	if (status != dnnl_success)
		values_remembered(w, i, v);
	for (size_t j = 0; a->divisor && j < n; j++)
		v[j] *= a->divisor[j];
	return v;
}

/* Inputs of a check by role; argument and blob: own copies of them. */
struct held {
	float *argument[ONEDNN_ARGS], *blob;
	const float *source[PROBLEM_SHAPES], *epilogue[PROBLEM_EPILOGUES];
	const float *weights, *scale, *shift, *mean, *variance;
	const float *recurrent, *bias;    /* rnn: parts of the blob of weights */
};

static const float **input_place(struct held *h, const struct onednn_case *c, const struct onednn_arg *a)
{
	if (a->epilogue)
		return &h->epilogue[a->epilogue - 1];
	if (a->source)
		return &h->source[0];
	switch (a->arg) {
	case DNNL_ARG_SRC: return &h->source[c->swapped];
	case DNNL_ARG_SRC_1: return &h->source[!c->swapped];
	case DNNL_ARG_WEIGHTS: return &h->weights;
	case DNNL_ARG_MEAN: return &h->mean;
	case DNNL_ARG_VARIANCE: return &h->variance;
	case DNNL_ARG_SCALE: return &h->scale;
	case DNNL_ARG_SHIFT: return &h->shift;
	case DNNL_ARG_WEIGHTS_ITER: return &h->recurrent;
	case DNNL_ARG_BIAS: return &h->bias;
	default: return &h->source[a->arg - DNNL_ARG_MULTIPLE_SRC];
	}
}

/* Adds the factors that are attributes, and joins a recurrent layer's weights into one blob. */
static void held_complete(struct held *h, const struct onednn_case *c)
{
	if (c->problem.kernel == KERNEL_QUANTIZE || c->problem.kernel == KERNEL_DEQUANTIZE)
		h->scale = c->factor;
	else if (c->factor)
		h->epilogue[0] = c->factor;
	if (c->problem.kernel == KERNEL_RNN && h->weights && h->recurrent && h->bias)
		h->weights = h->blob = onednn_rnn_blob(&c->problem, h->weights, h->recurrent, h->bias);
}

static double held_value(void *state, enum check_role role, int number, int64_t index)
{
	const struct held *h = state;
	const float *from = NULL;
	switch (role) {
	case CHECK_SOURCE: from = h->source[number]; break;
	case CHECK_WEIGHTS: from = h->weights; break;
	case CHECK_EPILOGUE: from = h->epilogue[number]; break;
	case CHECK_SCALE: from = h->scale; break;
	case CHECK_SHIFT: from = h->shift; break;
	case CHECK_MEAN: from = h->mean; break;
	case CHECK_VARIANCE: from = h->variance; break;
	}
	return from ? from[index] : NAN;
}

/* Compares the inputs in memory with the values written. An algorithm that overwrites inputs, or an input
 * lost in a layout conversion, would give the right outputs of wrong inputs. */
static bool is_input_kept(const struct work *w, int i, const float *now)
{
	const struct onednn_arg *a = &w->candidate->from->arg[i];
	const float *plain = w->offers->plain[i];
	struct source s = source_of(w->candidate->from, i);
	int64_t n = elements(a), step = !plain || a->dtype == DTYPE_F32 ? 1 : (n / INPUTS_CHECKED) | 1;
	for (int64_t j = 0; j < n; j += step) {
		double put = 0, factor = a->divisor ? (double)a->divisor[j] : 1;
		fill_encode((double)(plain ? plain[j] : source_next(&s, j)), a->dtype, &put);
		put = fill_decode(&put, a->dtype) * factor;
		if (!(fabs((double)now[j] - put) <= INPUT_SLACK * fabs(put)))
			return false;
	}
	return true;
}

static int inputs_read(struct work *w, struct held *held, double *worst, struct error *err)
{
	const struct onednn_case *c = w->candidate->from;
	for (int i = 0; i < c->arg_count; i++) {
		const struct onednn_arg *a = &c->arg[i];
		if (a->output)
			continue;
		const float *now = is_in_place(w, i) ? values_in_place(w, i) :
			(held->argument[i] = values_read(w, i));
		if (!now)
			return error_set(err, "cannot read back argument %d", i);
		if (a->attribute)
			continue;
		if (!is_input_kept(w, i, now)) {
			*worst = INFINITY;
			error_set(err, "its %s does not hold the values that were written",
				*a->role ? a->role : "input");
			return 0;
		}
		if (a->fill != FILL_ONE)
			*input_place(held, c, a) = now;
	}
	held_complete(held, c);
	return 0;
}

struct got {
	const struct problem *problem;
	const float *out;
};

static double got_at(void *state, int64_t place)
{
	const struct got *g = state;
	return (double)g->out[g->problem->kernel == KERNEL_RNN ? onednn_rnn_place(g->problem, place) : place];
}

/* Compares the last outputs written with the reference. */
static int outputs_judge(
	const struct work *w, const struct reference *e, int out, double *worst, struct error *err)
{
	struct got got = { &w->offers->problem, values_read(w, out) };
	if (!got.out)
		return error_set(err, "cannot read back argument %d", out);
	*worst = fmax(*worst, reference_off(e, got_at, &got));
	free((void *)got.out);
	return 0;
}

/* Executes again with other copies and poisoned outputs: the first result could come from an earlier
 * execution, and each copy must be right. */
static int judge_again(
	struct work *w, const struct reference *e, int out, bool cold, double *worst, struct error *err)
{
	int64_t set = w->turn.of[cold ? CACHE_COLD : CACHE_NET].count > 1 ? 1 : 0;
	double before = *worst;
	w->last = cold ? set : 0;
	memset(copies_at(&w->copies[out], w->last), 0xff, w->copies[out].bytes);
	threads_limit(w->candidate->single ? 1 : team_size());
	dnnl_status_t status = dnnl_primitive_execute(w->primitive, onednn_stream, w->arg_count,
		(cold ? w->cold_args : w->args) + set * w->arg_count);
	dnnl_stream_wait(onednn_stream);
	threads_limit(team_size());
	if (status != dnnl_success) {
		*worst = INFINITY;
		error_set(err, "oneDNN: a second execution failed (%s)", dnnl_status2str(status));
		return 0;
	}
	if (outputs_judge(w, e, out, worst, err))
		return -1;
	if (isinf(*worst) && !isinf(before))
		error_set(err, "a second execution gives other results or writes nothing");
	return 0;
}

static bool is_whole_memory(const struct work *w, double *worst, struct error *err)
{
	const struct onednn_case *c = w->candidate->from;
	for (int i = 0; i < w->arg_count; i++)
		if (!copies_are_whole(&w->copies[i])) {
			*worst = INFINITY;
			error_set(err, "it writes beyond its %s",
				i < c->arg_count && *c->arg[i].role ? c->arg[i].role : "memory");
			return false;
		}
	return true;
}

static int output_of(const struct onednn_case *c)
{
	int out = -1;
	for (int i = 0; i < c->arg_count; i++)
		out = c->arg[i].output ? i : out;
	return out;
}

static int judge(struct work *w, struct held *held, double *worst, struct error *err)
{
	const struct onednn_case *c = w->candidate->from;
	const struct problem *p = &w->offers->problem;
	struct check_inputs in = { .value = held_value, .state = held, .epsilon = c->op.epsilon };
	struct reference e;
	int out = output_of(c);
	if (out < 0)
		return error_set(err, "no output");
	if (inputs_read(w, held, worst, err))
		return -1;
	if (isinf(*worst))
		return 0;
	int bad = reference_make(&e, p, &in, elements(&c->arg[out]), REFERENCE_MOST, err);
	check_forget(&in);
	bad = bad || outputs_judge(w, &e, out, worst, err) || judge_again(w, &e, out, false, worst, err);
	if (!bad && w->cold_args)
		bad = judge_again(w, &e, out, true, worst, err);
	if (!bad && !isinf(*worst))
		is_whole_memory(w, worst, err);
	return bad;
}

static int check(void *work, double *worst, struct error *err)
{
	struct work *w = work;
	const struct onednn_case *c = w->candidate->from;
	const struct problem *p = &w->offers->problem;
	struct held held = { .weights = NULL };
	*worst = 0;
	if (!is_whole_memory(w, worst, err))
		return 0;
	if (p->kernel == KERNEL_ELTWISE && c->op.kind != KERNEL_ELTWISE && p->epilogue_count)
		return error_set(err, "no reference for a composed operation with epilogues");
	int bad = judge(w, &held, worst, err);
	for (int i = 0; i < c->arg_count; i++)
		free(held.argument[i]);
	free(held.blob);
	return bad;
}

const struct backend backend_onednn = { .api = "oneDNN",
	.probe = onednn_probe,
	.algorithms = onednn_algorithms,
	.forget = onednn_forget,
	.prepare = prepare,
	.run = run,
	.check = check,
	.rotated_bytes = rotated_bytes,
	.release = release };

const struct backend backend_ones = { .api = "oneDNN",
	.algorithms = onednn_ones_algorithms,
	.forget = onednn_forget,
	.prepare = prepare,
	.run = run,
	.check = check,
	.rotated_bytes = rotated_bytes,
	.release = release };
