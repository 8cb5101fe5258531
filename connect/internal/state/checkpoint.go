package state

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"math"
	"os"
	"runtime"
	"strconv"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// Checkpoint begins a journal, writes the filter to its file, and removes the earlier journals. If it fails, Apply goes on with the
// journal, unless that lacks batches.
func (s *State) Checkpoint() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	for {
		done, err := s.checkpoint()
		if done || err != nil {
			return err
		}
	}
}

// checkpoint is one attempt of Checkpoint. It is not done if batches were added meanwhile that no journal has.
func (s *State) checkpoint() (done bool, err error) {
	s.number++
	next := &journal{number: s.number}
	name := s.path(journalPrefix + strconv.FormatUint(next.number, 10))
	if next.file, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, s.mode()); err != nil {
		return false, err
	}
	if err := syncDir(s.o.Directory); err != nil {
		return false, errors.Join(err, next.file.Close())
	}
	copied, version, gap, err := s.begin(next)
	if err == nil {
		err = next.file.Sync()
	}
	if err == nil {
		err = s.owner.Replace(s.path(FilterName), s.mode(), func(w io.Writer) error {
			b := bufio.NewWriterSize(w, 1<<20)
			return cmp.Or(wire.Write(b, copied), b.Flush())
		})
	}
	if err != nil {
		if gap || s.current() != next {
			_ = next.file.Close()
		}
		return false, err
	}
	s.mu.Lock()
	if done = !gap || s.version == version; done && gap {
		s.journal, s.failed = next, nil
	}
	s.mu.Unlock()
	if !done {
		return false, next.file.Close()
	}
	return true, s.removeBefore(next)
}

func (s *State) current() *journal {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.journal
}

// begin copies the filter and writes the head of a journal. Batches go there from now on, unless there is a gap: the journal before lacks
// some.
func (s *State) begin(next *journal) (copied umbel.State, version uint64, gap bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	copied = s.filter.State().Clone()
	h := head{hashtree.Identify(copied), s.windows}
	n, err := next.file.Write(appendFrame(nil, h.append))
	next.size = int64(n)
	gap = s.failed != nil
	if err == nil && !gap {
		if s.journal != nil {
			s.before = append(s.before, s.journal)
		}
		s.journal = next
	} else if err == nil {
		s.before = append(s.before, s.journal)
	}
	return copied, s.version, gap, err
}

// removeBefore ends the journals before one, and removes their files: the filter has their batches.
func (s *State) removeBefore(next *journal) error {
	for _, j := range s.before {
		j.mu.Lock()
		j.synced = math.MaxUint64
		_ = j.file.Close()
		j.mu.Unlock()
	}
	s.before = nil
	numbers, err := s.journals()
	for _, n := range numbers {
		if n < next.number {
			err = errors.Join(err, os.Remove(s.path(journalPrefix+strconv.FormatUint(n, 10))))
		}
	}
	return err
}

// syncDir makes the entries of a directory durable, where the system can do that.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && runtime.GOOS != "windows" {
		return err
	}
	return nil
}
