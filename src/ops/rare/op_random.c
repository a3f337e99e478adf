/* Random numbers. They differ between runs, so op.c never treats them as constants. */
#include "config.h"

#include "ops/rules/op_rules.h"

/* Source of the output's shape. */
enum random_shape {
	RANDOM_ATTRIBUTE, /* attribute shape */
	RANDOM_INPUT,	  /* the input's */
	RANDOM_SAMPLES	  /* the input's batch, and the number of samples */
};

struct random {
	enum random_shape shape;
	bool reads;	  /* the input's contents, not only its shape */
	enum dtype dtype; /* without attribute dtype; unknown: the input's */
};

static int random_attribute(struct op_call *c, struct error *err)
{
	struct op_list list = op_list_get(c, "shape", -1);
	if (list.state == OP_LIST_ABSENT)
		return op_fail(c, err, "attribute \"shape\" is missing");
	if (op_list_sizes(c, &list, err))
		return -1;
	if (list.state == OP_LIST_KNOWN && list.count <= OP_RANK_MAX)
		c->outputs[0].shape = op_shape_copy(c->arena, (struct shape){ list.count, list.at });
	return 0;
}

static int random_samples(struct op_call *c, struct error *err)
{
	struct shape in = c->inputs[0].shape;
	int64_t samples = node_int(c->node, "sample_size", 1);
	if ((in.rank >= 0 && in.rank != 2) || samples < 0)
		return op_fail(c, err, "%lld samples of an input of shape %s", (long long)samples,
			shape_text(c->arena, in));
	struct shape s = shape_make(c->arena, 2);
	if (in.rank == 2)
		s.dims[0] = in.dims[0];
	s.dims[1] = dim_known(samples);
	c->outputs[0].shape = s;
	return 0;
}

RULE_SHAPE(op_random)
{
	const struct random *row = c->op->own;
	enum dtype given = row->dtype == DTYPE_UNKNOWN ? c->inputs[0].dtype : row->dtype;
	c->outputs[0].dtype = op_dtype_get(c, "dtype", given);
	if (row->shape == RANDOM_ATTRIBUTE)
		return random_attribute(c, err);
	return row->shape == RANDOM_SAMPLES ? random_samples(c, err) : op_shape_as_input(c, err);
}

/* One operation per number, for any generator. */
static RULE_COST(random)
{
	const struct random *row = c->op->own;
	cost->flops = op_count(&c->outputs[0]);
	cost->bytes = (row->reads ? op_bytes(&c->inputs[0]) : 0) + op_bytes(&c->outputs[0]);
}

/* ---- operator table */

#define RANDOM(name, since, inputs, ...)                                                                     \
	{ name, "", since, 0, inputs, inputs, CLASS_MEMORY, op_random_shape, random_cost, \
		op_problem_mover, NULL, OP_COPY, &(const struct random){ __VA_ARGS__ }, OP_RANDOM }

static const struct op rows[] = {
	RANDOM("Bernoulli", 15, 1, RANDOM_INPUT, true, DTYPE_UNKNOWN),
	RANDOM("Multinomial", 7, 1, RANDOM_SAMPLES, true, DTYPE_S32),
	RANDOM("RandomNormal", 1, 0, RANDOM_ATTRIBUTE, false, DTYPE_F32),
	RANDOM("RandomNormalLike", 1, 1, RANDOM_INPUT, false, DTYPE_UNKNOWN),
	RANDOM("RandomUniform", 1, 0, RANDOM_ATTRIBUTE, false, DTYPE_F32),
	RANDOM("RandomUniformLike", 1, 1, RANDOM_INPUT, false, DTYPE_UNKNOWN),
};
const struct op_rows op_random_rows = OP_ROWS(rows);
