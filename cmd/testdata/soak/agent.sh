# An agent of the soak. What it does follows from the seed and the name of its
# run; once the soak is calm it always does what it was asked. It keeps books,
# in the ledger, of what it has written: that must never be lost.
draw() { echo $(($(printf '%s %s %s' "$SOAK_SEED" "$BACKBURNER_EXECUTION" "$1" | cksum | cut -d' ' -f1) % $2)); }
answer() { printf '%s' "$1" >"$BACKBURNER_RESULT_FILE"; }
note() { echo "$1 $2 $BACKBURNER_WORKSTREAM $3" >>"$SOAK/ledger"; }
mine=file$(($(printf %s "$BACKBURNER_WORKSTREAM" | cksum | cut -d' ' -f1) % 8)).txt
case $BACKBURNER_TASK_KIND in implement | verify | reconcile_mainline) writes=1 ;; *) writes= ;; esac

write() {
	[ $# -gt 0 ] || set -- "$mine"
	case $1 in */*) mkdir -p "${1%/*}" ;; esac
	echo "$BACKBURNER_WORKSTREAM $BACKBURNER_EXECUTION" >>"$1"
	note blob "$(git hash-object --no-filters "$1")" "$1"
}
commit() {
	git add -A . && git -c user.name=Agent -c user.email=agent@example.org commit -q -m "$BACKBURNER_EXECUTION" &&
		note commit "$(git rev-parse HEAD)" -
}
reconcile() {
	base=$(sed -n 's/.*--no-commit \([0-9a-f]*\)`.*/\1/p' "$BACKBURNER_PROMPT_FILE" | head -n 1)
	git -c user.name=Agent -c user.email=agent@example.org merge -q --no-ff --no-commit "$base"
	git diff --name-only --diff-filter=U | while read -r f; do
		{ git show ":2:$f"; git show ":3:$f"; } >"$f"
		git add -- "$f"
	done
	git -c user.name=Agent -c user.email=agent@example.org commit -q --no-edit && note commit "$(git rev-parse HEAD)" -
}
succeed() {
	case $BACKBURNER_TASK_KIND in
	plan) answer '{"status":"done","plan":{"summary":"Add to '$mine'.","files":{"modify":["'$mine'"]},"acceptance_criteria":["it is longer"]}}' ;;
	implement) write ;;
	verify) [ "$(draw qa 3)" != 0 ] || [ -e "$SOAK/calm" ] || write ;;
	reconcile_mainline) reconcile ;;
	esac
}

n=$(draw what 30)
[ ! -e "$SOAK/calm" ] || n=0
case $n in
0) succeed ;;
1) [ -z "$writes" ] || write; exit 3 ;;
2) answer '{"status":"needs_input","questions":["Which?"]}' ;;
3) write; sleep 300 ;;                                              # hangs
4) write; answer '{"status": "do' ;;                                # rubbish
5) trap '' TERM INT HUP; write; while :; do sleep 0.2; done ;;      # will not go
6) setsid sh -c 'trap "" TERM; sleep 300' & setsid sleep 300 & succeed ;;
7) succeed; [ -z "$writes" ] || commit ;;
8) succeed; [ -z "$writes" ] || { commit; write; exit 4; } ;;
9) write "mess/$BACKBURNER_EXECUTION/a b.txt"; echo junk >.gitattributes; : >.git/index.lock; succeed ;;
10) write; git checkout -q --detach && commit; : >.git/HEAD.lock ;; # elsewhere
11) write; rm -rf .git ;;
12) succeed; answer '{"status":"blocked","summary":"no way"}' ;;
13) write; kill -KILL "$PPID"; sleep 300 ;;                         # ends its supervisor
14) write nested/x.txt; git init -q nested ;;                       # a repository in the repository
15) write; git checkout -q -b other && commit; git merge -q --no-commit --no-ff HEAD~1 ;;
*) succeed ;;
esac
