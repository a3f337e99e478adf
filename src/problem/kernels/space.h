/* What conv, deconv, pool and resample share: n, c and one to three spatial dimensions, windows that move
 * over them. */
#ifndef PROBLEM_KERNELS_SPACE_H
#define PROBLEM_KERNELS_SPACE_H

#include "problem/problem_private.h"
#include "problem/problem_segments.h"

/* Text: pads, strides, dilations; numbers along the spatial axes, after a prefix: d h w, and of the kernel t
 * r s. */
extern const struct segment segment_pads, segment_strides, segment_dilations;
void space_write(const struct problem *p, const char *prefix, const int64_t *v, struct str *out);
int space_read(struct cursor *c, const struct problem *p, const char *prefix, int64_t *v);
void space_write_kernel(const struct problem *p, struct str *out);
int space_read_kernel(struct cursor *c, struct problem *p);
/* n, c and the input space, which says how many spatial dimensions there are. */
void space_write_source(const struct problem *p, struct str *out);
int space_read_source(struct cursor *c, struct problem *p);

/* Checks n, c and the input space. */
int space_check_source(const struct problem *p, struct error *err);
/* Checks kernel size, strides, dilations and pads, and with check_out the output size along each axis. */
int space_check_window(const struct problem *p,
	int (*check_out)(const struct problem *p, int i, struct error *err), struct error *err);
/* A window that moves forward must fit into the padded input. */
int space_check_fits(const struct problem *p, int i, struct error *err);

/* The shape of the source (n, c, input space), and of a destination with that many channels (n, channels,
 * output space). */
struct problem_shape space_source(const struct problem *p);
struct problem_shape space_destination(const struct problem *p, int64_t channels);
/* Output size along axis i of a window that moves forward. */
int64_t space_out_size(const struct problem *p, int i);
/* Elements of the window. */
double space_kernel_volume(const struct problem *p);
/* Least share of the source that the windows read: strides can skip elements. */
double space_share_read(const struct problem *p);

#endif
