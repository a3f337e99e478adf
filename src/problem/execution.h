/* An execution: a real run of a whole model by a framework. Agents send executions (docs/wire.md), readers of
 * profiles make them from files (src/profile), the store keeps them, the analysis compares them with the
 * bound. */
#ifndef PROBLEM_EXECUTION_H
#define PROBLEM_EXECUTION_H

#include "problem/result.h"

/* The level of a row. Rows of one level do not overlap unless they ran in parallel. */
#define EXECUTION_LEVEL_LIST(_)          \
	_(LAYER, "layer")   /* a node of the framework's own graph, or a layer of its engine */ \
	_(KERNEL, "kernel") /* a kernel on the device, a primitive of a library */ \
	_(COPY, "copy")     /* a transfer between host and device */ \
	_(API, "api")       /* a call of the device's runtime on the host */
enum execution_level {
#define EXECUTION_LEVEL_ENUM(id, name) LEVEL_##id,
	EXECUTION_LEVEL_LIST(EXECUTION_LEVEL_ENUM)
#undef EXECUTION_LEVEL_ENUM
	LEVEL_COUNT
};
const char *execution_level_name(enum execution_level level);
int execution_level_parse(const char *name); /* -1: no such name */

/* A row of a profile. Lists of names are separated by '\n'. Unknown texts are "", unknown numbers NaN. */
struct execution_row {
	enum execution_level level;
	int parent;           /* an earlier row that caused it (a kernel's layer), or -1 */
	const char *name;     /* the framework's own name */
	const char *op;       /* the framework's operator or layer type: "Conv", "ReorderInput" */
	const char *provider; /* provider that ran it: "CPUExecutionProvider", "GPU" */
	const char *kernel;   /* implementation: "jit_avx512_core_f32"; for a kernel its demangled name */
	const char *nodes;    /* names of the model's nodes that it executes, as the framework reports them */
	const char *inputs, *outputs; /* names of its tensors, possibly without constants */
	const char *shapes;   /* of its inputs, as the framework prints them */
	const char *dtype;    /* type that it computed in: "f32" */
	double ns;            /* time per run of the model: the median over the profiled runs; NaN: unknown */
	double lo_ns, hi_ns;  /* 95% confidence interval of that median, else its range */
	double calls;         /* executions per run; 1 for most */
	double start_ns;      /* start of its first execution, from the start of a run */
	double output_bytes;  /* allocated for its outputs; with temp_bytes in `settings` also temporaries */
	double flops, read_bytes, write_bytes, occupancy; /* device counters per run; occupancy 0 to 1 */
	int stream;           /* device stream or thread; -1: unknown */
};

/* Texts are clean. Unknown texts are "", unknown numbers NaN, an unknown count 0. */
struct execution {
	/* who ran it */
	const char *source;    /* "agent", or the kind of file: "onnxruntime", "trtexec", "nsys" ... */
	const char *framework; /* "onnxruntime" */
	const char *version;   /* version of the framework */
	const char *provider;  /* the requested one: "CPUExecutionProvider" */
	const char *device;    /* model of the CPU or GPU */
	const char *host;
	int threads;           /* threads of one inference; 0: unknown */
	const char *dtype;     /* type that the framework computed in: "f32", "bf16", "mixed" */
	const char *math;      /* "strict", "tf32", "fast_bf16" ... */
	const char *settings;  /* JSON object: graph level, spinning, hints, I/O binding, pinned cores ... */
	/* what it ran */
	const char *model;     /* name */
	const char *model_hash; /* SHA-256 of the model's file, hexadecimal */
	const char *inputs;    /* "data:f32:1x3x224x224", separated by '\n', with the shapes that ran */
	int64_t batch;         /* 0: unknown */
	int requests;          /* concurrent requests; 0 and 1: one */
	/* how long, in ns */
	enum status status;
	const char *why;       /* the reason if status is not ok; the disturbance if noisy */
	struct sample_stats stats; /* latency of one unprofiled run, inputs and outputs in place; stop
				STOP_DISTURBED: noisy. Median NaN: unknown */
	double p90_ns, p99_ns;
	double items_per_s;    /* inferences times batch per second, with `requests` concurrent ones */
	double load_ns;        /* session creation: load, optimize, compile */
	double first_ns;       /* first run */
	double copy_in_ns, copy_out_ns; /* copying inputs to the device, outputs from it */
	double floor_ns;       /* latency of an empty model (Identity) in the same framework and settings */
	double profiled_ns;    /* median latency of the profiled runs */
	double outside_ns;     /* time of a profiled run outside its topmost rows: the median over the runs
				of the run's time minus the sum of its own rows */
	double outside_lo_ns, outside_hi_ns; /* its 95% interval */
	double profiler_row_ns; /* predicted cost of profiling one layer, from a chain of tiny nodes */
	double profiler_inside_ns; /* the part of it that the time of a row contains */
	double memory_bytes;   /* peak resident memory of the process or device while it ran */
	/* outputs compared with those of f32 on the same inputs */
	double output_error;   /* largest error relative to the largest reference value */
	bool output_compared, output_finite; /* compared; no NaN, no infinity, no denormal numbers */
	int64_t measured_at;   /* seconds since 1970; 0: unknown */
	int row_count;
	struct execution_row *rows; /* in order of execution where the source has one */
	/* missing data, one line: "truncated after 1200 events"; "": complete */
	const char *gaps;
};

/* Returns an execution in which everything is unknown: texts "", numbers NaN, counts 0, status ok. */
struct execution execution_new(void);
struct execution_row execution_row_new(void);
/* Returns a deep copy in the arena; texts are not cleaned. */
struct execution execution_copy(struct arena *a, const struct execution *e);
/* The same for a row. */
struct execution_row execution_row_copy(struct arena *a, const struct execution_row *r);

/* Appends a row; the array grows in the arena. */
struct execution_row *execution_add(struct arena *a, struct execution *e, int *capacity);
/* How an execution was made, as a text in the arena: equal for equal framework, version, provider, device,
 * threads, type, math, settings, inputs, batch and requests. Measured settings are not part of it: keys that
 * end in a unit (_ns, _us, _ms, _s, _bytes) and `reference`. */
const char *execution_setup(struct arena *a, const struct execution *e);
/* Returns the change that a trial made ("batch=8"): the key `try` of the settings; "" if it was none. In the
 * arena. */
const char *execution_move(struct arena *a, const struct execution *e);
/* Returns a time of the row (ns, lo_ns or hi_ns) less the profiler's predicted cost in it, profiler_inside_ns
 * a call; at least half of the time, because the prediction comes from another node. NaN for NaN. */
double execution_corrected_ns(const struct execution *e, const struct execution_row *r, double ns);

#endif
