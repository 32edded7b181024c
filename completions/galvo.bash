# bash completion for galvo; made by `galvo completions bash`
_galvo() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} opts= dirs= files= i
	COMPREPLY=()
	for ((i = 2; i < COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" = -- ]; then _command_offset $((i + 1)); return; fi
	done
	case ${COMP_WORDS[1]} in
	record)
		opts='--config --output --force --pid --all --for --hz --core-hz --disk-hz --disk --follow --pss --threads --no-kernel-events --flush --budget --root --no-gpu --gpu-telemetry-hz --gpu-counters --gpu-hz --gpus --report --quiet --help'
		dirs=' --output -o --root'
		files=' --config -c' ;;
	report)
		opts='--by --json --help'
		dirs=' operand'
		files='' ;;
	view)
		opts='--output --no-open --max-size --detail --precision --align --title --help'
		dirs=' operand'
		files=' --output -o' ;;
	plot)
		opts='--format --gpu-only --list --output --panel-height --panels --range --theme --title --width --help'
		dirs=''
		files=' --output -o operand' ;;
	serve)
		opts='--live --pid --output --port --listen --no-open --help'
		dirs=' --output -o operand'
		files='' ;;
	check)
		opts='--repair --quiet --help'
		dirs=' --repair operand'
		files='' ;;
	doctor)
		opts='--json --output --root --help'
		dirs=' --output -o --root'
		files='' ;;
	region)
		opts='--help'
		dirs=''
		files='' ;;
	mark)
		opts='--help'
		dirs=''
		files='' ;;
	config)
		opts='--help'
		dirs=''
		files=' operand' ;;
	metrics)
		opts='--json --catalog --gpu --chip --suffixes --check --help'
		dirs=''
		files='' ;;
	completions)
		opts='--help'
		dirs=''
		files='' ;;
	help)
		opts='--help'
		dirs=''
		files='' ;;
	version)
		opts='--help'
		dirs=''
		files='' ;;
	esac
	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W 'record report view plot serve check doctor region mark config metrics completions help version' -- "$cur"))
	elif [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$opts" -- "$cur"))
	elif [[ " $files " == *" $prev "* || " $files " == *' operand '* ]]; then
		COMPREPLY=($(compgen -f -- "$cur"))
	elif [[ " $dirs " == *" $prev "* || " $dirs " == *' operand '* ]]; then
		COMPREPLY=($(compgen -d -- "$cur"))
	fi
}
complete -F _galvo galvo
