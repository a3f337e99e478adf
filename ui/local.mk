# ui: the explorer
noinst_LIBRARIES += libui.a
libui_a_SOURCES = \
	ui/app.c ui/app.h \
	ui/app_agent.c ui/app_agent.h \
	ui/app_device.c \
	ui/app_draw.c \
	ui/app_facts.c \
	ui/app_header.c \
	ui/app_panes.c \
	ui/app_places.c \
	ui/app_private.h \
	ui/app_prompt.c \
	ui/app_run.c \
	ui/app_real.c ui/app_real.h \
	ui/app_say.c ui/app_say.h \
	ui/canvas.c ui/canvas.h \
	ui/canvas_svg.c \
	ui/detail.h \
	ui/detail_results.c \
	ui/keys.c ui/keys.h \
	ui/lanes.c ui/lanes.h \
	ui/term.c ui/term.h \
	ui/view.h \
	ui/view_advice.c \
	ui/view_detail.c \
	ui/view_devices.c \
	ui/view_doctor.c \
	ui/view_help.c \
	ui/view_layers.c \
	ui/view_problems.c \
	ui/view_what_if.c
libui_a_CFLAGS = $(AM_CFLAGS) $(NCURSES_CFLAGS)

# session and queue are stand-ins of the fixture
ui_fixture = tests/unit/ui_fixture.c
check_PROGRAMS += tests/unit/t_canvas
tests_unit_t_canvas_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_lanes
tests_unit_t_lanes_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_keys
tests_unit_t_keys_SOURCES = tests/unit/t_keys.c $(ui_fixture)
tests_unit_t_keys_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_app
tests_unit_t_app_SOURCES = tests/unit/t_app.c $(ui_fixture)
tests_unit_t_app_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_screens
tests_unit_t_screens_SOURCES = tests/unit/t_screens.c $(ui_fixture)
tests_unit_t_screens_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_say
tests_unit_t_say_SOURCES = tests/unit/t_say.c $(ui_fixture)
tests_unit_t_say_LDADD = $(below_ui)
