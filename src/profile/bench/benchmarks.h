/* Results of micro-benchmarks in files of other programs, as results of devices:
 *   - JSON of Google Benchmark (--benchmark_out_format=json): the benchmarks of SCOPE and dlperf, and what
 *     `db export --as google-benchmark` writes;
 *   - the table (CSV) into which results of dlperf were converted, one line a benchmark.
 * Files are hostile, as for profile.h. */
#ifndef PROFILE_BENCH_BENCHMARKS_H
#define PROFILE_BENCH_BENCHMARKS_H

#include "problem/result.h"
#include "profile/profile.h"

struct benchmarks_result {
	int device;    /* index in devices */
	bool finished; /* the problem was measured completely */
	struct result result;
};

/* Why benchmarks were left out. */
struct benchmarks_reason {
	const char *text; /* "a function for which there is no problem" */
	int64_t count;
	const char *example; /* name of the first */
};

struct benchmarks {
	struct arena arena; /* owns all texts */
	struct device *devices;
	struct benchmarks_result *results;
	struct benchmarks_reason *reasons;
	int device_count, device_capacity;
	int64_t result_count, result_capacity;
	int reason_count, reason_capacity;
	int64_t entries; /* benchmarks in the file; several runs of one are one result */
	const char *gap; /* what is missing in the file (scan_gap); "": nothing */
};

/* Reads a file, plain or compressed with gzip. Several runs of a benchmark are samples of one result. Returns
 * 0, or -1 with an error that begins with the path. Either way benchmarks_free releases it. options may be
 * NULL. Memory grows with the number of distinct results. */
int benchmarks_read(
	const char *path, const struct profile_options *options, struct benchmarks *b, struct error *err);
void benchmarks_free(struct benchmarks *b);

#endif
