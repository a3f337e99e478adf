# drive: runners as processes, and the queue of what they measure
noinst_LIBRARIES += libdrive.a
libdrive_a_SOURCES = \
	src/drive/agent.c src/drive/agent.h \
	src/drive/eta.c src/drive/eta.h \
	src/drive/gather.c src/drive/gather.h \
	src/drive/link.c src/drive/link.h \
	src/drive/planner.c src/drive/planner.h \
	src/drive/queue_ask.c \
	src/drive/queue.c src/drive/queue.h \
	src/drive/queue_device.c \
	src/drive/queue_jobs.c \
	src/drive/queue_list.c \
	src/drive/queue_private.h \
	src/drive/queue_results.c \
	src/drive/queue_status.c \
	src/drive/queue_time.c \
	src/drive/queue_work.c \
	src/drive/queue_worker.c \
	src/drive/records.c src/drive/records.h \
	src/drive/runner_process.c src/drive/runner_process.h \
	src/drive/runner_spawn.c src/drive/runner_spawn.h

check_PROGRAMS += tests/unit/t_queue
tests_unit_t_queue_LDADD = $(below_drive)
check_PROGRAMS += tests/unit/t_workers
tests_unit_t_workers_LDADD = $(below_drive)
check_PROGRAMS += tests/unit/t_eta
tests_unit_t_eta_LDADD = $(below_drive)
check_PROGRAMS += tests/unit/t_planner
tests_unit_t_planner_LDADD = $(below_drive)
check_PROGRAMS += tests/unit/t_records
tests_unit_t_records_LDADD = $(below_drive)
check_PROGRAMS += tests/unit/t_process
tests_unit_t_process_LDADD = $(below_drive)
check_PROGRAMS += tests/unit/t_queue_state
tests_unit_t_queue_state_LDADD = $(below_drive)
EXTRA_PROGRAMS += tests/unit/fake_runner
CLEANFILES += tests/unit/fake_runner$(EXEEXT)
tests_unit_fake_runner_LDADD = $(below_wire)
tests/unit/t_queue.log tests/unit/t_workers.log tests/unit/t_planner.log: tests/unit/fake_runner$(EXEEXT)
check_PROGRAMS += tests/unit/t_agent
tests_unit_t_agent_LDADD = $(below_drive) $(MD_LIBS)
