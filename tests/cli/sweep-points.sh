# the points of a file: as those of a grid, in any order, for any number of threads and parts; what is refused
sweep() { "$MBGRAD" sweep five-bar --end 0.1 "$@"; }
sweep --vary L01=2,2.2,2.5 --vary k1=80,120 --out grid.csv
printf 'L01,k1\n2,80\n2,120\n2.2,80\n2.2,120\n2.5,80\n2.5,120\n' >points.csv
sweep --points points.csv | cmp - grid.csv && echo "the points of a grid"
sweep --points points.csv --ensemble --jobs 2 | cmp - grid.csv && echo "four at a time"
for i in 1 2 3 4; do sweep --points points.csv --records r --shard $i/4 2>/dev/null; done
"$MBGRAD" merge r | cmp - grid.csv && echo "four parts"
{ head -n 1 points.csv && tail -n 6 points.csv | tac && tail -n 6 points.csv; } >other.csv
sweep --points other.csv --ensemble | sort -u | cmp - <(sort grid.csv) && echo "another order, and twice"
sed 's/$/\r/' points.csv >crlf.csv
sweep --points crlf.csv | cmp - grid.csv && echo "other line ends"
{ printf '\357\273\277' && cat points.csv && echo; } >mark.csv
sweep --points mark.csv | cmp - grid.csv && echo "a byte order mark, a blank line"
sweep --points points.csv --plot plot.svg >/dev/null && grep -c '<svg' plot.svg
cut -d, -f1,2 grid.csv | sed 's/k1/zz/' >name.csv
printf 'L01\n' >none.csv
: >empty.csv
printf '2\n2.2\n' >names.csv
printf 'L01,k1\n2,80\nnan,80\n' >nan.csv
printf 'L01,k1\n2,80\n2.1,\n' >hole.csv
printf 'L01,k1\n2\n' >short.csv
printf 'L01\nlong\n' >text.csv
printf 'L01,L01\n2,2\n' >twice.csv
for file in name none empty names nan hole short text twice missing; do
  sweep --points $file.csv
  echo "$file: status $?"
done
sweep --points .
sweep --points points.csv --vary L01=2,3
sweep --points points.csv --random 3
sweep --points name.csv --records r --resume
sed 1,2d points.csv | sed '1i L01,k1' >fewer.csv
sweep --points fewer.csv --records r --resume
# samples of uncertainty in vectors
sample() { "$MBGRAD" uncertainty five-bar --spread L01=0.01 --spread k1=1 --first-order --end 0.1 --samples 10 "$@"; }
sample --out one.csv >one && sample --ensemble --jobs 2 --out four.csv >four && cmp one four && cmp one.csv four.csv && echo "samples"
