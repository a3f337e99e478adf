/* The kernels of plain_lines.c for one instruction set, included once for each. Parameters: NAME(x), a name
 * of this set; TARGET, its function attributes. The mode of each function is a constant: it is inlined. */

/* A line whose elements are at `from` + `at`, or all the same. */
static inline __attribute__((always_inline)) TARGET void NAME(fetch)(
	line_t *x, const float *from, int64_t step, int64_t at, int64_t count)
{
	if (step)
		line_load(x, from, false, at, count);
	else
		*x = *from - (line_t){ 0 };
}

/* Elements behind the last whole line are computed with those before them as one more line, which is read
 * before the others are written: the destination may be the source. */
static inline __attribute__((always_inline)) TARGET void NAME(function)(
	const enum mode mode, float alpha, float beta, const float *from, float *to, int64_t count)
{
	line_t x, last;
	int64_t at = 0, first = count < LINE ? 0 : count - LINE;
	if (count % LINE)
		line_load(&last, from, false, first, count - first);
	for (; at + LINE <= count; at += LINE) {
		line_load(&x, from, false, at, LINE);
		line_eltwise(&x, mode, alpha, beta);
		line_store(&x, to, false, at, LINE);
	}
	if (at == count)
		return;
	line_eltwise(&last, mode, alpha, beta);
	line_store(&last, to, false, first, count - first);
}

static inline __attribute__((always_inline)) TARGET void NAME(pair_line)(line_t *x, const enum mode mode,
	const float *from, int64_t from_step, const float *other, int64_t other_step, int64_t at,
	int64_t count)
{
	line_t y;
	NAME(fetch)(x, from, from_step, at, count);
	NAME(fetch)(&y, other, other_step, at, count);
	line_binary(x, mode, &y);
}

/* The steps are constants, and the run's pointers are read once: what is stored could be the run. */
static inline __attribute__((always_inline)) TARGET void NAME(pair_steps)(
	const enum mode mode, const struct plain_run *r, const int64_t x_step, const int64_t y_step)
{
	const float *x = r->x, *y = r->y;
	float *to = r->to;
	int64_t count = r->count, at = 0, first = count < LINE ? 0 : count - LINE;
	line_t line, last;
	if (count % LINE)
		NAME(pair_line)(&last, mode, x, x_step, y, y_step, first, count - first);
	for (; at + LINE <= count; at += LINE) {
		NAME(pair_line)(&line, mode, x, x_step, y, y_step, at, LINE);
		line_store(&line, to, false, at, LINE);
	}
	if (at < count)
		line_store(&last, to, false, first, count - first);
}

static inline __attribute__((always_inline)) TARGET void NAME(pair)(
	const enum mode mode, const struct plain_run *r)
{
	if (!r->x_step)
		NAME(pair_steps)(mode, r, 0, 1);
	else if (!r->y_step)
		NAME(pair_steps)(mode, r, 1, 0);
	else
		NAME(pair_steps)(mode, r, 1, 1);
}

static inline __attribute__((always_inline)) TARGET void NAME(scaled_line)(line_t *x, const float *from,
	const float *scales, const float *shifts, int64_t step, int64_t at, int64_t count)
{
	line_t scale, shift;
	line_load(x, from, false, at, count);
	NAME(fetch)(&scale, scales, step, at, count);
	NAME(fetch)(&shift, shifts, step, at, count);
	*x = *x * scale + shift;
}

static inline __attribute__((always_inline)) TARGET void NAME(scaled)(
	const struct plain_run *r, const int64_t step)
{
	const float *x = r->x, *scale = r->scale, *shift = r->shift;
	float *to = r->to;
	int64_t count = r->count, at = 0, first = count < LINE ? 0 : count - LINE;
	line_t line, last;
	if (count % LINE)
		NAME(scaled_line)(&last, x, scale, shift, step, first, count - first);
	for (; at + LINE <= count; at += LINE) {
		NAME(scaled_line)(&line, x, scale, shift, step, at, LINE);
		line_store(&line, to, false, at, LINE);
	}
	if (at < count)
		line_store(&last, to, false, first, count - first);
}

static TARGET void NAME(eltwise)(
	enum mode mode, float alpha, float beta, const float *from, float *to, int64_t count)
{
#define FUNCTION(m) case m: NAME(function)(m, alpha, beta, from, to, count); break;
	switch (mode) {
	FUNCTIONS
	default: break;
	}
#undef FUNCTION
}

static TARGET void NAME(binary)(enum mode mode, const struct plain_run *r)
{
#define FUNCTION(m) case m: NAME(pair)(m, r); break;
	switch (mode) {
	BINARIES
	default: break;
	}
#undef FUNCTION
}

static TARGET void NAME(compute)(const struct problem *p, const struct plain_run *r)
{
	if (p->kernel == KERNEL_BINARY)
		NAME(binary)(p->mode, r);
	else if (p->kernel == KERNEL_BATCHNORM && r->scale_step)
		NAME(scaled)(r, 1);
	else if (p->kernel == KERNEL_BATCHNORM)
		NAME(scaled)(r, 0);
	else
		NAME(eltwise)(p->mode, p->alpha, p->beta, r->x, r->to, r->count);
	for (int i = 0; i < p->epilogue_count; i++)
		NAME(eltwise)(p->epilogue[i].mode, p->epilogue[i].alpha, p->epilogue[i].beta, r->to, r->to,
			r->count);
}

/* Reduces a line to the largest value, or with `sum` to the sum. */
static inline __attribute__((always_inline)) TARGET float NAME(reduce)(const line_t *x, bool sum)
{
	line_t all = *x, other;
	for (int distance = LINE / 2; distance > 0; distance /= 2) {
		line_exchange(&other, &all, distance);
		if (sum)
			all += other;
		else
			line_most(&all, &other);
	}
	return all[0];
}

/* Adds up exp(x - most) of a row and writes the exponentials. */
static inline __attribute__((always_inline)) TARGET float NAME(exponentials)(
	const float *from, float *to, float most, int64_t n)
{
	line_t x, sum = { 0 };
	int64_t at = 0;
	for (; at + LINE <= n; at += LINE) {
		line_load(&x, from, false, at, LINE);
		x -= most;
		line_exp(&x);
		sum += x;
		line_store(&x, to, false, at, LINE);
	}
	float total = NAME(reduce)(&sum, true);
	if (at == n)
		return total;
	line_load(&x, from, false, at, n - at);
	x -= most;
	line_exp(&x);
	line_store(&x, to, false, at, n - at);
	for (int i = 0; i < n - at; i++)
		total += x[i];
	return total;
}

static TARGET void NAME(softmax)(const float *from, float *to, int64_t n)
{
	line_t x, y;
	int64_t at = LINE;
	float most = from[0];
	if (n >= LINE) {
		line_load(&x, from, false, 0, LINE);
		for (; at + LINE <= n; at += LINE) {
			line_load(&y, from, false, at, LINE);
			line_most(&x, &y);
		}
		most = NAME(reduce)(&x, false);
	}
	for (at = n >= LINE ? at : 1; at < n; at++)
		most = from[at] > most ? from[at] : most;
	float by = 1 / NAME(exponentials)(from, to, most, n);
	for (at = 0; at + LINE <= n; at += LINE) {
		line_load(&x, to, false, at, LINE);
		x *= by;
		line_store(&x, to, false, at, LINE);
	}
	for (; at < n; at++)
		to[at] *= by;
}

/* Number of columns of a line, of `count` from line k on. */
static inline int64_t NAME(columns)(int64_t count, int64_t k)
{
	return count - k * LINE < LINE ? count - k * LINE : LINE;
}

/* `count` (at most PLAIN_COLUMNS) neighbouring columns of n values each, `step` apart. */
static TARGET void NAME(softmax_columns)(const float *from, float *to, int64_t n, int64_t step, int64_t count)
{
	line_t x, most[PLAIN_COLUMNS / LINE], sum[PLAIN_COLUMNS / LINE] = { 0 };
	int64_t lines = (count + LINE - 1) / LINE;
	for (int64_t k = 0; k < lines; k++)
		line_load(&most[k], from, false, k * LINE, NAME(columns)(count, k));
	for (int64_t i = 1; i < n; i++)
		for (int64_t k = 0; k < lines; k++) {
			line_load(&x, from, false, i * step + k * LINE, NAME(columns)(count, k));
			line_most(&most[k], &x);
		}
	for (int64_t i = 0; i < n; i++)
		for (int64_t k = 0; k < lines; k++) {
			line_load(&x, from, false, i * step + k * LINE, NAME(columns)(count, k));
			x -= most[k];
			line_exp(&x);
			sum[k] += x;
			line_store(&x, to, false, i * step + k * LINE, NAME(columns)(count, k));
		}
	for (int64_t k = 0; k < lines; k++)
		sum[k] = 1 / sum[k];
	for (int64_t i = 0; i < n; i++)
		for (int64_t k = 0; k < lines; k++) {
			line_load(&x, to, false, i * step + k * LINE, NAME(columns)(count, k));
			x *= sum[k];
			line_store(&x, to, false, i * step + k * LINE, NAME(columns)(count, k));
		}
}

#undef NAME
#undef TARGET
