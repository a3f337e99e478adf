#include "config.h"

#include "tests/unit/tap.h"

#include <dlfcn.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "runner/beside/deal.h"
#include "runner/host/team.h"
#include "runner/measure/clock.h"
#include "runner/measure/offers.h"
#include "runner/measure/platform.h"

/* ---- a backend whose algorithms take different times */

#define RELU "eltwise:f32,f32:relu:2x3"
#define TANH "eltwise:f32,f32:tanh:2x3"
#define ABS "eltwise:f32,f32:abs:2x3"

static const struct algorithm fakes[] = {
	{ .api = "fake", .name = "slow", .layouts = "", .math = "strict", .matrix = MATRIX_NO },
	{ .api = "fake", .name = "fast", .layouts = "", .math = "strict", .matrix = MATRIX_NO,
		.workspace_bytes = 64, .notes = "winograd" },
	{ .api = "fake", .name = "units", .layouts = "", .math = "strict", .matrix = MATRIX_YES },
	{ .api = "fake", .name = "tf32", .layouts = "", .math = "tf32", .matrix = MATRIX_NO },
};
static const double takes_ns[] = { 300e3, 50e3, 20e3, 1e3 };

struct fake {
	int index;
	enum mode mode;
};

static atomic_int runs_of[MODE_COUNT], works;
static double error_of;
static enum mode fails;

static int fake_algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	if (p->kernel != KERNEL_ELTWISE)
		return error_set(err, "only eltwise");
	struct problem *kept = base_calloc(1, sizeof(*kept));
	*kept = *p;
	*list = (struct backend_list){ .count = 4, .algorithm = fakes, .state = kept };
	return 0;
}

static void *fake_prepare(const struct backend_list *list, int index, const struct backend_limits *limits,
	enum status *status, struct error *err)
{
	struct fake *f = base_calloc(1, sizeof(*f));
	(void)limits;
	(void)status;
	(void)err;
	*f = (struct fake){ index, ((const struct problem *)list->state)->mode };
	works++;
	return f;
}

static int fake_run(void *work, enum cache cache, int64_t times, double *elapsed_ns, struct error *err)
{
	struct fake *f = work;
	double begin = clock_ns();
	(void)cache;
	atomic_fetch_add(&runs_of[f->mode], (int)times);
	if (f->mode == fails)
		return error_set(err, "it fails");
	while (clock_ns() - begin < takes_ns[f->index] * (f->mode == MODE_TANH ? 4 : 1) * (double)times)
		;
	*elapsed_ns = clock_elapsed(begin);
	return 0;
}

static int fake_check(void *work, double *worst, struct error *err)
{
	struct fake *f = work;
	*worst = f->mode == MODE_TANH ? error_of : 0;
	return f->mode == MODE_ABS ? error_set(err, "cannot compare") : 0;
}

static void fake_release(void *work)
{
	works--;
	free(work);
}

static const struct backend fake = { .api = "fake", .algorithms = fake_algorithms, .forget = backend_forget,
	.prepare = fake_prepare, .run = fake_run, .check = fake_check, .release = fake_release };
static const struct backend *const backends[] = { &fake, &backend_beside, NULL };
const struct platform platform = { .program = "t_backend_beside", .backends = backends };

/* ---- */

static struct offers offers_of(const char *text, struct error *err)
{
	struct problem p;
	struct offers o = { 0 };
	*err = (struct error)ERROR_NONE;
	if (!problem_parse(text_of(text), &p, err))
		offers_open(&o, backends, &p, false, err);
	return o;
}

static void lists(int threads, const char *text, const char *expected)
{
	struct error err;
	struct str names = { 0 };
	team_set(threads);
	struct offers o = offers_of(text, &err);
	for (int i = 0; i < o.count; i++)
		str_addf(&names, "%s%s", i ? " " : "", o.offer[i].algorithm.name);
	is_str(names.p ? names.p : err.text, expected, "%d threads: the ways of %s", threads, text);
	str_free(&names);
	if (o.count)
		offers_close(&o);
}

#define TWO "beside:" RELU "=" RELU "%" TANH
#define THREE "beside:" ABS "%" RELU "%" TANH
static void ways(void)
{
	lists(2, TWO, "threads:1+1:matrix threads:1+1");
	lists(5, TWO, "threads:2+3:matrix by_cost:2_lanes:matrix threads:2+3 by_cost:2_lanes");
	lists(3, THREE, "threads:1+1+1:matrix threads:1+2:matrix by_cost:2_lanes:matrix threads:1+1+1 "
		"threads:1+2 by_cost:2_lanes");
	lists(1, TWO, "branches run side by side on two threads or more; this runner has one");
	lists(2, "beside:copy:u8,u8:b7%" RELU, "copy: only eltwise");
	lists(2, RELU, "slow fast units tf32");
}

static void *open_one(struct offers *o, const char *name, struct error *err)
{
	struct backend_limits limits = { .memory_bytes = 1e9, .sets = 1, .cold_sets = 1 };
	enum status status;
	for (int i = 0; i < o->count; i++)
		if (strcmp(o->offer[i].algorithm.name, name) == 0)
			return backend_beside.prepare(
				o->offer[i].list, o->offer[i].index, &limits, &status, err);
	return NULL;
}

static void measures(void)
{
	struct error err;
	double ns = 0, worst = NAN;
	team_set(2);
	struct offers o = offers_of(TWO, &err);
	void *w = open_one(&o, "threads:1+1", &err);
	ok(w, "prepared (%s)", err.text);
#define RAN ", 1 thread: eltwise fake fast, workspace 64, notes winograd\n"
	is_str(backend_beside.kernels(w), "lane 2" RAN "lane 2" RAN "lane 1" RAN,
		"the fastest strict algorithm without matrix units; the longest branch is dealt first");
	memset(runs_of, 0, sizeof(runs_of));
	is_int(backend_beside.run(w, CACHE_NET, 10, &ns, &err), 0, "runs");
	ok(runs_of[MODE_RELU] == 20 && runs_of[MODE_TANH] == 10, "each problem as often as asked");
	ok(ns >= 10 * 4 * 50e3, "the time is at least that of the longest branch");
	is_int(backend_beside.check(w, &worst, &err), 0, "checked");
	ok(worst == 0, "without an error");
	error_of = 1e9;
	backend_beside.check(w, &worst, &err);
	ok(worst > 1, "an error in one problem is one of all");
	error_of = 0;
	fails = MODE_TANH;
	is_int(backend_beside.run(w, CACHE_NET, 1, &ns, &err), -1, "a problem that fails makes all fail");
	is_str(err.text, "it fails", "for its reason");
	fails = MODE_NONE;
	backend_beside.release(w);
	w = open_one(&o, "threads:1+1:matrix", &err);
	ok(strstr(backend_beside.kernels(w), "fake units") && !strstr(backend_beside.kernels(w), "fake fast"),
		"with matrix units where they are allowed");
	backend_beside.release(w);
	offers_close(&o);
	is_int(works, 0, "everything is released");
}

static void deals(void)
{
	struct deal d;
	deal_threads(&d, 3, 16);
	ok(d.threads[0] == 5 && d.threads[1] == 5 && d.threads[2] == 6, "16 threads in 3 lanes: 5+5+6");
	deal_threads(&d, 2, 2);
	deal_branches(&d, (const double[]){ 3, 7, 3, 2 }, 4);
	double load[2] = { 0 };
	for (int i = 0; i < 4; i++)
		load[d.lane[i]] += (const double[]){ 3, 7, 3, 2 }[i];
	ok(fabs(load[0] - load[1]) <= 1, "branches of 3, 7, 3 and 2 in two lanes: %g and %g", load[0],
		load[1]);
	deal_threads(&d, 2, 8);
	deal_by_cost(&d, (const double[]){ 6, 2 }, 2, 8);
	ok(d.threads[0] == 2 && d.threads[1] == 6 && d.lane[0] == 1 && d.lane[1] == 0,
		"8 threads for costs of 6 and 2: 6 and 2");
	deal_by_cost(&d, (const double[]){ 1000, 1 }, 2, 4);
	ok(d.threads[0] == 1 && d.threads[1] == 3, "each lane has one at least");
}

int main(void)
{
	setenv("OMP_NUM_THREADS", "5", 1);
	if (!dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL))
		skip_all("no OpenMP runtime");
	ways();
	measures();
	deals();
	return done_testing();
}
