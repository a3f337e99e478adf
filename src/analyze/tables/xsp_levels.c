/* Takes model, layers and kernels each from the execution in which it is the deepest profiled level. */
#include "config.h"

#include "analyze/tables/xsp_private.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"

bool xsp_compatible(const struct execution *a, const struct execution *b, bool same_batch)
{
	const char *const pairs[][2] = { { a->framework, b->framework }, { a->provider, b->provider },
		{ a->dtype, b->dtype }, { a->device, b->device } };
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (*pairs[i][0] && *pairs[i][1] && strcmp(pairs[i][0], pairs[i][1]) != 0)
			return false;
	if (!same_batch)
		return true;
	if (*a->version && *b->version && strcmp(a->version, b->version) != 0)
		return false;
	if (*a->inputs && *b->inputs && strcmp(a->inputs, b->inputs) != 0)
		return false;
	return (!a->threads || !b->threads || a->threads == b->threads) &&
		(!a->batch || !b->batch || a->batch == b->batch);
}

static bool has_level(const struct execution *e, enum execution_level level)
{
	for (int i = 0; i < e->row_count; i++)
		if (e->rows[i].level == level)
			return true;
	return false;
}

/* ---- the plan's side ---- */

/* Returns true for a layer that only computes constants and therefore does not run. */
static bool only_constants(const struct plan *p, const struct plan_layer *l)
{
	if (l->class != CLASS_FREE)
		return false;
	for (int i = 0; i < l->output_count; i++) {
		const struct plan_value *v = l->outputs[i] >= 0 ? &p->values[l->outputs[i]] : NULL;
		if (v && (v->is_output || (!v->constant && !v->elements)))
			return false;
	}
	return l->output_count > 0;
}

static double output_bytes(const struct plan *p, const struct plan_layer *l)
{
	double sum = 0;
	for (int i = 0; i < l->output_count; i++)
		if (l->outputs[i] >= 0) {
			const struct plan_value *v = &p->values[l->outputs[i]];
			sum += dtype_bytes(v->dtype, shape_count(v->shape));
		}
	return sum;
}

static const char *output_text(struct arena *a, const struct plan *p, const struct plan_layer *l)
{
	return l->output_count && l->outputs[0] >= 0 ? plan_value_text(a, &p->values[l->outputs[0]]) : "";
}

static struct xsp_layer layer_new(void)
{
	return (struct xsp_layer){ .index = -1, .name = "", .type = "", .shape = "", .ns = NAN,
		.output_bytes = NAN, .flops = NAN, .bytes = NAN, .kernel_ns = NAN, .read_bytes = NAN,
		.write_bytes = NAN, .occupancy = NAN, .kernel_flops = NAN };
}

static void layers_of_bound(struct xsp_levels *l)
{
	const struct plan *p = l->in->plan;
	l->layers = ARENA_ARRAY(l->arena, struct xsp_layer, p->layer_count + 1);
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *from = &p->layers[i];
		const struct layer_cost *c = &l->in->bound->layers[i];
		if (only_constants(p, from))
			continue;
		struct xsp_layer *to = &l->layers[l->layer_count++];
		*to = layer_new();
		to->index = i;
		to->name = text_clean(l->arena, from->name);
		to->type = text_clean(l->arena, from->node->op);
		to->shape = output_text(l->arena, p, from);
		to->ns = c->origin == ORIGIN_MISSING || c->origin == ORIGIN_UNSUPPORTED ? NAN : c->ns;
		to->estimated = c->at_least || c->origin == ORIGIN_ESTIMATED || c->origin == ORIGIN_PROXY ||
			c->origin == ORIGIN_ASSUMED || c->origin == ORIGIN_ROUGH;
		to->output_bytes = output_bytes(p, from);
		to->flops = from->flops;
		to->bytes = from->bytes;
	}
}

/* ---- the execution's side ---- */

static bool is_in(const struct match_row *m, int layer)
{
	for (int i = 0; i < m->layer_count; i++)
		if (m->layers[i] == layer)
			return true;
	return false;
}

/* Returns the bytes of a layer's outputs that only layers of its group read: a fused kernel keeps them on
 * chip. */
static double inner_bytes(const struct plan *p, const struct plan_layer *l, const struct match_row *m)
{
	double sum = 0;
	for (int i = 0; i < l->output_count; i++) {
		const struct plan_value *v = l->outputs[i] >= 0 ? &p->values[l->outputs[i]] : NULL;
		bool inner = v && !v->is_output && v->consumer_count > 0;
		for (int k = 0; inner && k < v->consumer_count; k++)
			inner = is_in(m, v->consumers[k]);
		sum += inner ? 2 * dtype_bytes(v->dtype, shape_count(v->shape)) : 0;
	}
	return sum;
}

/* Sums operations and bytes of the matched layers. */
static void add_plan(struct xsp_levels *l, struct xsp_layer *to, const struct match_row *m)
{
	const struct plan *p = l->in->plan;
	double flops = 0, bytes = 0, inner = 0; /* inner: outputs of the last layer that is not free */
	if (!m || !m->layer_count)
		return;
	const struct plan_layer *last = &p->layers[m->layers[m->layer_count - 1]];
	for (int i = 0; i < m->layer_count; i++) {
		const struct plan_layer *one = &p->layers[m->layers[i]];
		flops += one->flops;
		bytes += one->bytes;
		if (one->class == CLASS_FREE)
			continue;
		bytes -= inner;
		inner = inner_bytes(p, one, m);
		if (!*to->type)
			to->type = text_clean(l->arena, one->node->op);
	}
	to->index = m->layers[0];
	to->flops = flops;
	to->bytes = bytes > 0 ? bytes : NAN;
	to->shape = output_text(l->arena, p, last);
	if (!*to->type)
		to->type = text_clean(l->arena, last->node->op);
}

static const struct match *match_of(const struct xsp_levels *l, const struct execution *e)
{
	for (int i = 0; i < l->in->execution_count; i++)
		if (l->in->executions[i].execution == e)
			return l->in->executions[i].match;
	return NULL;
}

/* Returns the number of runs among the rows of a source that does not separate runs. */
static double runs_of(const struct match *m)
{
	return m && m->runs > 1 ? m->runs : 1;
}

/* Collects the outermost layers of an execution; sets at[row] to the layer's index. */
static void layers_of_execution(struct xsp_levels *l, int *at)
{
	const struct execution *e = l->layer;
	const struct match *m = match_of(l, e);
	double runs = runs_of(m);
	l->layers = ARENA_ARRAY(l->arena, struct xsp_layer, e->row_count + 1);
	for (int i = 0; i < e->row_count; i++) {
		const struct execution_row *r = &e->rows[i];
		at[i] = -1;
		if (r->level != LEVEL_LAYER)
			continue;
		if (r->parent >= 0 && r->parent < i && at[r->parent] >= 0) {
			at[i] = at[r->parent];
			continue;
		}
		at[i] = l->layer_count;
		struct xsp_layer *to = &l->layers[l->layer_count++];
		*to = layer_new();
		to->name = r->name;
		to->type = r->op;
		to->ns = execution_corrected_ns(e, r, r->ns) / runs;
		to->output_bytes = r->output_bytes;
		add_plan(l, to, m && i < m->row_count ? &m->rows[i] : NULL);
		if (!*to->shape)
			to->shape = r->shapes;
	}
}

/* Returns "3 name": the name with the number of its occurrences so far, which *seen counts. */
static struct text nth_name(struct arena *a, struct hash *seen, const char *name)
{
	int64_t *count = hash_at(seen, text_of(name));
	return text_of(arena_printf(a, "%lld %s", (long long)++*count, name));
}

/* Returns the row of the outermost layer that contains a row in its own execution, or -1. */
static int outer_layer(const struct execution *e, int row)
{
	int found = -1;
	for (int i = row, parent; i >= 0; i = parent) {
		parent = e->rows[i].parent < i ? e->rows[i].parent : -1;
		if (parent >= 0 && e->rows[parent].level == LEVEL_LAYER)
			found = parent;
	}
	return found;
}

/* Maps layers of the kernels' execution to those of the layers' execution: the n-th of a name to the n-th. */
static void map_layers(struct xsp_levels *l, int *at)
{
	const struct execution *e = l->kernel;
	struct hash theirs = { 0 }, mine = { 0 }, layers = { 0 };
	for (int i = 0; i < l->layer_count; i++)
		*hash_at(&layers, nth_name(l->arena, &theirs, l->layers[i].name)) = i;
	for (int i = 0; i < e->row_count; i++) {
		bool outer = e->rows[i].level == LEVEL_LAYER && outer_layer(e, i) < 0;
		at[i] = outer ? (int)hash_find(&layers, nth_name(l->arena, &mine, e->rows[i].name)) : -1;
	}
	hash_free(&theirs);
	hash_free(&mine);
	hash_free(&layers);
}

static void kernels_of_execution(struct xsp_levels *l, const int *at)
{
	const struct execution *e = l->kernel;
	double runs = runs_of(match_of(l, e));
	l->kernels = ARENA_ARRAY(l->arena, struct xsp_kernel, e->row_count + 1);
	for (int i = 0; i < e->row_count; i++) {
		const struct execution_row *r = &e->rows[i];
		bool inner = r->parent >= 0 && r->parent < i && e->rows[r->parent].level == LEVEL_KERNEL;
		if (r->level != LEVEL_KERNEL || inner)
			continue;
		int outer = outer_layer(e, i);
		l->kernels[l->kernel_count++] = (struct xsp_kernel){ .name = *r->kernel ? r->kernel : r->name,
			.layer = outer >= 0 ? e->rows[outer].name : "", .in = outer >= 0 ? at[outer] : -1,
			.ns = r->ns / runs, .calls = r->calls, .flops = r->flops / runs,
			.read_bytes = r->read_bytes / runs, .write_bytes = r->write_bytes / runs,
			.occupancy = r->occupancy };
	}
}

/* Sums the kernels of each layer. A counter is unknown if a kernel lacks it; the occupancy is the mean
 * weighted by latency. */
static void sum_kernels(struct xsp_levels *l)
{
	for (int i = 0; i < l->kernel_count; i++) {
		const struct xsp_kernel *k = &l->kernels[i];
		struct xsp_layer *to = k->in >= 0 ? &l->layers[k->in] : NULL;
		if (!to)
			continue;
		bool first = to->kernel_count++ == 0;
		to->kernel_ns = first ? k->ns : to->kernel_ns + k->ns;
		to->kernel_flops = first ? k->flops : to->kernel_flops + k->flops;
		to->read_bytes = first ? k->read_bytes : to->read_bytes + k->read_bytes;
		to->write_bytes = first ? k->write_bytes : to->write_bytes + k->write_bytes;
		to->occupancy = first ? k->ns * k->occupancy : to->occupancy + k->ns * k->occupancy;
	}
	for (int i = 0; i < l->layer_count; i++) {
		struct xsp_layer *to = &l->layers[i];
		double bytes = to->read_bytes + to->write_bytes;
		to->occupancy = to->kernel_ns > 0 ? to->occupancy / to->kernel_ns : NAN;
		to->counted = !isnan(to->kernel_flops) && !isnan(bytes);
		if (to->counted)
			to->flops = to->kernel_flops, to->bytes = bytes;
	}
}

/* ---- which execution ---- */

/* Returns the execution that fits the analyzed one and has the level, preferably as its deepest level. */
static const struct execution *deepest(const struct xsp_levels *l, enum execution_level level)
{
	const struct execution *first = l->in->executions[0].execution, *found = NULL;
	for (int i = 0; i < l->in->execution_count; i++) {
		const struct execution *e = l->in->executions[i].execution;
		if (!has_level(e, level) || !xsp_compatible(first, e, true))
			continue;
		if (!found)
			found = e;
		if (level == LEVEL_KERNEL || !has_level(e, LEVEL_KERNEL))
			return e;
	}
	return found;
}

static const struct execution *unprofiled(const struct xsp_levels *l)
{
	const struct execution *first = l->in->executions[0].execution;
	for (int i = 0; i < l->in->execution_count; i++) {
		const struct execution *e = l->in->executions[i].execution;
		if (!isnan(e->stats.median) && xsp_compatible(first, e, true))
			return e;
	}
	return NULL;
}

/* Ideal intensity = peak FLOP/s / bandwidth of memory (XSP, section IV): at matrix units if the scenario
 * allows them and the device has them. */
static void roof(struct xsp_levels *l)
{
	const struct peaks *k = l->in->peaks;
	enum dtype t = l->in->plan->dtype;
	bool allowed = l->in->bound && l->in->bound->scenario.matrix;
	bool matrix = k && allowed && !isnan(k->matrix_flops[t]);
	l->peak_flops = !k ? NAN : matrix ? k->matrix_flops[t] : k->flops[t];
	l->bandwidth = k ? k->bandwidth_bytes_s : NAN;
	l->ideal = l->peak_flops / l->bandwidth;
	l->peak = arena_printf(l->arena, "%s%s", dtype_name(t), matrix ? " matrix" : "");
}

void xsp_gather(struct xsp_levels *l)
{
	l->model_ns = NAN;
	roof(l);
	if (!l->in->execution_count) {
		if (l->in->bound)
			layers_of_bound(l);
	} else {
		l->model = unprofiled(l);
		l->layer = deepest(l, LEVEL_LAYER);
		l->kernel = deepest(l, LEVEL_KERNEL);
		int rows = l->layer ? l->layer->row_count : 0;
		if (l->kernel && l->kernel->row_count > rows)
			rows = l->kernel->row_count;
		int *at = ARENA_ARRAY(l->arena, int, rows + 1);
		if (l->model)
			l->model_ns = l->model->stats.median;
		if (l->layer)
			layers_of_execution(l, at);
		if (l->kernel && l->kernel != l->layer)
			map_layers(l, at);
		if (l->kernel)
			kernels_of_execution(l, at);
		sum_kernels(l);
	}
	for (int i = 0; i < l->layer_count; i++)
		l->without_ns += isnan(l->layers[i].ns);
}
