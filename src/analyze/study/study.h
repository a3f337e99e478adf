/* The part of an analysis that is the same in all scenarios of one layout: the results of each problem,
 * the groups, and the graph. */
#ifndef ANALYZE_STUDY_STUDY_H
#define ANALYZE_STUDY_STUDY_H

#include "analyze/roof/roof.h"
#include "analyze/study/ground.h"

/* What-ifs for a part of the model (advice.c). */
struct limits {
	const bool *group; /* per group: it may be fused */
	const bool *best;  /* per distinct problem: the fastest algorithm, even if the scenario says
			      preferred */
};

/* Clusters that are chains: each unit is a single layer and reads the unit before it (choose_chain.c). */
struct chains {
	int *begin;             /* per cluster, and at the end: its first unit; a tree has none here */
	int *node;              /* per unit */
	int *ending;            /* per unit: the groups that end with it, from this place of fusion.endings */
	uint8_t *ending_count;  /* ... and their number */
	uint8_t *paying;        /* per place: the layers of the group that are not free */
};

/* What the results of a study have for the what-ifs: a bit for each row of the table. */
struct marks {
	uint64_t barred;        /* a choice with a word excludes a result, or may */
	uint64_t offered;       /* one of status ok and not quick is excluded, or differs from `first` */
	struct result *first;   /* a copy; NULL: none */
	bool in_place;          /* an algorithm writes over an input */
};

struct study {
	struct arena arena;
	struct ground on;
	const struct plan *plan;
	const struct fusion *fusion;
	const struct device *device;
	enum cache cache;       /* in a view (study_view): that of the scenario */
	enum cache usual;       /* what cache=auto means */
	struct marks marks;
	bool pads;              /* some problem has a padded twin */
	bool folds_apart;       /* of some problem, fold decides whether it may write over an input */
	uint8_t group_levels;   /* the levels of its groups, as bits */
	/* of a view: its scenario and the lists of that, by `best` */
	const struct scenario *view_of;
	struct price_list *view_lists[2];
	bool nxc;               /* the what-if layout is nhwc */
	struct layouts_of *layouts; /* each layer has its own layout; NULL: none has a conversion, or nhwc */
	int distinct_count;
	int common_count;       /* of these, the plan's and fusion's; others are the texts in `extra` */
	const char **extra;
	const struct plan_conversion *conversions; /* the possible ones, ascending by producer; problem -1:
						      the solution has it */
	int conversion_count, *conversion_node;
	struct found {
		const struct result *const *results;
		int count;
		bool finished;  /* measured to the end; before that, a slow algorithm may be the only
				   result */
		bool usable;    /* true if one of these results has a time */
		bool in_place;  /* an algorithm writes over an input */
		const struct results *of; /* that have these */
		enum cache old; /* the state that counts without distances */
		enum cache own; /* the study's own state, without regard to pages, */
		double step;    /* and the interpolation in it (cache_step) */
		/* states of results, as bits of enum cache, by launch mode: with any status, status ok, and
		 * distances whose copies had no room */
		uint32_t any[LAUNCH_COUNT], ok[LAUNCH_COUNT], beyond[LAUNCH_COUNT];
		const struct result *rough; /* results_rough */
		const struct peaks *peaks; /* of the device; NULL: unknown */
		/* every layer of this problem may overwrite an input (plan_overwrites); [1]: with the what-if
		 * fold */
		bool overwrites[2];
	} *found;               /* per distinct problem: the plan's, then fusion's; only those of this layout
				   are filled */
	bool *wanted;           /* per distinct problem: used in this layout */
	struct roof *roofs;     /* per distinct problem: cache of the last roofline of a result */
	const struct problem_kept **problems; /* per distinct problem: cache of study_problem */
	signed char *little;    /* per distinct problem: it does hardly any work; -1: not; 0: not known */
	struct price_lists *lists; /* prices in the scenarios asked so far */
	int groups;             /* number of fusion groups to consider: all or 0 */
	int *group_distinct;    /* per group: its distinct problem in this layout, or -1 */
	uint8_t *group_level;   /* per group: its enum fusion_level */
	int *group_last;        /* per group: its last layer */
	uint8_t *group_size;    /* ... and the number of its layers */
	int *controls, control_count; /* layers whose cost is that of their bodies */
	bool *layer_free;       /* per layer: its class is free */
	struct chains chains;
	enum fusion_level level; /* of those, only the ones that this choice allows */
	unsigned levels;        /* ... the levels of groups that it allows, as bits */
	const struct limits *limits; /* NULL: none */
	/* The graph as nodes, in this order: casts at inputs, their conversions, each layer with its
	 * conversions, casts at outputs. */
	int node_count, last_layer_node;
	int *layer_node;        /* per layer */
	int *node_layer;        /* -1: a cast or conversion */
	int *node_problem;      /* distinct problem, -1 none */
	int *first, *edges;     /* predecessors in the form of critical_path */
	/* The same with the what-if fold: what solve.c puts in their places. folded: without the layers whose
	 * readers would read a value inside a cluster; folded_alone: all, where nothing is fused. NULL:
	 * nothing folds; both are the same if no layer makes a difference. */
	struct folded {
		int count;      /* layers that fold */
		bool *layer;    /* per layer: it folds */
		bool *layer_free;
		int *node_problem, *first, *edges;
		int *no_chains; /* chains.begin without any: a layer may not read the one before */
	} *folded, *folded_alone;
};

void study_open(struct study *st, const struct ground *g, enum layouts layouts, bool fused);
void study_close(struct study *st);
/* The problems with algorithms in place whose layers cannot all use them, in arena a; folds: for what-if
 * fold. */
const char **study_apart(const struct study *st, struct arena *a, bool folds, int *count);
/* The result that counts for a problem (analyze_pick); overwrites: each of its layers may write over an
 * input. */
const struct result *results_pick(const struct results *r, const char *problem, const struct scenario *s,
	enum cache c, double reuse_bytes, const struct peaks *k, bool overwrites);
/* Reads the results of a distinct problem, the first time or again; adds distinct problems and reads theirs
 * (texts borrowed). */
void study_read(struct study *st, int distinct);
/* The same for the problem of a layer or of a group of layers of plan p (ascending); of none: count 0.
 * distinct -1: nothing. Algorithms in place count only if all users of the problem may write over an
 * input. */
void study_want_of(struct study *st, int distinct, const struct plan *p, const int *layers, int count);
void study_extend(struct study *st, const char *const *texts, int count);
/* Copies the lists of results, so that results may be added while the study is in use. */
void study_detach(struct study *st);
/* study_graph.c */
void study_graph(struct study *st);
/* study_chains.c: fills st->chains. */
void study_chains(struct study *st);

static inline int study_group_distinct(const struct study *st, const struct fusion_group *g)
{
	return st->group_distinct[g - st->fusion->groups];
}

/* The cache state that a scenario reads; st->cache is what cache=auto means. */
enum cache study_cache(const struct study *st, const struct scenario *s);
/* The cache state whose results of a problem are read: net instead of warm if it has none. */
enum cache study_read_cache(const struct study *st, const struct scenario *s, int distinct);
/* True if the scenario allows a result of the problem, in cache state c; of any layout. */
bool study_allows(const struct study *st, const struct scenario *s, enum cache c, int distinct,
	const struct result *r);
/* The number of the distinct problem with a text, -1 if the study does not have it; and its text. */
int study_distinct_of(const struct study *st, struct text text);
const char *study_text(const struct study *st, int distinct);
/* siblings.c: the cost that counts for the result of index i: its own; at the study's own reuse distance that
 * between two states; or that of another state, if its own is impossible beside that. */
const struct result *found_cost(const struct found *f, int i);
/* True if the problem has a result of any outcome for the launch mode in cache state c, or in the one that is
 * read for it. */
bool found_answered(const struct found *f, enum launch launch, enum cache c);
/* Fills f->any and f->ok from the list. */
void found_states(struct found *f);
/* What to say of a problem that has results only for another launch mode or cache state than the scenario's;
 * NULL: it has none. In arena a. */
const char *study_elsewhere(struct arena *a, const struct study *st, const struct scenario *s, int distinct);
/* Why an answered problem has no price: the runner's reason, or what the scenario excludes; NULL: unknown. */
const char *study_why(const struct study *st, const struct scenario *s, int distinct);
/* True if the row, which has `bars`, may exclude a result in a scenario with its choice in use: of those with
 * a word, or in any of these. index: of the row. */
bool study_can_bar(const struct study *st, const struct what_if *row, int index, const struct scenario *s);
/* The number of layers with an assumption, in bodies too. */
int study_assumed(const struct study *st);

#endif
