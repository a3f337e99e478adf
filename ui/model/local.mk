# ui/model: what the explorer shows: layers, facts, words
noinst_LIBRARIES += libui_model.a
libui_model_a_SOURCES = \
	ui/model/agent.c \
	ui/model/agent.h \
	ui/model/app.c \
	ui/model/app.h \
	ui/model/beside.c \
	ui/model/beside.h \
	ui/model/facts.c \
	ui/model/names.c \
	ui/model/page.c \
	ui/model/page.h \
	ui/model/places.c \
	ui/model/private.h \
	ui/model/real.c \
	ui/model/real.h \
	ui/model/renew.c \
	ui/model/say.c \
	ui/model/say.h \
	ui/model/scopes.c \
	ui/model/scopes.h \
	ui/model/terms.c \
	ui/model/terms.h
