/* Further columns of the layers view: what limits a layer, its work, its algorithm, and what each what-if
 * saves on it. The user chooses them (configuration `columns`, key |); else as many as fit. */
#ifndef UI_VIEWS_COLUMNS_H
#define UI_VIEWS_COLUMNS_H

#include "ui/model/app.h"

#define COLUMNS_MAX 24      /* of all kinds */
#define COLUMNS_SHOWN_MAX 8

/* Savings of a what-if by layer. */
struct column_gain {
	uint64_t at;            /* app->analyses of the values; 0: none */
	double *ns;             /* per layer of the model's own graph; NaN unknown, or in another's */
	bool *guess;            /* one of both costs is a proxy or an estimate */
	int count;
	uint64_t sums_at;       /* app->generation of the sums of closed scopes */
	double *sums;
	bool *sum_guess;
};

/* All zero: automatic, nothing computed. */
struct columns_chosen {
	int set;                /* 0: automatic or, if there is one, the configuration's */
	int first;              /* 1 + the column that comes before those of the set; 0: none */
	int shown_count, shown[COLUMNS_SHOWN_MAX]; /* set by columns_fit */
	struct column_gain gains[COLUMNS_MAX];
};

int column_count(void);                 /* columns are numbered from 0 */
const char *column_name(int column);    /* "bound", "fusion" */
int column_width(int column);           /* without the blank after it */
const char *column_help(int column);    /* NULL beyond the last */
const char *column_text(
	struct app *app, struct columns_chosen *c, int column, int layer, enum style *style);
/* The same of a closed scope: the sum of a what-if's savings; "" for other columns. */
const char *column_scope_text(struct app *app, struct columns_chosen *c, int column, int scope);
/* The number that a layer's row, which may show a closed scope, is sorted by. False: it is sorted by text. */
bool column_number(struct app *app, struct columns_chosen *c, int column, int layer, double *number);
/* Of the rows of two layers: texts by the alphabet, unknown last. */
int column_compare(struct app *app, int column, int a, int b);

/* Chooses columns for `room` columns that the names do not need; chosen ones get `most`. Returns their width
 * with blanks. */
int columns_fit(const struct app *app, struct columns_chosen *c, int room, int most);
bool column_is_shown(const struct columns_chosen *c, int column);
/* Shows what a what-if saves, by its row of what_if_table, before the other what-ifs. */
void columns_show_gain(struct columns_chosen *c, int what_if);
/* The next set. Returns its words: "bound, peak, algo". */
const char *columns_next(struct app *app, struct columns_chosen *c);
/* The words of the set chosen by key, to keep them; NULL: none was. columns_choose: the set with these words,
 * if there is one. */
const char *columns_words(const struct columns_chosen *c);
void columns_choose(struct columns_chosen *c, const char *words);
void columns_free(struct columns_chosen *c);

/* Checks the configuration's list: -1 with an error that names the columns. */
int columns_check(const struct config *c, struct error *err);

#endif
