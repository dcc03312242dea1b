package workspace

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRootLocked: what somebody holds is waited for, and not for ever.
func TestRootLocked(t *testing.T) {
	root := t.TempDir()
	held, err := os.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := setUpRoot(root, Owner{}); err == nil || !strings.Contains(err.Error(), "another process holds it") {
		t.Errorf("%v", err)
	}
	let := make(chan error)
	time.AfterFunc(100*time.Millisecond, func() { let <- syscall.Flock(int(held.Fd()), syscall.LOCK_UN) })
	if _, err := setUpRoot(root, Owner{}); err != nil {
		t.Error(err)
	}
	if err := <-let; err != nil {
		t.Error(err)
	}
}
