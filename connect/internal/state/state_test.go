package state

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/internal/wholefile"
)

func options(dir string, kind umbel.Kind) Options {
	return Options{Directory: dir, Kinds: filter.All, Volatile: true, New: func() (umbel.Filter, error) {
		return kind.New(umbel.Goal{Keys: 1000, FPRate: 0.01}, nil)
	}}
}

func open(t *testing.T, o Options) *State {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// model is what a state must be: each message was added once, and has one decision.
type model struct {
	filter    umbel.Filter
	decisions map[Entry]bool
}

func newModel(t *testing.T, kind umbel.Kind) *model {
	f, err := options("", kind).New()
	if err != nil {
		t.Fatal(err)
	}
	return &model{f, make(map[Entry]bool)}
}

func (m *model) apply(e Entry) bool {
	if passed, ok := m.decisions[e]; ok {
		return passed
	}
	passed := !m.filter.Has(e.Digest)
	m.filter.Add(e.Digest)
	m.decisions[e] = passed
	return passed
}

// copyFiles copies a directory, as it is when a process is killed.
func copyFiles(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// Messages of random histories, which come again, overtake each other and are cut off by kills at any byte of the journal, are each added
// once, and have the decision that they had first: for a filter that counts, and for one of bits.
func TestHistories(t *testing.T) {
	for _, kind := range []umbel.Kind{counting.Kind, bloom.Kind} {
		for history := range uint64(8) {
			rng := rand.New(rand.NewPCG(history, 5))
			m, dir := newModel(t, kind), t.TempDir()
			s := open(t, options(dir, kind))
			var sent []Entry
			next := map[string]uint64{}
			for step := range 40 {
				switch rng.IntN(10) {
				case 0:
					if err := s.Checkpoint(); err != nil {
						t.Fatal(err)
					}
				case 1: // kill, perhaps in the middle of a write
					after := filepath.Join(t.TempDir(), "copy")
					j := s.current()
					acknowledged := j.size
					lost := Entry{m.filter.Hasher().HashUint64(rng.Uint64()), "lost", uint64(step), true}
					if _, _, err := s.add([]Entry{lost}, make([]bool, 1)); err != nil {
						t.Fatal(err)
					}
					copyFiles(t, dir, after)
					if s.current() == j {
						size := acknowledged + rng.Int64N(j.size-acknowledged)
						if err := os.Truncate(filepath.Join(after, fmt.Sprint(journalPrefix, j.number)), size); err != nil {
							t.Fatal(err)
						}
					}
					_ = s.close()
					dir, s = after, open(t, options(after, kind))
				case 2:
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
					s = open(t, options(dir, kind))
				default:
					var batch []Entry
					for range 1 + rng.IntN(5) {
						if len(sent) > 0 && rng.IntN(3) == 0 {
							batch = append(batch, sent[max(0, len(sent)-1-rng.IntN(100))])
							continue
						}
						source := fmt.Sprint("partition ", rng.IntN(3))
						next[source] += uint64(1 + rng.IntN(3)) // positions have gaps
						batch = append(batch, Entry{m.filter.Hasher().HashUint64(rng.Uint64N(200)), source, next[source], true})
					}
					rng.Shuffle(len(batch), func(i, j int) { batch[i], batch[j] = batch[j], batch[i] })
					isNew := make([]bool, len(batch))
					if err := s.Apply(batch, isNew); err != nil {
						t.Fatal(err)
					}
					for i, e := range batch {
						if want := m.apply(e); isNew[i] != want {
							t.Fatalf("%s, history %d: position %d of %s is new: %v, want %v", kind.Name, history, e.Position, e.Source, isNew[i], want)
						}
					}
					sent = append(sent, batch...)
				}
				if !s.filter.State().Equal(m.filter.State()) {
					t.Fatalf("%s, history %d, step %d: the filter is not that of the messages", kind.Name, history, step)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A crash between any two steps of a checkpoint loses nothing: the journal that fits the file of the filter is found.
func TestCrashInCheckpoint(t *testing.T) {
	dir := t.TempDir()
	s := open(t, options(dir, counting.Kind))
	m := newModel(t, counting.Kind)
	add := func(s *State, position uint64) {
		t.Helper()
		e := Entry{m.filter.Hasher().HashUint64(position), "a", position, true}
		if err := s.Apply([]Entry{e}, make([]bool, 1)); err != nil {
			t.Fatal(err)
		}
		m.apply(e)
	}
	add(s, 1)
	before := filepath.Join(t.TempDir(), "before")
	copyFiles(t, dir, before)
	// The journal has begun, and the file of the filter is the one before.
	s.writing.Lock()
	s.number++
	file, err := os.Create(filepath.Join(dir, fmt.Sprint(journalPrefix, s.number)))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := s.begin(&journal{number: s.number, file: file}); err != nil {
		t.Fatal(err)
	}
	s.writing.Unlock()
	add(s, 2)
	unwritten := filepath.Join(t.TempDir(), "unwritten")
	copyFiles(t, dir, unwritten)
	// The file is written, and the earlier journals are not removed.
	if err := s.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	unremoved := filepath.Join(t.TempDir(), "unremoved")
	copyFiles(t, dir, unremoved)
	for _, e := range []string{"1", "2"} {
		b, err := os.ReadFile(filepath.Join(unwritten, journalPrefix+e))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(unremoved, journalPrefix+e), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{unwritten, unremoved} {
		s := open(t, options(path, counting.Kind))
		if !s.filter.State().Equal(m.filter.State()) {
			t.Errorf("%s: the filter is not that of the messages", filepath.Base(path))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(options(dir, counting.Kind)); !errors.Is(err, wholefile.ErrLocked) {
		t.Errorf("a second process: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// If the journal cannot be written, additions wait for the filter to be written, and nothing is added twice.
func TestJournalFails(t *testing.T) {
	dir := t.TempDir()
	s, m := open(t, options(dir, counting.Kind)), newModel(t, counting.Kind)
	for position := range uint64(20) {
		if position%5 == 2 {
			s.journal.file.Close()
		}
		e := Entry{m.filter.Hasher().HashUint64(position % 7), "a", position, true}
		for range 2 {
			if err := s.Apply([]Entry{e}, make([]bool, 1)); err != nil {
				t.Fatal(err)
			}
		}
		m.apply(e)
	}
	after := filepath.Join(t.TempDir(), "after")
	copyFiles(t, dir, after)
	if s = open(t, options(after, counting.Kind)); !s.filter.State().Equal(m.filter.State()) {
		t.Error("the filter is not that of the messages")
	}
}

// Damage in the middle of a journal, a missing filter and a foreign one are refused.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	s := open(t, options(dir, bloom.Kind))
	for position := range uint64(10) {
		if err := s.Apply([]Entry{{s.Hasher().HashUint64(position), "a", position, true}}, make([]bool, 1)); err != nil {
			t.Fatal(err)
		}
	}
	name := fmt.Sprint(journalPrefix, s.journal.number)
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	last := len(data) - 40 // in the last frame: it may be incomplete
	for at := 0; at < last; at += 1 + at/8 {
		after := filepath.Join(t.TempDir(), "after")
		copyFiles(t, dir, after)
		damaged := append([]byte(nil), data...)
		damaged[at] ^= 4
		if err := os.WriteFile(filepath.Join(after, name), damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(options(after, bloom.Kind)); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("byte %d: %v", at, err)
			if err == nil {
				s.Close()
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, FilterName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(options(dir, bloom.Kind)); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("without a filter: %v", err)
	}
}

// A position far before the last one is taken for one that came again, and counted.
func TestOldPosition(t *testing.T) {
	s := open(t, options(t.TempDir(), bloom.Kind))
	defer s.Close()
	isNew := make([]bool, 3)
	h := s.Hasher()
	batch := []Entry{{h.HashUint64(1), "a", 2 * windowBits, true}, {h.HashUint64(2), "a", windowBits, true}, {h.HashUint64(3), "a", windowBits + 1, true}}
	if err := s.Apply(batch, isNew); err != nil {
		t.Fatal(err)
	}
	if !isNew[0] || isNew[1] || !isNew[2] || s.Old() != 1 {
		t.Errorf("%v, %d old; want the second one old", isNew, s.Old())
	}
	if err := s.Apply([]Entry{{Known: true, Position: 1 << 63}}, isNew); !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("position 2^63: %v", err)
	}
}

func FuzzJournal(f *testing.F) {
	w := new(window)
	w.set(5, true)
	h := head{windows: map[string]*window{"a": w}}
	data := appendFrame(nil, h.append)
	data = appendFrame(data, func(b []byte) []byte {
		return appendBatch(b, []change{{Entry{umbel.Digest{H1: 1, H2: 2}, "a", 6, true}, true}, {Entry: Entry{Digest: umbel.Digest{H1: 3}}}})
	})
	f.Add(data)
	f.Add(data[:len(data)-1])
	f.Fuzz(func(t *testing.T, data []byte) {
		var again []byte
		size, err := readJournal(data, func(h head) error {
			again = appendFrame(again, h.append)
			return nil
		}, func(batch []change) error {
			again = appendFrame(again, func(b []byte) []byte { return appendBatch(b, batch) })
			return nil
		})
		if size > int64(len(data)) || err != nil && !errors.Is(err, umbel.ErrCorrupt) {
			t.Fatal(size, err)
		}
		if _, err := readJournal(again, func(head) error { return nil }, func([]change) error { return nil }); err != nil {
			t.Errorf("what was read cannot be written and read: %v", err)
		}
	})
}
