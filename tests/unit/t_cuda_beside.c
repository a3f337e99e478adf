#include "config.h"

#include "fake_platform.h"

#include <stdlib.h>
#include <string.h>

/* Branches side by side, each in a stream, on the fake runtime: its streams run at the same time. */

#define KERNEL_NS 50e3
#define RELU "eltwise:f32,f32:relu:2x3"
#define TANH "eltwise:f32,f32:tanh:2x3"

static const struct algorithm offered[] = { { .api = "fake", .name = "naive", .layouts = "", .math = "strict",
	.notes = "", .matrix = MATRIX_NO, .workspace_bytes = NAN } };

static int algorithms(const struct problem *p, struct backend_list *list, struct error *why)
{
	(void)why;
	struct problem *kept = base_calloc(1, sizeof(*kept));
	*kept = *p;
	*list = (struct backend_list){ .count = 1, .algorithm = offered, .state = kept };
	return 0;
}

/* Filled in main: the fake backend's functions and its list of algorithms. */
static struct backend backend;
static const struct backend *const backends[] = { &backend, &backend_streams, NULL };
const struct platform platform = FAKE_PLATFORM(backends);

static enum status measure(const char *problem)
{
	int left_out;
	struct job j = platform_job(problem, &left_out);
	j.caches[CACHE_NET] = true;
	j.launches[LAUNCH_AMORTIZED] = j.launches[LAUNCH_ISOLATED] = true;
	bool stopped;
	fake_reset();
	fake_backend.kernel_ns = KERNEL_NS;
	fake_backend.kernels = 1;
	fake_backend.epsilon = 1e-5;
	fake_backend.traced = 0;
	platform_open();
	return job_run(&j, &stopped, &err);
}

static void end(void)
{
	cuda_context_close();
	ok(fake.allocations_alive == 0 && fake.execs_alive == 0 && fake_backend.plans_alive == 0 &&
			fake.streams_alive == 0,
		"nothing is left");
}

static double median(enum launch l)
{
	for (int i = 0; i < seen.count; i++)
		if (seen.results[i].status == STATUS_OK && seen.results[i].launch == l)
			return seen.results[i].stats.median;
	return NAN;
}

/* The number of different buffers that executions wrote to. */
static int destinations(void)
{
	const void *to[16];
	int count = 0;
	for (int i = 0; i < fake_backend.traced; i++) {
		bool known = false;
		for (int k = 0; k < count; k++)
			known |= to[k] == fake_backend.trace[i].destination;
		if (!known && count < 16)
			to[count++] = fake_backend.trace[i].destination;
	}
	return count;
}

int main(void)
{
	backend = backend_fake;
	backend.algorithms = algorithms;
	backend.forget = backend_forget;
	if (!fake_folder_open())
		skip_all("no private folder");
	is_int(measure("beside:" RELU "=" RELU "%" TANH), STATUS_OK, "two branches are measured (%s)",
		err.text);
	ok(fabs(median(LAUNCH_AMORTIZED) / (2 * KERNEL_NS) - 1) < 0.1,
		"they take as long as the longer one: %.0f ns, two kernels of %.0f", median(LAUNCH_AMORTIZED),
		KERNEL_NS);
	ok(fabs(median(LAUNCH_ISOLATED) / (2 * KERNEL_NS) - 1) < 0.1, "isolated too: %.0f ns",
		median(LAUNCH_ISOLATED));
	ok(fake.forks > 0 && fake.strays == 0, "the second stream waits for the first before it works");
	ok(fake.graph_launches > 0, "as branches of a graph");
	is_str(seen.results[0].algorithm.name, "streams", "the way they ran");
	is_str(seen.kernels[0], "stream 1: eltwise fake naive\nstream 1: eltwise fake naive\n"
		"stream 2: eltwise fake naive\n", "and what ran");
	end();
	is_int(measure("beside:" RELU "%" RELU "%" RELU), STATUS_OK, "three equal branches (%s)", err.text);
	ok(fabs(median(LAUNCH_AMORTIZED) / KERNEL_NS - 1) < 0.1, "take as long as one: %.0f ns",
		median(LAUNCH_AMORTIZED));
	ok(destinations() >= 3, "each writes to memory of its own");
	end();
	fake_backend.mischief = MISCHIEF_WRONG;
	is_int(measure("beside:" RELU "%" TANH), STATUS_MISTRUSTED, "wrong outputs are suspect");
	fake_backend.mischief = MISCHIEF_NONE;
	end();
	fake_backend.plan_fails = true;
	is_int(measure("beside:" RELU "%" TANH), STATUS_FAILED, "a problem that cannot be prepared");
	ok(strstr(err.text, "eltwise: the library says no"), "is named (%s)", err.text);
	fake_backend.plan_fails = false;
	end();
	fake_folder_close();
	return done_testing();
}
