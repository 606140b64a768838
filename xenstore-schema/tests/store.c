// SPDX-License-Identifier: Apache-2.0
/* Starting xenstored and playing the toolstack towards it. */
#include "store.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

char store_dir[64];
struct xs_handle *store_xs;
static pid_t store_pid;

static void nap(void) {
    nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* Points this process, xenstored and vcudactl at a folder of our own. */
static int make_dir(void) {
    char socket[80], virq[80];

    strcpy(store_dir, "/tmp/vcuda-store-XXXXXX");
    if (!mkdtemp(store_dir))
        return -1;
    snprintf(socket, sizeof(socket), "%s/socket", store_dir);
    snprintf(virq, sizeof(virq), "%s/virq", store_dir);
    setenv("XENSTORED_RUNDIR", store_dir, 1);
    setenv("XENSTORED_ROOTDIR", store_dir, 1);
    setenv("XENSTORED_PATH", socket, 1);
    setenv("NO_HYPERVISOR_DIR", store_dir, 1);
    return mkfifo(virq, 0600);
}

int store_start(void **state) {
    (void)state;
    if (make_dir())
        return -1;
    store_pid = fork();
    if (store_pid == 0) {
        setenv("LD_PRELOAD", getenv("NO_HYPERVISOR"), 1);
        execl(getenv("XENSTORED"), "xenstored", "-N", (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 500 && !store_xs; i++) {
        nap();
        store_xs = xs_open(0);
    }
    return store_xs ? 0 : -1;
}

int store_stop(void **state) {
    char command[96];

    (void)state;
    xs_close(store_xs);
    kill(store_pid, SIGTERM);
    waitpid(store_pid, NULL, 0);
    snprintf(command, sizeof(command), "rm -rf %s", store_dir);
    return system(command);
}

static void mark_alive(uint32_t domid, bool alive) {
    char path[80];
    int fd;

    snprintf(path, sizeof(path), "%s/%u", store_dir, domid);
    if (!alive) {
        assert_int_equal(unlink(path), 0);
        return;
    }
    fd = open(path, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static struct vcuda_path home(uint32_t domid, const char *node) {
    struct vcuda_path path;

    snprintf(path.s, sizeof(path.s), "/local/domain/%u%s", domid, node);
    return path;
}

void domain_create(uint32_t domid, const char *name) {
    struct vcuda_path device = home(domid, "/device");

    mark_alive(domid, true);
    assert_true(xs_mkdir(store_xs, XBT_NULL, device.s));
    assert_int_equal(node_permit(store_xs, XBT_NULL, home(domid, ""), 0, domid), 0);
    assert_int_equal(node_permit(store_xs, XBT_NULL, device, 0, domid), 0);
    if (name)
        store_write(vcuda_path_name(domid), name);
    assert_true(xs_introduce_domain(store_xs, domid, 1, 1));
}

void domain_dies(uint32_t domid) {
    char path[80];
    int fd;

    mark_alive(domid, false);
    snprintf(path, sizeof(path), "%s/virq", store_dir);
    fd = open(path, O_WRONLY);
    assert_int_equal(write(fd, "!", 1), 1);
    close(fd);
    for (int i = 0; i < 500 && vcuda_xs_alive(store_xs, domid); i++)
        nap();
    assert_false(vcuda_xs_alive(store_xs, domid));
}

void domain_destroy(uint32_t domid) {
    assert_true(xs_rm(store_xs, XBT_NULL, home(domid, "").s));
    domain_dies(domid);
}

void store_write(struct vcuda_path path, const char *text) {
    assert_int_equal(node_write(store_xs, XBT_NULL, path, text), 0);
}

void assert_node(struct vcuda_path path, const char *text) {
    char *seen = xs_read(store_xs, XBT_NULL, path.s, NULL);

    if (!text)
        assert_null(seen);
    else if (!seen)
        fail_msg("no node %s", path.s);
    else
        assert_string_equal(seen, text);
    free(seen);
}

void assert_permissions(struct vcuda_path path, const char *expected) {
    char text[128];
    unsigned count, len = 0;
    struct xs_permissions *perms = xs_get_permissions(store_xs, XBT_NULL, path.s, &count);

    assert_non_null(perms);
    for (unsigned i = 0; i < count && len < sizeof(text); i++)
        len += (unsigned)snprintf(text + len, sizeof(text) - len, "%s%c%u", i ? "," : "",
                                  "nrwb"[perms[i].perms & 3], perms[i].id);
    free(perms);
    assert_string_equal(text, expected);
}

int run_vcudactl(const char *arguments, char output[8192]) {
    char command[512];
    size_t len;
    FILE *pipe;

    snprintf(command, sizeof(command), "LD_PRELOAD=%s %s --policy-dir %s/policy %s 2>&1 </dev/null",
             getenv("NO_HYPERVISOR"), getenv("VCUDACTL"), store_dir, arguments);
    pipe = popen(command, "re");
    assert_non_null(pipe);
    len = fread(output, 1, 8191, pipe);
    output[len] = '\0';
    return WEXITSTATUS(pclose(pipe));
}
