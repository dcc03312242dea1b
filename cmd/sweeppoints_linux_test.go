//go:build linux && (amd64 || arm64)

package cmd

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
)

// sights counts what points were chosen for already, in all scenes.
type sights map[string]int

func (s sights) more(do interference, what string) int {
	key := fmt.Sprint(do, " ", what)
	s[key]++
	return s[key]
}

// points chooses where to interfere, of the changes of a run that was watched (a
// point is known by its kind, as two runs are never quite the same): at
// all of them, for -sweep=every, and else not where it is the same as at another.
func (s sights) points(scene scene, do interference, changes []change) []trial {
	switch do {
	case killTree:
		return s.trees(scene, changes)
	case killTick:
		return s.ticks(scene, changes)
	}
	return s.faults(scene, do, changes)
}

// trees chooses where all is killed. What is left then are files.
//   - When the change before failed, or only made durable what was there, they
//     are those of the point before.
//   - A half-written file that is told by its name alone is there again and again:
//     that of a save, and those of git. It is left once.
func (s sights) trees(scene scene, changes []change) []trial {
	var chosen []trial
	var last change // that changed something
	begun := false
	for i, c := range changes {
		if scene.ends(c) {
			break
		}
		begun = begun || scene.begins(c)
		same := i > 0 && changes[i-1].void
		if begun && !same && halfWritten.MatchString(last.path) {
			same = s.more(killTree, last.kind()) > 1
		}
		if begun && (!same || *sweepFlag == "every") {
			chosen = append(chosen, trial{do: killTree, at: i + 1, kind: c.kind(), nth: c.nth})
		}
		if !c.void {
			last = c
		}
	}
	return chosen
}

var (
	halfWritten = regexp.MustCompile(`/\.[^/]*\.tmp-[^/]*$|\.lock$|/tmp_(obj|pack|idx)_\w+$`)
	variable    = regexp.MustCompile(`\.tmp-\w+|tmp_(obj|pack|idx)_\w+|incoming-\w+|[0-9a-f]{38,}|[0-9]+|/[0-9a-f]{2}(/|$)`)
)

// kind is a change without what differs from run to run, and from one execution to the next.
func (c change) kind() string {
	return c.by + " " + c.name + " " + variable.ReplaceAllString(c.path, "#")
}

// ticks chooses where the tick alone is killed: when something else is alive, for
// else it is the tree. That goes on to its end, or is ended by the kernel, so that
// of the changes of one process the first and the last are taken.
func (s sights) ticks(scene scene, changes []change) []trial {
	var chosen []trial
	first, last := make(map[int]int), make(map[int]int)
	for i, c := range changes {
		if _, ok := first[c.group]; !ok {
			first[c.group] = i
		}
		last[c.group] = i
	}
	begun := false
	for i, c := range changes {
		if scene.ends(c) {
			break
		}
		begun = begun || scene.begins(c)
		same := c.alone || !c.own && i != first[c.group] && i != last[c.group]
		if begun && (!same || *sweepFlag == "every") {
			chosen = append(chosen, trial{do: killTick, at: i + 1, kind: c.kind(), nth: c.nth})
		}
	}
	return chosen
}

// faults chooses calls that fail, each in one of the ways in which it may, in turn.
// Of one kind of call (who does what to which file) as many as there are ways:
// the program is not told apart by why a change failed, nor a save by which of its
// calls did. But every rename fails, for what comes before it is lost then. git and
// supervisors are let fail once at what they do to a file.
func (s sights) faults(scene scene, do interference, changes []change) []trial {
	var chosen []trial
	at := 0
	for _, c := range changes {
		if scene.ends(c) {
			break
		}
		if !c.counts(do) {
			continue
		}
		at++
		ways, had := waysToFail(c.name), s.more(do, c.kind())
		if *sweepFlag != "every" {
			again := had > len(ways) && !strings.HasPrefix(c.name, "rename") || had > 1 && do == failChild
			if again {
				continue
			}
			ways = ways[s.more(do, c.name)%len(ways):][:1]
		}
		for _, errno := range ways {
			chosen = append(chosen, trial{do: do, at: at, kind: c.kind(), nth: c.nth, errno: errno})
		}
	}
	return chosen
}

func waysToFail(call string) []syscall.Errno {
	ways := []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EROFS}
	if call == "openat" || call == "creat" {
		ways = append(ways, syscall.EMFILE)
	}
	return ways
}
