// SPDX-License-Identifier: GPL-2.0
/* What the frontend does, for every pair of states. */
#include "case.h"
#include "front_state.h"

#define STOP VCUDA_FRONT_STOP
#define RELEASE VCUDA_FRONT_RELEASE
#define PUBLISH VCUDA_FRONT_PUBLISH
#define START VCUDA_FRONT_START
#define OVER (STOP | RELEASE)

#define STATES 9

/* Columns: the backend's state by its number, Unknown to Reconfigured. */
static const struct {
    int own;
    struct vcuda_front_step expected[STATES];
} table[] = {
    {VCUDA_BUS_INITIALISING,
     {{0, 1}, {0, 1}, {PUBLISH, 1}, {0, 1}, {0, 1}, {0, 6}, {0, 1}, {0, 1}, {0, 1}}},
    {VCUDA_BUS_INITIALISED,
     {{OVER, 6}, {0, 3}, {0, 3}, {0, 3}, {START, 4}, {STOP, 6}, {OVER, 6}, {0, 3}, {0, 3}}},
    {VCUDA_BUS_CONNECTED,
     {{OVER, 6},
      {OVER, 1},
      {OVER | PUBLISH, 1},
      {0, 4},
      {0, 4},
      {STOP, 6},
      {OVER, 6},
      {0, 4},
      {0, 4}}},
    {VCUDA_BUS_CLOSING,
     {{OVER, 6}, {OVER, 1}, {OVER, 6}, {0, 5}, {0, 5}, {STOP, 6}, {OVER, 6}, {0, 5}, {0, 5}}},
    {VCUDA_BUS_CLOSED,
     {{OVER, 6},
      {OVER, 1},
      {OVER | PUBLISH, 1},
      {0, 6},
      {0, 6},
      {STOP, 6},
      {OVER, 6},
      {0, 6},
      {0, 6}}},
};

#define ROWS ((int)(sizeof(table) / sizeof(table[0])))

static struct vcuda_front_step step(int own, int peer) {
    return vcuda_front_step((enum vcuda_bus_state)own, (enum vcuda_bus_state)peer);
}

CASE(every_pair) {
    int row, peer;

    for (row = 0; row < ROWS; row++) {
        for (peer = 0; peer < STATES; peer++) {
            struct vcuda_front_step got = step(table[row].own, peer);

            EXPECT_EQ(got.actions, table[row].expected[peer].actions);
            EXPECT_EQ(got.state, table[row].expected[peer].state);
        }
    }
}

/* Grants end only when the backend cannot have the pages mapped any more. */
CASE(nothing_is_released_while_the_backend_holds_it) {
    int own, peer;

    for (own = -2; own < STATES + 2; own++)
        for (peer = -2; peer < STATES + 2; peer++)
            if (step(own, peer).actions & RELEASE)
                EXPECT_EQ(vcuda_front_peer_holds((enum vcuda_bus_state)peer), 0);
}

/* Publishing again without releasing would lose the pages published before. */
CASE(published_pages_are_not_lost) {
    EXPECT_EQ(step(VCUDA_BUS_INITIALISED, VCUDA_BUS_INIT_WAIT).actions & PUBLISH, 0);
    EXPECT(step(VCUDA_BUS_CONNECTED, VCUDA_BUS_INIT_WAIT).actions & RELEASE);
    EXPECT(step(VCUDA_BUS_CLOSED, VCUDA_BUS_INIT_WAIT).actions & RELEASE);
}

CASE(programs_start_only_when_both_are_ready) {
    int own, peer;

    for (own = -2; own < STATES + 2; own++)
        for (peer = -2; peer < STATES + 2; peer++)
            if (step(own, peer).actions & START)
                EXPECT(own == VCUDA_BUS_INITIALISED && peer == VCUDA_BUS_CONNECTED);
}

/* What the backend's node may hold, but no state does. */
CASE(numbers_that_are_no_state) {
    static const int wild[] = {-1, 9, 10, 255, 0x7fffffff, -0x7fffffff - 1};
    int i, own, peer;

    for (i = 0; i < (int)(sizeof(wild) / sizeof(wild[0])); i++) {
        for (own = 2; own < STATES; own++) {
            EXPECT_EQ(step(own, wild[i]).actions, 0);
            EXPECT_EQ(step(own, wild[i]).state, own);
        }
        for (peer = 0; peer < STATES; peer++) {
            EXPECT_EQ(step(wild[i], peer).actions, 0);
            EXPECT(step(wild[i], peer).state == (enum vcuda_bus_state)wild[i]);
        }
        EXPECT_EQ(vcuda_front_peer_holds((enum vcuda_bus_state)wild[i]), 0);
    }
}

#define CASES(X)                                                                                   \
    X(every_pair)                                                                                  \
    X(nothing_is_released_while_the_backend_holds_it)                                              \
    X(published_pages_are_not_lost)                                                                \
    X(programs_start_only_when_both_are_ready)                                                     \
    X(numbers_that_are_no_state)

SUITE(front_state, CASES)
