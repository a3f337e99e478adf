# session: a model, a device and their results, as the commands and the explorer see them
noinst_LIBRARIES += libsession.a
libsession_a_SOURCES = \
	src/session/described.c src/session/described.h \
	src/session/glossary.c src/session/glossary.h \
	src/session/recent.c src/session/recent.h \
	src/session/recorded.c src/session/recorded.h \
	src/session/plans.c \
	src/session/scenarios.c src/session/scenarios.h \
	src/session/seat.c src/session/seat.h \
	src/session/session.c src/session/session.h \
	src/session/session_advice.c src/session/session_advice.h \
	src/session/session_agent.c src/session/session_agent.h \
	src/session/session_analysis.c \
	src/session/session_assume.c \
	src/session/session_besides.c \
	src/session/session_choose.c \
	src/session/session_compared.c \
	src/session/session_device.c \
	src/session/session_devices.c \
	src/session/session_digest.c \
	src/session/session_dims.c \
	src/session/session_doctor.c \
	src/session/session_drop.c \
	src/session/session_executions.c \
	src/session/session_measure.c \
	src/session/session_operators.c \
	src/session/session_parts.c \
	src/session/session_private.h \
	src/session/session_reality.c src/session/session_reality.h \
	src/session/session_refresh.c \
	src/session/session_sweep.c \
	src/session/session_turn.c \
	src/session/session_try.c src/session/session_try.h \
	src/session/type_lack.c src/session/type_lack.h \
	src/session/sizes.c \
	src/session/subject.c \
	src/session/variant.c src/session/variant.h \
	src/session/state.c src/session/state.h

check_PROGRAMS += tests/unit/t_described
tests_unit_t_described_LDADD = $(below_session)
check_PROGRAMS += tests/unit/t_estimates
tests_unit_t_estimates_LDADD = $(below_session)
check_PROGRAMS += tests/unit/t_recent
tests_unit_t_recent_LDADD = $(below_session)
check_PROGRAMS += tests/unit/t_state
tests_unit_t_state_LDADD = $(below_session)
check_PROGRAMS += tests/unit/t_session_reality
tests_unit_t_session_reality_SOURCES = tests/unit/t_session_reality.c tests/unit/ui_fixture.c
tests_unit_t_session_reality_LDADD = $(below_session)
