/* Sums for bench_ones.py, one side at a time: the fastest product with ones, and the fastest other algorithm
 * of the CPU runner, which is oneDNN's own or plain C.
 *
 *     bench_ones
 * prints a line of JSON for each line of its input (bench_sides.h). */
#include "config.h"

#include "bench_sides.h"

#define MEMORY 8e9

static struct backed ones, other;
static struct side sides[] = { { "ones", &ones, backed_run, "" }, { "other", &other, backed_run, "" } };
#define SIDES (sizeof(sides) / sizeof(sides[0]))

static void all_close(void)
{
	backed_close(&ones);
	backed_close(&other);
	for (size_t i = 0; i < SIDES; i++)
		sides[i].what[0] = '\0';
}

static void all_open(const char *text)
{
	static const struct backend *const by_ones[] = { &backend_ones, NULL },
		*const others[] = { &backend_onednn, &backend_plain, NULL };
	struct backend_limits limits = { .memory_bytes = MEMORY, .sets = 1, .cold_sets = 1 };
	struct problem problem;
	struct error err = ERROR_NONE;
	all_close();
	if (problem_parse(text_of(text), &problem, &err)) {
		fprintf(stderr, "bench_ones: %s\n", err.text);
		exit(2);
	}
	backed_open(&sides[0], by_ones, &problem, limits);
	backed_open(&sides[1], others, &problem, limits);
}

int main(void)
{
	if (sides_start("bench_ones"))
		return 3;
	sides_serve(sides, SIDES, all_open);
	all_close();
	return 0;
}
