// SPDX-License-Identifier: GPL-2.0
/* What the backend does, for every phase and every state of the frontend. */
#include "case.h"
#include "back_state.h"

#define NOTHING VCUDA_BACK_NOTHING
#define AWAIT VCUDA_BACK_AWAIT
#define CONNECT VCUDA_BACK_CONNECT
#define STOP VCUDA_BACK_STOP
#define RESTART VCUDA_BACK_RESTART
#define CLOSE VCUDA_BACK_CLOSE

/*
 * A frontend that was seen and kept the rules, of a device that is to stay.
 * Columns: Unknown, Initialising, InitWait, Initialised, Connected, Closing,
 * Closed, any other number.
 */
static const int expected[VCUDA_BACK_PHASES][VCUDA_FRONT_STATES] = {
    [VCUDA_BACK_WAITING] = {CLOSE, NOTHING, NOTHING, CONNECT, CONNECT, CLOSE, NOTHING, NOTHING},
    [VCUDA_BACK_RUNNING] = {STOP, RESTART, STOP, NOTHING, NOTHING, STOP, STOP, STOP},
    [VCUDA_BACK_DRAINING] = {NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING,
                             NOTHING},
    [VCUDA_BACK_DRAINED] = {CLOSE, AWAIT, CLOSE, CLOSE, CLOSE, CLOSE, CLOSE, CLOSE},
    [VCUDA_BACK_CLOSED] = {NOTHING, AWAIT, NOTHING, AWAIT, AWAIT, NOTHING, NOTHING, NOTHING},
};

/* Calls what follows for every view and every frontend state, wild ones too. */
#define FOR_ALL(view, front)                                                                       \
    for (i = 0; i < VCUDA_BACK_PHASES * 8; i++)                                                    \
        for (front = -2, view = view_number(i); front < 11; front++, view = view_number(i))

static struct vcuda_back_view view_number(int i) {
    struct vcuda_back_view view = {
        .phase = (enum vcuda_back_phase)(i / 8),
        .front_seen = i & 1,
        .broken = i & 2,
        .online = i & 4,
    };

    return view;
}

CASE(every_phase_and_state) {
    int phase, front;

    for (phase = 0; phase < VCUDA_BACK_PHASES; phase++) {
        for (front = 0; front < VCUDA_FRONT_STATES; front++) {
            struct vcuda_back_view view = {(enum vcuda_back_phase)phase, true, false, true};

            EXPECT_EQ(vcuda_back_next(&view, front), expected[phase][front]);
        }
    }
}

/* Before a live frontend was seen, a missing node only means that it comes later. */
CASE(unknown_before_the_frontend_came) {
    struct vcuda_back_view view;
    int i, front;

    FOR_ALL(view, front) {
        bool seen = view.front_seen;
        int action = vcuda_back_next(&view, front);

        if (front == VCUDA_FRONT_UNKNOWN && !seen) {
            EXPECT_EQ(action, NOTHING);
            EXPECT(!view.front_seen);
        } else {
            EXPECT(view.front_seen);
        }
    }
}

CASE(nothing_happens_while_pages_drain) {
    struct vcuda_back_view view;
    int i, front;

    FOR_ALL(view, front) {
        if (view.phase == VCUDA_BACK_DRAINING)
            EXPECT_EQ(vcuda_back_next(&view, front), NOTHING);
    }
}

/* Closed tells the frontend that it may end its grants: never out of Connected. */
CASE(a_running_connection_is_never_just_closed) {
    struct vcuda_back_view view;
    int i, front;

    FOR_ALL(view, front) {
        if (view.phase == VCUDA_BACK_RUNNING) {
            int action = vcuda_back_next(&view, front);

            EXPECT(action == NOTHING || action == STOP || action == RESTART);
        }
    }
}

/* One that was cut off gets no connection before it has gone and come back. */
CASE(a_broken_frontend_is_not_connected) {
    struct vcuda_back_view view;
    int i, front;

    FOR_ALL(view, front) {
        bool was_broken = view.broken;
        bool gone = front == VCUDA_FRONT_INITIALISING || front == VCUDA_FRONT_CLOSED ||
                    (front == VCUDA_FRONT_UNKNOWN && view.front_seen);
        int action = vcuda_back_next(&view, front);

        EXPECT_EQ(view.broken, was_broken && !gone);
        if (action == CONNECT)
            EXPECT(!was_broken && view.phase == VCUDA_BACK_WAITING &&
                   (front == VCUDA_FRONT_INITIALISED || front == VCUDA_FRONT_CONNECTED));
    }
}

CASE(wild_numbers_are_all_alike) {
    static const int wild[] = {-1, 8, 9, 255, 0x7fffffff, -0x7fffffff - 1};
    int i, w;

    for (i = 0; i < VCUDA_BACK_PHASES * 8; i++) {
        struct vcuda_back_view one = view_number(i);
        int action = vcuda_back_next(&one, VCUDA_FRONT_NONSENSE);

        for (w = 0; w < (int)(sizeof(wild) / sizeof(wild[0])); w++) {
            struct vcuda_back_view other = view_number(i);

            EXPECT_EQ(vcuda_back_next(&other, wild[w]), action);
        }
    }
}

CASE(a_device_that_goes_offline_closes) {
    struct vcuda_back_view view = {VCUDA_BACK_WAITING, true, false, false};

    EXPECT_EQ(vcuda_back_next(&view, VCUDA_FRONT_CLOSED), CLOSE);
    view.online = true;
    EXPECT_EQ(vcuda_back_next(&view, VCUDA_FRONT_CLOSED), NOTHING);
}

/* Does as xenbus.c does; pages have drained as soon as they are asked for. */
static void act(struct vcuda_back_view *view, int action) {
    switch (action) {
    case AWAIT:
        view->phase = VCUDA_BACK_WAITING;
        break;
    case CONNECT:
        view->phase = VCUDA_BACK_RUNNING;
        break;
    case STOP:
    case RESTART:
        view->phase = VCUDA_BACK_DRAINED;
        break;
    case CLOSE:
        view->phase = VCUDA_BACK_CLOSED;
        break;
    default:
        break;
    }
}

/* With a state that stays the backend comes to rest: no loop, whatever the peer says. */
CASE(it_comes_to_rest) {
    struct vcuda_back_view view;
    int i, front, actions;

    FOR_ALL(view, front) {
        for (actions = 0; actions < 5; actions++) {
            int action = vcuda_back_next(&view, front);

            if (action == NOTHING)
                break;
            act(&view, action);
        }
        EXPECT(actions <= 4);
    }
}

CASE(finished_when_nobody_comes_back) {
    struct vcuda_back_view view;
    int i, front;

    FOR_ALL(view, front) {
        bool over = front == VCUDA_FRONT_UNKNOWN || (front == VCUDA_FRONT_CLOSED && !view.online);

        EXPECT_EQ(vcuda_back_finished(&view, front),
                  view.phase == VCUDA_BACK_CLOSED && view.front_seen && over);
    }
}

#define CASES(X)                                                                                   \
    X(every_phase_and_state)                                                                       \
    X(unknown_before_the_frontend_came)                                                            \
    X(nothing_happens_while_pages_drain)                                                           \
    X(a_running_connection_is_never_just_closed)                                                   \
    X(a_broken_frontend_is_not_connected)                                                          \
    X(wild_numbers_are_all_alike)                                                                  \
    X(a_device_that_goes_offline_closes)                                                           \
    X(it_comes_to_rest)                                                                            \
    X(finished_when_nobody_comes_back)

SUITE(back_state, CASES)
