# SPDX-License-Identifier: Apache-2.0
# Included by ../Makefile.

TEST_OUT := $(OUT)/tests
UNIT_TESTS := $(addprefix $(TEST_OUT)/test-,names ranges reserve arena space completion crew descriptor ended md2 \
	message notes params bound pace attributes jit limbo)
SANITIZE := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
TEST_CFLAGS := $(filter-out -MMD -MP -fPIC -fvisibility=hidden,$(ALL_CFLAGS))
CONFORMANCE := $(TOP)/tests/conformance

.PHONY: check check-unit check-process check-command process-rooms
check: check-unit check-process check-command
check-unit: $(UNIT_TESTS)
	@$(TOP)/tools/tap-each $^

# Each over the one file that it is about.
$(TEST_OUT)/test-%: tests/test_%.c %.c $(wildcard *.h) Makefile tests/tests.mk | rooms
	@mkdir -p $(TEST_OUT)
	$(CC) $(TEST_CFLAGS) $(SANITIZE) -o $@ $< $*.c $(TOP)/build/protocol/libvcuda-protocol.a -lcmocka

$(TEST_OUT)/test-bound: tests/test_bound.c bound.c $(addprefix $(TOP)/cuda/,cubin.c image.c fatbin.c) \
		$(wildcard *.h $(TOP)/cuda/*.h) tests/tests.mk | rooms
	@mkdir -p $(TEST_OUT)
	$(CC) $(TEST_CFLAGS) $(SANITIZE) -o $@ $(filter %.c,$^) -lcmocka

$(TEST_OUT)/test-ranges: tests/test_ranges.c ranges.c reserve.c $(wildcard *.h) tests/tests.mk | rooms
	@mkdir -p $(TEST_OUT)
	$(CC) $(TEST_CFLAGS) $(SANITIZE) -o $@ $(filter %.c,$^) -lcmocka

$(TEST_OUT)/test-arena: tests/test_arena.c arena.c space.c $(wildcard *.h) tests/tests.mk | rooms
	@mkdir -p $(TEST_OUT)
	$(CC) $(TEST_CFLAGS) $(SANITIZE) -o $@ $(filter %.c,$^) -lcmocka

$(TEST_OUT)/test-crew: tests/test_crew.c crew.c own_thread.c pace.c $(wildcard *.h) tests/tests.mk | rooms
	@mkdir -p $(TEST_OUT)
	$(CC) $(TEST_CFLAGS) $(SANITIZE) -o $@ $(filter %.c,$^) $(TOP)/build/protocol/libvcuda-protocol.a -lcmocka

$(TEST_OUT)/test-md2: tests/test_md2.c $(TOP)/cuda/export/md2.c $(TOP)/cuda/export/md2.h \
		tests/tests.mk | rooms
	@mkdir -p $(TEST_OUT)
	$(CC) $(TEST_CFLAGS) $(SANITIZE) -o $@ $< $(TOP)/cuda/export/md2.c -lcmocka

# ---- real processes on the simulated GPU --------------------------------------

check-process: all process-rooms $(addprefix $(TEST_OUT)/,ahead client code copies devices graph_copies graph_meets graphs registered ends closes rogue)
	tests/process/run

check-command: all process-rooms
	tests/command/run

process-rooms:
	+$(MAKE) -C $(TOP)/helper all
	+$(MAKE) -C $(TOP)/tests/simgpu all
	+$(MAKE) -C $(CONFORMANCE) $(addprefix $(TOP)/build/conformance/,threads vector_add)

# Their kernels are found from the folder of the conformance programs.
$(addprefix $(TEST_OUT)/,ahead client code copies devices graph_copies graph_meets graphs registered ends): $(TEST_OUT)/%: tests/process/%.c tests/process/cases.h \
		$(CONFORMANCE)/common.h $(CONFORMANCE)/kernels/basics.ptx | $(OUT)/libcuda.so.1
	@mkdir -p $(TEST_OUT)
	cd $(CONFORMANCE) && $(CC) $(TEST_CFLAGS) -I. -o $@ $(CURDIR)/$< -L$(OUT) -lcuda

$(TEST_OUT)/closes: tests/process/closes.c tests/process/cases.h | rooms
	@mkdir -p $(TEST_OUT)
	$(CC) $(TEST_CFLAGS) -o $@ $< -ldl

$(TEST_OUT)/rogue: tests/process/rogue.c $(wildcard $(TOP)/protocol/*.h) Makefile | rooms
	@mkdir -p $(TEST_OUT)
	$(CC) $(TEST_CFLAGS) -o $@ $< $(TOP)/build/protocol/libvcuda-protocol.a
