# profile: executions of whole models, from files that other programs wrote, and their match with a plan
noinst_LIBRARIES += libprofile.a
libprofile_a_SOURCES = \
	src/profile/benchmarks.c src/profile/benchmarks.h \
	src/profile/benchmarks_csv.c \
	src/profile/benchmarks_gather.c src/profile/benchmarks_gather.h \
	src/profile/benchmarks_json.c \
	src/profile/calls.c src/profile/calls.h \
	src/profile/lines.c src/profile/lines.h \
	src/profile/kineto.h \
	src/profile/kineto_gather.c \
	src/profile/match.c src/profile/match.h \
	src/profile/match_name.c \
	src/profile/match_order.c \
	src/profile/match_private.h \
	src/profile/profile.c src/profile/profile.h \
	src/profile/profile_cublaslt.c \
	src/profile/profile_cudnn.c \
	src/profile/profile_nsys.c \
	src/profile/profile_onednn.c \
	src/profile/profile_kineto.c \
	src/profile/profile_openvino.c \
	src/profile/profile_onnx.c \
	src/profile/profile_onnxruntime.c \
	src/profile/profile_row.c \
	src/profile/profile_trtexec.c \
	src/profile/profile_trtexec_log.c \
	src/profile/profile_trtexec_times.c \
	src/profile/reader.h \
	src/profile/scan.c src/profile/scan.h \
	src/profile/scope.c src/profile/scope.h \
	src/profile/stream.c src/profile/stream.h \
	src/profile/timeline.c src/profile/timeline.h \
	src/profile/trtexec.h

check_PROGRAMS += tests/unit/t_match
tests_unit_t_match_LDADD = $(below_profile)
check_PROGRAMS += tests/unit/t_profile
tests_unit_t_profile_LDADD = $(below_profile)
check_PROGRAMS += tests/unit/t_profile_trtexec
tests_unit_t_profile_trtexec_LDADD = $(below_profile)
check_PROGRAMS += tests/unit/t_profile_logs
tests_unit_t_profile_logs_LDADD = $(below_profile)
check_PROGRAMS += tests/unit/t_profile_nsys
tests_unit_t_profile_nsys_LDADD = $(below_profile)
check_PROGRAMS += tests/unit/t_profile_kineto
tests_unit_t_profile_kineto_LDADD = $(below_profile)
check_PROGRAMS += tests/unit/t_profile_hostile
tests_unit_t_profile_hostile_LDADD = $(below_profile)
check_PROGRAMS += tests/unit/t_benchmarks
tests_unit_t_benchmarks_LDADD = $(below_profile)
