package keys

import (
	"io"
	"sync"
	"sync/atomic"

	"github.com/umbel-filters/umbel"
	"golang.org/x/sync/errgroup"
)

// batch is the number of digests per call: enough to overlap the cache misses of a large filter,
// few enough to stay in cache.
const batch = 1024

// Job describes how to hash keys.
type Job struct {
	Format  Format
	Hasher  umbel.Hasher
	Workers int               // goroutines that hash, at least 1
	Tick    func(bytes int64) // called after each chunk, unless nil; by any worker
	// Take, unless nil, is called with each key and its digest, by any worker. If it returns
	// true the digest isn't passed to add. It must not keep the slice.
	Take func(key []byte, d umbel.Digest) bool
}

// Run reads all keys of the sources, one source after the other, and calls add with batches of
// their digests, in any order. The workers call add concurrently; it must not keep the slice.
// Run returns the number of keys read. It stops at the first error of a source, a key or add.
func (j Job) Run(sources []io.Reader, add func([]umbel.Digest) error) (uint64, error) {
	in := feed{format: j.Format, sources: sources}
	var keys atomic.Uint64
	var g errgroup.Group
	for range j.Workers {
		g.Go(func() error {
			n, err := j.work(&in, add)
			keys.Add(n)
			if err != nil {
				in.stop()
			}
			return err
		})
	}
	err := g.Wait()
	return keys.Load(), err
}

// work hashes chunks, and returns the number of keys.
func (j Job) work(in *feed, add func([]umbel.Digest) error) (n uint64, err error) {
	var buf []byte
	ds := make([]umbel.Digest, 0, batch)
	for {
		chunk, err := in.next(buf)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		buf = chunk
		for rest := chunk; len(rest) > 0; {
			var key []byte
			key, rest = j.Format.Cut(rest)
			d, err := Digest(j.Hasher, key)
			if err != nil {
				return n, err
			}
			if j.Take != nil && j.Take(key, d) {
				n++
			} else {
				ds = append(ds, d)
			}
			if len(ds) == batch || len(rest) == 0 && len(ds) > 0 {
				if err := add(ds); err != nil {
					return n, err
				}
				n += uint64(len(ds))
				ds = ds[:0]
			}
		}
		if j.Tick != nil {
			j.Tick(int64(len(chunk)))
		}
	}
}

// feed distributes the chunks of several sources to several workers. A key ends with its source.
type feed struct {
	mu      sync.Mutex
	format  Format
	sources []io.Reader
	current *Reader
}

func (f *feed) next(buf []byte) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		if f.current == nil {
			if len(f.sources) == 0 {
				return nil, io.EOF
			}
			f.current, f.sources = NewReader(f.sources[0], f.format), f.sources[1:]
		}
		chunk, err := f.current.Next(buf)
		if err != io.EOF {
			return chunk, err
		}
		f.current = nil
	}
}

// stop ends the feed for all workers.
func (f *feed) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current, f.sources = nil, nil
}
