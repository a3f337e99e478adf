/* Data for the tables of XSP's analyses. */
#ifndef ANALYZE_XSP_PRIVATE_H
#define ANALYZE_XSP_PRIVATE_H

#include "analyze/tables/xsp.h"

/* A layer of the execution, or of the plan. Unknown numbers are NaN, unknown texts "". */
struct xsp_layer {
	int index;             /* index of its (first) layer in the plan, or -1 */
	const char *name, *type, *shape;
	double ns;             /* less the profiler's predicted cost */
	bool estimated;        /* ns is a bound with estimated costs */
	double output_bytes;
	double flops, bytes;   /* from the counters of its kernels, else from the plan */
	bool counted;          /* from counters */
	double kernel_ns;      /* sum of its kernels on the device */
	int kernel_count;
	double read_bytes, write_bytes, occupancy, kernel_flops; /* of its kernels */
};

struct xsp_kernel {
	const char *name, *layer;
	int in;                /* index in layers, or -1 */
	double ns, calls, flops, read_bytes, write_bytes, occupancy;
};

struct xsp_levels {
	const struct xsp_input *in;
	struct arena *arena;
	const struct execution *model, *layer, *kernel; /* source of each level, or NULL */
	double model_ns;
	int layer_count, kernel_count;
	struct xsp_layer *layers;   /* in order of execution */
	struct xsp_kernel *kernels; /* in order of execution; rows with one name stay separate */
	double ideal, peak_flops, bandwidth; /* roofline; ideal = peak_flops / bandwidth; NaN unknown */
	const char *peak;           /* "f32", "f16 matrix" */
	int without_ns;             /* layers without a known latency */
};

/* xsp_levels.c */
void xsp_gather(struct xsp_levels *l);
bool xsp_compatible(const struct execution *a, const struct execution *b, bool same_batch);

/* xsp_tables.c: the functions of the table in xsp.c */
#define XSP_FILL(NAME) void xsp_fill_##NAME(struct xsp_table *t, struct xsp_levels *l)
XSP_FILL(model);
XSP_FILL(layers);
XSP_FILL(layer_latency);
XSP_FILL(layer_memory);
XSP_FILL(layer_types);
XSP_FILL(type_latency);
XSP_FILL(type_memory);
XSP_FILL(kernels);
XSP_FILL(kernel_roofline);
XSP_FILL(kernel_names);
XSP_FILL(layer_kernels);
XSP_FILL(layer_metrics);
XSP_FILL(layer_device);
XSP_FILL(layer_roofline);
XSP_FILL(model_kernels);
/* xsp_costs.c */
XSP_FILL(by_type);
XSP_FILL(by_scope);
XSP_FILL(by_class);
XSP_FILL(distribution);
XSP_FILL(gains);
XSP_FILL(by_limit);
/* Columns of gains: the first one of a what-if, with its name ("gain_fusion_ns"); most of them. */
#define XSP_GAINS_FIRST 4
#define XSP_GAINS_MAX 16

/* Appends a row, then its cells in the order of the columns. */
void xsp_row(struct xsp_table *t);
void xsp_text(struct xsp_table *t, const char *text);
void xsp_number(struct xsp_table *t, double number);
void xsp_estimate(struct xsp_table *t, double number, bool estimated);

#endif
