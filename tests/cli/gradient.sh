# every criterion by every parameter; without times
clean() { sed -E 's/[0-9.e-]+ s for/TIME for/g; s/[0-9.]+ MB/SIZE/'; }
"$MBGRAD" gradient quarter-car | clean
"$MBGRAD" gradient quarter-car --method continuous --set p1=50000 --end 0.5 --step 0.01 | clean
"$MBGRAD" gradient overhead-crane --formulation lie --method direct | clean
