// SPDX-License-Identifier: Apache-2.0
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vcuda.h"

static bool holds_library(const char *folder) {
    char path[PATH_MAX];

    return snprintf(path, sizeof(path), "%s/libcuda.so.1", folder) < (int)sizeof(path) &&
           !access(path, R_OK);
}

const char *libraries_folder(void) {
    /* Beside it, and for PREFIX/bin PREFIX/lib/vcuda. */
    static const char *const places[] = {"", "/../lib/vcuda"};
    static char folder[PATH_MAX + 32];
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (n <= 0)
        return NULL;
    self[n] = 0;
    *strrchr(self, '/') = 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(folder, sizeof(folder), "%s%s", self, places[i]);
        if (holds_library(folder))
            return folder;
    }
    return NULL;
}

bool library_path(const char *name, char *path, size_t size) {
    const char *folder = libraries_folder();

    return folder && snprintf(path, size, "%s/%s", folder, name) < (int)size;
}
