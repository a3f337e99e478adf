# manual pages
man_MANS = man/benanza.1 man/benanza-json.5 man/benanza.yaml.5 man/benanza-runner-cpu.1 man/benanza-runner-cuda.1
man_sources = man/benanza.1.in man/benanza-json.5.in man/benanza.yaml.5.in man/benanza-runner-cpu.1.in man/benanza-runner-cuda.1.in
EXTRA_DIST += $(man_sources)
CLEANFILES += $(man_MANS)
$(filter-out man/benanza.1,$(man_MANS)): man/%: man/%.in
	$(AM_V_GEN)$(MKDIR_P) man && sed -e 's|@VERSION[@]|$(VERSION)|g' $< > $@
# its tables come from the program's own
man/benanza.1: man/benanza.1.in benanza$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) man && for t in options whatifs keys glossary; do ./benanza --print-man $$t > man/$$t.tmp || exit 1; done && \
	sed -e 's|@VERSION[@]|$(VERSION)|g' -e '/^@OPTIONS@/{r man/options.tmp' -e 'd;}' -e '/^@WHATIFS@/{r man/whatifs.tmp' \
	-e 'd;}' -e '/^@KEYS@/{r man/keys.tmp' -e 'd;}' -e '/^@GLOSSARY@/{r man/glossary.tmp' -e 'd;}' $(srcdir)/man/benanza.1.in > $@ && rm -f man/*.tmp
