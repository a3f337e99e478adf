/* The kernel of gemm_packed.c for one instruction set, included once for each. Parameters: NAME(x), a name of
 * this set; TARGET, its function attributes; VECTOR, bytes of a register; WIDTHS, for 0, 1 ... rows the
 * panels of a group if all rows are multiplied in one pass; PASS_ROWS, most rows of a pass if there are
 * several, and PASS_PANELS, the panels of a group then; CASES, a CASE(rows, panels) for each tile that these
 * make, and for single panels; DOT, if it multiplies pairs of bf16. Of products with integers: FEW_ROWS, most
 * rows of a pass; FEW_PANELS, panels of a group of up to FEW_WIDE rows, of more rows it is one; FEW_CASES, as
 * CASES. */

typedef float NAME(vector) __attribute__((vector_size(VECTOR), may_alias));
typedef uint32_t NAME(words) __attribute__((vector_size(VECTOR), may_alias));
typedef int32_t NAME(integers) __attribute__((vector_size(VECTOR), may_alias));

#define PER_LINE (LINE_BYTES / VECTOR) /* registers of a line */

/* sum += products of one line of B with two values of A, as bf16. */
static inline __attribute__((always_inline)) TARGET void NAME(pair)(
	NAME(vector) *sum, uint32_t a, const NAME(words) *b)
{
	NAME(words) both = a - (NAME(words)){ 0 };
#ifdef DOT
	*sum = (NAME(vector))DOT(*sum, both, *b);
#else
	*sum += (NAME(vector))(both << 16) * (NAME(vector))(*b << 16);
	*sum += (NAME(vector))(both & 0xffff0000) * (NAME(vector))(*b & 0xffff0000);
#endif
}

/* Adds to the tile's sums the products of lines t->from to t->to. rows, panels and narrow are constants: the
 * function is inlined, its loops are unrolled, and the sums are registers. */
static inline __attribute__((always_inline)) TARGET void NAME(tile)(const struct gemm_packed *g,
	const struct tile *t, const int rows, const int panels, const bool narrow, const bool ahead)
{
	NAME(vector) sum[TILE_MOST][PER_LINE], *kept = (NAME(vector) *)(void *)t->kept;
	const float *a = (const float *)g->a + t->row * g->k;
	const uint16_t *halves = (const uint16_t *)g->a + t->row * g->k;
#pragma GCC unroll 32
	for (int i = 0; i < rows * panels; i++)
#pragma GCC unroll 4
		for (int j = 0; j < PER_LINE; j++)
			sum[i][j] = kept[i * PER_LINE + j];
	for (int64_t at = t->from; at < t->to; at++) {
		NAME(words) b[PANELS_MOST][PER_LINE];
		if (ahead)
			__builtin_prefetch(t->next + at * LINE_BYTES, 0, 1);
#pragma GCC unroll 8
		for (int p = 0; p < panels; p++)
#pragma GCC unroll 4
			for (int j = 0; j < PER_LINE; j++)
				b[p][j] = ((const NAME(words) *)(const void *)(
					t->b + p * t->step + at * LINE_BYTES))[j];
#pragma GCC unroll 8
		for (int r = 0; r < rows; r++) {
			uint32_t two = 0;
			float one = 0;
			if (narrow)
				memcpy(&two, halves + r * g->k + 2 * at, sizeof(two));
			else
				one = a[r * g->k + at];
#pragma GCC unroll 8
			for (int p = 0; p < panels; p++)
#pragma GCC unroll 4
				for (int j = 0; j < PER_LINE; j++)
					if (narrow)
						NAME(pair)(&sum[r * panels + p][j], two, &b[p][j]);
					else
						sum[r * panels + p][j] += one * (NAME(vector))b[p][j];
		}
	}
#pragma GCC unroll 32
	for (int i = 0; i < rows * panels; i++)
#pragma GCC unroll 4
		for (int j = 0; j < PER_LINE; j++)
			kept[i * PER_LINE + j] = sum[i][j];
}

/* The last row of a B with an odd number of rows in bf16: A has no second value. */
static TARGET void NAME(odd)(const struct gemm_packed *g, const struct tile *t, int rows, int panels)
{
	const uint16_t *a = (const uint16_t *)g->a + t->row * g->k + g->k - 1;
	NAME(vector) *kept = (NAME(vector) *)(void *)t->kept;
	for (int r = 0; r < rows; r++)
		for (int p = 0; p < panels; p++)
			for (int j = 0; j < PER_LINE; j++)
				NAME(pair)(&kept[(r * panels + p) * PER_LINE + j], a[r * g->k],
					(const NAME(words) *)(const void *)(t->b + p * t->step +
						g->k / 2 * LINE_BYTES) + j);
}

static TARGET void NAME(multiply)(
	const struct gemm_packed *g, const struct tile *t, int rows, int panels, bool ahead)
{
	switch (rows * 32 + panels * 4 + g->narrow * 2 + ahead) {
#define CASE(r, p) \
	case r * 32 + p * 4: NAME(tile)(g, t, r, p, false, false); break; \
	case r * 32 + p * 4 + 1: NAME(tile)(g, t, r, p, false, true); break; \
	case r * 32 + p * 4 + 2: NAME(tile)(g, t, r, p, true, false); break; \
	case r * 32 + p * 4 + 3: NAME(tile)(g, t, r, p, true, true); break;
		CASES
#undef CASE
	default: break;
	}
}

/* Applies the epilogues to a tile's sums and writes them. */
static TARGET void NAME(finish)(
	const struct gemm_packed *g, const struct tile *t, int rows, int panels, int64_t column)
{
	for (int i = 0; i < rows * panels; i++) {
		int64_t row = t->row + i / panels, first = column + i % panels * GEMM_LANES;
		int64_t count = g->n - first < GEMM_LANES ? g->n - first : GEMM_LANES;
		line_t x, y;
		memcpy(&x, t->kept + i * GEMM_LANES, sizeof(x));
		for (int e = 0; e < g->epilogue_count; e++) {
			const struct epilogue *step = &g->epilogue[e];
			if (step->kind == EPILOGUE_ELTWISE) {
				line_eltwise(&x, step->mode, step->alpha, step->beta);
				continue;
			}
			bool bias = step->kind == EPILOGUE_BIAS;
			line_load(&y, g->operand[e], g->narrow, bias ? first : row * g->n + first, count);
			line_binary(&x, bias ? MODE_ADD : step->mode, &y);
		}
		line_store(&x, g->c, g->narrow, row * g->n + first, count);
	}
}

/* Multiplies all rows with a group of panels, in `passes` passes over each part of it. */
static TARGET void NAME(group)(const struct gemm_packed *g, int64_t panel, int panels, int passes)
{
	float kept[GEMM_PACKED_ROWS * PASS_PANELS_MOST * GEMM_LANES] __attribute__((aligned(64)));
	int64_t pairs = g->k / 2, lines = g->narrow ? pairs : g->k;
	struct lines all = lines_of(g);
	int64_t step = panel_bytes(&all);
	const char *b = (const char *)g->b + panel * step;
	struct tile t[GEMM_PACKED_ROWS];
	int rows[GEMM_PACKED_ROWS];
	for (int i = 0; i < passes; i++) {
		t[i] = (struct tile){ .row = g->m * i / passes, .b = b, .step = step };
		t[i].kept = kept + t[i].row * panels * GEMM_LANES;
		rows[i] = (int)(g->m * (i + 1) / passes - t[i].row);
	}
	memset(kept, 0, (size_t)(g->m * panels * GEMM_LANES) * sizeof(kept[0]));
	int64_t part = passes > 1 ? PART_LINES : lines;
	for (int64_t from = 0; from < lines; from += part)
		for (int i = 0; i < passes; i++) {
			bool last = from + part >= lines; /* then the next group's first part */
			t[i].from = from;
			t[i].to = last ? lines : from + part;
			t[i].next = b + i % panels * step +
				(last ? panels * step - from * LINE_BYTES : part * LINE_BYTES);
			NAME(multiply)(g, &t[i], rows[i], panels, passes > 1);
		}
	for (int i = 0; i < passes; i++) {
		if (g->narrow && g->k % 2)
			NAME(odd)(g, &t[i], rows[i], panels);
		NAME(finish)(g, &t[i], rows[i], panels, panel * GEMM_LANES);
	}
}

/* --- B of integers --- */

static inline __attribute__((always_inline)) TARGET void NAME(read)(NAME(words) *to, const char *line, int j)
{
	*to = ((const NAME(words) *)(const void *)line)[j];
}

/* Adds the products of a block, whose sums are registers as in `tile`: scale (sum - zero times A's sum). */
static inline __attribute__((always_inline)) TARGET void NAME(few_add)(const struct gemm_packed *g,
	const struct tile *t, const struct few *f, int64_t block, const struct few_lines *l,
	NAME(vector) (*sum)[PER_LINE], NAME(vector) (*all)[PER_LINE], const int rows, const int panels,
	const int bits)
{
	uint32_t up = g->narrow && block % 2 == 0 ? 16 : 0, mask = g->narrow ? 0xffff0000 : ~0u;
	uint32_t down = (uint32_t)block % (32 / bits) * bits;
#pragma GCC unroll 4
	for (int i = 0; i < panels * PER_LINE; i++) {
		int p = i / PER_LINE, j = i % PER_LINE;
		NAME(words) scale, z;
		NAME(vector) zero = g->zero - (NAME(vector)){ 0 };
		NAME(read)(&scale, l->scales + p * t->step, j);
		scale = scale << up & mask;
		if (g->zero_points) {
			NAME(read)(&z, l->zeros + p * t->step, j);
			z = z >> down & ((1u << bits) - 1);
			zero = __builtin_convertvector((NAME(integers))z, NAME(vector));
		}
#pragma GCC unroll 16
		for (int r = 0; r < rows; r++)
			all[r * panels + p][j] += (NAME(vector))scale *
				(sum[r * panels + p][j] - f->sums[r * f->apart + block] * zero);
	}
}

/* Adds a block's products to `sum`; of few rows those of odd rows of B to sums of their own, since a sum
 * waits for the one before. */
static inline __attribute__((always_inline)) TARGET void NAME(few_floats)(const struct tile *t,
	const struct few *f, const char *line, const float *a, int64_t lines, int64_t ahead,
	NAME(vector) (*sum)[PER_LINE], const int rows, const int panels, const int bits)
{
	const int per = 32 / bits, count = rows * panels * PER_LINE;
	const bool two = count <= ODD_MOST;
	NAME(vector) odd[ODD_MOST];
#pragma GCC unroll 8
	for (int i = 0; i < count && two; i++)
		odd[i] = (NAME(vector)){ 0 };
	for (; lines > 0; lines--, line += LINE_BYTES, a += per) {
		NAME(words) b[PANELS_MOST * PER_LINE];
#pragma GCC unroll 4
		for (int p = 0; p < panels; p++)
			__builtin_prefetch(line + p * t->step + ahead);
#pragma GCC unroll 4
		for (int i = 0; i < panels * PER_LINE; i++)
			NAME(read)(&b[i], line + i / PER_LINE * t->step, i % PER_LINE);
#pragma GCC unroll 64
		for (int i = 0; i < per * panels * PER_LINE; i++) {
			int at = i / (panels * PER_LINE), p = i / PER_LINE % panels, j = i % PER_LINE;
			NAME(words) q = b[p * PER_LINE + j];
			if (at == per - 1)
				q >>= 32 - bits;
			else
				q &= ((1u << bits) - 1) << bits * at;
			NAME(vector) w = __builtin_convertvector((NAME(integers))q, NAME(vector));
#pragma GCC unroll 16
			for (int r = 0; r < rows; r++) {
				NAME(vector) *to = &sum[r * panels + p][j];
				if (two && at % 2)
					to = &odd[(r * panels + p) * PER_LINE + j];
				*to += a[r * f->apart + at] * w;
			}
		}
	}
#pragma GCC unroll 8
	for (int i = 0; i < count && two; i++)
		sum[i / PER_LINE][i % PER_LINE] += odd[i];
}

static inline __attribute__((always_inline)) TARGET void NAME(few_tile)(const struct gemm_packed *g,
	const struct tile *t, const struct few *f, const int rows, const int panels, const int bits)
{
	NAME(vector) all[TILE_MOST][PER_LINE], *kept = (NAME(vector) *)(void *)t->kept;
	const struct lines of = f->lines;
	struct few_lines l = { .scales = t->b + scale_line(&of, t->from) * LINE_BYTES,
		.zeros = t->b + zero_line(&of, t->from) * LINE_BYTES };
	const char *line = t->b + weight_line(&of, t->from) * LINE_BYTES;
	const float *a = f->a + t->from * of.block * (32 / bits);
	int64_t left = of.weights - t->from * of.block;
#pragma GCC unroll 32
	for (int i = 0; i < rows * panels * PER_LINE; i++)
		all[i / PER_LINE][i % PER_LINE] = kept[i];
	for (int64_t block = t->from, end = t->to; block < end; block++, left -= of.block) {
		NAME(vector) sum[TILE_MOST][PER_LINE];
		bool last = left <= of.block + AHEAD_LINES; /* then the next group is fetched ahead */
		int64_t ahead = AHEAD_LINES * LINE_BYTES + (last ? (panels - 1) * t->step : 0);
		int64_t lines = left < of.block ? left : of.block;
		if (block > t->from)
			few_next(&of, block, &l, &line, panels, t->step, ahead);
#pragma GCC unroll 32
		for (int i = 0; i < rows * panels; i++)
#pragma GCC unroll 4
			for (int j = 0; j < PER_LINE; j++)
				sum[i][j] = (NAME(vector)){ 0 };
		NAME(few_floats)(t, f, line, a, lines, ahead, sum, rows, panels, bits);
		NAME(few_add)(g, t, f, block, &l, sum, all, rows, panels, bits);
		line += of.block * LINE_BYTES;
		a += of.block * (32 / bits);
	}
#pragma GCC unroll 32
	for (int i = 0; i < rows * panels * PER_LINE; i++)
		kept[i] = all[i / PER_LINE][i % PER_LINE];
}

/* A function for each tile: in a single one of all the compiler keeps sums in memory. */
#define FEW_BITS(r, p, bits) \
	static __attribute__((noinline)) TARGET void NAME(few_##r##_##p##_##bits)( \
		const struct gemm_packed *g, const struct tile *t, const struct few *f) \
	{ \
		NAME(few_tile)(g, t, f, r, p, bits); \
	}
#define FEW(r, p) FEW_BITS(r, p, 2) FEW_BITS(r, p, 4) FEW_BITS(r, p, 8)
FEW_CASES
#undef FEW
#undef FEW_BITS

static TARGET void NAME(few_multiply)(
	const struct gemm_packed *g, const struct tile *t, const struct few *f, int rows, int panels)
{
	switch (rows * 128 + panels * 16 + g->bits) {
#define FEW(r, p) \
	case r * 128 + p * 16 + 2: NAME(few_##r##_##p##_2)(g, t, f); break; \
	case r * 128 + p * 16 + 4: NAME(few_##r##_##p##_4)(g, t, f); break; \
	case r * 128 + p * 16 + 8: NAME(few_##r##_##p##_8)(g, t, f); break;
		FEW_CASES
#undef FEW
	default: break;
	}
}

/* Writes A's row as f32, divided by few_factor, and the sums of its blocks, to the scratch. */
static TARGET void NAME(few_source)(
	const struct gemm_packed *g, const struct lines *l, int64_t row, float *to)
{
	line_t factor, x;
	for (int i = 0; i < LINE; i++)
		factor[i] = few_factor(g->bits, i % l->rows);
	for (int64_t block = 0; block < l->blocks; block++) {
		int64_t first = block * g->block, count = g->k - first < g->block ? g->k - first : g->block;
		line_t sum = { 0 };
		for (int64_t at = 0; at < count; at += LINE) {
			line_load(&x, g->a, g->narrow, row * g->k + first + at,
				count - at < LINE ? count - at : LINE);
			sum += x;
			x *= factor;
			memcpy(to + block * l->block * l->rows + at, &x, sizeof(x));
		}
		float all = 0;
		for (int i = 0; i < LINE; i++)
			all += sum[i];
		to[few_values(l) + block] = all;
	}
}

/* Multiplies all rows with a group of panels, in passes over parts of it. */
static TARGET void NAME(few_group)(
	const struct gemm_packed *g, const struct lines *l, int64_t panel, int panels, int passes)
{
	float kept[GEMM_PACKED_ROWS * FEW_PANELS_MOST * GEMM_LANES] __attribute__((aligned(64)));
	struct few f = { .lines = *l, .apart = few_floats(l) };
	struct tile t = { .b = (const char *)g->b + panel * panel_bytes(l), .step = panel_bytes(l) };
	int64_t part = passes == 1 ? l->blocks : l->block < PART_LINES ? PART_LINES / l->block : 1;
	memset(kept, 0, (size_t)(g->m * panels * GEMM_LANES) * sizeof(kept[0]));
	for (t.from = 0; t.from < l->blocks; t.from = t.to) {
		t.to = l->blocks - t.from < part ? l->blocks : t.from + part;
		for (int i = 0; i < passes; i++) {
			t.row = g->m * i / passes;
			t.kept = kept + t.row * panels * GEMM_LANES;
			f.a = (const float *)g->scratch + t.row * f.apart;
			f.sums = f.a + few_values(l);
			int rows = (int)(g->m * (i + 1) / passes - t.row);
			NAME(few_multiply)(g, &t, &f, rows, panels);
			if (t.to == l->blocks)
				NAME(finish)(g, &t, rows, panels, panel * GEMM_LANES);
		}
	}
}

/* Few rows are multiplied with FEW_PANELS at a time, while a share has as many left. */
static TARGET void NAME(few_share)(const struct gemm_packed *g, int i, int count)
{
	struct lines l = lines_of(g);
	int64_t total = panels_of(g->n), end = total * (i + 1) / count;
	for (int64_t row = 0; row < g->m; row++)
		NAME(few_source)(g, &l, row, (float *)g->scratch + row * few_floats(&l));
	for (int64_t panel = total * i / count, now; panel < end; panel += now) {
		now = g->m <= FEW_WIDE && end - panel >= FEW_PANELS ? FEW_PANELS : 1;
		NAME(few_group)(g, &l, panel, (int)now, (int)parts_of(g->m, FEW_ROWS));
	}
}

/* A share has whole groups; if there is not one for each share, groups of one panel. */
static TARGET void NAME(share)(const struct gemm_packed *g, int i, int count)
{
	static const int widths[] = WIDTHS;
	const int single = (int)(sizeof(widths) / sizeof(widths[0])) - 1;
	if (g->bits) {
		NAME(few_share)(g, i, count);
		return;
	}
	int64_t total = panels_of(g->n);
	int passes = g->m <= single ? 1 : (int)((g->m + PASS_ROWS - 1) / PASS_ROWS);
	int width = g->m <= single ? widths[g->m] : PASS_PANELS;
	width = total < (int64_t)width * count ? 1 : width;
	int64_t groups = (total + width - 1) / width, end = groups * (i + 1) / count;
	for (int64_t group = groups * i / count; group < end; group++) {
		int64_t panel = group * width;
		int now = total - panel < width ? 1 : width;
		for (; panel < total && panel < (group + 1) * width; panel += now)
			NAME(group)(g, panel, now, passes);
	}
}

#undef PER_LINE
#undef NAME
#undef TARGET
#undef VECTOR
#undef WIDTHS
#undef PASS_ROWS
#undef PASS_PANELS
#undef CASES
#undef FEW_ROWS
#undef FEW_WIDE
#undef FEW_PANELS
#undef FEW_CASES
#undef DOT
