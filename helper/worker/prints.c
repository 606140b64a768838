// SPDX-License-Identifier: Apache-2.0
#include "prints.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "barrier.h"
#include "image.h"
#include "log.h"
#include "messages.h"

/* Text of one message. */
#define PIECE 32768u
/* Text that was sent is given back to the system in pieces of this many bytes. */
#define GIVE_BACK (1 << 20)

static uint32_t possible;
/* Of each descriptor: how far it was sent, and given back. Of the executor. */
static off_t sent[3], given_back[3];

static int take_over(int fd) {
    int memory = memfd_create("vcuda-prints", MFD_CLOEXEC);
    int r = 0;

    /* Appending: whoever writes, and whoever else has the descriptor, writes at the end. */
    if (memory < 0 || fcntl(memory, F_SETFL, O_APPEND) || dup2(memory, fd) < 0)
        r = -errno;
    if (memory >= 0)
        close(memory);
    return r;
}

int prints_start(void) {
    int log = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    int r;

    if (log < 0)
        return -errno;
    vcuda_log_to(log);
    r = take_over(STDOUT_FILENO);
    return r ? r : take_over(STDERR_FILENO);
}

static bool mentions(const void *text, size_t bytes) {
    return memmem(text, bytes, "vprintf", 7) || memmem(text, bytes, "__assertfail", 12);
}

/* What is compressed may say anything: it is not unpacked just to know. */
static bool fatbin_may_print(const struct cuda_image *image) {
    struct cuda_fatbin_entry e;
    struct cuda_fatbin_iter i;

    if (cuda_fatbin_begin(image->data, image->size, &i) != CUDA_SUCCESS)
        return false;
    while (cuda_fatbin_next(&i, &e) == CUDA_SUCCESS) {
        if (e.compression != CUDA_COMPRESSION_NONE || mentions(e.payload, e.payload_size))
            return true;
    }
    return false;
}

void prints_image(const struct cuda_image *image) {
    if (prints_possible())
        return;
    if (image->kind == CUDA_IMAGE_FATBIN ? fatbin_may_print(image)
                                         : mentions(image->data, image->size))
        vcuda_store_once(&possible, 1);
}

bool prints_possible(void) {
    return vcuda_load_once(&possible);
}

static void give_back(int fd) {
    off_t whole = sent[fd] / GIVE_BACK * GIVE_BACK;

    if (whole > given_back[fd] && !fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                             given_back[fd], whole - given_back[fd]))
        given_back[fd] = whole;
}

static void send_text(int fd) {
    char text[PIECE];
    struct stat st;

    if (fstat(fd, &st))
        return;
    while (sent[fd] < st.st_size) {
        ssize_t n = pread(fd, text, sizeof(text), sent[fd]);

        if (n <= 0)
            return;
        const uint64_t slots[] = {(uint64_t)fd, (uint64_t)n};
        if (!messages_say(VCUDA_MESSAGE_PRINT, slots, 2, text, (uint32_t)n))
            return;
        sent[fd] += n;
    }
    give_back(fd);
}

void prints_send(void) {
    if (!prints_possible())
        return;
    fflush(stdout);
    send_text(STDOUT_FILENO);
    send_text(STDERR_FILENO);
}
