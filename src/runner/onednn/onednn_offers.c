/* Iterates over the implementations that the library has for each layout, and drops those listed twice. */
#include "config.h"

#include "runner/onednn/onednn_offers.h"

#include <stdlib.h>
#include <string.h>

#include "runner/host/team.h"
#include "runner/verify/tolerance.h"

#define IMPLEMENTATIONS 16 /* maximum number of one case */

dnnl_engine_t onednn_engine;
dnnl_stream_t onednn_stream;

/* --- the library --- */

static const struct {
	dnnl_cpu_isa_t isa;
	const char *name;
} isas[] = { /* most capable first */
	{ dnnl_cpu_isa_avx512_core_amx, "avx512_core_amx" },
	{ dnnl_cpu_isa_avx512_core_bf16, "avx512_core_bf16" },
	{ dnnl_cpu_isa_avx512_core_vnni, "avx512_core_vnni" },
	{ dnnl_cpu_isa_avx512_core, "avx512_core" },
	{ dnnl_cpu_isa_avx2_vnni, "avx2_vnni" },
	{ dnnl_cpu_isa_avx2, "avx2" },
	{ dnnl_cpu_isa_avx, "avx" },
	{ dnnl_cpu_isa_sse41, "sse41" },
};

/* True if the instruction set in use includes `isa`. Limits such as DNNL_MAX_CPU_ISA are respected. */
static bool has_isa(dnnl_cpu_isa_t isa)
{
	return ((unsigned)dnnl_get_effective_cpu_isa() & (unsigned)isa) == (unsigned)isa;
}

static const char *isa_name(void)
{
	for (size_t i = 0; i < sizeof(isas) / sizeof(isas[0]); i++)
		if (has_isa(isas[i].isa))
			return isas[i].name;
	return "generic";
}

static const char *runtime_name(void)
{
	switch (dnnl_version()->cpu_runtime) {
	case DNNL_RUNTIME_SEQ: return "sequential";
	case DNNL_RUNTIME_OMP: return "OpenMP";
	case DNNL_RUNTIME_TBB: return "TBB";
	default: return "other runtime";
	}
}

static int library_open(struct error *err)
{
	if (onednn_stream)
		return 0;
	if ((!onednn_engine && dnnl_engine_create(&onednn_engine, dnnl_cpu, 0) != dnnl_success) ||
		dnnl_stream_create(&onednn_stream, onednn_engine, dnnl_stream_default_flags) != dnnl_success)
		return error_set(err, "oneDNN has no CPU engine");
	return 0;
}

int onednn_probe(struct str *stack, json_t *attributes, bool *has_matrix, struct error *err)
{
	const dnnl_version_t *v = dnnl_version();
	if (library_open(err))
		return -1;
	str_addf(stack, "oneDNN %d.%d.%d (%s, %s)", v->major, v->minor, v->patch, runtime_name(), isa_name());
	json_object_set_new(attributes, "onednn_hash", json_string(v->hash ? v->hash : ""));
	json_object_set_new(attributes, "isa", json_string(isa_name()));
	*has_matrix = has_isa(dnnl_cpu_isa_avx512_core_amx);
	return 0;
}

static const char *implementation_name(const_dnnl_primitive_desc_t pd)
{
	const char *name = NULL;
	dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, &name);
	return name ? name : "unnamed";
}

/* True if the implementation uses matrix units: AMX is part of the name, except for the old gemm JIT,
 * which uses it for small types. */
static enum matrix matrix_of(const struct problem *p, const char *name)
{
	if (!has_isa(dnnl_cpu_isa_avx512_core_amx))
		return MATRIX_NO;
	if (strstr(name, "amx"))
		return MATRIX_YES;
	return strstr(name, "gemm") && p->operand[0].dtype != DTYPE_F32 ? MATRIX_UNKNOWN : MATRIX_NO;
}

static const char *layouts_of(struct arena *a, const struct onednn_case *c, const_dnnl_primitive_desc_t pd)
{
	struct str text = { 0 };
	char name[ONEDNN_LAYOUT_SIZE];
	for (int i = 0; i < c->arg_count; i++) {
		const struct onednn_arg *arg = &c->arg[i];
		if (!arg->any || !*arg->role)
			continue;
		onednn_layout_name(
			name, arg->attribute ? arg->md : onednn_argument(pd, arg->arg), arg->letters);
		str_addf(&text, "%s%s=%s", text.n ? " " : "", arg->role, *arg->layout ? arg->layout : name);
	}
	const char *kept = arena_strndup(a, text.p ? text.p : "", text.n);
	str_free(&text);
	return kept;
}

static bool is_known(const struct onednn_offers *o, const char *name, const char *layouts)
{
	for (int i = 0; i < o->count; i++)
		if (strcmp(o->algorithm[i].name, name) == 0 && strcmp(o->algorithm[i].layouts, layouts) == 0)
			return true;
	return false;
}

/* True for reference implementations (plain loops): "ref:any", "lrn_ref:any", "gemm:ref". */
static bool is_reference(const char *name)
{
	return strncmp(name, "ref", 3) == 0 || strstr(name, "_ref:") || strstr(name, ":ref");
}

static const char *notes_of(const struct onednn_case *c, const char *name)
{
	bool approximate = approximation_of("oneDNN", name);
	return c->shifted && approximate ? "wei_as_s8 approximate"
		: c->shifted		 ? "wei_as_s8"
		: approximate		 ? "approximate"
					 : "";
}

static void candidate_add(
	struct onednn_offers *o, const struct onednn_case *c, dnnl_primitive_desc_t pd, bool single)
{
	const char *given = implementation_name(pd), *layouts = layouts_of(&o->arena, c, pd);
	const char *name = arena_printf(&o->arena, "%s%s%s", c->prefix, given, single ? ":1_thread" : "");
	if (o->count == ONEDNN_ALGORITHMS || is_known(o, name, layouts)) {
		dnnl_primitive_desc_destroy(pd);
		return;
	}
	o->candidate[o->count] = (struct onednn_candidate){ c, pd, is_reference(given),
		approximation_of("oneDNN", name) != NULL, single };
	o->algorithm[o->count++] = (struct algorithm){ .api = "oneDNN",
		.name = name, .layouts = layouts, .math = "strict",
		.matrix = matrix_of(&c->problem, name), .notes = notes_of(c, name),
		.workspace_bytes = (double)onednn_md_bytes(onednn_argument(pd, DNNL_ARG_SCRATCHPAD)) };
}

/* Adds the library's choice for one thread where that may be faster. The implementation is planned for as
 * many threads as it runs on. */
static void single_add(struct onednn_offers *o, const struct onednn_case *c)
{
	dnnl_primitive_desc_t pd;
	dnnl_status_t ignored;
	if (!team_is_too_large(&o->problem))
		return;
	threads_limit(1);
	if (onednn_implementations(onednn_engine, &c->op, c->attr, &pd, 1, &ignored))
		candidate_add(o, c, pd, true);
	threads_limit(team_size());
}

/* Adds every implementation for one choice of layouts. Convolutions are listed twice, because Winograd
 * implementations that the library would not choose are listed only by name. */
static int offers_add(
	struct onednn_offers *o, enum onednn_choice choice, dnnl_status_t *status, struct error *err)
{
	dnnl_primitive_desc_t pd[IMPLEMENTATIONS];
	struct onednn_case *c = arena_alloc(&o->arena, sizeof(*c));
	if (onednn_case_build(c, &o->problem, choice, err))
		return -1;
	o->cases[o->case_count++] = c;
	int n = onednn_implementations(onednn_engine, &c->op, c->attr, pd, IMPLEMENTATIONS, status);
	for (int i = 0; i < n; i++)
		candidate_add(o, c, pd[i], false);
	single_add(o, c);
	if (c->op.kind != KERNEL_CONV)
		return 0;
	dnnl_status_t ignored;
	c->op.algorithm = dnnl_convolution_winograd;
	n = onednn_implementations(onednn_engine, &c->op, c->attr, pd, IMPLEMENTATIONS, &ignored);
	for (int i = 0; i < n; i++)
		candidate_add(o, c, pd[i], false);
	return 0;
}

/* Moves the candidates with the flag to the end, in order. Returns the number of the others. */
static int move_behind(struct onednn_offers *o, bool (*flag)(const struct onednn_candidate *c))
{
	struct onednn_candidate candidate[ONEDNN_ALGORITHMS];
	struct algorithm algorithm[ONEDNN_ALGORITHMS];
	int n = 0, others = 0;
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < o->count; i++)
			if (flag(&o->candidate[i]) == (pass == 1)) {
				candidate[n] = o->candidate[i];
				algorithm[n++] = o->algorithm[i];
			}
		others = pass ? others : n;
	}
	memcpy(o->candidate, candidate, (size_t)n * sizeof(candidate[0]));
	memcpy(o->algorithm, algorithm, (size_t)n * sizeof(algorithm[0]));
	return others;
}

static bool candidate_is_reference(const struct onednn_candidate *c)
{
	return c->reference;
}

static bool candidate_is_approximate(const struct onednn_candidate *c)
{
	return c->approximate;
}

/* Drops reference implementations unless there is nothing else. Approximate ones come last, as no
 * framework prefers them. */
static void offers_filter(struct onednn_offers *o)
{
	int others = move_behind(o, candidate_is_reference);
	while (others > 0 && o->count > others)
		dnnl_primitive_desc_destroy(o->candidate[--o->count].pd);
	move_behind(o, candidate_is_approximate);
	for (int i = 0; i < o->count; i++)
		o->algorithm[i].rank = i;
}

/* Layout of the outputs of the library's convolutions for this type and number of spatial dimensions,
 * which is the layout of most inputs of other layers. Taken from a medium-sized convolution. */
static enum onednn_choice home_layout(enum dtype t, int spatial)
{
	bool whole = t == DTYPE_U8 || t == DTYPE_S8;
	struct problem p = { .kernel = KERNEL_CONV, .spatial = spatial, .n = 1, .c = 64, .k = 64, .g = 1,
		.accumulator = whole ? DTYPE_S32 : DTYPE_F32 };
	for (int i = 0; i < 3; i++) {
		p.operand[i].dtype = whole && i == 1 ? DTYPE_S8 : t;
		p.in[i] = 14;
		p.kernel_size[i] = 3;
		p.pad_begin[i] = p.pad_end[i] = p.stride[i] = p.dilation[i] = 1;
	}
	struct onednn_case c;
	dnnl_primitive_desc_t pd = NULL;
	dnnl_status_t status;
	enum onednn_choice home = CHOICE_NCX;
	if (onednn_case_build(&c, &p, CHOICE_LIBRARY, NULL))
		return home;
	if (onednn_implementations(onednn_engine, &c.op, c.attr, &pd, 1, &status)) {
		char name[ONEDNN_LAYOUT_SIZE];
		onednn_layout_name(name, onednn_argument(pd, DNNL_ARG_DST), "ncdhwx");
		home = strstr(name, "16c") ? CHOICE_BLOCK16 : strstr(name, "8c") ? CHOICE_BLOCK8 :
			name[strlen(name) - 1] == 'c' ? CHOICE_NXC : CHOICE_NCX;
		dnnl_primitive_desc_destroy(pd);
	}
	onednn_case_free(&c);
	return home;
}

/* Layouts for special kernels: constant matrices may also be stored by rows or by columns; a softmax over
 * channels has a dense axis only in channels-last. Returns 0 for other kernels. */
static int choices_special(const struct problem *p, enum onednn_choice choices[CHOICE_COUNT])
{
	struct problem_shape s = problem_operand_shape(p, 0);
	bool constant = false;
	for (int i = 0; i < 2; i++)
		constant = constant || (p->operand[i].constant && p->operand[i].layout == LAYOUT_ANY);
	bool asks = p->kernel == KERNEL_CONV || p->kernel == KERNEL_DECONV || p->kernel == KERNEL_MATMUL ||
		p->kernel == KERNEL_RNN;
	choices[0] = asks ? CHOICE_LIBRARY : CHOICE_NCX;
	choices[1] = CHOICE_NXC;
	choices[2] = CHOICE_NCX;
	if (p->kernel == KERNEL_MATMUL && constant)
		return 3;
	if (p->kernel == KERNEL_SOFTMAX && p->axis == 1 && onednn_case_is_open(p) &&
		onednn_choice_fits(CHOICE_NXC, s.rank, s.dim))
		return 2;
	return onednn_case_tries_layouts(p) && onednn_case_is_open(p) ? 0 : 1;
}

/* Layouts to try: the library's choice, the ISA's blocked one, channels last, plain. */
static int choices_for(const struct problem *p, enum onednn_choice choices[CHOICE_COUNT])
{
	struct problem_shape s = problem_operand_shape(p, 0);
	int n = choices_special(p, choices);
	if (n)
		return n;
	enum onednn_choice home =
		s.rank >= 3 && s.rank <= 5 ? home_layout(p->operand[0].dtype, s.rank - 2) : CHOICE_NCX;
	enum onednn_choice blocked = has_isa(dnnl_cpu_isa_avx512_core) ? CHOICE_BLOCK16 : CHOICE_BLOCK8;
	const enum onednn_choice wanted[] = { home, blocked, CHOICE_NXC, CHOICE_NCX };
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		bool seen = false;
		for (int j = 0; j < n; j++)
			seen = seen || choices[j] == wanted[i];
		if (!seen && onednn_choice_fits(wanted[i], s.rank, s.dim))
			choices[n++] = wanted[i];
	}
	return n;
}

void onednn_forget(struct backend_list *list)
{
	struct onednn_offers *o = list->state;
	if (!o)
		return;
	for (int i = 0; i < o->count; i++)
		dnnl_primitive_desc_destroy(o->candidate[i].pd);
	for (int i = 0; i < o->case_count; i++)
		onednn_case_free(o->cases[i]);
	for (int i = 0; i < ONEDNN_ARGS; i++)
		free(o->plain[i]);
	arena_free(&o->arena);
	free(o);
	*list = (struct backend_list){ 0 };
}

/* Hands over the offers, or reports why the list is empty: `why`, else that the library has no such
 * `kernel`. */
static int offers_give(struct backend_list *list, enum kernel kernel, dnnl_status_t status,
	struct error why, struct error *err)
{
	struct onednn_offers *o = list->state;
	if (o->count == 0) {
		const dnnl_version_t *v = dnnl_version();
		if (!*why.text)
			error_set(&why,
				"oneDNN %d.%d.%d on %s has no %s for these types, layouts and sizes (%s)",
				v->major, v->minor, v->patch, isa_name(), kernel_name(kernel),
				dnnl_status2str(status));
		onednn_forget(list);
		return error_set(err, "%s", why.text);
	}
	list->count = o->count;
	list->algorithm = o->algorithm;
	return 0;
}

static struct onednn_offers *offers_make(const struct problem *p, struct backend_list *list)
{
	struct onednn_offers *o = base_calloc(1, sizeof(*o));
	*list = (struct backend_list){ .state = o };
	o->problem = *p;
	return o;
}

int onednn_algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	enum onednn_choice choices[CHOICE_COUNT];
	dnnl_status_t status = dnnl_unimplemented;
	struct onednn_offers *o = offers_make(p, list);
	struct error why = ERROR_NONE;
	int n = library_open(&why) ? 0 : choices_for(p, choices);
	for (int i = 0; i < n; i++)
		offers_add(o, choices[i], &status, &why);
	offers_filter(o);
	return offers_give(list, p->kernel, status, why, err);
}

/* --- products with ones --- */

/* Adds every implementation but reference ones; the plain C kernels are not slower than these. */
static void ones_list(
	struct onednn_offers *o, const struct onednn_case *c, bool single, dnnl_status_t *status)
{
	dnnl_primitive_desc_t pd[IMPLEMENTATIONS];
	threads_limit(single ? 1 : team_size());
	int n = onednn_implementations(onednn_engine, &c->op, c->attr, pd, IMPLEMENTATIONS, status);
	for (int i = 0; i < n; i++)
		if (is_reference(implementation_name(pd[i])))
			dnnl_primitive_desc_destroy(pd[i]);
		else
			candidate_add(o, c, pd[i], single);
	threads_limit(team_size());
}

static int ones_add(struct onednn_offers *o, enum onednn_choice choice, enum onednn_side side,
	dnnl_status_t *status, struct error *err)
{
	struct onednn_case *c = arena_alloc(&o->arena, sizeof(*c));
	if (onednn_case_build_ones(c, &o->problem, choice, side, err))
		return -1;
	o->cases[o->case_count++] = c;
	ones_list(o, c, false, status);
	if (team_is_too_large(&o->problem))
		ones_list(o, c, true, status);
	return 0;
}

int onednn_ones_algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	static const enum onednn_choice choices[] = { CHOICE_NCX, CHOICE_NXC };
	dnnl_status_t status = dnnl_unimplemented;
	struct onednn_offers *o = offers_make(p, list);
	struct problem_shape s = problem_operand_shape(p, 0);
	struct error why = ERROR_NONE;
	bool open = p->operand[0].layout == LAYOUT_ANY, good = library_open(&why) == 0;
	for (int i = 0; i < 2 && good; i++) {
		if (i && (!open || !onednn_choice_fits(choices[i], s.rank, s.dim)))
			continue;
		for (int side = 0; side < SIDE_COUNT; side++) {
			struct error ignored = ERROR_NONE;
			ones_add(o, choices[i], (enum onednn_side)side, &status, i || side ? &ignored : &why);
		}
	}
	if (o->count == 0 && !*why.text)
		error_set(&why, "only types that oneDNN multiplies are multiplied by ones");
	for (int i = 0; i < o->count; i++)
		o->algorithm[i].rank = i;
	return offers_give(list, p->kernel, status, why, err);
}
