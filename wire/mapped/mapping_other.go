//go:build !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd && !windows

package mapped

import (
	"errors"
	"os"
)

// mapFile returns an error: files are read.
func mapFile(*os.File, int) (mapping, error) { return nil, errors.ErrUnsupported }

func (m mapping) prefetch() {}

func (m mapping) close() error { return nil }
