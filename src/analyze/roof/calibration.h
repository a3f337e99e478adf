/* Calibrated estimates and lower bounds of kernels on described GPUs. A kernel is expected to take
 *
 *     fixed + launch + max(time of operations / share_flops, time of bytes / share_bytes)
 *
 * where both times are those of the roofline (peaks.h) at the vendor's peaks, and launch counts only
 * with isolated launches. Rows say what kernels of a kind reach with a library; generations of GPUs replace
 * the shares of memory and of matrix products. A fixed time is of the clock CALIBRATION_MHZ and in inverse
 * proportion to the clock: start, first loads and last stores in a row of kernels, which make small kernels
 * reach less of the peaks. tools/make_calibration.py fits both tables, names the sources, and predicts each
 * device's figures without it.
 *
 * A product's operations have a tile more: 64 x 64 sums by one multiprocessor, for which a kernel of few
 * tiles waits. Bytes that the last-level cache holds are loaded at CALIBRATION_CACHE_SHARE of 64 bytes a
 * clock and multiprocessor (NVIDIA's tuning guides of Volta to Hopper).
 *
 * No kernel takes less than its floor: CALIBRATION_FLOOR times the fixed time (frameworks run as few as half
 * of the kernels that the groups here are, because they merge more), and the longest of: operations at the
 * peak, bytes that no cache holds at the memory's bandwidth, the others at 64 bytes a clock and
 * multiprocessor. */
#ifndef ANALYZE_CALIBRATION_H
#define ANALYZE_CALIBRATION_H

#include "analyze/roof/peaks.h"

/* tools/calibration_fit.py reads them here, and fits the tables around them. */
#define CALIBRATION_MHZ 1410         /* clock of the fixed times */
#define CALIBRATION_FLOOR 0.46       /* share of the fixed time that no kernel is below */
#define CALIBRATION_CACHE_SHARE 0.31 /* of what the processors can load, what they get from the L2 cache */

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
	CALIBRATION_OLD,           /* cuDNN 7.6: isolated launches below compute capability 7.5 */
	CALIBRATION_NEW,           /* TensorRT 7 to 10, AITemplate, PyTorch 2 */
	CALIBRATION_LIBRARY_COUNT
};

struct calibration_row {
	enum calibration_library library;
	enum calibration_kind kind;
	bool matrix;               /* on matrix units; false where one row serves both units */
	double fixed_ns, launch_ns, tiles;
	double share_flops, share_bytes; /* of the peaks; above 1 for Winograd only */
	double low, high;          /* 10th and 90th percentile of real / estimated, each device estimated
				      from the others; of one device only 1.5 times wider. Old: of isolated
				      launches, new: without launches */
	int points;                /* kernels that it was fitted on; 0: borrowed from the other library,
				      spread 1.5 times wider */
};
const struct calibration_row *calibration_rows(int *count); /* static storage */
const char *calibration_kind_name(enum calibration_kind k); /* "convolution" */
const char *calibration_library_name(enum calibration_library l); /* "new kernels" */

/* GPUs of one architecture: what their kernels reach with new libraries. */
struct calibration_generation {
	int sm;                    /* first compute capability, 89 for 8.9 */
	const char *name;          /* "Ada" */
	double share_bytes;        /* of the memory's bandwidth, by kernels that stream */
	double share_products;     /* of the peak of matrix units, by matrix products */
	/* Published latencies of whole models on its devices beside estimates that were fitted without that
	 * device: their relative errors, the median and the 90th percentile. */
	int figures;               /* 0: none is public; then the errors are those of all generations */
	double error_median, error_most;
};
const struct calibration_generation *calibration_generation(int sm); /* static storage; never NULL */

struct estimate {
	double ns;                 /* NaN: a peak that it needs is unknown */
	double lo, hi;             /* 80% of real kernels of its row are between them; NaN without a row */
	double floor_ns;           /* no kernel takes less; the roofline without a row */
	double overhead_ns;        /* of ns: what the layer takes without any work, fixed time and launch; 0
				      without a row */
	double ops_ns, bytes_ns;   /* of ns: the longer one counts */
	/* At the vendor's peaks: the operations, one tile of a product on one multiprocessor, the bytes from
	 * memory, and those from the last-level cache */
	double peak_ops_ns, tile_ns, memory_ns, cache_ns;
	bool matrix, relaxed;      /* the units of the scenario that it is for */
	const struct calibration_row *row; /* NULL: the pure roofline, because the device is not a described
					      GPU */
	bool nearest;              /* no kernel of its kind was measured with the library: the row is of the
				      nearest kind, or borrowed */
	bool other_launch;         /* the library was measured in the other launch mode only: spread 1.5
				      times wider */
};
/* Estimate of a problem on a device of these peaks in a scenario; cache state as in roofline_ns. reuse_bytes:
 * what the model moves between two uses of a constant (plan.reuse_bytes; NaN unknown): constants are read
 * from memory again only if that exceeds the last-level cache. A row of the nearest kind has its spread
 * widened like a borrowed row. */
struct estimate estimate_of(
	const struct problem *p, const struct peaks *k, const struct scenario *s, double reuse_bytes);
/* The same with the lowest of the units that the scenario allows, because a library may choose: where memory
 * is the limit, plain units can be as fast. The floor is the lowest of theirs. */
struct estimate estimate_least(
	const struct problem *p, const struct peaks *k, const struct scenario *s, double reuse_bytes);

#endif
