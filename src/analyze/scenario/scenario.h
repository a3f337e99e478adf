/* A scenario: the set of what-ifs that are on. Passed by value or pointer, never global. Batch and data type
 * select the plan instead. */
#ifndef ANALYZE_SCENARIO_H
#define ANALYZE_SCENARIO_H

#include "base/error.h"
#include "base/word.h"
#include "problem/dtype.h"
#include "problem/result.h"

/* Which independent layers run at the same time. The first value is off, the second what "on" means. */
enum parallel {
	PARALLEL_OFF,         /* none: the sum of all layers */
	PARALLEL_RESOURCES,   /* as many as memory, caches and units allow at their peaks: the longest path,
				 or the time of the busiest resource, whichever is longer */
	PARALLEL_PATH,        /* any number: the longest path */
	PARALLEL_MEASURED     /* branches whose problems were measured side by side, where that is faster */
};

/* Which groups of layers may be fused, and the level of a group: the lowest that allows it. The first value
 * is off, the second what "on" means; the others are steps to it, each with all groups of the one before. */
enum fusion_level {
	FUSION_OFF,
	FUSION_ALL,      /* also chains of pointwise layers */
	FUSION_EPILOGUE, /* a product with its bias, scale and activation */
	FUSION_FOLD,     /* also batch normalizations, factors and sums behind it */
	FUSION_PATTERN,  /* also what exporters take apart (attention, rotary embeddings, normalizations,
			    activations, also gated ones), transposed operands, matmuls of one value as one */
};
#define FUSION_LEVELS (FUSION_PATTERN + 1)
/* True if groups of that level may be fused where `chosen` is the choice. */
bool fusion_allows(enum fusion_level chosen, enum fusion_level group);

/* In which layout each layer's tensors are. The first value is off, the second what "on" means. */
enum layouts {
	LAYOUTS_FREE,         /* as the library chooses or as in ONNX; of the conversions only those at layers
				 whose algorithms are all channels last are counted */
	LAYOUTS_NXC,          /* channels last throughout, with the conversions at its borders */
	LAYOUTS_PRICED,       /* each layer its own: the cheapest sum of layers and conversions */
};

/* The cache state whose results count. The first value is off, the second what "on" means. */
enum cache_choice {
	CACHE_CHOICE_AUTO,    /* the model's own state (ground_cache) */
	CACHE_CHOICE_WARM,
	CACHE_CHOICE_NET,
	CACHE_CHOICE_COLD
};

#define SCENARIO_NAME_MAX 64

struct scenario {
	enum parallel parallel;
	enum fusion_level fusion; /* which groups may be replaced by their measured fused problem */
	bool matrix;          /* algorithms on matrix units are allowed (also if their use is unknown) */
	bool best;            /* the fastest algorithm; off: the library's preferred one */
	bool amortized;       /* launch amortized; off: isolated */
	bool relaxed;         /* math relaxed: algorithms that round operands to lower precision (tf32 ...)
				 are allowed */
	enum layouts layouts;
	bool limited;         /* only algorithms whose workspace is known and not above workspace_bytes */
	double workspace_bytes; /* 0 unless limited */
	bool deterministic;   /* only algorithms without the note "nondeterministic" */
	char libraries[SCENARIO_NAME_MAX]; /* only algorithms of these, "onednn+plain"; "": all */
	char algorithm[SCENARIO_NAME_MAX]; /* best: layers that have an algorithm of this name (wildcards) use
				 the fastest such; "": none is preferred */
	enum cache_choice cache;
	bool huge_pages;      /* operands in pages of 2 MiB; off: those that the system gives unasked */
	bool fold;            /* layers that graph optimizers remove cost nothing (plan_layer_folds) */
	bool pad;             /* convolutions and matmuls may run with channels padded to a multiple of 8 */
	bool assume;          /* assumed costs of layers (ground.assumed) count */
	bool floors;          /* an estimate counts with its floor (analyze/roof/calibration.h): for the lower
				 bound; no what-if */
};

/* True if the total is that of a schedule in which each layer begins as soon as it can. */
static inline bool scenario_has_path(const struct scenario *s)
{
	return s->parallel == PARALLEL_RESOURCES || s->parallel == PARALLEL_PATH;
}
/* Algorithm best, launch amortized; parallel, fusion, matrix, math and layout off. */
struct scenario scenario_default(void);
/* True if the two have the same analysis. False also if only their padding differs, which copies do not do.
 * What is kept between analyses (study/prices.c, bound/effects.c) relies on it: a text in a scenario is
 * an array with zeros behind its end, and what a field points to must be compared here. */
bool scenario_equal(const struct scenario *x, const struct scenario *y);

/* What a what-if changes; its effect is computed accordingly. */
enum what_if_stage {
	STAGE_PLAN,           /* the problems: layouts, conversions */
	STAGE_RESULTS,        /* which results may be used, and groups */
	STAGE_TOTAL,          /* the total only */
};

/* When a what-if has a place in the status line; those of SHOW_ON are in the bound's table only if they are
 * available. The what-if view and JSON have all. */
enum what_if_show {
	SHOW_ALWAYS,
	SHOW_KNOWN,           /* on, or its effect is known */
	SHOW_ON               /* on */
};

/* Whether a scenario excludes a result. */
enum barred {
	BAR_NONE,
	BAR_UNKNOWN,          /* on a device with matrix units: the algorithm may use them, that is unknown */
	BAR_YES
};

/* A row of the what-if table, from which help, --what-if, the status line and the man page are generated. */
struct what_if {
	const char *name;     /* "parallel" */
	char key;             /* 'p' */
	const char *label;    /* short, for the status line */
	const char *text;     /* one line of help */
	enum what_if_stage stage;
	/* The words of its choices for --what-if name=WORD, up to a NULL: that of off, that of on, then
	 * others ("off", "resources", "path"). */
	const char *choices[6];
	int (*get)(const struct scenario *s); /* the choice: an index; 0: off, what_if_choices: a value */
	void (*set)(struct scenario *s, int choice); /* a choice that has a word */
	enum what_if_show show;
	const char *value;    /* what its free value is, besides the choices: "BYTES"; NULL: it has none */
	const char *example;  /* of such a value: "512M" */
	/* Sets the free value; -1: the word is not a value. */
	int (*take)(struct scenario *s, struct text word);
	void (*say)(const struct scenario *s, char *buf, size_t size); /* the word of the free value */
	const char *detail;   /* what its choice "on" is: "multiples of 8"; NULL: nothing more to say */
	const char *absent;   /* why it is not available for a model and device */
	/* Of a row that excludes results: whether the choice in use excludes one, and the reason for a
	 * problem that has no others. No free value excludes more than the choices with a word do, if there
	 * are several. */
	enum barred (*bars)(const struct scenario *s, const struct result *r);
	const char *barred;
	bool estimates;       /* ... whose choice also changes estimates */
	/* The row is available if a measured result differs so from the first one; NULL: if a choice with a
	 * word excludes one. Rows without `bars` and `differs`: always, or as effects.c says. */
	bool (*differs)(const struct result *first, const struct result *r);
};
#define WHAT_IFS_MAX 64 /* most rows: sets of them are bits */
const struct what_if *what_if_table(int *count); /* static storage */
const struct what_if *what_if_named(struct text name); /* or NULL */
/* Tries the names of all what-ifs for a misspelt one. */
void what_if_try(struct word_nearest *near);
#define WHAT_IF_WORD_SIZE 64
/* The word of the choice in use: "path", "64M"; as much as fits in buf, which it returns. */
char *what_if_word(const struct what_if *w, const struct scenario *s, char *buf, size_t size);
/* What is compared with off where a saving is shown: "cache=warm", "pad=on (multiples of 8)"; "" if the name
 * says it, or the choice in use does. */
char *what_if_tried(const struct what_if *w, const struct scenario *s, char *buf, size_t size);
/* Why switching it has no total: it is not available, or it only has a free value. "": it has one. */
#define WHAT_IF_WHY_SIZE 128
char *what_if_why(const struct what_if *w, bool available, bool on, char *buf, size_t size);
int what_if_choices(const struct what_if *w); /* number of choices with a word; 2 or more, or 1 and a value */
/* Applies "fusion,matrix=off,parallel=path" to s; a bare name switches on. On error (-1) s is
 * unchanged; the error lists the names. */
int scenario_parse(struct scenario *s, const char *list, struct error *err);
#define SCENARIO_TEXT_SIZE 512 /* has room for every scenario */
/* Comma-separated names of the what-ifs that are on ("parallel", "parallel=path"), into buf; only whole names
 * that fit. */
char *scenario_text(const struct scenario *s, char *buf, size_t size);

#endif
