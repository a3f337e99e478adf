/* What charts share: the signs of costs, the text of the selected layer, lines of text below a chart. */
#ifndef UI_VIEWS_CHART_H
#define UI_VIEWS_CHART_H

#include "ui/model/app.h"

/* A cost in eighths of the highest one: 1 (any cost above 0) to CHART_LEVELS; 0: no cost. CHART_UNKNOWN: not
 * known (NaN). */
#define CHART_LEVELS 8
#define CHART_UNKNOWN (-1)
int chart_level(double ns, double most_ns);
/* The sign of a level: a block of `level` eighths, in ASCII a digit; a dot for no cost; '?' for unknown. */
uint32_t chart_sign(struct area a, int level);
/* One colour up to level 1, one up to CHART_HEAT_MIDDLE, one beyond. */
#define CHART_HEAT_MIDDLE 4
enum style chart_heat(int level);

/* The layer of the model's own graph that contains a layer; of a fused layer the first one of its group. -1
 * stays -1. */
int chart_outermost(const struct app *app, int layer);
int chart_anchor(const struct app *app, int layer);
/* "layer1.0.conv2  Conv  x6": short name, operator, number of layers with the same problem. */
const char *chart_name(struct app *app, int layer);
/* "1.29 ms  12.3%": the cost in the model and its share of the sum of all costs, marked `~` (a guess) or `!`
 * (suspect); without a cost the reason: "fused into conv1", "free", "not measured: b measures". */
const char *chart_cost(struct app *app, int layer);

/* A legend in a line: signs, and what they stand for. Entries without room are left out, the last ones first.
 * */
struct chart_key {
	enum style style;
	const char *sign, *text;
};
void chart_keys(struct area line, const struct chart_key *keys, int count);

/* Columns x to end - 1 stand for a layer. */
struct chart_span {
	int x, end, layer;
};
/* A ruler above such columns, in ascending order: where layers that follow one another are in a scope, its
 * name and a line as long as they go on; elsewhere the names of the first and the last layer. */
void chart_scopes(struct app *app, struct area line, const struct chart_span *spans, int count);
/* A layer's name below that ruler: without its scope. */
const char *chart_leaf(struct app *app, int layer);

struct chart_line {
	const char *text; /* NULL or "": none */
	enum style style;
};
/* Lines at the bottom of an area, broken at blanks: at most a third of it (at least one row). Each gets one
 * row before another gets its second; the last ones are left out first. chart_above returns the area above
 * them, chart_below the one that is left for them, chart_foot draws them there (at most 8). */
struct area chart_above(struct area a, const struct chart_line *lines, int count);
struct area chart_below(struct area a, struct area above);
void chart_foot(struct area a, const struct chart_line *lines, int count);

#endif
