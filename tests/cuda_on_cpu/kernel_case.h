/* Test problems on the CPU: operands as vectors of bytes, outputs compared with the reference values of the
 * check. */
#ifndef KERNEL_CASE_H
#define KERNEL_CASE_H

#include "cuda_on_cpu.h"

#include <stdlib.h>
#include <string>
#include <vector>

extern "C" {
#include "runner/verify/check.h"
#include "runner/verify/integers.h"
}
#include "runner/verify/fill.h"
#include "tests/unit/tap.h"

/* Memory with the device's alignment and exactly the requested size. */
struct buffer {
	char *p;
	size_t n;
	explicit buffer(size_t bytes) : p(NULL), n(bytes)
	{
		if (posix_memalign((void **)&p, 256, bytes ? bytes : 1))
			abort();
		memset(p, 0xa5, bytes);
	}
	~buffer() { free(p); }
	buffer(const buffer &) = delete;
};

static inline int64_t volume(int rank, const int64_t *dim)
{
	int64_t n = 1;
	for (int i = 0; i < rank; i++)
		n *= dim[i];
	return n;
}

static inline int size_of(enum dtype t)
{
	return dtype_bits(t) / 8;
}

struct operand_values {
	std::vector<std::vector<char>> bytes;
	std::vector<enum dtype> type;
	std::vector<float> scale, shift;
	std::vector<std::vector<char>> epilogue;
	std::vector<enum dtype> epilogue_type;
};

static inline double operand_value(void *state, enum check_role role, int number, int64_t index)
{
	struct operand_values *v = (struct operand_values *)state;
	if (role == CHECK_SCALE)
		return v->scale[(size_t)index];
	if (role == CHECK_SHIFT)
		return v->shift[(size_t)index];
	if (role == CHECK_EPILOGUE)
		return fill_decode(&v->epilogue[(size_t)number][(size_t)(index *
					   size_of(v->epilogue_type[(size_t)number]))],
			v->epilogue_type[(size_t)number]);
	number += role == CHECK_WEIGHTS; /* behind the source */
	return fill_decode(&v->bytes[number][(size_t)(index * size_of(v->type[number]))], v->type[number]);
}

static inline struct problem parse(const std::string &text)
{
	struct problem p;
	struct error err = ERROR_NONE;
	if (problem_parse(text_of(text.c_str()), &p, &err))
		ok(false, "%s: %s", text.c_str(), err.text);
	return p;
}

static inline int64_t elements(struct problem_shape s)
{
	return volume(s.rank, s.dim);
}

static inline struct operand_values operands_of(const struct problem *p, int count, int64_t index_limit)
{
	struct operand_values v;
	for (int i = 0; i < count; i++) {
		enum dtype t = p->operand[i].dtype;
		int64_t n = elements(problem_operand_shape(p, i));
		bool indices = p->kernel == KERNEL_GATHER && i == 1;
		v.type.push_back(t);
		v.bytes.push_back(std::vector<char>((size_t)(n * size_of(t))));
		for (int64_t j = 0; j < n; j++)
			fill_encode(
				fill_value(20 + i, j, indices ? FILL_INDEX : FILL_SIGNED, index_limit, t) -
					(indices && j % 3 == 0 ? (double)index_limit : 0),
				t, &v.bytes[i][(size_t)(j * size_of(t))]);
	}
	return v;
}

#define TERMS 1e6

/* Returns the number of outputs with an error of more than tolerance * scale: of all, or of every so many if
 * their reference values have more than TERMS terms. */
static inline int64_t outputs_wrong(
	const struct problem *p, struct operand_values *v, const char *out, double tolerance)
{
	int last = problem_operand_count(p) - 1;
	enum dtype t = p->operand[last].dtype;
	struct check_inputs in = {};
	in.value = operand_value;
	in.state = v;
	in.epsilon = 1e-5;
	int64_t n = elements(problem_operand_shape(p, last)), wrong = 0,
		step = 1 + (int64_t)(check_terms(p, (double)n) * (double)n / TERMS);
	for (int64_t i = 0; i < n; i += i + step < n || i == n - 1 ? step : n - 1 - i) {
		double value, scale, got = fill_decode(out + i * size_of(t), t);
		bool good = check_output(p, &in, i, &value, &scale) &&
			integer_error(t, got, value) <= tolerance * scale;
		if (!good && !wrong)
			printf("# output %d is %.9g, expected %.9g (%.3g)\n", (int)i, got, value,
				fabs(got - value) / scale);
		wrong += !good;
	}
	check_forget(&in);
	return wrong;
}

static inline size_t output_bytes(const struct problem *p)
{
	int last = problem_operand_count(p) - 1;
	return (size_t)elements(problem_operand_shape(p, last)) * size_of(p->operand[last].dtype);
}

#endif
