/* Environment variables that libraries read: some distort measurements, others only choose what is measured
 * and are part of the stack's name. */
#include "config.h"

#include "doctor/doctor_private.h"

#include <stdlib.h>
#include <string.h>

#define VALUE_SHOWN 48

/* The first matching row counts; a trailing * matches any rest. */
static const struct variable {
	const char *name;
	bool bends;
	const char *what;
} rows[] = {
	{ "OMP_NUM_THREADS", false, "number of threads; part of the stack's name" },
	{ "OMP_PROC_BIND", false, "whether threads are bound; part of the stack's name" },
	{ "OMP_PLACES", false, "places of the threads; part of the stack's name" },
	{ "OMP_WAIT_POLICY", true, "whether threads spin or sleep between layers: waking them is slow" },
	{ "OMP_DYNAMIC", true, "the runtime may use fewer threads than requested" },
	{ "OMP_THREAD_LIMIT", true, "fewer threads than requested" },
	{ "OMP_DISPLAY_*", false, "prints settings at the start" },
	{ "OMP_*", true, "how OpenMP runs its threads" },
	{ "GOMP_CPU_AFFINITY", false, "places of the threads; part of the stack's name" },
	{ "GOMP_SPINCOUNT", true, "how long threads spin before they sleep between layers" },
	{ "GOMP_*", true, "how GNU's OpenMP runs its threads" },
	{ "KMP_BLOCKTIME", true, "how long threads spin before they sleep between layers" },
	{ "KMP_AFFINITY", true, "places of the threads of Intel's OpenMP; not part of the stack's name" },
	{ "KMP_*", true, "how Intel's OpenMP runs its threads" },
	{ "MKL_*", false, "read by MKL, not by oneDNN: it affects only programs that you compare with" },
	{ "TBB_*", false, "read only by a oneDNN with TBB threads" },
	{ "OPENBLAS_*", false,
		"read by OpenBLAS, not by oneDNN: it affects only programs that you compare with" },
	{ "ONEDNN_MAX_CPU_ISA", true, "oneDNN does not use all instructions of the processor" },
	{ "DNNL_MAX_CPU_ISA", true, "oneDNN does not use all instructions of the processor" },
	{ "ONEDNN_CPU_ISA_HINTS", true, "oneDNN prefers narrower vectors" },
	{ "DNNL_CPU_ISA_HINTS", true, "oneDNN prefers narrower vectors" },
	{ "ONEDNN_DEFAULT_FPMATH_MODE", false,
		"allows oneDNN lower precision than f32; the runner unsets it" },
	{ "DNNL_DEFAULT_FPMATH_MODE", false, "allows oneDNN lower precision than f32; the runner unsets it" },
	{ "ONEDNN_PRIMITIVE_CACHE_CAPACITY", false, "set-up alone, which is not timed" },
	{ "DNNL_PRIMITIVE_CACHE_CAPACITY", false, "set-up alone, which is not timed" },
	{ "ONEDNN_VERBOSE*", true, "oneDNN prints a line for each execution while it is timed" },
	{ "DNNL_VERBOSE*", true, "oneDNN prints a line for each execution while it is timed" },
	{ "ONEDNN_*", true, "how oneDNN chooses and runs kernels" },
	{ "DNNL_*", true, "how oneDNN chooses and runs kernels" },
	{ "NVIDIA_TF32_OVERRIDE", true,
		"0: NVIDIA's libraries never use TF32, even on request; 1 is not documented" },
	{ "CUDA_LAUNCH_BLOCKING", true, "each launch waits for the GPU" },
	{ "CUDA_VISIBLE_DEVICES", false, "which GPUs are visible, and their numbers" },
	{ "NVIDIA_VISIBLE_DEVICES", false, "which GPUs a container has" },
	{ "CUDA_DEVICE_ORDER", false, "the GPUs' numbers" },
	{ "CUDA_DEVICE_MAX_CONNECTIONS", true, "number of queues that feed the GPU" },
	{ "CUDA_MPS_*", true, "the GPU may be shared, or only partly available" },
	{ "CUDA_CACHE_*", false, "set-up alone, which is not timed" },
	{ "CUDA_MODULE_LOADING", false, "set-up alone, which is not timed" },
	{ "CUDA_HOME", false, "where the toolkit is" },
	{ "CUDA_PATH", false, "where the toolkit is" },
	{ "CUDA_AUTO_BOOST", true, "whether the GPU's clock is raised" },
	{ "CUBLAS_WORKSPACE_CONFIG", true, "less workspace: other kernels are chosen" },
	{ "CUBLASLT_LOG_*", true, "cuBLASLt writes a log while it is timed" },
	{ "CUBLAS_LOG*", true, "cuBLAS writes a log while it is timed" },
	{ "CUBLAS*", true, "how cuBLAS chooses kernels" },
	{ "CUDNN_LOG*", true, "cuDNN writes a log while it is timed" },
	{ "CUDNN_HOME", false, "where cuDNN is" },
	{ "CUDNN_PATH", false, "where cuDNN is" },
	{ "CUDNN_*", true, "how cuDNN chooses kernels" },
	{ "LD_PRELOAD", true, "functions of other libraries replace those of all libraries" },
	{ "LD_AUDIT", true, "every call between libraries is traced" },
	{ "LD_LIBRARY_PATH", false,
		"the loader may use other libraries than the installed ones; the stack's name "
		"has their versions" },
	{ "MALLOC_PERTURB_", true, "memory is overwritten when it is allocated and freed" },
	{ "MALLOC_CHECK_", true, "memory is checked when it is freed" },
	{ "MALLOC_*", true, "how memory is allocated" },
	{ "GLIBC_TUNABLES", true, "how memory is allocated and copied" },
};

static const struct variable *row_of(struct text name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = strlen(rows[i].name);
		bool open = rows[i].name[n - 1] == '*';
		if (open ? name.n >= n - 1 && memcmp(name.p, rows[i].name, n - 1) == 0 :
			text_is(name, rows[i].name))
			return &rows[i];
	}
	return NULL;
}

/* runner: the runner whose variable it is; NULL: of this process. */
static void found(struct doctor *d, struct text name, const char *value, const char *runner)
{
	static const struct variable no_number = { "OMP_NUM_THREADS", true,
		"not a number of threads: one per core is used" };
	const struct variable *row = text_is(name, no_number.name) && strtol(value, NULL, 10) < 1 ?
		&no_number : row_of(name);
	size_t n = strlen(value);
	if (!row)
		return;
	const char *kept = arena_strndup(&d->arena, name.p, name.n), *cure = "";
	if (row->bends)
		cure = arena_printf(&d->arena,
			runner ? "in its command, before the runner's name: env -u %s" : "unset %s", kept);
	doctor_found_of(d, kept, row->bends ? DOCTOR_BENDS : DOCTOR_OK, cure, "%.*s%s%s: %s", VALUE_SHOWN,
		value, n > VALUE_SHOWN ? "..." : "", runner ? arena_printf(&d->arena, " (%s)", runner) : "",
		row->what);
}

static bool is_ours(const struct doctor *d, const char *name)
{
	size_t n = strlen(name);
	for (const char *const *v = d->o.variables; v && *v; v++)
		if (strncmp(*v, name, n) == 0 && (*v)[n] == '=')
			return true;
	return false;
}

/* Variables that a runner reports, if they distort measurements and are not set here. */
static void found_of_runner(struct doctor *d, const struct doctor_runner *r)
{
	json_t *attributes = r->device ? json_loads(r->device->attributes ? r->device->attributes : "", 0,
		NULL) : NULL, *value;
	const char *name;
	json_object_foreach(json_object_get(attributes, "environment"), name, value) {
		const struct variable *row = row_of(text_of(name));
		if (row && row->bends && json_is_string(value) && !is_ours(d, name))
			found(d, text_of(name), json_string_value(value), r->name);
	}
	json_decref(attributes);
}

static void doctor_variables(struct doctor *d)
{
	int before = d->count;
	for (const char *const *v = d->o.variables; v && *v; v++) {
		const char *equals = strchr(*v, '=');
		if (equals)
			found(d, (struct text){ *v, (size_t)(equals - *v) }, equals + 1, NULL);
	}
	for (int i = 0; i < d->o.runner_count; i++)
		found_of_runner(d, &d->o.runners[i]);
	if (d->count == before)
		doctor_found(d, DOCTOR_OK, "no variable that libraries read is set");
}

const struct doctor_check doctor_variables_checks[] = {
	{ "variables", doctor_variables, "" },
	{ 0 }
};
