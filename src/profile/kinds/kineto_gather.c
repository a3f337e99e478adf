/* Operators nest by their times on a thread, in one pass over the sorted events; work on the device finds
 * its layer by the correlation of its launch. O(n log n). */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/read/calls.h"
#include "profile/kinds/kineto.h"

/* With more rows than this, events without a layer share a row by name and shapes; four times this number is
 * the limit of rows. */
#define ROWS_MOST (1 << 14)

struct gather {
	struct kineto *k;
	struct arena *a; /* texts of the execution */
	struct execution *e;
	struct timeline t;
	int *event;      /* row of each record, or -1 */
	struct str key;
	/* occurrences of a label in a run */
	int *seen, *seen_run;
	int *by_correlation, *by_id; /* records of calls, of operators, sorted */
	int call_count, op_count;
	int left_out; /* events without a row */
	int lacking;  /* runs left out because they lack layers */
};

/* Operators that only contain other operators. */
static bool is_wrapper(const char *name)
{
	static const char *const starts[] = { "Torch-Compiled Region", "CompiledFunction", "CompiledFxGraph",
		"## Call", "TorchDynamo", "AOTDispatcher", "autograd::engine::evaluate_function",
		"nn.Module" };
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static enum kineto_kind kind_of(const struct gather *g, int i)
{
	return g->k->labels[g->k->records[i].label].kind;
}

static bool is_device(enum kineto_kind kind)
{
	return kind == KINETO_KERNEL || kind == KINETO_MEMCPY || kind == KINETO_MEMSET;
}

/* Orders by start; for equal starts the longer event first. */
static int compare_records(const void *a, const void *b)
{
	const struct kineto_record *x = a, *y = b;
	if (x->start != y->start)
		return x->start > y->start ? 1 : -1;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->order > y->order) - (x->order < y->order);
}

/* Sets `parent` of each operator and call to the outermost operator around it on its thread (a layer), itself
 * for an outermost one. One pass over the records in time, with the innermost open operator of each thread.
 */
static void nest(struct gather *g)
{
	struct kineto *k = g->k;
	int *around = base_malloc(((size_t)k->record_count + 1) * sizeof(int)), lane_count = 0;
	struct hash lanes = { 0 };
	int *open = base_malloc(((size_t)k->record_count + 1) * sizeof(int));
	for (int i = 0; i < k->record_count; i++) {
		struct kineto_record *r = &k->records[i];
		enum kineto_kind kind = kind_of(g, i);
		r->parent = -1;
		if (kind != KINETO_OP && kind != KINETO_RUNTIME)
			continue;
		int64_t *lane = hash_at(&lanes, (struct text){ (const char *)&r->lane, sizeof(r->lane) });
		if (*lane < 0) {
			*lane = lane_count;
			open[lane_count++] = -1;
		}
		int o = open[*lane];
		while (o >= 0 && r->start >= k->records[o].start + k->records[o].ns)
			o = around[o];
		around[i] = o;
		r->parent = o >= 0 ? k->records[o].parent : -1;
		if (kind == KINETO_OP && r->parent < 0 && !is_wrapper(k->labels[r->label].name))
			r->parent = i;
		open[*lane] = kind == KINETO_OP ? i : o;
	}
	hash_free(&lanes);
	free(around);
	free(open);
}

static int compare_correlations(const void *a, const void *b, void *records)
{
	const struct kineto_record *all = records;
	int64_t x = all[*(const int *)a].correlation, y = all[*(const int *)b].correlation;
	return (x > y) - (x < y);
}

static int compare_ids(const void *a, const void *b, void *records)
{
	const struct kineto_record *all = records;
	int64_t x = all[*(const int *)a].id, y = all[*(const int *)b].id;
	return (x > y) - (x < y);
}

static void index_records(struct gather *g)
{
	struct kineto *k = g->k;
	g->by_correlation = base_malloc(((size_t)k->record_count + 1) * sizeof(int));
	g->by_id = base_malloc(((size_t)k->record_count + 1) * sizeof(int));
	for (int i = 0; i < k->record_count; i++) {
		enum kineto_kind kind = kind_of(g, i);
		if (kind == KINETO_RUNTIME && k->records[i].correlation)
			g->by_correlation[g->call_count++] = i;
		else if (kind == KINETO_OP && k->records[i].id)
			g->by_id[g->op_count++] = i;
	}
	qsort_r(g->by_correlation, (size_t)g->call_count, sizeof(int), compare_correlations, k->records);
	qsort_r(g->by_id, (size_t)g->op_count, sizeof(int), compare_ids, k->records);
}

/* Returns a record whose number equals that of `wanted`, by binary search; -1 without one. */
static int find(const struct gather *g, const int *sorted, int count, int wanted,
	int (*compare)(const void *, const void *, void *))
{
	int lo = 0, hi = count;
	while (lo < hi) {
		int mid = (lo + hi) / 2, order = compare(&sorted[mid], &wanted, g->k->records);
		if (order == 0)
			return sorted[mid];
		if (order < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return -1;
}

/* Returns the layer that launched work on the device: that of the call with the same correlation, else that
 * of the operator with the same id. The call comes first because in older traces a kernel's id equals its
 * correlation, not the id of an operator. */
static int layer_of(const struct gather *g, int i)
{
	const struct kineto_record *r = &g->k->records[i];
	int call = r->correlation ? find(g, g->by_correlation, g->call_count, i, compare_correlations) : -1;
	if (call >= 0 && g->k->records[call].parent >= 0)
		return g->k->records[call].parent;
	int op = r->id && r->id != r->correlation ? find(g, g->by_id, g->op_count, i, compare_ids) : -1;
	return op >= 0 ? g->k->records[op].parent : -1;
}

/* ---- runs ---- */

/* Annotations that PyTorch itself writes and that do not mark a run. */
static bool is_part(const char *name)
{
	static const char *const starts[] = { "enumerate(DataLoader)", "Optimizer.",
		"DistributedDataParallel", "nccl:", "gloo:", "## Call" };
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

static const char *note_of(const struct gather *g, int i)
{
	return kind_of(g, i) == KINETO_NOTE ? g->k->labels[g->k->records[i].label].name : NULL;
}

static bool is_step(const char *note)
{
	return note && !strncmp(note, "ProfilerStep#", 13);
}

/* Returns the label of the annotation that covers the most time, occurs at least twice and never within
 * itself: the user's record_function() around the model; -1 without one. */
static int repeated_note(const struct gather *g)
{
	const struct kineto *k = g->k;
	struct note {
		double end, ns;
		int count;
	} *notes = base_calloc((size_t)k->label_count, sizeof(*notes));
	int best = -1;
	for (int i = 0; i < k->record_count; i++) {
		const struct kineto_record *r = &k->records[i];
		struct note *n = &notes[r->label];
		if (!note_of(g, i) || is_part(note_of(g, i)))
			continue;
		n->ns = n->count && r->start < n->end ? NAN : n->ns + r->ns;
		n->end = r->start + r->ns;
		n->count++;
	}
	for (int i = 0; i < k->label_count; i++)
		if (notes[i].count > 1 && notes[i].ns > (best < 0 ? 0 : notes[best].ns))
			best = i;
	free(notes);
	return best;
}

/* Returns true if at least half of the layers from the first run on are in runs. */
static bool covers_most(struct gather *g)
{
	const struct kineto *k = g->k;
	int inside = 0, all = 0;
	timeline_sort(&g->t);
	for (int i = 0; i < k->record_count; i++) {
		const struct kineto_record *r = &k->records[i];
		if (r->parent != i || g->t.run_count == 0 || r->start < g->t.runs[0].start)
			continue;
		all++;
		inside += timeline_run_at(&g->t, r->lane, r->start) >= 0;
	}
	return inside * 2 >= all;
}

/* Finds runs by annotations: ProfilerStep#N, else the repeated one. If later events were left out, the last
 * run may lack kernels and is dropped. Returns the name of the annotation, or NULL. */
static const char *add_notes(struct gather *g)
{
	struct kineto *k = g->k;
	int steps = 0;
	for (int i = 0; i < k->record_count; i++)
		steps += is_step(note_of(g, i));
	int label = steps ? -1 : repeated_note(g);
	for (int i = 0; i < k->record_count; i++) {
		const struct kineto_record *r = &k->records[i];
		const char *note = note_of(g, i);
		if (note && (steps ? is_step(note) : r->label == label) && r->start + r->ns <= k->until)
			timeline_add_run(&g->t, r->lane, r->start, r->ns);
	}
	if (!steps && !covers_most(g))
		g->t.run_count = 0;
	if (!isinf(k->until) && g->t.run_count > 2)
		g->t.run_count--;
	return !g->t.run_count ? NULL : steps ? "ProfilerStep" : k->labels[label].name;
}

static int compare_ints(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	return (x > y) - (x < y);
}

/* Leaves out the runs that have fewer layers and kernels than the middle one of those with any, because their
 * layers or kernels have no time. */
static void drop_lacking(struct gather *g)
{
	const struct kineto *k = g->k;
	int n = g->t.run_count, some = 0, kept = 0;
	int *events = base_calloc((size_t)n + 1, sizeof(int));
	int *counts = base_calloc((size_t)n + 1, sizeof(int));
	timeline_sort(&g->t);
	for (int i = 0; i < k->record_count; i++) {
		int layer = is_device(kind_of(g, i)) ? layer_of(g, i) : k->records[i].parent == i ? i : -1;
		const struct kineto_record *r = layer < 0 ? NULL : &k->records[layer];
		int run = r ? timeline_run_at(&g->t, r->lane, r->start) : -1;
		if (run >= 0)
			events[run]++;
	}
	for (int i = 0; i < n; i++)
		if (events[i])
			counts[some++] = events[i];
	qsort(counts, (size_t)some, sizeof(int), compare_ints);
	for (int i = 0; i < n; i++)
		if (some && events[i] >= counts[some / 2])
			g->t.runs[kept++] = g->t.runs[i];
	g->lacking = some ? n - kept : 0;
	g->t.run_count = some ? kept : n;
	free(events);
	free(counts);
}

/* Finds runs without annotations: repetitions of a sequence of operators on the busiest thread. */
static void add_repetitions(struct gather *g, const int *layers, int count)
{
	struct kineto *k = g->k;
	uint64_t *keys = base_calloc((size_t)count + 1, sizeof(*keys));
	double *idle = base_calloc((size_t)count + 1, sizeof(double)), busy = 0; /* until then */
	for (int i = 0; i < count; i++) {
		const struct kineto_record *r = &k->records[layers[i]];
		keys[i] = (uint64_t)r->label;
		idle[i] = fmax(r->start - busy, 0);
		busy = fmax(busy, r->start + r->ns);
	}
	struct runs best = calls_runs_within(keys, idle, count);
	free(keys);
	free(idle);
	for (int i = 0; i < best.count && best.count > 1; i++) {
		const int *run = &layers[best.first + i * best.period];
		const struct kineto_record *from = &k->records[run[0]],
					   *last = &k->records[run[best.period - 1]];
		timeline_add_run(&g->t, from->lane, from->start, last->start + last->ns - from->start);
	}
}

/* Returns the layers of the thread with the most layers. */
static void find_repetitions(struct gather *g)
{
	struct kineto *k = g->k;
	int *layers = base_malloc(((size_t)k->record_count + 1) * sizeof(int)), count = 0, lane = 0, most = 0;
	struct hash lanes = { 0 };
	for (int i = 0; i < k->record_count; i++) {
		if (k->records[i].parent != i)
			continue;
		int64_t *n = hash_at(&lanes, (struct text){ (const char *)&k->records[i].lane, sizeof(int) });
		if (++*n >= most) {
			most = (int)*n;
			lane = k->records[i].lane;
		}
	}
	for (int i = 0; i < k->record_count; i++)
		if (k->records[i].parent == i && k->records[i].lane == lane)
			layers[count++] = i;
	add_repetitions(g, layers, count);
	hash_free(&lanes);
	free(layers);
}

/* ---- rows ---- */

/* Returns the row of a record: found by the row of its layer, or, without a layer, by its occurrence in the
 * run. -1 at the limit of rows. */
static int row_of(struct gather *g, int i, enum execution_level level, int layer, bool *is_new)
{
	const struct kineto_record *r = &g->k->records[i];
	const struct kineto_label *l = &g->k->labels[r->label];
	int parent = layer >= 0 ? g->t.events[g->event[layer]].row : -1, occurrence = -1;
	if (parent < 0 && level != LEVEL_API && g->t.row_count < ROWS_MOST) {
		int run = timeline_run_at(&g->t, r->lane, r->start);
		if (g->seen_run[r->label] != run)
			g->seen[r->label] = 0;
		g->seen_run[r->label] = run;
		occurrence = g->seen[r->label]++;
	}
	str_clear(&g->key);
	str_addf(&g->key, "%d %d %d %s\n%s", (int)level, parent, occurrence, l->name, l->shapes);
	struct text key = { g->key.p, g->key.n };
	if (g->t.row_count >= 4 * ROWS_MOST && hash_find(&g->t.keys, key) < 0)
		return -1;
	return timeline_row(&g->t, level, key, is_new);
}

static const char *copy(struct gather *g, const char *s)
{
	return *s ? arena_strndup(g->a, s, strlen(s)) : "";
}

static void fill(struct gather *g, struct execution_row *row, const struct kineto_label *l, int layer)
{
	bool device = is_device(l->kind), is_aten = !strncmp(l->name, "aten::", 6);
	row->name = copy(g, l->name);
	row->stream = device ? l->stream : -1;
	row->provider = device ? "CUDA" : "";
	row->kernel = l->kind == KINETO_KERNEL ? row->name : "";
	row->op = l->kind == KINETO_OP ? row->name + (is_aten ? 6 : 0)
		: layer >= 0           ? g->t.rows[g->t.events[g->event[layer]].row].op
				       : "";
	row->shapes = copy(g, l->shapes);
	row->dtype = l->dtype;
	if (l->kind == KINETO_KERNEL && l->occupancy >= 0 && l->occupancy <= 1)
		row->occupancy = l->occupancy;
}

static void add_record(struct gather *g, int i, enum execution_level level, int layer)
{
	const struct kineto_record *r = &g->k->records[i];
	bool is_new;
	if (layer >= 0 && g->event[layer] < 0)
		layer = -1;
	int row = row_of(g, i, level, layer, &is_new);
	if (row < 0) {
		g->left_out++;
		return;
	}
	if (is_new)
		fill(g, &g->t.rows[row], &g->k->labels[r->label], layer);
	g->event[i] = timeline_add(
		&g->t, row, layer >= 0 ? g->event[layer] : -1, r->lane, r->start, r->ns);
}

static const enum execution_level levels[] = {
	[KINETO_OP] = LEVEL_LAYER, [KINETO_KERNEL] = LEVEL_KERNEL, [KINETO_MEMCPY] = LEVEL_COPY,
	[KINETO_MEMSET] = LEVEL_KERNEL, [KINETO_RUNTIME] = LEVEL_API,
};

/* Returns true if operators are the layers: they launched at least half of the time on the device, or the
 * trace has no device. In a replayed CUDA graph operators are only calls on the host. */
static enum execution_level level_of_ops(struct gather *g)
{
	double all = 0, launched = 0;
	for (int i = 0; i < g->k->record_count; i++) {
		if (!is_device(kind_of(g, i)))
			continue;
		all += g->k->records[i].ns;
		launched += layer_of(g, i) >= 0 ? g->k->records[i].ns : 0;
	}
	return launched * 2 >= all ? LEVEL_LAYER : LEVEL_API;
}

/* Returns for a trace from before Kineto which operators have a time on the device. Each one had it, that of
 * the operators inside it included. */
static bool *timed_ops(const struct gather *g)
{
	const struct kineto *k = g->k;
	bool *timed = base_calloc((size_t)k->record_count + 1, sizeof(bool));
	for (int i = 0; i < k->record_count && k->old; i++) {
		int op = is_device(kind_of(g, i)) ? find(g, g->by_id, g->op_count, i, compare_ids) : -1;
		if (op >= 0)
			timed[op] = true;
	}
	return timed;
}

/* Returns true if the time on the device is part of that of an outer operator. */
static bool is_inner(const struct gather *g, int i, const bool *timed)
{
	int op = g->k->old ? find(g, g->by_id, g->op_count, i, compare_ids) : -1;
	int layer = op < 0 ? -1 : g->k->records[op].parent;
	return layer >= 0 && layer != op && timed[layer];
}

static void add_records(struct gather *g)
{
	struct kineto *k = g->k;
	enum execution_level op_level = level_of_ops(g);
	bool *timed = timed_ops(g);
	for (int i = 0; i < k->record_count; i++)
		if (k->records[i].parent == i)
			add_record(g, i, op_level, -1);
	for (int i = 0; i < k->record_count; i++) {
		enum kineto_kind kind = kind_of(g, i);
		if (is_device(kind) && is_inner(g, i, timed))
			continue;
		if (is_device(kind))
			add_record(g, i, levels[kind], layer_of(g, i));
		else if (kind == KINETO_RUNTIME)
			add_record(g, i, LEVEL_API, k->records[i].parent);
	}
	free(timed);
	timeline_use_device(&g->t, NULL);
}

static void add_gaps(struct gather *g, const char *note)
{
	struct kineto *k = g->k;
	const char *runs = "no ProfilerStep: the whole trace is one run";
	if (note && strcmp(note, "ProfilerStep"))
		runs = arena_printf(
			g->a, "no ProfilerStep: %d runs of the annotation %s", g->t.run_count, note);
	else if (!note && g->t.run_count > 1)
		runs = arena_printf(g->a, "no ProfilerStep: %d runs found by repeated operators",
			g->t.run_count);
	if (!isinf(k->until) && k->steps)
		profile_add_gap(g->a, g->e,
			arena_printf(g->a, "the first %d of %" PRId64 " steps are read", g->t.run_count,
				k->steps));
	else if (!isinf(k->until))
		profile_add_gap(g->a, g->e,
			arena_printf(g->a, "%" PRId64 " later events are not read", k->left_out));
	if (!note || strcmp(note, "ProfilerStep"))
		profile_add_gap(g->a, g->e, runs);
	if (g->lacking)
		profile_add_gap(g->a, g->e, arena_printf(g->a, "%d run%s without all operators left out",
						    g->lacking, g->lacking == 1 ? "" : "s"));
	if (g->left_out)
		profile_add_gap(g->a, g->e,
			arena_printf(
				g->a, "%d events beyond %d rows are left out", g->left_out, 4 * ROWS_MOST));
}

void kineto_gather(struct kineto *k, struct arena *a, struct execution *e)
{
	struct gather g = { .k = k, .a = a, .e = e };
	if (k->record_count == 0)
		return;
	qsort(k->records, (size_t)k->record_count, sizeof(*k->records), compare_records);
	nest(&g);
	index_records(&g);
	const char *note = add_notes(&g);
	if (note && k->odd)
		drop_lacking(&g);
	if (!note)
		find_repetitions(&g);
	timeline_sort(&g.t);
	g.event = base_malloc((size_t)k->record_count * sizeof(int));
	memset(g.event, -1, (size_t)k->record_count * sizeof(int));
	g.seen = base_calloc((size_t)k->label_count, sizeof(int));
	g.seen_run = base_calloc((size_t)k->label_count, sizeof(int));
	add_records(&g);
	add_gaps(&g, note);
	int outside = timeline_finish(&g.t, a, e);
	if (!note)
		profile_add_gap(a, e, timeline_outside(&g.t, a, outside));
	e->dtype = profile_dtype(e, LEVEL_LAYER);
	timeline_free(&g.t);
	str_free(&g.key);
	free(g.event);
	free(g.seen);
	free(g.seen_run);
	free(g.by_correlation);
	free(g.by_id);
}
