/* What a device can do at most: memory bandwidth and operations a second by data type, with and without matrix units. From
 * its vendor's figures (a described device) or from measurements. */
#ifndef ANALYZE_PEAKS_H
#define ANALYZE_PEAKS_H

#include "analyze/scenario.h"
#include "store/results.h"

struct peaks {
	double bandwidth_bytes_s;                /* of device memory; NaN unknown */
	double flops[DTYPE_COUNT];               /* on plain units, a multiply-add counting 2; NaN unknown */
	double matrix_flops[DTYPE_COUNT];        /* on matrix units (tf32: f32 operands rounded to it); NaN unknown */
	double cache_bytes;                      /* last-level cache; NaN unknown */
	double cache_bandwidth_bytes_s;          /* of what fits in half of it; NaN unknown */
};

struct peaks peaks_unknown(void); /* all NaN */
/* By the type's name; "f8" sets both 8-bit floats, "s8" also u8. -1: no such type, or not a number above 0. */
int peaks_set(struct peaks *p, struct text dtype, bool matrix, double flops);
bool peaks_have_matrix(const struct peaks *p);
bool peaks_known(const struct peaks *p); /* the bandwidth: without it no roofline is */

/* Problems whose best results are a device's peaks: a copy that no cache holds, one that does, and a large square product
 * of each type. large: for GPUs, which a small product does not fill; a CPU would take seconds for a large one. */
const char *const *peaks_problems(bool large, int *count);
/* What the results have of these, of either size, the best of all algorithms: amortized, net; of the device's llc_bytes.
 * NaN where nothing was measured. Results of relaxed math make the peak of that math (tf32), never of f32. */
struct peaks peaks_from_results(const struct results *r, double llc_bytes);

/* Roofline: the greater of operations / peak of the unit that the scenario allows and compulsory bytes / bandwidth. Matrix
 * units serve conv, deconv, matmul, attention and rnn where the scenario has matrix on, f32 only through tf32 with math
 * relaxed; plain units those without. Other kernels' types without a peak of their own compute in f32; is that not
 * known either, their bytes count alone. NaN: a peak that it takes is not known. */
double roofline_ns(const struct problem *p, const struct peaks *k, const struct scenario *s);
/* The same of what was measured: the algorithm's own units and math; one that counts its own multiplications (Winograd,
 * FFT), or whose units are not known, has the bytes alone. Operands that the cache may hold (in state net all but the
 * constant ones) count by the cache's bandwidth, and not at all where that is not known. */
double roofline_of_result(const struct problem *p, const struct peaks *k, const struct result *r);

#endif
