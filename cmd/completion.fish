# fish completion of backburner. Put it into ~/.config/fish/completions/backburner.fish
function __backburner_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l found ($words[1] complete -- $words[2..-1] "$current" 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path "$current"
    end
end
complete -c backburner -f -a '(__backburner_complete)'
