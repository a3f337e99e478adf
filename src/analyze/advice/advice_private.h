/* What advice.c, the search, and advice_moves.c, the moves, share. */
#ifndef ANALYZE_ADVICE_PRIVATE_H
#define ANALYZE_ADVICE_PRIVATE_H

#include "analyze/advice/advice.h"
#include "analyze/bound/bound_private.h"

#define MOVES_MAX 64
#define PLANS_MAX 4
#define LEAST_SHARE 0.002 /* of the bound, that a move must save */

/* A change of the scenario; unset fields change nothing. */
struct move {
	struct advice shown;
	const char *pattern;	 /* fusion: groups of this pattern may be fused */
	bool *anchor[PLANS_MAX]; /* ... by plan, those that begin with these layers; NULL: none */
	bool *inside;		 /* ... all layers of these groups, as first found */
	int places;		 /* ... and their number */
	bool *best;		 /* algorithm: layers (of plans[0]) that run their fastest algorithm */
	int plan;		 /* units: the type, an index of plans; else -1 */
	bool matrix, relaxed, amortized, parallel, nhwc, pad, fold;
	int changes; /* number of changes that it consists of */
};

/* A bound; ns NaN: unknown, or not comparable with the start. */
struct reached {
	double ns;
	uint64_t missing; /* hash of the layers without a cost; 0: none is missing */
	bool estimated;
};

enum phase { PHASE_START, PHASE_OVERHEAD, PHASE_MOVES, PHASE_TRY, PHASE_LEAVE, PHASE_GAPS, PHASE_END };

struct adviser {
	struct arena *arena;
	struct arena own, scratch;     /* own: what `arena` is, until advice_end */
	struct advice_plan plans[PLANS_MAX]; /* with the copies below */
	struct peaks peaks[PLANS_MAX];
	struct device device[PLANS_MAX];
	int plan_count, layer_count, move_count;
	struct study studies[PLANS_MAX][3]; /* by plan and enum layouts */
	bool open[PLANS_MAX][3];
	struct scenario start;
	struct move moves[MOVES_MAX];
	bool on[MOVES_MAX];
	double last_ns[MOVES_MAX];     /* what each move saved at least when it was last tried */
	int *move_of_group[PLANS_MAX]; /* see find_groups; NULL: no move fuses */
	/* the search: one step is one trial of a move */
	enum phase phase;
	struct arena kept, trial;      /* of the parts of totals: spent_first and spent_now; of a trial */
	struct spent spent_first, spent_now;
	struct reached first, now;
	struct advice_list list;
	/* what is left out: the next optimization that is looked at; the start, with fusion once that was
	 * looked at, and its problems without results; what is to be measured */
	int gap_at;
	struct scenario basis, measured;
	int basis_lacks;
	int order[MOVES_MAX], count;   /* the moves taken */
	/* the round: the next move to try, and the best one so far */
	int at, which;
	bool all;                      /* see try_next */
	double best;
	struct reached found;
};

/* The study of a plan, opened when it is first asked. */
const struct study *advice_study(struct adviser *d, int plan, enum layouts layouts);
/* Lists the moves that may save time from the start, whose bound is given, with their layers and titles. */
void advice_moves(struct adviser *d, double bound_ns);
/* Fills the layers and the title of a move that fuses a pattern. */
void advice_name(struct adviser *d, struct move *m);

#endif
