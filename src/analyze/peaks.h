/* What a device can do at most: bandwidth of its memory and of each level of cache, and operations a second by data type,
 * with and without matrix units. From its vendor's figures (a described device) or from measurements. */
#ifndef ANALYZE_PEAKS_H
#define ANALYZE_PEAKS_H

#include "analyze/scenario.h"
#include "base/arena.h"
#include "base/json.h"
#include "store/results.h"

#define PEAK_LEVELS 4

struct peak_level {
	int level;                /* 1 = L1 */
	double bytes;             /* that it holds of what all threads work on */
	double bandwidth_bytes_s; /* read and written, by all threads; NaN unknown */
	bool estimated;           /* it is what one thread got, as often as there are threads */
};

struct peaks {
	double bandwidth_bytes_s;                /* of device memory; NaN unknown */
	int level_count;                         /* caches whose size is known, nearest first: each holds more than the one before */
	struct peak_level level[PEAK_LEVELS];
	double flops[DTYPE_COUNT];               /* on plain units, a multiply-add counting 2; NaN unknown */
	double matrix_flops[DTYPE_COUNT];        /* on matrix units (tf32: f32 operands rounded to it); NaN unknown */
};

struct peaks peaks_unknown(void); /* all NaN, no level */
/* By the type's name; "f8" sets both 8-bit floats, "s8" also u8. -1: no such type, or not a number above 0. */
int peaks_set(struct peaks *p, struct text dtype, bool matrix, double flops);
bool peaks_have_matrix(const struct peaks *p);
bool peaks_known(const struct peaks *p); /* the bandwidth: without it no roofline is */
/* Something is known of its memory and caches, but not all. */
bool peaks_have_gaps(const struct peaks *p);
/* "memory 11.2 GB/s, L3 66.1 GB/s, L2 -, L1 ~266 GB/s; f32 204 GFLOP/s; on matrix units f16 ...": "-" what is not known beside
 * what is, "~" an estimate; "" nothing known. */
void peaks_describe(const struct peaks *p, struct str *out);
/* The same as JSON (benanza-json(5)); null where nothing is known. The caller owns it. */
json_t *peaks_json(const struct peaks *p);
struct peaks peaks_from_json(const json_t *o); /* and back; unknown where it is none */

/* ---- measured: peaks_measured.c ---- */

/* Problems whose best results are a device's peaks, about ten: a copy for each level of memory, a read of the shared ones
 * (a product of one row, which hardly writes), and a large square product of each type of `types` - one for a CPU of few
 * cores, where it takes milliseconds, and one that fills a GPU. Texts live in the arena. */
const char **peaks_problems(struct arena *a, const struct device *d, const bool types[DTYPE_COUNT], int *count);
/* The same of any device: all texts that peaks_from_results looks for. */
const char **peaks_problems_of_all(struct arena *a, int *count);
/* Notes the type whose peak a problem's roofline asks for, if it does. */
void peaks_note_type(bool types[DTYPE_COUNT], const char *problem);
/* What the results have of these: the best sample of all algorithms, amortized, where nothing disturbed the measuring of the best of them; also of older
 * measurements by the same version of the runner, unless a newer one mistrusts that algorithm: a noisy minute lowers no peak. The levels are those of the device's own
 * description (attributes: caches; else llc_bytes alone). A cache that each core has for itself serves all threads: what one
 * of them gets there counts as often as there are threads, since in a small copy they would mostly wait for one another. NaN
 * where nothing was measured. Results of relaxed math make the peak of that math (tf32), never of f32. */
struct peaks peaks_from_results(const struct results *r, const struct device *d);

/* ---- rooflines: roofline.c ---- */

/* The greater of operations / peak of the unit that the scenario allows and compulsory bytes / bandwidth of the level that
 * they fit in; in state net constant operands come from memory. Matrix units serve conv, deconv, matmul, attention and rnn
 * where the scenario has matrix on, f32 only through tf32 with math relaxed; plain units those without. Other kernels' types
 * without a peak of their own compute in f32; is that not known either, their bytes count alone. A level of unknown
 * bandwidth counts as the next one that is known. NaN: a peak that it takes is not known. */
double roofline_ns(const struct problem *p, const struct peaks *k, const struct scenario *s);
/* The same of what was measured: the algorithm's own units and math; one that counts its own multiplications (Winograd,
 * FFT), or whose units are not known, has the bytes alone. Operands that a cache of unknown size or bandwidth may hold (in
 * state net all but the constant ones) do not count. */
double roofline_of_result(const struct problem *p, const struct peaks *k, const struct result *r);

/* Is it measured at under ROOFLINE_TRUST of what its peaks allow? Either is wrong then, the measurement or a peak. Only what
 * is certain is held against it: operations of products, without those on padding; bytes that no cache can have held,
 * whatever it kept of them, and of the constants that rotate half. */
#define ROOFLINE_TRUST 0.9
bool roofline_mistrusts(const struct problem *p, const struct peaks *k, const struct result *r);

#endif
