/* The table of further columns, with a text and a number for each layer. */
#include "config.h"

#include "ui/views/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct column {
	const char *name;
	int width;
	double (*number)(struct app *app, int layer);
	const char *(*text)(struct app *app, int layer);
	const char *help;
};

/* ---- the columns that are no what-ifs */

static struct limit limit_at(const struct app *app, int layer)
{
	const struct layer_cost *c = session_analysis(app->session) ? app_cost(app, layer) : NULL;
	return c ? session_limit(app->session, c, app_problem(app, layer))
		 : (struct limit){ .by = LIMIT_UNKNOWN, .share = NAN };
}

static const char *bound_text(struct app *app, int layer)
{
	struct limit l = limit_at(app, layer);
	return l.by == LIMIT_UNKNOWN ? "-" : limit_name(l.by);
}

static double peak_number(struct app *app, int layer)
{
	struct limit l = limit_at(app, layer);
	return l.by == LIMIT_COMPUTE || l.by == LIMIT_MEMORY ? l.share : NAN;
}

static const char *peak_text(struct app *app, int layer)
{
	struct limit l = limit_at(app, layer);
	if (isnan(peak_number(app, layer)))
		return "-";
	return arena_printf(&app->scratch, "%s%.0f%%%s", l.is_estimate ? "~" : "", 100 * l.share,
		limit_is_over(&l) ? "?" : "");
}

static const char *work_mark(const struct app *app, int layer)
{
	const struct plan_layer *l = app_layer(app, layer);
	return l->upto || l->at_least ? "~" : "";
}

static double flops_number(struct app *app, int layer)
{
	return app_layer(app, layer)->flops;
}

static const char *flops_text(struct app *app, int layer)
{
	char number[STR_QUANTITY];
	return arena_printf(&app->scratch, "%s%s", work_mark(app, layer),
		str_count(number, app_layer(app, layer)->flops));
}

static double bytes_number(struct app *app, int layer)
{
	return app_layer(app, layer)->bytes;
}

static const char *bytes_text(struct app *app, int layer)
{
	char number[STR_QUANTITY];
	return arena_printf(&app->scratch, "%s%s", work_mark(app, layer),
		str_bytes(number, app_layer(app, layer)->bytes));
}

static const char *algorithm_text(struct app *app, int layer)
{
	const struct layer_cost *c = app_cost(app, layer);
	return c && c->result ? app_clean(app, text_of(c->result->algorithm.name)) : "-";
}

/* What the fastest algorithm saves against the library's first choice. */
static double preferred_number(struct app *app, int layer)
{
	const struct layer_cost *c = app_cost(app, layer);
	return c && c->result ? c->preferred_ns - c->ns : NAN;
}

static const char *saving(struct app *app, double ns, bool guess)
{
	char number[STR_QUANTITY];
	return isnan(ns) ? "-" : ns == 0 ? "0"
		: arena_printf(&app->scratch, "%s%s%s", guess ? "~" : "", ns > 0 ? "-" : "+",
			str_duration(number, fabs(ns)));
}

static const char *preferred_text(struct app *app, int layer)
{
	const struct layer_cost *c = app_cost(app, layer);
	return saving(app, preferred_number(app, layer), c && app_is_guess(c));
}

static const struct column columns[] = {
	{ "bound", 8, NULL, bound_text, "what limits the layer: compute, memory or overhead" },
	{ "peak", 5, peak_number, peak_text, "its share of the limiting peak" },
	{ "algo", 18, NULL, algorithm_text, "the algorithm that its cost is of" },
	{ "flops", 7, flops_number, flops_text, "FLOPs of one run" },
	{ "bytes", 8, bytes_number, bytes_text, "compulsory bytes of one run" },
	{ "preferred", 9, preferred_number, preferred_text,
		"saving (-) of the fastest algorithm against the library's first choice" },
};
#define FIXED ((int)(sizeof(columns) / sizeof(*columns)))

/* ---- the what-ifs: their columns have their names */

static const struct what_if *what_if_of(int column)
{
	int count;
	return column < FIXED ? NULL : &what_if_table(&count)[column - FIXED];
}

int column_count(void)
{
	int count;
	what_if_table(&count);
	return FIXED + count < COLUMNS_MAX ? FIXED + count : COLUMNS_MAX;
}

const char *column_name(int column)
{
	return column < FIXED ? columns[column].name : what_if_of(column)->name;
}

int column_width(int column)
{
	return column < FIXED ? columns[column].width : 9;
}

const char *column_help(int column)
{
	return column < FIXED    ? columns[column].help
		: column < column_count() ? "saving (-) or loss (+) by this what-if on the layer"
					  : NULL;
}

/* Cost of the layers that a layer's cost stands for on the side `of`: its own, or its group's on the side
 * where that is fused. */
static double cost_of_group(const struct analysis *a, int layer, const struct fusion_group *group)
{
	double ns = 0;
	if (!group)
		return a->layers[layer].ns;
	for (int i = 0; i < group->layer_count; i++)
		ns += a->layers[group->layers[i]].ns;
	return ns;
}

static bool is_available(const struct session *s, const struct what_if *row)
{
	const struct what_if_effect *e = session_effect(s, row);
	return e && e->available;
}

static void gain_make(struct app *app, struct column_gain *g, const struct what_if *row)
{
	struct session *s = app->session;
	struct arena arenas[2] = { { 0 }, { 0 } };
	struct ground ground = session_ground(s);
	const struct analysis *side[2]; /* off, on */
	int choice = row->get(session_scenario(s));
	bool available = is_available(s, row);
	for (int on = 0; on < 2; on++) {
		struct scenario other = *session_scenario(s);
		row->set(&other, on ? (choice ? choice : 1) : 0);
		side[on] = (choice != 0) == on ? session_analysis(s) : analyze(&arenas[on], &ground, &other);
	}
	g->count = session_analysis(s)->layer_count;
	g->ns = base_realloc(g->ns, ((size_t)g->count + 1) * sizeof(*g->ns));
	g->guess = base_realloc(g->guess, (size_t)g->count + 1);
	for (int i = 0; i < g->count; i++) {
		const struct layer_cost *on = &side[1]->layers[i], *off = &side[0]->layers[i];
		bool inside = on->group && on->group->layers[0] != i;
		g->ns[i] = inside || !available ? NAN : cost_of_group(side[0], i, on->group) - on->ns;
		g->guess[i] = app_is_guess(on) || app_is_guess(off);
	}
	arena_free(&arenas[0]);
	arena_free(&arenas[1]);
}

/* NULL while there is no analysis. */
static struct column_gain *gain_of(struct app *app, struct columns_chosen *c, int column)
{
	struct column_gain *g = &c->gains[column];
	if (!session_analysis(app->session))
		return NULL;
	if (g->at != app->analyses) {
		gain_make(app, g, what_if_of(column));
		g->sums_at = 0;
	}
	g->at = app->analyses;
	return g;
}

static double number_of(struct app *app, struct columns_chosen *c, int column, int layer)
{
	if (column < FIXED)
		return columns[column].number ? columns[column].number(app, layer) : NAN;
	const struct column_gain *g = gain_of(app, c, column);
	return g && layer < g->count ? g->ns[layer] : NAN;
}

const char *column_text(struct app *app, struct columns_chosen *c, int column, int layer, enum style *style)
{
	const char *text = column < FIXED ? columns[column].text(app, layer)
		: saving(app, number_of(app, c, column, layer),
			layer < c->gains[column].count && c->gains[column].guess[layer]);
	*style = strcmp(text, "-") == 0 || strcmp(text, "0") == 0 ? STYLE_DIM : STYLE_NORMAL;
	return text;
}

/* Sums over the layers of each closed scope, once per generation. A sum is a guess if one of its layers has
 * no cost. */
static void sums_make(struct app *app, struct column_gain *g)
{
	size_t scopes = (size_t)app->scopes.count + 1;
	g->sums_at = app->generation;
	g->sums = base_realloc(g->sums, scopes * sizeof(*g->sums));
	g->sum_guess = base_realloc(g->sum_guess, scopes);
	for (size_t i = 0; i < scopes; i++) {
		g->sums[i] = 0;
		g->sum_guess[i] = false;
	}
	for (int row = 0; row < app->listed_count; row++) {
		int layer = app->listed[row], scope = scope_closed_around(app, layer);
		if (scope < 0 || layer >= g->count)
			continue;
		bool known = !isnan(g->ns[layer]);
		g->sums[scope] += known ? g->ns[layer] : 0;
		g->sum_guess[scope] |= g->guess[layer] || (!known && isnan(app_cost_all(app, layer)));
	}
}

static double scope_sum(struct app *app, struct columns_chosen *c, int column, int scope, bool *guess)
{
	struct column_gain *g = gain_of(app, c, column);
	if (!g)
		return NAN;
	if (g->sums_at != app->generation)
		sums_make(app, g);
	*guess = g->sum_guess[scope];
	return g->sums[scope];
}

const char *column_scope_text(struct app *app, struct columns_chosen *c, int column, int scope)
{
	bool guess = false;
	if (column < FIXED)
		return "";
	double sum = scope_sum(app, c, column, scope, &guess);
	return saving(app, sum == 0 && guess ? NAN : sum, guess);
}

bool column_number(struct app *app, struct columns_chosen *c, int column, int layer, double *number)
{
	bool guess = false;
	int scope = column < FIXED ? -1 : scope_shown_at(app, layer);
	if (column < FIXED && !columns[column].number)
		return false;
	*number = scope >= 0 ? scope_sum(app, c, column, scope, &guess) : number_of(app, c, column, layer);
	return true;
}

int column_compare(struct app *app, int column, int a, int b)
{
	const char *x = columns[column].text(app, a), *y = columns[column].text(app, b);
	bool unknown_x = strcmp(x, "-") == 0, unknown_y = strcmp(y, "-") == 0;
	return unknown_x || unknown_y ? unknown_x - unknown_y : strcmp(x, y);
}

/* ---- which are shown */

static const char *const sets[] = { NULL, "bound,peak,preferred", "flops,bytes,algo",
	"fusion,algorithm,launch,matrix", "none" };
#define SET_COUNT ((int)(sizeof(sets) / sizeof(*sets)))
#define SET_GAINS 3

static int column_find(struct text name)
{
	for (int i = 0; i < column_count(); i++)
		if (text_is(name, column_name(i)))
			return i;
	return -1;
}

/* The next name of a list: commas and blanks separate. */
static struct text name_next(const char **list)
{
	*list += strspn(*list, ", ");
	struct text name = { *list, strcspn(*list, ", ") };
	*list += name.n;
	return name;
}

/* The words of the set in use; NULL: automatic. */
static const char *set_words(const struct app *app, const struct columns_chosen *c)
{
	const struct config *config = session_config(app->session);
	return c->set ? sets[c->set] : config && config->columns ? config->columns : NULL;
}

bool column_is_shown(const struct columns_chosen *c, int column)
{
	for (int i = 0; i < c->shown_count; i++)
		if (c->shown[i] == column)
			return true;
	return false;
}

/* What is shown where there is room: nothing of which nothing is known. */
static const char *automatic(const struct app *app)
{
	bool peaks = peaks_known(session_peaks(app->session)), algorithms = !session_described(app->session);
	return peaks ? (algorithms ? "bound peak algo flops bytes" : "bound peak flops bytes")
		     : (algorithms ? "algo flops bytes" : "flops bytes");
}

int columns_fit(const struct app *app, struct columns_chosen *c, int room, int most)
{
	const char *list = set_words(app, c), *first = c->first ? column_name(c->first - 1) : "";
	int left = list ? most : room, used = 0;
	list = list ? list : automatic(app);
	c->shown_count = 0;
	for (struct text name; (name = name_next(*first ? &first : &list)).n;) {
		int column = column_find(name), width = column >= 0 ? column_width(column) + 1 : 0;
		if (column < 0 || column_is_shown(c, column) || c->shown_count == COLUMNS_SHOWN_MAX)
			continue;
		if (used + width > left)
			break;
		used += width;
		c->shown[c->shown_count++] = column;
	}
	return used;
}

void columns_show_gain(struct columns_chosen *c, int what_if)
{
	c->set = SET_GAINS;
	c->first = 1 + FIXED + what_if;
}

const char *columns_next(struct app *app, struct columns_chosen *c)
{
	c->first = 0;
	c->set = (c->set + 1) % SET_COUNT;
	const char *words = set_words(app, c);
	return words ? words : "as many as fit";
}

const char *columns_words(const struct columns_chosen *c)
{
	return sets[c->set];
}

void columns_choose(struct columns_chosen *c, const char *words)
{
	for (int i = 1; i < SET_COUNT; i++)
		if (strcmp(sets[i], words) == 0)
			c->set = i;
}

void columns_free(struct columns_chosen *c)
{
	for (int i = 0; i < COLUMNS_MAX; i++) {
		free(c->gains[i].ns);
		free(c->gains[i].guess);
		free(c->gains[i].sums);
		free(c->gains[i].sum_guess);
	}
}

int columns_check(const struct config *config, struct error *err)
{
	const char *list = config && config->columns ? config->columns : "";
	struct str names = { 0 };
	bool *seen = base_calloc((size_t)column_count(), sizeof(bool)), bad = false;
	for (struct text name; !bad && (name = name_next(&list)).n;) {
		int column = column_find(name);
		bool twice = column >= 0 && seen[column];
		bad = twice || (column < 0 && !text_is(name, "none"));
		if (column >= 0)
			seen[column] = true;
		for (int i = 0; bad && i < column_count(); i++)
			str_addf(&names, "%s%s", i ? ", " : "", column_name(i));
		struct arena a = { 0 };
		const char *place = config_place(config, "columns", &a);
		if (twice)
			error_set(err, "%s: %.*s is given twice", place ? place : "columns", (int)name.n,
				name.p);
		else if (bad)
			error_set(err, "%s: unknown column \"%.*s\"; the columns are %s or none",
				place ? place : "columns", (int)name.n, name.p, names.p);
		str_free(&names);
		arena_free(&a);
	}
	free(seen);
	return bad ? -1 : 0;
}
