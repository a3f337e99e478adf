/* Opens the device: environment, stream, libraries, timer. */
#include "config.h"

#include "runner/gpu/cuda_context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "runner/gpu/cuda_buffers.h"
#include "runner/gpu/cuda_calibrate.h"
#include "runner/gpu/cuda_check.h"
#include "runner/gpu/cuda_clock.h"
#include "runner/gpu/cuda_context_private.h"
#include "runner/gpu/cuda_library.h"
#include "runner/gpu/cuda_lock.h"
#include "runner/gpu/cuda_nvml.h"
#include "runner/gpu/cuda_time.h"

static struct cuda_lock lock = CUDA_LOCK_CLOSED;

void cuda_context_prepare(const struct platform_options *o, char **argv)
{
	(void)o;
	(void)argv;
	log_to(stderr);
}

/* Must run before the first call of the CUDA runtime. Numbers devices like nvidia-smi, and makes launches
 * asynchronous: blocking ones could not be enqueued behind a held stream. */
static void environment_set(json_t *attributes)
{
	setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
	const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
	if (blocking && strcmp(blocking, "0") != 0) {
		unsetenv("CUDA_LAUNCH_BLOCKING");
		cuda_context_warn(attributes, "CUDA_LAUNCH_BLOCKING is unset here: "
			"blocking launches cannot be measured");
	}
}

static void busy_warn(json_t *attributes)
{
	struct cuda_nvml seen;
	char line[256];
	cuda_nvml_read(&seen);
	if (cuda_nvml_busy(&seen, (unsigned)getpid(), line, sizeof(line)))
		cuda_context_warn(attributes, line);
}

static int stream_open(struct cuda_context *c, struct error *err)
{
	if (cuda_error(cudaSetDevice(c->ordinal), "cudaSetDevice", err))
		return error_context(err, "%s (%s) cannot be used", c->name, c->uuid);
	cudaSetDeviceFlags(cudaDeviceScheduleSpin); /* spin while waiting: a sleeping thread wakes late */
	cudaGetLastError();
	return cuda_error(
		cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking), "cudaStreamCreate", err);
}

static int gpu_open(const char *wanted, struct cuda_context *c, json_t *attributes, struct error *err)
{
	struct cudaDeviceProp p;
	struct error why = ERROR_NONE;
	char pci[64];
	int khz = 0;
	environment_set(attributes);
	if (cuda_context_choose(wanted, &c->ordinal, &p, err))
		return -1;
	c->sm = p.major * 10 + p.minor;
	snprintf(c->name, sizeof(c->name), "%.*s", (int)sizeof(p.name) - 1, p.name);
	cuda_context_uuid(&p.uuid, c->uuid, sizeof(c->uuid));
	c->memory_bytes = (double)p.totalGlobalMem;
	c->l2_bytes = p.l2CacheSize > 0 ? p.l2CacheSize : NAN;
	c->multiprocessors = p.multiProcessorCount;
	c->clock_khz =
		cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, c->ordinal) == cudaSuccess && khz > 0
		? khz
		: NAN;
	if (c->sm < CUDA_LEAST_SM)
		return error_set(err, "%s has compute capability %d.%d, which this build does not support: "
			"it needs %d.%d or later", c->name, p.major, p.minor, CUDA_LEAST_SM / 10,
			CUDA_LEAST_SM % 10);
	snprintf(pci, sizeof(pci), "%08x:%02x:%02x.0", p.pciDomainID, p.pciBusID, p.pciDeviceID);
	if (cuda_nvml_open(c->uuid, pci, &why))
		cuda_context_warn(attributes, why.text);
	busy_warn(attributes); /* before this process creates its own context */
	const char *folder = getenv("BENANZA_LOCK_DIR");
	if (cuda_lock_open(&lock, folder && *folder ? folder : CUDA_LOCK_FOLDER, c->uuid, &why)) {
		error_context(&why, "measuring without a lock against other processes");
		cuda_context_warn(attributes, why.text);
	}
	if (stream_open(c, err))
		return -1;
	cuda_context_describe(c, &p, attributes);
	return 0;
}

/* --- the libraries --- */

/* Adds a library's name and version unless the stack has it: two backends may be interfaces of one
 * library. */
static void stack_add(struct str *stack, const char *words)
{
	words += strspn(words, ", ");
	if (*words && !strstr(stack->p, words))
		str_addf(stack, ", %s", words);
}

/* Logs each missing library once; two backends may be interfaces of one. */
static void missing_log(const json_t *attributes)
{
	const char *last = "";
	size_t i;
	const json_t *one;
	json_array_foreach(json_object_get(attributes, "libraries"), i, one) {
		const char *why = json_string_at(one, "why", "");
		if (*why && strcmp(why, last) != 0)
			log_line("%s missing: %s; %s", json_string_at(one, "name", ""), why,
				json_string_at(one, "fix", ""));
		last = *why ? why : last;
	}
}

/* Probes all backends and lists their libraries. The stack, which is the identity of results, says which are
 * missing ("no cuBLASLt"): a bound from fewer libraries is never taken for one from all. Returns -1 if no
 * backend can be used. */
static int backends_probe(struct str *stack, json_t *attributes, bool *has_matrix, struct error *err)
{
	int found = 0;
	struct error first = ERROR_NONE;
	for (int i = 0; platform.backends[i]; i++) {
		struct str words = { 0 };
		struct error why = ERROR_NONE;
		const struct backend *b = platform.backends[i];
		if (b->probe && b->probe(&words, attributes, has_matrix, &why)) {
			str_free(&words);
			/* "cuDNN legacy" is an interface of cuDNN */
			str_addf(&words, "no %.*s", (int)strcspn(b->api, " "), b->api);
			cuda_library_missing(attributes, b->api, why.text);
			first = *first.text ? first : why;
		} else {
			found++;
		}
		stack_add(stack, words.p ? words.p : "");
		str_free(&words);
	}
	missing_log(attributes);
	return found ? 0 : error_set(err, "%s", *first.text ? first.text : "no library to measure was found");
}

/* Calibrates the timer and records it as the attribute "timer". If another process measures now, which a
 * hello cannot wait for, the first job does that. */
static void timer_describe(json_t *attributes)
{
	const struct cuda_calibration *c = cuda_calibration();
	struct error why = ERROR_NONE;
	json_t *timer = NULL;
	if (!cuda_lock_try(&lock)) {
		timer = json_pack("{s:s}", "why", "not calibrated: another process measured on this GPU");
	} else if (cuda_calibrate(&why)) {
		timer = json_pack("{s:o}", "doubt", json_text(text_of(why.text)));
		cuda_context_warn(attributes, why.text);
	} else {
		timer = cuda_calibration_json();
		if (*c->doubt || *c->caveat)
			cuda_context_warn(attributes, *c->doubt ? c->doubt : c->caveat);
	}
	if (!json_object_get(timer, "why"))
		cuda_lock_give(&lock);
	json_object_set_new(attributes, "timer", timer);
}

static void device_fill(struct arena *a, struct device *d, const struct str *stack, json_t *attributes)
{
	struct cuda_context *c = cuda_state();
	char host[256] = "";
	gethostname(host, sizeof(host) - 1);
	d->name = c->planning ? "planned" : arena_printf(a, "cuda:%d", c->ordinal);
	d->model = text_clean(a, text_of(c->name));
	d->stack = text_clean(a, (struct text){ stack->p, stack->n });
	c->software = arena_printf(a, "%s; driver %s, CUDA %s", d->stack,
		json_string_at(attributes, "driver", "none"),
		json_string_at(attributes, "cuda_driver", "none"));
	d->runner = platform.program;
	d->version = PACKAGE_VERSION;
	d->host = text_clean(a, text_of(host));
	d->llc_bytes = c->l2_bytes;
	char *text = json_dumps(attributes, JSON_COMPACT);
	d->attributes = arena_strndup(a, text ? text : "{}", text ? strlen(text) : 2);
	free(text);
}

int cuda_context_open(const struct platform_options *o, struct arena *a, struct device *d, struct error *err)
{
	struct str stack = { 0 };
	json_t *attributes = json_object();
	struct cuda_context *c = cuda_state_open();
	c->planning = o->plan != NULL;
	*d = (struct device){ 0 };
	cuda_context_environment(attributes);
	int bad = cuda_clock_share_read(err);
	if (!bad)
		bad = o->plan ? cuda_context_plan(o->plan, a, c, attributes, err) :
			gpu_open(o->device, c, attributes, err);
	if (!bad) {
		d->has_matrix = c->sm >= 70;
		str_addf(&stack, "CUDA %d.%d", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
		bad = backends_probe(&stack, attributes, &d->has_matrix, err);
	}
	if (!bad && !c->planning)
		timer_describe(attributes);
	const char *tf32 = getenv("NVIDIA_TF32_OVERRIDE");
	if (!bad && tf32 && *tf32)
		str_addf(&stack, ", NVIDIA_TF32_OVERRIDE=%.8s", tf32);
	if (!bad)
		device_fill(a, d, &stack, attributes);
	json_decref(attributes);
	str_free(&stack);
	if (bad)
		cuda_context_close();
	return bad;
}

int cuda_context_enter(struct error *err)
{
	const struct cuda_context *k = cuda_state();
	cudaError_t c = k->planning ? cudaSuccess : cudaSetDevice(k->ordinal);
	return c == cudaSuccess ? 0 : error_set(err, "cudaSetDevice: %s", cudaGetErrorString(c));
}

void cuda_context_close(void)
{
	struct cuda_context *c = cuda_state();
	if (c->is_open)
		cuda_buffers_drop();
	cuda_time_close();
	cuda_clock_close();
	cuda_calibrate_forget();
	cuda_check_close();
	if (c->stream)
		cudaStreamDestroy(c->stream);
	cuda_nvml_close();
	cuda_lock_close(&lock);
	cuda_state_close();
}

/* --- other members of the platform --- */

double cuda_context_memory_bytes(void)
{
	const struct cuda_context *c = cuda_state();
	size_t unused, all;
	if (c->planning)
		return c->memory_bytes;
	cuda_buffers_drop(); /* memory kept for the last problem is available */
	if (c->poisoned || cudaMemGetInfo(&unused, &all) != cudaSuccess) {
		cudaGetLastError();
		return 0;
	}
	return (double)unused;
}

const char *cuda_context_doubt(void)
{
	static struct error why;
	why = (struct error)ERROR_NONE;
	if (cuda_calibration()->is_done)
		return *cuda_calibration()->doubt ? cuda_calibration()->doubt : NULL;
	if (cuda_context_lock(&why))
		return why.text;
	int bad = cuda_calibrate(&why);
	cuda_context_unlock();
	return bad ? why.text : *cuda_calibration()->doubt ? cuda_calibration()->doubt : NULL;
}

bool cuda_context_is_waiting(void)
{
	return cuda_lock_waits(&lock);
}

int cuda_context_lock(struct error *err)
{
	return cuda_lock_take(&lock, err);
}

void cuda_context_unlock(void)
{
	cuda_lock_give(&lock);
}

void cuda_context_vacate(void)
{
	cuda_buffers_drop();
	cuda_context_unlock();
}
