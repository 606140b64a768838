# SPDX-License-Identifier: Apache-2.0
#
# What goes where.
#
#   install-guest  a Xen guest: libraries, the command vcuda, vcuda-front
#   install-host   dom0: daemon, worker, the admin's command, vcuda-back
#   install-local  a machine with a GPU and without Xen, whose users and containers
#                  share it: daemon, worker, libraries and the command vcuda
#   install        guest and host
#
# Both modules travel as one DKMS source tree, for they share their protocol.
#
# The libraries lie in a folder of their own, PREFIX/lib/vcuda, not among the
# system's: so they can be named (vcuda run, a container's mount), and a file of
# NVIDIA's packages is never overwritten. A guest's loader is led there by
# 000-vcuda.conf: ldconfig reads its files in the order of their names and keeps
# the first library of a name, so that it stands before x86_64-linux-gnu.conf
# and whatever a package of NVIDIA's brings.
# install-host and install-local do not touch the loader: programs of such a
# machine go on to find NVIDIA's library, and so do the workers.
#
# Who is not root installs below PREFIX alone; nothing leads the loader there
# then but `vcuda run'.

LIBDIR := $(PREFIX)/lib/vcuda
BINDIR := $(PREFIX)/bin
SBINDIR := $(PREFIX)/sbin
MANDIR := $(PREFIX)/share/man
DKMSDIR := /usr/src/vcuda-$(VERSION)
LDCONF := /etc/ld.so.conf.d/000-vcuda.conf
UNITDIR := /lib/systemd/system
SYSUSERSDIR := /usr/lib/sysusers.d
COMPLETIONDIR := $(PREFIX)/share/bash-completion/completions

# What is outside of PREFIX: for root, or into a staged tree.
ANYWHERE := $(if $(DESTDIR),yes,$(filter 0,$(shell id -u)))

LIBRARIES := build/userlib/libcuda.so.1 build/userlib/libnvidia-ml.so.1
LINKS := libcuda.so libnvidia-ml.so
SBIN_FILES := build/helper/vcudad build/helper/vcuda-worker \
	build/xenstore-schema/vcudactl
UNITS := vcudad.service vcudad-local.service
DKMS_ROOMS := protocol hypercall xen-front xen-back
# These pages go with the libraries, the others to the host.
GUEST_MAN_PAGES := docs/man/libcuda-vcuda.7 docs/man/vcuda.1
HOST_MAN_PAGES := $(filter-out $(GUEST_MAN_PAGES),$(wildcard docs/man/*.[1-8]))

# $(call install-pages,FILES)
define install-pages
for page in $(1); do \
	install -D -m 644 $$page \
		$(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/} || exit 1; \
done
endef

install: install-guest install-host

install-guest: install-libraries $(if $(ANYWHERE),install-loader install-dkms)

install-libraries:
	install -d $(DESTDIR)$(LIBDIR) $(DESTDIR)$(BINDIR)
	install -m 755 $(LIBRARIES) $(DESTDIR)$(LIBDIR)/
	for link in $(LINKS); do \
		ln -sf $$link.1 $(DESTDIR)$(LIBDIR)/$$link || exit 1; \
	done
	install -m 755 build/userlib/vcuda $(DESTDIR)$(BINDIR)/
	install -D -m 644 packaging/completion/vcuda \
		$(DESTDIR)$(COMPLETIONDIR)/vcuda
	$(call install-pages,$(GUEST_MAN_PAGES))

install-loader:
	install -d $(DESTDIR)$(dir $(LDCONF))
	echo $(LIBDIR) > $(DESTDIR)$(LDCONF)
	$(if $(DESTDIR),,ldconfig)

install-host: install-daemon $(if $(ANYWHERE),install-dkms)
	install -D -m 644 packaging/completion/vcudactl \
		$(DESTDIR)$(COMPLETIONDIR)/vcudactl
	$(if $(ANYWHERE),$(call install-unit,vcudad.service))

install-local: install-daemon install-libraries
	$(if $(ANYWHERE),$(call install-unit,vcudad-local.service))
	$(if $(ANYWHERE),install -D -m 644 packaging/sysusers/vcuda.conf \
		$(DESTDIR)$(SYSUSERSDIR)/vcuda.conf)

# $(call install-unit,NAME)
define install-unit
install -d $(DESTDIR)$(UNITDIR) && \
	sed 's|@SBINDIR@|$(SBINDIR)|' packaging/systemd/$(1) \
		> $(DESTDIR)$(UNITDIR)/$(1)
endef

install-daemon:
	install -d $(DESTDIR)$(SBINDIR)
	install -m 755 $(SBIN_FILES) $(DESTDIR)$(SBINDIR)/
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

# All that any of them put there; policies in /etc/vcuda stay.
uninstall:
	rm -f $(addprefix $(DESTDIR)$(SBINDIR)/,$(notdir $(SBIN_FILES))) \
		$(DESTDIR)$(BINDIR)/vcuda \
		$(addprefix $(DESTDIR)$(COMPLETIONDIR)/,vcuda vcudactl)
	for page in $(HOST_MAN_PAGES) $(GUEST_MAN_PAGES); do \
		rm -f $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/}; \
	done
	rm -rf $(DESTDIR)$(LIBDIR)
	$(if $(ANYWHERE),rm -f $(addprefix $(DESTDIR)$(UNITDIR)/,$(UNITS)) \
		$(DESTDIR)$(SYSUSERSDIR)/vcuda.conf $(DESTDIR)$(LDCONF))
	$(if $(ANYWHERE),rm -rf $(DESTDIR)$(DKMSDIR))
	$(if $(ANYWHERE),$(if $(DESTDIR),,ldconfig))
