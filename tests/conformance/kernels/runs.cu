// SPDX-License-Identifier: Apache-2.0
/*
 * Kernels whose effects tell in which order they ran: each makes x of 3 x + something. One thread.
 */
extern "C" {

extern __shared__ unsigned int memory[];

__global__ void nothing(void) {
}

__global__ void step(unsigned int *x, unsigned int n) {
    *x = 3 * *x + n;
}

struct wide {
    unsigned int words[500];
};

__global__ void step_wide(struct wide w, unsigned int *x) {
    *x = 3 * *x + w.words[0] + w.words[499];
}

/* As much shared memory as the launch gave it. */
__global__ void step_shared(unsigned int *x) {
    unsigned int bytes;

    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    memory[bytes / 4 - 1] = bytes;
    *x = 3 * *x + memory[bytes / 4 - 1];
}

/* Local memory that no registers can be. */
__global__ void step_local(unsigned int *x, unsigned int n, unsigned int at) {
    volatile unsigned int words[5000];

    for (unsigned int i = 0; i < 5000; i += 100)
        words[i + at] = n + i;
    *x = 3 * *x + words[4900 + at];
}

__global__ void meet(volatile unsigned int *mine, const volatile unsigned int *other) {
    *mine = 1;
    while (!*other) {
    }
}

__global__ void store(unsigned int *to, unsigned int value) {
    *to = value;
}
}
