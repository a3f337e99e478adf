/* Opening graphs of growing size: a chain, and random graphs whose layers read near and far ones. Load, plan,
 * fused groups and lanes; the best of a few runs, and how many times that of a tenth of the layers. Run by
 * `make bench`. */
#include "config.h"

#include "tests/unit/onnx_bytes.h"

#include "analyze/analyze.h"
#include "base/arena.h"
#include "ui/screen/lanes.h"

#include <sys/mman.h>
#include <time.h>

#define RUNS 5
enum { LOAD, PLAN, FUSION, LANES, TOTAL, PHASES };

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

/* Layer i reads the one before, and in a random graph every second one also another: near, or as often
 * anywhere. */
static struct str build(int layers, bool random)
{
	struct str graph = { 0 };
	uint64_t state = 1;
	char in[16], other[16], out[16];
	put_text(&graph, 2, "bench");
	put_value(&graph, 11, "v0", 1, "batch,64,56,56");
	for (int i = 0; i < layers; i++) {
		bool two = random && i > 0 && next_random(&state) % 2;
		int far = !two ? 0 : next_random(&state) % 2 ? (int)(next_random(&state) % (unsigned)i)
			: i - (int)(next_random(&state) % (unsigned)(i < 20 ? i : 20));
		snprintf(in, sizeof(in), "v%d", i);
		snprintf(other, sizeof(other), "v%d", far);
		snprintf(out, sizeof(out), "v%d", i + 1);
		put_node(&graph, "",
			two		? "Add"
				: i % 3 ? "Relu"
					: "Sigmoid",
			in, two ? other : "", out, NULL);
	}
	put_value(&graph, 12, out, 1, NULL);
	return put_model(&graph, 8, 17);
}

static double lanes_ms(const struct plan *p)
{
	int *first = base_calloc((size_t)p->layer_count + 1, sizeof(int)), *edges = NULL, count = 0,
	    capacity = 0;
	for (int i = 0; i < p->layer_count; i++) {
		for (int j = 0; j < p->layers[i].pred_count; j++) {
			VEC_GROW(edges, count, capacity);
			edges[count++] = p->layers[i].preds[j];
		}
		first[i + 1] = count;
	}
	struct lanes lanes;
	double begin = now_ms();
	lanes_make(&lanes, p->layer_count, first, edges);
	double took = now_ms() - begin;
	lanes_free(&lanes);
	free(first);
	free(edges);
	return took;
}

static void measure(const char *path, double ms[PHASES])
{
	struct error err = ERROR_NONE;
	double begin = now_ms();
	struct model *m = model_load(path, &err);
	double loaded = now_ms();
	struct plan *p = m ? plan_build(m, &(struct plan_options){ .batch = 1 }, &err) : NULL;
	if (!p) {
		fprintf(stderr, "bench_graph: %s\n", err.text);
		exit(1);
	}
	double planned = now_ms();
	struct fusion *f = fusion_find(p);
	ms[LOAD] = loaded - begin;
	ms[PLAN] = planned - loaded;
	ms[FUSION] = now_ms() - planned;
	ms[LANES] = lanes_ms(p);
	ms[TOTAL] = ms[LOAD] + ms[PLAN] + ms[FUSION] + ms[LANES];
	fusion_free(f);
	plan_free(p);
	model_free(m);
}

#define SIZES 3
static const int sizes[SIZES] = { 1000, 10000, 100000 };

static int graph_file(int layers, bool random)
{
	struct str bytes = build(layers, random);
	int fd = memfd_create("bench", 0);
	if (fd < 0 || write(fd, bytes.p, bytes.n) != (ssize_t)bytes.n) {
		perror("bench_graph");
		exit(1);
	}
	str_free(&bytes);
	return fd;
}

/* All sizes in turn, the least of each: a machine that slows down for a while meets them alike. */
static void bench(const char *kind, bool random)
{
	double best[SIZES][PHASES];
	int fd[SIZES];
	for (int i = 0; i < SIZES; i++)
		fd[i] = graph_file(sizes[i], random);
	for (int run = 0; run < RUNS; run++)
		for (int i = 0; i < SIZES; i++) {
			double ms[PHASES];
			char path[64];
			snprintf(path, sizeof(path), "/proc/self/fd/%d", fd[i]);
			measure(path, ms);
			if (run == 0 || ms[TOTAL] < best[i][TOTAL])
				memcpy(best[i], ms, sizeof(ms));
		}
	for (int i = 0; i < SIZES; i++) {
		const double *ms = best[i];
		printf("%-7s %7d %9.2f %9.2f %9.2f %9.2f %9.2f", kind, sizes[i], ms[LOAD], ms[PLAN],
			ms[FUSION], ms[LANES], ms[TOTAL]);
		printf(i > 0 ? "   %5.1f times\n" : "\n", i > 0 ? ms[TOTAL] / best[i - 1][TOTAL] : 0);
		close(fd[i]);
	}
}

int main(void)
{
	base_memory_keep();
	puts("graph    layers      load      plan    groups     lanes     total   CPU ms; against a tenth of "
	     "the layers");
	bench("chain", false);
	bench("random", true);
	return 0;
}
