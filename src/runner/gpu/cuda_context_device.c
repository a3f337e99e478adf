/* Chooses a device by number or UUID, and describes it; errors name the driver that is too old. */
#include "config.h"

#include "runner/gpu/cuda_context_private.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/log.h"
#include "runner/gpu/cuda_nvml.h"

extern char **environ;

/* --- which GPU --- */

#define GPU_START "GPU-"
#define MIG_START "MIG-"

void cuda_context_uuid(const cudaUUID_t *u, char *text, int size)
{
	/* of a MIG instance the runtime returns the instance's UUID; only one that was asked for is used */
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	bool mig = visible && strncasecmp(visible, MIG_START, strlen(MIG_START)) == 0;
	int n = snprintf(text, (size_t)size, "%s", mig ? MIG_START : GPU_START);
	for (int i = 0; i < 16 && n < size - 3; i++)
		n += snprintf(text + n, (size_t)(size - n), "%s%02x",
			i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned char)u->bytes[i]);
}

/* The first driver branch for each version of CUDA (CUDA Toolkit Release Notes, "minimum required driver
 * version for CUDA minor version compatibility"). */
static const struct {
	int cuda;
	const char *driver;
} branches[] = { { 11, "450" }, { 12, "525" }, { 13, "580" } };

static const char *branch_of(int runtime)
{
	for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++)
		if (branches[i].cuda == runtime / 1000)
			return branches[i].driver;
	return NULL;
}

static int driver_error(int driver, int runtime, struct error *err)
{
	const char *branch = branch_of(runtime);
	return error_set(err, "the NVIDIA driver is too old: it supports CUDA %d.%d, this program needs CUDA "
		"%d.%d; install driver %s%s, or build this program with the toolkit of CUDA %d",
		driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10,
		branch ? branch : "of that version", branch ? " or newer" : "", driver / 1000);
}

/* Sets err to the reason why no GPU can be counted, and the fix. */
static int count_error(cudaError_t c, struct error *err)
{
	int driver = 0, runtime = 0;
	cudaDriverGetVersion(&driver);
	cudaRuntimeGetVersion(&runtime);
	cudaGetLastError();
	if (c == cudaErrorStubLibrary)
		return error_set(err, "the loaded libcuda.so.1 is the CUDA toolkit's stub, not a driver; "
			"remove its folder from LD_LIBRARY_PATH");
	if (driver == 0)
		return error_set(err, "no NVIDIA driver found (libcuda.so.1); install it, or "
			"plan for a described GPU: benanza -d h100 MODEL");
	if (c == cudaErrorInsufficientDriver || driver / 1000 < runtime / 1000)
		return driver_error(driver, runtime, err);
	if (c == cudaErrorNoDevice)
		return error_set(err, "the NVIDIA driver finds no GPU; check CUDA_VISIBLE_DEVICES, or "
			"plan for a described GPU: benanza -d h100 MODEL");
	return error_set(err, "the NVIDIA driver cannot be initialized: %s (%s); run nvidia-smi for details",
		cudaGetErrorString(c), cudaGetErrorName(c));
}

/* Returns the number in "1" or "cuda:1"; -1 if the text is not a number of at most 3 digits (but maybe a
 * UUID). */
static int number_of(const char *wanted)
{
	int64_t n;
	if (strncasecmp(wanted, "cuda:", 5) == 0)
		wanted += 5;
	bool good = strlen(wanted) <= 3 && text_to_int64(text_of(wanted), &n) && n >= 0;
	return good ? (int)n : -1;
}

static bool is_start_of(const char *wanted, const char *uuid)
{
	size_t n = strlen(wanted), start = strlen(GPU_START);
	return n >= 4 && (strncasecmp(uuid, wanted, n) == 0 || strncasecmp(uuid + start, wanted, n) == 0);
}

static void devices_list(struct str *list, int count)
{
	for (int i = 0; i < count && i < 16; i++) {
		struct cudaDeviceProp p;
		char uuid[64];
		if (cudaGetDeviceProperties(&p, i) != cudaSuccess)
			continue;
		cuda_context_uuid(&p.uuid, uuid, sizeof(uuid));
		str_addf(list, "%scuda:%d %.64s %.12s", list->n ? ", " : "", i, p.name, uuid);
	}
	cudaGetLastError();
}

/* Returns the ordinal of the only match; -1 without a match or with several (err lists the GPUs). */
static int wanted_find(const char *wanted, int count, struct error *err)
{
	int number = number_of(wanted), found = -1, matches = 0;
	for (int i = 0; i < count; i++) {
		struct cudaDeviceProp p;
		char uuid[64] = "";
		if (cudaGetDeviceProperties(&p, i) == cudaSuccess)
			cuda_context_uuid(&p.uuid, uuid, sizeof(uuid));
		if (number >= 0 ? i == number : is_start_of(wanted, uuid)) {
			found = i;
			matches++;
		}
	}
	cudaGetLastError();
	if (matches == 1)
		return found;
	struct str list = { 0 };
	devices_list(&list, count);
	error_set(err, "%s GPU matches '%s'; available: %s", matches ? "more than one" : "no", wanted,
		list.n ? list.p : "none that responds");
	str_free(&list);
	return -1;
}

/* The runtime shows a MIG instance only if it is asked for by name before the first call, and then nothing
 * else. The name is the instance's UUID, or "MIG-GPU-UUID/2/0" with older drivers. Returns true if such a
 * name decides alone. */
static bool mig_ask(const char *wanted)
{
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	if (!wanted || strncasecmp(wanted, MIG_START, strlen(MIG_START)) != 0 || (visible && *visible))
		return false;
	setenv("CUDA_VISIBLE_DEVICES", wanted, 1);
	return true;
}

int cuda_context_choose(const char *wanted, int *ordinal, struct cudaDeviceProp *p, struct error *err)
{
	int count = 0;
	bool is_mig = mig_ask(wanted);
	cudaError_t c = cudaGetDeviceCount(&count);
	if (is_mig && (c == cudaErrorNoDevice || (c == cudaSuccess && count != 1)))
		return error_set(err, "no MIG instance '%s'; nvidia-smi -L lists them, by their whole names",
			wanted);
	if (c != cudaSuccess || count < 1)
		return count_error(c == cudaSuccess ? cudaErrorNoDevice : c, err);
	*ordinal = wanted && !is_mig ? wanted_find(wanted, count, err) : 0;
	if (*ordinal < 0)
		return -1;
	return cuda_error(cudaGetDeviceProperties(p, *ordinal), "cudaGetDeviceProperties", err);
}

/* --- recorded attributes --- */

void cuda_context_warn(json_t *attributes, const char *line)
{
	json_t *list = json_object_get(attributes, "warnings");
	if (!list) {
		list = json_array();
		json_object_set_new(attributes, "warnings", list);
	}
	json_array_append_new(list, json_text(text_of(line)));
	log_line("%s", line);
}

void cuda_context_environment(json_t *attributes)
{
	static const char *const starts[] = { "NVIDIA_TF32_OVERRIDE", "CUDA_", "CUDNN_", "CUBLAS",
		"NVIDIA_VISIBLE" };
	json_t *o = json_object();
	for (char **at = environ; at && *at; at++) {
		const char *equals = strchr(*at, '=');
		bool wanted = false;
		for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
			wanted = wanted || strncmp(*at, starts[i], strlen(starts[i])) == 0;
		if (!wanted || !equals)
			continue;
		struct arena a = { 0 };
		json_object_set_new(o, text_clean(&a, (struct text){ *at, (size_t)(equals - *at) }),
			json_text(text_of(equals + 1)));
		arena_free(&a);
	}
	json_object_set_new(attributes, "environment", o);
}

static double attribute(enum cudaDeviceAttr which, int ordinal, double scale)
{
	int value = 0;
	if (cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess && value > 0)
		return value * scale;
	cudaGetLastError();
	return NAN;
}

static void version_add(json_t *attributes, const char *key, int version)
{
	char text[32];
	if (version < 1000)
		return;
	snprintf(text, sizeof(text), "%d.%d", version / 1000, version % 1000 / 10);
	json_object_set_new(attributes, key, json_string(text));
}

void cuda_context_describe(const struct cuda_context *c, const struct cudaDeviceProp *p, json_t *attributes)
{
	struct cuda_nvml now;
	char pci[32];
	int driver = 0, runtime = 0;
	cudaDriverGetVersion(&driver);
	cudaRuntimeGetVersion(&runtime);
	cuda_nvml_read(&now);
	snprintf(pci, sizeof(pci), "%04x:%02x:%02x.0", p->pciDomainID, p->pciBusID, p->pciDeviceID);
	json_object_set_new(attributes, "uuid", json_string(c->uuid));
	json_object_set_new(attributes, "pci", json_string(pci));
	json_object_set_new(attributes, "driver", json_text(text_of(now.driver)));
	version_add(attributes, "cuda_driver", driver);
	version_add(attributes, "cuda_runtime", runtime);
	json_object_set_new(attributes, "sm", json_integer(c->sm));
	json_object_set_new(attributes, "multiprocessors", json_integer(c->multiprocessors));
	json_object_set_new(attributes, "clock_mhz", json_number_or_null(c->clock_khz / 1e3));
	json_object_set_new(attributes, "memory_clock_mhz",
		json_number_or_null(attribute(cudaDevAttrMemoryClockRate, c->ordinal, 1e-3)));
	json_object_set_new(attributes, "most_clock_mhz", json_number_or_null(now.most_sm_mhz));
	json_object_set_new(attributes, "power_limit_w", json_number_or_null(now.power_limit_w));
	json_object_set_new(attributes, "default_power_limit_w",
		json_number_or_null(now.default_power_limit_w));
	if (now.persistence >= 0)
		json_object_set_new(attributes, "persistence", json_boolean(now.persistence));
	if (now.mig >= 0)
		json_object_set_new(attributes, "mig", json_boolean(now.mig));
	json_object_set_new(attributes, "ecc", json_boolean(p->ECCEnabled));
	json_object_set_new(attributes, "memory_bytes", json_number_or_null(c->memory_bytes));
	json_object_set_new(attributes, "l2_bytes", json_number_or_null(c->l2_bytes));
	json_object_set_new(attributes, "memory_bus_bits", json_integer(p->memoryBusWidth));
	json_object_set_new(attributes, "nvml", cuda_nvml_json(&now));
}
