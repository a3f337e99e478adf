/* ai.onnx.ml: classical machine learning operators; they run on the host. Where the standard leaves a shape
 * open, the rule follows ONNX Runtime. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include "model/tensor.h"

/* Length of a list attribute (integers, floats or strings); -1 if it is absent or empty. */
static int64_t list_length(const struct op_call *c, const char *name)
{
	const struct attribute *a = node_attribute(c->node, name);
	bool is_list = a && (a->kind == ATTRIBUTE_INTS || a->kind == ATTRIBUTE_FLOATS ||
				    a->kind == ATTRIBUTE_STRINGS);
	return is_list && a->count > 0 ? (int64_t)a->count : -1;
}

static struct dim known_or_not(int64_t value)
{
	return value >= 0 ? dim_known(value) : dim_unknown();
}

/* Batch size of a feature input; a vector counts as one row. */
static struct dim batch_of(struct shape in)
{
	return in.rank == 1 ? dim_known(1) : in.rank > 1 ? in.dims[0] : dim_unknown();
}

static void matrix(struct op_call *c, int output, enum dtype type, struct dim height, struct dim width)
{
	if (output >= c->output_count)
		return;
	c->outputs[output].dtype = type;
	c->outputs[output].shape = shape_make(c->arena, 2);
	c->outputs[output].shape.dims[0] = height;
	c->outputs[output].shape.dims[1] = width;
}

/* ---- output shape equals input shape */

/* Normalizer, Scaler: the output is f32 for every input type. */
static RULE_SHAPE(as_floats)
{
	c->outputs[0].dtype = DTYPE_F32;
	return op_shape_as_input(c, err);
}

/* CategoryMapper, and LabelEncoder before version 2: maps strings to int64 and int64 to strings. */
static RULE_SHAPE(category)
{
	enum dtype in = c->inputs[0].dtype;
	c->outputs[0].dtype = in == DTYPE_STRING ? DTYPE_S64 : in == DTYPE_S64 ? DTYPE_STRING : DTYPE_UNKNOWN;
	return op_shape_as_input(c, err);
}

/* LabelEncoder: the output type is the type of the values attribute. */
static RULE_SHAPE(label_encoder)
{
	const struct attribute *values = node_attribute(c->node, "values_tensor");
	c->outputs[0].dtype = DTYPE_UNKNOWN;
	if (list_length(c, "values_strings") >= 0)
		c->outputs[0].dtype = DTYPE_STRING;
	else if (list_length(c, "values_int64s") >= 0)
		c->outputs[0].dtype = DTYPE_S64;
	else if (list_length(c, "values_floats") >= 0)
		c->outputs[0].dtype = DTYPE_F32;
	else if (values && values->kind == ATTRIBUTE_TENSOR && values->tensor)
		c->outputs[0].dtype = values->tensor->dtype;
	return op_shape_as_input(c, err);
}

/* ---- selecting and concatenating features */

/* ArrayFeatureExtractor: selects indices along the last axis; a vector counts as one row. */
static RULE_SHAPE(array_feature)
{
	struct shape in = c->inputs[0].shape, places = c->inputs[1].shape;
	if (in.rank == 0)
		return op_fail(c, err, "a scalar has no features");
	if (in.rank < 0)
		return 0;
	struct shape out = shape_make(c->arena, in.rank == 1 ? 2 : in.rank);
	out.dims[0] = in.rank == 1 ? dim_known(1) : in.dims[0];
	for (int i = 1; i < in.rank; i++)
		out.dims[i] = in.dims[i];
	out.dims[out.rank - 1] = places.rank >= 0 ? shape_elements(c->arena, places) : dim_unknown();
	c->outputs[0].shape = out;
	return 0;
}

/* FeatureVectorizer: concatenates the inputs; the width is the sum of inputdimensions, or of the input
 * widths. */
static RULE_SHAPE(feature_vectorizer)
{
	struct op_list given = op_list_get(c, "inputdimensions", -1);
	struct dim width = dim_known(0);
	(void)err;
	for (int i = 0; i < (given.state == OP_LIST_KNOWN ? given.count : c->input_count); i++) {
		struct shape in = op_in(c, i) ? c->inputs[i].shape : SHAPE_UNKNOWN;
		struct dim own = in.rank == 1 || in.rank == 2 ? in.dims[in.rank - 1] : dim_unknown();
		width = dim_add(c->arena, width, given.state == OP_LIST_KNOWN ? given.at[i] : own);
	}
	if (width.kind == DIM_KNOWN && width.value < 0)
		width = dim_unknown();
	matrix(c, 0, DTYPE_F32, batch_of(c->inputs[0].shape), width);
	return 0;
}

static RULE_SHAPE(one_hot_encoder)
{
	struct shape in = c->inputs[0].shape;
	int64_t names = list_length(c, "cats_strings"), numbers = list_length(c, "cats_int64s");
	(void)err;
	c->outputs[0].dtype = DTYPE_F32;
	if (in.rank < 0)
		return 0;
	struct shape out = shape_make(c->arena, in.rank + 1);
	for (int i = 0; i < in.rank; i++)
		out.dims[i] = in.dims[i];
	out.dims[in.rank] = known_or_not(names >= 0 ? names : numbers);
	c->outputs[0].shape = out;
	return 0;
}

/* ---- maps */

/* CastMap: one row of values; max_map columns in SPARSE form, an unknown number in DENSE form. */
static RULE_SHAPE(cast_map)
{
	static const struct {
		const char *name;
		enum dtype type;
	} types[] = { { "TO_FLOAT", DTYPE_F32 }, { "TO_INT64", DTYPE_S64 }, { "TO_STRING", DTYPE_STRING } };
	struct text to = node_string(c->node, "cast_to", "TO_FLOAT");
	bool sparse = text_is(node_string(c->node, "map_form", "DENSE"), "SPARSE");
	enum dtype type = DTYPE_UNKNOWN;
	(void)err;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (text_is(to, types[i].name))
			type = types[i].type;
	}
	matrix(c, 0, type, dim_known(1), known_or_not(sparse ? node_int(c->node, "max_map", 1) : -1));
	return 0;
}

/* DictVectorizer: one row, one column for each vocabulary entry. */
static RULE_SHAPE(dict_vectorizer)
{
	int64_t names = list_length(c, "string_vocabulary"), numbers = list_length(c, "int64_vocabulary");
	(void)err;
	matrix(c, 0, c->inputs[0].dtype, dim_known(1), known_or_not(names >= 0 ? names : numbers));
	return 0;
}

/* ZipMap: one map from label to score for each row. */
static RULE_SHAPE(zip_map)
{
	struct shape in = c->inputs[0].shape;
	if (in.rank > 2 || in.rank == 0)
		return op_fail(c, err, "an input of rank %d", in.rank);
	c->outputs[0].kind = VALUE_MAPS;
	c->outputs[0].dtype = DTYPE_F32;
	c->outputs[0].length = batch_of(in);
	return 0;
}

/* ---- classifiers, regressors */

/* Number of classes (unknown without labels); writes the type of the labels. */
static struct dim classes(const struct op_call *c, const char *numbers, enum dtype *type)
{
	int64_t named = list_length(c, "classlabels_strings"), numbered = list_length(c, numbers);
	*type = named >= 0 ? DTYPE_STRING : DTYPE_S64;
	return known_or_not(named >= 0 ? named : numbered);
}

/* Output 0 is the class of each row; output 1 is the rows x scores matrix. */
static void classified(struct op_call *c, enum dtype label, struct dim scores)
{
	struct dim rows = batch_of(c->inputs[0].shape);
	c->outputs[0].dtype = label;
	c->outputs[0].shape = shape_make(c->arena, 1);
	c->outputs[0].shape.dims[0] = rows;
	matrix(c, 1, DTYPE_F32, rows, scores);
}

static RULE_SHAPE(linear_classifier)
{
	enum dtype label;
	(void)err;
	struct dim count = classes(c, "classlabels_ints", &label);
	classified(c, label, count);
	return 0;
}

static RULE_SHAPE(tree_classifier)
{
	enum dtype label;
	(void)err;
	struct dim count = classes(c, "classlabels_int64s", &label);
	classified(c, label, count);
	return 0;
}

/* One score per class. With support vectors and without probabilities: n (n - 1) / 2
 * scores, one per pair of classes, but 2 for 2 classes. */
static RULE_SHAPE(svm_classifier)
{
	enum dtype label;
	(void)err;
	struct dim count = classes(c, "classlabels_ints", &label);
	bool pairs = list_length(c, "support_vectors") >= 0 && list_length(c, "prob_a") < 0;
	if (pairs && count.kind == DIM_KNOWN && count.value > 2)
		count = dim_div(c->arena, dim_mul(c->arena, count, dim_known(count.value - 1)), dim_known(2));
	classified(c, label, count);
	return 0;
}

static RULE_SHAPE(linear_regressor)
{
	(void)err;
	matrix(c, 0, DTYPE_F32, batch_of(c->inputs[0].shape), known_or_not(node_int(c->node, "targets", 1)));
	return 0;
}

static RULE_SHAPE(svm_regressor)
{
	(void)err;
	matrix(c, 0, DTYPE_F32, batch_of(c->inputs[0].shape), dim_known(1));
	return 0;
}

static RULE_SHAPE(tree_regressor)
{
	(void)err;
	matrix(c, 0, DTYPE_F32, batch_of(c->inputs[0].shape),
		known_or_not(node_int(c->node, "n_targets", -1)));
	return 0;
}

/* TreeEnsemble: the output type equals the input type. */
static RULE_SHAPE(tree_ensemble)
{
	(void)err;
	matrix(c, 0, c->inputs[0].dtype, batch_of(c->inputs[0].shape),
		known_or_not(node_int(c->node, "n_targets", -1)));
	return 0;
}

/* ---- operator table */

#define ML(name, since, until, fewest, most, shape)                                                          \
	{                                                                                                    \
		name, "ai.onnx.ml", since, until, fewest, most, CLASS_HOST, shape, NULL, NULL, NULL,         \
			"classical learning, no kernel to measure"                                           \
	}

static const struct op rows[] = {
	ML("ArrayFeatureExtractor", 1, 0, 2, 2, array_feature_shape),
	ML("Binarizer", 1, 0, 1, 1, op_shape_as_input),
	ML("CategoryMapper", 1, 0, 1, 1, category_shape),
	ML("FeatureVectorizer", 1, 0, 1, -1, feature_vectorizer_shape),
	ML("Imputer", 1, 0, 1, 1, op_shape_as_input),
	ML("LabelEncoder", 1, 1, 1, 1, category_shape),
	ML("LabelEncoder", 2, 0, 1, 1, label_encoder_shape),
	ML("LinearClassifier", 1, 0, 1, 1, linear_classifier_shape),
	ML("LinearRegressor", 1, 0, 1, 1, linear_regressor_shape),
	ML("Normalizer", 1, 0, 1, 1, as_floats_shape),
	ML("OneHotEncoder", 1, 0, 1, 1, one_hot_encoder_shape),
	ML("SVMClassifier", 1, 0, 1, 1, svm_classifier_shape),
	ML("SVMRegressor", 1, 0, 1, 1, svm_regressor_shape),
	ML("Scaler", 1, 0, 1, 1, as_floats_shape),
	ML("TreeEnsemble", 5, 0, 1, 1, tree_ensemble_shape),
	ML("TreeEnsembleClassifier", 1, 0, 1, 1, tree_classifier_shape),
	ML("TreeEnsembleRegressor", 1, 0, 1, 1, tree_regressor_shape),
	ML("ZipMap", 1, 0, 1, 1, zip_map_shape),
};
const struct op_rows op_ml_rows = OP_ROWS(rows);

static const struct op map_rows[] = {
	ML("CastMap", 1, 0, 1, 1, cast_map_shape),
	ML("DictVectorizer", 1, 0, 1, 1, dict_vectorizer_shape),
};
const struct op_rows op_ml_map_rows = OP_ROWS_ANY_KIND(map_rows);
