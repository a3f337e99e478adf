/* The kernel of gemm_packed.c for one instruction set, included once for each. Parameters: NAME(x), a name of
 * this set; TARGET, its function attributes; VECTOR, bytes of a register; MOST, rows of a block at most, and
 * CASES, a CASE(rows, parts) for each number of rows up to it. */

typedef float NAME(vector) __attribute__((vector_size(VECTOR)));

#define PER_LINE (LANES * (int)sizeof(float) / VECTOR) /* registers of a panel's row */

/* Stores a row of a panel with the bias; the last panel may have fewer columns than LANES. */
static inline __attribute__((always_inline)) TARGET void NAME(store)(
	const struct gemm_packed *g, int64_t panel, int64_t row, const NAME(vector) *sum)
{
	int64_t column = panel * LANES, left = g->n - column;
	float out[LANES], bias[LANES] = { 0 };
	size_t bytes = (size_t)(left < LANES ? left : LANES) * sizeof(float);
	memcpy(out, sum, sizeof(out));
	if (g->bias)
		memcpy(bias, g->bias + column, bytes);
	for (int i = 0; i < LANES; i++)
		out[i] += bias[i];
	memcpy(g->c + row * g->n + column, out, bytes);
}

/* Multiplies `rows` rows with one panel. Few rows are summed in `parts` parts, for successive k, so that an
 * addition does not wait for the one before it. rows and parts are constants: the function is inlined, its
 * loops are unrolled, and the sums are registers. */
static inline __attribute__((always_inline)) TARGET void NAME(block)(
	const struct gemm_packed *g, int64_t panel, int64_t row, const int rows, const int parts)
{
	const float *a = g->a + row * g->k, *b = g->b + panel * g->k * LANES;
	NAME(vector) sum[MOST_SUMS][PER_LINE] = { { { 0 } } };
	int64_t k = 0;
	for (; k + parts <= g->k; k += parts)
#pragma GCC unroll 16
		for (int p = 0; p < parts; p++) {
			const NAME(vector) *line = (const NAME(vector) *)(const void *)(b + (k + p) * LANES);
			__builtin_prefetch(b + (k + p + AHEAD) * LANES);
#pragma GCC unroll 16
			for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
				for (int i = 0; i < PER_LINE; i++)
					sum[r * parts + p][i] += a[r * g->k + k + p] * line[i];
		}
	for (; k < g->k; k++)
#pragma GCC unroll 16
		for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
			for (int i = 0; i < PER_LINE; i++)
				sum[r * parts][i] += a[r * g->k + k] *
					((const NAME(vector) *)(const void *)(b + k * LANES))[i];
#pragma GCC unroll 16
	for (int r = 0; r < rows; r++) {
#pragma GCC unroll 8
		for (int p = 1; p < parts; p++)
#pragma GCC unroll 4
			for (int i = 0; i < PER_LINE; i++)
				sum[r * parts][i] += sum[r * parts + p][i];
		NAME(store)(g, panel, row + r, sum[r * parts]);
	}
}

/* Multiplies all rows with the panels of a share, panel by panel. */
static TARGET void NAME(share)(const struct gemm_packed *g, int i, int count)
{
	int64_t total = panels(g->n), end = total * (i + 1) / count;
	for (int64_t panel = total * i / count; panel < end; panel++)
		for (int64_t row = 0; row < g->m; row += MOST)
			switch (g->m - row < MOST ? (int)(g->m - row) : MOST) {
#define CASE(rows, parts) case rows: NAME(block)(g, panel, row, rows, parts); break;
			CASES
#undef CASE
			default: break;
			}
}

#undef PER_LINE
#undef NAME
#undef TARGET
#undef VECTOR
#undef MOST
#undef CASES
