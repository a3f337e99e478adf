#include "config.h"

#include "runner/gpu/cuda_context.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "fake_cudart.h"
#include "runner/gpu/cuda_nvml.h"
#include "tap.h"

static bool missing[2];
static int probe_first(struct str *stack, json_t *attributes, bool *has_matrix, struct error *err)
{
	(void)has_matrix;
	if (missing[0])
		return error_set(err, "libcudnn.so.9: cannot open shared object file; install cuDNN 9");
	json_object_set_new(attributes, "cudnn", json_string("9.19.0"));
	str_addf(stack, "cuDNN 9.19.0");
	return 0;
}

static int probe_second(struct str *stack, json_t *attributes, bool *has_matrix, struct error *err)
{
	(void)attributes;
	(void)has_matrix;
	if (missing[1])
		return error_set(err, "libcublasLt.so.13: cannot open shared object file; install cuBLAS 13");
	str_addf(stack, ", cuBLASLt 13.1.0");
	return 0;
}

static const struct backend first = { .api = "cuDNN", .probe = probe_first };
static const struct backend again = { .api = "cuDNN legacy", .probe = probe_first };
static const struct backend second = { .api = "cuBLASLt", .probe = probe_second };
static const struct backend *const backends[] = { &first, &again, &second, NULL };
const struct platform platform = { .program = "benanza-runner-cuda", .backends = backends };

static struct arena arena;
static struct device device;
static struct error err;

static int open_gpu(const char *wanted)
{
	struct platform_options o = { .device = wanted };
	err = (struct error)ERROR_NONE;
	return cuda_context_open(&o, &arena, &device, &err);
}

static json_t *attributes(void)
{
	json_t *o = json_loads(device.attributes, 0, NULL);
	return o ? o : json_object();
}

static void test_identity(void)
{
	fake_reset();
	setenv("CUDNN_LOGLEVEL_DBG", "0", 1);
	is_int(open_gpu(NULL), 0, "the first GPU: %s", err.text);
	is_str(device.name, "cuda:0", "its name");
	is_str(device.model, "NVIDIA H200", "its model");
	char stack[96];
	snprintf(stack, sizeof(stack), "CUDA %d.%d, cuDNN 9.19.0, cuBLASLt 13.1.0", CUDART_VERSION / 1000,
		CUDART_VERSION % 1000 / 10);
	is_str(device.stack, stack, "libraries, each once");
	is_str(device.runner, "benanza-runner-cuda", "the runner");
	near(device.llc_bytes, 65536, 0, "the last cache is L2");
	ok(device.has_matrix && device.threads == 0, "tensor cores, no threads");
	const struct cuda_context *c = cuda_context();
	ok(c->sm == 90 && c->multiprocessors == 132 && !c->planning && c->stream, "the context");
	is_str(c->uuid, "GPU-abababab-abab-abab-abab-abababababab", "the UUID");
	json_t *o = attributes();
	is_str(json_string_at(o, "uuid", ""), c->uuid, "recorded");
	is_str(json_string_at(o, "driver", ""), "580.82.07", "the driver");
	is_str(json_string_at(o, "cudnn", ""), "9.19.0", "what backends add");
	is_str(json_string_at(o, "pci", ""), "0000:10:00.0", "the place on the bus");
	near(json_number_or_nan(json_object_get(o, "clock_mhz")), 1980, 0, "the default clock");
	near(json_number_or_nan(json_object_get(o, "power_limit_w")), 123.456, 1e-9, "the power limit");
	near(json_number_or_nan(json_object_get(o, "default_power_limit_w")), 700, 1e-9,
		"... and the usual one");
	ok(json_is_true(json_object_get(o, "persistence")) && !json_object_get(o, "mig"),
		"settings that it has");
	ok(json_is_true(json_object_get(o, "ecc")), "ECC");
	ok(json_is_null(json_object_get(o, "most_clock_mhz")),
		"what the driver does not tell is unknown, not zero");
	const json_t *nvml = json_object_get(o, "nvml");
	is_str(json_string_at(nvml, "slowed_by", ""), "power_cap hardware_thermal", "why clocks are low");
	is_str(json_string_at(json_object_get(o, "environment"), "CUDNN_LOGLEVEL_DBG", ""), "0", "variables");
	is_str(json_string_at(json_object_get(o, "environment"), "HOME", "none"), "none",
		"only those that matter");
	ok(!json_object_get(o, "warnings"), "no warnings");
	is_str(getenv("CUDA_DEVICE_ORDER"), "PCI_BUS_ID", "devices are counted as they are on the bus");
	json_decref(o);
	cuda_context_close();
	unsetenv("CUDNN_LOGLEVEL_DBG");
}

static void test_environment(void)
{
	fake_reset();
	setenv("NVIDIA_TF32_OVERRIDE", "0", 1);
	setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	is_int(open_gpu(NULL), 0, "opened");
	ok(strstr(device.stack, ", NVIDIA_TF32_OVERRIDE=0") != NULL, "TF32 switched off is another stack: %s",
		device.stack);
	ok(!getenv("CUDA_LAUNCH_BLOCKING"), "launches may not wait");
	json_t *o = attributes();
	is_str(json_string_at(json_object_get(o, "environment"), "CUDA_LAUNCH_BLOCKING", ""), "1",
		"that they did is recorded");
	is_int(json_array_size(json_object_get(o, "warnings")), 1, "and said");
	json_decref(o);
	cuda_context_close();
	unsetenv("NVIDIA_TF32_OVERRIDE");
}

static void chosen(const char *wanted, int ordinal)
{
	fake_reset();
	fake.device_count = 2;
	is_int(open_gpu(wanted), 0, "'%s': %s", wanted, err.text);
	is_int(cuda_context()->ordinal, ordinal, "is GPU %d", ordinal);
	is_int(fake.flags_set_device, ordinal, "which is set");
	fake.flags_set_device = -1;
	is_int(cuda_context_enter(&err), 0, "another thread");
	is_int(fake.flags_set_device, ordinal, "gets the same GPU");
	fake.set_device_error = cudaErrorMemoryAllocation;
	is_int(cuda_context_enter(&err), -1, "or an error");
	ok(strstr(err.text, "cudaSetDevice: ") && cuda_context_is_alive(), "which is no loss: %s", err.text);
	fake.set_device_error = cudaSuccess;
	cuda_context_close();
}

static void refused(const char *wanted, const char *says)
{
	is_int(open_gpu(wanted), -1, "%s: refused", wanted ? wanted : "the first");
	ok(strstr(err.text, says) != NULL && !strchr(err.text, '\n'), "'%s' in: %s", says, err.text);
	ok(fake.streams_alive == 0 && fake.allocations_alive == 0, "nothing is left");
}

static void test_choice(void)
{
	chosen("0", 0);
	chosen("1", 1);
	chosen("cuda:1", 1);
	chosen("CUDA:0", 0);
	chosen("GPU-acacacac-acac-acac-acac-acacacacacac", 1);
	chosen("gpu-ab", 0);
	chosen("acacac", 1);
	fake_reset();
	fake.device_count = 2;
	refused("2", "no GPU matches '2'; available: cuda:0 NVIDIA H200 GPU-abababab, cuda:1 NVIDIA L40S "
		"GPU-acacacac");
	refused("cuda:-1", "no GPU matches 'cuda:-1'");
	refused("cuda:", "no GPU");
	refused("", "no GPU");
	refused("deadbeef", "no GPU matches 'deadbeef'");
	refused("GPU-a", "more than one GPU matches 'GPU-a'");
	fake.device_count = 1;
	refused("1", "available: cuda:0");
}

/* A MIG instance, which the runtime shows only if it is asked for before the first call. */
static void test_mig(void)
{
	static const char name[] = "MIG-abababab-abab-abab-abab-abababababab";
	unsetenv("CUDA_VISIBLE_DEVICES");
	fake_reset();
	is_int(open_gpu(name), 0, "an instance: %s", err.text);
	is_str(getenv("CUDA_VISIBLE_DEVICES"), name, "is asked for");
	is_str(cuda_context()->uuid, name, "and named as such");
	cuda_context_close();
	fake_reset();
	is_int(open_gpu(NULL), 0, "one that the user asked for: %s", err.text);
	is_str(cuda_context()->uuid, name, "is named likewise");
	cuda_context_close();
	is_int(open_gpu("MIG-abab"), 0, "its beginning fits: %s", err.text);
	cuda_context_close();
	refused("MIG-cdcd", "no GPU matches 'MIG-cdcd'");
	unsetenv("CUDA_VISIBLE_DEVICES");
	fake_reset();
	fake.device_count = 2; /* the runtime did not understand the name */
	refused("MIG-1", "no MIG instance 'MIG-1'; nvidia-smi -L");
	unsetenv("CUDA_VISIBLE_DEVICES");
	fake.count_error = cudaErrorNoDevice;
	refused(name, "no MIG instance");
	unsetenv("CUDA_VISIBLE_DEVICES");
	fake_reset();
}

static void test_faults(void)
{
	fake_reset();
	fake.count_error = cudaErrorInsufficientDriver;
	fake.driver_version = 0;
	refused(NULL, "no NVIDIA driver found");
	fake.driver_version = 12040;
	char versions[96];
	snprintf(versions, sizeof(versions), "supports CUDA 12.4, this program needs CUDA %d.%d",
		CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
	refused(NULL, versions);
	refused(NULL, CUDART_VERSION >= 13000 ? "driver 580 or newer" : "driver 525 or newer");
	fake.driver_version = CUDART_VERSION;
	fake.count_error = cudaErrorNoDevice;
	refused(NULL, "finds no GPU");
	fake.count_error = cudaErrorStubLibrary;
	refused(NULL, "stub, not a driver");
	fake.count_error = cudaErrorSystemNotReady;
	refused(NULL, "cannot be initialized");
	fake.count_error = cudaSuccess;
	fake.device_count = 0;
	refused(NULL, "finds no GPU");
	fake_reset();
	fake.device_count = 3;
	refused("2", "Tesla V100 has compute capability 7.0, which this build does not support");
	fake_reset();
	fake.set_device_error = cudaErrorDevicesUnavailable;
	refused(NULL, "NVIDIA H200 (GPU-abababab-abab-abab-abab-abababababab) cannot be used");
}

static char *log_text;
static size_t log_size;

static void test_busy(void)
{
	fake_reset();
	fake.nvml_processes = 2;
	fake.nvml_pid[0] = 4711;
	fake.nvml_pid[1] = (unsigned)getpid();
	fake.nvml_utilization = 87;
	FILE *f = open_memstream(&log_text, &log_size);
	log_to(f);
	is_int(open_gpu(NULL), 0, "a GPU in use is opened");
	log_to(NULL);
	fclose(f);
	json_t *o = attributes();
	const char *line = json_string_value(json_array_get(json_object_get(o, "warnings"), 0));
	ok(line && strstr(line, "in use: 1 other process (4711), 87% busy"), "and said: %s",
		line ? line : "nothing");
	ok(line && strstr(log_text, line), "in the log too");
	free(log_text);
	json_decref(o);
	cuda_context_close();
	char words[256];
	struct cuda_nvml r = { .processes = 100, .utilization = NAN };
	ok(cuda_nvml_busy(&r, 1, words, sizeof(words)) && strstr(words, "100 other processes"),
		"more than fit: %s", words);
	r = (struct cuda_nvml){ .processes = -1, .utilization = NAN };
	ok(!cuda_nvml_busy(&r, 1, words, sizeof(words)), "unknown is not busy");
	r.utilization = 0.05;
	ok(!cuda_nvml_busy(&r, 1, words, sizeof(words)), "nor is a flicker");
}

static void test_without_nvml(void)
{
	struct cuda_nvml r;
	fake_reset();
	fake.has_nvml = false;
	is_int(open_gpu(NULL), 0, "no NVML: %s", err.text);
	cuda_nvml_read(&r);
	ok(isnan(r.sm_mhz) && isnan(r.utilization) && r.processes == -1 && !*r.driver,
		"then nothing is known");
	json_t *o = attributes();
	const char *line = json_string_value(json_array_get(json_object_get(o, "warnings"), 0));
	ok(line && strstr(line, "libnvidia-ml.so.1"), "and that is said: %s", line ? line : "nothing");
	is_str(json_string_at(o, "driver", "absent"), "", "the driver is unknown");
	json_decref(o);
	cuda_context_close();
}

static void test_libraries(void)
{
	fake_reset();
	missing[0] = true;
	is_int(open_gpu(NULL), 0, "without cuDNN the others measure: %s", err.text);
	ok(strstr(device.stack, "no cuDNN, cuBLASLt") != NULL, "which is another stack: %s", device.stack);
	json_t *o = attributes();
	const json_t *gone = json_array_get(json_object_get(o, "libraries"), 0);
	is_str(json_string_at(gone, "name", ""), "cuDNN", "the missing library");
	is_str(json_string_at(gone, "why", ""), "libcudnn.so.9: cannot open shared object file",
		"the reason");
	is_str(json_string_at(gone, "fix", ""), "install cuDNN 9", "and the fix are listed");
	ok(json_array_size(json_object_get(gone, "tried")) > 0, "with what was tried");
	is_int((int64_t)json_array_size(json_object_get(o, "libraries")), 2, "for both of its interfaces");
	json_decref(o);
	ok(strstr(device.attributes, "install cuDNN 9") != NULL, "what to do is recorded");
	cuda_context_close();
	missing[1] = true;
	refused(NULL, "install cuDNN 9");
	missing[0] = missing[1] = false;
}

static void test_errors(void)
{
	fake_reset();
	open_gpu(NULL);
	err = (struct error)ERROR_NONE;
	is_int(cuda_error(cudaSuccess, "cudaMalloc", &err), 0, "no error");
	is_str(err.text, "", "says nothing");
	is_int(cuda_error(cudaErrorMemoryAllocation, "cudaMalloc", &err), -1, "an error");
	is_str(err.text, "cudaMalloc: out of memory", "is named");
	ok(cuda_error_is_memory(cudaErrorMemoryAllocation) && !cuda_error_is_memory(cudaErrorUnknown),
		"memory or not");
	ok(cuda_context_is_alive(), "the context lives");
	cuda_error(cudaErrorLaunchFailure, "kernel", &err);
	ok(!cuda_context_is_alive(), "a fault ends it");
	is_int(cuda_context_memory_bytes(), 0, "and its memory");
	cuda_context_close();
	is_int(open_gpu(NULL), 0, "opened anew");
	ok(cuda_context_is_alive(), "it lives");
	cuda_context_disturb();
	is_int(cuda_context_disturbances(), 1, "disturbances count");
	cuda_context_close();
}

/* --- plans --- */

static char path[] = "t_cuda_context.json";

/* All properties that cuDNN needs. */
#define T4                                                                                                   \
	"{\"cudaDeviceId\":0,\"deviceName\":\"Tesla "                                                        \
	"T4\",\"deviceVer\":750,\"driverVer\":13000,\"isTccDriver\":0,"                                      \
	"\"l2CacheSize\":4194304,\"maxBlockSize\":[1024,1024,64],\"maxGridSize\":[2147483647,65535,65535],"  \
	"\"maxCtasPerSM\":16,\"maxRegistersPerSM\":65536,\"maxSharedMemoryPerBlock\":49152,"                 \
	"\"maxSharedMemoryPerBlockOptin\":65536,\"maxThreadsPerBlock\":1024,\"maxThreadsPerSM\":1024,"       \
	"\"memClockRateKHz\":5001000,\"multiProcessorCount\":40,\"pciDeviceId\":0,\"regsPerBlock\":65536,"   \
	"\"reservedSharedMemoryPerBlock\":0,\"smClockRateKHz\":1590000,\"supportCoopLaunch\":1,"             \
	"\"totalGlobalMem\":16106127360,\"warpSize\":32}"

static int plan(const char *text)
{
	struct platform_options o = { .plan = path };
	FILE *f = fopen(path, "w");
	if (f) {
		fputs(text, f);
		fclose(f);
	}
	err = (struct error)ERROR_NONE;
	int bad = cuda_context_open(&o, &arena, &device, &err);
	unlink(path);
	return bad;
}

static void plan_refused(const char *text, const char *says)
{
	is_int(plan(text), -1, "no description: %.40s", text);
	ok(strstr(err.text, says) && strstr(err.text, path) && !strchr(err.text, '\n'), "'%s' in: %s", says,
		err.text);
}

static void test_plan(void)
{
	fake_reset();
	fake.count_error = cudaErrorInsufficientDriver;
	fake.driver_version = 0;
	is_int(plan("{\"name\":\"NVIDIA "
		    "T4\\n\",\"arch\":\"Turing\",\"sm\":75,\"caveat\":\"old\",\"l2_bytes\":4194304,"
		    "\"clock_mhz\":1590,\"multiprocessors\":40,\"cudnn\":" T4 "}"),
		0, "a description: %s", err.text);
	const struct cuda_context *c = cuda_context();
	ok(c->planning && c->sm == 75 && !c->stream, "plans without a GPU");
	is_str(c->deviceprop, T4, "what cuDNN is told");
	is_str(c->caveat, "old", "the caveat");
	is_str(device.model, "NVIDIA T4?", "its name, cleaned");
	is_str(device.name, "planned", "no GPU of here");
	ok(isnan(c->memory_bytes) && c->clock_khz == 1590e3 && device.llc_bytes == 4194304,
		"what is not said is unknown");
	ok(device.has_matrix && strstr(device.attributes, "\"planned\":true") &&
			strstr(device.attributes, "Turing"),
		"recorded");
	is_int(fake.host_ns == fake.device_ns, 1, "the runtime was not called");
	is_int(cuda_context_lock(&err), 0, "no lock is needed");
	cuda_context_unlock();
	cuda_context_close();
	plan_refused("", ":1: ");
	plan_refused("[1]", "needs \"name\"");
	plan_refused("{\"sm\":75,\"cudnn\":{\"a\":1}}", "needs \"name\"");
	plan_refused("{\"name\":\"x\",\"sm\":\"75\",\"cudnn\":{\"a\":1}}", "\"sm\"");
	plan_refused("{\"name\":\"x\",\"sm\":7.5,\"cudnn\":{\"a\":1}}", "\"sm\"");
	plan_refused("{\"name\":\"x\",\"sm\":75}", "\"cudnn\"");
	plan_refused("{\"name\":\"x\",\"sm\":75,\"cudnn\":{}}", "\"cudnn\"");
	plan_refused("{\"name\":\"x\",\"sm\":75,\"cudnn\":{\"a\":1}}", "\"cudaDeviceId\" must be an integer");
	plan_refused("{\"name\":\"x\",\"sm\":75,\"cudnn\":{\"cudaDeviceId\":0,\"deviceName\":7}}",
		"\"deviceName\" must be a string");
	plan_refused("{\"name\":\"x\",\"sm\":80,\"cudnn\":" T4 "}", "\"sm\" is 80, but \"cudnn\": "
		"\"deviceVer\" is 750; it must be 800");
	struct platform_options o = { .plan = "no/such/file.json" };
	ok(cuda_context_open(&o, &arena, &device, &err) == -1 && strstr(err.text, "no/such/file.json"),
		"no file: %s", err.text);
}

/* The descriptions installed with the program. */
static void test_bundled(void)
{
	static const char *const names[] = { "v100", "t4", "a100", "l40s", "h100", "h200", "b200",
		"rtx4090" };
	const char *top = getenv("abs_srcdir");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char file[512];
		snprintf(file, sizeof(file), "%s/data/devices/%s.json", top ? top : "..", names[i]);
		struct platform_options o = { .plan = file };
		if (!ok(cuda_context_open(&o, &arena, &device, &err) == 0, "%s: %s", names[i], err.text))
			continue;
		ok(cuda_context()->l2_bytes > 1e6 && cuda_context()->memory_bytes > 1e9 &&
				(cuda_context()->sm >= 75 || *cuda_context()->caveat),
			"%s says what it is", names[i]);
		cuda_context_close();
	}
}

int main(void)
{
	if (!fake_folder_open())
		return 1;
	unsetenv("NVIDIA_TF32_OVERRIDE");
	unsetenv("CUDA_LAUNCH_BLOCKING");
	test_without_nvml();
	test_identity();
	test_environment();
	test_choice();
	test_mig();
	test_faults();
	test_busy();
	test_libraries();
	test_errors();
	test_plan();
	test_bundled();
	arena_free(&arena);
	fake_folder_close();
	return done_testing();
}
