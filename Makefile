# SPDX-License-Identifier: Apache-2.0
#
# The one entry. Each room builds itself (make -C ROOM); this file says in which
# order, installs the results, and leads to the tests. `make help` lists it all.

VERSION := $(shell cat VERSION)
PREFIX ?= /usr/local
DESTDIR ?=

# A room may use what stands before it in this list.
ROOMS := cuda protocol xenstore-schema helper userlib tests/simgpu \
	tests/conformance tests/nvml tests/lab

# Whether a kernel's headers are here to build the modules against.
HEADERS := $(wildcard /lib/modules/*/build/Makefile)

.PHONY: all modules deps demo check bench bench-programs clean help $(ROOMS)
.PHONY: install install-guest install-host install-dkms uninstall

all: $(ROOMS) modules bench-programs

# One room after the other: they use each other's outputs.
.NOTPARALLEL:
$(ROOMS):
	$(MAKE) -C $@ all

modules:
ifeq ($(HEADERS),)
	@echo 'modules: not built, no kernel headers under /lib/modules/*/build'
else
	tools/build-modules
endif

deps:
	tools/install-deps

demo: deps all
	$(MAKE) -C tests/lab demo

# tools/check builds too, so that a broken build is a failed check with a count.
check: deps
	tools/check $(SUITES)

bench-programs:
	$(MAKE) -C bench all

bench:
	$(MAKE) -C bench run

include packaging/install.mk

clean:
	rm -rf build

help:
	@cat tools/help.txt
