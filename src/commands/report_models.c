#include "config.h"

#include "commands/report_models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COVER_SHARE 0.9
#define PAIRS_SHOWN 20

struct pair_row {
	int a, b;
	struct shared_pair pair;
};

/* Most similar first. */
static int pair_compare(const void *p, const void *q)
{
	const struct pair_row *x = p, *y = q;
	if (x->pair.jaccard != y->pair.jaccard)
		return x->pair.jaccard < y->pair.jaccard ? 1 : -1;
	return x->a != y->a ? x->a - y->a : x->b - y->b;
}

static struct pair_row *pairs_of(const struct sharing *s, struct arena *a, int *count)
{
	size_t models = (size_t)s->model_count;
	struct pair_row *rows = ARENA_ARRAY(a, struct pair_row, models * models / 2 + 1);
	*count = 0;
	for (int i = 0; i < s->model_count; i++)
		for (int k = i + 1; k < s->model_count; k++)
			rows[(*count)++] = (struct pair_row){ i, k, sharing_pair(s, i, k) };
	return rows;
}

static const char *stem(struct arena *a, const char *path)
{
	const char *slash = strrchr(path, '/');
	return text_clean(a, text_of(slash && slash[1] ? slash + 1 : path));
}

/* "~1.20 ms"; "at least ~1.20 ms" if `unknown` is not 0. */
static const char *time_text(struct arena *a, double ns, bool estimated, int unknown)
{
	char text[STR_QUANTITY];
	str_duration(text, ns);
	return isnan(ns) ? "-" :
		arena_printf(a, "%s%s%s", unknown ? ">=" : "", estimated ? "~" : "", text);
}

static const char *share_text(struct arena *a, double share, bool estimated)
{
	return isnan(share) ? "-" : arena_printf(a, "%s%.3f", estimated ? "~" : "", share);
}

static void models_text(const struct report_models *r, struct arena *a, FILE *out)
{
	const struct sharing *s = r->sharing;
	int layers = 0, estimated = 0, unknown = 0, width = report_width(out) - 46;
	double ns = NAN;
	fprintf(out, "  # layers distinct of them         time  model\n");
	for (int i = 0; i < s->model_count; i++) {
		const struct shared_model *m = &s->models[i];
		layers += m->layer_count;
		estimated += m->estimated;
		unknown += m->unknown;
		ns = isnan(m->ns) ? ns : (isnan(ns) ? 0 : ns) + m->ns;
		fprintf(out, "%3d %6d %8d %5.1f%% %13s  %s\n", i + 1, m->layer_count, m->use_count,
			m->layer_count ? 100.0 * m->use_count / m->layer_count : 0,
			time_text(a, m->ns, m->estimated > 0, m->unknown),
			text_cut(a, stem(a, r->paths[i]), width, true));
	}
	fprintf(out, "all %6d %8d %5.1f%% %13s  (layers with a problem)\n", layers, s->problem_count,
		layers ? 100.0 * s->problem_count / layers : 0,
		time_text(a, ns, estimated > 0, unknown));
	for (int i = 0; i < s->model_count; i++)
		if (*r->dims[i])
			fprintf(out, "%3d dimensions: %s\n", i + 1, r->dims[i]);
	if (unknown)
		fprintf(out, "  (>=: %d layer times are unknown)\n", unknown);
	if (estimated)
		fprintf(out, "  (~: %d layer times are estimates)\n", estimated);
}

static void pairs_text(const struct report_models *r, struct arena *a, FILE *out)
{
	int count, shown = 0, width = (report_width(out) - 30) / 2;
	struct pair_row *rows = pairs_of(r->sharing, a, &count);
	if (!count)
		return;
	qsort(rows, (size_t)count, sizeof(*rows), pair_compare);
	fprintf(out, "\nJaccard  by time  common  models\n");
	for (; shown < count && shown < PAIRS_SHOWN && rows[shown].pair.common; shown++) {
		const struct pair_row *p = &rows[shown];
		fprintf(out, "  %.3f  %7s  %6d  %s, %s\n", p->pair.jaccard,
			share_text(a, p->pair.time_share, p->pair.estimated || p->pair.unknown),
			p->pair.common, text_cut(a, stem(a, r->paths[p->a]), width, true),
			text_cut(a, stem(a, r->paths[p->b]), width, true));
	}
	int rest = 0;
	for (int i = shown; i < count; i++)
		rest += rows[i].pair.common > 0;
	if (rest)
		fprintf(out, "  ... %d other pairs share less; --json lists all\n", rest);
	if (count - shown - rest)
		fprintf(out, "  %d pair%s nothing\n", count - shown - rest,
			count - shown - rest == 1 ? " shares" : "s share");
}

static void cover_text(const struct report_models *r, bool by_time, struct arena *a, FILE *out)
{
	int count;
	struct shared_step *steps = sharing_cover(r->sharing, a, by_time, COVER_SHARE, &count);
	int all = r->sharing->model_count;
	if (!count || all == 1)
		return;
	const char *many = count == all ? "all" : arena_printf(a, "%d of", count);
	fprintf(out, "\n%s %d models %s %.0f%% of %s (greedy choice)\n", many, all,
		count == all ? "are needed for" : count == 1 ? "covers" : "cover", 100 * COVER_SHARE,
		by_time ? "the known time" : "all distinct layers");
	for (int i = 0; i < count; i++)
		fprintf(out, "  %5.1f%%  %s\n", 100 * steps[i].share,
			text_cut(a, stem(a, r->paths[steps[i].model]), report_width(out) - 10, true));
}

void report_models_text(const struct session *s, const struct report_models *r, FILE *out)
{
	const struct device *d = session_device(s);
	struct arena a = { 0 };
	const char *batch = r->batch ? arena_printf(&a, "batch %lld ", (long long)r->batch) : "";
	fprintf(out, "%s%s\n%s\n\n", batch, r->type,
		report_device(&a, d->model, d->stack));
	models_text(r, &a, out);
	pairs_text(r, &a, out);
	cover_text(r, false, &a, out);
	cover_text(r, true, &a, out);
	arena_free(&a);
}

static json_t *cover_json(const struct report_models *r, bool by_time, struct arena *a)
{
	int count;
	struct shared_step *steps = sharing_cover(r->sharing, a, by_time, COVER_SHARE, &count);
	json_t *list = json_array();
	for (int i = 0; i < count; i++)
		json_array_append_new(list, json_pack("{s:i, s:o, s:f}", "model", steps[i].model, "path",
			json_text(text_of(r->paths[steps[i].model])), "covered", steps[i].share));
	return json_pack("{s:s, s:f, s:s, s:o}", "of", by_time ? "time" : "layers", "share", COVER_SHARE,
		"method", "greedy", "models", list);
}

static json_t *pairs_json(const struct report_models *r, struct arena *a)
{
	json_t *shared = json_array();
	int count;
	struct pair_row *rows = pairs_of(r->sharing, a, &count);
	for (int i = 0; i < count; i++)
		json_array_append_new(shared, json_pack("{s:o, s:o, s:[i, i], s:i, s:o, s:o, s:b, s:i}",
			"a", json_text(text_of(r->paths[rows[i].a])),
			"b", json_text(text_of(r->paths[rows[i].b])), "index", rows[i].a, rows[i].b,
			"common", rows[i].pair.common, "jaccard", json_number_or_null(rows[i].pair.jaccard),
			"time_share", json_number_or_null(rows[i].pair.time_share), "estimated",
			rows[i].pair.estimated, "unknown", rows[i].pair.unknown));
	return shared;
}

json_t *report_models_json(const struct session *s, const struct report_models *r)
{
	struct arena a = { 0 };
	char words[SCENARIO_TEXT_SIZE];
	json_t *models = json_array();
	int layers = 0;
	for (int i = 0; i < r->sharing->model_count; i++) {
		const struct shared_model *m = &r->sharing->models[i];
		layers += m->layer_count;
		json_array_append_new(models, json_pack("{s:o, s:O, s:i, s:i, s:o, s:b, s:i}", "path",
			json_text(text_of(r->paths[i])), "dims", r->bound[i], "layers", m->layer_count,
			"distinct", m->use_count, "cost_ns", json_number_or_null(m->ns), "estimated",
			m->estimated > 0, "unknown", m->unknown));
	}
	json_t *o = json_pack("{s:s?, s:{s:o, s:s, s:o}, s:i, s:i, s:o, s:o, s:[o, o]}", "device",
		session_device(s)->name, "scenario", "batch", r->batch ? json_integer(r->batch) : json_null(),
		"dtype", r->type, "what_if",
		report_json_names(scenario_text(session_scenario(s), words, sizeof(words))), "layers", layers,
		"distinct", r->sharing->problem_count, "models", models, "shared", pairs_json(r, &a), "cover",
		cover_json(r, false, &a), cover_json(r, true, &a));
	arena_free(&a);
	return o;
}
