/* Exporters write the same activation in many ways: 0.5 * first or last, multiplied by 1/sqrt(2) or divided
 * by sqrt(2), x*x*x or x^3. Instead of matching patterns, the elementwise layers between a value and the only
 * value that is read outside are computed at 16 sample points and compared with the functions that the
 * libraries implement. */
#include "config.h"

#include "analyze/fusion/fusion_private.h"

#include <math.h>

#define SAMPLES 16
static const double sample[SAMPLES] = { -6, -4.1, -3.3, -2.7, -2.1, -1.3, -0.6, -0.1, 0, 0.2, 0.9, 1, 1.7,
	2.3, 3.2, 5 };
/* The two GELUs differ by 4.7e-4 at 2.3; rounding their constants to f16 changes less than 1e-4. */
#define TOLERANCE 1.5e-4
#define VALUE_READERS_MAX 4

struct curve {
	int value; /* plan value */
	double y[SAMPLES];
};

struct search {
	const struct plan *plan;
	struct region *region;
	int count, filled;
	struct curve curves[REGION_LAYERS_MAX + 1]; /* curves[0]: the input, y = x; y is computed for the
						       first `filled` */
};

static double gelu_tanh(double x)
{
	return 0.5 * x * (1 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
}

static double gelu_erf(double x)
{
	return 0.5 * x * (1 + erf(x * 0.70710678118654752));
}

static double clip(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

static double eltwise(enum mode m, double alpha, double beta, double x)
{
	switch (m) {
	case MODE_RELU: return x > 0 ? x : 0;
	case MODE_LEAKY_RELU: return x > 0 ? x : alpha * x;
	case MODE_CLIP: return clip(x, alpha, beta);
	case MODE_SIGMOID: return 1 / (1 + exp(-x));
	case MODE_TANH: return tanh(x);
	case MODE_GELU_ERF: return gelu_erf(x);
	case MODE_GELU_TANH: return gelu_tanh(x);
	case MODE_SWISH: return x / (1 + exp(-alpha * x));
	case MODE_HARD_SIGMOID: return clip(alpha * x + beta, 0, 1);
	case MODE_HARD_SWISH: return x * clip(x / 6 + 0.5, 0, 1);
	case MODE_ELU: return x > 0 ? x : alpha * (exp(x) - 1);
	case MODE_SOFTPLUS: return log1p(exp(x));
	case MODE_MISH: return x * tanh(log1p(exp(x)));
	case MODE_EXP: return exp(x);
	case MODE_SQUARE: return x * x;
	case MODE_LINEAR_MAP: return alpha * x + beta;
	default: return NAN;
	}
}

static const struct curve *curve_of(const struct search *s, int value)
{
	for (int i = 0; i < s->count; i++)
		if (s->curves[i].value == value)
			return &s->curves[i];
	return NULL;
}

/* True if the value is a known constant of one element. */
static bool scalar_of(const struct plan *p, int value, double *scalar)
{
	if (value < 0 || !p->values[value].constant)
		return false;
	const struct elements *e = p->values[value].elements;
	if (!e || e->count != 1)
		return false;
	if (e->f)
		*scalar = e->f[0];
	else if (e->i && e->i[0].kind == DIM_KNOWN)
		*scalar = (double)e->i[0].value;
	else
		return false;
	return isfinite(*scalar);
}

static double binary(char op, double a, double b)
{
	switch (op) {
	case 'A': return a + b;
	case 'S': return a - b;
	case 'M': return a * b;
	case 'D': return a / b;
	default: return pow(a, b);
	}
}

static bool is_binary(const struct plan_layer *l)
{
	return plan_layer_is(l, "Add") || plan_layer_is(l, "Sub") || plan_layer_is(l, "Mul") ||
		plan_layer_is(l, "Div") || plan_layer_is(l, "Pow");
}

static bool is_known(const struct search *s, int value)
{
	double scalar;
	return value >= 0 && (curve_of(s, value) || scalar_of(s->plan, value, &scalar));
}

/* True if the layer is elementwise and its inputs are known. */
static bool is_computable(const struct search *s, const struct plan_layer *l)
{
	if (!plan_layer_is_onnx(l) || l->output_count != 1 || l->outputs[0] < 0 || l->body_count)
		return false;
	if (is_binary(l))
		return l->input_count == 2 && is_known(s, l->inputs[0]) && is_known(s, l->inputs[1]);
	if (l->input_count < 1 || l->inputs[0] < 0 || !curve_of(s, l->inputs[0]))
		return false;
	const struct plan_problem *pp = plan_layer_problem(s->plan, l);
	return plan_layer_is(l, "Erf") || plan_layer_is(l, "Neg") ||
		(pp && !l->proxy && pp->problem->kernel == KERNEL_ELTWISE);
}

static void compute_binary(const struct search *s, const struct plan_layer *l, double *y)
{
	const struct curve *in[2];
	double scalar[2] = { 0, 0 };
	for (int i = 0; i < 2; i++) {
		in[i] = curve_of(s, l->inputs[i]);
		if (!in[i])
			scalar_of(s->plan, l->inputs[i], &scalar[i]);
	}
	for (int i = 0; i < SAMPLES; i++)
		y[i] = binary(l->op->name[0], in[0] ? in[0]->y[i] : scalar[0],
			in[1] ? in[1]->y[i] : scalar[1]);
}

static void compute_unary(const struct search *s, const struct plan_layer *l, double *y)
{
	const double *in = curve_of(s, l->inputs[0])->y;
	bool is_erf = plan_layer_is(l, "Erf"), is_neg = plan_layer_is(l, "Neg");
	const struct plan_problem *pp = plan_layer_problem(s->plan, l);
	for (int i = 0; i < SAMPLES; i++)
		y[i] = is_erf ? erf(in[i]) : is_neg ? -in[i] :
			eltwise(pp->problem->mode, (double)pp->problem->alpha, (double)pp->problem->beta,
				in[i]);
}

/* Computes the curves of all layers added so far. Called only for closed regions, which are few. */
static void fill(struct search *s)
{
	for (; s->filled < s->count; s->filled++) {
		const struct plan_layer *l = &s->plan->layers[s->region->layers[s->filled - 1]];
		(is_binary(l) ? compute_binary : compute_unary)(s, l, s->curves[s->filled].y);
	}
}

static bool in_region(const struct region *r, int layer)
{
	for (int i = 0; i < r->layer_count; i++)
		if (r->layers[i] == layer)
			return true;
	return false;
}

/* Adds the first layer that reads a known value and can be computed. In ascending order, because a later
 * layer never makes an earlier one computable. */
static bool grow(struct search *s)
{
	int best = -1;
	for (int i = 0; i < s->count; i++) {
		int readers[VALUE_READERS_MAX];
		int count = chain_readers(s->plan, s->curves[i].value, readers, VALUE_READERS_MAX);
		if (count < 1 && i < s->count - 1)
			return false; /* no readers or too many: the region can never be closed */
		for (int k = 0; k < count; k++)
			if (!in_region(s->region, readers[k]) && (best < 0 || readers[k] < best) &&
				is_computable(s, &s->plan->layers[readers[k]]))
				best = readers[k];
	}
	if (best < 0)
		return false;
	s->region->layers[s->region->layer_count++] = best;
	s->curves[s->count++].value = s->plan->layers[best].outputs[0];
	return true;
}

/* True if all values except the newest are read only inside the region. */
static bool closed(const struct search *s)
{
	for (int i = 0; i < s->count - 1; i++) {
		int readers[VALUE_READERS_MAX];
		int count = chain_readers(s->plan, s->curves[i].value, readers, VALUE_READERS_MAX);
		if (count < 1)
			return false;
		for (int k = 0; k < count; k++)
			if (!in_region(s->region, readers[k]))
				return false;
	}
	return true;
}

static bool is_curve(const double *y, enum mode m, double alpha)
{
	for (int i = 0; i < SAMPLES; i++)
		if (!(fabs(y[i] - eltwise(m, alpha, 0, sample[i])) <= TOLERANCE))
			return false;
	return true;
}

/* x * sigmoid(alpha x); alpha is computed from the value at x = 1. */
static bool is_swish(const double *y, struct region *r)
{
	double at_one = NAN;
	for (int i = 0; i < SAMPLES; i++)
		if (sample[i] == 1)
			at_one = y[i];
	if (!(at_one > 0.51 && at_one < 0.999))
		return false;
	double alpha = log(at_one / (1 - at_one));
	if (fabs(alpha - 1) < 1e-3)
		alpha = 1;
	if (!is_curve(y, MODE_SWISH, alpha))
		return false;
	r->mode = MODE_SWISH;
	r->alpha = (float)alpha;
	r->name = alpha == 1 ? "SiLU" : "Swish";
	return true;
}

static bool classify(const double *y, struct region *r)
{
	static const struct {
		enum mode mode;
		const char *name;
	} known[] = { { MODE_GELU_ERF, "Gelu" }, { MODE_GELU_TANH, "Gelu(tanh)" },
		{ MODE_HARD_SWISH, "HardSwish" }, { MODE_MISH, "Mish" } };
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (is_curve(y, known[i].mode, 0)) {
			r->mode = known[i].mode;
			r->name = known[i].name;
			return true;
		}
	}
	return is_swish(y, r);
}

bool region_match(const struct plan *p, int value, struct region *r)
{
	*r = (struct region){ 0 };
	struct search s; /* not zeroed: curves are large, and most searches end at once */
	s.plan = p;
	s.region = r;
	s.count = s.filled = 1;
	s.curves[0].value = value;
	for (int i = 0; i < SAMPLES; i++)
		s.curves[0].y[i] = sample[i];
	while (r->layer_count < REGION_LAYERS_MAX && grow(&s)) {
		const struct curve *last = &s.curves[s.count - 1];
		if (r->layer_count < 2 || !closed(&s))
			continue;
		fill(&s);
		if (classify(last->y, r)) {
			r->value = last->value;
			return true;
		}
	}
	return false;
}
