# summary of a run; without the time it took
"$MBGRAD" simulate quarter-car | sed -E 's/, [0-9.e-]+ s$/, TIME/'
"$MBGRAD" simulate quarter-car --signals F,a --end 0.5 --set p1=50000 --formulation dae | sed -E 's/, [0-9.e-]+ s$/, TIME/'
# values at an interval, interpolated and at nodes
"$MBGRAD" simulate quarter-car --signals length --interval 0.25 --out - | sed -E 's/([0-9]\.[0-9]{6})[0-9]*/\1/g'
"$MBGRAD" simulate quarter-car --signals length --interval 0.3333 --end 0.4 --out - | sed -E 's/([0-9]\.[0-9]{6})[0-9]*/\1/g'
"$MBGRAD" simulate quarter-car --quiet
