# SPDX-License-Identifier: Apache-2.0
# Included by ../Makefile.

TEST_OUT := $(OUT)/tests
UNIT_TESTS := $(addprefix $(TEST_OUT)/test-,names ranges arena completion)
SANITIZE := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
TEST_CFLAGS := $(filter-out -MMD -MP -fPIC -fvisibility=hidden,$(ALL_CFLAGS))

export CMOCKA_MESSAGE_OUTPUT := TAP

.PHONY: check check-unit
check: check-unit
check-unit: $(UNIT_TESTS)
	@failed=0; for test in $^; do $$test || failed=1; done; exit $$failed

# Each over the one file that it is about.
$(TEST_OUT)/test-%: tests/test_%.c %.c $(wildcard *.h) Makefile tests/tests.mk | rooms
	@mkdir -p $(TEST_OUT)
	$(CC) $(TEST_CFLAGS) $(SANITIZE) -o $@ $< $*.c -lcmocka
