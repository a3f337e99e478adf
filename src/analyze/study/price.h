/* Prices of distinct problems in a scenario, and what follows from them. */
#ifndef ANALYZE_STUDY_PRICE_H
#define ANALYZE_STUDY_PRICE_H

#include "analyze/study/layouts.h"
#include "analyze/study/list.h"
#include "analyze/study/study.h"

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

enum { PRICE_KNOWN = 1, PRICE_ANSWERED = 2, PRICE_REFUSED = 4, PRICE_ESTIMATED = 8, PRICE_ROUGH = 16 };

/* Cache of the prices of all distinct problems under one set of allowed results, filled on demand. Kept with
 * the study: scenarios that allow the same results share it. */
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
/* Forgets prices if they take much memory. No solution of the study may be in use. */
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
/* Price of an algorithm with one of these pairs of layouts (bits). */
struct price study_price_in(
	const struct study *st, const struct scenario *s, int distinct, bool best, uint32_t pairs);
/* Price of a problem that is not among the distinct ones, without an estimate; *why: why an answered one has
 * none, or NULL. */
struct price study_price_of(const struct study *st, const struct scenario *s, const char *text,
	const char **why);
/* roofline_check of one of a distinct problem's results; the last one is kept. */
struct roof roofline_of_found(const struct study *st, int distinct, const struct result *r);
/* Roofline of a problem in a scenario: of the price's result, or (none) of what would run, on the units of
 * its estimate. ns NaN without peaks. */
struct roof roofline_of_price(
	const struct study *st, const struct scenario *s, int distinct, const struct price *price);
/* roofline_why of a distinct problem; NULL: its text is not valid, or there are no peaks. */
const char *study_no_estimate(
	struct arena *a, const struct study *st, const struct scenario *s, int distinct);
/* roofline_use of a distinct problem at a price. */
struct use price_use(
	const struct study *st, const struct scenario *s, int distinct, const struct price *price);
/* Adds to busy_ns (RESOURCE_COUNT entries) the time for which `times` runs of a problem at a price use each
 * resource at its peak; list: where the use may be kept. Unknown peaks add nothing, nor do operations of
 * algorithms that do fewer multiplications than the problem counts. */
void roofline_resources(const struct study *st, const struct scenario *s, struct price_list *list,
	int distinct, const struct price *price, int times, double *busy_ns);
struct interval interval_of_price(const struct price *p);
/* Fills lo, hi, is_range and one_sided from the result, of this roofline, or from the estimate. */
void price_interval(struct price *price, const struct roof *roof);
/* A price with a layer's assumption: a time replaces it, a factor divides it. Unchanged if the scenario has
 * no assumptions, or if there is no price to divide. */
struct price price_assumed(
	const struct study *st, const struct scenario *s, int layer, const struct price *price);
/* The same with an assumption; by may be NULL. */
struct price price_assumed_by(const struct assumption *by, const struct price *price);

#endif
