/* A job measures all cache states with copies that fit the free memory, in small pages and in large ones. */
#include "config.h"

#include "runner/protocol/job.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "base/arena.h"
#include "runner/verify/tolerance.h"
#include "runner/measure/clock.h"
#include "runner/measure/platform.h"

#define MEMORY_SHARE 0.8        /* share of the free memory that may be used */
#define ROTATION_SHARE 0.25     /* share of that for copies of constants, all algorithms together */

static enum status problem_open(const struct job *j, struct problem *p, struct offers *o, struct error *err)
{
	enum status status;
	const struct ahead_job asked = { j->problem, j->all };
	*j->left_out = 0;
	if (!j->ahead || !ahead_take(j->ahead, asked, p, o, &status, err)) {
		if (problem_parse(text_of(j->problem), p, err))
			return STATUS_FAILED;
		status = offers_open(o, platform.backends, p, j->all, err) ? STATUS_UNSUPPORTED : STATUS_OK;
	}
	if (status == STATUS_OK)
		*j->left_out = o->left_out;
	return status;
}

const struct platform_loss *job_loss(void)
{
	static const struct platform_loss unknown = { .why = "", .by_problem = true };
	if (platform.machine.is_alive && platform.machine.is_alive())
		return NULL;
	return platform.loss ? platform.loss() : platform.machine.is_alive ? &unknown : NULL;
}

static void stamped_emit(void *user, const struct result *r, const struct samples *samples)
{
	const struct job *j = user;
	const struct platform_loss *loss = r->status == STATUS_FAILED ? job_loss() : NULL;
	if (loss && !loss->by_problem)
		return;
	struct result stamped = *r;
	stamped.measured_at = (int64_t)time(NULL);
	stamped.runner_version = j->device->version;
	j->emit(j->user, &stamped, samples);
}

static bool forwarded_cancelled(void *user)
{
	const struct job *j = user;
	return j->cancelled(j->user);
}

static void forwarded_trying(void *user, const struct algorithm *a, enum cache c, enum launch l)
{
	const struct job *j = user;
	j->trying(j->user, a, c, l);
}

/* Emits a result of the whole problem, stored under the first requested state. */
static void emit_whole(const struct job *j, enum status status, const char *why)
{
	const struct samples none = { 0 };
	struct result r = { .problem = j->problem,
		.status = status,
		.why = why,
		.algorithm = { .api = "",
			.name = "",
			.layouts = "",
			.math = "",
			.workspace_bytes = NAN,
			.notes = "" },
		.kernels = "",
		.enqueue_ns = NAN,
		.clock_mhz = NAN };
	for (int i = 0; i < CACHE_COUNT && !j->caches[r.cache]; i++)
		r.cache = cache_in_pages(measure_cache(i % CACHE_STATES), i >= CACHE_STATES);
	while (r.launch < LAUNCH_COUNT - 1 && !j->launches[r.launch])
		r.launch++;
	stamped_emit((void *)(uintptr_t)j, &r, &none);
}

static void offers_end(const struct job *j, struct offers *o)
{
	if (j->trying)
		j->trying(j->user, NULL, CACHE_NET, LAUNCH_AMORTIZED);
	offers_close(o);
}

enum status job_list(const struct job *j, struct error *err)
{
	struct problem p;
	struct offers offers;
	enum status status = problem_open(j, &p, &offers, err);
	if (status != STATUS_OK)
		return status;
	for (int i = 0; i < offers.count; i++)
		j->list(j->user, &offers.offer[i].algorithm);
	if (j->others && offers.others)
		j->others(j->user, offers.others);
	offers_end(j, &offers);
	return STATUS_OK;
}

static enum status job_plan(const struct job *j, struct error *err)
{
	enum status status = job_list(j, err);
	if (status != STATUS_OK)
		return status;
	error_set(err, "planned only: there is no device");
	return STATUS_UNSUPPORTED;
}

/* Measures the requested states with operands in one size of pages; none: STATUS_OK. */
static enum status pages_measure(const struct job *j, bool huge, struct problem *p, struct offers *offers,
	bool *stopped, struct error *err)
{
	static double rest;
	enum status status = STATUS_OK;
	bool any = false;
	double memory = platform.memory_bytes() * MEMORY_SHARE;
	struct measure_options o = { .machine = platform.machine,
		.budget_ns = j->budget_ns,
		.memory_bytes = memory,
		.rotation_bytes = memory * ROTATION_SHARE,
		.huge = huge,
		.llc_bytes = j->device->llc_bytes,
		.most = j->most,
		.quick = j->quick,
		.repeats = j->only != NULL,
		.has_matrix = j->device->has_matrix,
		.now_ns = clock_ns,
		.rest = &rest,
		.user = (void *)(uintptr_t)j,
		.cancelled = forwarded_cancelled,
		.trying = forwarded_trying,
		.emit = stamped_emit };
	for (enum cache c = 0; c < CACHE_STATES; c++) {
		o.caches[c] = j->caches[cache_in_pages(c, huge)];
		any |= o.caches[c];
	}
	for (int i = 0; i < LAUNCH_COUNT; i++)
		o.launches[i] = j->launches[i];
	if (!any)
		return STATUS_OK;
	if (platform.machine.pages && platform.machine.pages(huge, err))
		return STATUS_FAILED; /* says nothing about the problem */
	*stopped = measure_problem(offers, p, j->problem, &o, &status, err) != 0;
	return status;
}

static bool only_net_warm_cold(const struct job *j)
{
	for (enum cache c = CACHE_NEAREST; c < CACHE_COUNT; c++)
		if (j->caches[c])
			return false;
	return true;
}

static enum status job_measure(const struct job *j, struct problem *p, struct offers *offers, bool *stopped,
	struct error *err)
{
	if (!platform.machine.pages && !only_net_warm_cold(j)) {
		error_set(err, "this runner measures the cache states net, warm and cold only");
		return STATUS_FAILED;
	}
	enum status status = pages_measure(j, false, p, offers, stopped, err);
	return status != STATUS_OK || *stopped ? status : pages_measure(j, true, p, offers, stopped, err);
}

static int occupy(struct error *err)
{
	return platform.occupy ? platform.occupy(err) : 0;
}

static void vacate(void)
{
	if (platform.vacate)
		platform.vacate();
}

enum status job_run(const struct job *j, bool *stopped, struct error *err)
{
	struct problem p;
	struct offers offers;
	*stopped = false;
	if (j->planning)
		return job_plan(j, err);
	enum status status = problem_open(j, &p, &offers, err);
	if (status == STATUS_UNSUPPORTED)
		emit_whole(j, status, err->text);
	if (status != STATUS_OK)
		return status;
	if (j->only && offers_keep(&offers, j->only, err)) {
		offers_close(&offers);
		return STATUS_UNSUPPORTED;
	}
	const char *doubt = platform.doubt ? platform.doubt() : NULL;
	if (doubt) {
		error_set(err, "%s", doubt);
		emit_whole(j, STATUS_MISTRUSTED, err->text);
		offers_close(&offers);
		return STATUS_MISTRUSTED;
	}
	if (!j->most && offers.count > MEASURE_CONTENDERS)
		*j->left_out += offers.count - MEASURE_CONTENDERS;
	bool alone = occupy(err) == 0;
	status = alone ? job_measure(j, &p, &offers, stopped, err) : STATUS_FAILED;
	offers_end(j, &offers);
	if (alone)
		vacate();
	return status;
}

static enum status finding_judge(const struct problem *p, const struct backend *b, void *work,
	struct check_finding *f, const struct algorithm *a, struct error *why)
{
	double ns;
	int bad = b->run(work, CACHE_NET, 1, &ns, why);
	if (bad)
		return backend_status(bad);
	if (!b->check) {
		error_set(why, "%s cannot compare outputs", b->api);
		return STATUS_UNSUPPORTED;
	}
	f->allowed = fmax(tolerance_of(p, a), platform.machine.approximates ? tolerance_hardware(p) : 0);
	if (b->check(work, &f->worst, why))
		return STATUS_UNSUPPORTED;
	return f->worst <= f->allowed ? STATUS_OK : STATUS_MISTRUSTED;
}

/* Prepares, runs and checks one algorithm; returns its status. */
static enum status check_one(const struct job *j, const struct problem *p, const struct offer *f,
	const struct backend_limits *limits, struct error *err)
{
	const struct backend *b = f->list->backend;
	struct error why = ERROR_NONE;
	struct check_finding found = { .status = STATUS_FAILED, .worst = NAN, .allowed = NAN };
	j->trying(j->user, &f->algorithm, CACHE_NET, LAUNCH_ISOLATED);
	void *work = b->prepare(f->list, f->index, limits, &found.status, &why);
	if (work)
		found.status = finding_judge(p, b, work, &found, &f->algorithm, &why);
	found.status = job_loss() ? STATUS_FAILED : found.status;
	if (found.status == STATUS_MISTRUSTED && !*why.text && isfinite(found.worst))
		error_set(err, "off by %.3g of the sum of their terms, %.3g is allowed", found.worst,
			found.allowed);
	else if (found.status == STATUS_MISTRUSTED || job_loss())
		*err = why;
	found.why = why.text;
	found.approximate = approximation_of(f->algorithm.api, f->algorithm.name);
	j->check(j->user, &f->algorithm, &found);
	if (work)
		b->release(work);
	return found.status;
}

enum status job_check(const struct job *j, struct error *err)
{
	struct problem p;
	struct offers offers;
	enum status status = problem_open(j, &p, &offers, err);
	if (status != STATUS_OK)
		return status;
	if (occupy(err)) {
		offers_end(j, &offers);
		return STATUS_FAILED;
	}
	struct backend_limits limits = {
		.memory_bytes = platform.memory_bytes() * MEMORY_SHARE, .sets = 1, .cold_sets = 1
	};
	int *picked = base_calloc((size_t)offers.count, sizeof(*picked));
	int count = offers_pick(&offers, picked, j->most > 0 ? j->most : offers.count);
	int rejected = 0, judged = 0; /* without algorithms that are inexact by design */
	for (int i = 0; i < count && !job_loss() && !j->cancelled(j->user); i++) {
		const struct offer *f = &offers.offer[picked[i]];
		enum status found = check_one(j, &p, f, &limits, err);
		if (approximation_of(f->algorithm.api, f->algorithm.name))
			continue;
		rejected += found == STATUS_MISTRUSTED;
		judged += found == STATUS_MISTRUSTED || found == STATUS_OK;
	}
	free(picked);
	offers_end(j, &offers);
	vacate();
	if (job_loss())
		return STATUS_FAILED;
	if (rejected > 0 && rejected == judged)
		tolerance_all_rejected(rejected, err);
	else
		*err = (struct error)ERROR_NONE;
	return STATUS_OK;
}
