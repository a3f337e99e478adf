/* CPU time from a key to the frame in the canvas, in every view, at 400x120, while results arrive: before
 * each key press one problem of the model gets a new result. A model of many chains of layers, each of its
 * own size, so that there are many distinct problems. Run by `make bench`; the least of several rounds counts
 * for each key. */
#include "config.h"

#include "tests/unit/onnx_bytes.h"

#define measure make_measure /* frame.h has another one */
#include "tests/unit/make_plan.h"
#undef measure
#include "ui/frame/frame.h"
#include "ui/screen/key.h"

#include <math.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#define COLUMNS 400
#define ROWS 120
#define ROUNDS 5
#define CHAIN 10 /* layers of a chain */
#define AIM_LAYERS 10000
#define AIM_MS 16

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

#define KEYS_MOST 64

/* CPU time of each key's frame: the least of several rounds. */
struct times {
	double ms[KEYS_MOST];
	int count;
};

/* Presses the keys of a round, a result before each. */
static void keys_press(struct app *app, const char *const *texts, int count, const char *keys,
	struct times *t)
{
	t->count = 0;
	for (const char *p = keys; *p && t->count < KEYS_MOST; t->count++) {
		p += strspn(p, " ");
		struct text word = { p, strcspn(p, " ") };
		p += word.n;
		arrive(app->session, texts[(t->count * 37) % count]);
		double begin = now_ms();
		app_key(app, key_parse(word));
		app_refresh(app);
		app_draw(app);
		double ms = now_ms() - begin;
		t->ms[t->count] = ms < t->ms[t->count] ? ms : t->ms[t->count];
		const struct pane *pane = app_pane(app);
		while (session_effects_step(app->session, 4))
			;
		for (int i = 0; i < 3 && pane->view->work && pane->view->work(app, pane->state, 4); i++)
			;
	}
}

static struct times times_of(struct app *app, const char *const *texts, int count, const char *keys,
	int rounds)
{
	struct times t = { .count = 0 };
	for (int i = 0; i < KEYS_MOST; i++)
		t.ms[i] = INFINITY;
	for (int i = 0; i < rounds; i++)
		keys_press(app, texts, count, keys, &t);
	qsort(t.ms, (size_t)t.count, sizeof(*t.ms), compare);
	return t;
}

static void times_print(const char *what, int layers, const struct times *t)
{
	double most = t->ms[t->count - 1 - t->count / 100];
	printf("%8d  %-14s %9.2f %9.2f%s\n", layers, what, t->ms[t->count / 2], most,
		layers == AIM_LAYERS && most > AIM_MS ? "  over the aim" : "");
	fflush(stdout);
}

static const char all_keys[] = "j p f j m PgDn l k a f G g p s j m s S S PgDn r j r a l";
/* Those of a list or chart, without the what-ifs, which are measured above. */
static const char view_keys[] = "j j PgDn k G k g > < ]c j PgDn PgDn H L p j p j l h";

#define FEW_KEYS_LAYERS 1000000 /* from here on: a key takes a second */
static const char few_keys[] = "j PgDn G k";

static long memory_kib(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

static struct session *open_session(const char *path)
{
	static struct config config;
	struct error err = ERROR_NONE;
	struct session_options o = { .model_path = path, .db = SESSION_DB_READ };
	config_load(&config, "/dev/null", &err);
	config.db = "/nonexistent/benanza.db";
	struct session *s = session_open(&config, &o, &err);
	if (!s || session_select(s, 0, DTYPE_F32, &err)) {
		fprintf(stderr, "bench_frame: %s\n", err.text);
		exit(1);
	}
	return s;
}

static void bench(int layers, int rounds)
{
	char path[64];
	int fd = model_file(layers), count;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	double begin = now_ms();
	struct session *s = open_session(path);
	struct arena a = { 0 };
	const char **texts = analyze_problems(&a, s->current->plan, session_fusion(s->current), true, &count);
	bool few = layers >= FEW_KEYS_LAYERS;
	for (int i = 0; i < (few ? 1 : 4) * count; i++)
		arrive(s, texts[i % count]);
	session_effects_within(s, 4);
	struct app app;
	app_init(&app, s, COLUMNS, ROWS, false);
	app_draw(&app);
	printf("%8d  %d distinct problems, opened and drawn in %.1f s\n", layers, count,
		(now_ms() - begin) / 1e3);
	fflush(stdout);
	struct times t = times_of(&app, texts, count, few ? "p f m a" : all_keys, rounds);
	times_print("what-ifs", layers, &t);
	printf("%8d  %ld MiB at most\n", layers, memory_kib() / 1024);
	for (int v = 0; v < views_count(); v++) {
		if (few && strcmp(views_at(v)->name, "sweep") == 0) /* a plan for each batch */
			continue;
		app_show(&app, views_at(v), -1);
		app_draw(&app);
		t = times_of(&app, texts, count, few ? few_keys : view_keys, rounds);
		times_print(views_at(v)->name, layers, &t);
	}
	printf("%8d  %ld MiB at most\n", layers, memory_kib() / 1024);
	app_free(&app);
	arena_free(&a);
	session_close(s);
	close(fd);
}

/* bench_frame [LAYERS]: one size, to look into it */
int main(int argc, char **argv)
{
	base_memory_keep();
	printf("CPU ms from a key to the frame at %dx%d while results arrive; aim: p99 below %d ms at %d "
	       "layers\n  layers  view                 p50       p99\n",
		COLUMNS, ROWS, AIM_MS, AIM_LAYERS);
	int only = argc > 1 ? atoi(argv[1]) : 0;
	for (int layers = only ? only : 1000; layers <= (only ? only : FEW_KEYS_LAYERS); layers *= 10)
		bench(layers, layers >= FEW_KEYS_LAYERS ? 1 : layers > AIM_LAYERS ? 2 : ROUNDS);
	return 0;
}
