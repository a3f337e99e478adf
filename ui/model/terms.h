/* What a search or filter asks of a row: words that its text contains, and terms about its layer or problem
 * ("cost>1ms", "state:noisy"). All must hold; `!` before one negates it. */
#ifndef UI_MODEL_TERMS_H
#define UI_MODEL_TERMS_H

#include "ui/model/app.h"

/* What a row is about. */
struct subject {
	int layer;            /* or -1 */
	const char *problem;  /* NULL: none */
	bool is_problem;      /* the row is the problem; else the layer, and problem is what it runs */
	double ns;            /* its cost; NaN unknown */
	int uses;             /* times that this cost is in the model */
};

struct term_key;

struct term {
	const struct term_key *key; /* NULL: a word that the row's text contains */
	char compare;         /* ':' '=' '<' '>', and 'l' for <=, 'g' for >= */
	bool negated;
	struct text value;    /* the word, or what stands behind the comparison */
	double number;        /* value as a number, in ns, bytes, FLOPs or a fraction */
};

#define TERMS_MAX 64

struct terms {
	int count;
	size_t end;           /* bytes of the text that were understood: less than all with an error */
	struct term term[TERMS_MAX];
};

/* Splits a text at blanks; a blank inside "double quotes" does not split. The terms borrow the text. Returns
 * -1 with a one-line error for a term that means nothing. only_words: of rows without a subject. */
int terms_parse(struct terms *out, const char *text, bool only_words, struct error *err);
/* True if the term, which has a key, holds. A term about something unknown does not hold, negated or not. */
bool term_holds(struct app *app, const struct term *t, const struct subject *of);

/* ---- words of the term is:, which the jumps use too */

enum kind { KIND_CRITICAL, KIND_UNMEASURED, KIND_NOISY, KIND_SAME, KIND_CONTRADICTED, KIND_MARKED,
	KIND_COUNT };
/* For messages: "critical layer". */
const char *term_kind_text(int kind);
bool term_kind_holds(struct app *app, int kind, const struct subject *of);

/* The layer as a subject. */
struct subject subject_of_layer(const struct app *app, int layer);

/* Lines of help: "cost>1ms cost<50us", and what it means. NULL beyond the last. */
const char *term_help(int line, const char **text);
/* The section of the manual page, in man macros. */
void terms_print_man(struct str *out);

#endif
