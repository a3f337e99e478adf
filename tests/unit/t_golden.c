#include "config.h"

#include "analyze/analyze.h"
#include "make_plan.h"
#include "tap.h"

#include <sys/stat.h>

/* The published layer graphs of thirty models with a cost per layer, through the analysis: sums and longest
 * paths to the last digit printed. A row without a benchmark is a layer that was not measured. */

#define GRAPHS "golden_graphs_v100_b1.tsv.gz"
#define EXPECTED "golden_expected_v100_b1.tsv"
#define COLUMNS 8
#define MODEL_ROWS 2000

struct row {
	char *text; /* owns the columns */
	char *column[COLUMNS];
};

struct world {
	struct row *rows;
	int count, capacity;
	struct results *results;
};

/* Splits at tabs, in place; absent columns are empty. */
static void split(char *line, char **column, int count)
{
	line[strcspn(line, "\r\n")] = '\0';
	for (int i = 0; i < count; i++) {
		column[i] = line;
		line += strcspn(line, "\t");
		if (*line)
			*line++ = '\0';
	}
}

static void load_rows(struct world *w, FILE *f)
{
	char line[4096];
	if (!fgets(line, sizeof(line), f))
		return; /* the header */
	while (fgets(line, sizeof(line), f)) {
		VEC_GROW(w->rows, w->count, w->capacity);
		struct row *r = &w->rows[w->count++];
		r->text = base_strdup(line);
		split(r->text, r->column, COLUMNS);
	}
}

/* Predecessors, "3,7", as inputs: every layer gives one value. */
static int row_inputs(const struct row *r, int *inputs)
{
	int count = 0;
	for (char *p = r->column[4], *end; *p; p = *end ? end + 1 : end)
		inputs[count++] = (int)strtol(p, &end, 10);
	return count;
}

static void add_row(struct maker *m, struct results *results, const struct row *r, int index)
{
	char problem[96];
	int inputs[MODEL_ROWS];
	bool measured = *r->column[7];
	snprintf(problem, sizeof(problem), "%s %d", r->column[0], index);
	make_layer_n(m, r->column[3], problem, "1", row_inputs(r, inputs), inputs);
	m->plan.layers[index].class = CLASS_MEMORY;
	if (measured)
		measure(results, problem, strtod(r->column[6], NULL) * 1000);
}

/* As the published figures are written: up to three digits behind the point, no zeros at the end. */
static void digits(char *buf, size_t size, double ns)
{
	snprintf(buf, size, "%.3f", ns / 1000);
	for (char *end = buf + strlen(buf) - 1; *end == '0' || *end == '.'; end--) {
		bool point = *end == '.';
		*end = '\0';
		if (point)
			break;
	}
}

static int missing_of_type(const struct analysis *a, const struct plan *p, const char *type)
{
	int count = 0;
	for (int i = 0; i < a->layer_count; i++)
		count += a->layers[i].origin == ORIGIN_MISSING && text_is(p->layers[i].node->op, type);
	return count;
}

struct totals {
	int models, layers, missing, missing_conv, models_missing_conv;
};

static void check_model(struct world *w, char **want, struct totals *totals)
{
	struct maker *m = make_begin();
	int unmeasured = 0;
	for (int i = 0; i < w->count; i++) {
		if (strcmp(w->rows[i].column[0], want[0]) != 0)
			continue;
		unmeasured += !*w->rows[i].column[7];
		add_row(m, w->results, &w->rows[i], m->plan.layer_count);
	}
	struct plan *p = make_finish(m);
	struct fusion *f = fusion_find(p);
	struct arena arena = { 0 };
	struct scenario s = scenario_default();
	struct analysis *a = analyze(&arena, GROUND(p, f, w->results, NULL), &s);
	char sum[32], path[32];
	digits(sum, sizeof(sum), a->sequential_ns);
	digits(path, sizeof(path), a->parallel_ns);
	is_int(a->coverage.layers, strtol(want[1], NULL, 10), "%s: layers", want[0]);
	is_str(sum, want[2], "%s: sum", want[0]);
	is_str(path, want[3], "%s: critical path", want[0]);
	ok(a->coverage.missing == unmeasured && a->coverage.measured == p->layer_count - unmeasured &&
			a->complete == !unmeasured,
		"%s: %d layers without a benchmark are missing", want[0], unmeasured);
	int convs = missing_of_type(a, p, "Conv");
	totals->models++;
	totals->layers += a->coverage.layers;
	totals->missing += a->coverage.missing;
	totals->missing_conv += convs;
	totals->models_missing_conv += convs > 0;
	arena_free(&arena);
	fusion_free(f);
	make_end(m);
}

static void check_all(struct world *w, FILE *expected)
{
	struct totals totals = { 0 };
	char line[512], *want[6];
	while (fgets(line, sizeof(line), expected)) {
		split(line, want, 6);
		if (strcmp(want[0], "model") != 0)
			check_model(w, want, &totals);
	}
	is_int(totals.models, 30, "thirty models");
	is_int(totals.layers, w->count, "every row was used");
	is_int(totals.missing_conv, 89, "89 convolutions were not measured");
	is_int(totals.models_missing_conv, 5, "... in five models");
	ok(totals.missing > totals.missing_conv, "%d layers missing in all", totals.missing);
}

int main(void)
{
	const char *shared = getenv("BENANZA_SHARED");
	char path[512], command[600];
	struct stat st;
	snprintf(path, sizeof(path), "%s/reference/" GRAPHS, shared ? shared : ".");
	if (stat(path, &st) != 0)
		skip_all("the published graphs are not here");
	if (strchr(path, '\''))
		skip_all("the path to the published graphs has a quote in it");
	snprintf(command, sizeof(command), "gzip -dc '%s'", path);
	struct world w = { .results = results_new() };
	FILE *graphs = popen(command, "r");
	if (graphs) {
		load_rows(&w, graphs);
		is_int(pclose(graphs), 0, "the graphs unpack");
	}
	snprintf(path, sizeof(path), "%s/reference/" EXPECTED, shared ? shared : ".");
	FILE *expected = fopen(path, "r");
	ok(expected != NULL, "the expected figures are there");
	if (expected) {
		check_all(&w, expected);
		fclose(expected);
	}
	for (int i = 0; i < w.count; i++)
		free(w.rows[i].text);
	free(w.rows);
	results_free(w.results);
	return done_testing();
}
