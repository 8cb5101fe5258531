// Package uniq passes on the keys of a stream that were not seen before, or those that were.
package uniq

import (
	"context"
	"io"
	"sort"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
)

// savePart limits the time of saving: after it took t, the next begins savePart·t later or more.
const savePart = 20

// Stream describes a run, and counts its keys.
type Stream struct {
	Seen   Seen
	Format keys.Format
	Known  bool // pass on the keys that were seen before, instead of the new ones
	// Write writes keys with their separators and returns the number of bytes written. A key is
	// remembered after it has been written. If Write fails, the keys after the last complete one
	// are not remembered, except by a Seen whose Look adds.
	Write func([]byte) (int, error)
	// Save returns a function that saves Seen as it is now, nil if nothing has changed. Run calls Save between batches,
	// and the function in a goroutine, so that keys do not wait for a disk: one at a time, and none when it returns.
	Save  func() (func() error, error)
	Every time.Duration // time between the end of a save and the next call of Save, 0 for none
	// Tick is called after each batch with its number of bytes, unless nil. Its error ends Run.
	Tick func(int64) error

	Read, New uint64 // keys that were remembered, and those of them that were new

	list   [][]byte
	lines  [][]byte // the keys with their separators
	known  [Batch]bool
	out    []byte
	outEnd [Batch]int // the length of out after each key
}

// chunk is complete keys, or the error after the last of them.
type chunk struct {
	keys []byte
	err  error
}

// savedState is the end of a save.
type savedState struct {
	took time.Duration
	err  error
}

// Run passes on the keys of rs as they arrive. It returns at the end of rs, at the first error of a
// reader, Look, Write, Save or Tick, and with the error of ctx when ctx is done. A reader that blocks then
// blocks on in its goroutine.
func (s *Stream) Run(ctx context.Context, rs ...io.Reader) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	chunks, free := make(chan chunk), make(chan []byte, 2)
	defer close(free)
	free <- nil // so that one chunk is read while another is processed
	go s.read(ctx, chunks, free, rs)
	var due <-chan time.Time
	saved, saving := make(chan savedState, 1), false
	defer func() {
		if saving {
			if last := <-saved; last.err != nil {
				err = last.err
			}
		}
	}()
	if s.Every > 0 {
		due = time.After(s.Every)
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-due:
			start := time.Now()
			save, err := s.Save()
			if err != nil {
				return err
			}
			if save == nil {
				due = time.After(max(s.Every, savePart*time.Since(start)))
				continue
			}
			due, saving = nil, true
			go func() { err := save(); saved <- savedState{time.Since(start), err} }()
		case last := <-saved:
			saving = false
			if last.err != nil {
				return last.err
			}
			due = time.After(max(s.Every, savePart*last.took))
		case c := <-chunks:
			if c.err == io.EOF {
				return ctx.Err()
			}
			if c.err != nil {
				return c.err
			}
			if err := s.chunk(ctx, c.keys); err != nil {
				return err
			}
			free <- c.keys
		}
	}
}

// read sends the keys of rs in chunks, and io.EOF after the last.
func (s *Stream) read(ctx context.Context, to chan<- chunk, free <-chan []byte, rs []io.Reader) {
	send := func(c chunk) bool {
		select {
		case to <- c:
			return c.err == nil
		case <-ctx.Done():
			return false
		}
	}
	buf, ok := []byte(nil), true
	for _, r := range rs {
		for in := keys.NewReader(r, s.Format); ; {
			next, err := in.Next(buf)
			if err == io.EOF {
				break
			}
			if !send(chunk{next, err}) {
				return
			}
			if buf, ok = <-free; !ok {
				return
			}
		}
	}
	send(chunk{err: io.EOF})
}

// chunk passes on the keys of a chunk.
func (s *Stream) chunk(ctx context.Context, c []byte) error {
	for rest := c; len(rest) > 0; {
		before := len(rest)
		s.list, s.lines = s.list[:0], s.lines[:0]
		for len(rest) > 0 && len(s.list) < Batch {
			key, after := s.Format.Cut(rest)
			s.list = append(s.list, key)
			s.lines = append(s.lines, rest[:len(rest)-len(after)])
			rest = after
		}
		if err := s.batch(ctx); err != nil {
			return err
		}
		if s.Tick == nil {
			continue
		}
		if err := s.Tick(int64(before - len(rest))); err != nil {
			return err
		}
	}
	return nil
}

// batch passes on the keys of a batch.
func (s *Stream) batch(ctx context.Context) error {
	known := s.known[:len(s.list)]
	if err := s.Seen.Look(ctx, known, s.list); err != nil {
		return err
	}
	s.out = s.out[:0]
	for i, line := range s.lines {
		if known[i] == s.Known {
			s.out = append(s.out, line...)
			if n := len(line); n == 0 || line[n-1] != s.Format.Separator { // the last line of a file
				s.out = append(s.out, s.Format.Separator)
			}
		}
		s.outEnd[i] = len(s.out)
	}
	written, err := 0, error(nil)
	if len(s.out) > 0 {
		written, err = s.Write(s.out)
	}
	n := len(known)
	if err != nil {
		n = sort.Search(n, func(i int) bool { return s.outEnd[i] > written })
	}
	s.Seen.Remember(n)
	s.Read += uint64(n)
	for _, yes := range known[:n] {
		if !yes {
			s.New++
		}
	}
	return err
}
