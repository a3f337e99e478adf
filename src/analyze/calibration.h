/* Calibrated estimates: what share of a vendor's peaks real kernels reach. A kernel on a described GPU takes
 *
 *     fixed + launch + max(time of operations / share_flops, time of bytes / share_bytes)
 *
 * where both times are those of the roofline (analyze/peaks.h) at the vendor's peaks, and launch counts only
 * with isolated launches. Fixed time and launch are the same on all devices. The rows are fitted by
 * tools/make_calibration.py, which names the sources and predicts data that it did not use (--proof). The
 * fixed time, which is start, first loads and last stores in a row of kernels, makes small kernels reach less
 * of the peaks. */
#ifndef ANALYZE_CALIBRATION_H
#define ANALYZE_CALIBRATION_H

#include "analyze/peaks.h"

enum calibration_kind {
	CALIBRATION_MEMORY,        /* kernels that are limited by bytes: elementwise, pooling, copies ... */
	CALIBRATION_CONV,          /* convolution */
	CALIBRATION_CONV_FEW,      /* ... with fewer than 8 input channels a group, on matrix units */
	CALIBRATION_CONV_GROUP,    /* ... depthwise */
	CALIBRATION_CONV_WINOGRAD, /* ... 3x3 without stride, on plain units: Winograd's algorithm applies */
	CALIBRATION_MATMUL,
	CALIBRATION_NORM,          /* batch normalization by itself */
	CALIBRATION_KIND_COUNT
};

enum calibration_library {
	CALIBRATION_OLD,           /* cuDNN 7.6: compute capability below 7.5 */
	CALIBRATION_NEW,           /* TensorRT 8 */
	CALIBRATION_LIBRARY_COUNT
};

struct calibration_row {
	enum calibration_library library;
	enum calibration_kind kind;
	bool matrix;               /* on matrix units; false where one row serves both units */
	double fixed_ns, launch_ns;
	double share_flops, share_bytes; /* of the peaks; above 1 for Winograd only */
	double low, high;          /* 10th and 90th percentile of real / estimated, each device estimated
				      from the others; of one device only 1.5 times wider. Old: of isolated
				      launches, new: without launches */
	int points;                /* kernels that it was fitted on; 0: borrowed from the other library,
				      spread 1.5 times wider */
};
const struct calibration_row *calibration_rows(int *count); /* static storage */
const char *calibration_kind_name(enum calibration_kind k); /* "convolution" */
const char *calibration_library_name(enum calibration_library l); /* "TensorRT 8" */

struct estimate {
	double ns;                 /* NaN: a peak that it needs is unknown */
	double lo, hi;             /* 80% of real kernels of its row are between them; NaN without a row */
	double overhead_ns;        /* of ns: what the layer takes without any work, fixed time and launch; 0
				      without a row */
	bool matrix, relaxed;      /* the units of the scenario that it is for */
	const struct calibration_row *row; /* NULL: the pure roofline, because the device is not a described
					      GPU */
	bool nearest;              /* no kernel of its kind was measured with the library: the row is of the
				      nearest kind, or borrowed */
	bool other_launch;         /* the library was measured in the other launch mode only: spread 1.5
				      times wider */
};
/* Estimate of a problem on a device of these peaks in a scenario; cache state as in roofline_ns. A row of the
 * nearest kind has its spread widened like a borrowed row. */
struct estimate estimate_of(const struct problem *p, const struct peaks *k, const struct scenario *s);

#endif
