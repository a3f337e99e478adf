# ui/stage: what is shown, asked and selected, and the tables of keys and commands
libui_a_SOURCES += \
	ui/stage/keys.c \
	ui/stage/keys.h \
	ui/stage/keys_man.c \
	ui/stage/lines.c \
	ui/stage/lines.h \
	ui/stage/view.c \
	ui/stage/view.h
