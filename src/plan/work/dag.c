/* Edges that carry run-time data, consumers of each value, the peak of live activation
 * bytes, and which layers may write their output over an input. */
#include "config.h"

#include "plan/plan_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* True if the layer is computed before run time. It then has no edges. */
static bool layer_is_folded(const struct plan *p, const struct plan_layer *l)
{
	if (l->class != CLASS_FREE)
		return false;
	for (int j = 0; j < l->output_count; j++) {
		if (l->outputs[j] >= 0 && !p->values[l->outputs[j]].constant)
			return false;
	}
	return true;
}

/* ---- reads: (layer, value) pairs in layer order, each once */

struct reads {
	int *first; /* those of layer i: values[first[i] .. first[i + 1]) */
	int *values;
};

static void reads_add(struct reads *r, int *seen, int layer, int value, int *at)
{
	if (value < 0 || seen[value] == layer)
		return;
	seen[value] = layer;
	r->values[(*at)++] = value;
}

static struct reads reads_find(const struct plan *p)
{
	size_t most = 0;
	int *seen = base_malloc((size_t)p->value_count * sizeof(*seen)), at = 0;
	for (int i = 0; i < p->layer_count; i++)
		most += (size_t)p->layers[i].input_count + (size_t)p->layers[i].capture_count;
	struct reads r = {
		.first = base_malloc(((size_t)p->layer_count + 1) * sizeof(int)),
		.values = base_malloc(most * sizeof(int)),
	};
	for (int i = 0; i < p->value_count; i++)
		seen[i] = -1;
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		r.first[i] = at;
		if (layer_is_folded(p, l))
			continue;
		for (int j = 0; j < l->input_count; j++)
			reads_add(&r, seen, i, l->inputs[j], &at);
		for (int j = 0; j < l->capture_count; j++)
			reads_add(&r, seen, i, l->captures[j], &at);
	}
	r.first[p->layer_count] = at;
	free(seen);
	return r;
}

/* Counting sort, first half: counts each of `n` numbers in `values` and returns where the share of each
 * begins in one array (n + 1 indexes). The counts are adjacent in memory, unlike layers and values: a large
 * graph visits them in random order. */
static int *shares_find(const int *values, int count, int n)
{
	int *first = base_calloc((size_t)n + 1, sizeof(*first));
	for (int i = 0; i < count; i++)
		first[values[i] + 1]++;
	for (int i = 0; i < n; i++)
		first[i + 1] += first[i];
	return first;
}

static void consumers_fill(struct plan *p, const struct reads *r)
{
	int total = r->first[p->layer_count];
	int *all = ARENA_ARRAY(&p->arena, int, total), *next = shares_find(r->values, total, p->value_count);
	for (int i = 0; i < p->value_count; i++) {
		p->values[i].consumers = all + next[i];
		p->values[i].consumer_count = next[i + 1] - next[i];
	}
	for (int i = 0; i < p->layer_count; i++)
		for (int j = r->first[i]; j < r->first[i + 1]; j++)
			all[next[r->values[j]]++] = i;
	free(next);
}

/* For each value the layer that computes it at run time, or -1. */
static int *producers_find(const struct plan *p)
{
	int *producers = base_malloc((size_t)p->value_count * sizeof(*producers));
	for (int i = 0; i < p->value_count; i++)
		producers[i] = p->values[i].constant ? -1 : p->values[i].producer;
	return producers;
}

static int int_compare(const void *x, const void *y)
{
	int a = *(const int *)x, b = *(const int *)y;
	return (a > b) - (a < b);
}

/* Fills the preds of all layers; their array, in the order of layers, is returned for succs_fill. */
static int *preds_fill(struct plan *p, const struct reads *r, int *total)
{
	int *seen = base_malloc((size_t)p->layer_count * sizeof(*seen)), *producers = producers_find(p);
	int *all = ARENA_ARRAY(&p->arena, int, r->first[p->layer_count]), *at = all;
	for (int i = 0; i < p->layer_count; i++)
		seen[i] = -1;
	for (int i = 0; i < p->layer_count; i++) {
		struct plan_layer *l = &p->layers[i];
		l->preds = at;
		for (int j = r->first[i]; j < r->first[i + 1]; j++) {
			int before = producers[r->values[j]];
			if (before < 0 || before >= i || seen[before] == i)
				continue;
			seen[before] = i;
			*at++ = before;
		}
		l->pred_count = (int)(at - l->preds);
		if (l->pred_count > 1)
			qsort(l->preds, (size_t)l->pred_count, sizeof(int), int_compare);
	}
	free(producers);
	free(seen);
	*total = (int)(at - all);
	return all;
}

static void succs_fill(struct plan *p, const int *preds, int total)
{
	int *all = ARENA_ARRAY(&p->arena, int, total), *next = shares_find(preds, total, p->layer_count);
	for (int i = 0; i < p->layer_count; i++) {
		p->layers[i].succs = all + next[i];
		p->layers[i].succ_count = next[i + 1] - next[i];
	}
	for (int i = 0; i < p->layer_count; i++)
		for (int j = 0; j < p->layers[i].pred_count; j++)
			all[next[*preds++]++] = i;
	free(next);
}

/* ---- bytes */

/* The core of the integer layer that a layer is part of, or -1. */
static int layer_group(const struct plan *p, int layer)
{
	const struct plan_layer *l = layer >= 0 ? &p->layers[layer] : NULL;
	return !l ? -1 : l->absorbed_by >= 0 ? l->absorbed_by : l->quantized ? layer : -1;
}

/* True if the value exists only inside one group, so that it is not in memory. */
static bool value_is_inner(const struct plan *p, const struct plan_value *v)
{
	int group = layer_group(p, v->producer);
	bool inner = group >= 0 && v->consumer_count > 0 && !v->is_output;
	for (int i = 0; inner && i < v->consumer_count; i++)
		inner = p->layers[v->consumers[i]].absorbed_by == group;
	return inner;
}

/* The value as it is stored: weights of an integer layer keep the type of the file. */
static const struct plan_value *value_stored(const struct plan *p, const struct plan_value *v)
{
	while (v->producer >= 0) {
		const struct plan_layer *l = &p->layers[v->producer];
		if (l->absorbed_by < 0 || l->input_count < 1 || l->inputs[0] < 0)
			break;
		v = &p->values[l->inputs[0]];
	}
	return v;
}

/* The layer that writes the value; for the result of a group, its core. */
static int value_begins(const struct plan *p, const struct plan_value *v)
{
	int group = layer_group(p, v->producer);
	return v->producer < 0 ? 0 : group >= 0 && group < v->producer ? group : v->producer;
}

/* Marks what a layer with bodies reads: its inputs, and the values that its bodies read or return, without
 * folded ones. */
static void bodies_read(struct plan *p, const struct plan_layer *l)
{
	for (int i = 0; i < l->input_count; i++)
		if (l->inputs[i] >= 0)
			p->values[l->inputs[i]].is_read = true;
	for (int i = 0; i < l->body_count; i++)
		for (int j = 0; j < l->bodies[i].value_count; j++) {
			const struct plan_value *inner = &l->bodies[i].values[j];
			if (inner->outer >= 0 && (inner->is_read || inner->is_output))
				p->values[inner->outer].is_read = true;
		}
}

/* The weights of bodies. Captured values are counted in the graph that they belong to. */
static void bodies_weigh(struct plan *p, const struct plan_layer *l)
{
	for (int i = 0; i < l->body_count; i++)
		if (i == 0 || l->bodies[i].graph != l->bodies[i - 1].graph) /* iterations share them */
			p->weight_bytes += l->bodies[i].weight_bytes;
}

static void weight_bytes(struct plan *p)
{
	for (int i = 0; i < p->value_count; i++) {
		struct plan_value *v = &p->values[i];
		bool read = v->is_read;
		for (int j = 0; v->constant && !read && j < v->consumer_count; j++) {
			const struct plan_layer *l = &p->layers[v->consumers[j]];
			read = !l->body_count && (l->class != CLASS_FREE || l->absorbed_by >= 0);
		}
		v->is_read = read && v->constant;
		if (!v->is_read || v->outer >= 0)
			continue;
		const struct plan_value *stored = value_stored(p, v);
		double bytes = dtype_bytes(stored->dtype, shape_count(stored->shape));
		if (!isnan(bytes))
			p->weight_bytes += bytes;
	}
}

/* Bytes of a value; of a sequence, of its tensors if each is known. NaN: unknown. */
static double live_value(enum value_kind kind, enum dtype t, struct shape s, struct dim length,
	const struct op_value *items)
{
	double bytes = 0;
	if (kind == VALUE_TENSOR)
		return dtype_bytes(t, shape_count(s));
	if (kind != VALUE_SEQUENCE || length.kind != DIM_KNOWN || (length.value && !items))
		return NAN;
	for (int i = 0; i < (int)length.value; i++)
		bytes += live_value(items[i].kind, items[i].dtype, items[i].shape, items[i].length,
			items[i].items);
	return bytes;
}

/* Returns the live bytes inside a layer's bodies: the largest peak, because only one body runs at a time. */
static double live_inside(const struct plan_layer *l)
{
	double most = 0;
	for (int i = 0; i < l->body_count; i++) {
		double bytes = l->bodies[i].times != 0 ? l->bodies[i].peak_live_bytes : 0;
		most = bytes > most || isnan(bytes) ? bytes : most;
	}
	return most;
}

/* The input whose memory the value shares, because a free layer passes its first input on; -1: none. */
static int value_alias(const struct plan *p, const struct plan_value *v)
{
	const struct plan_layer *l = v->producer >= 0 ? &p->layers[v->producer] : NULL;
	if (!l || l->class != CLASS_FREE || v->elements || l->input_count == 0 || l->inputs[0] < 0)
		return -1;
	const struct plan_value *x = &p->values[l->inputs[0]];
	/* the core writes the group's result to new memory */
	if (l->absorbed_by >= 0 && layer_group(p, x->producer) == l->absorbed_by)
		return -1;
	return !x->constant && shape_count(x->shape) == shape_count(v->shape) ? l->inputs[0] : -1;
}

/* The layer at which a layer runs: itself without `at`. */
static int runs_at(const int *at, int layer)
{
	return at ? at[layer] : layer;
}

static void live_last(const struct plan *p, const int *root, const int *at, int *last)
{
	for (int i = 0; i < p->value_count; i++) {
		const struct plan_value *v = &p->values[i];
		int end = v->producer >= 0 ? runs_at(at, v->producer) : 0;
		for (int j = at ? 0 : v->consumer_count - 1; j >= 0 && j < v->consumer_count; j++)
			if (runs_at(at, v->consumers[j]) > end)
				end = runs_at(at, v->consumers[j]);
		if (v->is_output && p->layer_count)
			end = p->layer_count - 1;
		if (end > last[root[i]])
			last[root[i]] = end;
	}
}

/* Peak of live bytes, by a sweep over layers in execution order: a value lives from its producer (an input
 * from the beginning) to its last reader. at, workspace: as in plan_peak_bytes. */
static double live_peak(
	const struct plan *p, const int *root, const int *last, const int *at, const double *workspace)
{
	double *change = base_calloc((size_t)p->layer_count + 2, sizeof(*change)), live = 0, peak = 0;
	for (int i = 0; i < p->value_count; i++) {
		const struct plan_value *v = &p->values[i];
		if (v->constant || v->outer >= 0 || root[i] != i || (v->producer < 0 && !v->consumer_count) ||
			value_is_inner(p, v))
			continue;
		int begin = v->producer < 0 ? 0 : runs_at(at, value_begins(p, v));
		double bytes = live_value(v->kind, v->dtype, v->shape, v->held->length, v->held->items);
		if (at && v->producer >= 0 && v->consumer_count && !v->is_output && last[i] == begin)
			continue; /* inside a kernel */
		change[begin] += bytes;
		change[last[i] + 1] -= bytes;
	}
	for (int i = 0; i < p->layer_count; i++) {
		live += change[i];
		double all = live + live_inside(&p->layers[i]) + (workspace ? workspace[i] : 0);
		if (all > peak || isnan(all))
			peak = all;
	}
	free(change);
	return peak;
}

/* True if the memory of this root may be overwritten after its last reader: it is neither the model's input
 * or output, nor a constant, nor a value of an enclosing graph, nor part of another value (an element of a
 * sequence, the result of a branch). */
static bool root_dies(const struct plan *p, const struct plan_value *root, bool is_kept)
{
	const struct plan_layer *by = root->producer >= 0 ? &p->layers[root->producer] : NULL;
	return !is_kept && by && !root->constant && root->outer < 0 && !value_is_inner(p, root) &&
		(by->class != CLASS_FREE || by->absorbed_by >= 0) && !plan_layer_is_control(by);
}

static bool is_container(const struct plan *p, int value)
{
	return value >= 0 && p->values[value].kind != VALUE_TENSOR;
}

/* Keeps what free layers put into sequences and optionals, or take out of them: which tensors share memory is
 * not followed there. */
static void keep_contents(const struct plan *p, const int *root, bool *kept)
{
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		bool holds = false;
		for (int k = 0; k < l->input_count; k++)
			holds |= is_container(p, l->inputs[k]);
		for (int k = 0; k < l->output_count; k++)
			holds |= is_container(p, l->outputs[k]);
		if (!holds || l->class != CLASS_FREE)
			continue;
		for (int k = 0; k < l->input_count + l->output_count; k++) {
			int v = k < l->input_count ? l->inputs[k] : l->outputs[k - l->input_count];
			if (v >= 0)
				kept[root[v]] = true;
		}
	}
}

/* Fills dies_in per value. */
static void find_deaths(const struct plan *p, const int *root, const int *last, int *dies_in)
{
	bool *kept = base_calloc((size_t)p->value_count + 1, sizeof(*kept));
	bool tensors = true;
	for (int i = 0; i < p->value_count; i++) {
		kept[root[i]] |= p->values[i].is_output;
		tensors &= p->values[i].kind == VALUE_TENSOR;
	}
	if (!tensors)
		keep_contents(p, root, kept);
	for (int i = 0; i < p->value_count; i++) /* kept becomes: may not be overwritten */
		if (root[i] == i)
			kept[i] = !root_dies(p, &p->values[i], kept[i]);
	for (int i = 0; i < p->value_count; i++)
		dies_in[i] = kept[root[i]] ? -1 : last[root[i]];
	free(kept);
}

static bool int_is_in(int x, const int *list, int count)
{
	return count > 0 && bsearch(&x, list, (size_t)count, sizeof(*list), int_compare);
}

bool plan_overwrites(const struct plan *p, const int *layers, int count, bool folded)
{
	const int *deaths = folded ? p->folded_deaths : NULL;
	const struct plan_layer *end = &p->layers[layers[count - 1]];
	const struct plan_value *to =
		end->output_count && end->outputs[0] >= 0 ? &p->values[end->outputs[0]] : NULL;
	for (int i = 0; to && i < count; i++) {
		const struct plan_layer *l = &p->layers[layers[i]];
		for (int j = 0; j < l->input_count; j++) {
			const struct plan_value *from = l->inputs[j] >= 0 ? &p->values[l->inputs[j]] : NULL;
			if (from && from->kind == VALUE_TENSOR && from->dtype == to->dtype &&
				shape_count(from->shape) == shape_count(to->shape) &&
				int_is_in(deaths ? deaths[l->inputs[j]] : from->dies_in, layers, count) &&
				!int_is_in(from->producer, layers, count))
				return true;
		}
	}
	return false;
}

/* The value whose memory each value shares. */
static int *roots_find(const struct plan *p)
{
	int *root = base_malloc(((size_t)p->value_count + 1) * sizeof(*root));
	for (int i = 0; i < p->value_count; i++)
		root[i] = i;
	/* In execution order, so that chains of aliases are resolved to their first value. */
	for (int i = 0; i < p->layer_count; i++)
		for (int j = 0; j < p->layers[i].output_count; j++) {
			int value = p->layers[i].outputs[j];
			int alias = value >= 0 && j == 0 ? value_alias(p, &p->values[value]) : -1;
			if (alias >= 0)
				root[value] = root[alias];
		}
	return root;
}

double plan_peak_bytes(const struct plan *p, const int *at, const double *workspace)
{
	int *root = roots_find(p);
	int *last = base_calloc((size_t)p->value_count + 1, sizeof(*last));
	live_last(p, root, at, last);
	double peak = live_peak(p, root, last, at, workspace);
	free(root);
	free(last);
	return peak;
}

static void live_bytes(struct plan *p)
{
	int *root = roots_find(p);
	int *last = base_calloc((size_t)p->value_count + 1, sizeof(*last));
	live_last(p, root, NULL, last);
	p->peak_live_bytes = live_peak(p, root, last, NULL, NULL);
	int *dies_in = base_malloc(((size_t)p->value_count + 1) * sizeof(*dies_in));
	find_deaths(p, root, last, dies_in);
	for (int i = 0; i < p->value_count; i++)
		p->values[i].dies_in = dies_in[i];
	free(dies_in);
	free(root);
	free(last);
}

/* The value that is read instead of an output of a layer that folds, or -1. */
static int fold_alias(const struct plan *p, const struct plan_layer *l, int output)
{
	const struct plan_layer *same = l->fold == FOLD_SAME ? &p->layers[l->fold_of] : NULL;
	return !plan_layer_folds(l) ? -1 : !same ? l->fold_value :
		output < same->output_count ? same->outputs[output] : -1;
}

/* Layers that fold count as readers too: what may be overwritten may be with each subset of them removed,
 * and without the what-if. */
void dag_folded_deaths(struct plan *p)
{
	int *root = p->fold_count ? roots_find(p) : NULL;
	if (!root)
		return;
	for (int i = 0; i < p->layer_count; i++)
		for (int j = 0; j < p->layers[i].output_count; j++) {
			int value = p->layers[i].outputs[j], alias = fold_alias(p, &p->layers[i], j);
			if (value >= 0)
				root[value] = alias >= 0 ? root[alias] : root[root[value]];
		}
	int *last = base_calloc((size_t)p->value_count + 1, sizeof(*last));
	live_last(p, root, NULL, last);
	p->folded_deaths = ARENA_ARRAY(&p->arena, int, p->value_count);
	find_deaths(p, root, last, p->folded_deaths);
	free(root);
	free(last);
}

void dag_edges(struct plan *p)
{
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		for (int j = 0; j < l->body_count; j++)
			dag_edges(&l->bodies[j]);
		if (l->body_count && l->class != CLASS_FREE)
			bodies_read(p, l);
		bodies_weigh(p, l);
	}
	struct reads r = reads_find(p);
	consumers_fill(p, &r);
	int total, *preds = preds_fill(p, &r, &total);
	succs_fill(p, preds, total);
	weight_bytes(p);
	live_bytes(p);
	free(r.first);
	free(r.values);
}
