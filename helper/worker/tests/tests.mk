# SPDX-License-Identifier: Apache-2.0
# Included by ../../Makefile.

WORKER_TESTS := $(addprefix $(TEST_OUT)/test-,objects frame account addresses handoff untold variables kept bundle capture \
	linker)
WORKER_TEST_CC := $(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -Iworker $(SANITIZE)

.PHONY: check-worker
check: check-worker
check-worker: $(WORKER_TESTS)
	@$(TOP)/tools/tap-each $^

# What takes a hostile program's records apart, under sanitizers.
$(TEST_OUT)/test-objects $(TEST_OUT)/test-frame: worker/objects.c worker/frame.c
$(TEST_OUT)/test-account: $(addprefix common/,account.c log.c packet.c share.c) \
		$(addprefix worker/,memory.c physical.c shared.c)
$(TEST_OUT)/test-addresses: worker/addresses.c
$(TEST_OUT)/test-handoff: common/handoff.c
$(TEST_OUT)/test-variables: worker/variables.c ../cuda/image.c ../cuda/fatbin.c ../cuda/unpack.c
$(TEST_OUT)/test-kept: worker/kept.c
$(TEST_OUT)/test-capture: worker/own_capture.c worker/objects.c ../cuda/cuda_errors.c
$(TEST_OUT)/test-linker: worker/own_linker.c worker/objects.c
$(TEST_OUT)/test-bundle: $(addprefix worker/,bundle.c chains.c objects.c) ../protocol/lock.c \
		../protocol/clock.c
$(TEST_OUT)/test-untold: worker/untold.c ../cuda/cuda_errors.c
$(WORKER_TESTS): $(TEST_OUT)/test-%: worker/tests/test_%.c $(wildcard worker/*.h common/*.h) \
		Makefile | rooms
	@mkdir -p $(TEST_OUT)
	$(WORKER_TEST_CC) -o $@ $(filter %.c,$^) -lcmocka $(UNPACKERS)
