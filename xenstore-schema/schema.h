/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The xenstore tree of a vcuda device, as types. docs/xenstore.md is the same
 * tree in words.
 *
 *   K  /local/domain/0/backend/vcuda/U/0   trusted: dom0 writes, guest U reads
 *   F  /local/domain/U/device/vcuda/0      hostile: guest U may write anything
 *   D  /local/domain/0/vcuda/domain/U      dom0 only
 *
 * Part one needs no Xen: paths, strict parsers, policy files. Part two talks
 * to xenstored and needs libxenstore; a program that calls nothing of part two
 * links without it (the parts are separate objects of libvcuda-schema.a).
 *
 * Functions return 0 (or a count) on success and a negative errno on failure,
 * unless they say otherwise. Nothing here prints.
 */
#ifndef VCUDA_XENSTORE_SCHEMA_H
#define VCUDA_XENSTORE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Limits and defaults ------------------------------------------------ */

/* Highest id that an ordinary domain can have (DOMID_FIRST_RESERVED - 1). */
#define VCUDA_DOMID_MAX 0x7fefu
/* Longest domain name that has a policy; longer ones are shown, never matched. */
#define VCUDA_NAME_MAX 64
#define VCUDA_GPUS_MAX 64
#define VCUDA_GPU_INDEX_MAX 255u
/* Longest text of a gpus node, with its end: VCUDA_GPUS_MAX times "255 ". */
#define VCUDA_GPUS_TEXT_MAX (VCUDA_GPUS_MAX * 4 + 1)
#define VCUDA_PATH_MAX 96

#define VCUDA_SESSIONS_DEFAULT 64u
#define VCUDA_SESSIONS_MAX 4096u
/*
 * A guest's grant table holds 32768 grants by default (max_grant_frames=64,
 * 512 each). A guest whose table is full can no longer bring up a disk or a
 * network card, so 8192 stay for them. More needs a larger table: the host's
 * gnttab_max_frames or the guest's max_grant_frames.
 */
#define VCUDA_PAGES_DEFAULT 24576u
#define VCUDA_PAGES_MAX (1u << 20)
/* 1 PiB: more than any host has, and no sum of bytes overflows. */
#define VCUDA_GPU_MIB_MAX (1u << 30)

#define VCUDA_POLICY_DIR "/etc/vcuda/domains"
/* vcudad keeps <this>/<domain id>: lines "NAME VALUE", VALUE an unsigned number. */
#define VCUDA_COUNTERS_DIR "/run/vcuda/domains"

/* ---- Paths (paths.c) ---------------------------------------------------- */

struct vcuda_path {
    char s[VCUDA_PATH_MAX];
};

/* K/node, F/node and D/node; node == NULL gives the folder itself. */
struct vcuda_path vcuda_path_back(uint32_t domid, const char *node);
struct vcuda_path vcuda_path_front(uint32_t domid, const char *node);
struct vcuda_path vcuda_path_dom0(uint32_t domid, const char *node);
/* /local/domain/U/name, which libxl writes and the guest cannot. */
struct vcuda_path vcuda_path_name(uint32_t domid);

/* ---- Values (values.c) -------------------------------------------------- */

/* xenbus states, by the numbers of xen/io/xenbus.h. */
enum vcuda_state {
    VCUDA_STATE_UNKNOWN = 0, /* also: no node, or nonsense in it */
    VCUDA_STATE_INITIALISING = 1,
    VCUDA_STATE_INIT_WAIT = 2,
    VCUDA_STATE_INITIALISED = 3,
    VCUDA_STATE_CONNECTED = 4,
    VCUDA_STATE_CLOSING = 5,
    VCUDA_STATE_CLOSED = 6,
    VCUDA_STATE_RECONFIGURING = 7,
    VCUDA_STATE_RECONFIGURED = 8,
};

/* The host's GPUs that a domain sees: its device i is the host's index[i]. */
struct vcuda_gpus {
    uint32_t count;
    uint32_t index[VCUDA_GPUS_MAX];
};

/*
 * Strict parsers of untrusted text[0..len), which need not end in NUL: the
 * whole text is the value, without blanks or signs; leading zeros are refused
 * in decimals. Return 0 or -EINVAL (not a value) or -ERANGE (too large);
 * *value is written on success only.
 */
int vcuda_parse_u32(const char *text, size_t len, uint32_t *value);
/* 0 to VCUDA_DOMID_MAX. */
int vcuda_parse_domid(const char *text, size_t len, uint32_t *value);
/* Anything that is not a known state is VCUDA_STATE_UNKNOWN. */
enum vcuda_state vcuda_parse_state(const char *text, size_t len);
/* Indices separated by one blank or one comma each; none twice, at least one. */
int vcuda_parse_gpus(const char *text, size_t len, struct vcuda_gpus *gpus);

/* Writes "0 2" with its NUL; returns its length. sep separates the indices. */
size_t vcuda_format_gpus(const struct vcuda_gpus *gpus, char sep, char text[VCUDA_GPUS_TEXT_MAX]);
/* "Connected" and so on; a static string. */
const char *vcuda_state_name(enum vcuda_state state);

/* ---- Policy (policy.c, policy_file.c) ----------------------------------- */

struct vcuda_policy {
    struct vcuda_gpus gpus;
    uint32_t max_sessions;
    uint32_t max_pages;   /* granted pages of 4 KiB, over all sessions */
    uint32_t max_gpu_mib; /* device memory in MiB, over all sessions and GPUs; 0: no limit */
};

/* Where and why a policy was refused. line is 0 where it is about no line. */
struct vcuda_policy_error {
    unsigned line;
    char what[120];
};

/* GPU 0 and the defaults above. */
void vcuda_policy_defaults(struct vcuda_policy *policy);

/*
 * Sets one key (gpus, max-sessions, max-pages, max-gpu-mib) from text.
 * -ENOENT: no such key; -EINVAL or -ERANGE: bad value.
 */
int vcuda_policy_set(struct vcuda_policy *policy, const char *key, const char *text, size_t len);

/*
 * Parses a policy file's text on top of *policy (see vcuda.conf(5)).
 * -EINVAL with *error filled in; *policy is unchanged then.
 */
int vcuda_policy_parse(const char *text, size_t len, struct vcuda_policy *policy,
                       struct vcuda_policy_error *error);

/* The text that vcuda_policy_parse() reads back; its length, or -ENOSPC. */
int vcuda_policy_format(const struct vcuda_policy *policy, char *text, size_t size);

/* Letters, digits and "-_.+:@", no leading dot, 1 to VCUDA_NAME_MAX: safe as a file name. */
bool vcuda_name_ok(const char *name);

/* dir/NAME.conf: -ENOENT where there is none, -EINVAL with *error, or what open() said. */
int vcuda_policy_load(const char *dir, const char *name, struct vcuda_policy *policy,
                      struct vcuda_policy_error *error);
/* Writes or replaces dir/NAME.conf at once (rename), creating dir. */
int vcuda_policy_store(const char *dir, const char *name, const struct vcuda_policy *policy);
int vcuda_policy_remove(const char *dir, const char *name);
/*
 * Names that have a policy, sorted. Returns their number; *names is one
 * allocation with the strings in it: free(*names). No dir counts as no names.
 */
int vcuda_policy_names(const char *dir, char ***names);

/* ---- Part two: xenstored ------------------------------------------------ */

struct xs_handle; /* from xenstore.h; xs_open(0) makes one */

/* The backend's folder, K. Written in dom0 only, hence to be believed. */
struct vcuda_back {
    struct vcuda_policy policy; /* defaults where a node is missing */
    enum vcuda_state state;     /* UNKNOWN: the device is not attached */
    bool online;                /* false: a detach is under way */
    bool offers;                /* the module has written what follows */
    uint32_t min_version, max_version, features;
};

/* The frontend's folder, F. The guest's claims: never an index, never a size. */
struct vcuda_front {
    enum vcuda_state state;
    bool present; /* F/backend exists */
    bool agreed;  /* version and features are there and well formed */
    bool wired;   /* ctl_ring_ref and event_channel are there and well formed */
    uint32_t version, features;
    uint32_t ctl_ring_ref, event_channel;
};

/* What a domain uses now, kept in D by vcudad for `vcudactl list`. */
struct vcuda_usage {
    uint32_t sessions;
    uint32_t pages;
    uint32_t gpu_mib; /* device memory, rounded up */
};

/* read.c. Missing and malformed nodes show in the structure; an error is xenstored's. */
int vcuda_xs_read_back(struct xs_handle *xs, uint32_t domid, struct vcuda_back *back);
int vcuda_xs_read_front(struct xs_handle *xs, uint32_t domid, struct vcuda_front *front);
/* -ENOENT: the domain has no name (yet), -ENAMETOOLONG: cannot have a policy. */
int vcuda_xs_read_name(struct xs_handle *xs, uint32_t domid, char name[VCUDA_NAME_MAX + 1]);
/* Ids that have a folder in the backend, dead domains included. Count; free(*domids). */
int vcuda_xs_attached(struct xs_handle *xs, uint32_t **domids);
/* Ids that have a folder under /local/domain, dom0 left out. Count; free(*domids). */
int vcuda_xs_domains(struct xs_handle *xs, uint32_t **domids);
/* False once a domain is dying, whatever nodes it left. */
bool vcuda_xs_alive(struct xs_handle *xs, uint32_t domid);

/*
 * usage.c. vcudad writes when the numbers change, at most once a second for a
 * domain. -ESRCH: the domain is dead, nothing was written.
 */
int vcuda_xs_write_usage(struct xs_handle *xs, uint32_t domid, const struct vcuda_usage *usage);
/* Removes what is written of all domains: by a vcudad that was killed, or that ends. */
int vcuda_xs_forget_usage(struct xs_handle *xs);
/* -ENOENT: vcudad has written none. */
int vcuda_xs_read_usage(struct xs_handle *xs, uint32_t domid, struct vcuda_usage *usage);

/*
 * attach.c. Creates K and F with permissions in one transaction, in the order
 * that drivers on both sides expect; nothing is left when it fails.
 * -ESRCH: no such domain; -EEXIST: attached already (nothing was changed);
 * -EINPROGRESS: the backend has not let go of a former device within seconds.
 */
int vcuda_xs_attach(struct xs_handle *xs, uint32_t domid, const struct vcuda_policy *policy);

/*
 * Attaches by the policy file for the domain's name. The suffix "--incoming",
 * which xl gives a domain while it migrates in, is ignored.
 * -ENODATA: no policy for that name; -EAGAIN: no name yet, watch
 * vcuda_path_name(); -ECANCELED: an admin detached it, leave it alone;
 * -EINVAL: bad policy, *error says why; else as vcuda_xs_attach().
 */
int vcuda_xs_attach_by_policy(struct xs_handle *xs, uint32_t domid, const char *dir,
                              struct vcuda_policy_error *error);

/*
 * detach.c. Asks both drivers to close (online=0, state=5), waits by a watch
 * for the backend's Closed, and removes K and F. Uses a connection of its own.
 * Remembers in D that an admin wanted this, until the next attach.
 * force: removes K and F when timeout_ms has passed, or at once where it is 0.
 * -ENOENT: nothing is attached; -ETIMEDOUT: still closing, nodes kept.
 */
int vcuda_xs_detach(uint32_t domid, int timeout_ms, bool force);

/*
 * reap.c. Removes K and D of domains that no longer exist (what `xl destroy`
 * leaves). Calls each(domid, arg), which may be NULL, for each. Their number.
 */
int vcuda_xs_reap(struct xs_handle *xs, void (*each)(uint32_t domid, void *arg), void *arg);

/*
 * keeper.c. vcudad's standing duty, on a connection of its own: attach what
 * has a policy when it appears (or gets its name), reap what died. Existing
 * domains are handled too, so a restarted vcudad misses nothing.
 */
enum vcuda_keeper_event {
    VCUDA_KEEPER_ATTACHED,
    VCUDA_KEEPER_REAPED,
    VCUDA_KEEPER_FAILED, /* error: what vcuda_xs_attach_by_policy() returned; why: for a log */
};

typedef void vcuda_keeper_report(enum vcuda_keeper_event event, uint32_t domid, int error,
                                 const char *why, void *arg);

struct vcuda_keeper;

/* dir must outlive the keeper. NULL with errno set on failure. */
struct vcuda_keeper *vcuda_keeper_open(const char *dir, vcuda_keeper_report *report, void *arg);
/* To poll for input. */
int vcuda_keeper_fd(const struct vcuda_keeper *keeper);
/* Handles what is pending without waiting; call it when the descriptor is readable. */
int vcuda_keeper_step(struct vcuda_keeper *keeper);
void vcuda_keeper_close(struct vcuda_keeper *keeper);

#endif
