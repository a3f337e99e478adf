#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "analyze/analyze.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIPE_BYTES (1 << 16)
#define BINDINGS_MOST 8

static void fuzz_write(int fd, const uint8_t *bytes, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t part = write(fd, bytes + done, n - done);
		FUZZ_CHECK(part > 0);
		done += (size_t)part;
	}
}

const char *fuzz_file(const uint8_t *bytes, size_t n)
{
	static char path[64];
	static int fd = -1;
	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0);
	fuzz_write(fd, bytes, n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

bool fuzz_stdin(const uint8_t *bytes, size_t n)
{
	int ends[2];
	if (n > PIPE_BYTES)
		return false;
	FUZZ_CHECK(pipe(ends) == 0 && dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
	close(ends[0]);
	fuzz_write(ends[1], bytes, n);
	close(ends[1]);
	return true;
}

void fuzz_check_line(const char *line)
{
	struct arena a = { 0 };
	FUZZ_CHECK(line[0]);
	FUZZ_CHECK(strcmp(text_clean(&a, text_of(line)), line) == 0);
	arena_free(&a);
}

/* ---- what a plan promises */

static void check_problem(const struct plan_problem *p)
{
	struct problem back, kept;
	struct error err = ERROR_NONE;
	char text[PROBLEM_TEXT_SIZE];
	FUZZ_CHECK(problem_parse(text_of(p->text), &back, &err) == 0);
	FUZZ_CHECK(problem_format(&back, text, &err) == 0 && strcmp(text, p->text) == 0);
	FUZZ_CHECK(problem_flops(&back) >= 0 && problem_bytes(&back) >= 0);
	problem_restore(p->problem, &kept);
	FUZZ_CHECK(problem_flops(&back) == problem_flops(&kept));
	FUZZ_CHECK(problem_bytes(&back) == problem_bytes(&kept));
}

static void check_value(const struct plan_value *v)
{
	for (int i = 0; i < v->shape.rank; i++)
		FUZZ_CHECK(v->shape.dims[i].kind != DIM_KNOWN || v->shape.dims[i].value >= 0);
	FUZZ_CHECK(!v->elements || (v->elements->count >= 0 && (v->elements->i || v->elements->f)));
}

static void check_layer(const struct plan *p, const struct plan_layer *l)
{
	FUZZ_CHECK(isnan(l->flops) || l->flops >= 0);
	FUZZ_CHECK(isnan(l->bytes) || l->bytes >= 0);
	FUZZ_CHECK(l->problem >= -1 && l->problem < p->problem_count);
	bool wants = l->class == CLASS_COMPUTE || l->class == CLASS_MEMORY || l->class == CLASS_MOVE;
	FUZZ_CHECK(!wants || l->problem >= 0 || (l->why && l->why[0]));
	for (int i = 0; i < l->pred_count; i++)
		FUZZ_CHECK(l->preds[i] >= 0 && l->preds[i] < l->index &&
			(i == 0 || l->preds[i] > l->preds[i - 1]));
	for (int i = 0; i < l->succ_count; i++)
		FUZZ_CHECK(l->succs[i] > l->index && l->succs[i] < p->layer_count);
}

static void check_plan(const struct plan *p)
{
	for (int i = 0; i < p->warning_count; i++)
		fuzz_check_line(p->warnings[i]);
	for (int i = 0; i < plan_problem_total(p); i++)
		check_problem(&p->problems[i]);
	for (int i = 0; i < p->value_count; i++)
		check_value(&p->values[i]);
	for (int i = 0; i < p->layer_count; i++) {
		check_layer(p, &p->layers[i]);
		for (int j = 0; j < p->layers[i].body_count; j++)
			check_plan(&p->layers[i].bodies[j]);
	}
}

static void check_fusion(const struct plan *p)
{
	struct fusion *f = fusion_find(p);
	for (int i = 0; i < f->group_count; i++) {
		struct problem back;
		struct error err = ERROR_NONE;
		FUZZ_CHECK(problem_parse(text_of(f->groups[i].text), &back, &err) == 0);
		FUZZ_CHECK(f->groups[i].layer_count > 1);
	}
	fusion_free(f);
}

/* Seven for each of the first symbols of the inputs. */
static int bind_all(const struct model *m, struct dim_binding *bindings)
{
	int count = 0;
	for (int i = 0; i < m->graph->input_count; i++) {
		const struct shape s = m->graph->values[m->graph->inputs[i]].shape;
		for (int j = 0; j < s.rank && count < BINDINGS_MOST; j++) {
			struct text name = dim_first_symbol(s.dims[j]);
			bool there = name.n == 0;
			for (int k = 0; k < count; k++)
				there |= text_equal(bindings[k].name, name);
			if (!there)
				bindings[count++] = (struct dim_binding){ name, 7 };
		}
	}
	return count;
}

void fuzz_plan(const struct model *m)
{
	struct dim_binding bindings[BINDINGS_MOST];
	const struct plan_options options[] = {
		{ .dtype = DTYPE_F32 },
		{ .dtype = DTYPE_F16, .batch = 8 },
		{ .dtype = DTYPE_F32, .binding_count = bind_all(m, bindings), .bindings = bindings },
	};
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		struct error err = ERROR_NONE;
		struct plan *p = plan_build(m, &options[i], &err);
		if (!p) {
			fuzz_check_line(err.text);
			continue;
		}
		check_plan(p);
		check_fusion(p);
		plan_free(p);
	}
}
