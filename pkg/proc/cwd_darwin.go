package proc

import "errors"

// WorkingIn is not known on macOS.
func WorkingIn(dir, name string) ([]int, error) { return nil, errors.ErrUnsupported }
