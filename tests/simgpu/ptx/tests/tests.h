/* SPDX-License-Identifier: Apache-2.0 */
/* All tests of the engine, one line each. */
#ifndef PTX_TESTS_H
#define PTX_TESTS_H

#define ALL_TESTS(T)                                                                               \
    T(test_vector_add)                                                                             \
    T(test_matmul)                                                                                 \
    T(test_reduce)                                                                                 \
    T(test_histogram)                                                                              \
    T(test_em_step)

#define DECLARE(name) void name(void **state);
ALL_TESTS(DECLARE)

#endif
