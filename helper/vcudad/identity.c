// SPDX-License-Identifier: Apache-2.0
#include "identity.h"
#include "log.h"
#include "sandbox.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEFAULT_USER "vcuda"
#define FALLBACK_USER "nobody"

static char drop[32 + VCUDA_SANDBOX_GROUPS_MAX * 11];

/* Groups matter: /dev/nvidia* may be open to group video only. */
static const char *describe(const struct passwd *user) {
    gid_t groups[VCUDA_SANDBOX_GROUPS_MAX];
    int count = VCUDA_SANDBOX_GROUPS_MAX;
    int length = snprintf(drop, sizeof(drop), "--drop=%u:%u", user->pw_uid, user->pw_gid);

    if (getgrouplist(user->pw_name, user->pw_gid, groups, &count) < 0) {
        vcuda_log(VCUDA_LOG_WARNING, "user %s is in more than %d groups; its workers are in none",
                  user->pw_name, VCUDA_SANDBOX_GROUPS_MAX);
        count = 0;
    }
    for (int i = 0; i < count; i++)
        length += snprintf(drop + length, sizeof(drop) - (size_t)length, ",%u", groups[i]);
    return drop;
}

const char *identity_drop(const struct options *options) {
    const char *name = options->worker_user;
    const struct passwd *user;

    if (geteuid() != 0 || !options->sandbox)
        return NULL;
    if (!name)
        name = getpwnam(DEFAULT_USER) ? DEFAULT_USER : FALLBACK_USER;
    user = getpwnam(name);
    if (!user) {
        vcuda_log(VCUDA_LOG_ERROR,
                  "there is no user '%s' for the workers; make one (adduser --system %s) or name "
                  "another with --worker-user",
                  name, DEFAULT_USER);
        exit(1);
    }
    if (!user->pw_uid) {
        vcuda_log(VCUDA_LOG_ERROR, "--worker-user %s is root: workers must not be", name);
        exit(1);
    }
    vcuda_log(VCUDA_LOG_INFO, "workers run as %s (uid %u)", name, user->pw_uid);
    return describe(user);
}
