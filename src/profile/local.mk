# profile: executions of whole models, from files that other programs wrote, and their match with a plan
noinst_LIBRARIES += libprofile.a
libprofile_a_SOURCES = \
	src/profile/profile.c src/profile/profile.h \
	src/profile/bench/benchmarks.c src/profile/bench/benchmarks.h \
	src/profile/bench/benchmarks_csv.c \
	src/profile/bench/benchmarks_gather.c src/profile/bench/benchmarks_gather.h \
	src/profile/bench/benchmarks_json.c \
	src/profile/bench/scope.c src/profile/bench/scope.h \
	src/profile/kinds/kineto.h \
	src/profile/kinds/kineto_gather.c \
	src/profile/kinds/profile_cublaslt.c \
	src/profile/kinds/profile_cudnn.c \
	src/profile/kinds/profile_kineto.c \
	src/profile/kinds/nsys.c src/profile/kinds/nsys.h \
	src/profile/kinds/profile_nsys.c \
	src/profile/kinds/profile_nsys_csv.c \
	src/profile/kinds/profile_onednn.c \
	src/profile/kinds/profile_onnx.c \
	src/profile/kinds/profile_onnxruntime.c \
	src/profile/kinds/profile_openvino.c \
	src/profile/kinds/profile_trtexec.c \
	src/profile/kinds/profile_trtexec_log.c \
	src/profile/kinds/profile_trtexec_times.c \
	src/profile/kinds/trtexec.h \
	src/profile/match/match.c src/profile/match/match.h \
	src/profile/match/match_name.c \
	src/profile/match/match_order.c \
	src/profile/match/match_private.h \
	src/profile/read/calls.c src/profile/read/calls.h \
	src/profile/read/lines.c src/profile/read/lines.h \
	src/profile/read/profile_row.c \
	src/profile/read/reader.h \
	src/profile/read/scan.c src/profile/read/scan.h \
	src/profile/read/stream.c src/profile/read/stream.h \
	src/profile/read/timeline.c src/profile/read/timeline.h

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
