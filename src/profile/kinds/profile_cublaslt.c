/* Log of cuBLASLt: one line a call, without times.
 *   [2023-04-07 04:57:13][cublasLt][8291][Trace][cublasLtMatmul] A=0X7F8E.. Adesc=[type=R_16F rows=32 cols=16
 *   ld=32] B=.. Bdesc=[..] C=.. D=.. Ddesc=[..] computeDesc=[computeType=COMPUTE_32F scaleType=R_32F
 *   transa=OP_T] algo=[algoId=21 tile=MATMUL_TILE_32x32 stages=MATMUL_STAGES_64x1] workSpace=0X0 ..
 * At CUBLASLT_LOG_LEVEL=5 an [Api] line with addresses instead of descriptions comes before it.
 * https://docs.nvidia.com/cuda/cublas/#cublaslt-logging */
#include "config.h"

#include "profile/read/reader.h"

#include <math.h>
#include <string.h>

#include "profile/read/calls.h"
#include "profile/read/lines.h"

struct cublaslt {
	struct calls calls;
	struct arena *arena;
	struct execution *e;
	int64_t traced, called; /* number of lines of matmuls with and without their description */
};

/* Returns the value after `name=`: a word, or the text in its brackets; empty if it is absent. */
static struct text value(struct text t, const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; i + n + 1 < t.n; i++) {
		if ((i && t.p[i - 1] != ' ' && t.p[i - 1] != '[') || t.p[i + n] != '=' ||
			memcmp(t.p + i, name, n) != 0)
			continue;
		struct text v = { t.p + i + n + 1, t.n - i - n - 1 };
		bool within = v.n && v.p[0] == '[';
		v.p += within, v.n -= within;
		size_t end = 0;
		while (end < v.n && v.p[end] != ']' && (within || v.p[end] != ' '))
			end++;
		v.n = end;
		return v;
	}
	return (struct text){ "", 0 };
}

/* Appends the value without the part before its last '_'. */
static void add_tail(struct str *out, const char *before, struct text v)
{
	while (v.n && memchr(v.p, '_', v.n)) {
		size_t skip = (size_t)((const char *)memchr(v.p, '_', v.n) + 1 - v.p);
		v.p += skip, v.n -= skip;
	}
	if (v.n)
		str_addf(out, "%s%.*s", before, (int)v.n, v.p);
}

/* Returns the name of an algorithm, as the runner names those of cuBLASLt: "algo21 tile32x32 stages64x1". */
static char *algorithm(struct arena *a, struct text algo)
{
	struct str name = { 0 };
	struct text id = value(algo, "algoId");
	if (id.n)
		str_addf(&name, "algo%.*s", (int)id.n, id.p);
	add_tail(&name, " tile", value(algo, "tile"));
	add_tail(&name, " stages", value(algo, "stages"));
	add_tail(&name, " splitk", value(algo, "splitK"));
	add_tail(&name, " cluster", value(algo, "clusterShape"));
	add_tail(&name, " custom", value(algo, "customOption"));
	char *clean = text_clean(a, (struct text){ name.n ? name.p : "", name.n });
	str_free(&name);
	return clean;
}

static const struct {
	const char *theirs, *ours;
} types[] = { { "R_16F", "f16" }, { "R_16BF", "bf16" }, { "R_32F", "f32" }, { "R_64F", "f64" },
	{ "R_8I", "s8" }, { "R_8U", "u8" }, { "R_32I", "s32" }, { "R_8F_E4M3", "f8e4m3" },
	{ "R_8F_E5M2", "f8e5m2" }, { "R_4F_E2M1", "f4e2m1" }, { "C_32F", "c64" }, { "C_64F", "c128" } };

static const char *type_name(struct arena *a, struct text theirs)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (text_is(theirs, types[i].theirs))
			return types[i].ours;
	return text_clean(a, theirs);
}

/* Returns "a 32x16 b 16x64 dst 32x64", in cuBLASLt's column-major order. */
static char *shapes(struct arena *a, struct text t)
{
	static const char *const names[][2] = { { "Adesc", "a" }, { "Bdesc", "b" }, { "Ddesc", "dst" } };
	struct str s = { 0 };
	for (int i = 0; i < 3; i++) {
		struct text d = value(t, names[i][0]), rows = value(d, "rows"), columns = value(d, "cols");
		struct text batch = value(d, "batchCount");
		if (!rows.n || !columns.n)
			continue;
		str_addf(&s, "%s%s ", s.n ? " " : "", names[i][1]);
		if (batch.n)
			str_addf(&s, "%.*sx", (int)batch.n, batch.p);
		str_addf(&s, "%.*sx%.*s", (int)rows.n, rows.p, (int)columns.n, columns.p);
	}
	struct text compute = value(t, "computeDesc");
	if (text_is(value(compute, "transa"), "OP_T"))
		str_puts(&s, " ta");
	if (text_is(value(compute, "transb"), "OP_T"))
		str_puts(&s, " tb");
	char *clean = text_clean(a, (struct text){ s.n ? s.p : "", s.n });
	str_free(&s);
	return clean;
}

/* Writes the key of a kind of matmuls: its arguments without addresses. */
static void key_of(struct text t, struct str *key)
{
	static const char *const names[] = { "Adesc", "Bdesc", "Cdesc", "Ddesc", "algo", "beta" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct text v = value(t, names[i]);
		str_add(key, v.p, v.n);
		str_puts(key, "|");
	}
	struct text compute = value(t, "computeDesc");
	static const char *const of[] = { "computeType", "transa", "transb", "epilogue" };
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		struct text v = value(compute, of[i]);
		str_addf(key, "%.*s|", (int)v.n, v.p);
	}
}

static void matmul(struct cublaslt *c, struct text t)
{
	struct str key = { 0 };
	struct text compute = value(t, "computeDesc"), epilogue = value(compute, "epilogue");
	key_of(t, &key);
	struct execution_row *r = calls_add(&c->calls, (struct text){ key.p, key.n }, NAN, NAN);
	str_free(&key);
	if (!r)
		return;
	struct str name = { 0 };
	str_puts(&name, "matmul");
	add_tail(&name, "+", epilogue);
	r->level = LEVEL_KERNEL;
	r->name = text_clean(c->arena, (struct text){ name.p, name.n });
	str_free(&name);
	r->op = "matmul";
	r->provider = "cuBLASLt";
	r->kernel = algorithm(c->arena, value(t, "algo"));
	r->shapes = shapes(c->arena, t);
	r->dtype = type_name(c->arena, value(value(t, "Adesc"), "type"));
}

/* [time][cublasLt][process][level][function] arguments */
static void line(struct cublaslt *c, struct text t)
{
	static const char mark[] = "][cublasLt][";
	const char *at = t.n ? memmem(t.p, t.n, mark, sizeof(mark) - 1) : NULL;
	struct text part[3]; /* process, level, function */
	if (!at)
		return;
	t.n -= (size_t)(at + sizeof(mark) - 1 - t.p);
	t.p = at + sizeof(mark) - 1;
	for (int i = 0; i < 3; i++) {
		const char *end = memchr(t.p, ']', t.n);
		if (!end)
			return;
		part[i] = (struct text){ t.p, (size_t)(end - t.p) };
		t.n -= (size_t)(end + 1 - t.p);
		t.p = end + 1;
		if (i < 2 && t.n && t.p[0] == '[')
			t.p++, t.n--;
	}
	struct text version = value(t, "version");
	int64_t v;
	if (text_is(part[2], "cublasLtGetVersion") && text_to_int64(version, &v) && v > 0 &&
		!c->e->version[0])
		c->e->version = arena_printf(c->arena, "%lld.%lld.%lld", (long long)(v / 10000),
			(long long)(v / 100 % 100), (long long)(v % 100));
	if (!text_is(part[2], "cublasLtMatmul") && !text_is(part[2], "cublasLtTSTMatmul"))
		return;
	bool traced = text_is(part[1], "Trace");
	c->traced += traced;
	c->called += text_is(part[1], "Api");
	if (traced)
		matmul(c, t);
}

static bool is_cublaslt(const struct profile_head *h)
{
	return head_contains(h, "][cublasLt][");
}

static int read_cublaslt(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	struct cublaslt c = { .arena = a, .e = e };
	struct lines *l = lines_open(path, options, err);
	struct text t;
	int got = l ? 1 : -1;
	while (got > 0 && (got = lines_next(l, &t, err)) > 0)
		line(&c, t);
	if (got == 0 && !c.calls.count)
		got = error_set(err, "%s: %s; set CUBLASLT_LOG_LEVEL=5 and run again", path,
			c.called ? "the calls of cublasLtMatmul have no algorithms"
				 : "no call of cublasLtMatmul");
	if (got == 0) {
		e->framework = "cublaslt";
		calls_finish(&c.calls, a, e, "call", lines_is_cut(l));
		if (c.called > c.traced)
			profile_add_gap(a, e, arena_printf(a, "%lld calls without their algorithms",
							(long long)(c.called - c.traced)));
	}
	calls_free(&c.calls);
	lines_close(l);
	return got;
}

const struct profile_reader profile_cublaslt = {
	.kind = PROFILE_CUBLASLT, .is = is_cublaslt, .read = read_cublaslt, .packed = true
};
