/* The steps of matching, in order of confidence; each takes rows and layers that those before it left. */
#include "config.h"

#include "profile/match/match_private.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

const char *added_name(enum added a)
{
	static const char *const names[] = {
#define ADDED_NAME(id, name) [ADDED_##id] = name,
		ADDED_LIST(ADDED_NAME)
#undef ADDED_NAME
	};
	return names[a];
}

const char *match_how_name(enum match_how how)
{
	static const char *const names[] = { "none", "nodes", "tensors", "name", "order", "added",
		"rest" };
	return names[how];
}

bool matcher_traces(const struct matcher *x, int row)
{
	const struct execution_row *r = &x->e->rows[row];
	return r->level == x->top && (r->parent < 0 || x->e->rows[r->parent].level != x->top);
}

bool matcher_claim(struct matcher *x, int row, int layer)
{
	struct layer_list *l = &x->lists[row];
	int *first = &x->m->row_of_layer[layer];
	if (*first == row)
		return true;
	if (x->claimed[layer] != row + 1) { /* finish() drops a layer that other rows list too */
		VEC_GROW(l->items, l->count, l->capacity);
		l->items[l->count++] = layer;
		x->claimed[layer] = row + 1;
	}
	if (*first < 0)
		*first = row;
	return *first == row;
}

static void unclaim(struct matcher *x, int row)
{
	struct layer_list *l = &x->lists[row];
	while (l->count)
		x->claimed[l->items[--l->count]] = 0;
}

static void set_match(struct match_row *r, enum match_how how, double confidence)
{
	r->how = how;
	r->confidence = confidence;
}

/* ---- by the names of nodes and by the row's own name ---- */

struct naming {
	struct matcher *x;
	int row, own; /* layers that belong to the row */
};

static void name_found(void *user, int layer)
{
	struct naming *n = user;
	n->own += matcher_claim(n->x, n->row, layer);
}

/* Claims the layers that the framework reports, by name or by the tensor that a node writes. */
static double reported_layers(struct matcher *x, struct text name, struct naming *n)
{
	double confidence = name_layers(x, name, name_found, n);
	int value = confidence > 0 ? -1 : name_tensor(x, name);
	if (value < 0 || x->p->values[value].producer < 0)
		return confidence;
	name_found(n, x->p->values[value].producer);
	return 0.9;
}

static void count_free(void *user, int layer)
{
	struct naming *n = user;
	n->own += n->x->m->row_of_layer[layer] < 0;
}

/* Returns true if the row's name lists a layer that no row has yet: the framework did not add such a row. */
static bool names_free_layer(struct matcher *x, int row)
{
	struct text name = text_of(x->e->rows[row].name);
	struct naming n = { .x = x, .row = row };
	if (!name_is_added(name, x->e->rows[row].op))
		name_layers(x, name, count_free, &n);
	return n.own > 0;
}

/* Sets the match of a row whose layers are known. If all of them belong to other rows, the framework added
 * the row or runs a layer in several rows. */
static void settle(struct matcher *x, int row, int own, enum match_how how, double confidence)
{
	struct match_row *r = &x->m->rows[row];
	enum added added = name_added(&x->e->rows[row]);
	if (own == 0 && names_free_layer(x, row)) {
		unclaim(x, row);
	} else if (own == 0 && added < ADDED_COUNT) {
		unclaim(x, row);
		set_match(r, MATCH_ADDED, 1);
		r->added = added;
	} else if (x->lists[row].count)
		set_match(r, how, confidence);
}

static void match_by_nodes(struct matcher *x, int row)
{
	const struct execution_row *r = &x->e->rows[row];
	struct naming n = { .x = x, .row = row };
	const char *list = r->nodes;
	struct text name;
	double confidence = 1;
	if (name_is_added(text_of(r->name), r->op))
		return;
	while (name_next(&list, &name)) {
		double one = reported_layers(x, name, &n);
		confidence = one > 0 && one < 0.9 && one < confidence ? one : confidence;
	}
	settle(x, row, n.own, MATCH_NODES, confidence);
}

static void match_by_name(struct matcher *x, int row)
{
	const struct execution_row *r = &x->e->rows[row];
	struct naming n = { .x = x, .row = row };
	double confidence =
		name_is_added(text_of(r->name), r->op) ? 0 : name_layers(x, text_of(r->name), name_found, &n);
	if (confidence > 0)
		settle(x, row, n.own, MATCH_NAME, confidence);
}

/* ---- by tensors ---- */

/* Finds the values of the plan that a row writes, by its outputs, else by its name. Returns the number, at
 * most `most`. */
#define OUTPUTS_MOST 64
static int row_outputs(const struct matcher *x, int row, int *values)
{
	const struct execution_row *r = &x->e->rows[row];
	const char *list = r->outputs;
	struct text name;
	int count = 0;
	if (name_is_added(text_of(r->name), r->op) && !*list)
		return 0;
	while (count < OUTPUTS_MOST && name_next(&list, &name)) {
		int value = name_tensor(x, name);
		if (value >= 0)
			values[count++] = value;
	}
	if (count || hash_find(&x->layers, text_of(r->name)) >= 0)
		return count;
	int layer = name_fusion(x, text_of(r->name)), value = name_tensor(x, text_of(r->name));
	if (layer >= 0)
		for (int i = 0; i < x->p->layers[layer].output_count && count < OUTPUTS_MOST; i++)
			if (x->p->layers[layer].outputs[i] >= 0)
				values[count++] = x->p->layers[layer].outputs[i];
	if (!count && value >= 0)
		values[count++] = value;
	return count;
}

static bool row_reads(const struct matcher *x, int row, int value)
{
	const char *list = x->e->rows[row].inputs;
	struct text name;
	while (name_next(&list, &name))
		if (name_tensor(x, name) == value)
			return true;
	return false;
}

static void push(struct matcher *x, int row, int value, int *depth)
{
	if (value < 0 || x->p->values[value].constant || x->seen[value] == row + 1)
		return;
	x->seen[value] = row + 1;
	if (x->owner[value] < 0 || x->owner[value] == row)
		x->stack[(*depth)++] = value;
}

/* Claims all layers between the row's outputs and its inputs: walks from the values on the stack back to
 * their producers, and stops at values of other rows, inputs of the row, constants and layers of other rows.
 */
static int walk(struct matcher *x, int row, int depth)
{
	int own = 0;
	while (depth) {
		int layer = x->p->values[x->stack[--depth]].producer;
		if (layer < 0 || (x->m->row_of_layer[layer] >= 0 && x->m->row_of_layer[layer] != row) ||
			(x->reserved[layer] >= 0 && x->reserved[layer] != row))
			continue;
		const struct plan_layer *l = &x->p->layers[layer];
		if (plan_layer_is_folded(x->p, l))
			continue;
		own += matcher_claim(x, row, layer);
		for (int i = 0; i < l->input_count; i++)
			push(x, row, l->inputs[i], &depth);
		for (int i = 0; i < l->capture_count; i++)
			push(x, row, l->captures[i], &depth);
	}
	return own;
}

/* Marks the row's inputs so that a walk stops at them. */
static void stop_at_inputs(struct matcher *x, int row)
{
	const char *list = x->e->rows[row].inputs;
	struct text name;
	while (name_next(&list, &name)) {
		int value = name_tensor(x, name);
		if (value >= 0)
			x->seen[value] = row + 1;
	}
}

static void match_by_tensors(struct matcher *x, int row)
{
	int values[OUTPUTS_MOST], count = row_outputs(x, row, values), depth = 0, copied = 0, shared = -1;
	if (!count)
		return;
	stop_at_inputs(x, row);
	for (int i = 0; i < count; i++) {
		int producer = x->p->values[values[i]].producer;
		copied += row_reads(x, row, values[i]);
		if (x->owner[values[i]] == row)
			push(x, row, values[i], &depth);
		else
			shared = producer >= 0 ? producer : shared;
	}
	int own = walk(x, row, depth);
	struct match_row *r = &x->m->rows[row];
	if (own == 0 && copied == count &&
		!names_free_layer(x, row)) { /* the same tensor in another layout, type or memory */
		enum added added = name_added(&x->e->rows[row]);
		set_match(r, MATCH_ADDED, 1);
		r->added = added < ADDED_COUNT ? added : ADDED_OTHER;
		return;
	}
	if (own == 0 && shared >= 0)
		matcher_claim(x, row, shared);
	settle(x, row, own, MATCH_TENSORS, own ? 0.95 : 0.7);
}

/* ---- merged layers ---- */

#define READERS_MOST 64 /* of a tensor that are compared */

/* Returns true if another row runs a layer with the same problem on the same input. */
static bool has_twin(const struct matcher *x, int row, int layer)
{
	const struct plan_layer *l = &x->p->layers[layer];
	const struct plan_value *v =
		l->input_count && l->inputs[0] >= 0 ? &x->p->values[l->inputs[0]] : NULL;
	for (int i = 0; v && i < v->consumer_count && i < READERS_MOST; i++) {
		int other = v->consumers[i], its_row = x->m->row_of_layer[other];
		if (its_row >= 0 && its_row != row && x->p->layers[other].problem == l->problem &&
			text_equal(x->p->layers[other].node->op, l->node->op))
			return true;
	}
	return false;
}

static void drop(struct matcher *x, int row, int layer)
{
	x->claimed[layer] = 0;
	x->m->merged[layer] = true;
	if (x->m->row_of_layer[layer] == row)
		x->m->row_of_layer[layer] = -1;
}

/* Optimizers merge equal nodes (common subexpressions): of two matrix multiplications with equal inputs and
 * weights one runs. The other one then seems to be in the row of the layers after it. It is dropped
 * - if the row has the operator of a later layer that moves data or multiplies itself, a Transpose for
 *   example: this is no fused kernel. (A fused one may have the name of its activation.) All layers before
 *   that one are dropped with it, except free ones.
 * - from a fused kernel with several convolutions or matrix multiplications, if another row runs its twin. */
static void drop_merged(struct matcher *x, int row)
{
	struct layer_list *l = &x->lists[row];
	int own = -1, first = INT_MAX, compute = 0, kept = 0;
	for (int i = 0; i < l->count; i++) {
		const struct plan_layer *one = &x->p->layers[l->items[i]];
		bool named = text_is(one->node->op, x->e->rows[row].op) &&
			(one->class == CLASS_MOVE || one->class == CLASS_COMPUTE);
		own = named && l->items[i] > own ? l->items[i] : own;
		first = one->class == CLASS_COMPUTE && l->items[i] < first ? l->items[i] : first;
		compute += one->class == CLASS_COMPUTE;
	}
	for (int i = 0; i < l->count; i++) {
		int layer = l->items[i];
		bool before = first < own && layer < own && x->p->layers[layer].class != CLASS_FREE;
		bool twin = compute > 1 && x->p->layers[layer].class == CLASS_COMPUTE &&
			has_twin(x, row, layer);
		if (before || twin)
			drop(x, row, layer);
		else
			l->items[kept++] = layer;
	}
	l->count = kept;
}

/* ---- what remains ---- */

static void match_added(struct matcher *x, int row)
{
	enum added added = name_added(&x->e->rows[row]);
	if (added == ADDED_COUNT)
		return;
	set_match(&x->m->rows[row], MATCH_ADDED, 1);
	x->m->rows[row].added = added;
}

/* ---- compiled subgraphs ---- */

static void match_compiled(struct matcher *x, int row)
{
	if (name_is_compiled(&x->e->rows[row]))
		set_match(&x->m->rows[row], MATCH_REST, 0.5);
}

/* Gives the compiled rows the layers without a row. Without any the framework added them. */
static void share_rest(struct matcher *x)
{
	int *layers = ARENA_ARRAY(x->a, int, x->p->layer_count + 1);
	struct match *m = x->m;
	for (int i = 0; i < x->p->layer_count; i++)
		if (m->row_of_layer[i] < 0 && !plan_layer_is_folded(x->p, &x->p->layers[i]))
			layers[m->rest_layers++] = i;
	for (int i = 0; i < m->row_count; i++) {
		struct match_row *r = &m->rows[i];
		if (r->how != MATCH_REST)
			continue;
		m->rest_rows++;
		for (int k = 0; k < m->rest_layers; k++)
			matcher_claim(x, i, layers[k]);
		if (!m->rest_layers) {
			set_match(r, MATCH_ADDED, 1);
			r->added = ADDED_OTHER;
		}
	}
	m->rest_layers = m->rest_rows ? m->rest_layers : 0;
	m->rest_rows = m->rest_layers ? m->rest_rows : 0;
}

const char *match_rest_hint(const struct execution *e, const struct match *m)
{
	static const struct { const char *in, *hint; } hints[] = {
		{ "Tensorrt", "for its layers: trtexec --exportProfile, --exportLayerInfo, "
			"--profilingVerbosity=detailed" },
		{ "TensorRT", "for its layers also give trtexec --exportLayerInfo, of an engine built with "
			"--profilingVerbosity=detailed" },
		{ "OpenVINO", "for its layers: benchmark_app -report_type detailed_counters" },
	};
	for (int i = 0; i < m->row_count && m->rest_rows; i++)
		for (size_t k = 0; k < sizeof(hints) / sizeof(hints[0]); k++)
			if (m->rows[i].how == MATCH_REST && strstr(e->rows[i].provider, hints[k].in))
				return hints[k].hint;
	return m->rest_rows ? "the profile does not have its layers" : NULL;
}

/* Returns the value that a name in a row's inputs stands for: a tensor, or the first output of a node. */
static int input_value(const struct matcher *x, struct text name)
{
	int value = name_tensor(x, name);
	int64_t layer = value < 0 ? hash_find(&x->layers, name) : -1;
	return layer >= 0 && x->p->layers[layer].output_count ? x->p->layers[layer].outputs[0] : value;
}

/* Matches a row that computes a part of a layer: it reads a tensor of the model and writes one that the model
 * does not have. The layer is the reader of that tensor whose row comes next. */
static void match_by_reader(struct matcher *x, int row)
{
	const char *list = x->e->rows[row].inputs;
	struct text name;
	int next = x->m->row_count, layer = -1;
	while (name_next(&list, &name)) {
		int value = input_value(x, name);
		for (int i = 0; value >= 0 && i < x->p->values[value].consumer_count; i++) {
			int reader = x->p->values[value].consumers[i], other = x->m->row_of_layer[reader];
			if (other > row && other < next) {
				next = other;
				layer = reader;
			}
		}
	}
	if (layer < 0)
		return;
	matcher_claim(x, row, layer);
	set_match(&x->m->rows[row], MATCH_TENSORS, 0.5);
}

static int row_of_neighbour(const struct matcher *x, int layer)
{
	const struct plan_layer *l = &x->p->layers[layer];
	int row = -1;
	for (int i = 0; i < l->pred_count; i++)
		if (x->m->row_of_layer[l->preds[i]] > row)
			row = x->m->row_of_layer[l->preds[i]];
	return row;
}

/* Operators that frameworks fuse with the kernel before them. */
static bool is_epilogue(const struct plan_layer *l)
{
	return plan_layer_has(l, OP_EPILOGUE) || l->class == CLASS_FREE;
}

/* Assigns layers without a row to the row of the layer before them, if that row reports only its first node:
 * they are epilogues. While rows are unmatched, only layers that cost nothing are assigned. */
static void absorb(struct matcher *x, bool all)
{
	for (int i = 0; i < x->p->layer_count; i++) {
		const struct plan_layer *l = &x->p->layers[i];
		bool epilogue = is_epilogue(l);
		if (x->m->row_of_layer[i] >= 0 || !epilogue || plan_layer_is_folded(x->p, l) ||
			(!all && l->class != CLASS_FREE))
			continue;
		int row = row_of_neighbour(x, i);
		if (row < 0)
			continue;
		matcher_claim(x, row, i);
		if (l->class != CLASS_FREE && x->m->rows[row].confidence > 0.7)
			x->m->rows[row].confidence = 0.7;
	}
}

static int compare_ints(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Gives rows inside other rows the match of the outer row. */
static void finish(struct matcher *x)
{
	struct match *m = x->m;
	for (int i = 0; i < m->row_count; i++) {
		struct layer_list *l = &x->lists[i];
		struct match_row *r = &m->rows[i];
		const struct execution_row *row = &x->e->rows[i];
		if (l->count)
			qsort(l->items, (size_t)l->count, sizeof(int), compare_ints);
		r->layer_count = 0;
		r->layers = ARENA_ARRAY(x->a, int, l->count ? l->count : 1);
		for (int k = 0; k < l->count; k++)
			if (k == 0 || l->items[k] != l->items[k - 1])
				r->layers[r->layer_count++] = l->items[k];
		free(l->items);
		if (!matcher_traces(x, i) && row->parent >= 0 && row->parent < i)
			*r = m->rows[row->parent];
		if (!matcher_traces(x, i) || isnan(row->ns))
			continue;
		m->total_ns += row->ns;
		*(r->how == MATCH_NONE	? &m->unmatched_ns
			: r->how == MATCH_ADDED ? &m->added_ns
						: &m->matched_ns) += row->ns;
		if (r->how == MATCH_ADDED)
			m->added_by_ns[r->added] += row->ns;
	}
	double *const sums[] = { &m->total_ns, &m->matched_ns, &m->added_ns, &m->unmatched_ns };
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
		*sums[i] /= m->runs;
	for (int i = 0; i < ADDED_COUNT; i++)
		m->added_by_ns[i] /= m->runs;
}

static void fill(int *list, int count)
{
	for (int i = 0; i < count; i++)
		list[i] = -1;
}

/* Finds the first row that writes each value and the first row with each layer's name. */
static void index_rows(struct matcher *x)
{
	int values[OUTPUTS_MOST];
	for (int i = 0; i < x->e->row_count; i++) {
		if (!matcher_traces(x, i))
			continue;
		int count = row_outputs(x, i, values);
		for (int k = 0; k < count; k++)
			if (x->owner[values[k]] < 0)
				x->owner[values[k]] = i;
		int64_t layer = hash_find(&x->layers, text_of(x->e->rows[i].name));
		if (!count && layer >= 0 && x->reserved[layer] < 0)
			x->reserved[layer] = i;
	}
}

static void match_each(struct matcher *x, void (*by)(struct matcher *x, int row))
{
	for (int i = 0; i < x->m->row_count; i++)
		if (matcher_traces(x, i) && x->m->rows[i].how == MATCH_NONE)
			by(x, i);
}

static bool rows_remain(const struct matcher *x)
{
	for (int i = 0; i < x->m->row_count; i++)
		if (matcher_traces(x, i) && x->m->rows[i].how == MATCH_NONE && !(x->e->rows[i].ns == 0))
			return true;
	return false;
}

/* Returns true if the rows are those of one run: agents measure each run, and readers write the number of
 * separated runs to the settings. A log without a repeated sequence may contain several runs (runs_unknown).
 */
static bool runs_known(const struct execution *e)
{
	json_t *settings = *e->settings ? json_loads(e->settings, 0, NULL) : NULL;
	bool known = strcmp(e->source, "agent") == 0 || (json_int_at(settings, "runs", 0) > 0 &&
		!json_is_true(json_object_get(settings, "runs_unknown")));
	json_decref(settings);
	return known;
}

struct match *match_execution(struct arena *a, const struct execution *e, const struct plan *p)
{
	struct match *m = ARENA_NEW(a, struct match);
	struct arena scratch = { 0 };
	struct matcher x = { .a = a, .e = e, .p = p, .m = m, .top = LEVEL_KERNEL,
		.runs_known = runs_known(e) };
	m->runs = 1;
	m->row_count = e->row_count;
	m->rows = ARENA_ARRAY(a, struct match_row, e->row_count ? e->row_count : 1);
	m->layer_count = p->layer_count;
	m->row_of_layer = ARENA_ARRAY(a, int, p->layer_count ? p->layer_count : 1);
	m->merged = ARENA_ARRAY(a, bool, p->layer_count);
	fill(m->row_of_layer, p->layer_count);
	for (int i = 0; i < e->row_count; i++)
		if (e->rows[i].level == LEVEL_LAYER)
			x.top = LEVEL_LAYER;
	x.owner = ARENA_ARRAY(&scratch, int, p->value_count + 1);
	x.reserved = ARENA_ARRAY(&scratch, int, p->layer_count + 1);
	x.seen = ARENA_ARRAY(&scratch, int, p->value_count + 1);
	x.claimed = ARENA_ARRAY(&scratch, int, p->layer_count + 1);
	x.stack = ARENA_ARRAY(&scratch, int, p->value_count + 1);
	x.lists = ARENA_ARRAY(&scratch, struct layer_list, e->row_count + 1);
	fill(x.owner, p->value_count);
	fill(x.reserved, p->layer_count);
	names_index(&x);
	index_rows(&x);
	match_each(&x, match_by_nodes);
	match_each(&x, match_by_tensors);
	match_each(&x, match_by_name);
	match_each(&x, match_compiled);
	match_by_order(&x);
	match_each(&x, match_added);
	match_each(&x, match_by_reader);
	for (int i = 0; i < m->row_count; i++)
		drop_merged(&x, i);
	share_rest(&x);
	absorb(&x, !rows_remain(&x));
	finish(&x);
	for (int i = 0; i < m->layer_count; i++) { /* another row may run one that was dropped */
		m->merged[i] &= m->row_of_layer[i] < 0;
		m->merged_layers += m->merged[i];
	}
	hash_free(&x.tensors);
	hash_free(&x.layers);
	arena_free(&scratch);
	return m;
}
