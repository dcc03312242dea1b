#compdef backburner
# zsh completion of backburner. In ~/.zshrc, after compinit: source <(backburner completion zsh)
_backburner() {
	local line about
	local -a found
	while IFS= read -r line; do
		about=${line#*$'\t'}
		found+=("${${line%%$'\t'*}//:/\\:}${about:+:$about}")
	done < <("${(Q)words[1]}" complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
	if (( $#found )); then
		_describe -V backburner found
	else
		_files
	fi
}
if [[ $funcstack[1] == _backburner ]]; then
	_backburner # from $fpath: this file is the function
else
	compdef _backburner backburner
fi
