/* The roofline of one problem, and what it uses of each resource. */
#ifndef ANALYZE_ROOF_ROOF_H
#define ANALYZE_ROOF_ROOF_H

#include <math.h>

#include "analyze/roof/calibration.h"
#include "analyze/roof/interval.h"
#include "analyze/roof/peaks.h"
#include "analyze/scenario/ran.h"
#include "problem/kernel.h"

/* Roofline that a price is compared with. */
struct roof {
	bool known;              /* computed, of `of`; without a result for these units and this cache */
	bool matrix, relaxed;
	enum cache cache;
	const struct result *of;
	double ns;               /* NaN unknown */
	bool mistrusted;         /* suspect: the price is below the roofline, and caching cannot explain it */
};

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

/* Resources that layers use: memory, each cache level, each unit for each data type. */
enum { RESOURCE_MEMORY, RESOURCE_CACHE, RESOURCE_PLAIN = RESOURCE_CACHE + PEAK_LEVELS,
	RESOURCE_MATRIX = RESOURCE_PLAIN + DTYPE_COUNT, RESOURCE_COUNT = RESOURCE_MATRIX + DTYPE_COUNT };

/* The use of each resource by one run of a problem: none for longer than its price, whatever a peak says. */
struct use {
	bool known;             /* computed */
	int unit, level;        /* RESOURCE_* that runs the operations; index of the cache that has
				   fast_bytes; -1: none */
	double ops_ns, memory_bytes, fast_bytes;
};

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

/* The type to which an algorithm's math rounds operands; DTYPE_UNKNOWN: no peak applies. */
enum dtype roofline_math_type(const struct result *r, enum dtype own);
/* True for Winograd and FFT, which do fewer multiplications than problem_flops counts. */
bool roofline_counts_its_own(const struct algorithm *a);
/* c: the cache state in which `of` was measured; of NULL: what the scenario would run. */
struct roof_parts roofline_parts(const struct problem *p, const struct peaks *k, const struct scenario *s,
	enum cache c, const struct result *of);
/* Time to read the problem's constants from memory; NaN: unknown (p or k may be NULL). */
double roofline_constants_ns(const struct problem *p, const struct peaks *k);
/* The roofline of a result; p, k NULL: unknown. */
struct roof roofline_check(const struct problem *p, const struct peaks *k, const struct result *r);
/* The roofline of what a scenario would run, in cache state c. */
double scenario_roofline(const struct problem *p, const struct peaks *k, const struct scenario *s,
	enum cache c);
/* Why a problem has no estimate: its peak is unknown, or known only for units that the scenario excludes. In
 * arena a. */
const char *roofline_why(
	struct arena *a, const struct problem *p, const struct peaks *k, const struct scenario *s);
/* The use of each resource by one run of a problem that takes `ns`: of a result, or (NULL) of what the
 * scenario would run. fewer: its operations are not those of the problem. */
struct use roofline_use(const struct problem *p, const struct peaks *k, const struct scenario *units,
	enum cache c, const struct result *r, double ns, bool fewer);
/* The name of a resource in arena a: "memory", "the L2 cache", "f32 units", "f16 matrix units". */
const char *resource_name(struct arena *a, const struct peaks *k, int resource);
/* How many times a resource's peak the slow end of its interval is; 0: it has none (a vendor's figure). */
double resource_spread(const struct peaks *k, int resource);

#endif
