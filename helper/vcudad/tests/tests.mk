# SPDX-License-Identifier: Apache-2.0
# Included by ../../Makefile.

TESTS := vcudad/tests
TEST_OUT := $(OUT)/tests
TEST_PROGRAMS := $(TEST_OUT)/test-vcudad $(TEST_OUT)/probe-worker

export CMOCKA_MESSAGE_OUTPUT := TAP

.PHONY: check check-vcudad
check: check-vcudad
check-vcudad: $(OUT)/vcudad $(TEST_PROGRAMS)
	$(TEST_OUT)/test-vcudad

# Any library that a worker can load in place of a driver.
$(OBJ)/$(TESTS)/%.o: ALL_CFLAGS += -DVCUDAD='"$(OUT)/vcudad"' \
	-DPROBE_WORKER='"$(TEST_OUT)/probe-worker"' \
	-DSOME_LIBRARY='"$(shell $(CC) -print-file-name=libm.so.6)"'

$(TEST_OUT)/probe-worker: $(OBJ)/$(TESTS)/probe_worker.o $(OUT)/libcommon.a
	@mkdir -p $(TEST_OUT)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(SECCOMP_LIBS) -ldl

$(TEST_OUT)/test-vcudad: $(OBJ)/$(TESTS)/test_vcudad.o $(OBJ)/$(TESTS)/daemon.o
	@mkdir -p $(TEST_OUT)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ -lcmocka

-include $(wildcard $(OBJ)/$(TESTS)/*.d)
