package store

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/work"
)

func ids(ticks []work.Tick) string {
	var out []string
	for _, t := range ticks {
		out = append(out, t.ID)
	}
	return strings.Join(out, " ")
}

func TestTicks(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	if last, err := s.LastTick(); last != nil || err != nil {
		t.Errorf("%v %v", last, err)
	}
	zone := time.FixedZone("", 14*3600) // days are counted in UTC
	var last work.Tick
	for i := range 5 {
		last = work.Tick{ID: fmt.Sprintf("t%d", i), StartedAt: noon.Add(time.Duration(i) * 10 * time.Hour).In(zone), Outcome: "done",
			Changes: []work.Change{{ID: "x", To: work.Building, Detail: "two\nlines"}}}
		if err := s.AppendTick(last); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.LastTick()
	if err != nil || got.ID != "t4" || !reflect.DeepEqual(got.Changes, last.Changes) {
		t.Errorf("%+v %v", got, err)
	}
	if days, err := s.tickDays(); err != nil || fmt.Sprint(days) != "[2026-11-30 2026-12-01 2026-12-02]" {
		t.Errorf("%v %v", days, err)
	}
	for since, want := range map[time.Time]string{
		{}:                                "t0 t1 t2 t3 t4",
		noon.Add(10 * time.Hour):          "t1 t2 t3 t4",
		noon.Add(11 * time.Hour):          "t2 t3 t4",
		noon.Add(1000 * time.Hour):        "",
		noon.Add(40 * time.Hour).In(zone): "t4",
	} {
		if got, err := s.Ticks(since); err != nil || ids(got) != want {
			t.Errorf("since %v: %s, %v", since, ids(got), err)
		}
	}
}

func TestTickLogsOfACrash(t *testing.T) {
	line := func(id string) string { return `{"id":"` + id + `","started_at":"2026-11-30T12:00:00Z"}` + "\n" }
	long := func(n int) string { return strings.Repeat("x", n) + "\n" }
	for name, c := range map[string]struct{ log, last, all string }{
		"empty":                 {"", "", ""},
		"only newlines":         {"\n\n\n", "", ""},
		"cut short":             {line("a") + line("b") + `{"id":"c","star`, "b", "a b"},
		"cut and repaired":      {line("a") + `{"id":"c` + "\n\n" + line("d"), "d", "a d"},
		"no newline at the end": {line("a") + strings.TrimSpace(line("b")), "b", "a b"},
		"no tick":               {line("a") + "{}\n[]\n7\n", "a", "a"},
		"all garbage":           {strings.Repeat("x\n", 100000), "", ""},
		"behind much garbage":   {line("a") + strings.Repeat("x\n", 100000), "a", "a"},
		"a long line":           {line("a") + long(300000), "a", "a"},
		"a long tick":           {line("a") + line("b"+strings.Repeat("x", 100000)), "b" + strings.Repeat("x", 100000), "a b" + strings.Repeat("x", 100000)},
		"too long a line":       {line("a") + long(maxTickLine) + line("b"), "b", "a b"},
		"nothing but too long":  {long(3 * maxTickLine), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := mustOpen(t, t.TempDir())
			write(t, s.tickFile("2026-11-30"), c.log)
			write(t, s.path("ticks", "zzz.jsonl"), line("not a day"))
			write(t, s.path("ticks", "2026-12-01.jsonl.bak"), line("not a log"))
			last, err := s.LastTick()
			if err != nil || (last == nil) != (c.last == "") || last != nil && last.ID != c.last {
				t.Errorf("last %.40v, %v", last, err)
			}
			all, err := s.Ticks(time.Time{})
			if err != nil || ids(all) != c.all {
				t.Errorf("all %.80s, %v", ids(all), err)
			}
			if err := s.AppendTick(work.Tick{ID: "new", StartedAt: noon}); err != nil {
				t.Fatal(err)
			}
			if last, err := s.LastTick(); err != nil || last == nil || last.ID != "new" {
				t.Errorf("after one more: %.40v, %v", last, err)
			}
		})
	}
}

func TestLastTickOfAnEarlierDay(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	if err := s.AppendTick(work.Tick{ID: "a", StartedAt: noon}); err != nil {
		t.Fatal(err)
	}
	write(t, s.tickFile("2026-12-01"), "cut")
	if last, err := s.LastTick(); err != nil || last == nil || last.ID != "a" {
		t.Errorf("%v %v", last, err)
	}
	if err := os.Symlink("/dev/zero", s.tickFile("2026-12-02")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.LastTick(); err == nil || !strings.Contains(err.Error(), "2026-12-02.jsonl") {
		t.Errorf("%v", err)
	}
}
