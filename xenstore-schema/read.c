// SPDX-License-Identifier: Apache-2.0
/* Nodes read into structures. What the guest may write is checked here, once. */
#include "node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A limit that xenstored does not tell is none that is missing. */
static int read_policy(struct xs_handle *xs, uint32_t domid, struct vcuda_policy *policy) {
    static const char *const keys[] = {"gpus", "max-sessions", "max-pages", "max-gpu-mib"};

    vcuda_policy_defaults(policy);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        unsigned len;
        char *text = xs_read(xs, XBT_NULL, vcuda_path_back(domid, keys[i]).s, &len);

        if (!text && errno != ENOENT)
            return -errno;
        if (text)
            vcuda_policy_set(policy, keys[i], text, len);
        free(text);
    }
    return 0;
}

/* Whether xenstored answers at all: only then does a missing node mean anything. */
static int check_store(struct xs_handle *xs) {
    char *text = xs_read(xs, XBT_NULL, "/", NULL);

    free(text);
    return text ? 0 : -errno;
}

int vcuda_xs_read_back(struct xs_handle *xs, uint32_t domid, struct vcuda_back *back) {
    uint32_t online = 0;
    int err = check_store(xs);

    *back = (struct vcuda_back){.online = false};
    if (err)
        return err;
    err = read_policy(xs, domid, &back->policy);
    if (err)
        return err;
    back->state = node_state(xs, XBT_NULL, vcuda_path_back(domid, "state"));
    back->online = !node_u32(xs, XBT_NULL, vcuda_path_back(domid, "online"), &online) && online;
    back->offers =
        !node_u32(xs, XBT_NULL, vcuda_path_back(domid, "min-version"), &back->min_version) &&
        !node_u32(xs, XBT_NULL, vcuda_path_back(domid, "max-version"), &back->max_version) &&
        !node_u32(xs, XBT_NULL, vcuda_path_back(domid, "features"), &back->features);
    return 0;
}

int vcuda_xs_read_front(struct xs_handle *xs, uint32_t domid, struct vcuda_front *front) {
    int err = check_store(xs);

    *front = (struct vcuda_front){.present = false};
    if (err)
        return err;
    front->present = node_exists(xs, XBT_NULL, vcuda_path_front(domid, "backend"));
    front->state = node_state(xs, XBT_NULL, vcuda_path_front(domid, "state"));
    front->agreed = !node_u32(xs, XBT_NULL, vcuda_path_front(domid, "version"), &front->version) &&
                    !node_u32(xs, XBT_NULL, vcuda_path_front(domid, "features"), &front->features);
    front->wired =
        !node_u32(xs, XBT_NULL, vcuda_path_front(domid, "ctl-ring-ref"), &front->ctl_ring_ref) &&
        !node_u32(xs, XBT_NULL, vcuda_path_front(domid, "event-channel"), &front->event_channel);
    return 0;
}

int vcuda_xs_read_name(struct xs_handle *xs, uint32_t domid, char name[VCUDA_NAME_MAX + 1]) {
    unsigned len;
    char *text = xs_read(xs, XBT_NULL, vcuda_path_name(domid).s, &len);
    int err = 0;

    if (!text)
        return -errno;
    if (len == 0)
        err = -ENOENT;
    else if (len > VCUDA_NAME_MAX)
        err = -ENAMETOOLONG;
    else
        memcpy(name, text, len + 1);
    free(text);
    return err;
}

/* The children of path that are domain ids, dom0's left out. */
static int domain_ids(struct xs_handle *xs, const char *path, uint32_t **domids) {
    unsigned count;
    char **children = xs_directory(xs, XBT_NULL, path, &count);
    int found = 0;

    *domids = NULL;
    if (!children)
        return errno == ENOENT ? 0 : -errno;
    *domids = malloc((count + 1) * sizeof(**domids));
    for (unsigned i = 0; *domids && i < count; i++) {
        uint32_t domid;

        if (!vcuda_parse_domid(children[i], strlen(children[i]), &domid) && domid)
            (*domids)[found++] = domid;
    }
    free(children);
    return *domids ? found : -ENOMEM;
}

int vcuda_xs_attached(struct xs_handle *xs, uint32_t **domids) {
    return domain_ids(xs, "/local/domain/0/backend/vcuda", domids);
}

int vcuda_xs_domains(struct xs_handle *xs, uint32_t **domids) {
    return domain_ids(xs, "/local/domain", domids);
}

int noted_domains(struct xs_handle *xs, uint32_t **domids) {
    return domain_ids(xs, "/local/domain/0/vcuda/domain", domids);
}

bool vcuda_xs_alive(struct xs_handle *xs, uint32_t domid) {
    return xs_is_domain_introduced(xs, domid);
}
