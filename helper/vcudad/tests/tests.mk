# SPDX-License-Identifier: Apache-2.0
# Included by ../../Makefile.

TESTS := vcudad/tests
TEST_OUT := $(OUT)/tests
TEST_PROGRAMS := $(addprefix $(TEST_OUT)/,test-common test-domains test-shares test-codes test-sandbox test-vcudad test-hostile probe-worker)
SANITIZE := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined

.PHONY: check check-vcudad check-session session-rooms
.SECONDARY:
check: check-vcudad check-session
check-vcudad: $(OUT)/vcudad $(TEST_PROGRAMS)
	@$(TOP)/tools/tap-each $(addprefix $(TEST_OUT)/test-,common domains shares codes sandbox vcudad hostile)

# Any library that a worker can load in place of a driver.
$(OBJ)/$(TESTS)/%.o: ALL_CFLAGS += -DVCUDAD='"$(OUT)/vcudad"' \
	-DPROBE_WORKER='"$(TEST_OUT)/probe-worker"' \
	-DSOME_LIBRARY='"$(shell $(CC) -print-file-name=libm.so.6)"'

$(TEST_OUT)/probe-worker: $(OBJ)/$(TESTS)/probe_worker.o $(OUT)/libcommon.a
	@mkdir -p $(TEST_OUT)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(SECCOMP_LIBS) -ldl

# All that parses what another process sent, under sanitizers.
$(TEST_OUT)/test-common: $(TESTS)/test_common.c common/supervise.c common/sandbox.c \
		common/packet.c common/packet.h common/supervise.h common/sandbox.h common/account.h \
		common/owner.h Makefile
	@mkdir -p $(TEST_OUT)
	$(CC) $(filter-out -MMD -MP -DVCUDA_WITH_SECCOMP,$(ALL_CFLAGS)) $(SANITIZE) -o $@ \
		$(filter %.c,$^) -lcmocka

$(TEST_OUT)/test-shares: $(TESTS)/test_shares.c vcudad/shares.c vcudad/closing.c \
		$(addprefix common/,packet.c packet.h share.c share.h) \
		vcudad/closing.h vcudad/loop.h vcudad/shares.h Makefile
	@mkdir -p $(TEST_OUT)
	$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -Ivcudad $(SANITIZE) -o $@ $(filter %.c,$^) -lcmocka

$(TEST_OUT)/test-codes: $(TESTS)/test_codes.c vcudad/codes.c vcudad/codes.h vcudad/owners.h \
		common/share.h Makefile
	@mkdir -p $(TEST_OUT)
	$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -Ivcudad $(SANITIZE) -o $@ $(filter %.c,$^) -lcmocka

$(TEST_OUT)/test-domains: $(TESTS)/test_domains.c vcudad/domains.c vcudad/textfile.c \
		$(addprefix vcudad/,domains.h owners.h pool.h textfile.h xen.h) common/log.h Makefile
	@mkdir -p $(TEST_OUT)
	$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -Ivcudad $(SANITIZE) -o $@ $(filter %.c,$^) -lcmocka

$(TEST_OUT)/test-%: $(OBJ)/$(TESTS)/test_%.o $(OBJ)/$(TESTS)/daemon.o
	@mkdir -p $(TEST_OUT)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ -lcmocka

-include $(wildcard $(OBJ)/$(TESTS)/*.d)

# ---- the real worker on the simulated GPU ------------------------------------

check-session: all session-rooms $(TEST_OUT)/test-session $(TEST_OUT)/test-limit \
		$(TEST_OUT)/cuda-client $(TEST_OUT)/memory-client
	@$(TOP)/tools/tap-each $(addprefix $(TEST_OUT)/test-,session limit)

session-rooms:
	+$(MAKE) -C $(TOP)/userlib all
	+$(MAKE) -C $(TOP)/tests/simgpu all

$(TEST_OUT)/test-session $(TEST_OUT)/test-limit: $(OBJ)/$(TESTS)/program.o
$(patsubst %,$(OBJ)/$(TESTS)/%.o,test_session test_limit program): ALL_CFLAGS += \
	-DWORKER='"$(OUT)/vcuda-worker"' -DDRIVER='"$(TOP)/build/simgpu/libcuda.so.1"' \
	-DCLIENT='"$(TEST_OUT)/cuda-client"' -DMEMORY_CLIENT='"$(TEST_OUT)/memory-client"' \
	-DLIBRARY_DIR='"$(TOP)/build/userlib"'

$(TEST_OUT)/cuda-client $(TEST_OUT)/memory-client: $(TEST_OUT)/%-client: \
		$(OBJ)/$(TESTS)/%_client.o | session-rooms
	$(CC) $(ALL_LDFLAGS) -o $@ $^ -L$(TOP)/build/userlib -lcuda

# ---- in the lab ------------------------------------------------------------
# Programs for tests/lab: `make -C helper lab-programs`, and tests/lab/tests/vcudad.sh runs there.

.PHONY: lab-programs
lab-programs: $(OUT)/vcudad $(TEST_OUT)/probe-worker $(TEST_OUT)/guest-open

$(TEST_OUT)/guest-open: $(TESTS)/lab/guest_open.c
	@mkdir -p $(TEST_OUT)
	$(CC) $(filter-out -MMD -MP -fPIE,$(ALL_CFLAGS)) -static -o $@ $<
