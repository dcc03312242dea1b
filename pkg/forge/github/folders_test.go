package github

import "testing"

func TestFoldersAreShortened(t *testing.T) {
	f := newFolders(map[string]string{"/home/jo": "~", "/home/jo/shop": ".", "/": "ROOT"})
	for text, want := range map[string]string{
		"git in /home/jo/shop/.backburner/git: no":   "git in ./.backburner/git: no",
		"`/home/jo/shop` and /home/jo/.ssh/id":       "`.` and ~/.ssh/id",
		"/home/jo/shopping, /mnt/home/jo, /home/joe": "~/shopping, /mnt/home/jo, /home/joe",
		"file:///home/jo/shop/x":                     "file:///home/jo/shop/x",
		"/etc/passwd":                                "/etc/passwd",
	} {
		if got := f.shorten(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
