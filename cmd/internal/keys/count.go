package keys

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// countBytes is the size of a read while counting.
const countBytes = 1 << 20

// Count returns the number of keys in the first size bytes of r, which it reads with that many
// workers.
func Count(r io.ReaderAt, size int64, f Format, workers int) (uint64, error) {
	if size <= 0 {
		return 0, nil
	}
	var keys atomic.Uint64
	var offset atomic.Int64
	var g errgroup.Group
	for range workers {
		g.Go(func() error {
			buf := make([]byte, countBytes)
			for {
				from := offset.Add(countBytes) - countBytes
				if from >= size {
					return nil
				}
				part := buf[:min(countBytes, size-from)]
				n, err := r.ReadAt(part, from)
				if err != nil && !errors.Is(err, io.EOF) {
					return err
				}
				keys.Add(uint64(bytes.Count(part[:n], []byte{f.Separator})))
				if last := from+int64(n) == size; last && n > 0 && part[n-1] != f.Separator {
					keys.Add(1) // the last key has no separator
				}
			}
		})
	}
	err := g.Wait()
	return keys.Load(), err
}
