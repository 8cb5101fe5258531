package distinct

import (
	"slices"

	"github.com/umbel-filters/umbel"
)

// backlog is a list of digests, with repetitions.
type backlog struct {
	chunks [][]umbel.Digest // all but the last are full
	n      uint64
}

// backlogChunk is the number of digests in a chunk: a MiB. A list in one piece would be copied when it grows.
const backlogChunk = 1 << 16

func (b *backlog) add(ds []umbel.Digest) {
	b.n += uint64(len(ds))
	for len(ds) > 0 {
		last := len(b.chunks) - 1
		if last < 0 || len(b.chunks[last]) == backlogChunk {
			b.chunks = append(b.chunks, nil)
			last++
		}
		n := min(len(ds), backlogChunk-len(b.chunks[last]))
		if last > 0 {
			b.chunks[last] = slices.Grow(b.chunks[last], backlogChunk-len(b.chunks[last]))
		}
		b.chunks[last] = append(b.chunks[last], ds[:n]...)
		ds = ds[n:]
	}
}

// sketch returns a sketch of the digests.
func (b *backlog) sketch() *Sketches {
	s := new(Sketches)
	for _, ds := range b.chunks {
		s.AddAll(ds)
	}
	return s
}
