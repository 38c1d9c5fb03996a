/* SPDX-License-Identifier: Apache-2.0
 *
 * What is registered is found by name, and what is not has one sentence.
 */
#include "fake.h"
#include "kadenz/mechanism.h"

static const struct kdz_channel_ops ops;
static const struct kdz_mechanism words = {
    .name = "words", .channel = &ops, .limits = {.max_bytes = 64, .unit_bytes = 4}};
KDZ_MECHANISM(words);

static int start(void **state)
{
    (void)state;
    fake_reset();
    return 0;
}

static void test_a_registered_mechanism_is_found_by_its_whole_name(void **state)
{
    (void)state;
    assert_ptr_equal(kdz_mechanism("words"), &words);
    assert_null(kdz_mechanism("word"));
    assert_null(kdz_mechanism("wordsy"));
    assert_null(kdz_lack("words"));
}

static void test_the_first_name_that_is_lacking_gives_the_sentence(void **state)
{
    (void)state;
    assert_null(kdz_lack(""));
    assert_null(kdz_lack("yield words  sem-counting"));
    assert_string_equal(kdz_lack("yield suspend mutex"), "a fake suspends nobody");
    assert_string_equal(kdz_lack("yield mutex suspend"), "this kernel has no mutex");
}

static void test_threads_need_no_registration(void **state)
{
    (void)state;
    assert_null(kdz_lack("yield threads policy-fifo"));
    assert_null(kdz_mechanism("threads")); /* it has no table */
}

static void test_what_the_system_denies_is_lacking_while_it_does(void **state)
{
    (void)state;
    assert_string_equal(kdz_lack("flags"), "there are no flags today");
    assert_null(kdz_mechanism("flags"));
    fake_denied = NULL;
    assert_null(kdz_lack("flags"));
    assert_non_null(kdz_mechanism("flags"));
}

static void test_the_table_ends(void **state)
{
    size_t count = 0;

    (void)state;
    while (kdz_mechanism_at(count) != NULL) {
        count++;
    }
    assert_int_equal(count, 5);
    assert_null(kdz_mechanism_at(count + 1));
}

static void test_a_limit_is_reported_with_its_number(void **state)
{
    (void)state;
    assert_null(kdz_too_large(&words, 64));
    assert_string_equal(kdz_too_large(&words, 65),
                        "a words of this kernel carries items of at most 64 bytes");
    assert_string_equal(kdz_too_large(&words, 63),
                        "a words of this kernel carries items in units of 4 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_registered_mechanism_is_found_by_its_whole_name, start),
        cmocka_unit_test_setup(test_the_first_name_that_is_lacking_gives_the_sentence, start),
        cmocka_unit_test_setup(test_what_the_system_denies_is_lacking_while_it_does, start),
        cmocka_unit_test_setup(test_the_table_ends, start),
        cmocka_unit_test_setup(test_threads_need_no_registration, start),
        cmocka_unit_test_setup(test_a_limit_is_reported_with_its_number, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
