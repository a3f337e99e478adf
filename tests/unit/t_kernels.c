/* The rows of the kernels: what each says of one problem, and which neighbours of it are problems too. The
 * expected lines are in tests/problem/kernels.txt; `t_kernels print` writes them, for review after a change
 * that was meant. A text in column 0 is followed by its facts, then by a line for each of its numbers with
 * what becomes of the problem when that number is 0, one more, 2^24 + 1, 2^48 + 1. */
#include "config.h"

#include "problem/kernel.h"
#include "problem/problem.h"
#include "recorded.h"

#include "base/str.h"

static const char *const texts[] = {
	"conv:u8,s8.c,u8/s32:n2c4h5w6k8r2s3:ph1pw0qh0qw1:sh1sw2:dh2dw1:g2+scale:f32.c+bias:f32.c+add:u8+relu",
	"conv:f32@nxc,f32.c,f32@nxc/f32:n1c8w100k4s3:pw1qw0:sw1:dw4:g1",
	"deconv:f16,f16.c,f16/f32:n2c4h3w5k6r3s2:ph1pw0qh0qw1:sh2sw2:dh1dw2:uh1uw0:g2",
	"matmul:f32,f32.c,f16/f32:ba2x3bb1x3m5n7k11:ta0tb1+bias:f32.c+gelu_erf",
	"matmul:f32,f32@s24x1x8,f32/f32:ba4bb4m2n8k3:ta0tb0",
	"pool:f32,f32:max:n1c4h9w8r3s2:ph1pw0qh0qw1:sh2sw1:dh1dw2",
	"pool:f32,f32:avg_include:n1c4w8s2:pw0qw1:sw1:dw2",
	"batchnorm:f32,f32:2x3x5", "layernorm:f32,f32:2x3x5:ax1", "softmax:f32,f32:log:2x3x5:ax1",
	"eltwise:f32,bf16:clip,0,6:2x3", "binary:f32,f32.c,f32:add:2x3x5:3x1",
	"binary:f16,f16,bool:ge:2x3x5:2x3x5", "reduce:f32,f32:mean:2x3x5:2x1x1",
	"concat:f32,f32:2x3x5,2x4x5:ax1", "transpose:f32,f32:2x3x5:perm2x0x1",
	"resample:f32,f32:linear:n1c2h3w5:oh7ow4", "lrn:f32,f32:across,0.0001,0.75:1x6x5:n5",
	"cast:f32,bf16:2x3", "copy:u8,u8:b7", "instancenorm:f32,f32:2x3x5", "groupnorm:f16,f16:2x6x5:g3",
	"rmsnorm:bf16,bf16:2x3x5:ax2", "attention:f16,f16,f16,f16/f32:full:n1hq4hk2lq3lk5d8e6",
	"attention:f16,f16,f16,f16/f32:causal:n1hq4hk2lq3lk5d8e6",
	"attention:f16,f16,f16,f16/f32:masked:n1hq4hk2lq3lk5d8e6:1x1x3x5",
	"rnn:f32,f32.c,f32:lstm:t3n5i7h2d2",
	"rnn:f32,f32,f32:gru:t3n5i7h2d1", "rnn:f32,f32.c,f32:rnn_relu:t3n5i7h2d2",
	"dropout:f32,f32:drop,0.5:2x3", "gather:f32.c,s64,f32:7x3:ax0:1x2",
	"select:bool,f32,f32,f32:1x3:2x3:1", "topk:f32,f32:largest:2x9:ax1:k5",
	"argreduce:f32,s64:argmax:2x9:ax1", "scan:s64,s64:cumsum:2x9:ax1", "quantize:f32,u8:tensor:2x3",
	"quantize:f32,s8:axis:4x3:ax0", "quantize:f16,s4:block:4x9:ax1:b3", "quantize:f32,u8:dynamic:2x3",
	"beside:copy:u8,u8:b7%eltwise:f32,bf16:clip,0,6:2x3=softmax:f32,f32:log:2x3x5:ax1",
	"dequantize:s32,f32:axis:4x3:ax1", "dequantize:u4,f16:block:4x9:ax0:b2",
};

static void add_shape(struct str *out, const char *name, const struct problem_shape *s)
{
	str_addf(out, " %s=", name);
	for (int i = 0; i < s->rank; i++)
		str_addf(out, "%s%lld", i ? "x" : "", (long long)s->dim[i]);
}

static void add_facts(struct str *out, const struct problem *p)
{
	const struct kernel_row *k = kernel_row(p->kernel);
	str_addf(out, "\toperands:");
	for (int i = 0; i < problem_operand_count(p); i++) {
		struct problem_shape s = problem_operand_shape(p, i);
		add_shape(out, i < k->operands && k->names[i] ? k->names[i] : "?", &s);
		str_addf(out, " (%.17g)", problem_operand_traffic(p, i));
	}
	struct problem_shape scale = problem_scale_shape(p);
	if (k->quantizer)
		add_shape(out, "scale", &scale);
	str_addf(out, "\n\tcosts: %.17g flops, %.17g bytes, %.17g constant", problem_flops(p),
		problem_bytes(p), problem_constant_bytes(p));
	str_addf(out, "; read %.6g, computed %.6g, terms %.17g\n", k->share_read ? k->share_read(p) : -1,
		k->share_computed ? k->share_computed(p) : -1, k->sum_terms ? k->sum_terms(p) : -1);
	str_addf(out, "\tchannels %lld axis %d, %d x %lld parameters, axis of the text %d\n",
		k->output_channels ? (long long)k->output_channels(p) : -1, problem_channel_axis(p),
		k->parameters, (long long)problem_parameter_count(p), p->axis);
	str_addf(out, "\tis:%s%s%s%s%s%s%s%s%s%s%s%s", k->accumulator ? " accumulator" : "",
		k->mode ? " mode" : "", k->weights ? " weights" : "", k->source_list ? " list" : "",
		k->second_output ? " second" : "", k->quantizer ? " quantizer" : "",
		k->channels_last ? " last" : "", k->image_like ? " image" : "", k->product ? " product" : "",
		k->transcendental ? " transcendental" : "", k->takes_epilogues ? " epilogues" : "",
		k->pointwise ? " pointwise" : "");
	str_addf(out, "; constant %d, layout %d, order %d, index %d, eta %g %g\n", problem_has_constant(p),
		(int)k->layout, k->any_order ? k->any_order(p) : -1, k->index_operand, k->eta_factor[0],
		k->eta_factor[1]);
}

/* What becomes of the text with another number in [at, at + n). */
static void add_neighbour(struct str *out, const char *text, size_t at, size_t n, long long number)
{
	struct error err = ERROR_NONE;
	struct str other = { 0 };
	struct problem p;
	str_addf(&other, "%.*s%lld%s", (int)at, text, number, text + at + n);
	str_addf(out, "\t%.*s[%lld]: ", (int)at, text, number);
	if (problem_parse(text_of(other.p), &p, &err))
		str_addf(out, "%s\n", err.text);
	else
		str_addf(out, "%.17g flops, %.17g bytes\n", problem_flops(&p), problem_bytes(&p));
	str_free(&other);
}

/* True if the digits are those of a data type in an epilogue, as f32 in "+bias:f32.c". */
static bool is_type(const char *text, size_t at)
{
	return strchr("fsu", text[at - 1]) && text[at - 2] == ':' && strchr(text, '+') &&
		strchr(text, '+') < text + at;
}

static void add_neighbours(struct str *out, const char *text)
{
	for (size_t at = strcspn(text + strcspn(text, ":") + 1, ":") + strcspn(text, ":") + 1, n; text[at];
		at += n ? n : 1) {
		n = strspn(text + at, "0123456789");
		if (!n || text[at + n] == '.' || text[at - 1] == '.' || is_type(text, at))
			continue;
		long long was = atoll(text + at);
		const long long numbers[] = { 0, was + 1, (1 << 24) + 1, (INT64_C(1) << 48) + 1 };
		for (size_t i = was ? 0 : 1; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			add_neighbour(out, text, at, n, numbers[i]);
	}
}

static void add_text(struct str *out, const char *text)
{
	struct error err = ERROR_NONE;
	struct problem p;
	str_addf(out, "%s\n", text);
	if (problem_parse(text_of(text), &p, &err)) {
		str_addf(out, "\t%s\n", err.text);
		return;
	}
	add_facts(out, &p);
	add_neighbours(out, text);
}

int main(int argc, char **argv)
{
	struct str all = { 0 };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		add_text(&all, texts[i]);
	if (argc > 1 && strcmp(argv[1], "print") == 0) {
		fputs(all.p, stdout);
		str_free(&all);
		return 0;
	}
	recorded_lines(all.p, "tests/problem/kernels.txt", 1000);
	str_free(&all);
	return done_testing();
}
