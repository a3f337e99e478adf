/* Multiplies matrices of few rows for bench_rows.py, one side at a time: the packed kernel, oneDNN's fastest
 * implementation, OpenBLAS where it is installed, and for comparison a read of as many bytes as the weights.
 * Every execution uses the next copy of the weights (cache state net), so that they come from memory.
 *
 *     bench_rows LLC_BYTES
 * prints a line of JSON for each line of its input (bench_sides.h). */
#include "config.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "bench_sides.h"
#include "runner/host/copies.h"
#include "runner/measure/clock.h"

#define LANES 4             /* 64-bit words of half a cache line: wider sums are not registers everywhere */
#define STREAMS 4           /* of a thread that reads; the faster of 1 and 4 is taken */
#define MEMORY 16e9

typedef uint64_t half_t __attribute__((vector_size(32)));
typedef void sgemm_fn(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda,
	const float *b, int ldb, float beta, float *c, int ldc);
typedef void sgemv_fn(int order, int trans, int m, int n, float alpha, const float *a, int lda,
	const float *x, int incx, float beta, float *y, int incy);
enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 }; /* of CBLAS */

/* --- the sides --- */

struct blas {
	sgemm_fn *sgemm;
	sgemv_fn *sgemv;
	struct copies b, rest; /* rest: a, then c */
	struct rotation turn;
	int64_t m, n, k;
	int way, ways; /* sgemm and sgemv, with B stored by rows and by columns */
};

struct reading {
	struct copies b;
	struct rotation turn;
	const char *now;
	int64_t streams;
};

static double llc_bytes;
static struct problem problem;
static struct backed packed, onednn;
static struct blas blas;
static struct reading reading;
static volatile uint64_t sink;

static struct backend_limits limits(void)
{
	return (struct backend_limits){ .memory_bytes = MEMORY, .cold_sets = 1,
		.sets = measure_sets(problem_constant_bytes(&problem), llc_bytes, MEASURE_SETS_BYTES, 1) };
}

/* Reads `count` lines as `streams` streams, which a processor fetches ahead side by side. */
__attribute__((target_clones("avx512f", "avx2", "default")))
static uint64_t read_lines(const half_t *at, int64_t count, int64_t streams)
{
	half_t sum[2 * STREAMS] = { { 0 } };
	int64_t apart = streams == 1 ? 1 : count / STREAMS, step = streams == 1 ? STREAMS : 1;
	for (int64_t i = 0; i < count / STREAMS; i++)
#pragma GCC unroll 8
		for (int j = 0; j < 2 * STREAMS; j++)
			sum[j] ^= at[2 * (i * step + j / 2 * apart) + j % 2];
	uint64_t all = 0;
	for (int j = 0; j < 2 * STREAMS * LANES; j++)
		all ^= sum[j / LANES][j % LANES];
	return all;
}

static void read_share(void *argument, int i, int count)
{
	const struct reading *r = argument;
	int64_t lines = (int64_t)(r->b.bytes / sizeof(half_t) / 2), from = lines * i / count;
	const half_t *at = (const half_t *)(const void *)r->now;
	sink ^= read_lines(at + 2 * from, lines * (i + 1) / count - from, r->streams);
}

static double reading_run(void *side, int64_t times)
{
	struct reading *r = side;
	double begin = clock_ns();
	for (int64_t i = 0; i < times; i++) {
		r->now = copies_at(&r->b, rotation_next(&r->turn));
		team_run(read_share, r);
	}
	return clock_elapsed(begin);
}

static double blas_run(void *side, int64_t times)
{
	struct blas *s = side;
	int m = (int)s->m, n = (int)s->n, k = (int)s->k;
	bool by_rows = s->way % 2 == 0;
	const float *a = (const float *)(const void *)copies_at(&s->rest, 0);
	float *c = (float *)(void *)copies_at(&s->rest, 0) + s->m * s->k;
	double begin = clock_ns();
	for (int64_t i = 0; i < times; i++) {
		const float *b = (const float *)(const void *)copies_at(&s->b, rotation_next(&s->turn));
		if (s->way < 2)
			s->sgemm(ROW_MAJOR, NO_TRANS, by_rows ? NO_TRANS : TRANS, m, n, k, 1, a, k, b,
				by_rows ? n : k, 0, c, n);
		else if (by_rows)
			s->sgemv(ROW_MAJOR, TRANS, k, n, 1, b, n, a, 1, 0, c, 1);
		else
			s->sgemv(ROW_MAJOR, NO_TRANS, n, k, 1, b, k, a, 1, 0, c, 1);
	}
	return clock_elapsed(begin);
}

static struct side sides[] = { { "read", &reading, reading_run, "" }, { "packed", &packed, backed_run, "" },
	{ "onednn", &onednn, backed_run, "" }, { "openblas", &blas, blas_run, "" } };
#define SIDES (sizeof(sides) / sizeof(sides[0]))

/* --- opening --- */

static void copies_fill(struct copies *c)
{
	float *to = (float *)(void *)copies_at(c, 0);
	for (size_t i = 0; i < c->bytes / sizeof(float); i++)
		to[i] = (float)((i * 2654435761u >> 8) % 2001) / 1000 - 1;
	copies_spread(c);
}

static bool copies_make(struct copies *c, size_t bytes, int64_t count)
{
	if (copies_open(c, bytes, count))
		return false;
	copies_fill(c);
	return true;
}

static void reading_open(struct side *s)
{
	int64_t sets = limits().sets;
	double ns[2];
	if (!copies_make(&reading.b, (size_t)problem_constant_bytes(&problem), sets))
		return;
	reading.turn = rotation_of(sets);
	for (int i = 0; i < 2; i++) {
		reading.streams = i ? STREAMS : 1;
		ns[i] = side_time(s, TRIED_NS);
	}
	reading.streams = ns[1] < ns[0] ? STREAMS : 1;
	snprintf(s->what, sizeof(s->what), "%d streams a thread", (int)reading.streams);
}

static void blas_open(struct side *s)
{
	static const char *const ways[] = { "sgemm by rows", "sgemm by columns", "sgemv by rows",
		"sgemv by columns" };
	static void *library;
	int64_t sets = limits().sets;
	double least = INFINITY;
	int best = 0;
	library = library ? library : dlopen("libopenblas.so.0", RTLD_NOW);
	void *const found[] = { library ? dlsym(library, "cblas_sgemm") : NULL,
		library ? dlsym(library, "cblas_sgemv") : NULL };
	if (!found[0] || !found[1] || problem.epilogue_count || problem.operand[1].dtype != DTYPE_F32)
		return;
	memcpy(&blas.sgemm, &found[0], sizeof(found[0]));
	memcpy(&blas.sgemv, &found[1], sizeof(found[1]));
	blas.m = problem.m, blas.n = problem.mn, blas.k = problem.mk;
	blas.ways = problem.m == 1 ? 4 : 2;
	if (!copies_make(&blas.b, (size_t)problem_constant_bytes(&problem), sets) ||
		!copies_make(&blas.rest, (size_t)(blas.m * (blas.k + blas.n)) * sizeof(float), 1))
		return;
	blas.turn = rotation_of(sets);
	for (blas.way = 0; blas.way < blas.ways; blas.way++) {
		double ns = side_time(s, TRIED_NS);
		best = ns < least ? blas.way : best;
		least = fmin(ns, least);
	}
	blas.way = best;
	snprintf(s->what, sizeof(s->what), "%s", ways[best]);
}

static void all_close(void)
{
	backed_close(&packed);
	backed_close(&onednn);
	copies_close(&reading.b);
	copies_close(&blas.b);
	copies_close(&blas.rest);
	copies_forget();
	for (size_t i = 0; i < SIDES; i++)
		sides[i].what[0] = '\0';
}

static void all_open(const char *text)
{
	struct error err = ERROR_NONE;
	all_close();
	if (problem_parse(text_of(text), &problem, &err) || problem.kernel != KERNEL_MATMUL) {
		fprintf(stderr, "bench_rows: '%s' is not a matmul: %s\n", text, err.text);
		exit(2);
	}
	reading_open(&sides[0]);
	backed_open(&sides[1], (const struct backend *const[]){ &backend_packed, NULL }, &problem, limits());
	backed_open(&sides[2], (const struct backend *const[]){ &backend_onednn, NULL }, &problem, limits());
	blas_open(&sides[3]);
}

int main(int argc, char **argv)
{
	llc_bytes = argc > 1 ? atof(argv[1]) : MEASURE_LLC_GUESS;
	if (sides_start("bench_rows"))
		return 3;
	sides_serve(sides, SIDES, all_open);
	all_close();
	return 0;
}
