/* The fastest algorithm of some backends of the CPU runner and that of others, one at a time, for
 * bench_ones.py and bench_lines.py.
 *
 *     bench_pair PAIR
 * prints a line of JSON for each line of its input (bench_sides.h). Pairs: the table below. */
#include "config.h"

#include "bench_sides.h"

#define MEMORY 8e9
#define SIDES 2

static const struct {
	const char *name;
	struct {
		const char *name;
		const struct backend *backends[3]; /* ends with NULL */
	} side[SIDES];
} pairs[] = {
	{ "ones", { { "ones", { &backend_ones } }, { "other", { &backend_onednn, &backend_plain } } } },
	{ "lines", { { "lines", { &backend_plain } }, { "onednn", { &backend_onednn } } } },
};
#define PAIRS (sizeof(pairs) / sizeof(pairs[0]))

static size_t pair = PAIRS;
static struct backed state[SIDES];
static struct side sides[SIDES];

static void all_close(void)
{
	for (size_t i = 0; i < SIDES; i++) {
		backed_close(&state[i]);
		sides[i] = (struct side){ pairs[pair].side[i].name, &state[i], backed_run, "" };
	}
}

static void all_open(const char *text)
{
	struct backend_limits limits = { .memory_bytes = MEMORY, .sets = 1, .cold_sets = 1 };
	struct problem problem;
	struct error err = ERROR_NONE;
	all_close();
	if (problem_parse(text_of(text), &problem, &err)) {
		fprintf(stderr, "bench_pair: %s\n", err.text);
		exit(2);
	}
	for (size_t i = 0; i < SIDES; i++)
		backed_open(&sides[i], pairs[pair].side[i].backends, &problem, limits);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; i < PAIRS && argc == 2; i++)
		if (strcmp(argv[1], pairs[i].name) == 0)
			pair = i;
	if (pair == PAIRS) {
		fputs("bench_pair: the argument is the name of a pair: ones, lines\n", stderr);
		return 2;
	}
	all_close();
	if (sides_start("bench_pair"))
		return 3;
	sides_serve(sides, SIDES, all_open);
	all_close();
	return 0;
}
