/* The kernels of plain_exp.c for one instruction set, included once for each. Parameters: NAME(x), a name of
 * this set; TARGET, its function attributes. */

/* Elements `at` to `end` of an elementwise function; mode is a constant: the function is inlined. */
static inline __attribute__((always_inline)) TARGET void NAME(function)(
	const struct problem *p, const enum mode mode, const float *from, float *to, int64_t at, int64_t end)
{
	line_t x;
	for (; at + LINE <= end; at += LINE) {
		line_load(&x, from, false, at, LINE);
		line_eltwise(&x, mode, p->alpha, p->beta);
		line_store(&x, to, false, at, LINE);
	}
	line_load(&x, from, false, at, end - at);
	line_eltwise(&x, mode, p->alpha, p->beta);
	line_store(&x, to, false, at, end - at);
}

static TARGET void NAME(eltwise)(
	const struct problem *p, const float *from, float *to, int64_t at, int64_t end)
{
#define FUNCTION(m) case m: NAME(function)(p, m, from, to, at, end); break;
	switch (p->mode) {
	FUNCTIONS
	default: break;
	}
#undef FUNCTION
}

#undef NAME
#undef TARGET
