# bash completion for galvo; made by `galvo completions bash`
_galvo() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} opts= dirs= i
	COMPREPLY=()
	for ((i = 2; i < COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" = -- ]; then _command_offset $((i + 1)); return; fi
	done
	case ${COMP_WORDS[1]} in
	record)
		opts='--output --force --pid --all --for --hz --core-hz --disk-hz --disk --follow --pss --flush --budget --root --report --quiet --help'
		dirs=' --output -o --root' ;;
	report)
		opts='--json --help'
		dirs=''; dirs+=' operand' ;;
	check)
		opts='--repair --quiet --help'
		dirs=' --repair'; dirs+=' operand' ;;
	region)
		opts='--help'
		dirs='' ;;
	mark)
		opts='--help'
		dirs='' ;;
	metrics)
		opts='--json --help'
		dirs='' ;;
	completions)
		opts='--help'
		dirs='' ;;
	help)
		opts='--help'
		dirs='' ;;
	version)
		opts='--help'
		dirs='' ;;
	esac
	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W 'record report check region mark metrics completions help version' -- "$cur"))
	elif [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$opts" -- "$cur"))
	elif [[ " $dirs " == *" $prev "* || " $dirs " == *' operand '* ]]; then
		COMPREPLY=($(compgen -d -- "$cur"))
	fi
}
complete -F _galvo galvo
