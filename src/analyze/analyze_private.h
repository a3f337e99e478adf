/* Internal interfaces of the analysis. */
#ifndef ANALYZE_ANALYZE_PRIVATE_H
#define ANALYZE_ANALYZE_PRIVATE_H

#include <math.h>

#include "analyze/analyze.h"
#include "analyze/scenario/ran.h"
#include "problem/kernel.h"

#define FUSION_LAYERS_MAX 24 /* most layers of one group */

struct study;

static inline const struct plan_problem *layer_problem(const struct plan *p, const struct plan_layer *l)
{
	return l->problem >= 0 ? &p->problems[l->problem] : NULL;
}

/* Roofline that a price is compared with. */
struct roof {
	bool known;              /* computed, of `of`; without a result for these units and this cache */
	bool matrix, relaxed;
	enum cache cache;
	const struct result *of;
	double ns;               /* NaN unknown */
	bool mistrusted;         /* suspect: the price is below it, and no cache can be the reason */
};

/* ---- layouts.c: layouts in which layers can work, and the conversions between them */

enum { CONVERSION_UNKNOWN = -1, CONVERSION_FREE = -2 };

/* A value whose layout is a choice. */
struct layout_value {
	int value;
	uint32_t made, wanted;  /* layouts in which it may be produced and read, as bits of enum
				   image_layout */
	int distinct[IMAGE_LAYOUTS][IMAGE_LAYOUTS]; /* the conversion from a layout to another: its distinct
						       problem or CONVERSION_* */
	int conversion[IMAGE_LAYOUTS]; /* index of study.conversions by target, or -1 */
};

struct layouts_of {
	bool priced;            /* every layer; else one that can work in ONNX order counts as if it did */
	int count;
	struct layout_value *values; /* ascending by producer */
	int *of_value;          /* per plan value: its index, or -1 */
	int *of_conversion;     /* per conversion: index of its value * IMAGE_LAYOUTS + target */
	enum kernel_layout *role; /* per layer: plan_layer_layout */
	bool *passes;           /* per layer: layout_passes */
	int *last_reader;       /* per plan value: the last layer that reads its data, or -1 */
};

#define LAYOUT_PAIRS_ALL UINT32_MAX
/* A layer's layouts of source and destination, as one number. */
static inline int layout_pair(int in, int out)
{
	return in * IMAGE_LAYOUTS + out;
}
/* The pair in which an algorithm works; -1: it has a layout that no conversion makes. */
int layout_pair_of(const struct result *r);
/* The pairs of a problem's algorithms, as bits, ONNX order if none is known. */
uint32_t layout_pairs(const struct study *st, int distinct);
/* True if all algorithms of a problem read channels last. */
bool layout_is_forced(const struct study *st, int distinct);
/* Fills st->layouts, if conversions count, and the study's conversions. */
void layouts_open(struct study *st, bool priced);

static inline bool usable(const struct result *r)
{
	return r->status == STATUS_OK && isfinite(r->stats.median) && r->stats.median >= 0;
}

/* True for a result of the shortlist pass: three samples in one launch mode only, used only if there is no
 * full result. */
static inline bool is_brief(const struct result *r)
{
	return r->stats.stop == STOP_SHORTLIST;
}

/* ---- pick.c: the part of an analysis that is the same in all scenarios of one layout, and prices in one
 * scenario */

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
		bool usable;    /* one of them has a time */
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
		/* each of its layers may write over an input (plan_overwrites), without and with the what-if
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
/* That of an analyzer, with groups; valid as what analyzer_run returns. */
const struct study *analyzer_study(struct analyzer *z, const struct ground *g, enum layouts layouts);
/* What cache=auto means with the results that are there now; a study of another state must be opened
 * again. */
enum cache ground_cache(const struct ground *g);
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
void study_close(struct study *st);
/* study_graph.c */
void study_graph(struct study *st);
/* study_chains.c: fills st->chains. */
void study_chains(struct study *st);
static inline int study_group_distinct(const struct study *st, const struct fusion_group *g)
{
	return st->group_distinct[g - st->fusion->groups];
}

struct price {
	double ns;              /* NaN: none */
	const struct result *result; /* NULL: none, or estimated */
	const struct estimate *guess; /* if estimated; in the study */
	double lo, hi;          /* interval of the measurement, estimate or assumption; NaN: unknown */
	double enqueue_ns;      /* of the result; NaN: unknown */
	double far_ns;          /* if nearer: what reading the constants from memory takes; NaN: unknown */
	bool estimated;
	bool answered;          /* measured in the scenario's launch mode, with any outcome, or estimated */
	bool unsupported;       /* no price: not supported by the library, or only by algorithms that the
				   scenario excludes */
	bool noisy;             /* the result's measurement was disturbed */
	bool capped;            /* that of another state, in which the algorithm cannot be faster: its own
				   measurement is impossible; also noisy */
	bool nearer;            /* at a nearer reuse distance than the scenario's, which had no room */
	bool known;             /* looked up */
	bool rough;             /* the result is of a quick measurement; then answered is false */
	bool padded;            /* that of the padded problem */
	bool assumed;           /* given by the user (ground.assumed); then result is NULL */
	bool is_range, one_sided; /* of lo and hi: as in struct interval */
};
/* The initial fields of a price that has no measurement. */
#define PRICE_UNMEASURED .lo = NAN, .hi = NAN, .enqueue_ns = NAN
/* The scenario whose units a price is for: the estimate's, which may use fewer than are allowed. */
static inline struct scenario price_units(const struct scenario *s, const struct price *price)
{
	struct scenario units = *s;
	if (price->estimated) {
		units.matrix = price->guess->matrix;
		units.relaxed = price->guess->relaxed;
	}
	return units;
}
/* The least that its kernel can take: the cost, given or measured, or the floor of an estimate. NaN without a
 * cost. */
static inline double price_floor(const struct price *p)
{
	bool guess = p->estimated && !p->assumed && p->guess->ns > 0;
	return guess ? p->guess->floor_ns : p->ns;
}
/* The use of each resource by one run of a problem: none for longer than its price, whatever a peak says. */
struct use {
	bool known;             /* computed */
	int unit, level;        /* RESOURCE_* that runs the operations; index of the cache that has
				   fast_bytes; -1: none */
	double ops_ns, memory_bytes, fast_bytes;
};

enum { PRICE_KNOWN = 1, PRICE_ANSWERED = 2, PRICE_REFUSED = 4, PRICE_ESTIMATED = 8, PRICE_ROUGH = 16 };

/* Prices of all distinct problems, each looked up when it is first asked, where a scenario allows certain
 * results. Kept with the study: scenarios that allow the same ones share them. */
struct price_list {
	struct scenario of;     /* study_plain; parallel, fusion and layouts are off */
	struct arena arena;
	uint64_t asked;         /* when it was last asked, counted */
	struct price *prices;   /* known: looked up. These three: NULL until study_prices gives the list */
	double *ns;             /* ... and what is read most of them, close together */
	uint8_t *state;         /* PRICE_*, as bits; 0: not looked up */
	struct roof *roofs;     /* of these prices, made when first asked: study_roofs, study_uses */
	struct use *uses;
	const struct uses **allowed; /* of resources.c: what each problem may use; NULL: not found yet */
};
struct roof *study_roofs(const struct study *st, struct price_list *list);
struct use *study_uses(const struct study *st, struct price_list *list);
/* The list of a scenario; `best` overrides its algorithm. Valid until study_close or study_renew. */
struct price_list *study_prices(const struct study *st, const struct scenario *s, bool best);
/* The study as a scenario sees it: its cache state, and its lists at hand. Valid while *s does not change. */
struct study study_view(const struct study *st, const struct scenario *s);
/* The scenario with each choice that changes no price and no group replaced by its first value: scenarios
 * that are then equal have the same totals. */
struct scenario study_plain(const struct study *st, const struct scenario *s);
/* Looks up the price in its list. */
const struct price *study_list_price(
	const struct study *st, struct price_list *list, const struct scenario *s, int distinct);
/* Reads the results of one problem again; forgets what depends on peaks; returns false if the study must be
 * opened again instead. */
bool study_renew(struct study *st, int distinct);
void study_forget_prices(struct study *st);
const struct estimate *study_keep_guess(const struct study *st, const struct estimate *guess);
/* ... if they take much memory. No solution of the study may be in use. */
void study_trim(struct study *st);
/* For study_open and study_close. */
void study_lists_open(struct study *st);
void study_lists_close(struct study *st);
/* The problem, until the next call, or NULL: its text is not valid. */
const struct problem *study_problem(const struct study *st, int distinct);
bool study_has_problem(const struct study *st, int distinct);
/* The time that study_list_price has; NaN: none. */
static inline double study_list_ns(
	const struct study *st, struct price_list *list, const struct scenario *s, int distinct)
{
	return list->state[distinct] ? list->ns[distinct] : study_list_price(st, list, s, distinct)->ns;
}
/* Price of a distinct problem; `best` overrides the scenario's. */
struct price study_price(const struct study *st, const struct scenario *s, int distinct, bool best);
/* True if the peaks, which must be known, make a result of branches side by side suspect. Kept: parsing the
 * text takes longer than all else of an analysis. */
bool study_mistrusts_beside(const struct study *st, const char *text, const struct result *r);
/* ... of an algorithm with one of these pairs of layouts (bits). */
struct price study_price_in(
	const struct study *st, const struct scenario *s, int distinct, bool best, uint32_t pairs);
/* Price of a problem that is not among the distinct ones, without an estimate; *why: why an answered one has
 * none, or NULL. */
struct price study_price_of(const struct study *st, const struct scenario *s, const char *text,
	const char **why);
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

/* effects.c: whether a row of the table of what-ifs is available; whether the layers to which it applies are
 * counted, and their number when it is on; -1: not counted. */
struct solution;
bool what_if_available(const struct study *st, int row);
bool what_if_is_counted(int row);
int what_if_layers(const struct study *st, int row, const struct scenario *s, const struct solution *x);
/* The number of layers with an assumption, in bodies too. */
int study_assumed(const struct study *st);

/* roofline.c */
/* The type to which an algorithm's math rounds operands; DTYPE_UNKNOWN: no peak applies. */
enum dtype roofline_math_type(const struct result *r, enum dtype own);
/* True for Winograd and FFT, which do fewer multiplications than problem_flops counts. */
bool roofline_counts_its_own(const struct algorithm *a);
/* The unit that runs the operations: data type, plain or matrix, its peak in FLOP/s (NaN unknown; 0:
 * operations do not count), and the share of the problem's operations that it does: Winograd's are fewer. */
struct unit {
	enum dtype type;
	bool matrix;
	double peak, share;
};
/* The two parts of a roofline. */
struct roof_parts {
	struct unit unit;
	double ops_ns;          /* operations / peak of the unit; NaN: the peak is unknown */
	double bytes_ns;        /* bytes / bandwidth; NaN: that of memory is unknown */
	double bytes_per_s;     /* the bandwidth used */
	int level;              /* its cache level; 0: memory */
	int unknown_level;      /* the cache that holds the bytes, if its bandwidth is unknown; else 0 */
	bool counts_its_own, unit_unknown; /* of a result: its operations cannot be compared with a peak */
	bool is_own;            /* ops_ns has the algorithm's own operations, not the layer's */
};
/* c: the cache state in which `of` was measured; of NULL: what the scenario would run. */
struct roof_parts roofline_parts(const struct problem *p, const struct peaks *k, const struct scenario *s,
	enum cache c, const struct result *of);
/* Of a result. p, k NULL: unknown. */
/* Time to read the problem's constants from memory; NaN: unknown (p or k may be NULL). */
double roofline_constants_ns(const struct problem *p, const struct peaks *k);
struct roof roofline_check(const struct problem *p, const struct peaks *k, const struct result *r);
/* The same of one of a distinct problem's results; the last one is kept. */
struct roof roofline_of_found(const struct study *st, int distinct, const struct result *r);
/* Roofline of a problem in a scenario: of the price's result, or (none) of what would run, on the units of
 * its estimate. ns NaN without peaks. */
struct roof roofline_of_price(
	const struct study *st, const struct scenario *s, int distinct, const struct price *price);
/* Why a problem has no estimate: its peak is unknown, or known only for units that the scenario excludes. In
 * arena a. */
const char *roofline_why(
	struct arena *a, const struct problem *p, const struct peaks *k, const struct scenario *s);
/* The same of a distinct problem; NULL: its text is not valid, or there are no peaks. */
const char *study_no_estimate(
	struct arena *a, const struct study *st, const struct scenario *s, int distinct);
/* The roofline of what a scenario would run, in cache state c. */
double scenario_roofline(const struct problem *p, const struct peaks *k, const struct scenario *s,
	enum cache c);

/* Resources that layers use: memory, each cache level, each unit for each data type. */
enum { RESOURCE_MEMORY, RESOURCE_CACHE, RESOURCE_PLAIN = RESOURCE_CACHE + PEAK_LEVELS,
	RESOURCE_MATRIX = RESOURCE_PLAIN + DTYPE_COUNT, RESOURCE_COUNT = RESOURCE_MATRIX + DTYPE_COUNT };
/* The use of each resource by one run of a problem that takes `ns`: of a result, or (NULL) of what the
 * scenario would run. fewer: its operations are not those of the problem. */
struct use roofline_use(const struct problem *p, const struct peaks *k, const struct scenario *units,
	enum cache c, const struct result *r, double ns, bool fewer);
/* ... of a distinct problem at a price. */
struct use price_use(
	const struct study *st, const struct scenario *s, int distinct, const struct price *price);
/* Its name in arena a: "memory", "the L2 cache", "f32 units", "f16 matrix units". */
const char *resource_name(struct arena *a, const struct peaks *k, int resource);
/* How many times a resource's peak the slow end of its interval is; 0: it has none (a vendor's figure). */
double resource_spread(const struct peaks *k, int resource);
/* Adds to busy_ns (RESOURCE_COUNT entries) the time for which `times` runs of a problem at a price use each
 * resource at its peak; list: where the use may be kept. Unknown peaks add nothing, nor do operations of
 * algorithms that do fewer multiplications than the problem counts. */
void roofline_resources(const struct study *st, const struct scenario *s, struct price_list *list,
	int distinct, const struct price *price, int times, double *busy_ns);

/* ---- interval.c: intervals of costs, and that of a total from them */
struct interval {
	bool known, is_range;   /* is_range: of 2 to 5 samples, too few for a 95% interval */
	bool one_sided;         /* what it may be less is due to other work alone, which only adds time */
	double lo, hi;
};
/* Of the samples of a result; without one, the ends are its cost. */
struct interval interval_of(const struct result *r);
struct interval interval_of_price(const struct price *p);
/* An interval of a result's cost with the range of costs that it had at several times, for what is compared
 * with another measurement. In a total the range is common to its parts. */
struct interval interval_at_times(double lo, double hi, const struct result *r);
/* Fills lo, hi, is_range and one_sided from the result, of this roofline, or from the estimate. */
void price_interval(struct price *price, const struct roof *roof);
/* Fills the interval of the bound, for the active choice. */
struct solution;
void interval_fill(struct analysis *out, const struct study *st, const struct solution *x, const int *chosen,
	struct arena *scratch);
/* What a total consists of, by measurement: of two totals, what both have cancels in their difference. */
struct spent_part {
	const void *key;        /* the result or calibration row */
	double ns, down, up;    /* of all its uses: time, and widths of the interval */
	double load;            /* instead of `down`: what other work may have added */
};
struct spent {
	int count;
	struct spent_part *parts; /* by key */
};
/* Returns the parts of a scenario's total, in arena a: of the sum, or of the longest path. */
struct spent interval_spent(const struct study *st, const struct scenario *s, const struct solution *x,
	const int *chosen, struct arena *a);
/* Returns the interval of what the total `after` takes less than `before`, which is saves_ns. */
struct interval interval_saved(const struct spent *before, const struct spent *after, double saves_ns);

/* ---- cost.c: the cost of one layer */
/* Initializes a cost as unknown; as 0 (a free layer, or one whose cost is in another). */
void cost_none(struct layer_cost *c);
void cost_nothing(struct layer_cost *c, enum origin origin);
/* Cost from the price of a distinct problem (the layer's or its group's). */
void cost_priced(struct arena *a, struct layer_cost *c, const struct study *st, const struct scenario *s,
	int distinct, const struct price *price, bool proxy);
/* Adds the cost of a join's copy. */
void cost_copy(struct arena *a, struct layer_cost *c, const struct study *st, const struct scenario *s,
	int distinct, const struct price *price);
/* Applies a layer's assumption to its cost: of a layer with bodies, or in one. */
void cost_assume(struct layer_cost *c, const struct study *st, const struct scenario *s, int layer);
/* Cost of a layer that is in no group: from its problem and its price, or the sum over its bodies, which are
 * listed in arena a. */
struct solution;
void cost_alone(struct arena *a, struct layer_cost *c, const struct study *st, const struct scenario *s,
	const struct solution *x, const struct plan_layer *l, int problem, const struct price *price);

/* ---- beside.c: branches side by side (parallel=measured) */
struct beside_set;
struct beside_priced {
	const struct beside_set *set;
	const char *text;       /* the problem; NULL: too long */
	struct price price;     /* of all branches side by side */
	const char *why;        /* no price although answered: the reason, or NULL */
	double alone_ns;        /* its problems one after the other; NaN: one has no price */
	bool chosen;
};
struct besides {
	int count;
	struct beside_priced *sets;
	double saves_ns;        /* what the chosen ones save */
	int lacking_count;      /* distinct problems that are not measured, */
	const char **lacking;   /* and their texts */
};

struct solution;
/* By how much the nodes that run side by side need longer one after the other than their longest branch, or
 * than what all of them took. */
double beside_over_longest(const struct solution *x, const double *cost);

/* ---- solve.c, choose.c: costs in one scenario, with the best choice of groups */

/* What a node runs if layers have their own layouts. */
struct placed {
	bool used;              /* of a conversion: it is needed */
	int problem;            /* distinct; -1: that of the study */
	struct price price;
};

/* A total of a solution, and the choice of groups that it is of. */
struct total {
	double ns;              /* NaN: no layer that needs time has a price */
	double floor_ns;        /* ... with each estimate at its floor */
	double enqueue_ns;      /* launch isolated: host time; NaN: no result has it */
	int *chosen;            /* per layer: index of the group it is in, or -1 */
	int *ran;               /* per node: the distinct problem whose cost is there (a group's is at its
				   last layer, the copy of a join at its first), or -1 */
	/* ... and its price, NULL if neither its problem nor an assumption gives it one: with layouts, nodes
	 * of one problem may run different algorithms */
	const struct price **price;
	double *cost;           /* per node: a group's is at its last layer; NaN counts as 0 */
	bool complete;
	bool estimated, rough, noisy; /* it has estimates, quick or noisy measurements */
};

struct solution {
	struct price_list *list; /* prices, shared with other solutions; see solution_at */
	struct price_list *best_list; /* those of the fastest algorithms */
	const bool *best;       /* per distinct problem: its price is in best_list; NULL: none */
	double *cost;           /* per node, alone: NaN missing, 0 free */
	bool *estimated;        /* per node, alone */
	struct layer_cost **inside; /* per layer: the cost of its bodies, or NULL; NULL: no layer has
				       bodies */
	struct placed *placed;  /* per node; NULL: without st->layouts */
	/* Per layer, and per group by its first layer: the prices that assumptions give them, if `assumed`.
	 * NULL: none */
	struct price *assumed_layer, *assumed_group;
	int *first, *edges;     /* the study's; with `placed`: without conversions that a layer does not
				   read */
	const bool *folds;      /* per layer: the what-if fold removes it; NULL: none */
	bool offered;           /* other solutions were compared for the scenario's total: the other total
				   (sequential or parallel) may not be the least */
	bool layouts_exact;     /* `placed` is the best assignment; else the best that was found */
	struct total sum, parallel; /* share their arrays if the choice is the same */
	double path_ns;         /* the longest path; NaN as parallel.ns */
	double busy_ns;         /* the time of the busiest resource at its peak; NaN: unknown */
	int resource;           /* the busiest, if it needs longer than the path, RESOURCE_*; -1: none */
	int with[3], with_count;/* units that are the busiest together with it (resources.c) */
	double border_ns;       /* NaN: there are casts or conversions, and none has a price */
	bool border_complete, border_estimated;
	bool *asked;            /* per distinct problem: priced here; lists also have prices of others */
	bool *lacking;          /* per distinct problem: needed here and not answered */
	bool *untried;          /* ... and without a quick measurement that the scenario allows */
	bool *refused;          /* ... needed here, answered, and without a price */
	int unmeasured;         /* number of lacking problems, those side by side included */
	struct besides *besides; /* parallel=measured: the branches; else NULL */
};
/* The total of the scenario. */
static inline const struct total *solution_total(const struct solution *x, const struct scenario *s)
{
	return s->parallel ? &x->parallel : &x->sum;
}
/* Prices live in the study, all other arrays of *out in arena a. solve_total: only the total of the scenario;
 * with parallel off, path and resources are NaN and the choice for the sum stands for that of the path. */
void solve(const struct study *st, const struct scenario *s, struct arena *a, struct solution *out);
/* Lowers the floors of a solution with estimates to those of the choices with the lowest
 * floors, which need not be those with the lowest estimates. */
void solve_floors(const struct study *st, const struct scenario *s, struct solution *x);
/* One solution, of a study as the scenario sees it; folded (NULL: none): the layers that are left out; path:
 * also the total with parallel. solve_end raises the totals to the host's time and says what they are made
 * of; branches side by side are chosen before it (solve_besides). */
void solve_begin(const struct study *st, const struct scenario *s, const struct folded *folded,
	struct arena *a, struct solution *out, bool path);
void solve_end(
	const struct study *st, const struct scenario *s, struct arena *a, struct solution *out, bool path);
void solve_total(const struct study *st, const struct scenario *s, struct arena *a, struct solution *out);
static inline struct price_list *solution_list(const struct solution *x, int distinct)
{
	return x->best && x->best[distinct] ? x->best_list : x->list;
}
/* The price of a distinct problem that was looked up. */
static inline const struct price *solution_at(const struct solution *x, int distinct)
{
	return &solution_list(x, distinct)->prices[distinct];
}
/* The cost of the bodies of the node's layer, or NULL. */
static inline const struct layer_cost *solution_inside(
	const struct study *st, const struct solution *x, int node)
{
	int layer = st->node_layer[node];
	return x->inside && layer >= 0 ? x->inside[layer] : NULL;
}
/* ran and price of the total whose choice `chosen` is. */
static inline int solution_problem(const struct solution *x, const int *chosen, int node)
{
	return (chosen == x->sum.chosen ? x->sum.ran : x->parallel.ran)[node];
}
static inline const struct price *solution_price(const struct solution *x, const int *chosen, int node)
{
	return (chosen == x->sum.chosen ? x->sum.price : x->parallel.price)[node];
}
/* The price of a group, or NULL. */
const struct price *solution_group_price(const struct study *st, const struct solution *x, int group);
/* A price with a layer's assumption: a time replaces it, a factor divides it. Unchanged if the scenario has
 * no assumptions, or if there is no price to divide. */
struct price price_assumed(
	const struct study *st, const struct scenario *s, int layer, const struct price *price);
/* The same with an assumption; by may be NULL. */
struct price price_assumed_by(const struct assumption *by, const struct price *price);
/* The longest path through a choice's costs per node: each member of a join takes as long as all of it.
 * start, slack, critical: as in critical_path, each may be NULL. */
double solution_path(const struct study *st, const struct solution *x, const int *chosen, const double *cost,
	double *start, double *slack, bool *critical);
/* The price of a join with its copy; NaN: one is missing, or the join is not allowed. */
struct price solution_join(const struct study *st, const struct solution *x, int group);
/* Fills ran and price of a total from its choice, in arena a. */
void solution_ran(const struct study *st, struct arena *a, const struct solution *x, struct total *t);
/* The study with only the groups that a choice of fusion allows. */
struct study study_at_level(const struct study *st, enum fusion_level chosen);
/* The lower levels of fusion that the study's allows, into levels[FUSION_LEVELS]; returns their number. */
int study_lower_levels(const struct study *st, enum fusion_level *levels);
/* Number of layers that a choice leaves without a price. */
int solution_missing(const struct study *st, const struct solution *x, const int *chosen);
/* beside.c: the total with branches side by side where that is measured to be faster: fills besides and
 * `parallel`, and adds to `unmeasured`. Groups and branches are chosen together; with layouts (x->placed),
 * the groups are those of the choice for the sum. */
void solve_besides(const struct study *st, const struct scenario *s, struct arena *a, struct solution *out);
/* Chooses the joins and bundles (choose_private.h; NULL: no bundles) that lower the sum of layers most: the
 * number of the join or bundle per layer (with bundles, also per node that is no layer), else -1; NULL: none.
 * In arena a. Of few that compete all selections are compared, of many the best that was found counts. */
struct bundles;
int *solve_joins(
	const struct study *st, struct arena *a, const struct solution *out, const struct bundles *bundles);
/* Fills chosen and cost of the sum where some layers are taken (solve_joins): those of bundles are in no
 * group and cost nothing. */
void solve_taken(const struct study *st, struct arena *a, struct solution *out, int *joined);
/* Fills chosen and cost of both totals; without `path` those of the sum stand for both. */
void solve_choices(const struct study *st, struct arena *a, struct solution *out, bool path);
/* resources.c: fills busy_ns and resource, what the resources need at least. */
void solve_resources(const struct study *st, const struct scenario *s, struct solution *out);
/* place.c: the same with a layout for each layer, if st->layouts; also placed, first, edges, layouts_exact.
 * The choice for the sum counts for the longest path too. */
void solve_layouts(const struct study *st, const struct scenario *s, struct arena *a, struct solution *out);

/* ---- analyze.c, effects.c: what is made of a solution (analyzer.c) */
/* In arena a. */
struct analysis *analysis_make(
	struct arena *a, const struct study *st, const struct scenario *s, const struct solution *x);
/* The totals of scenarios. A side is valid until sides_forget or sides_trim, which forgets them if they take
 * much memory. side_find: NULL if it has none. */
struct side;
struct sides *sides_new(void);
void sides_free(struct sides *sides);
void sides_forget(struct sides *sides);
void sides_trim(struct sides *sides);
const struct side *side_add(struct sides *sides, const struct study *st, const struct scenario *s,
	const struct solution *x);
/* The number of layers to which a what-if (row of the table) applies; -1: not counted. */
int side_layers(const struct side *side, int row);
const struct side *side_find(const struct sides *sides, const struct scenario *s);
/* Fills the figures of an effect from its two sides. */
void effect_fill(
	struct what_if_effect *effect, const struct side *here, const struct side *other, int layers);

#endif
