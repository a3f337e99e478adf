/* Texts of the header, without layout: pure functions of the analysis. */
#ifndef UI_MODEL_SAY_H
#define UI_MODEL_SAY_H

#include "analyze/analyze.h"
#include "analyze/real/reality.h"

enum known { KNOWN_NONE, KNOWN_PARTLY, KNOWN_ALL };

struct bound_says {
	enum known known;
	double floor_ns; /* the lower bound where bound_ns is an estimate; else NaN */
	double bound_ns, sequential_ns, parallel_ns; /* undefined if known is NONE */
	double casts_ns;         /* part of them: casts of model inputs and outputs, and conversions between
				    layouts; 0: none or unknown */
	bool conversions;        /* ... there are some of these */
	bool casts_estimated;    /* ... contain estimates */
	int layers;              /* without the folded ones */
	int missing, unsupported, proxies, estimated;
	int free;                /* layers that take no time of their own: free or fused */
	int noisy, suspect;      /* layers with a disturbed and with a probably wrong measurement */
	int failed;              /* missing layers whose measurement failed; set by the caller */
	int open;                /* layers with an unknown branch or loop count */
	bool described;          /* the device is only described, never measured; set by the caller */
	const char *least;       /* prefix of a total: analysis_mark */
	const char *other;       /* prefix of the total that is not the bound: analysis_other_mark */
};
/* folded: number of layers that only compute constants; they are not counted. */
struct bound_says say_bound(const struct analysis *a, int folded);

enum gain {
	GAIN_ABSENT,     /* the toggle does not apply, or its problems cannot be measured here */
	GAIN_NEVER,      /* unknown, and nothing is left to measure */
	GAIN_UNKNOWN,    /* problems must be measured first: no difference of partial sums is shown */
	GAIN_PENDING,    /* not computed yet */
	GAIN_ROUGH,      /* of quick measurements: `wanted` problems are still to be measured in full */
	GAIN_PARTLY,     /* nothing is left to measure, but the sums have gaps or estimates */
	GAIN_KNOWN
};

struct toggle_says {
	enum gain gain;
	double saves_ns;         /* ROUGH, PARTLY, KNOWN; below 0: it costs */
	int wanted;              /* UNKNOWN: distinct problems to be measured first */
	bool noisy;              /* ROUGH, PARTLY, KNOWN: a measurement in either total is noisy */
};
/* measurable: true if the device can measure or plan missing problems. */
struct toggle_says say_toggle(const struct what_if_effect *e, bool measurable);

/* From long to short; SAY_FORMS - 1 is the shortest. Returns buf, of SAY_GAP bytes. */
#define SAY_FORMS 3
#define SAY_GAP 96
char *say_gap(char *buf, const struct bound_says *b, int form);

/* "real 40.6 ms  ratio 0.96  2 contradicted": noisy samples and a contradicted bound are marked by a word,
 * `~` marks estimates on either side; the ratio only of a complete bound. layers: those that reality
 * contradicts. brief: only the latency. Returns buf, of SAY_REAL bytes. */
#define SAY_REAL 96
char *say_real(char *buf, const struct reality *y, const struct analysis *a, int layers, bool brief);
bool say_real_noisy(const struct reality *y);

/* Writes a median and its spread: the larger side of the interval in percent, or its ends if that is 100% or
 * more; the range for 2 to 5 samples, "1 sample" for one. n = 0: count unknown. lo or hi NaN: no spread.
 * buf: SAY_INTERVAL bytes. Returns buf. */
#define SAY_INTERVAL (4 * STR_QUANTITY)
char *say_interval(char *buf, double ns, double lo, double hi, int64_t n);

#endif
