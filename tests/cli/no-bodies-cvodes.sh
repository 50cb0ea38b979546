# a model without bodies has nothing to integrate but its criteria; c = a/2
printf '%s' '{"mbgrad": 1, "parameters": {"a": 1}, "signals": {"s": {"type": "expression", "value": "a*t"}},
"criteria": {"c": {"integral": "s"}}, "run": {"end": 1, "step": 0.1}}' >still.json
for integrator in bdf adams dop853; do
  for method in direct continuous; do
    "$MBGRAD" gradient still.json --formulation qr --integrator $integrator --tolerance 1e-6 --method $method |
      grep '^  [ac] '
  done
done
"$MBGRAD" gradient still.json --formulation qr --tolerance 1e-6 --method adjoint | grep '^  [ac] '
"$MBGRAD" simulate still.json --formulation qr --integrator bdf --tolerance 1e-6 --json | grep -c '"time"'
