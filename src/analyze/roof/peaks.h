/* A device's peaks: bandwidth of its memory and of each cache level, and operations/s by data type, with and
 * without matrix units. From the vendor's figures (a described device) or from measurements. */
#ifndef ANALYZE_PEAKS_H
#define ANALYZE_PEAKS_H

#include "analyze/scenario/scenario.h"
#include "base/arena.h"
#include "base/json.h"
#include "store/results.h"

#define PEAK_LEVELS 4

struct peak_level {
	int level;                /* 1 = L1 */
	double bytes;             /* total size of this level for all threads */
	double bandwidth_bytes_s; /* read + written, by all threads; NaN unknown */
	bool estimated;           /* the bandwidth of one thread multiplied by the number of threads */
};

struct peaks {
	double bandwidth_bytes_s;                /* of device memory; NaN unknown */
	int level_count;                         /* caches of known size, nearest first, each larger than the
						    one before */
	struct peak_level level[PEAK_LEVELS];
	double flops[DTYPE_COUNT];               /* FLOP/s on plain units (a multiply-add is 2); NaN
						    unknown */
	double matrix_flops[DTYPE_COUNT];        /* FLOP/s on matrix units (tf32: f32 operands rounded to it);
						    NaN unknown */
	/* Measured: how many times the slow end of its measurement's interval each peak is; 0: it has none */
	double bandwidth_spread, level_spread[PEAK_LEVELS];
	double flops_spread[DTYPE_COUNT], matrix_spread[DTYPE_COUNT];
	bool noisy;                              /* noisy measurements were left out */
	/* of a described GPU, for estimates (analyze/roof/calibration.h) */
	int sm;                                  /* compute capability, 90 for 9.0; 0: not a described GPU */
	double clock_share, bandwidth_share;     /* of its peaks, what the GPU holds under its power limit;
						    1 if it holds them or is not known not to */
	double clock_mhz;                        /* NaN unknown */
	int multiprocessors;                     /* 0 unknown */
};

struct peaks peaks_unknown(void); /* all NaN, no level; sm 0 */
/* Sets the FLOP/s of a type by its name; "f8" sets both 8-bit floats, "s8" also u8. -1: unknown type, or
 * flops not above 0. */
int peaks_set(struct peaks *p, struct text dtype, bool matrix, double flops);
bool peaks_have_matrix(const struct peaks *p);
bool peaks_known(const struct peaks *p); /* true if the memory bandwidth is known, which every roofline
					    needs */
/* True if some bandwidths of memory and caches are known, but not all. */
bool peaks_have_gaps(const struct peaks *p);
/* "memory 11.2 GB/s, L3 66.1 GB/s, L2 -, L1 ~266 GB/s; f32 204 GFLOP/s; on matrix units f16 ...": "-"
 * unknown, "~" an estimate; "" if nothing is known. */
void peaks_describe(const struct peaks *p, struct str *out);
/* The same as JSON (benanza-json(5)); null if nothing is known. The caller owns it. */
json_t *peaks_json(const struct peaks *p);
struct peaks peaks_from_json(const json_t *o); /* the inverse; unknown if o is not an object */

/* ---- measured: peaks_measured.c ---- */

/* Problems whose best results are a device's peaks, about ten: a copy for each memory level, a read of the
 * shared ones (a matmul with one row, which writes almost nothing), and a large square matmul of each type in
 * `types`, of a size for the device: milliseconds on a CPU with few cores, enough to fill a GPU. Array and
 * texts live in the arena. */
const char **peaks_problems(
	struct arena *a, const struct device *d, const bool types[DTYPE_COUNT], int *count);
/* The same for all devices: every text that peaks_from_results reads. */
const char **peaks_problems_of_all(struct arena *a, int *count);
/* Sets types[t] for the type t whose peak the problem's roofline needs, if any. */
void peaks_note_type(bool types[DTYPE_COUNT], const char *problem);
/* Peaks from the results of these problems: the best sample of all algorithms, launch amortized, noisy
 * results excluded. Replaced (older) results of the same runner version count too, unless a newer result of
 * that algorithm is suspect: a noisy period does not lower a peak. Levels are those in the device's
 * attributes (caches; else llc_bytes alone). For a private cache, the bandwidth of one thread is multiplied
 * by the number of threads, because in a small copy by all threads they mostly wait for one another. NaN: not
 * measured. Results with relaxed math count for the type that they round to (tf32), never for f32.
 * The FLOP/s of a unit are raised to what other problems reach on it, each at its cost and without operations
 * on padding: by a direct algorithm (not Winograd or FFT) whose outputs were verified and whose samples have
 * converged, if another problem of the same kernel comes within 10% of it. One fast result raises nothing.
 * Elementwise problems raise the bandwidth of the cache that holds their operands alike. */
struct peaks peaks_from_results(const struct results *r, const struct device *d);

/* ---- rooflines: roofline.c ---- */

/* Roofline in ns: the longer of operations / peak of the unit that the scenario allows and compulsory bytes /
 * bandwidth of the level that they fit in; in state net, constant operands come from memory. Matrix units
 * apply to conv, deconv, matmul, attention and rnn if matrix is on (f32 only as tf32 with math relaxed),
 * plain units to the rest. Types of other kernels without a peak use that of f32; if that is unknown too,
 * only bytes count. A level of unknown bandwidth counts as the next known one. NaN: a peak that it needs is
 * unknown. */
double roofline_ns(const struct problem *p, const struct peaks *k, const struct scenario *s);
/* The same for a result, with the units and math of its algorithm. For algorithms with fewer multiplications
 * (Winograd, FFT), or of unknown units, only bytes count. Operands that a cache of unknown size or bandwidth
 * may hold (in state net all but the constants) do not count. */
double roofline_of_result(const struct problem *p, const struct peaks *k, const struct result *r);

/* True if the result is suspect: its median is below ROOFLINE_TRUST of the time that the peaks allow, so the
 * measurement or a peak is wrong. */
#define ROOFLINE_TRUST 0.9
bool roofline_mistrusts(const struct problem *p, const struct peaks *k, const struct result *r);

#endif
