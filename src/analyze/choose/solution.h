/* Costs in one scenario, with the best choice of groups and layouts. */
#ifndef ANALYZE_CHOOSE_SOLUTION_H
#define ANALYZE_CHOOSE_SOLUTION_H

#include "analyze/choose/critical_path.h"
#include "analyze/choose/layer_cost.h"
#include "analyze/study/price.h"

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

struct besides;

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

/* One solution, of a study as the scenario sees it; folded (NULL: none): the layers that are left out; path:
 * also the total with parallel. solve_end raises the totals to the host's time and says what they are made
 * of; branches side by side are chosen before it (solve_besides). */
void solve_begin(const struct study *st, const struct scenario *s, const struct folded *folded,
	struct arena *a, struct solution *out, bool path);
void solve_end(
	const struct study *st, const struct scenario *s, struct arena *a, struct solution *out, bool path);

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
static inline const struct price *solution_group_price(
	const struct study *st, const struct solution *x, int group)
{
	int distinct = st->group_distinct[group];
	if (x->assumed_group && x->assumed_group[group].assumed)
		return &x->assumed_group[group];
	return distinct >= 0 ? solution_at(x, distinct) : NULL;
}

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
struct bundles;
/* Chooses the joins and bundles (choose_private.h; NULL: no bundles) that lower the sum of layers most: the
 * number of the join or bundle per layer (with bundles, also per node that is no layer), else -1; NULL: none.
 * In arena a. Of few that compete all selections are compared, of many the best that was found counts. */
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
void cost_alone(struct arena *a, struct layer_cost *c, const struct study *st, const struct scenario *s,
	const struct solution *x, const struct plan_layer *l, int problem, const struct price *price);

#endif
