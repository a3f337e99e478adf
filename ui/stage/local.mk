# ui/stage: what is shown, asked and selected, and the tables of keys and commands
noinst_LIBRARIES += libui_stage.a
libui_stage_a_SOURCES = \
	ui/stage/actions.c \
	ui/stage/device.c \
	ui/stage/form.c \
	ui/stage/keep.c \
	ui/stage/keys.c \
	ui/stage/keys.h \
	ui/stage/keys_man.c \
	ui/stage/lines.c \
	ui/stage/lines.h \
	ui/stage/models.c \
	ui/stage/pane.c \
	ui/stage/prompt.c \
	ui/stage/show.c \
	ui/stage/spots.c \
	ui/stage/stage.c \
	ui/stage/stage.h \
	ui/stage/view.c \
	ui/stage/view.h
