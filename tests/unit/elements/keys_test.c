/* Key tables of all element types: complete, without contradiction, and within the limits of the interface. */
#include "unit/elements/elements.h"

#include "elements/lists.h"
static void assert_keys(const char *type, const char *help, const mbg__key *keys, int nkey) {
  int options = 0;
  assert_true(type && *type && help && *help);
  assert_true(nkey == 0 || keys);
  for (int i = 0; i < nkey; i++) {
    const mbg__key *key = &keys[i];
    assert_true(key->name && *key->name && key->help && *key->help);
    for (int j = 0; j < i; j++) {
      assert_string_not_equal(keys[j].name, key->name);
    }
    const bool fn = key_functions(key) > 0, option = key_choices(key) > 0;
    assert_true(key_attributes(key) > 0 || fn || option);
    assert_true(option || key->unit); /* numbers and functions say their unit */
    assert_int_equal(key->kind == MBG__KEY_CHOICE, key->choices != NULL);
    assert_true(fn || (!key->args && !key->uses)); /* only functions have arguments */
    assert_true(word_count(key->args) <= MBG__FN_ARGS);
    assert_true(!key->required || key->preset == 0); /* a preset would never be used */
    assert_true(!option || (key->preset >= 0 && key->preset < key_choices(key)));
    assert_true(option || key->required || key->sign != MBG__POSITIVE || key->preset > 0);
    assert_true(key->sign == MBG__ANY_SIGN || key->preset >= 0);
    options += option;
  }
  assert_true(options <= OPTIONS);
  assert_true(count_attributes(keys, nkey) <= ATTRIBUTES);
}

/* types[i]->key of all are different */
#define ASSERT_FAMILY(family)                                                                                          \
  do {                                                                                                                 \
    int count;                                                                                                         \
    const mbg__##family##_type *const *types = mbg__##family##_types(&count);                                          \
    assert_true(count > 0);                                                                                            \
    for (int i = 0; i < count; i++) {                                                                                  \
      assert_keys(types[i]->key, types[i]->help, types[i]->keys, types[i]->nkey);                                      \
      for (int j = 0; j < i; j++) {                                                                                    \
        assert_string_not_equal(types[j]->key, types[i]->key);                                                         \
      }                                                                                                                \
    }                                                                                                                  \
  } while (0)

static void tables_are_complete(void **state) {
  (void)state;
  ASSERT_FAMILY(joint);
  ASSERT_FAMILY(law);
  ASSERT_FAMILY(force);
  ASSERT_FAMILY(signal);
  ASSERT_FAMILY(body);
}

/* the loader tells laws and wrenches apart by their keys */
static void laws_and_forces_share_no_key(void **state) {
  (void)state;
  int nlaw, nforce;
  const mbg__law_type *const *laws = mbg__law_types(&nlaw);
  const mbg__force_type *const *forces = mbg__force_types(&nforce);
  for (int i = 0; i < nlaw; i++) {
    for (int j = 0; j < nforce; j++) {
      assert_string_not_equal(laws[i]->key, forces[j]->key);
    }
  }
}

static bool is_coord(const char *key) {
  int count;
  const mbg__coord_type *const *types = mbg__coord_types(&count);
  for (int i = 0; i < count; i++) {
    if (strcmp(types[i]->key, key) == 0) {
      return true;
    }
  }
  return false;
}

static void coordinates_that_are_named_exist(void **state) {
  (void)state;
  int count;
  const mbg__joint_type *const *joints = mbg__joint_types(&count);
  for (int i = 0; i < count; i++) {
    for (int k = 0; k < joints[i]->ncoord; k++) {
      assert_true(is_coord(joints[i]->coords[k].coord));
    }
    for (int k = 0; k < joints[i]->nrow; k++) {
      const mbg__row_spec *row = &joints[i]->rows[k];
      const int nattr = count_attributes(joints[i]->keys, joints[i]->nkey);
      assert_true(row->nentry + row->nattr <= (row->rate ? (int)MBG__NR : (int)MBG__NZ));
      assert_true(row->kernel || row->rate || row->contact || (row->nentry == 1 && row->nattr == 0));
      for (int a = 0; a < row->nattr; a++) {
        assert_true(row->attr[a] < nattr);
      }
    }
  }
  const mbg__law_type *const *laws = mbg__law_types(&count);
  for (int i = 0; i < count; i++) {
    assert_true(is_coord(laws[i]->coord));
  }
}

static void coordinates_fit_their_kernels(void **state) {
  (void)state;
  int count;
  const mbg__coord_type *const *types = mbg__coord_types(&count);
  for (int i = 0; i < count; i++) {
    assert_true(types[i]->help && (strcmp(types[i]->unit, "rad") == 0 || strcmp(types[i]->unit, "m") == 0));
    assert_true(types[i]->value || (types[i]->nentry == 1 && !types[i]->driver));
    assert_true(!types[i]->turns || (types[i]->value && types[i]->driver && types[i]->branch));
    assert_true(!types[i]->value || types[i]->driver); /* q - theta alone is no row of entries */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_are_complete),
      cmocka_unit_test(laws_and_forces_share_no_key),
      cmocka_unit_test(coordinates_that_are_named_exist),
      cmocka_unit_test(coordinates_fit_their_kernels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
