//go:build !linux

package local

import "errors"

// exchange is not offered: the caller renames twice.
func exchange(x, y string) error { return errors.ErrUnsupported }
