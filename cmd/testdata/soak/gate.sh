# A gate of the soak. What it says follows from the seed and the name of its run.
[ ! -e "$SOAK/calm" ] || exit 0
case $(($(printf '%s %s' "$SOAK_SEED" "$BACKBURNER_EXECUTION" | cksum | cut -d' ' -f1) % 12)) in
0) echo red; exit 1 ;;
1) if mkdir "$SOAK/flaky.$BACKBURNER_EXECUTION"; then exit 75; fi ;;
2) echo dirt >>file0.txt ;;
3) sleep 300 & wait ;;
4) setsid sleep 300 & ;;
esac
