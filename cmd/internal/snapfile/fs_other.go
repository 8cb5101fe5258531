//go:build !linux

package snapfile

import "os"

// allocate makes room for size bytes in an empty file.
func allocate(f *os.File, size int64) error { return zeros(f, size) }

// prefetch does nothing.
func prefetch(*os.File) {}
