# bash completion of backburner. In ~/.bashrc: source <(backburner completion bash)
_backburner() {
	local line
	COMPREPLY=()
	while IFS= read -r line; do
		COMPREPLY+=("${line%%$'\t'*}")
	done < <("${COMP_WORDS[0]/#\~\//$HOME/}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _backburner backburner
