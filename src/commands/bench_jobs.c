/* bench --emit-jobs: prints what bench would measure as jobs for a runner on another machine
 * (docs/wire.md). */
#include "config.h"

#include "commands/bench.h"
#include "commands/wanted.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Parses "net,warm" into one flag per word. NULL leaves the flags unchanged. */
static int words_parse(const char *option, const char *list, int (*parse)(const char *), bool *set, int count,
	struct error *err)
{
	if (!list)
		return 0;
	memset(set, 0, (size_t)count * sizeof(*set));
	for (const char *p = list;; p++) {
		char word[16];
		size_t n = strcspn(p, ",");
		snprintf(word, sizeof(word), "%.*s", (int)(n < sizeof(word) ? n : 0), p);
		int which = parse(word);
		if (which < 0 || which >= count)
			return error_set(err, "%s: unknown word \"%.*s\"; see benanza bench --help", option,
				(int)(n < 60 ? n : 60), p);
		if (set[which])
			return error_set(err, "%s: %s is given twice: leave one out", option, word);
		set[which] = true;
		p += n;
		if (!*p)
			return 0;
	}
}

int bench_caches(const struct options *o, bool caches[CACHE_COUNT], struct error *err)
{
	const struct bench_options *own = o->own;
	for (int i = 0; i < CACHE_COUNT; i++)
		caches[i] = i == CACHE_NET || i == CACHE_WARM;
	return words_parse("--caches", own->caches, cache_parse, caches, CACHE_COUNT, err);
}

/* No runner is started; -d only gives the kind of device that the jobs are for. */
static bool is_for_cpu(const struct options *o)
{
	return o->config.device && strncmp(o->config.device, "cpu", 3) == 0;
}

/* The device is unknown: typical caches. On a CPU problems are measured in the states of the first model that
 * has them and in net, because how much the caches of the runner's machine hold is unknown. */
static const struct device some_cpu = { .name = "cpu",
	.threads = 8,
	.distances = true,
	.llc_bytes = 33554432,
	.attributes = "{\"caches\":[{\"level\":1,\"bytes\":32768},{\"level\":2,\"bytes\":524288},"
		      "{\"level\":3,\"bytes\":33554432}]}" };
static const struct device some_gpu = { .name = "cuda", .llc_bytes = 50331648, .attributes = "{}" };

static int order_read(const struct bench_options *own, bool *by_model, struct error *err)
{
	*by_model = own->order && strcmp(own->order, "model") == 0;
	return !own->order || *by_model || strcmp(own->order, "value") == 0 ? 0 :
		error_set(err, "--order is value or model, not \"%.40s\"", own->order);
}

static int jobs_print(const struct wanted *w, const struct options *o, struct error *err)
{
	const struct bench_options *own = o->own;
	struct wire_message run = { .type = WIRE_RUN,
		.budget_ms = o->config.budget_ms,
		.all = config_lists_all(&o->config),
		.what = "",
		.launches = { [LAUNCH_AMORTIZED] = true, [LAUNCH_ISOLATED] = true } };
	if (bench_caches(o, run.caches, err) ||
		words_parse("--launches", own->launches, launch_parse, run.launches, LAUNCH_COUNT, err))
		return EXIT_BAD;
	const struct wire_message each = run;
	for (int i = 0; i < w->count; i++) {
		run = each;
		run.id = i + 1;
		run.problem = w->problems[i].text;
		if (is_for_cpu(o) && !own->caches && !isnan(w->problems[i].distance)) {
			device_states(&some_cpu, w->problems[i].distance, false, run.caches);
			run.caches[CACHE_NET] = true;
		}
		char *line = wire_format(&run);
		fputs(line, stdout);
		free(line);
	}
	if (fflush(stdout) || ferror(stdout))
		return error_set(err, "standard output: cannot write: %s", strerror(errno)), EXIT_BAD;
	if (!o->quiet && w->count)
		fprintf(stderr,
			"benanza: %d jobs; next: benanza-runner-%s < jobs > results, then benanza db import "
			"results\n",
			w->count, is_for_cpu(o) ? "cpu" : "cuda");
	return EXIT_DONE;
}

int bench_jobs(struct options *o, struct error *err)
{
	struct wanted w = { 0 };
	int status = EXIT_DONE;
	bool by_model;
	if (o->json)
		error_set(err, "--emit-jobs prints one JSON object per line; remove --json");
	if (o->json || order_read(o->own, &by_model, err))
		return EXIT_BAD;
	/* a model that cannot be used does not keep the others from being measured */
	for (int i = 0; i < o->argc; i++) {
		w.model = by_model ? i : 0;
		struct session *s = options_session(o, i, SESSION_DB_READ, err);
		if (!s || wanted_gather(&w, s, o, err)) {
			fprintf(stderr, "benanza: %s\n", err->text);
			err->text[0] = '\0';
			status = EXIT_BAD;
		}
		session_close(s);
	}
	w.model = -1; /* before all models */
	if (w.count)
		wanted_add_peaks(&w, is_for_cpu(o) ? &some_cpu : &some_gpu);
	wanted_sort(&w);
	struct error words = ERROR_NONE;
	if (jobs_print(&w, o, &words) != EXIT_DONE) {
		*err = words;
		status = EXIT_BAD;
	}
	wanted_free(&w);
	return status;
}
