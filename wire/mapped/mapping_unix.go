//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package mapped

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps the first n bytes of a file. A query touches a few pages anywhere, so that those around
// them are not loaded.
func mapFile(f *os.File, n int) (mapping, error) {
	m, err := unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	_ = unix.Madvise(m, unix.MADV_RANDOM)
	return m, nil
}

// prefetchBytes is as much as Linux loads for one call.
const prefetchBytes = 1 << 17

// prefetch begins to load a part of a mapping, which begins at a page.
func (m mapping) prefetch() {
	for ; len(m) > 0; m = m[min(len(m), prefetchBytes):] {
		_ = unix.Madvise(m[:min(len(m), prefetchBytes)], unix.MADV_WILLNEED)
	}
}

func (m mapping) close() error {
	if m == nil {
		return nil
	}
	return unix.Munmap(m)
}
