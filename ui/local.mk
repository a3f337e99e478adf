# ui: the explorer, in boxes (docs/architecture.md), an archive each
include ui/screen/local.mk
include ui/model/local.mk
include ui/stage/local.mk
include ui/views/local.mk
include ui/frame/local.mk
libui_screen_a_CFLAGS = $(AM_CFLAGS) $(NCURSES_CFLAGS)

# session and queue are stand-ins of the fixture
ui_fixture = tests/unit/ui_fixture.c
check_PROGRAMS += tests/unit/t_canvas
tests_unit_t_canvas_LDADD = $(below_ui_screen)
check_PROGRAMS += tests/unit/t_lanes
tests_unit_t_lanes_LDADD = $(below_ui_screen)
check_PROGRAMS += tests/unit/t_plot
tests_unit_t_plot_LDADD = $(below_ui_screen)
check_PROGRAMS += tests/unit/t_theme
tests_unit_t_theme_LDADD = $(below_ui_screen)
check_PROGRAMS += tests/unit/t_reply
tests_unit_t_reply_LDADD = $(below_ui_screen)
check_PROGRAMS += tests/unit/t_page
tests_unit_t_page_LDADD = $(below_ui_model)
check_PROGRAMS += tests/unit/t_stage
tests_unit_t_stage_LDADD = $(below_ui_stage)
check_PROGRAMS += tests/unit/t_mouse
tests_unit_t_mouse_SOURCES = tests/unit/t_mouse.c $(ui_fixture)
tests_unit_t_mouse_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_keys
tests_unit_t_keys_SOURCES = tests/unit/t_keys.c $(ui_fixture)
tests_unit_t_keys_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_app
tests_unit_t_app_SOURCES = tests/unit/t_app.c $(ui_fixture)
tests_unit_t_app_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_steady
tests_unit_t_steady_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_narrow
tests_unit_t_narrow_SOURCES = tests/unit/t_narrow.c $(ui_fixture)
tests_unit_t_narrow_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_missing
tests_unit_t_missing_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_screens
tests_unit_t_screens_SOURCES = tests/unit/t_screens.c $(ui_fixture)
tests_unit_t_screens_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_frames
tests_unit_t_frames_SOURCES = tests/unit/t_frames.c $(ui_fixture)
tests_unit_t_frames_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_line
tests_unit_t_line_SOURCES = tests/unit/t_line.c $(ui_fixture)
tests_unit_t_line_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_say
tests_unit_t_say_SOURCES = tests/unit/t_say.c $(ui_fixture)
tests_unit_t_say_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_terms
tests_unit_t_terms_SOURCES = tests/unit/t_terms.c $(ui_fixture)
tests_unit_t_terms_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_jump
tests_unit_t_jump_SOURCES = tests/unit/t_jump.c $(ui_fixture)
tests_unit_t_jump_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_scopes
tests_unit_t_scopes_SOURCES = tests/unit/t_scopes.c $(ui_fixture)
tests_unit_t_scopes_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_columns
tests_unit_t_columns_SOURCES = tests/unit/t_columns.c $(ui_fixture)
tests_unit_t_columns_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_queue_view
tests_unit_t_queue_view_SOURCES = tests/unit/t_queue_view.c $(ui_fixture)
tests_unit_t_queue_view_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_reality_view
tests_unit_t_reality_view_SOURCES = tests/unit/t_reality_view.c $(ui_fixture)
tests_unit_t_reality_view_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_views
tests_unit_t_views_SOURCES = tests/unit/t_views.c $(ui_fixture)
tests_unit_t_views_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_charts
tests_unit_t_charts_SOURCES = tests/unit/t_charts.c $(ui_fixture)
tests_unit_t_charts_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_large
tests_unit_t_large_LDADD = $(below_ui)
check_PROGRAMS += tests/unit/t_tour
tests_unit_t_tour_SOURCES = tests/unit/t_tour.c $(ui_fixture)
tests_unit_t_tour_LDADD = $(below_ui)
