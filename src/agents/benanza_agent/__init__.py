"""Shared by benanza's agents: the protocol of docs/wire.md, files, measuring, and tracing profiles to a
model.

An agent is two processes. The front speaks the protocol and imports no framework; it starts one worker for
each job. The worker imports the framework, runs the model and ends. So a framework that crashes, hangs or
takes all memory ends one job, heartbeats and `cancel` work at any time, and peak memory is that of one
job.
"""

VERSION = "0.2.0"  # that of benanza (configure.ac)
