# second derivatives across events are refused by name; controlled steps are frozen, and their derivatives proven
"$MBGRAD" gradient bouncing-ball --hessian >out; echo "status $?"
"$MBGRAD" uncertainty bouncing-ball --spread 1% >out; echo "status $?"
"$MBGRAD" uncertainty bouncing-ball --spread 1% --first-order >out; echo "status $?"
"$MBGRAD" gradient five-bar --formulation qr --integrator bdf --hessian >out; echo "status $?"
"$MBGRAD" check five-bar --formulation lie --tolerance 1e-4 --end 1 --gradient --hessian --no-error-estimate | grep -c "second derivatives proven exact"
