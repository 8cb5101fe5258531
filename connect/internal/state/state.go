// Package state keeps a filter of a stream on disk: a container that every command of umbel reads, and journals of the keys that were
// added since it was written, with the positions of their messages.
//
// A batch is in the journal, and that is on the disk, before Apply returns; so a stream acknowledges its messages afterwards. If a
// message comes again, its position is known: the filter stays as it is, and Apply returns what it returned before. So a
// counting filter counts each message once, and a duplicate that was passed before a crash is passed again.
//
// When a journal is as large as the filter, a new one begins with the ID of the filter and the windows of its sources, then the
// filter is written under its name, and then the earlier journals are removed. After a crash, the journal that begins with the ID of the
// file is the first one to read, and those with higher numbers follow.
package state

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/internal/wholefile"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// FilterName is the file of the filter.
const FilterName = "filter.umb"

const (
	journalPrefix = "journal-"
	minJournal    = 4 << 20 // bytes of a journal, at least, before the filter is written
)

// Options configure a state. All fields but Volatile are required.
type Options struct {
	Directory string
	Kinds     umbel.Kinds
	// New makes the filter if the directory has none.
	New func() (umbel.Filter, error)
	// Volatile leaves it to the system when journals are written to the disk: a power failure may lose the last batches.
	Volatile bool
}

// State is a filter with the positions of its sources. Its methods are safe to call concurrently.
type State struct {
	o     Options
	owner *wholefile.Owner

	mu      sync.RWMutex // guards the fields below; not held while waiting for the disk
	filter  umbel.Filter
	windows map[string]*window
	journal *journal
	version uint64 // number of the last batch
	old     uint64 // messages whose positions were before the window
	failed  error  // of the journal: it lacks batches that the filter has

	writing sync.Mutex // held while the filter is written; guards the fields below
	number  uint64     // of the last journal
	before  []*journal // whose batches the file of the filter lacks
}

// journal is a file of batches. Its frames are written in the order of the versions.
type journal struct {
	file   *os.File
	number uint64
	size   int64
	mu     sync.Mutex // held while it is synced
	synced uint64     // the last version on the disk
}

// Open opens the state in a directory, and makes one if there is none. The error wraps wholefile.ErrLocked if another program has it, and
// umbel.ErrCorrupt if files are damaged or missing.
func Open(o Options) (_ *State, err error) {
	if err := os.MkdirAll(o.Directory, 0o777); err != nil {
		return nil, err
	}
	s := &State{o: o, windows: make(map[string]*window)}
	if s.owner, err = wholefile.TryOwn(s.path(FilterName)); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", o.Directory, err), s.close())
		}
	}()
	if err := s.load(); err != nil {
		return nil, err
	}
	return s, s.Checkpoint()
}

func (s *State) path(name string) string { return filepath.Join(s.o.Directory, name) }

// load reads the filter and its journals.
func (s *State) load() error {
	numbers, err := s.journals()
	if err != nil {
		return err
	}
	if len(numbers) > 0 {
		s.number = numbers[len(numbers)-1]
	}
	if s.filter, err = s.read(); err != nil {
		return err
	}
	id, begun, batches := hashtree.Identify(s.filter.State()), false, false
	for _, n := range numbers {
		data, err := os.ReadFile(s.path(journalPrefix + strconv.FormatUint(n, 10)))
		if err == nil {
			batches = batches || len(data) > 0
			err = s.replay(data, id, &begun)
		}
		if err != nil {
			return fmt.Errorf("%s%d: %w", journalPrefix, n, err)
		}
	}
	if batches && !begun {
		return sentinel.Errorf(umbel.ErrCorrupt, "no journal begins with the filter in %s: restore it, or remove the journals to continue without them", FilterName)
	}
	return nil
}

// read returns the filter in the file, or a new one if there is no file.
func (s *State) read() (umbel.Filter, error) {
	f, err := os.Open(s.path(FilterName))
	if errors.Is(err, fs.ErrNotExist) {
		return s.o.New()
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	state, err := wire.Read(f, wire.Limits{Bytes: math.MaxUint64})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", FilterName, err)
	}
	return s.o.Kinds.Open(state)
}

// journals returns the numbers of the journals, in ascending order.
func (s *State) journals() (numbers []uint64, err error) {
	entries, err := os.ReadDir(s.o.Directory)
	for _, e := range entries {
		if text, ok := strings.CutPrefix(e.Name(), journalPrefix); ok {
			if n, err := strconv.ParseUint(text, 10, 64); err == nil {
				numbers = append(numbers, n)
			}
		}
	}
	slices.Sort(numbers)
	return numbers, err
}

// replay applies a journal, if it begins with the filter of an ID, or follows a journal that does.
func (s *State) replay(data []byte, id wire.ID, begun *bool) error {
	_, err := readJournal(data, func(h head) error {
		if h.id == id && !*begun {
			*begun, s.windows = true, h.windows
		}
		return nil
	}, func(batch []change) error {
		if !*begun {
			return nil
		}
		for _, c := range batch {
			s.filter.Add(c.Digest)
			if c.Known {
				s.window(c.Source).set(c.Position, c.passed)
			}
		}
		return nil
	})
	return err
}

func (s *State) window(source string) *window {
	w := s.windows[source]
	if w == nil {
		w = new(window)
		s.windows[source] = w
	}
	return w
}

// Hasher returns the hasher of the keys.
func (s *State) Hasher() umbel.Hasher { return s.filter.Hasher() }

// Has reports whether a key may have been added.
func (s *State) Has(d umbel.Digest) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.filter.Has(d)
}

// Apply adds keys, and sets isNew[i] to whether the key of entry i was absent when its message came first. When it returns nil, all are on the disk.
// After an error they may be added or not; the caller applies the entries again.
func (s *State) Apply(entries []Entry, isNew []bool) error {
	for _, e := range entries {
		if e.Known && (e.Position > math.MaxInt64 || len(e.Source) > maxSource) {
			return sentinel.Errorf(umbel.ErrGoal, "position %d of a source with a name of %d bytes, want at most 2^63-1 and %d", e.Position, len(e.Source), maxSource)
		}
	}
	j, version, err := s.add(entries, isNew)
	if err != nil {
		return err
	}
	if j == nil { // the journal is full, or lacks batches
		return s.Checkpoint()
	}
	return s.sync(j, version)
}

// add adds keys in memory and writes them to the journal. It returns no journal if the filter must be written instead.
func (s *State) add(entries []Entry, isNew []bool) (*journal, uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.journal == nil {
		return nil, 0, fs.ErrClosed
	}
	var batch []change
	for i, e := range entries {
		if e.Known {
			seen, passed, old := s.window(e.Source).look(e.Position)
			if old {
				s.old++
			}
			if isNew[i] = passed; seen {
				continue
			}
		}
		isNew[i] = !s.filter.Has(e.Digest)
		s.filter.Add(e.Digest)
		if e.Known {
			s.window(e.Source).set(e.Position, isNew[i])
		}
		batch = append(batch, change{e, isNew[i]})
	}
	if len(batch) > 0 {
		s.version++
	}
	if s.failed != nil {
		return nil, 0, nil
	}
	if len(batch) == 0 {
		return s.journal, s.version, nil // a batch that came again may not be on the disk yet
	}
	n, err := s.journal.file.Write(appendFrame(nil, func(b []byte) []byte { return appendBatch(b, batch) }))
	if s.journal.size += int64(n); err != nil {
		s.failed = err
		return nil, 0, nil
	}
	if s.journal.size > max(minJournal, int64(s.filter.State().Bytes())) {
		return nil, 0, nil
	}
	return s.journal, s.version, nil
}

// sync waits until a version is on the disk. One caller syncs for all who wait.
func (s *State) sync(j *journal, version uint64) error {
	if s.o.Volatile {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.synced >= version {
		return nil
	}
	s.mu.RLock()
	written := s.version
	s.mu.RUnlock()
	if err := j.file.Sync(); err != nil {
		s.mu.Lock()
		s.failed = cmp.Or(s.failed, err)
		s.mu.Unlock()
		return err
	}
	j.synced = written
	return nil
}

// mode returns the permissions of files: a secret seed is for the owner only.
func (s *State) mode() fs.FileMode {
	if s.filter.Hasher().Seed != (umbel.Seed{}) {
		return 0o600
	}
	return 0o666
}

// Copy returns a copy of the filter with batches that are on the disk, and the number of the last one.
func (s *State) Copy() (umbel.State, uint64, error) {
	s.mu.RLock()
	copied, version, j := s.filter.State().Clone(), s.version, s.journal
	gap := s.failed != nil
	s.mu.RUnlock()
	if j == nil {
		return umbel.State{}, 0, fs.ErrClosed
	}
	if gap {
		return copied, version, s.Checkpoint()
	}
	return copied, version, s.sync(j, version)
}

// Version returns the number of the last batch. It grows with each change.
func (s *State) Version() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.version
}

// Old returns how many messages had positions so far before others of their source that they were taken for messages that came again.
func (s *State) Old() uint64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.old
}

// Close writes the filter, and releases the directory.
func (s *State) Close() error { return errors.Join(s.Checkpoint(), s.close()) }

func (s *State) close() error {
	s.mu.Lock()
	j := s.journal
	s.journal = nil
	s.mu.Unlock()
	var err error
	if j != nil {
		err = j.file.Close()
	}
	return errors.Join(err, s.owner.Close())
}
