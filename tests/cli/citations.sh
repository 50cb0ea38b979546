# Every citation of the theory and every link between documents resolves; tools/citations names those that do not.
"$SRC/tools/citations" && echo "all citations and links resolve"

mkdir -p tree/docs/theory tree/src
cat >tree/docs/theory/1-spring.md <<'END'
# 1. Springs

## 1. Law

### 1.1 Damping

## 2. Cases

**R1**, a weight.
END
cat >tree/docs/README.md <<'END'
# Manual

[springs](theory/1-spring.md), [law](theory/1-spring.md#1-law), [this](#manual)
[gone](theory/2-gone.md), [no heading](theory/1-spring.md#3-more), theory/2-gone.md
END
cat >tree/src/spring.c <<'END'
/* theory 1, sections 1 and 1.1; theory 1,
   section 2, R1; theory 1, sections 1-2 */
/* theory 1, section 3; theory 2; theory 1,
   sections 2 and 4; theory 1, section 2, R2; theory 1, R1 */
/* theory page 1, theory 1 section 2 */
END
"$SRC/tools/citations" tree
echo "status $?"
