# agents: programs in Python that run whole models with a framework (docs/agents.md); they also run in place
agentsdir = $(pkgdatadir)/agents
dist_agents_SCRIPTS = \
	src/agents/agent_onnxruntime.py \
	src/agents/agent_openvino.py \
	src/agents/agent_pytorch.py \
	src/agents/agent_trtexec.py
agentspackagedir = $(agentsdir)/benanza_agent
dist_agentspackage_DATA = \
	src/agents/benanza_agent/__init__.py \
	src/agents/benanza_agent/canary.py \
	src/agents/benanza_agent/compare.py \
	src/agents/benanza_agent/files.py \
	src/agents/benanza_agent/inputs.py \
	src/agents/benanza_agent/kineto.py \
	src/agents/benanza_agent/machine.py \
	src/agents/benanza_agent/measure.py \
	src/agents/benanza_agent/onnx_graph.py \
	src/agents/benanza_agent/package.py \
	src/agents/benanza_agent/pages.py \
	src/agents/benanza_agent/request.py \
	src/agents/benanza_agent/trace.py \
	src/agents/benanza_agent/trial.py \
	src/agents/benanza_agent/trt_layers.py \
	src/agents/benanza_agent/trt_program.py \
	src/agents/benanza_agent/wire.py \
	src/agents/benanza_agent/worker.py
