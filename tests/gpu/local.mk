# make check-gpu: what only a GPU can prove, in slices of under eight minutes; the same command continues.
# Without a device it skips.
# make gpu-jobs: what it measures of the bundled models, the most valuable first.
# make gpu-bundle: a tar of all that first_hour.sh needs on a machine where nothing can be built.
gpu_first_names = first-gpt2_small first-bert_base first-resnet50
gpu_other_names = b1-f16 b1-f32 b8-f16 b1-bf16 nhwc-b1-f16 b8-f32 nhwc-b8-f16 b32-f16 b8-bf16 b32-f32 \
	b32-bf16 nhwc-b1-bf16 nhwc-b8-bf16
gpu_job_names = $(gpu_first_names) $(gpu_other_names)
gpu_first = $(gpu_first_names:%=gpu-jobs/%.jsonl)
gpu_other = $(gpu_other_names:%=gpu-jobs/%.jsonl)
gpu_jobs = $(gpu_first) $(gpu_other)
CLEANFILES += $(gpu_jobs) gpu-jobs/order.txt benanza-gpu.tar.gz
gpu_model_names = resnet50 bert_base gpt2_small mobilenet_v2 yolov8n googlenet
gpu_models = $(gpu_model_names:%=$(srcdir)/data/models/%.onnx)
gpu_emit = ./benanza bench -q -d cuda --budget-ms 50 --emit-jobs
$(gpu_first): gpu-jobs/first-%.jsonl: benanza$(EXEEXT) $(srcdir)/data/models/%.onnx
	$(AM_V_GEN)$(MKDIR_P) gpu-jobs && \
	$(gpu_emit) -t f16 --launches amortized $(srcdir)/data/models/$*.onnx > $@.tmp && mv $@.tmp $@
$(gpu_other): gpu-jobs/%.jsonl: benanza$(EXEEXT) $(gpu_models)
	$(AM_V_GEN)$(MKDIR_P) gpu-jobs && set -- $$(echo $* | sed 's/nhwc-\(.*\)/\1 -w layout/; s/b\([0-9]*\)-/\1 /') && \
	b=$$1 t=$$2 && shift 2 && $(gpu_emit) -b $$b -t $$t "$$@" $(gpu_models) > $@.tmp && mv $@.tmp $@
gpu-jobs/order.txt: $(gpu_jobs)
	$(AM_V_GEN)printf '%s\n' $(gpu_job_names:%=%.jsonl) > $@.tmp && mv $@.tmp $@
gpu-jobs: gpu-jobs/order.txt
.PHONY: gpu-jobs gpu-bundle check-gpu
if HAVE_CUDA
check-gpu: benanza-runner-cuda gpu-jobs/order.txt
	python3 $(srcdir)/tests/gpu/check_gpu.py --runner ./benanza-runner-cuda --out gpu-results \
		--tar benanza-gpu-results.tar.gz --jobs $(gpu_jobs)
gpu_bundle = first_hour.sh check_gpu.py gpu_clock.py gpu_feed.py gpu_manifest.py gpu_smoke.py gpu_tiers.py \
	gpu_traffic.py problems.txt manifest.txt
gpu-bundle: benanza-runner-cuda gpu-jobs/order.txt
	rm -rf benanza-gpu && $(MKDIR_P) benanza-gpu
	cp -R benanza-runner-cuda gpu-jobs $(gpu_bundle:%=$(srcdir)/tests/gpu/%) $(srcdir)/tools/torch_models.py \
		benanza-gpu
	tar -czf benanza-gpu.tar.gz benanza-gpu && rm -rf benanza-gpu
else
check-gpu gpu-bundle:
	@echo "1..0 # SKIP configured without the CUDA toolkit: there is no benanza-runner-cuda"
endif
