package lease

import (
	"strings"
	"testing"
	"time"

	"github.com/backburner-cli/backburner/pkg/proc"
)

var (
	noon = time.Date(2025, 6, 1, 12, 0, 0, 0, time.UTC)
	here = Holder{Version: schema, Host: "box", BootID: "boot", PIDNamespace: "ns", PID: 10, Start: 100, TickID: "t1", Token: 7,
		AcquiredAt: noon, RenewedAt: noon, ExpiresAt: noon.Add(5 * time.Minute)}
)

// with returns the holder here with something changed.
func with(change func(*Holder)) Holder {
	h := here
	change(&h)
	return h
}

func TestJudge(t *testing.T) {
	const day = 24 * time.Hour
	self := with(func(h *Holder) { h.PID, h.Start, h.TickID = 20, 200, "t2" })
	otherHost := func(h *Holder) { h.Host, h.BootID = "other", "other boot" }
	tests := []struct {
		name   string
		holder Holder
		age    time.Duration
		alive  bool
		dead   bool
		says   string
	}{
		{"runs", here, time.Second, true, false, "it is running, renewed 1s ago"},
		{"gone, just renewed", here, 0, false, true, "process 10 of this machine is gone"},
		{"runs, very old: suspended", here, day, true, false, "has not renewed for 24h0m0s"},
		{"host renamed, runs", with(func(h *Holder) { h.Host = "dhcp-7" }), day, true, false, "it exists"},
		{"host renamed, gone", with(func(h *Holder) { h.Host = "dhcp-7" }), 0, false, true, "is gone"},
		{"restarted", with(func(h *Holder) { h.BootID = "before" }), 0, true, true, "restarted"},
		{"other host, young", with(otherHost), 5 * time.Minute, false, false, "it renewed 5m0s ago"},
		{"other host, old", with(otherHost), 5*time.Minute + 1, false, true, "its lease lasts 5m0s"},
		{"other container, young", with(func(h *Holder) { h.PIDNamespace = "ns2" }), time.Second, false, false, "it renewed"},
		{"other container, old", with(func(h *Holder) { h.PIDNamespace = "ns2" }), time.Hour, true, true, "not renewed for 1h0m0s"},
		{"other container of another boot, young", with(func(h *Holder) { h.PIDNamespace, h.BootID = "ns2", "before" }), 0, false, false, "it renewed"},
		{"boot not known, young", with(func(h *Holder) { h.BootID = "" }), 0, false, false, "it renewed"},
		{"clock years ahead, young", with(func(h *Holder) {
			otherHost(h)
			h.RenewedAt, h.ExpiresAt = noon.Add(9999*day), noon.Add(9999*day+time.Minute)
		}), time.Second, false, false, "it renewed"},
		{"clock years ahead, old", with(func(h *Holder) {
			otherHost(h)
			h.RenewedAt, h.ExpiresAt = noon.Add(9999*day), noon.Add(9999*day+time.Minute)
		}), 2 * time.Minute, false, true, "its lease lasts 1m0s"},
		{"absurd lifetime", with(func(h *Holder) { otherHost(h); h.ExpiresAt = noon.Add(9999 * day) }), 21 * time.Second, false, true, "its lease lasts 20s"},
		{"negative lifetime", with(func(h *Holder) { otherHost(h); h.ExpiresAt = noon.Add(-day) }), 19 * time.Second, false, false, "free 20s after"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			v := judge(tc.holder, self, tc.age, 20*time.Second, func(asked proc.Identity) bool {
				if asked != tc.holder.identity() {
					t.Errorf("asked for %v, want %v", asked, tc.holder.identity())
				}
				return tc.alive
			})
			if v.dead != tc.dead || !strings.Contains(v.how+" "+v.todo, tc.says) {
				t.Errorf("dead %v: %s; %s. Want dead %v, saying %q", v.dead, v.how, v.todo, tc.dead, tc.says)
			}
			if !v.dead && v.todo == "" {
				t.Error("a living holder needs a hint what to do")
			}
		})
	}
}

func TestDecode(t *testing.T) {
	content, err := here.encode()
	if err != nil {
		t.Fatal(err)
	}
	good := string(content)
	if h, err := decode(content); err != nil || h != here {
		t.Fatalf("decode: %+v, %v; want what was encoded", h, err)
	}
	tests := []struct{ name, content, says string }{
		{"empty", "", "unexpected end"},
		{"torn", good[:len(good)/2], "unexpected end"},
		{"no object", "[]", "cannot unmarshal"},
		{"no version", strings.Replace(good, `"version": 1`, `"version": 0`, 1), "schema 0"},
		{"newer", strings.Replace(good, `"version": 1`, `"version": 2`, 1), "newer backburner"},
		{"newer, other types", `{"version": 2, "pid": "ten"}`, "newer backburner"},
		{"no process", strings.Replace(good, `"pid": 10`, `"pid": 0`, 1), "process id 0"},
		{"process group", strings.Replace(good, `"pid": 10`, `"pid": -1`, 1), "process id -1"},
		{"no token", strings.Replace(good, `"fencing_token": 7`, `"fencing_token": 0`, 1), "token 0"},
		{"token at the end of numbers", strings.Replace(good, `"fencing_token": 7`, `"fencing_token": 9223372036854775807`, 1), "token 9223372036854775807"},
		{"terminal escape", strings.Replace(good, "box", `\u001b[2J`, 1), "cannot be shown"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			if h, err := decode([]byte(tc.content)); err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%+v, %v; want an error with %q", h, err, tc.says)
			}
		})
	}
}

func TestSalvageToken(t *testing.T) {
	for content, want := range map[string]int64{
		`{"fencing_token": 41`: 41, `"fencing_token":1 "fencing_token" : 3`: 3, "": 0, `"fencing_token": -1`: 0,
		`"fencing_token": 99999999999999999999`: 0, `"fencing_token": 9223372036854775807`: 0,
	} {
		if got := salvageToken([]byte(content)); got != want {
			t.Errorf("%s: %d, want %d", content, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	content, err := here.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add([]byte(`{"version":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if token := salvageToken(data); token < 0 || token > maxToken {
			t.Errorf("salvaged token %d", token)
		}
		h, err := decode(data)
		if err != nil {
			return
		}
		again, err := h.encode()
		if err != nil {
			t.Fatal(err)
		}
		if back, err := decode(again); err != nil || !back.same(h) {
			t.Errorf("%+v became %+v, %v", h, back, err)
		}
	})
}

func TestElapsed(t *testing.T) {
	for name, tc := range map[string]struct {
		to   time.Time
		want time.Duration
	}{
		"forward": {noon.Add(time.Hour), time.Hour},
		"back":    {noon.Add(-time.Hour), -time.Hour},
	} {
		if got := elapsed(noon, tc.to); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
