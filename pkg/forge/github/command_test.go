package github

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// said is what a command comes to, short.
func said(text string) []string {
	var all []string
	for _, c := range Commands(text, "/backburner") {
		one := string(c.Verb)
		if c.Verb == VerbUnknown {
			one = "unknown(" + c.Line + ")"
		}
		if c.Question != "" {
			one += "[" + c.Question + "]"
		}
		if c.Text != "" {
			one += ": " + c.Text
		}
		all = append(all, one)
	}
	return all
}

func TestCommands(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "Please start this.", nil},
		{"every verb", "/backburner start\n/backburner plan\n/backburner approve\n/backburner hold\n/backburner resume\n/backburner review\n/backburner prepare-for-merge\n/backburner merge\n/backburner cancel\n/backburner status\n/backburner help",
			[]string{"start", "plan", "approve", "hold", "resume", "review", "prepare-for-merge", "merge", "cancel", "status", "help"}},
		{"alone", "/backburner", []string{"help"}},
		{"prepare is short for it", "/backburner prepare", []string{"prepare-for-merge"}},
		{"case and spaces", "/Backburner  \tMERGE  \r\n", []string{"merge"}},
		{"words before and after", "Looks good.\n\n/backburner approve\n\nThanks!", []string{"approve"}},
		{"answer", "/backburner answer use euro", []string{"answer: use euro"}},
		{"answer to one question", "/backburner answer q2: use euro", []string{"answer[q2]: use euro"}},
		{"answer over lines", "/backburner answer\nuse euro\n\n```\nand /backburner code\n/backburner merge\n```\n", []string{"answer: use euro\n\n```\nand /backburner code\n/backburner merge\n```"}},
		{"answer until the next command", "/backburner answer use euro\nalways\n/backburner resume\nbye", []string{"answer: use euro\nalways", "resume"}},
		{"retry with words", "/backburner retry take the\nother way", []string{"retry: take the\nother way"}},
		{"skip", "/backburner skip tracker\nthanks", []string{"skip: tracker"}},
		{"hold with a reason", "/backburner hold freeze until monday", []string{"hold: freeze until monday"}},
		{"unknown", "/backburner dance now", []string{"unknown(/backburner dance now): dance"}},
		{"twice the same is once", "/backburner merge\n/backburner  merge", []string{"merge"}},
		{"not at the start of a line", "do /backburner merge\n - /backburner merge\n\t/backburner merge\n /backburner merge", nil},
		{"another command", "/backburnerx merge\n/backburner-merge", nil},
		{"quoted", "> /backburner merge\n>/backburner merge\n\n> > /backburner merge", nil},
		{"fenced", "```\n/backburner merge\n```\n~~~sh\n/backburner merge\n~~~", nil},
		{"fence that never ends", "```\n/backburner merge", nil},
		{"fence in a fence", "````\n```\n/backburner merge\n```\n/backburner merge\n````\n/backburner hold", []string{"hold"}},
		{"another fence does not end it", "```\n~~~\n/backburner merge\n```\n/backburner hold", []string{"hold"}},
		{"a longer fence ends it", "```\n/backburner merge\n`````\n/backburner hold", []string{"hold"}},
		{"fence with words does not end it", "```\n``` x\n/backburner merge\n```\n", nil},
		{"indented fence", "  ```\n/backburner merge\n   ```\n/backburner hold", []string{"hold"}},
		{"code on one line is no fence", "``` /backburner merge ```\n/backburner hold", []string{"hold"}},
		{"hidden", "<!--\n/backburner merge\n-->\n/backburner hold", []string{"hold"}},
		{"hidden to the end", "text <!-- a --> b <!--\n/backburner merge", nil},
		{"comment in code on a line is none", "what does `<!--` or ``a ` <!--`` do?\n/backburner hold", []string{"hold"}},
		{"comment behind code", "`a` <!--\n/backburner merge", nil},
		{"comment behind a backtick", "a ` <!--\n/backburner merge", nil},
		{"comment in code is none", "```\n<!--\n```\n/backburner hold", []string{"hold"}},
		{"hidden line that ends and begins", "<!--\n--> x <!--\n/backburner merge\n-->", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := said(tc.text); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestCommandPrefix(t *testing.T) {
	if got := Commands("@acme/bot merge\n/backburner merge", "@acme/bot"); len(got) != 1 || got[0].Verb != VerbMerge {
		t.Errorf("got %+v", got)
	}
	if got := Commands("merge\n", ""); got != nil {
		t.Errorf("without a prefix every line is a command: %+v", got)
	}
}

// What changes around a command does not make it another one; what it asks does.
func TestCommandIdentity(t *testing.T) {
	hash := func(text string) string { return Commands(text, "/backburner")[0].Hash() }
	if hash("/backburner merge") != hash("LGTM\n\n/backburner   merge\nthanks") {
		t.Error("an edit beside the command made it another one")
	}
	for _, pair := range [][2]string{
		{"/backburner merge", "/backburner hold"},
		{"/backburner answer a", "/backburner answer b"},
		{"/backburner answer\na", "/backburner answer\nb"},
		{"/backburner dance", "/backburner sing"},
	} {
		if hash(pair[0]) == hash(pair[1]) {
			t.Errorf("%q and %q are one command", pair[0], pair[1])
		}
	}
}

// longest are comments of the most that GitHub takes, each hard on somebody who reads
// a part of it again and again.
var longest = map[string]string{
	"commands": strings.Repeat("/backburner\n", 5400),
	"answer":   "/backburner answer this\n" + strings.Repeat("\n", 65000),
	"answers":  strings.Repeat("/backburner answer x\n", 3200),
	"code":     strings.Repeat("` `` ", 13000),
	"fences":   strings.Repeat("```\n", 16000),
	"comments": strings.Repeat("<!-- -->", 8000),
	"tags":     strings.Repeat("<", 65000),
}

// What a comment costs grows with its length, and not with the square of that.
func TestCommandsOfLongComments(t *testing.T) {
	cost := func(text string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Commands(text, "/backburner")
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for name, text := range longest {
		half, whole := cost(text[:len(text)/2]), cost(text)
		if whole > 3*half+1<<16 {
			t.Errorf("%s: half of it costs %d bytes, all of it %d", name, half, whole)
		}
	}
}

func BenchmarkCommands(b *testing.B) {
	for name, text := range longest {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Commands(text, "/backburner")
			}
		})
	}
}

func FuzzCommands(f *testing.F) {
	for _, seed := range []string{"/backburner merge", "```\n/backburner merge\n```", "> /backburner x", "<!--\n/backburner\n-->", "/backburner answer q1: a\n\nb\n/backburner hold", "~~~\r\n/backburner\r\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		commands := Commands(text, "/backburner")
		lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
		for _, c := range commands {
			found := false
			for _, line := range lines {
				found = found || len(line) >= 11 && strings.EqualFold(line[:11], "/backburner")
			}
			if !found {
				t.Fatalf("%q has no line that begins a command, but %+v", text, c)
			}
		}
		quoted := "> " + strings.ReplaceAll(text, "\n", "\n> ")
		if got := Commands(quoted, "/backburner"); len(got) > 0 {
			t.Fatalf("quoted, %q has %+v", text, got)
		}
		if !strings.Contains(text, "~~~") {
			if got := Commands("~~~\n"+text, "/backburner"); len(got) > 0 {
				t.Fatalf("in a code block, %q has %+v", text, got)
			}
		}
	})
}
