# SPDX-License-Identifier: Apache-2.0
#
# What goes where. A guest gets the library and vcuda-front, the host (dom0) the
# daemon, the worker, the admin's command and vcuda-back. Both modules travel as
# one DKMS source tree, for they share their protocol.
#
# Do not put the guest's side on a host: its libcuda.so.1 would stand in front
# of the real driver's.

LIBDIR := $(PREFIX)/lib/vcuda
SBINDIR := $(PREFIX)/sbin
MANDIR := $(PREFIX)/share/man
DKMSDIR := /usr/src/vcuda-$(VERSION)
LDCONF := /etc/ld.so.conf.d/vcuda.conf
UNITDIR := /lib/systemd/system
COMPLETIONDIR := $(PREFIX)/share/bash-completion/completions

SBIN_FILES := build/helper/vcudad build/helper/vcuda-worker \
	build/xenstore-schema/vcudactl
DKMS_ROOMS := protocol hypercall xen-front xen-back
# The library's page goes to guests, the others to the host.
GUEST_MAN_PAGES := docs/man/libcuda-vcuda.7
HOST_MAN_PAGES := $(filter-out $(GUEST_MAN_PAGES),$(wildcard docs/man/*.[1-8]))

# $(call install-pages,FILES)
define install-pages
for page in $(1); do \
	install -D -m 644 $$page \
		$(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/} || exit 1; \
done
endef

install: install-guest install-host

install-guest: install-dkms
	install -d $(DESTDIR)$(LIBDIR) $(DESTDIR)$(dir $(LDCONF))
	install -m 755 build/userlib/libcuda.so.1 $(DESTDIR)$(LIBDIR)/
	ln -sf libcuda.so.1 $(DESTDIR)$(LIBDIR)/libcuda.so
	echo $(LIBDIR) > $(DESTDIR)$(LDCONF)
	$(call install-pages,$(GUEST_MAN_PAGES))
	$(if $(DESTDIR),,ldconfig)

install-host: install-dkms
	install -d $(DESTDIR)$(SBINDIR) $(DESTDIR)$(UNITDIR)
	install -m 755 $(SBIN_FILES) $(DESTDIR)$(SBINDIR)/
	sed 's|@SBINDIR@|$(SBINDIR)|' packaging/systemd/vcudad.service \
		> $(DESTDIR)$(UNITDIR)/vcudad.service
	install -D -m 644 packaging/completion/vcudactl \
		$(DESTDIR)$(COMPLETIONDIR)/vcudactl
	$(call install-pages,$(HOST_MAN_PAGES))

install-dkms:
	install -d $(DESTDIR)$(DKMSDIR)
	sed 's|@VERSION@|$(VERSION)|' packaging/dkms/dkms.conf \
		> $(DESTDIR)$(DKMSDIR)/dkms.conf
	install -m 644 Kbuild $(DESTDIR)$(DKMSDIR)/
	for room in $(DKMS_ROOMS); do \
		install -d $(DESTDIR)$(DKMSDIR)/$$room && \
		install -m 644 $$room/*.[ch] $(DESTDIR)$(DKMSDIR)/$$room/ || \
		exit 1; \
	done

uninstall:
	rm -f $(addprefix $(DESTDIR)$(SBINDIR)/,$(notdir $(SBIN_FILES)))
	rm -f $(DESTDIR)$(UNITDIR)/vcudad.service $(DESTDIR)$(LDCONF) \
		$(DESTDIR)$(COMPLETIONDIR)/vcudactl
	for page in $(HOST_MAN_PAGES) $(GUEST_MAN_PAGES); do \
		rm -f $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/}; \
	done
	rm -rf $(DESTDIR)$(LIBDIR) $(DESTDIR)$(DKMSDIR)
	$(if $(DESTDIR),,ldconfig)
