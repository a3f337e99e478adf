# make check-gpu: what only a GPU can prove, in slices of under eight minutes; the same command goes on. Without a device it skips.
# make gpu-jobs: what it measures of the bundled models, to be carried where nothing can be built; channels last comes after.
gpu_jobs = gpu-jobs/b1.jsonl gpu-jobs/b8.jsonl gpu-jobs/nhwc-b1.jsonl gpu-jobs/nhwc-b8.jsonl gpu-jobs/b32.jsonl
CLEANFILES += $(gpu_jobs)
gpu_models = $(addprefix $(srcdir)/data/models/,resnet50.onnx mobilenet_v2.onnx googlenet.onnx bert_base.onnx gpt2_small.onnx \
	yolov8n.onnx)
emit_jobs = $(MKDIR_P) gpu-jobs && ./benanza bench -q -d cuda --budget-ms 50 --emit-jobs
gpu-jobs/b%.jsonl: benanza $(gpu_models)
	$(AM_V_GEN)$(emit_jobs) -b $* -t f32,f16,bf16 $(gpu_models) > $@.tmp && mv $@.tmp $@
gpu-jobs/nhwc-b%.jsonl: benanza $(gpu_models)
	$(AM_V_GEN)$(emit_jobs) -b $* -t f16,bf16 -w layout $(gpu_models) > $@.tmp && mv $@.tmp $@
gpu-jobs: $(gpu_jobs)
.PHONY: gpu-jobs check-gpu
if HAVE_CUDA
check-gpu: benanza-runner-cuda $(gpu_jobs)
	python3 $(srcdir)/tests/gpu/check_gpu.py --runner ./benanza-runner-cuda --out gpu-results --jobs $(gpu_jobs)
else
check-gpu:
	@echo "1..0 # SKIP configured without the CUDA toolkit: there is no benanza-runner-cuda"
endif
