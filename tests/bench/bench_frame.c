/* CPU time from a key to the frame in the canvas, at 400x120, while results arrive: before each key press one
 * problem of the model gets a new result. A model of many chains of layers, each of its own size, so that
 * there are many distinct problems. Run by `make bench`; the least of several rounds counts for each key. */
#include "config.h"

#include "tests/unit/onnx_bytes.h"

#define measure make_measure /* frame.h has another one */
#include "tests/unit/make_plan.h"
#undef measure
#include "ui/frame/frame.h"
#include "ui/screen/key.h"

#include <math.h>
#include <sys/mman.h>
#include <time.h>

#define COLUMNS 400
#define ROWS 120
#define ROUNDS 5
#define CHAIN 10 /* layers of a chain */

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int model_file(int layers)
{
	struct str graph = { 0 };
	char in[24], out[24], dims[48], name[32];
	put_text(&graph, 2, "bench");
	for (int i = 0; i < layers; i++) {
		snprintf(in, sizeof(in), i % CHAIN ? "v%d" : "in%d", i % CHAIN ? i : i / CHAIN);
		snprintf(out, sizeof(out), "v%d", i + 1);
		snprintf(dims, sizeof(dims), "1,%d,56,56", 1 + i / CHAIN);
		snprintf(name, sizeof(name), "block%d/layer%d", i / CHAIN, i);
		if (i % CHAIN == 0)
			put_value(&graph, 11, in, 1, dims);
		bool two = i % CHAIN > 1;
		put_node(&graph, name, two && i % 3 == 0 ? "Add" : i % 3 ? "Relu" : "Sigmoid", in,
			two && i % 3 == 0 ? in : "", out, NULL);
		if (i % CHAIN == CHAIN - 1)
			put_value(&graph, 12, out, 1, NULL);
	}
	struct str bytes = put_model(&graph, 8, 17);
	int fd = memfd_create("bench", 0);
	if (fd < 0 || write(fd, bytes.p, bytes.n) != (ssize_t)bytes.n) {
		perror("bench_frame");
		exit(1);
	}
	str_free(&bytes);
	return fd;
}

static void arrive(struct session *s, const char *problem)
{
	static int64_t date;
	struct result one = make_result(problem, 1000 + (double)(++date % 997));
	one.algorithm.matrix = date % 2 ? MATRIX_NO : MATRIX_UNKNOWN;
	one.measured_at = date;
	results_put(s->results, &one);
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* One round of key presses; keeps the least time of each. */
static int round_of_keys(struct app *app, const char *const *texts, int count, double *least)
{
	static const char *const keys[] = { "j", "p", "f", "j", "m", "PgDn", "l", "k", "a", "f", "G", "g",
		"p", "s", "j", "m", "s", "S", "S", "PgDn", "r", "j", "r", "a", "l" };
	int n = (int)(sizeof(keys) / sizeof(*keys));
	for (int i = 0; i < n; i++) {
		uint32_t key = key_parse(text_of(keys[i]));
		arrive(app->session, texts[(i * 37) % count]);
		double begin = now_ms();
		app_key(app, key);
		app_refresh(app);
		app_draw(app);
		double ms = now_ms() - begin;
		least[i] = ms < least[i] ? ms : least[i];
		while (session_effects_step(app->session, 4))
			;
	}
	return n;
}

static void bench(int layers)
{
	struct error err = ERROR_NONE;
	struct config config;
	char path[64];
	int fd = model_file(layers), count;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct session_options o = { .model_path = path, .db = SESSION_DB_READ };
	config_load(&config, "/dev/null", &err);
	config.db = "/nonexistent/benanza.db";
	struct session *s = session_open(&config, &o, &err);
	if (!s || session_select(s, 0, DTYPE_F32, &err)) {
		fprintf(stderr, "bench_frame: %s\n", err.text);
		exit(1);
	}
	struct arena a = { 0 };
	const char **texts = analyze_problems(&a, s->current->plan, session_fusion(s->current), true, &count);
	for (int i = 0; i < 4 * count; i++)
		arrive(s, texts[i % count]);
	session_effects_within(s, 4);
	struct app app;
	double least[64];
	for (int i = 0; i < 64; i++)
		least[i] = INFINITY;
	app_init(&app, s, COLUMNS, ROWS, false);
	app_draw(&app);
	int keys = 0;
	for (int i = 0; i < ROUNDS; i++)
		keys = round_of_keys(&app, texts, count, least);
	qsort(least, (size_t)keys, sizeof(*least), compare);
	printf("%7d layers %6d distinct: median %7.2f ms, most %7.2f ms\n", layers, count, least[keys / 2],
		least[keys - 1]);
	fflush(stdout);
	app_free(&app);
	arena_free(&a);
	session_close(s);
	close(fd);
}

int main(void)
{
	base_memory_keep();
	printf("CPU ms from a key to the frame at %dx%d while results arrive; aim: 16 ms at 10,000 layers\n",
		COLUMNS, ROWS);
	for (int layers = 1000; layers <= 100000; layers *= 10)
		bench(layers);
	return 0;
}
