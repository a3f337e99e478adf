/* The tables of what models share: the models, their pairs, and the few that cover most. */
#include "config.h"

#include "table/tables/models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS_SHOWN 20

static const struct table_column model_columns[] = {
	{ "number", "#", TABLE_INDEX, IN_SHOWN },
	{ "path", "", TABLE_NAME, IN_JSON },
	{ "dims", "", TABLE_JSON, IN_JSON },
	{ "layers", "layers", TABLE_INDEX, IN_SHOWN | IN_JSON },
	{ "distinct", "distinct", TABLE_INDEX, IN_SHOWN | IN_JSON },
	{ "share", "of them", TABLE_SHARE, IN_SHOWN },
	{ "cost_ns", "time", TABLE_NS, IN_SHOWN | IN_JSON | IN_ALWAYS },
	{ "estimated", "", TABLE_BOOL, IN_JSON },
	{ "unknown", "", TABLE_INDEX, IN_JSON },
	{ "model", "model", TABLE_NAME, IN_SHOWN },
};
static const struct table_column pair_columns[] = {
	{ "a", "", TABLE_NAME, IN_JSON },
	{ "b", "", TABLE_NAME, IN_JSON },
	{ "index", "", TABLE_JSON, IN_JSON },
	{ "jaccard", "Jaccard", TABLE_NUMBER, IN_SHOWN },
	{ "time_share", "by time", TABLE_NUMBER, IN_SHOWN },
	{ "common", "common", TABLE_INDEX, IN_SHOWN | IN_JSON },
	{ "jaccard", "", TABLE_NUMBER, IN_JSON },
	{ "time_share", "", TABLE_NUMBER, IN_JSON },
	{ "estimated", "", TABLE_BOOL, IN_JSON },
	{ "unknown", "", TABLE_INDEX, IN_JSON },
	{ "first", "models", TABLE_NAME, IN_SHOWN },
	{ "second", "", TABLE_NAME, IN_SHOWN },
};
static const struct table_column cover_columns[] = {
	{ "model", "", TABLE_INDEX, IN_JSON },
	{ "path", "", TABLE_NAME, IN_JSON },
	{ "covered", "", TABLE_JSON, IN_JSON }, /* always with a point: 1.0 */
	{ "share", "", TABLE_SHARE, IN_SHOWN },
	{ "name", "", TABLE_NAME, IN_SHOWN },
};

static const char *name_of(struct table *t, const char *path)
{
	const char *slash = strrchr(path, '/');
	return text_clean(&t->arena, text_of(slash && slash[1] ? slash + 1 : path));
}

/* Up to the time. */
static void counts_fill(struct table *t, int layers, int distinct, double ns, bool estimated, int unknown)
{
	table_number(t, layers, "");
	table_number(t, distinct, "");
	table_number(t, layers ? (double)distinct / layers : 0, "");
	table_number(t, ns, unknown ? estimated ? ">=~" : ">=" : estimated ? "~" : "");
	table_number(t, estimated, "");
	table_number(t, unknown, "");
}

int models_table(struct table *t, const struct report_models *r, bool total)
{
	const struct sharing *s = r->sharing;
	int layers = 0, estimated = 0, unknown = 0;
	double ns = NAN;
	TABLE_COLUMNS(t, model_columns);
	for (int i = 0; i < s->model_count; i++) {
		const struct shared_model *m = &s->models[i];
		layers += m->layer_count;
		estimated += m->estimated;
		unknown += m->unknown;
		ns = isnan(m->ns) ? ns : (isnan(ns) ? 0 : ns) + m->ns;
		table_row(t, 0, 0);
		table_number(t, i + 1, "");
		table_text(t, r->paths[i]);
		table_json(t, json_incref(r->bound[i]));
		counts_fill(t, m->layer_count, m->use_count, m->ns, m->estimated > 0, m->unknown);
		table_text(t, name_of(t, r->paths[i]));
		if (*r->dims[i])
			table_note(t, "%3d dimensions: %s", i + 1, r->dims[i]);
	}
	if (!total)
		return layers;
	table_row(t, 0, 0);
	table_shown(t, NAN, "all");
	table_skip(t, 2);
	counts_fill(t, layers, s->problem_count, ns, estimated > 0, unknown);
	table_text(t, "(layers with a problem)");
	if (unknown)
		table_note(t, "  (>=: %d layer times are unknown)", unknown);
	if (estimated)
		table_note(t, "  (~: %d layer times are estimates)", estimated);
	return layers;
}

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

static void share_fill(struct table *t, double share, const char *mark)
{
	table_shown(t, share, isnan(share) ? NULL : arena_printf(&t->arena, "%s%.3f", mark, share));
}

static void pair_fill(struct table *t, const struct report_models *r, const struct pair_row *p)
{
	table_row(t, 0, 0);
	table_text(t, r->paths[p->a]);
	table_text(t, r->paths[p->b]);
	table_json(t, json_pack("[i, i]", p->a, p->b));
	share_fill(t, p->pair.jaccard, "");
	share_fill(t, p->pair.time_share, p->pair.estimated || p->pair.unknown ? "~" : "");
	table_number(t, p->pair.common, "");
	table_number(t, p->pair.jaccard, "");
	table_number(t, p->pair.time_share, "");
	table_number(t, p->pair.estimated, "");
	table_number(t, p->pair.unknown, "");
	table_text(t, name_of(t, r->paths[p->a]));
	table_text(t, name_of(t, r->paths[p->b]));
}

void pairs_table(struct table *t, const struct report_models *r, bool most)
{
	int count, shown = 0, rest = 0;
	struct pair_row *rows = pairs_of(r->sharing, &t->arena, &count);
	TABLE_COLUMNS(t, pair_columns);
	if (most && count)
		qsort(rows, (size_t)count, sizeof(*rows), pair_compare);
	for (; shown < count && (!most || (shown < PAIRS_SHOWN && rows[shown].pair.common)); shown++)
		pair_fill(t, r, &rows[shown]);
	for (int i = shown; i < count; i++)
		rest += rows[i].pair.common > 0;
	if (rest)
		table_note(t, "  ... %d other pairs share less; --json lists all", rest);
	if (count - shown - rest)
		table_note(t, "  %d pair%s nothing", count - shown - rest,
			count - shown - rest == 1 ? " shares" : "s share");
}

void cover_table(struct table *t, const struct report_models *r, bool by_time)
{
	int count, all = r->sharing->model_count;
	struct shared_step *steps = sharing_cover(r->sharing, &t->arena, by_time, COVER_SHARE, &count);
	const char *many = count == all ? "all" : arena_printf(&t->arena, "%d of", count);
	t->title = arena_printf(&t->arena, "%s %d models %s %.0f%% of %s (greedy choice)", many, all,
		count == all ? "are needed for" : count == 1 ? "covers" : "cover", 100 * COVER_SHARE,
		by_time ? "the known time" : "all distinct layers");
	TABLE_COLUMNS(t, cover_columns);
	for (int i = 0; i < count; i++) {
		table_row(t, 0, 0);
		table_number(t, steps[i].model, "");
		table_text(t, r->paths[steps[i].model]);
		table_json(t, json_real(steps[i].share));
		table_number(t, steps[i].share, "");
		table_text(t, name_of(t, r->paths[steps[i].model]));
	}
}
