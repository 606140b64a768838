// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include "checks.h"
#include "report.h"

static void check_library(const char *name) {
    void *found = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    struct link_map *map;

    if (!found) {
        report_problem("ldconfig, or start programs with `vcuda run'",
                       "programs do not find %s: %s", name, dlerror());
        return;
    }
    if (dlinfo(found, RTLD_DI_LINKMAP, &map))
        map = NULL;
    if (dlsym(found, "vcuda_library"))
        report_ok("programs find %s of vcuda: %s", name, map ? map->l_name : "?");
    else if (!access("/dev/nvidiactl", F_OK))
        report_note("programs find this machine's own %s, %s; `vcuda run' starts them with ours",
                    name, map ? map->l_name : "?");
    else
        report_problem("remove the other one from LD_LIBRARY_PATH or /etc/ld.so.conf.d, or start "
                       "programs with `vcuda run'",
                       "programs find another %s first: %s", name, map ? map->l_name : "?");
    dlclose(found);
}

void check_loader(void) {
    check_library("libcuda.so.1");
    check_library("libnvidia-ml.so.1");
}
