# Completion of command lines, made from the tables of options; pages of the manual from the same
complete_line() { # words of a command line, the last of which is completed
  bash -c 'PATH=$PWD/bin:$PATH; source <(mbgrad completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _mbgrad
    printf "%s\n" "${COMPREPLY[@]}" | sort | tr "\n" " "' bash "$@" | sed 's/ *$//'
  echo
}
mkdir bin && ln -s "$MBGRAD" bin/mbgrad
export PATH=$PWD/bin:$PATH
echo "-- commands, options, values, models, topics"
complete_line mbgrad gr
complete_line mbgrad gradient --m
complete_line mbgrad gradient five-bar --formulation ''
complete_line mbgrad gradient five-bar -f d
complete_line mbgrad gradient quarter-c
complete_line mbgrad help formu
complete_line mbgrad completion z
echo "-- every command and every option is in every script, and in the manual"
mkdir man && mbgrad help --man man
for shell in bash zsh fish; do mbgrad completion $shell >$shell; done
mbgrad help | awk '/^Commands:/ { inside = 1; next } /^$/ { inside = 0 } inside { print $1 }' | while read -r command; do
  for shell in bash zsh fish; do grep -q -w -e "$command" $shell || echo "$shell: no $command"; done
  mbgrad help "$command" | sed '1,/^Options:/d' | grep -o -e '^  .... --[a-z-]*\|^  -., --[a-z-]*\|^      --[a-z-]*' | grep -o -e '--.*' | sort -u | while read -r option; do
    grep -q -e "$option" bash || echo "bash: no $option"
    grep -q -e "$option" zsh || echo "zsh: no $option"
    [ "$option" = --help ] || grep -q -e "-l ${option#--}" fish || echo "fish: no $option"
    sed 's/\\-/-/g' "man/mbgrad-$command.1" | grep -q -e "$option" || echo "man: $command: no $option"
  done
done
bash -n bash
if command -v zsh >/dev/null; then zsh -n zsh; fi
if command -v fish >/dev/null; then fish -n fish; fi
if command -v groff >/dev/null; then for page in man/*.1; do groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null; done; fi
echo "-- short options are the long ones"
mbgrad gradient quarter-car -c psi0 -f lie -e 0.1 -j | sed 's/"seconds[^,}]*[,}]//g; s/"peak[^,}]*[,}]//' >short
mbgrad gradient quarter-car --criteria psi0 --formulation lie --end 0.1 --json | sed 's/"seconds[^,}]*[,}]//g; s/"peak[^,}]*[,}]//' | cmp - short
mbgrad gradient quarter-car -z; echo "status $?"
mbgrad completion tcsh; echo "status $?"
mbgrad help --man nowhere 2>&1; echo "status $?"
exit 0
