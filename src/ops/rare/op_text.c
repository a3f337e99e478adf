/* Text and encoded images: work of the host. The contents of strings are not tracked, only their number. */
#include "config.h"

#include "ops/rules/op_rules.h"

/* ---- StringConcat, RegexFullMatch */

static RULE_SHAPE(string_concat)
{
	return op_broadcast(c, c->inputs[0].shape, c->inputs[1].shape, &c->outputs[0].shape, err);
}

static RULE_SHAPE(regex)
{
	c->outputs[0].dtype = DTYPE_BOOL;
	return op_shape_as_input(c, err);
}

/* ---- StringNormalizer */

/* StringNormalizer: takes a vector of strings, or a batch of one. Removes the stop words; returns one
 * empty string if nothing is left. */
static RULE_SHAPE(string_normalizer)
{
	struct shape in = c->inputs[0].shape;
	const struct attribute *stop = node_attribute(c->node, "stopwords");
	if (in.rank < 0)
		return 0;
	if (in.rank < 1 || in.rank > 2 || (in.rank == 2 && dim_differs(in.dims[0], dim_known(1))))
		return op_fail(c, err, "an input of shape %s, not one line", shape_text(c->arena, in));
	struct shape out = op_shape_copy(c->arena, in);
	struct dim *line = &out.dims[in.rank - 1];
	if (in.rank == 2)
		out.dims[0] = dim_known(1);
	bool drops = stop && (stop->kind != ATTRIBUTE_STRINGS || stop->count > 0);
	if (line->kind == DIM_KNOWN && line->value <= 1)
		*line = dim_known(1);
	else if (drops || line->kind != DIM_KNOWN)
		*line = drops			     ? dim_unknown_upto(line->upper)
			: line->kind == DIM_SYMBOLIC ? *line
						     : dim_unknown();
	c->outputs[0].shape = out;
	return 0;
}

/* ---- StringSplit */

/* StringSplit: appends a dimension, the largest number of parts. Output 1 is the number of parts per
 * string. */
static RULE_SHAPE(string_split)
{
	struct shape in = c->inputs[0].shape;
	(void)err;
	if (c->output_count > 1) {
		c->outputs[1].dtype = DTYPE_S64;
		c->outputs[1].shape = op_shape_copy(c->arena, in);
	}
	if (in.rank < 0)
		return 0;
	int64_t most = node_int(c->node, "maxsplit", -1);
	struct shape out = shape_make(c->arena, in.rank + 1);
	for (int i = 0; i < in.rank; i++)
		out.dims[i] = in.dims[i];
	if (shape_count(in) <= 0)
		out.dims[in.rank] = dim_known(0);
	else if (most >= 0 && most < INT64_MAX)
		out.dims[in.rank] = dim_unknown_upto(most + 1);
	c->outputs[0].shape = out;
	return 0;
}

/* ---- TfIdfVectorizer */

/* TfIdfVectorizer: a vector, or a row per batch item; the width is the largest of ngram_indexes plus 1. */
static RULE_SHAPE(tf_idf)
{
	struct shape in = c->inputs[0].shape;
	const struct attribute *indexes = node_attribute(c->node, "ngram_indexes");
	struct dim size = dim_unknown();
	c->outputs[0].dtype = DTYPE_F32;
	if (in.rank > 2)
		return op_fail(c, err, "an input of rank %d, at most 2 are allowed", in.rank);
	if (indexes && indexes->kind == ATTRIBUTE_INTS && indexes->count > 0) {
		int64_t largest = 0;
		for (size_t i = 0; i < indexes->count; i++)
			largest = indexes->ints[i] > largest ? indexes->ints[i] : largest;
		size = dim_add(c->arena, dim_known(largest), dim_known(1));
	}
	if (in.rank < 0)
		return 0;
	struct shape out = shape_make(c->arena, in.rank == 2 ? 2 : 1);
	if (in.rank == 2)
		out.dims[0] = in.dims[0];
	out.dims[out.rank - 1] = size;
	c->outputs[0].shape = out;
	return 0;
}

/* ---- ImageDecoder */

/* The image size is stored in the encoded data: height and width are unknown. */
static RULE_SHAPE(image_decoder)
{
	struct text format = node_string(c->node, "pixel_format", "RGB");
	(void)err;
	c->outputs[0].dtype = DTYPE_U8;
	c->outputs[0].shape = shape_make(c->arena, 3);
	if (text_is(format, "RGB") || text_is(format, "BGR") || text_is(format, "Grayscale"))
		c->outputs[0].shape.dims[2] = dim_known(text_is(format, "Grayscale") ? 1 : 3);
	return 0;
}

/* ---- operator table */

#define HOST(name, since, inputs, shape, what)                                                               \
	{                                                                                                    \
		name, "", since, 0, inputs, inputs, CLASS_HOST, shape, NULL, NULL, NULL,                     \
			what ", no kernel to measure"                                                        \
	}

static const struct op rows[] = {
	HOST("ImageDecoder", 20, 1, image_decoder_shape, "decodes images"),
	HOST("RegexFullMatch", 20, 1, regex_shape, "text"),
	HOST("StringConcat", 20, 2, string_concat_shape, "text"),
	HOST("StringNormalizer", 10, 1, string_normalizer_shape, "text"),
	HOST("StringSplit", 20, 1, string_split_shape, "text"),
	HOST("TfIdfVectorizer", 9, 1, tf_idf_shape, "text"),
};
const struct op_rows op_text_rows = OP_ROWS(rows);
