/* Our CUDA kernels on a CPU against plain loops and the reference values of the check. Buffers have exactly
 * the required size, so that a sanitizer finds accesses beyond them; bytes that must not be written are
 * compared too. */
#include "kernel_case.h"

#include <algorithm>

#include "runner/kernels/cuda_kernels.h"

static const enum dtype all_types[] = { DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_F64, DTYPE_S8, DTYPE_U8,
	DTYPE_S16, DTYPE_U16, DTYPE_S32, DTYPE_U32, DTYPE_S64, DTYPE_U64, DTYPE_BOOL, DTYPE_F8E4M3,
	DTYPE_F8E5M2 };

static struct cuda_strided dense(enum dtype t, std::vector<int64_t> dim)
{
	struct cuda_strided s = {};
	s.dtype = t;
	s.rank = (int)dim.size();
	int64_t step = 1;
	for (int i = s.rank - 1; i >= 0; i--) {
		s.dim[i] = dim[i];
		s.stride[i] = step;
		step *= dim[i];
	}
	return s;
}

static int64_t offset(const struct cuda_strided &s, int64_t index)
{
	int64_t at = 0;
	for (int i = s.rank - 1; i >= 0; i--) {
		at += index % s.dim[i] * s.stride[i];
		index /= s.dim[i];
	}
	return at;
}

static int64_t span(const struct cuda_strided &s)
{
	int64_t n = 1;
	for (int i = 0; i < s.rank; i++)
		n += (s.dim[i] - 1) * s.stride[i];
	return n;
}

static void test_fill(void)
{
	for (enum dtype t : all_types) {
		struct cuda_strided s = dense(t, { 3, 5, 7 });
		s.stride[0] = 1; /* channels last with a gap */
		s.stride[1] = 28;
		s.stride[2] = 4;
		buffer b((size_t)(span(s) * size_of(t)));
		s.data = b.p;
		std::vector<char> want(b.n, (char)0xa5);
		for (int64_t i = 0; i < 105; i++)
			fill_encode(fill_value(9, i, FILL_SIGNED, 0, t), t,
				&want[(size_t)(offset(s, i) * size_of(t))]);
		ok(cuda_fill(&s, 9, FILL_SIGNED, 0, NULL) == cudaSuccess &&
				memcmp(b.p, want.data(), b.n) == 0,
			"fill %s: the host's bits, and nothing between", dtype_name(t));
	}
	struct cuda_strided s = dense(DTYPE_S64, { 100000 });
	buffer b(800000);
	s.data = b.p;
	int64_t wrong = 0;
	ok(cuda_fill(&s, 1, FILL_INDEX, 77, NULL) == cudaSuccess, "fill many");
	for (int64_t i = 0; i < 100000; i++)
		wrong += ((int64_t *)b.p)[i] != (int64_t)fill_value(1, i, FILL_INDEX, 77, DTYPE_S64);
	is_int(wrong, 0, "each its own");
	s = dense(DTYPE_F4E2M1, { 4 });
	ok(cuda_fill(&s, 1, FILL_SIGNED, 0, NULL) == cudaErrorInvalidValue, "no floats of half bytes");
	for (enum dtype t : { DTYPE_S4, DTYPE_U4 }) {
		s = dense(t, { 6, 32 });
		s.stride[0] = 1; /* by column */
		s.stride[1] = 6;
		buffer packed(96);
		s.data = packed.p;
		wrong = 0;
		ok(cuda_fill(&s, 5, FILL_SIGNED, 0, NULL) == cudaSuccess, "fill %s", dtype_name(t));
		for (int64_t i = 0; i < 6 * 32; i++) {
			int64_t at = offset(s, i);
			int v = packed.p[at / 2] >> at % 2 * 4 & 15;
			wrong += (t == DTYPE_S4 && v > 7 ? v - 16 : v) != fill_value(5, i, FILL_SIGNED, 0, t);
		}
		is_int(wrong, 0, "two to a byte, the first in the low bits");
		s.stride[1] = 7;
		ok(cuda_fill(&s, 5, FILL_SIGNED, 0, NULL) == cudaErrorInvalidValue, "not with gaps");
	}
}

static unsigned kinds_seen;
static int names_missing;

/* Compares every kind of a move with a loop. Offsets are in elements from the beginning of the buffers. */
static int64_t move_wrong(struct cuda_strided from, struct cuda_strided to, int64_t from_at, int64_t to_at)
{
	int fb = size_of(from.dtype), tb = size_of(to.dtype);
	buffer source((size_t)((from_at + span(from)) * fb));
	int64_t n = volume(to.rank, to.dim), wrong = 0;
	for (size_t i = 0; i < source.n / fb; i++) {
		double v = fill_value(3, (int64_t)i, FILL_SIGNED, 0, from.dtype) *
			(from.dtype == to.dtype ? 1 : 100);
		fill_encode(v, from.dtype, source.p + i * fb);
	}
	std::vector<char> want((size_t)((to_at + span(to)) * tb), (char)0xa5);
	bool drops = !dtype_is_float(to.dtype) && to.dtype != DTYPE_BOOL;
	for (int64_t i = 0; i < n; i++) {
		char *put = &want[(size_t)((to_at + offset(to, i)) * tb)];
		const char *get = source.p + (from_at + offset(from, i)) * fb;
		if (from.dtype == to.dtype)
			memcpy(put, get, tb);
		else
			fill_encode(
				drops ? trunc(fill_decode(get, from.dtype)) : fill_decode(get, from.dtype),
				to.dtype, put);
	}
	struct cuda_move m;
	from.data = source.p + from_at * fb;
	buffer first(want.size());
	to.data = first.p + to_at * tb;
	if (cuda_move_plan(&m, &from, &to))
		return 1;
	for (int kind = 0; kind < CUDA_MOVE_KINDS; kind++) {
		if (!cuda_move_can(&m, (enum cuda_move_kind)kind))
			continue;
		char name[32];
		buffer out(want.size());
		const char *called = cuda_move_name(&m, (enum cuda_move_kind)kind, name);
		names_missing += !*called;
		kinds_seen |= 1u << kind;
		cudaError_t bad =
			cuda_move(&m, (enum cuda_move_kind)kind, from.data, out.p + to_at * tb, NULL);
		if (bad == cudaErrorInvalidValue && on_cpu_fast_max < 2147483647 &&
			(kind == CUDA_MOVE_TILED || kind == CUDA_MOVE_TALL))
			continue;
		if (bad != cudaSuccess || memcmp(out.p, want.data(), want.size()) != 0) {
			printf("# %s is wrong (%d)\n", called, (int)bad);
			wrong++;
		}
	}
	return wrong;
}

/* Makes the move that transposes a dense tensor. */
static int64_t perm_wrong(enum dtype t, std::vector<int64_t> dim, const std::vector<int> &perm)
{
	struct cuda_strided from = dense(t, dim), source = from;
	std::vector<int64_t> turned;
	for (size_t i = 0; i < dim.size(); i++) {
		turned.push_back(dim[perm[i]]);
		source.dim[i] = from.dim[perm[i]];
		source.stride[i] = from.stride[perm[i]];
	}
	return move_wrong(source, dense(t, turned), 0, 0);
}

static void test_perms(void)
{
	static const enum dtype types[] = { DTYPE_U8, DTYPE_BF16, DTYPE_F32, DTYPE_F64 };
	static const std::vector<std::vector<int64_t>> shapes = { { 5 }, { 33, 65 }, { 64, 128 }, { 132, 4 },
		{ 1, 70 }, { 3, 5, 7 }, { 8, 36, 12 }, { 2, 65, 4 }, { 33, 4, 66 }, { 3, 2, 5, 7 },
		{ 4, 8, 12, 16 }, { 2, 36, 1, 68 }, { 2, 3, 34, 2 } };
	for (enum dtype t : types)
		for (const std::vector<int64_t> &dim : shapes) {
			std::vector<int> perm;
			int64_t wrong = 0, count = 0;
			std::string name;
			for (size_t i = 0; i < dim.size(); i++) {
				perm.push_back((int)i);
				name += (i ? "x" : "") + std::to_string(dim[i]);
			}
			do {
				wrong += perm_wrong(t, dim, perm);
				count++;
			} while (std::next_permutation(perm.begin(), perm.end()));
			is_int(wrong, 0, "%s %s: %d perms", dtype_name(t), name.c_str(), (int)count);
		}
}

static void test_moves(void)
{
	for (enum dtype t : all_types) {
		int64_t wrong = 0;
		for (int64_t n : { 1, 3, 4, 16, 255, 1000, 4097, 70001 })
			wrong += move_wrong(dense(t, { n }), dense(t, { n }), 0, 0) +
				move_wrong(dense(t, { n }), dense(t, { n }), 1, 2) +
				move_wrong(dense(t, { n }), dense(t, { n }), 16, 16);
		is_int(wrong, 0, "%s: dense, at any place", dtype_name(t));
		wrong = 0;
		for (int64_t inner : { 3, 8, 16, 33 })
			for (int64_t gap : { 0, 1, 16 }) { /* a slice, a part of a concat, a repeated row */
				struct cuda_strided small = dense(t, { 5, 3, inner }), wide = small,
						    row = small;
				wide.stride[1] = inner + gap;
				wide.stride[0] = 4 * (inner + gap);
				row.stride[0] = row.stride[1] = 0;
				wrong += move_wrong(wide, small, gap, 0) + move_wrong(small, wide, 0, gap) +
					move_wrong(wide, wide, 0, inner) + move_wrong(row, small, 0, 0);
			}
		is_int(wrong, 0, "%s: slices, parts, repeats", dtype_name(t));
	}
	int64_t wrong = perm_wrong(DTYPE_F32, { 2, 2, 3, 2, 2, 3, 2, 2 }, { 7, 0, 3, 2, 5, 4, 1, 6 }) +
		perm_wrong(DTYPE_F16, { 2, 2, 3, 2, 2, 3, 2, 2 }, { 6, 5, 3, 2, 0, 4, 1, 7 });
	is_int(wrong, 0, "eight dimensions");
	is_int(kinds_seen, (1 << CUDA_MOVE_KINDS) - 1, "every way was gone");
	is_int(names_missing, 0, "every way has a name");
	struct cuda_move m;
	struct cuda_strided a = dense(DTYPE_F32, { 2, 3 }), b = dense(DTYPE_F32, { 3, 2 });
	ok(cuda_move_plan(&m, &a, &b) == -1, "unlike shapes are no move");
}

static const char *move_name(
	enum dtype t, std::vector<int64_t> dim, std::vector<int> perm, enum cuda_move_kind kind)
{
	static char name[32];
	struct cuda_strided from = dense(t, dim), source = from, to;
	std::vector<int64_t> turned;
	struct cuda_move m;
	for (size_t i = 0; i < dim.size(); i++) {
		turned.push_back(dim[perm[i]]);
		source.dim[i] = from.dim[perm[i]];
		source.stride[i] = from.stride[perm[i]];
	}
	to = dense(t, turned);
	return cuda_move_plan(&m, &source, &to) ? "no plan" : !cuda_move_can(&m, kind) ? "cannot" :
		cuda_move_name(&m, kind, name);
}

static void test_names(void)
{
	is_str(move_name(DTYPE_F32, { 64, 32 }, { 1, 0 }, CUDA_MOVE_TILED), "tiled32x32:4_bytes",
		"a transpose is tiled");
	is_str(move_name(DTYPE_F16, { 64, 32 }, { 1, 0 }, CUDA_MOVE_TALL), "tiled64x128:2_bytes",
		"two halves at once");
	is_str(move_name(DTYPE_S8, { 64, 32 }, { 1, 0 }, CUDA_MOVE_TILED), "tiled128x128:1_bytes",
		"four bytes at once");
	is_str(move_name(DTYPE_S8, { 63, 32 }, { 1, 0 }, CUDA_MOVE_TILED), "tiled32x32:1_bytes",
		"where sizes allow");
	is_str(move_name(DTYPE_F32, { 6, 7, 8 }, { 1, 0, 2 }, CUDA_MOVE_VECTOR), "strided:16_bytes",
		"runs are kept together");
	is_str(move_name(DTYPE_F32, { 6, 7, 4 }, { 1, 0, 2 }, CUDA_MOVE_TILED), "tiled32x32:16_bytes",
		"short runs are turned");
	is_str(move_name(DTYPE_F32, { 1, 6, 7 }, { 1, 0, 2 }, CUDA_MOVE_COPY), "copy16",
		"a perm that moves nothing is a copy");
	is_str(move_name(DTYPE_F32, { 6, 7, 8 }, { 1, 0, 2 }, CUDA_MOVE_COPY), "cannot", "no other move");
}

static void test_casts(void)
{
	for (enum dtype f : all_types) {
		int64_t wrong = 0;
		for (enum dtype t : all_types)
			if (t != f) {
				struct cuda_strided turned = dense(f, { 5, 7 });
				turned.stride[0] = 1;
				turned.stride[1] = 5;
				int64_t bad = move_wrong(dense(f, { 4099 }), dense(t, { 4099 }), 0, 0) +
					move_wrong(dense(f, { 37 }), dense(t, { 37 }), 1, 3) +
					move_wrong(turned, dense(t, { 5, 7 }), 0, 0);
				if (bad)
					printf("# %s to %s\n", dtype_name(f), dtype_name(t));
				wrong += bad;
			}
		is_int(wrong, 0, "%s to all others", dtype_name(f));
	}
}

/* --- against the reference values --- */

static void test_gather(void)
{
	static const char *const texts[] = { "gather:f32,s64,f32:50x7:ax0:3x5",
		"gather:f16,s32,f16:4x9x6:ax1:11", "gather:u8,s64,u8:3x5x16:ax1:2x2",
		"gather:f64,s32,f64:7:ax0:13", "gather:bf16,s64,bf16:2x3x5x8:ax2:4",
		"gather:f32,s64,f32:1000x64:ax0:1x128" };
	for (const char *text : texts) {
		struct problem p = parse(text);
		struct operand_values v = operands_of(&p, 2, p.shape[0].dim[p.axis]);
		struct cuda_gather g;
		buffer out(output_bytes(&p)), source(v.bytes[0].size());
		memcpy(source.p, v.bytes[0].data(), source.n);
		ok(cuda_gather_plan(&g, &p) == 0 &&
				cuda_gather(&g, source.p, v.bytes[1].data(), out.p, NULL) == cudaSuccess,
			"%s runs", text);
		is_int(outputs_wrong(&p, &v, out.p, 0), 0, "%s is right", text);
	}
	struct problem p = parse("gather:f32,s64,f32:3x2:ax0:3");
	struct cuda_gather g;
	int64_t indices[] = { 0, 7, -9 };
	float from[] = { 1, 2, 3, 4, 5, 6 };
	uint64_t out[3] = { 1, 1, 1 };
	ok(cuda_gather_plan(&g, &p) == 0 && cuda_gather(&g, from, indices, out, NULL) == cudaSuccess &&
			out[1] == 1 && out[2] == 1 && out[0] != 1,
		"indices outside read and write nothing");
}

static void test_select(void)
{
	static const char *const texts[] = { "select:bool,f32,f32,f32:1x1x12x12:1x3x12x12:1",
		"select:bool,f16,f16,f16:5:5:5", "select:bool,s64,s64,s64:3x1x5:1x4x1:3x4x5",
		"select:u8,f64,f64,f64:1:7x3:7x3", "select:bool,u8,u8,u8:2x1x3x1x2x5:2x2x1x2x1x5:1x2x3x2x2x1",
		"select:bool,f32,f32,f32:1:1:1" };
	for (const char *text : texts) {
		struct problem p = parse(text);
		struct operand_values v = operands_of(&p, 3, 0);
		struct cuda_select c;
		buffer out(output_bytes(&p));
		ok(cuda_select_plan(&c, &p) == 0 &&
				cuda_select(&c, v.bytes[0].data(), v.bytes[1].data(), v.bytes[2].data(),
					out.p, NULL) == cudaSuccess,
			"%s runs", text);
		is_int(outputs_wrong(&p, &v, out.p, 0), 0, "%s is right", text);
	}
}

static void test_resample(void)
{
	static const char *const sizes[] = { "n2c3w7:ow19", "n1c2h5w6:oh10ow12", "n1c5h9w8:oh4ow3",
		"n1c2d2h3w4:od3oh6ow5", "n1c1h1w1:oh5ow7", "n1c3h6w6:oh6ow6" };
	static const char *const modes[] = { "nearest", "linear", "cubic" };
	static const struct {
		const char *name;
		double tolerance;
	} types[] = { { "f32", 1e-6 }, { "f16", 1e-3 }, { "bf16", 8e-3 } };
	for (const char *size : sizes)
		for (const char *mode : modes)
			for (auto &type : types) {
				std::string text = std::string("resample:") + type.name + "," + type.name +
					":" + mode + ":" + size;
				struct problem p = parse(text);
				struct operand_values v = operands_of(&p, 1, 0);
				struct cuda_resample r = {};
				buffer out(output_bytes(&p));
				r.mode = p.mode;
				r.dtype = p.operand[0].dtype;
				r.n = p.n;
				r.c = p.c;
				int64_t from = 1, to = 1;
				for (int i = 2; i >= 0; i--) {
					r.in[i] = i < 3 - p.spatial ? 1 : p.in[i];
					r.out[i] = i < 3 - p.spatial ? 1 : p.out[i];
					r.from[2 + i] = from;
					r.to[2 + i] = to;
					from *= r.in[i];
					to *= r.out[i];
				}
				r.from[1] = from;
				r.to[1] = to;
				r.from[0] = from * p.c;
				r.to[0] = to * p.c;
				bool good =
					cuda_resample(&r, v.bytes[0].data(), out.p, NULL) == cudaSuccess &&
					outputs_wrong(&p, &v, out.p, type.tolerance) == 0;
				/* the same with channels last on both sides */
				int64_t b = size_of(r.dtype), per_in = from, per_out = to;
				std::vector<char> last(v.bytes[0].size());
				for (int64_t n = 0; n < p.n; n++)
					for (int64_t c = 0; c < p.c; c++)
						for (int64_t x = 0; x < per_in; x++)
							memcpy(&last[(size_t)(((n * per_in + x) * p.c + c) *
								       b)],
								&v.bytes[0][(
									size_t)(((n * p.c + c) * per_in + x) *
									b)],
								(size_t)b);
				for (int i = 2; i >= 0; i--) {
					r.from[2 + i] *= p.c;
					r.to[2 + i] *= p.c;
				}
				r.from[1] = r.to[1] = 1;
				r.channels_last = true;
				buffer turned(out.n);
				good = good && cuda_resample(&r, last.data(), turned.p, NULL) == cudaSuccess;
				for (int64_t n = 0; n < p.n; n++)
					for (int64_t c = 0; c < p.c; c++)
						for (int64_t x = 0; x < per_out; x++)
							good = good &&
								memcmp(turned.p +
										((n * per_out + x) * p.c +
											c) *
											b,
									out.p +
										((n * p.c + c) * per_out +
											x) *
											b,
									(size_t)b) == 0;
				ok(good, "%s, and with channels last", text.c_str());
			}
}

static struct cuda_line line_of(const struct problem *p)
{
	struct cuda_line l = {};
	const struct problem_shape *s = &p->shape[0];
	l.dtype = p->operand[0].dtype;
	l.index_type = p->operand[1].dtype;
	l.mode = p->mode;
	l.outer = volume(p->axis, s->dim);
	l.size = s->dim[p->axis];
	l.inner = volume(s->rank - p->axis - 1, s->dim + p->axis + 1);
	l.k = p->size;
	return l;
}

static void test_topk(void)
{
	static const char *const shapes[] = { "3x100:ax1:k5", "2x300x3:ax1:k30", "40:ax0:k40", "1500:ax0:k11",
		"2x3x4:ax0:k1", "1x4500:ax1:k7", "20x9:ax1:k9", "8200:ax0:k9", "700:ax0:k600" };
	for (enum dtype t : all_types)
		for (const char *shape : shapes)
			for (const char *mode : { "largest", "smallest" }) {
				bool few = t == DTYPE_F32 || t == DTYPE_BF16 || t == DTYPE_S64 ||
					t == DTYPE_U8;
				if (atoi(shape) >= 700 && !few) /* one type per size: these take long */
					continue;
				std::string name = dtype_name(t),
					    text = "topk:" + name + "," + name + ":" + mode + ":" + shape;
				struct problem p = parse(text);
				struct operand_values v = operands_of(&p, 1, 0);
				struct cuda_line l = line_of(&p);
				struct check_inputs in = {};
				in.value = operand_value;
				in.state = &v;
				int64_t wrong = 0, ways = 0, n = (int64_t)output_bytes(&p) / size_of(t);
				for (int kind = 0; kind < CUDA_TOPK_KINDS; kind++) {
					if (!cuda_topk_can(&l, (enum cuda_topk_kind)kind))
						continue;
					buffer out(output_bytes(&p)), places((size_t)n * 8);
					buffer space(
						(size_t)cuda_topk_workspace(&l, (enum cuda_topk_kind)kind));
					wrong += cuda_topk(&l, (enum cuda_topk_kind)kind, v.bytes[0].data(),
							 out.p, (int64_t *)places.p, space.p,
							 NULL) != cudaSuccess;
					wrong += outputs_wrong(&p, &v, out.p, 0);
					bool known;
					for (int64_t i = 0; i < n; i += 1 + n / 50)
						wrong += !check_accepts(&p, &in, i,
							(double)((int64_t *)places.p)[i], 0, &known);
					ways++;
				}
				bool small = t == DTYPE_F8E4M3 || t == DTYPE_F8E5M2;
				ok(wrong == 0 && (small ? ways == 0 : ways > 0), "%s, %d ways", text.c_str(),
					(int)ways);
			}
}

static void test_argreduce(void)
{
	unsigned seen = 0;
	for (enum dtype t : all_types)
		for (const char *shape : { "3x100:ax1", "2x7x30:ax1", "2000:ax0", "300x4:ax0", "2x1:ax1",
			     "8200:ax0", "300x8:ax0" })
			for (const char *mode : { "argmax", "argmin" }) {
				if (t == DTYPE_F8E4M3 || t == DTYPE_F8E5M2)
					continue;
				std::string places = t == DTYPE_F32 ? "s32" : "s64";
				std::string text = "argreduce:" + std::string(dtype_name(t)) + "," + places +
					":" + mode + ":" + shape;
				struct problem p = parse(text);
				struct operand_values v = operands_of(&p, 1, 0);
				struct cuda_line l = line_of(&p);
				int64_t wrong = 0, ways = 0;
				for (int kind = 0; kind < CUDA_LINE_KINDS; kind++) {
					enum cuda_line_kind k = (enum cuda_line_kind)kind;
					if (!cuda_line_can(&l, CUDA_LINE_REDUCE, k))
						continue;
					buffer out(output_bytes(&p)), from(v.bytes[0].size()),
						space((size_t)cuda_line_workspace(&l, k));
					memcpy(from.p, v.bytes[0].data(), from.n);
					wrong += cuda_argreduce(&l, k, from.p, out.p, space.p, NULL) !=
						cudaSuccess;
					seen |= 1u << kind;
					wrong += outputs_wrong(&p, &v, out.p, 0);
					ways++;
				}
				ok(wrong == 0 && ways > 0, "%s, %d ways", text.c_str(), (int)ways);
			}
	float zeros[] = { -0.0f, 0.0f, -1 };
	struct cuda_line l = {};
	l.dtype = DTYPE_F32;
	l.index_type = DTYPE_S64;
	l.mode = MODE_ARGMAX;
	l.outer = l.inner = 1;
	l.size = 3;
	int64_t place = -1;
	ok(cuda_argreduce(&l, CUDA_LINE_WARP, zeros, &place, NULL, NULL) == cudaSuccess && place == 0,
		"-0 is as large as 0");
	is_int(seen, (1 << CUDA_LINE_THREAD) - 1, "every way to divide lines was gone");
}

static void test_scan(void)
{
	unsigned seen = 0;
	static const struct {
		enum dtype type;
		double tolerance;
	} types[] = { { DTYPE_F32, 1e-6 }, { DTYPE_F16, 1e-3 }, { DTYPE_BF16, 8e-3 }, { DTYPE_F64, 1e-14 },
		{ DTYPE_S32, 0 }, { DTYPE_S64, 0 } };
	for (auto &type : types)
		for (const char *shape :
			{ "3x100:ax1", "2x7x30:ax1", "2000:ax0", "300x4:ax0", "2x1:ax1", "2x1025:ax1",
			     "2x12288:ax1", "9001:ax0" }) {
			std::string name = dtype_name(type.type),
				    text = "scan:" + name + "," + name + ":cumsum:" + shape;
			struct problem p = parse(text);
			struct operand_values v = operands_of(&p, 1, 0);
			struct cuda_line l = line_of(&p);
			int64_t wrong = 0, ways = 0;
			for (int kind = 0; kind < CUDA_LINE_KINDS; kind++) {
				enum cuda_line_kind k = (enum cuda_line_kind)kind;
				if (!cuda_line_can(&l, CUDA_LINE_SCAN, k))
					continue;
				buffer out(output_bytes(&p)), from(v.bytes[0].size()),
					space((size_t)cuda_line_workspace(&l, k));
				memcpy(from.p, v.bytes[0].data(), from.n);
				wrong += cuda_scan(&l, k, from.p, out.p, space.p, NULL) != cudaSuccess;
				seen |= 1u << kind;
				wrong += outputs_wrong(&p, &v, out.p, type.tolerance);
				ways++;
			}
			ok(wrong == 0 && ways > 0, "%s, %d ways", text.c_str(), (int)ways);
		}
	is_int(seen,
		1 << CUDA_LINE_BLOCK | 1 << CUDA_LINE_SPLIT | 1 << CUDA_LINE_THREAD | 1 << CUDA_LINE_PRODUCT,
		"every way to scan was gone");
}

/* Compares a conversion of u8 to s8 with a loop, byte by byte. */
static bool shift_right(const struct cuda_shift &c)
{
	int64_t from = c.n, to = c.n;
	for (int i = 0; i < 3; i++) {
		from *= c.size[i];
		to *= c.before[i] + c.size[i] + c.after[i];
	}
	buffer source((size_t)from), got((size_t)to);
	std::vector<char> want;
	for (int64_t i = 0; i < from; i++)
		source.p[i] = (char)(i * 37 + i / 256);
	const char *next = source.p;
	for (int64_t n = 0; n < c.n; n++)
		for (int64_t z = -c.before[0]; z < c.size[0] + c.after[0]; z++)
			for (int64_t y = -c.before[1]; y < c.size[1] + c.after[1]; y++)
				for (int64_t x = -c.before[2]; x < c.size[2] + c.after[2]; x++) {
					bool in = z >= 0 && z < c.size[0] && y >= 0 && y < c.size[1] &&
						x >= 0 && x < c.size[2];
					int value = in ? (unsigned char)*next++ : 0;
					want.push_back((char)(value - 128));
				}
	return cuda_shift(&c, source.p, got.p, NULL) == cudaSuccess &&
		memcmp(got.p, want.data(), want.size()) == 0;
}

static void test_shift(void)
{
	static const struct {
		struct cuda_shift c;
		const char *what;
	} row[] = {
		{ { 1, { 1, 1, 4096 }, { 0, 0, 0 }, { 0, 0, 0 } }, "words of 16 bytes" },
		{ { 1, { 1, 1, 20008 }, { 0, 0, 0 }, { 0, 0, 0 } }, "of 8" },
		{ { 3, { 1, 1, 4 }, { 0, 0, 0 }, { 0, 0, 0 } }, "of 4" },
		{ { 1, { 1, 1, 1003 }, { 0, 0, 0 }, { 0, 0, 0 } }, "single bytes" },
		{ { 2, { 1, 5, 7 * 16 }, { 0, 1, 16 }, { 0, 1, 16 } }, "an image with a border" },
		{ { 2, { 1, 5, 7 * 8 }, { 0, 2, 0 }, { 0, 0, 8 } }, "a border on two sides" },
		{ { 2, { 3, 5, 7 * 3 }, { 1, 3, 9 }, { 2, 0, 3 } }, "of odd sizes in three dimensions" },
		{ { 1, { 1, 3, 8 }, { 0, 0, 4 }, { 0, 0, 4 } }, "a border of half a row" },
	};
	for (auto &r : row)
		ok(shift_right(r.c), "u8 as s8: %s", r.what);
	int8_t w[] = { 1, -2, 3, 100, -128, 127 };
	float scale[] = { 0.5f, 0.25f, 2 }, bias[] = { 1, 2, 3 }, to[3];
	struct cuda_shift_sum s = { 3, 2, 1, 3, false };
	ok(cuda_shift_sum(&s, w, scale, bias, to, NULL) == cudaSuccess, "sums of columns");
	ok(to[0] == 1 + 64 * 101 && to[1] == 2 - 32 * 130 && to[2] == 3 + 256 * 130,
		"scaled, and the bias");
	ok(cuda_shift_sum(&s, w, scale, NULL, to, NULL) == cudaSuccess && to[1] == -32 * 130,
		"without a bias");
	struct cuda_shift_sum rows = { 3, 2, 2, 1, true };
	int32_t whole[3];
	ok(cuda_shift_sum(&rows, w, NULL, NULL, whole, NULL) == cudaSuccess && whole[0] == -128 &&
			whole[1] == 128 * 103 && whole[2] == -128, "sums of rows, whole");
}

static void test_clock(void)
{
	struct cuda_count c = { 0, 0, 0 };
	/* the clock of the stand-in runs twice as fast as its timer, which both advance with each reading */
	ok(cuda_spin(&c, 1000, 0, NULL) == cudaSuccess && c.ns >= 1000 && c.ns < 1100 && c.cycles > c.ns,
		"a spin of 1000 ns: %d", (int)c.ns);
	ok(c.tick_ns >= 1 && c.tick_ns <= 2, "the smallest step of the timer: %d", (int)c.tick_ns);
	ok(cuda_spin(&c, 0, 5000, NULL) == cudaSuccess && c.cycles >= 5000 && c.cycles < 5100,
		"a spin of 5000 cycles: %d", (int)c.cycles);
	ok(cuda_spin(&c, 1000, 20000, NULL) == cudaSuccess && c.ns >= 1000 && c.cycles >= 20000,
		"of both, the longer");
	ok(cuda_heat(&c, 20, 1, NULL) == cudaSuccess && c.ns >= 20 && c.ns < 100 && c.cycles > 0,
		"a load of 20 ns: %d", (int)c.ns);
	ok(cuda_nothing(NULL) == cudaSuccess, "nothing");
	struct cuda_span s;
	memset(&s, 0x55, sizeof(s));
	ok(cuda_span_begin(&s, NULL) == cudaSuccess && s.count.ns == 0, "a span begins");
	ok(cuda_span_end(&s, 500, 2, NULL) == cudaSuccess && s.count.ns >= 500 && s.count.ns < 600 &&
			s.count.cycles > s.count.ns,
		"and ends after 500 ns: %d", (int)s.count.ns);
	cuda_span_begin(&s, NULL);
	cuda_span_end(&s, 0, 8, NULL);
	uint64_t once = s.count.ns;
	ok(once > 0 && once < 100, "at once, on the SM that began it, and only the first of its blocks: %d",
		(int)once);
	cuda_span_begin(&s, NULL);
	s.sm = 7;
	cuda_span_end(&s, 0, 8, NULL);
	ok(s.count.ns == 0, "no block on that SM: nothing is counted");
	volatile int flag = 0;
	on_cpu_fast_max = 2147483647;
	flag = 1;
	ok(cuda_block(&flag, NULL) == cudaSuccess, "a block that is lifted ends");
}

int main(void)
{
	test_fill();
	test_perms();
	test_moves();
	test_names();
	test_casts();
	test_gather();
	test_select();
	test_resample();
	test_topk();
	test_argreduce();
	test_scan();
	test_shift();
	test_clock();
	/* the code for tensors of more than 2^31 elements */
	on_cpu_fast_max = 50;
	test_moves();
	test_gather();
	test_select();
	test_resample();
	return done_testing();
}
