# SPDX-License-Identifier: Apache-2.0
# Included by ../../Makefile.

WORKER_TESTS := $(TEST_OUT)/test-objects $(TEST_OUT)/test-frame
WORKER_TEST_CC := $(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -Iworker $(SANITIZE)

.PHONY: check-worker
check: check-worker
check-worker: $(WORKER_TESTS)
	@failed=0; for test in $^; do $$test || failed=1; done; exit $$failed

# What takes a hostile program's records apart, under sanitizers.
$(WORKER_TESTS): $(TEST_OUT)/test-%: worker/tests/test_%.c worker/objects.c worker/frame.c \
		$(wildcard worker/*.h) Makefile | rooms
	@mkdir -p $(TEST_OUT)
	$(WORKER_TEST_CC) -o $@ $(filter %.c,$^) -lcmocka
