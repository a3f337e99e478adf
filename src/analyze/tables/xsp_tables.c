/* Fills XSP's tables A1 to A15. Unknown cells are NaN or "", never 0. */
#include "config.h"

#include "analyze/tables/xsp_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define GAIN_LEAST 1.05 /* throughput that doubling the batch must gain to be worth it (XSP, A1) */

static double share(double part, double whole)
{
	return whole > 0 ? part / whole : NAN;
}

/* Returns "memory" if the intensity is below the ideal one, else "compute"; "" if unknown. */
static const char *limit(const struct xsp_levels *l, double intensity)
{
	return isnan(intensity) || isnan(l->ideal) ? "" : intensity < l->ideal ? "memory" : "compute";
}

/* ---- notes ---- */

static void add_note(struct xsp_table *t, const char *text)
{
	t->note = *t->note ? arena_printf(t->arena, "%s; %s", t->note, text) : text;
}

static const char *duration(struct arena *a, double ns)
{
	char text[STR_QUANTITY];
	return arena_printf(a, "%s", str_duration(text, ns));
}

/* Notes a level that comes from another execution. */
static void note_lent(
	struct xsp_table *t, const struct xsp_levels *l, const struct execution *e, const char *level)
{
	if (e && e != l->in->executions[0].execution)
		add_note(t, arena_printf(t->arena, "%s from another execution (%s)", level,
				    *e->source ? e->source : *e->framework ? e->framework : "unknown"));
}

/* Notes the total latency of the layers, its sources, and the layers without a latency. */
static void note_latency(struct xsp_table *t, const struct xsp_levels *l)
{
	double sum = NAN;
	for (int i = 0; i < l->layer_count; i++)
		if (!isnan(l->layers[i].ns))
			sum = isnan(sum) ? l->layers[i].ns : sum + l->layers[i].ns;
	const struct analysis *b = l->in->execution_count ? NULL : l->in->bound;
	add_note(t, arena_printf(t->arena, "layers %s%s%s", l->without_ns ? "at least " : "",
			    b && b->estimated ? "~" : "", duration(t->arena, sum)));
	if (!isnan(l->model_ns))
		add_note(t, arena_printf(t->arena, "model %s", duration(t->arena, l->model_ns)));
	if (l->layer && l->layer->profiler_inside_ns > 0)
		add_note(t, arena_printf(t->arena, "less %s per layer for the profiler",
				    duration(t->arena, l->layer->profiler_inside_ns)));
	if (l->without_ns)
		add_note(t, arena_printf(t->arena, "%d layer%s without a latency", l->without_ns,
				    l->without_ns == 1 ? "" : "s"));
	note_lent(t, l, l->layer, "layers");
}

static void note_roof(struct xsp_table *t, const struct xsp_levels *l)
{
	char flops[STR_QUANTITY], bytes[STR_QUANTITY];
	if (isnan(l->ideal))
		add_note(t,
			"the device's peaks are unknown: run benanza bench, or name a described device (-d)");
	else
		add_note(t,
			arena_printf(t->arena, "ideal intensity %.3g FLOP/B: %s %sFLOP/s, memory %sB/s%s%s",
				l->ideal, l->peak, str_count(flops, l->peak_flops),
				str_count(bytes, l->bandwidth), l->in->device ? " of " : "",
				l->in->device ? l->in->device : ""));
}

/* ---- A1 ---- */

struct batch_row {
	const struct execution *e;
	int64_t batch; /* 0: unknown */
	double per_s;
	bool optimal;
};

static int compare_batch(const void *a, const void *b)
{
	const struct batch_row *x = a, *y = b;
	return x->batch != y->batch ? (x->batch > y->batch ? 1 : -1)
				    : (x->per_s < y->per_s) - (x->per_s > y->per_s);
}

/* Marks the optimal batch: that of the last doubling which gains more than 5% of throughput. Only the fastest
 * execution of a batch, its first, counts. Returns the number of batches. */
static int mark_optimal(struct batch_row *rows, int n)
{
	int best = -1, last = -1, batches = 0;
	for (int i = 0; i < n; i++) {
		if (rows[i].batch <= 0 || isnan(rows[i].per_s) ||
			(last >= 0 && rows[i].batch == rows[last].batch))
			continue;
		double doublings = last < 0 ? 0 : log2((double)rows[i].batch / (double)rows[last].batch);
		if (last < 0 || rows[i].per_s > rows[last].per_s * pow(GAIN_LEAST, doublings))
			best = i;
		last = i;
		batches++;
	}
	if (batches > 1)
		rows[best].optimal = true;
	return batches;
}

XSP_FILL(model)
{
	const struct execution *first = l->in->executions[0].execution;
	struct batch_row *rows = ARENA_ARRAY(t->arena, struct batch_row, l->in->execution_count + 1);
	int n = 0;
	for (int i = 0; i < l->in->execution_count; i++) {
		const struct execution *e = l->in->executions[i].execution;
		int64_t batch = e->batch || i ? e->batch : l->in->plan->batch;
		if (!xsp_compatible(first, e, false) || isnan(e->stats.median))
			continue;
		double per_s = isnan(e->items_per_s) && batch > 0 ? 1e9 * (double)batch / e->stats.median :
								   e->items_per_s;
		rows[n++] = (struct batch_row){ e, batch, per_s, false };
	}
	qsort(rows, (size_t)n, sizeof(*rows), compare_batch);
	int batches = mark_optimal(rows, n);
	for (int i = 0; i < n; i++) {
		const struct execution *e = rows[i].e;
		xsp_row(t);
		xsp_text(t, *e->version ? arena_printf(t->arena, "%s %s", e->framework, e->version) :
					  e->framework);
		xsp_text(t, e->dtype);
		xsp_number(t, rows[i].batch > 0 ? (double)rows[i].batch : NAN);
		xsp_number(t, e->stats.median);
		xsp_number(t, rows[i].per_s);
		xsp_text(t, rows[i].optimal ? "yes" : "");
	}
	if (batches < 2)
		add_note(t, "the optimal batch needs executions of several batches");
}

/* ---- layers ---- */

XSP_FILL(layers)
{
	for (int i = 0; i < l->layer_count; i++) {
		const struct xsp_layer *x = &l->layers[i];
		xsp_row(t);
		xsp_number(t, x->index < 0 ? NAN : x->index);
		xsp_text(t, x->name);
		xsp_text(t, x->type);
		xsp_text(t, x->shape);
		xsp_estimate(t, x->ns, x->estimated);
		xsp_number(t, x->output_bytes);
	}
	note_latency(t, l);
}

/* Adds rows of number, name, value and its share of the sum. */
static double fill_share(struct xsp_table *t, const struct xsp_levels *l, size_t offset)
{
	double sum = 0;
	for (int i = 0; i < l->layer_count; i++) {
		double value = *(const double *)((const char *)&l->layers[i] + offset);
		sum += isnan(value) ? 0 : value;
	}
	for (int i = 0; i < l->layer_count; i++) {
		const struct xsp_layer *x = &l->layers[i];
		double value = *(const double *)((const char *)x + offset);
		xsp_row(t);
		xsp_number(t, x->index < 0 ? NAN : x->index);
		xsp_text(t, x->name);
		xsp_estimate(t, value, x->estimated);
		xsp_estimate(t, share(value, sum), x->estimated);
	}
	return sum;
}

XSP_FILL(layer_latency)
{
	fill_share(t, l, offsetof(struct xsp_layer, ns));
	note_latency(t, l);
}

static void note_memory(struct xsp_table *t, const struct xsp_levels *l, double sum)
{
	char text[STR_QUANTITY];
	int unknown = 0;
	for (int i = 0; i < l->layer_count; i++)
		unknown += isnan(l->layers[i].output_bytes);
	if (unknown == l->layer_count)
		add_note(t, "the profile has no sizes of outputs (profiles of ONNX Runtime have them)");
	else {
		bool temporaries = l->layer && strstr(l->layer->settings, "\"temp_bytes\"");
		add_note(t, arena_printf(t->arena, "%s%s allocated for outputs%s", unknown ? "at least " : "",
				    str_bytes(text, sum), temporaries ? " and temporaries" : ""));
	}
}

XSP_FILL(layer_memory)
{
	note_memory(t, l, fill_share(t, l, offsetof(struct xsp_layer, output_bytes)));
}

/* Sums over the entries of one name. */
struct sum {
	const char *name;
	int count;
	double value; /* sum of the known values; NaN if all are unknown */
	bool estimated;
};

/* Groups n values by name, in order of first appearance. Returns the number of groups. */
static int group(struct arena *a, int n, const char *const *names, const double *values,
	const struct xsp_layer *layers, struct sum **sums)
{
	struct hash seen = { 0 };
	int count = 0;
	*sums = ARENA_ARRAY(a, struct sum, n + 1);
	for (int i = 0; i < n; i++) {
		int64_t *at = hash_at(&seen, text_of(names[i]));
		if (*at < 0) {
			*at = count;
			(*sums)[count++] = (struct sum){ names[i], 0, NAN, false };
		}
		struct sum *to = &(*sums)[*at];
		to->count++;
		to->estimated |= layers[i].estimated;
		if (!isnan(values[i]))
			to->value = isnan(to->value) ? values[i] : to->value + values[i];
	}
	hash_free(&seen);
	return count;
}

static int compare_value(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;
	double p = isnan(x->value) ? -1 : x->value, q = isnan(y->value) ? -1 : y->value;
	return p != q		       ? (p < q ? 1 : -1)
		: x->count != y->count ? y->count - x->count
				       : strcmp(x->name, y->name);
}

/* Adds rows of type, count, sum (with_value) and share, the largest first. */
static double fill_types(struct xsp_table *t, struct xsp_levels *l, size_t offset, bool with_value)
{
	int n = l->layer_count;
	const char **names = ARENA_ARRAY(t->arena, const char *, n + 1);
	double *values = ARENA_ARRAY(t->arena, double, n + 1), sum = 0;
	struct sum *sums;
	for (int i = 0; i < n; i++) {
		names[i] = l->layers[i].type;
		values[i] = with_value ? *(const double *)((const char *)&l->layers[i] + offset) : 1;
		sum += isnan(values[i]) ? 0 : values[i];
	}
	int count = group(t->arena, n, names, values, l->layers, &sums);
	qsort(sums, (size_t)count, sizeof(*sums), compare_value);
	for (int i = 0; i < count; i++) {
		xsp_row(t);
		xsp_text(t, sums[i].name);
		xsp_number(t, sums[i].count);
		if (with_value)
			xsp_estimate(t, sums[i].value, sums[i].estimated);
		xsp_estimate(t, share(sums[i].value, sum), with_value && sums[i].estimated);
	}
	return sum;
}

XSP_FILL(layer_types)
{
	fill_types(t, l, 0, false);
	add_note(t, arena_printf(t->arena, "%d layers", l->layer_count));
}

XSP_FILL(type_latency)
{
	fill_types(t, l, offsetof(struct xsp_layer, ns), true);
	note_latency(t, l);
}

XSP_FILL(type_memory)
{
	note_memory(t, l, fill_types(t, l, offsetof(struct xsp_layer, output_bytes), true));
}

XSP_FILL(layer_roofline)
{
	bool counted = false;
	for (int i = 0; i < l->layer_count; i++) {
		const struct xsp_layer *x = &l->layers[i];
		double intensity = share(x->flops, x->bytes), rate = share(x->flops * 1e9, x->ns);
		double roof = fmin(l->peak_flops, intensity * l->bandwidth);
		if (x->ns == 0 || !(x->flops > 0))
			continue; /* free, or nothing to compute */
		xsp_row(t);
		xsp_number(t, x->index < 0 ? NAN : x->index);
		xsp_text(t, x->name);
		xsp_text(t, x->type);
		xsp_estimate(t, x->ns, x->estimated);
		xsp_number(t, intensity);
		xsp_estimate(t, rate, x->estimated);
		xsp_estimate(t, isnan(l->ideal) ? NAN : rate / roof, x->estimated);
		xsp_text(t, limit(l, intensity));
		counted |= x->counted;
	}
	note_roof(t, l);
	add_note(t, counted ? "operations and bytes from the device's counters"
			    : "operations and bytes of the model");
}

/* ---- kernels ---- */

static double bytes_of(const struct xsp_kernel *k)
{
	return k->read_bytes + k->write_bytes;
}

static void note_kernels(struct xsp_table *t, const struct xsp_levels *l)
{
	double sum = NAN;
	int unknown = 0;
	for (int i = 0; i < l->kernel_count; i++) {
		double ns = l->kernels[i].ns;
		unknown += isnan(ns);
		if (!isnan(ns))
			sum = isnan(sum) ? ns : sum + ns;
	}
	add_note(t, arena_printf(t->arena, "%d kernels, %s%s", l->kernel_count,
			    unknown && unknown < l->kernel_count ? "at least " : "",
			    isnan(sum) ? "time unknown" : duration(t->arena, sum)));
	note_lent(t, l, l->kernel, "kernels");
}

XSP_FILL(kernels)
{
	for (int i = 0; i < l->kernel_count; i++) {
		const struct xsp_kernel *k = &l->kernels[i];
		xsp_row(t);
		xsp_text(t, k->name);
		xsp_text(t, k->layer);
		xsp_number(t, k->ns);
		xsp_number(t, k->flops);
		xsp_number(t, k->read_bytes);
		xsp_number(t, k->write_bytes);
		xsp_number(t, k->occupancy);
	}
	note_kernels(t, l);
}

XSP_FILL(kernel_roofline)
{
	for (int i = 0; i < l->kernel_count; i++) {
		const struct xsp_kernel *k = &l->kernels[i];
		double intensity = share(k->flops, bytes_of(k));
		xsp_row(t);
		xsp_text(t, k->name);
		xsp_number(t, k->ns);
		xsp_number(t, intensity);
		xsp_number(t, share(k->flops * 1e9, k->ns));
		xsp_text(t, limit(l, intensity));
	}
	note_roof(t, l);
}

/* Adds a kernel to sums, which become NaN if a kernel's value is unknown; the occupancy is weighted by
 * latency. */
struct kernel_sum {
	const char *name;
	double count, ns, flops, read_bytes, write_bytes, occupied_ns;
};

static void add_kernel(struct kernel_sum *s, const struct xsp_kernel *k)
{
	s->count += isnan(k->calls) ? 1 : k->calls;
	s->ns += k->ns;
	s->flops += k->flops;
	s->read_bytes += k->read_bytes;
	s->write_bytes += k->write_bytes;
	s->occupied_ns += k->ns * k->occupancy;
}

static int compare_ns(const void *a, const void *b)
{
	const struct kernel_sum *x = a, *y = b;
	double p = isnan(x->ns) ? -1 : x->ns, q = isnan(y->ns) ? -1 : y->ns;
	return p != q ? (p < q ? 1 : -1) : strcmp(x->name, y->name);
}

XSP_FILL(kernel_names)
{
	struct kernel_sum *sums = ARENA_ARRAY(t->arena, struct kernel_sum, l->kernel_count + 1);
	struct hash seen = { 0 };
	int count = 0;
	double sum = 0;
	for (int i = 0; i < l->kernel_count; i++) {
		int64_t *at = hash_at(&seen, text_of(l->kernels[i].name));
		if (*at < 0)
			sums[*at = count++].name = l->kernels[i].name;
		add_kernel(&sums[*at], &l->kernels[i]);
		sum += isnan(l->kernels[i].ns) ? 0 : l->kernels[i].ns;
	}
	hash_free(&seen);
	qsort(sums, (size_t)count, sizeof(*sums), compare_ns);
	for (int i = 0; i < count; i++) {
		const struct kernel_sum *k = &sums[i];
		xsp_row(t);
		xsp_text(t, k->name);
		xsp_number(t, k->count);
		xsp_number(t, k->ns);
		xsp_number(t, share(k->ns, sum));
		xsp_number(t, k->flops);
		xsp_number(t, k->read_bytes);
		xsp_number(t, k->write_bytes);
		xsp_number(t, share(k->occupied_ns, k->ns));
	}
	note_kernels(t, l);
}

/* Notes the kernels whose layer is unknown. */
static void note_strays(struct xsp_table *t, const struct xsp_levels *l)
{
	int strays = 0;
	for (int i = 0; i < l->kernel_count; i++)
		strays += l->kernels[i].in < 0;
	if (strays)
		add_note(t, arena_printf(t->arena, "%d kernel%s without a layer", strays,
				    strays == 1 ? "" : "s"));
}

XSP_FILL(layer_kernels)
{
	for (int i = 0; i < l->layer_count; i++) {
		const struct xsp_layer *x = &l->layers[i];
		double intensity = x->counted ? share(x->flops, x->bytes) : NAN;
		if (!x->kernel_count)
			continue;
		xsp_row(t);
		xsp_number(t, x->index < 0 ? NAN : x->index);
		xsp_text(t, x->name);
		xsp_number(t, x->kernel_count);
		xsp_number(t, x->ns);
		xsp_number(t, x->kernel_ns);
		xsp_number(t, x->occupancy);
		xsp_number(t, intensity);
		xsp_text(t, limit(l, intensity));
	}
	note_kernels(t, l);
	note_strays(t, l);
	note_roof(t, l);
}

XSP_FILL(layer_metrics)
{
	bool any = false;
	for (int i = 0; i < l->layer_count; i++) {
		const struct xsp_layer *x = &l->layers[i];
		if (!x->kernel_count)
			continue;
		xsp_row(t);
		xsp_number(t, x->index < 0 ? NAN : x->index);
		xsp_text(t, x->name);
		xsp_number(t, x->kernel_flops);
		xsp_number(t, x->read_bytes);
		xsp_number(t, x->write_bytes);
		any |= !isnan(x->kernel_flops) || !isnan(x->read_bytes) || !isnan(x->write_bytes);
	}
	if (!any)
		add_note(t, "the profile has no counters of the device");
	note_strays(t, l);
}

XSP_FILL(layer_device)
{
	double layers = 0, kernels = 0;
	for (int i = 0; i < l->layer_count; i++) {
		const struct xsp_layer *x = &l->layers[i];
		double on = x->kernel_count ? x->kernel_ns : 0;
		xsp_row(t);
		xsp_number(t, x->index < 0 ? NAN : x->index);
		xsp_text(t, x->name);
		xsp_number(t, x->ns);
		xsp_number(t, on);
		xsp_number(t, x->ns - on);
		xsp_number(t, share(on, x->ns));
		layers += x->ns;
		kernels += on;
	}
	add_note(t, arena_printf(t->arena, "on the device %s of %s", duration(t->arena, kernels),
			    duration(t->arena, layers)));
	note_lent(t, l, l->layer, "layers");
	note_lent(t, l, l->kernel, "kernels");
	note_strays(t, l);
}

XSP_FILL(model_kernels)
{
	struct kernel_sum s = { 0 };
	for (int i = 0; i < l->kernel_count; i++)
		add_kernel(&s, &l->kernels[i]);
	double intensity = share(s.flops, s.read_bytes + s.write_bytes);
	xsp_row(t);
	xsp_number(t, l->model_ns);
	xsp_number(t, s.ns);
	xsp_number(t, share(s.ns, l->model_ns));
	xsp_number(t, s.flops);
	xsp_number(t, s.read_bytes);
	xsp_number(t, s.write_bytes);
	xsp_number(t, share(s.occupied_ns, s.ns));
	xsp_number(t, intensity);
	xsp_number(t, share(s.flops * 1e9, s.ns));
	xsp_text(t, limit(l, intensity));
	note_kernels(t, l);
	note_roof(t, l);
}
