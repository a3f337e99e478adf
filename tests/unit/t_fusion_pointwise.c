#include "config.h"

#include "analyze/analyze.h"
#include "fusion_help.h"
#include "make_plan.h"
#include "tap.h"

/* Groups without a convolution or matrix product in front: pointwise chains, activations in parts,
 * attention. */

#define ROWS "1x128x3072"
#define IMAGE "1x64x56x56"
#define HEADS "2x12x128x64"
#define SCORES "2x12x128x128"
#define RELU "eltwise:f32,f32:relu:" ROWS
#define MUL "binary:f32,f32,f32:mul:" ROWS ":" ROWS
#define CONV "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"

static int binary(struct maker *m, const char *op, const char *mode, int a, int b)
{
	return make_layer(m, op, arena_printf(&m->plan.arena, "binary:f32,f32,f32:%s:" ROWS ":" ROWS, mode),
		ROWS, a, b);
}

static int relu(struct maker *m, int x)
{
	return make_layer(m, "Relu", RELU, ROWS, x, -1);
}

static void chains(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, ROWS), y = make_input(m, ROWS), c = make_constant(m, ROWS);
	int v = binary(m, "Mul", "mul", x, y);
	v = binary(m, "Add", "add", c, v);
	v = relu(m, v);
	v = binary(m, "Sub", "sub", v, y);
	v = make_layer(m, "Sigmoid", "eltwise:f32,f32:sigmoid:" ROWS, ROWS, v, -1);
	m->plan.values[v].is_output = true;
	struct fusion *f = fusion_find(make_finish(m));
	is_group(f, 0, 0, "Mul+Add", 2, MUL "+add:f32.c");
	is_group(f, 0, 1, "Mul+Add+Relu", 3, MUL "+add:f32.c+relu");
	is_group(f, 0, 2, "Mul+Add+Relu+Sub", 4, MUL "+add:f32.c+relu+sub:f32");
	is_group(f, 0, 3, "Mul+Add+Relu+Sub+Sigmoid", 5, MUL "+add:f32.c+relu+sub:f32+sigmoid");
	ok(!group_at(f, 0, 4), "four epilogues and no more");
	is_group(f, 2, 1, "Relu+Sub+Sigmoid", 3, RELU "+sub:f32+sigmoid");
	is_int(f->first_group[4], -1, "the last has nothing to take");
	ok(f->cluster_count == 1 && f->clusters[0].unit_count == 5 && f->clusters[0].anchor_count == 4,
		"decided together");
	fusion_free(f);
	make_end(m);
}

/* A scale layer, as old exports write it: a factor and a shift per channel behind a batch normalization. */
static void scale_layer(void)
{
	static const char *const norm = "batchnorm:f32,f32:" IMAGE;
	for (int with_conv = 0; with_conv < 3; with_conv++) {
		struct maker *m = make_begin();
		int v = make_input(m, IMAGE), c = make_constant(m, "64x1x1");
		if (with_conv == 2)
			m->plan.values[c].constant = false;
		if (with_conv == 1)
			v = make_layer(m, "Conv", CONV, IMAGE, v, make_constant(m, "64x64x3x3"));
		v = make_batchnorm(m, IMAGE, 64, v);
		v = make_layer(m, "Mul", "binary:f32,f32.c,f32:mul:" IMAGE ":64x1x1", IMAGE, v, c);
		v = make_layer(m, "Add", "binary:f32,f32.c,f32:add:" IMAGE ":64x1x1", IMAGE, v, c);
		v = make_layer(m, "Relu", "eltwise:f32,f32:relu:" IMAGE, IMAGE, v, -1);
		m->plan.values[v].is_output = true;
		struct fusion *f = fusion_find(make_finish(m));
		if (with_conv == 2)
			ok(!group_at(f, 0, 0), "a computed factor is not folded");
		else if (with_conv)
			is_group(f, 0, 3, "Conv+BatchNorm+Scale+Bias+Relu", 5, CONV "+bias:f32.c+relu");
		else
			is_group(f, 0, 2, "BatchNormalization+Scale+Bias+Relu", 4,
				arena_printf(&m->plan.arena, "%s+relu", norm));
		fusion_free(f);
		make_end(m);
	}
}

/* What no epilogue says ends the chain. */
static void ends(void)
{
	static const char *const wide = "binary:f32,f32,f32:add:" ROWS ":1x1x3072";
	for (int i = 0; i < 5; i++) {
		struct maker *m = make_begin();
		int v = relu(m, make_input(m, ROWS)), y = make_input(m, ROWS);
		int w = i == 0	 ? binary(m, "Sub", "sub", y, v)
			: i == 1 ? make_layer(m, "Add", wide, ROWS, v, make_input(m, "3072"))
			: i == 2 ? binary(m, "Add", "add", v, v)
			: i == 3 ? make_layer(m, "Softmax", "softmax:f32,f32:soft:" ROWS ":ax2", ROWS, v, -1)
				 : relu(m, v);
		if (i == 4)
			m->plan.values[v].is_output = true;
		m->plan.values[w].is_output = true;
		struct fusion *f = fusion_find(make_finish(m));
		static const char *const what[] = { "the chain's value is what is subtracted",
			"a vector is broadcast", "a value is added to itself", "a softmax is not pointwise",
			"the value is an output too" };
		is_int(f->group_count, 0, "no group where %s", what[i]);
		fusion_free(f);
		make_end(m);
	}
}

static void regions(void)
{
	struct maker *m = make_begin();
	int x = make_layer(m, "Softmax", "softmax:f32,f32:soft:" ROWS ":ax2", ROWS, make_input(m, ROWS), -1);
	int s = make_layer(m, "Sigmoid", "eltwise:f32,f32:sigmoid:" ROWS, ROWS, x, -1);
	int v = binary(m, "Mul", "mul", x, s);
	v = binary(m, "Add", "add", v, make_input(m, ROWS));
	m->plan.values[v].is_output = true;
	struct fusion *f = fusion_find(make_finish(m));
	is_group(f, 1, 0, "SiLU", 2, "eltwise:f32,f32:swish,1:" ROWS);
	is_group(f, 1, 1, "SiLU+Add", 3, "eltwise:f32,f32:swish,1:" ROWS "+add:f32");
	is_int(f->group_count, 2, "its layers are taken together or not at all");
	ok(f->clusters[0].unit_count == 2 && f->clusters[0].units[0].layer_count == 2, "... as one unit");
	fusion_free(f);
	make_end(m);
}

/* What a convolution can take along starts no chain of its own, but others may run into it. */
static void beside_convolutions(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, IMAGE), k = make_input(m, IMAGE);
	int a = make_layer(m, "Conv", CONV, IMAGE, x, make_constant(m, "64x64x3x3"));
	int b = make_layer(m, "Mul", "binary:f32,f32,f32:mul:" IMAGE ":" IMAGE, IMAGE, x, k);
	int s = make_layer(m, "Add", "binary:f32,f32,f32:add:" IMAGE ":" IMAGE, IMAGE, a, b);
	s = make_layer(m, "Relu", "eltwise:f32,f32:relu:" IMAGE, IMAGE, s, -1);
	m->plan.values[s].is_output = true;
	struct plan *p = make_finish(m);
	struct fusion *f = fusion_find(p);
	is_group(f, 0, 1, "Conv+Add+Relu", 3, CONV "+add:f32+relu");
	is_group(f, 1, 1, "Mul+Add+Relu", 3, "binary:f32,f32,f32:mul:" IMAGE ":" IMAGE "+add:f32+relu");
	is_int(f->first_group[2], -1, "the sum starts none");
	is_int(f->cluster_count, 1, "both want the sum");
	is_int(f->clusters[0].units[f->clusters[0].unit_count - 1].ending_count, 2,
		"either may end with the Relu");
	const struct fusion_group *g = group_at(f, 0, 1);
	is_str(g->text_nxc,
		"conv:f32@nxc,f32.c@nxc,f32@nxc/"
		"f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+add:f32@nxc+relu",
		"channels last, the residual too");
	ok(group_at(f, 1, 0)->distinct_nxc < 0, "a conversion between Mul and Add takes that group apart");
	fusion_free(f);
	make_end(m);
}

/* q k' * scale -> softmax -> v, with something between the softmax and the scale where `mask` says so. */
struct heads {
	const char *q, *k, *v, *out, *softmax;
	bool scale, mask, constant_values, second_reader;
};

static int attention(struct maker *m, const struct heads *h)
{
	int q = make_input(m, h->q), k = make_input(m, h->k);
	int v = h->constant_values ? make_constant(m, h->v) : make_input(m, h->v);
	int s = make_layer(m, "MatMul", "matmul:f32,f32,f32/f32:ba24bb24m128n128k64:ta0tb0", SCORES, q, k);
	if (h->scale)
		s = make_layer(
			m, "Div", "eltwise:f32,f32:affine,0.125,0:" SCORES, SCORES, s, make_scalar(m, 8));
	if (h->mask)
		s = make_layer(m, "Add", "binary:f32,f32,f32:add:" SCORES ":2x1x1x128", SCORES, s,
			make_input(m, "2x1x1x128"));
	s = make_layer(m, "Softmax", h->softmax, SCORES, s, -1);
	if (h->second_reader)
		make_layer(m, "Relu", "eltwise:f32,f32:relu:" SCORES, SCORES, s, -1);
	s = make_layer(m, "Dropout", NULL, SCORES, s, -1);
	return make_layer(m, "MatMul", "matmul:f32,f32,f32/f32:ba24bb24m128n64k128:ta0tb0", h->out, s, v);
}

static const struct fusion_group *attention_group(const struct fusion *f)
{
	for (int i = 0; i < f->group_count; i++)
		if (strncmp(f->groups[i].text, "attention:", 10) == 0)
			return &f->groups[i];
	return NULL;
}

static void attentions(void)
{
	static const char soft[] = "softmax:f32,f32:soft:" SCORES ":ax3";
	static const struct {
		const char *what;
		int layers;
		struct heads h;
		const char *text;
	} rows[] = {
		{ "scaled", 5, { HEADS, "2x12x64x128", HEADS, HEADS, soft, .scale = true },
			"attention:f32,f32,f32,f32/f32:full:n2hq12hk12lq128lk128d64e64" },
		{ "plain", 4, { HEADS, "2x12x64x128", HEADS, HEADS, soft, false, false, false, false },
			"attention:f32,f32,f32,f32/f32:full:n2hq12hk12lq128lk128d64e64" },
		{ "of shared keys", 5,
			{ HEADS, "2x1x64x128", "2x1x128x32", "2x12x128x32", soft, .scale = true },
			"attention:f32,f32,f32,f32/f32:full:n2hq12hk1lq128lk128d64e32" },
		{ "masked", 6, { HEADS, "2x12x64x128", HEADS, HEADS, soft, .scale = true, .mask = true },
			"attention:f32,f32,f32,f32/f32:masked:n2hq12hk12lq128lk128d64e64:2x1x1x128" },
		{ "over the wrong axis", 0,
			{ HEADS, "2x12x64x128", HEADS, HEADS, "softmax:f32,f32:soft:" SCORES ":ax2",
				.mask = false },
			NULL },
		{ "of constant values", 0,
			{ HEADS, "2x12x64x128", HEADS, HEADS, soft, .constant_values = true }, NULL },
		{ "read between", 0, { HEADS, "2x12x64x128", HEADS, HEADS, soft, .second_reader = true },
			NULL },
		{ "of other values", 0, { HEADS, "2x12x64x128", "2x1x128x64", HEADS, soft, .scale = true },
			NULL },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct maker *m = make_begin();
		int y = attention(m, &rows[i].h);
		m->plan.values[y].is_output = true;
		struct fusion *f = fusion_find(make_finish(m));
		const struct fusion_group *g = attention_group(f);
		is_int(g ? g->layer_count : 0, rows[i].layers, "attention %s", rows[i].what);
		if (rows[i].text)
			is_str(g ? g->text : NULL, rows[i].text, "... is one problem");
		fusion_free(f);
		make_end(m);
	}
}

/* The second product's own groups compete with attention; the choice sees both. */
static void attention_is_chosen(void)
{
	static const char soft[] = "softmax:f32,f32:soft:" SCORES ":ax3";
	struct heads h = { HEADS, "2x12x64x128", HEADS, HEADS, soft, .scale = true };
	struct maker *m = make_begin();
	int y = make_layer(m, "Relu", "eltwise:f32,f32:relu:" HEADS, HEADS, attention(m, &h), -1);
	m->plan.values[y].is_output = true;
	struct plan *p = make_finish(m);
	struct fusion *f = fusion_find(p);
	struct results *r = results_new();
	struct arena a = { 0 };
	struct scenario s = scenario_default();
	s.fusion = true;
	for (int i = 0; i < p->problem_count; i++)
		measure(r, p->problems[i].text, 100);
	const struct fusion_group *g = attention_group(f);
	measure(r, g->text, 150);
	double both = analyze(&a, GROUND(p, f, r, NULL), &s)->total_ns;
	near(both, 250, 1e-12, "attention and the Relu behind it");
	measure(r, "matmul:f32,f32,f32/f32:ba24bb24m128n64k128:ta0tb0+relu", 30);
	near(analyze(&a, GROUND(p, f, r, NULL), &s)->total_ns, 250, 1e-12, "300 and 30 are more");
	measure(r, g->text, 290);
	near(analyze(&a, GROUND(p, f, r, NULL), &s)->total_ns, 330, 1e-12, "now they are less");
	s.parallel = true;
	near(analyze(&a, GROUND(p, f, r, NULL), &s)->total_ns, 330, 1e-12, "... in parallel too");
	arena_free(&a);
	results_free(r);
	fusion_free(f);
	make_end(m);
}

int main(void)
{
	chains();
	scale_layer();
	ends();
	regions();
	beside_convolutions();
	attentions();
	attention_is_chosen();
	return done_testing();
}
