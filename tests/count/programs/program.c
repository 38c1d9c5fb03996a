/* SPDX-License-Identifier: Apache-2.0
 *
 * A program of Linux whose functions were counted by hand: tests/count/test_programs.py. Functions
 * that are counted to the instruction are written in assembly, below.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGES 4
#define PAGE_BYTES 4096
#define APART __attribute__((noinline))

void six(void);
void down(long depth);
void tail(void);
long asks(void);
void raises(pid_t process);
void handler(int number);
void touches(char *pages);
void spin(long rounds);

#define FUNCTIONS ".globl six, down, tail, asks, raises, handler, touches, spin\n"

#if defined(__x86_64__)
__asm__(".text\n" FUNCTIONS
        ".type six, @function\nsix: nop; nop; nop; nop; nop; ret\n.size six, . - six\n"
        /* 3, and 4 more for each call above it */
        ".type down, @function\ndown: dec %rdi; jz 1f; call down; 1: ret\n.size down, . - down\n"
        ".type tail, @function\ntail: nop; jmp six\n.size tail, . - tail\n"
        ".type asks, @function\nasks: mov $39, %eax; syscall; ret\n.size asks, . - asks\n"
        ".type raises, @function\n"
        "raises: mov $62, %eax; mov $10, %esi; syscall; ret\n.size raises, . - raises\n"
        ".type handler, @function\nhandler: nop; ret\n.size handler, . - handler\n"
        ".type touches, @function\n"
        "touches: movb $1, (%rdi); movb $1, 0x1000(%rdi); movb $1, 0x2000(%rdi)\n"
        "movb $1, 0x3000(%rdi); ret\n.size touches, . - touches\n"
        ".type spin, @function\nspin: dec %rdi; jnz spin; ret\n.size spin, . - spin\n");
#elif defined(__aarch64__)
__asm__(".text\n" FUNCTIONS
        ".type six, @function\nsix: nop; nop; nop; nop; nop; ret\n.size six, . - six\n"
        /* 3, and 6 more for each call above it */
        ".type down, @function\ndown: subs x0, x0, #1; b.eq 1f; str x30, [sp, #-16]!; bl down\n"
        "ldr x30, [sp], #16; 1: ret\n.size down, . - down\n"
        ".type tail, @function\ntail: nop; b six\n.size tail, . - tail\n"
        ".type asks, @function\nasks: mov x8, #172; svc #0; ret\n.size asks, . - asks\n"
        ".type raises, @function\n"
        "raises: mov x8, #129; mov x1, #10; svc #0; ret\n.size raises, . - raises\n"
        ".type handler, @function\nhandler: nop; ret\n.size handler, . - handler\n"
        ".type touches, @function\n"
        "touches: strb w0, [x0]; add x0, x0, #0x1000; strb w0, [x0]; add x0, x0, #0x1000\n"
        "strb w0, [x0]; add x0, x0, #0x1000; strb w0, [x0]; ret\n.size touches, . - touches\n"
        ".type spin, @function\nspin: subs x0, x0, #1; b.ne spin; ret\n.size spin, . - spin\n");
#else
__asm__(".text\n" FUNCTIONS
        ".type six, @function\nsix: nop; nop; nop; nop; nop; ret\n.size six, . - six\n"
        /* 3, and 8 more for each call above it */
        ".type down, @function\ndown: addi a0, a0, -1; beqz a0, 1f; addi sp, sp, -16\n"
        "sd ra, 0(sp); jal down; ld ra, 0(sp); addi sp, sp, 16; 1: ret\n.size down, . - down\n"
        ".type tail, @function\ntail: nop; j six\n.size tail, . - tail\n"
        ".type asks, @function\nasks: li a7, 172; ecall; ret\n.size asks, . - asks\n"
        ".type raises, @function\n"
        "raises: li a7, 129; li a1, 10; ecall; ret\n.size raises, . - raises\n"
        ".type handler, @function\nhandler: nop; ret\n.size handler, . - handler\n"
        ".type touches, @function\n"
        "touches: lui t0, 1; sb a0, 0(a0); add a0, a0, t0; sb a0, 0(a0); add a0, a0, t0\n"
        "sb a0, 0(a0); add a0, a0, t0; sb a0, 0(a0); ret\n.size touches, . - touches\n"
        ".type spin, @function\nspin: addi a0, a0, -1; bnez a0, spin; ret\n.size spin, . - spin\n");
#endif

static jmp_buf place;

APART void jumps(void)
{
    longjmp(place, 1);
}

/* A call in a loop, each of which is left at the same place. */
APART void guarded(void)
{
    for (volatile int i = 0; i < 3; i++) {
        if (setjmp(place) == 0) {
            jumps();
        }
    }
}

APART void *worker(void *unused)
{
    spin(50000);
    return unused;
}

APART void joins(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, worker, NULL) == 0) {
        (void)pthread_join(thread, NULL);
    }
}

APART void sleeps(void)
{
    const struct timespec time = {0, 3000000};

    (void)nanosleep(&time, NULL);
}

/* The child's calls are nobody's. */
APART void forks(void)
{
    const pid_t child = fork();

    if (child == 0) {
        spin(1000);
        _exit(0);
    }
    (void)waitpid(child, NULL, 0);
}

APART void leaves(int status)
{
    exit(status);
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void everything(void)
{
    static int numbers[64];
    char *pages =
        mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)signal(SIGUSR1, handler);
    six();
    down(4);
    tail();
    (void)asks();
    raises(getpid());
    touches(pages);
    touches(pages);
    guarded();
    joins();
    sleeps();
    forks();
    spin(3000000);
    for (int i = 0; i < 64; i++) {
        numbers[i] = i * 37 % 64;
    }
    qsort(numbers, 64, sizeof numbers[0], compare);
    leaves(numbers[5] - 5);
}

/* What FILE and standard input have. */
static void echo(const char *name)
{
    FILE *const files[] = {fopen(name, "r"), stdin};

    for (int i = 0; i < 2; i++) {
        for (int c; files[i] != NULL && (c = getc(files[i])) != EOF;) {
            (void)putchar(c);
        }
    }
    six();
}

int main(int count, char **arguments)
{
    const char *const what = count > 1 ? arguments[1] : "";

    if (strcmp(what, "echo") == 0) {
        echo(arguments[2]);
    } else if (strcmp(what, "crash") == 0) {
        six();
        (void)fprintf(stderr, "no way on\n");
        (void)raise(SIGSEGV);
    } else if (strcmp(what, "forever") == 0) {
        for (;;) {
            six();
            (void)pause();
        }
    } else {
        everything();
    }
    return 0;
}
