/* Estimates of all described devices for the bundled models: fewer bits are never slower, a device that is
 * better in all peaks is never slower, launches cost time, and a layer without an estimate says why. */
#include "config.h"

#include "session/described.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/analyze.h"
#include "tap.h"

#define CLOSE 1e-9     /* relative: sums in different orders */
#define LIBRARIES 0.3 /* by how much what two generations or libraries reach may outweigh the peaks */

static const char *const what_ifs[] = { "", "matrix", "matrix,math", "matrix,fusion", "fusion",
	"launch=isolated", "matrix,math,fusion,launch=isolated", "matrix,fusion,pad" };
#define WHAT_IF_COUNT ((int)(sizeof(what_ifs) / sizeof(what_ifs[0])))

static const enum dtype types[] = { DTYPE_F32, DTYPE_F16, DTYPE_BF16 };
#define TYPE_COUNT 3
#define DEVICE_MAX 32

static struct arena kept;
static struct described *devices;
static int device_count;

/* Totals of one model. */
struct totals {
	double ns[DEVICE_MAX][TYPE_COUNT][WHAT_IF_COUNT]; /* without the casts at its borders; NaN: a layer
							     has no estimate */
	double bound[DEVICE_MAX][TYPE_COUNT][WHAT_IF_COUNT];
	int wrong;					  /* bounds that are 0, or above estimate or range */
	int silent;					  /* layers without a cost and without a reason */
};

static struct plan *plan_of(const char *name, enum dtype dtype, struct model **m)
{
	struct dim_binding dims[] = { { TEXT("batch"), 1 }, { TEXT("sequence"), 1 },
		{ TEXT("past_sequence"), 512 }, { TEXT("total_sequence"), 513 } };
	bool gpt = strncmp(name, "gpt2", 4) == 0, bert = strncmp(name, "bert", 4) == 0;
	struct plan_options options = { .dtype = dtype, .bindings = dims };
	options.binding_count = gpt ? 4 : bert ? 2 : 0;
	struct error err = ERROR_NONE;
	char path[1024];
	snprintf(path, sizeof(path), "%s/data/models/%s.onnx", getenv("abs_srcdir"), name);
	*m = model_load(path, &err);
	struct plan *p = *m ? plan_build(*m, &options, &err) : NULL;
	ok(p != NULL, "%s in %s loads %s", name, dtype_name(dtype), err.text);
	return p;
}

static double total(const struct ground *g, const char *what_if, struct totals *t, double *bound)
{
	struct arena a = { 0 };
	struct scenario s = scenario_default();
	scenario_parse(&s, what_if, NULL);
	struct analysis *x = analyze(&a, g, &s);
	for (int i = 0; i < x->layer_count; i++)
		t->silent += isnan(x->layers[i].ns) && !x->layers[i].why;
	*bound = x->complete ? x->bound_ns : NAN;
	t->wrong += x->total_ns > 0 && !(x->bound_ns > 0 && x->bound_ns <= x->total_ns &&
		x->bound_ns <= x->lo_ns);
	double ns = x->complete ? x->sequential_ns - (isnan(x->border_ns) ? 0 : x->border_ns) : NAN;
	arena_free(&a);
	return ns;
}

static void totals_of(const char *name, struct totals *t)
{
	struct results *none = results_new();
	for (int type = 0; type < TYPE_COUNT; type++) {
		struct model *m;
		struct plan *p = plan_of(name, types[type], &m);
		struct fusion *f = fusion_find(p);
		for (int d = 0; d < device_count; d++)
			for (int w = 0; w < WHAT_IF_COUNT; w++) {
				struct ground g = { .plan = p,
					.fusion = f,
					.results = none,
					.peaks = &devices[d].peaks,
					.estimate = true };
				t->ns[d][type][w] = total(&g, what_ifs[w], t, &t->bound[d][type][w]);
			}
		fusion_free(f);
		plan_free(p);
		model_free(m);
	}
	results_free(none);
}

static bool slower(double x, double y, double by)
{
	return x > y * (1 + by); /* NaN compares false */
}

static void fewer_bits(const char *name, const struct totals *t)
{
	int compared = 0;
	for (int d = 0; d < device_count; d++)
		for (int type = 1; type < TYPE_COUNT; type++)
			for (int w = 0; w < WHAT_IF_COUNT; w++) {
				double few = t->ns[d][type][w], all = t->ns[d][0][w];
				compared += !isnan(few) && !isnan(all);
				if (slower(few, all, CLOSE))
					ok(false, "%s on %s, %s: %s %g ns, f32 %g ns", name, devices[d].id,
						what_ifs[w], dtype_name(types[type]), few, all);
			}
	ok(compared > 50, "%s: fewer bits compared %d times", name, compared);
}

/* True if peak x is at least y, of all multiprocessors and of each one, or y has none. */
static bool beats(double x, const struct peaks *k, double y, const struct peaks *l)
{
	return isnan(y) || (x * k->clock_share >= y * l->clock_share &&
		x * k->clock_share / k->multiprocessors >= y * l->clock_share / l->multiprocessors);
}

/* True if x is at least as good as y in each peak that both have, lacks none of y's, and has as high a clock,
 * which fixed times follow. */
static bool dominates(const struct peaks *x, const struct peaks *y)
{
	double rate = x->bandwidth_bytes_s * x->bandwidth_share;
	bool better = rate >= y->bandwidth_bytes_s * y->bandwidth_share &&
		x->level[0].bytes >= y->level[0].bytes &&
		x->level[0].bandwidth_bytes_s >= y->level[0].bandwidth_bytes_s;
	for (int i = 0; i < DTYPE_COUNT; i++)
		better &= beats(x->flops[i], x, y->flops[i], y) &&
			beats(x->matrix_flops[i], x, y->matrix_flops[i], y);
	return better && x->clock_share >= y->clock_share &&
		x->clock_mhz * x->clock_share >= y->clock_mhz * y->clock_share;
}

static void better_devices(const char *name, const struct totals *t)
{
	int compared = 0;
	for (int d = 0; d < device_count; d++)
		for (int e = 0; e < device_count; e++)
			for (int type = 0; type < TYPE_COUNT; type++)
				for (int w = 0; w < WHAT_IF_COUNT; w++) {
					double x = t->ns[d][type][w], y = t->ns[e][type][w];
					if (d == e || !dominates(&devices[d].peaks, &devices[e].peaks))
						continue;
					compared += !isnan(x) && !isnan(y);
					bool same = calibration_generation(devices[d].sm) ==
						calibration_generation(devices[e].sm);
					if (slower(x, y, same ? CLOSE : LIBRARIES))
						ok(false, "%s, %s, %s: %s %g ns, %s %g ns", name, what_ifs[w],
							dtype_name(types[type]), devices[d].id, x,
							devices[e].id, y);
				}
	ok(compared > 50, "%s: better devices compared %d times", name, compared);
}

/* A bound is that of the best of all choices: allowing more of them never raises it. */
static void bounds(const char *name, const struct totals *t)
{
	static const int more[][2] = { { 0, 1 }, { 1, 2 }, { 1, 3 }, { 0, 4 }, { 3, 7 } };
	is_int(t->wrong, 0, "%s: bounds are below estimates and their ranges", name);
	for (int d = 0; d < device_count; d++)
		for (int type = 0; type < TYPE_COUNT; type++)
			for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
				double x = t->bound[d][type][more[i][0]], y = t->bound[d][type][more[i][1]];
				if (slower(y, x, CLOSE))
					ok(false, "%s, %s, %s: bound %g ns, with %s %g ns", name,
						devices[d].id, what_ifs[more[i][0]], x, what_ifs[more[i][1]],
						y);
			}
}

static void launches(const char *name, const struct totals *t)
{
	int wrong = 0;
	for (int d = 0; d < device_count; d++)
		for (int type = 0; type < TYPE_COUNT; type++)
			wrong += t->ns[d][type][5] <= t->ns[d][type][0];
	is_int(wrong, 0, "%s: isolated launches cost more", name);
}

int main(void)
{
	static const char *const names[] = { "resnet50", "mobilenet_v2", "googlenet", "yolov8n", "bert_base",
		"gpt2_small" };
	static struct totals totals;
	struct error err = ERROR_NONE;
	char data[1024];
	snprintf(data, sizeof(data), "%s/data", getenv("abs_srcdir"));
	setenv("BENANZA_DATA", data, 1);
	is_int(described_list(&kept, &devices, &device_count, &err), 0, "described devices %s", err.text);
	ok(device_count >= 9 && device_count <= DEVICE_MAX, "all of them");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		totals = (struct totals){ 0 };
		totals_of(names[i], &totals);
		fewer_bits(names[i], &totals);
		better_devices(names[i], &totals);
		launches(names[i], &totals);
		bounds(names[i], &totals);
		is_int(totals.silent, 0, "%s: a layer without an estimate has a reason", names[i]);
	}
	arena_free(&kept);
	return done_testing();
}
