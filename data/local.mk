# bundled models, recorded results, described devices
modelsdir = $(pkgdatadir)/models
dist_models_DATA = \
	data/models/bert_base.onnx data/models/bert_base.yaml \
	data/models/googlenet.onnx \
	data/models/gpt2_small.onnx data/models/gpt2_small.yaml \
	data/models/mobilenet_v2.onnx \
	data/models/resnet50.onnx \
	data/models/yolov8n.onnx
# results of devices that few have: list new files here
recordeddir = $(pkgdatadir)/recorded
dist_recorded_DATA = data/recorded/README
# results and an execution of ResNet-50, for benanza --tour and the pictures of README.md
tourdir = $(pkgdatadir)/tour
dist_tour_DATA = data/tour/resnet50.jsonl.gz
# GPUs that are only described: public figures, and what cuDNN wants to know to plan for them
devicesdir = $(pkgdatadir)/devices
dist_devices_DATA = \
	data/devices/a10.json data/devices/a100.json data/devices/a30.json data/devices/b200.json \
	data/devices/h100.json data/devices/h200.json data/devices/l40s.json \
	data/devices/rtx3090.json data/devices/rtx4090.json data/devices/t4.json data/devices/v100.json
