//go:build !linux

package disk

import (
	"errors"
	"os"
)

func reserve(*os.File, int64) error { return errors.ErrUnsupported }

func syncData(f *os.File) error { return f.Sync() }

func prefetch(*os.File) {}
