/* Options of the runner programs. */
#include "config.h"

#include "runner/protocol/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/measure/ahead.h"
#include "wire/wire.h"

enum long_only {
	OPTION_CACHE = 256,
	OPTION_LAUNCH,
	OPTION_CHECK,
	OPTION_ALGORITHMS,
	OPTION_COMPILE_THREADS,
	OPTION_DEVICE,
	OPTION_IDLE,
	OPTION_STEP_LIMIT,
	OPTION_PLAN,
	OPTION_VERSION
};

#define IDLE_S 60
#define IDLE_MAX_S 1000000

/* What a platform needs for an option. */
enum need { NEED_NOTHING, NEED_THREADS, NEED_DEVICE, NEED_PLAN, NEED_ENTER };

static const struct option long_options[] = {
	{ "problem", required_argument, NULL, 'p' },
	{ "budget-ms", required_argument, NULL, 'b' },
	{ "list", no_argument, NULL, 'l' },
	{ "json", no_argument, NULL, 'j' },
	{ "info", no_argument, NULL, 'i' },
	{ "output", required_argument, NULL, 'o' },
	{ "threads", required_argument, NULL, 'n' },
	{ "device", required_argument, NULL, OPTION_DEVICE },
	{ "plan", required_argument, NULL, OPTION_PLAN },
	{ "cache", required_argument, NULL, OPTION_CACHE },
	{ "launch", required_argument, NULL, OPTION_LAUNCH },
	{ "check", no_argument, NULL, OPTION_CHECK },
	{ "algorithms", required_argument, NULL, OPTION_ALGORITHMS },
	{ "compile-threads", required_argument, NULL, OPTION_COMPILE_THREADS },
	{ "idle", required_argument, NULL, OPTION_IDLE },
	{ "step-limit", required_argument, NULL, OPTION_STEP_LIMIT },
	{ "version", no_argument, NULL, OPTION_VERSION },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const struct {
	enum need need;
	const char *text;
} help[] = {
	{ NEED_NOTHING, "  -p, --problem TEXT   measure one problem and print a table" },
	{ NEED_NOTHING, "  -l, --list           only list its algorithms" },
	{ NEED_NOTHING, "  -b, --budget-ms N    time per algorithm, and default of jobs (200)" },
	{ NEED_NOTHING, "      --cache LIST     cache states: net, warm (both); cold, 1m ... 512m" },
	{ NEED_NOTHING, "      --launch LIST    amortized, isolated (both)" },
	{ NEED_NOTHING, "      --check          run algorithms once and compare their outputs with plain C" },
	{ NEED_NOTHING, "      --algorithms N   run at most N per problem, an equal share per library" },
	{ NEED_NOTHING, "      --algorithms all  also those that a library's heuristics do not return" },
	{ NEED_NOTHING, "  -j, --json           print one JSON object per line instead of a table" },
	{ NEED_NOTHING, "  -o, --output FILE    append results to a file; skip jobs that it has results of" },
	{ NEED_NOTHING, "      --idle SECONDS   end after this time without a job, 0: never (60)" },
	{ NEED_NOTHING, "      --step-limit S   give up a job with a longer execution (seconds, 0: never)" },
	{ NEED_NOTHING, "  -i, --info           describe the device" },
	{ NEED_THREADS, "  -n, --threads N      threads (OMP_NUM_THREADS, else one per core)" },
	{ NEED_DEVICE, "      --device WHICH   a number, cuda:1, a UUID or its beginning, MIG-UUID" },
	{ NEED_PLAN, "      --plan FILE      list algorithms for a described device; nothing is measured" },
	{ NEED_ENTER, "      --compile-threads N  threads that list and compile (cores - 1, up to 8)" },
	{ NEED_ENTER, "      --compile-threads 0  the thread that measures compiles" },
	{ NEED_NOTHING, "      --version, --help" },
};

static bool is_had(enum need n)
{
	return n == NEED_THREADS ? platform.has_threads : n == NEED_DEVICE ? platform.has_device :
		n == NEED_PLAN ? platform.has_plan : n == NEED_ENTER ? platform.enter != NULL : true;
}

static int complain(const char *fmt, const char *what)
{
	fprintf(stderr, "%s: ", platform.program);
	fprintf(stderr, fmt, what);
	fprintf(stderr, "\nTry '%s --help'.\n", platform.program);
	return EXIT_USAGE;
}

static int usage_print(void)
{
	const char *me = platform.program;
	printf("usage: %s [OPTION...]\n       %s [OPTION...] --problem TEXT [--list] [--json]\n"
	       "       %s [OPTION...] --check [--algorithms N]\n       %s [OPTION...] --info\n\n",
		me, me, me, me);
	puts("Without --problem the runner reads jobs from standard input and writes results to standard\n"
		"output, one JSON object per line.\n");
	for (size_t i = 0; i < sizeof(help) / sizeof(help[0]); i++)
		if (is_had(help[i].need))
			puts(help[i].text);
	puts("\nThe cache state cold is measured only if --cache or a job requests it.");
	return EXIT_DONE;
}

static bool number_read(const char *text, int64_t from, int64_t to, int64_t *n)
{
	return text_to_int64(text_of(text), n) && *n >= from && *n <= to;
}

/* Parses a list such as "net,warm" into flags. */
static bool words_read(const char *text, int (*parse)(const char *), bool *set, int count)
{
	char word[32];
	memset(set, 0, (size_t)count * sizeof(*set));
	for (const char *at = text;; at++) {
		size_t n = strcspn(at, ",");
		snprintf(word, sizeof(word), "%.*s", n < sizeof(word) ? (int)n : 0, at);
		int value = parse(word);
		if (value < 0 || value >= count)
			return false;
		set[value] = true;
		at += n;
		if (!*at)
			return true;
	}
}

static int number_take(int64_t *to, int64_t most, const char *complaint)
{
	return number_read(optarg, 1, most, to) ? -1 : complain(complaint, optarg);
}

static int words_take(struct options *o, int option)
{
	bool cache = option == OPTION_CACHE;
	*(cache ? &o->has_caches : &o->has_launches) = true;
	if (!cache)
		return words_read(optarg, launch_parse, o->launches, LAUNCH_COUNT) ? -1 :
			complain("--launch takes amortized and isolated, not '%s'", optarg);
	return words_read(optarg, cache_parse, o->caches, CACHE_COUNT) ? -1 :
		complain("--cache takes net, warm, cold, 1m, 2m ... 512m, each also @2m, not '%s'", optarg);
}

/* Takes one option. Returns -1 to go on, else the exit status. */
static int option_take(struct options *o, int option)
{
	int64_t n;
	switch (option) {
	case 'p': o->problem = optarg; return -1;
	case 'o': o->output = optarg; return -1;
	case 'l': o->list = true; return -1;
	case 'j': o->json = true; return -1;
	case 'i': o->info = true; return -1;
	case OPTION_CHECK: o->check = true; return -1;
	case OPTION_DEVICE: o->machine.device = optarg; return -1;
	case OPTION_PLAN: o->machine.plan = optarg; return -1;
	case OPTION_ALGORITHMS:
		o->all = o->all || strcmp(optarg, "all") == 0;
		return strcmp(optarg, "all") == 0 ? -1 :
			number_take(&o->algorithms, 1000, "--algorithms takes 1 to 1000 or all, not '%s'");
	case 'b':
		return number_take(
			&o->budget_ms, WIRE_BUDGET_MS_MAX, "--budget-ms takes milliseconds, not '%s'");
	case OPTION_IDLE:
		return number_read(optarg, 0, IDLE_MAX_S, &o->idle_s) ? -1 :
			complain("--idle takes seconds, 0 to 1000000, not '%s'", optarg);
	case OPTION_STEP_LIMIT:
		return number_read(optarg, 0, IDLE_MAX_S, &o->step_limit_s) ? -1 :
			complain("--step-limit takes seconds, 0 to 1000000, not '%s'", optarg);
	case 'n':
		if (!number_read(optarg, 1, 4096, &n))
			return complain("--threads takes 1 to 4096, not '%s'", optarg);
		o->machine.threads = (int)n;
		return -1;
	case OPTION_COMPILE_THREADS:
		if (!number_read(optarg, 0, AHEAD_THREADS_MAX, &n))
			return complain("--compile-threads takes 0 to 64, not '%s'", optarg);
		o->machine.compile_threads = (int)n;
		return -1;
	case OPTION_CACHE:
	case OPTION_LAUNCH: return words_take(o, option);
	case OPTION_VERSION: printf("%s %s\n", platform.program, PACKAGE_VERSION); return EXIT_DONE;
	case 'h': return usage_print();
	default: fprintf(stderr, "Try '%s --help'.\n", platform.program); return EXIT_USAGE;
	}
}

/* Rejects options that exclude each other or that this runner does not have. */
static int options_judge(const struct options *o)
{
	if (o->machine.threads && !platform.has_threads)
		return complain("--threads is not an option of %s", platform.program);
	if (o->machine.device && !platform.has_device)
		return complain("--device is not an option of %s", platform.program);
	if (o->machine.plan && !platform.has_plan)
		return complain("--plan is not an option of %s", platform.program);
	if (o->machine.compile_threads >= 0 && !platform.enter)
		return complain("--compile-threads is not an option of %s", platform.program);
	if (o->machine.plan && o->machine.device)
		return complain("--plan and --device: %s", "choose one");
	if (o->list && !o->problem)
		return complain("--list needs %s", "--problem");
	if (o->list && o->check)
		return complain("--list and --check: %s", "choose one");
	if (o->check && o->machine.plan)
		return complain("--check and --plan: %s", "a plan has no device to run on");
	if (o->algorithms && (o->list || o->machine.plan))
		return complain("--algorithms limits what is run, and %s runs nothing",
			o->list ? "--list" : "--plan");
	if (o->output && (o->problem || o->info))
		return complain("--output is for jobs from standard input, not for %s",
			o->problem ? "--problem" : "--info");
	return -1;
}

int options_read(struct options *o, int argc, char **argv)
{
	*o = (struct options){ .machine.compile_threads = -1, .idle_s = IDLE_S, .step_limit_s = -1 };
	o->caches[CACHE_NET] = o->caches[CACHE_WARM] = true;
	o->launches[LAUNCH_AMORTIZED] = o->launches[LAUNCH_ISOLATED] = true;
	for (int option; (option = getopt_long(argc, argv, "p:b:ljio:n:h", long_options, NULL)) != -1;) {
		int status = option_take(o, option);
		if (status >= 0)
			return status;
	}
	if (optind < argc)
		return complain("unexpected argument '%s'", argv[optind]);
	return options_judge(o);
}
