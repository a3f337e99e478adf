/* CPU time from a key to the frame in the canvas, in every view, at 400x120, while the model is measured:
 * all its problems are queued, before each key press one of them gets a new result, and there is a real
 * execution of the model. In a large model results wait while keys are pressed (app_pace); what it takes to
 * take them, with the next frame, is a column of its own. Run by `make bench`; the least of several rounds
 * counts for each key. */
#include "config.h"

#include "tests/unit/large_model.h"

#define measure make_measure /* frame.h has another one */
#include "tests/unit/make_plan.h"
#undef measure
#include "session/session_private.h"
#include "session/session_reality.h"
#include "ui/frame/frame.h"
#include "ui/screen/key.h"

#include <math.h>
#include <sys/resource.h>
#include <time.h>

#define COLUMNS 400
#define ROWS 120
#define ROUNDS 5
#define AIM_LAYERS 10000
#define AIM_MS 16

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void arrive(struct session *s, const char *problem)
{
	static int64_t date;
	struct result one = make_result(problem, 1000 + (double)(++date % 997));
	one.algorithm.matrix = date % 2 ? MATRIX_NO : MATRIX_UNKNOWN;
	one.measured_at = date;
	results_put(s->seat->results, &one);
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
	double renewed_ms; /* the most for results that waited, with the frame */
	int count;
};

/* Takes the results that waited. */
static void renew(struct app *app, struct times *t)
{
	double begin = now_ms();
	app->results_wait = false;
	app_refresh(app);
	app_draw(app);
	t->renewed_ms = fmax(t->renewed_ms, now_ms() - begin);
}

/* Goes on with what is computed between keys. */
static void rest(struct app *app)
{
	const struct pane *pane = app_pane(app);
	while (app_go_on(app, 4))
		;
	for (int i = 0; i < 3 && pane->view->work && pane->view->work(app, pane->state, 4); i++)
		;
}

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
		app_pace(app, 0, 0); /* a key was pressed just now */
		double begin = now_ms();
		app_key(app, key_parse(word));
		app_refresh(app);
		app_draw(app);
		double ms = now_ms() - begin;
		t->ms[t->count] = ms < t->ms[t->count] ? ms : t->ms[t->count];
		rest(app);
	}
	renew(app, t);
}

static struct times times_of(struct app *app, const char *const *texts, int count, const char *keys,
	int rounds)
{
	struct times t = { .renewed_ms = 0 };
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
	printf("%8d  %-14s %9.2f %9.2f %9.2f%s\n", layers, what, t->ms[t->count / 2], most, t->renewed_ms,
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

/* A session that measures: all problems are queued. */
static struct session *measuring(struct config *config, const char *path, struct arena *a,
	const char ***texts, int *count)
{
	struct session *s = large_open(config, path);
	s->seat->device.model = "bench";
	s->seat->device.stack = "bench, 2 threads";
	s->seat->device.threads = 2;
	s->seat->queue = queue_new(config, NULL, s->seat->results);
	*texts = analyze_problems_in(a, s->current->plan, session_fusion(s), true, 0, count);
	int each = s->current->plan->layer_count < FEW_KEYS_LAYERS ? 4 : 1;
	for (int i = 0; i < each * *count; i++)
		arrive(s, (*texts)[i % *count]);
	for (int i = 0; i < *count; i++)
		queue_add(s->seat->queue, (*texts)[i], false, true);
	large_run(s, 1100);
	session_effects_within(s, 4);
	return s;
}

static void bench(int layers, int rounds)
{
	char path[64];
	int fd = large_file(layers), count;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	double begin = now_ms();
	struct arena a = { 0 };
	struct config config;
	const char **texts;
	struct session *s = measuring(&config, path, &a, &texts, &count);
	bool few = layers >= FEW_KEYS_LAYERS;
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
		app_show(&app, views_at(v), -1);
		app_draw(&app);
		t = times_of(&app, texts, count, few ? few_keys : view_keys, rounds);
		times_print(views_at(v)->name, layers, &t);
	}
	printf("%8d  %ld MiB at most\n", layers, memory_kib() / 1024);
	/* nothing is queued any more: what is missing is counted and offered */
	queue_free(s->seat->queue);
	s->seat->queue = queue_new(&config, NULL, s->seat->results);
	app_show(&app, views_at(0), -1);
	t = times_of(&app, texts, count, few ? "p f m a" : all_keys, rounds);
	times_print("idle what-ifs", layers, &t);
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
	       "layers\n  layers  view                 p50       p99   results\n",
		COLUMNS, ROWS, AIM_MS, AIM_LAYERS);
	int only = argc > 1 ? atoi(argv[1]) : 0;
	for (int layers = only ? only : 1000; layers <= (only ? only : FEW_KEYS_LAYERS); layers *= 10)
		bench(layers, layers >= FEW_KEYS_LAYERS ? 1 : layers > AIM_LAYERS ? 2 : ROUNDS);
	return 0;
}
