/* Texts of the header, without layout: pure functions of the analysis. */
#ifndef UI_APP_SAY_H
#define UI_APP_SAY_H

#include "analyze/analyze.h"

enum known { KNOWN_NONE, KNOWN_PARTLY, KNOWN_ALL };

struct bound_says {
	enum known known;
	double bound_ns, sequential_ns, parallel_ns; /* of known NONE: mean nothing */
	double casts_ns;         /* of them for casts at the model's border; 0: none, or not known */
	int layers;              /* those without the folded ones */
	int missing, unsupported, proxies, estimated;
	int noisy, suspect;      /* layers whose measurement was disturbed; is probably wrong */
	int failed;              /* of the missing: measured without success; set by the caller */
	int open;                /* layers whose branch or number of runs is unknown */
	bool described;          /* nothing is ever measured there; set by the caller */
	const char *least;       /* goes before a total: "", "~" of estimates, "at least ", "partial ~" */
};
/* folded: layers that only make constants, left out of the count. */
struct bound_says say_bound(const struct analysis *a, int folded);

enum gain {
	GAIN_ABSENT,     /* the toggle means nothing here, or its problems cannot be measured here */
	GAIN_NEVER,      /* not known, and nothing is left to measure */
	GAIN_UNKNOWN,    /* problems must be measured first: a difference of partial sums is not shown */
	GAIN_PARTLY,     /* nothing is left to measure, but the sums have gaps or estimates */
	GAIN_KNOWN
};

struct toggle_says {
	enum gain gain;
	double saves_ns;         /* PARTLY, KNOWN; below 0: it costs */
	int wanted;              /* UNKNOWN: distinct problems to be measured first */
};
/* measurable: the device can measure or plan what is missing. */
struct toggle_says say_toggle(const struct what_if_effect *e, bool measurable);

/* From long to short; SAY_FORMS - 1 is the shortest. Returns buf, of SAY_GAP bytes. */
#define SAY_FORMS 3
#define SAY_GAP 96
char *say_gap(char *buf, const struct bound_says *b, int form);

/* A median with what is known of its spread, for n samples (0: not known how many): the interval's larger side, or
 * its ends where that is 100% and more; of under 6 samples their range, of one "1 sample". lo or hi NaN leaves it away. buf: SAY_INTERVAL bytes. */
#define SAY_INTERVAL (4 * STR_QUANTITY)
char *say_interval(char *buf, double ns, double lo, double hi, int64_t n);

#endif
