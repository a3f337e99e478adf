/* Shared by profile.c and the readers of the kinds of files. Private to the room. */
#ifndef PROFILE_READ_READER_H
#define PROFILE_READ_READER_H

#include "problem/stats.h"
#include "profile/profile.h"

/* The first bytes of a file, decompressed. */
struct profile_head {
	const char *path;
	const char *bytes; /* followed by a NUL */
	size_t n;
	bool gzip;         /* the file is compressed */
};

/* Returns true if the head is JSON text that begins with `root`, '{' or '[', and has the key in the root
 * object, or in an object that is an element of the root array. */
bool head_has_key(const struct profile_head *h, char root, const char *key);
/* Returns true if the head contains the ASCII words anywhere. */
bool head_contains(const struct profile_head *h, const char *words);

/* Reader of a kind of file. All readers are in one table (profile.c); the first whose `is` accepts the head
 * reads. */
struct profile_reader {
	enum profile_kind kind;
	bool (*is)(const struct profile_head *h);
	/* Reads the file into e: a new execution with `source` set, or the one that the file completes. Sets
	 * only the fields that the file has. Strings are in a. Returns 0, or -1 with an error that begins
	 * with the path. options may be NULL. */
	int (*read)(struct arena *a, const char *path, const struct profile_options *options,
		struct execution *e, struct error *err);
	unsigned completes; /* bits (1u << kind) of kinds whose execution it completes; 0: it is one itself */
	bool alone;         /* without such an execution it is one itself */
	bool packed;        /* may be compressed with gzip */
};

extern const struct profile_reader profile_kineto, profile_onnx, profile_onnxruntime,
	profile_onnxruntime_memory, profile_trtexec,
	profile_trtexec_layers, profile_trtexec_log, profile_trtexec_summary,
	profile_trtexec_times;
extern const struct profile_reader profile_nsys, profile_nsys_csv, profile_openvino, profile_onednn,
	profile_cudnn, profile_cublaslt;

/* Returns true if ns is plausible as the time of an event: not negative, below a year. */
bool profile_is_time(double ns);
/* Sets ns, lo_ns, hi_ns of a row from its times in the `ran` of `runs` runs in which it ran: median over all
 * runs and its 95% interval, the range for fewer than 6 runs, no interval for one run. If it ran in at most
 * half of the runs, ns is the mean, and the interval begins at 0. */
void profile_row_times(struct execution_row *r, const double *times, int64_t ran, int64_t runs);
/* Sets the latency of e, its stats and percentiles, from n runs. */
void profile_latency(struct execution *e, const double *ns, int64_t n);
/* Returns the type with at least 90% of the time of the level's rows with a known type; else "mixed"; "" if
 * no type is known. */
const char *profile_dtype(const struct execution *e, enum execution_level level);
/* Adds a reason to e->gaps, separated by "; ". "" adds nothing. */
void profile_add_gap(struct arena *a, struct execution *e, const char *gap);

#endif
