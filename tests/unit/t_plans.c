/* Whole plans of the bundled models and of those in tests/models, for several options, as recorded lines:
 * tests/plan/plans.txt; `t_plans print` writes them, for review after a change that was meant. Small models
 * are listed layer by layer; of large ones a "sum" weighs each item with its place, so that it has all. */
#include "config.h"

#include "plan/plan.h"
#include "recorded.h"

#include "base/str.h"

#define LISTED 60 /* layers of a graph that is listed */

static const struct {
	const char *path, *dtype;
	int64_t batch;
	const char *dims; /* "sequence=128,past_sequence=8" */
} cases[] = {
	{ "tests/models/tiny", "f32", 0, "" },
	{ "tests/models/tiny", "f16", 3, "" },
	{ "tests/models/rows", "f32", 0, "" },
	{ "tests/models/rows", "bf16", 4, "" },
	{ "tests/models/baked", "f32", 0, "" },
	{ "tests/models/baked", "f32", 5, "" },
	{ "tests/models/functions", "f32", 0, "" },
	{ "tests/models/symbolic", "f32", 0, "" },
	{ "tests/models/symbolic", "f32", 2, "" },
	{ "data/models/googlenet", "f32", 0, "" },
	{ "data/models/mobilenet_v2", "bf16", 8, "" },
	{ "data/models/yolov8n", "f32", 0, "" },
	{ "data/models/bert_base", "f32", 0, "" },
	{ "data/models/bert_base", "f16", 2, "sequence=64" },
	{ "data/models/gpt2_small", "bf16", 1, "sequence=16,past_sequence=8" },
	{ "data/models/gpt2_small", "f32", 0, "sequence=16,past_sequence=8,total_sequence=24,batch=2" },
	{ "data/models/bert_base", "f32", 0, "nothing=3" },
};

static int hash_of(const char *text)
{
	unsigned h = 2166136261u;
	for (; text && *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return (int)((h ^ h >> 15) % 1000);
}

static double weighted(double sum, double value, int place)
{
	return isnan(value) ? sum + 0.5 * place : sum + value * (1 + place % 97);
}

static double list_sum(const int *list, int count)
{
	double sum = 0;
	for (int i = 0; i < count; i++)
		sum = weighted(sum, list[i], i);
	return sum;
}

static void add_layer(struct str *out, const struct plan *p, const struct plan_layer *l)
{
	struct arena a = { 0 };
	str_addf(out, "\t\t%d %.*s: class %d, %.9g flops, %.9g bytes, %s%s%s%s%s%s", l->index, (int)l->name.n,
		l->name.p, (int)l->class, l->flops, l->bytes,
		l->problem >= 0 ? p->problems[l->problem].text : "-",
		p->nxc && l->problem_nxc != l->problem ? ", twin" : "", l->proxy ? ", proxy" : "",
		l->upto ? ", up to" : "", l->quantized ? ", quantized" : "", l->at_least ? ", at least" : "");
	str_addf(out, "%s%s; after", l->why ? "; " : "", l->why ? l->why : "");
	for (int i = 0; i < l->pred_count; i++)
		str_addf(out, " %d", l->preds[i]);
	str_addf(out, "; gives");
	for (int i = 0; i < l->output_count; i++)
		if (l->outputs[i] >= 0)
			str_addf(out, " %s %s", dtype_name(p->values[l->outputs[i]].dtype),
				shape_text(&a, p->values[l->outputs[i]].shape));
	str_addf(out, "\n");
	arena_free(&a);
}

static double layer_sum(const struct plan *p, const struct plan_layer *l)
{
	double sum = (int)l->class + 10 * l->problem + 3 * (p->nxc ? l->problem_nxc : 0) + 7 * l->absorbed_by;
	sum += l->proxy + 2 * l->upto + 4 * l->quantized + 8 * l->at_least + hash_of(l->why);
	sum = weighted(sum, list_sum(l->preds, l->pred_count), 1);
	sum = weighted(sum, list_sum(l->succs, l->succ_count), 2);
	sum = weighted(sum, list_sum(l->captures, l->capture_count), 3);
	return weighted(sum, list_sum(l->inputs, l->input_count) + list_sum(l->outputs, l->output_count), 4);
}

static double value_sum(const struct plan_value *v)
{
	struct arena a = { 0 };
	double sum = (int)v->dtype + 2 * v->constant + 4 * v->given + 8 * (int)v->kind + 64 * v->producer;
	sum += 16 * v->is_input + 32 * v->is_output + 128 * v->is_read + 256 * v->nxc + 3 * v->outer;
	sum += hash_of(shape_text(&a, v->shape)) + (v->elements ? 512 + v->elements->count : 0);
	arena_free(&a);
	return weighted(sum, list_sum(v->consumers, v->consumer_count), 1);
}

static void add_graph(struct str *out, const struct plan *whole, const struct plan *p)
{
	double layers = 0, values = 0, flops = 0, bytes = 0;
	for (int i = 0; i < p->layer_count; i++) {
		layers = weighted(layers, layer_sum(whole, &p->layers[i]), i);
		flops = weighted(flops, p->layers[i].flops, i);
		bytes = weighted(bytes, p->layers[i].bytes, i);
	}
	for (int i = 0; i < p->value_count; i++)
		values = weighted(values, value_sum(&p->values[i]), i);
	str_addf(out,
		"\t%d layers (sum %.9g), %d values (sum %.9g), %.9g flops (sum %.7g), %.9g bytes (sum "
		"%.7g)\n",
		p->layer_count, layers, p->value_count, values, p->flops, flops, p->bytes, bytes);
	str_addf(out, "\tunknown: flops %d, bytes %d, shapes %d; weights %.9g, live %.9g%s%s\n",
		p->unknown_flops_layers, p->unknown_bytes_layers, p->unknown_shapes, p->weight_bytes,
		p->peak_live_bytes, p->upto ? ", up to" : "", p->at_least ? ", at least" : "");
	for (int i = 0; i < p->layer_count && p->layer_count <= LISTED; i++)
		add_layer(out, whole, &p->layers[i]);
	for (int i = 0; i < p->layer_count; i++)
		for (int k = 0; k < p->layers[i].body_count; k++) {
			str_addf(
				out, "\tbody %d of layer %d, %g times\n", k, i, p->layers[i].bodies[k].times);
			add_graph(out, whole, &p->layers[i].bodies[k]);
		}
}

static void add_layout(struct str *out, const struct plan *p)
{
	double problems = 0, conversions = 0, borders = 0;
	for (int i = 0; i < p->problem_count + p->nxc_problem_count; i++) {
		const struct plan_problem *one = &p->problems[i];
		problems = weighted(problems, hash_of(one->text) + one->first_layer + 3 * one->use_count +
			9 * one->border, i);
	}
	for (int i = 0; i < p->conversion_count; i++) {
		const struct plan_conversion *c = &p->conversions[i];
		conversions = weighted(conversions, c->value + 3 * c->to_nxc + 5 * c->problem, i);
		conversions = weighted(conversions, list_sum(c->consumers, c->consumer_count), i + 1);
	}
	for (int i = 0; i < p->border_count; i++)
		borders = weighted(borders, p->borders[i].value + 3 * p->borders[i].is_input +
			5 * p->borders[i].problem, i);
	str_addf(out, "\t%d + %d problems (sum %.9g), %d conversions (sum %.9g), %d casts (sum %.9g)%s\n",
		p->problem_count, p->nxc_problem_count, problems, p->conversion_count, conversions,
		p->border_count, borders, p->nxc ? ", channels last" : "");
}

static void add_options(struct str *out, const struct plan *p)
{
	struct arena a = { 0 };
	char **needs;
	int count = plan_needs(p, &a, &needs);
	str_addf(
		out, "\tbatch %lld, of a shape %lld; bound:", (long long)p->batch, (long long)p->shape_batch);
	for (int i = 0; i < p->binding_count; i++)
		str_addf(out, " %.*s=%lld (%d)", (int)p->bindings[i].name.n, p->bindings[i].name.p,
			(long long)p->bindings[i].value, (int)p->binding_sources[i]);
	str_addf(out, "; unbound:");
	for (int i = 0; i < p->unbound_count; i++)
		str_addf(out, " %.*s", (int)p->unbound[i].n, p->unbound[i].p);
	str_addf(out, "; needs:");
	for (int i = 0; i < count; i++)
		str_addf(out, " %s", needs[i]);
	const char *line = plan_needs_line(p, &a);
	str_addf(out, " (%s)\n", line ? line : "nothing");
	for (int i = 0; i < p->warning_count; i++)
		str_addf(out, "\twarning: %s\n", p->warnings[i]);
	arena_free(&a);
}

static void add_case(struct str *out, int which)
{
	char path[1024];
	struct error err = ERROR_NONE;
	struct dim_binding dims[8];
	struct plan_options options = { .dtype = dtype_parse(text_of(cases[which].dtype)),
		.batch = cases[which].batch, .bindings = dims };
	for (const char *at = cases[which].dims; *at;) {
		size_t n = strcspn(at, "=");
		dims[options.binding_count++] = (struct dim_binding){ { at, n }, atoll(at + n + 1) };
		at += strcspn(at, ",");
		at += *at == ',';
	}
	snprintf(path, sizeof(path), "%s/%s.onnx", getenv("srcdir") ? getenv("srcdir") : "..",
		cases[which].path);
	struct model *m = model_load(path, &err);
	struct plan *p = m ? plan_build(m, &options, &err) : NULL;
	const char *said = strstr(err.text, cases[which].path);
	str_addf(out, "%s in %s, batch %lld, %s: %s\n", cases[which].path, cases[which].dtype,
		(long long)cases[which].batch, cases[which].dims, said ? said : err.text);
	if (p) {
		add_options(out, p);
		add_layout(out, p);
		add_graph(out, p, p);
		plan_free(p);
	}
	model_free(m);
}

int main(int argc, char **argv)
{
	struct str all = { 0 };
	for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); i++)
		add_case(&all, i);
	if (argc > 1 && strcmp(argv[1], "print") == 0) {
		fputs(all.p, stdout);
		str_free(&all);
		return 0;
	}
	recorded_lines(all.p, "tests/plan/plans.txt", 100);
	str_free(&all);
	return done_testing();
}
