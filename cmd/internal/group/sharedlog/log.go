package sharedlog

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/internal/pause"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

var (
	// ErrOtherGroup is wrapped if the medium has the log of another group.
	ErrOtherGroup = errors.New("log of another group")
	// ErrHole is wrapped if an entry is missing and later ones exist: it was trimmed after a snapshot, or it is lost.
	ErrHole = errors.New("hole in the log")
	// ErrRegressed is wrapped if the medium has lost the last entries that this node has.
	ErrRegressed = errors.New("the log ends before this node's")
	// ErrFork is wrapped if an entry does not follow the one that this node has.
	ErrFork = errors.New("the log differs from this node's")
	// ErrSilent is returned by Follow when no entry has arrived for a time.
	ErrSilent = errors.New("the log is silent")
	// ErrLost is wrapped by the error of Claim if another process has put an entry first.
	ErrLost = errors.New("another node was faster")
	// ErrDeposed is wrapped if another process leads.
	ErrDeposed = errors.New("this node leads no longer")
	// ErrUnfit is wrapped if a medium does not do what a log needs.
	ErrUnfit = errors.New("the medium cannot keep a log")
)

// Options configure a Log.
type Options struct {
	// Settings are what all members of the group share, and Silence is the time without an entry after which another
	// member claims; half of it is the lease of a leader. The first member writes both, and those in the log are used
	// from then on. 0 means DefaultSilence.
	Settings []byte
	Silence  time.Duration
	// Exists means that the group exists: an empty medium is an error that wraps ErrOtherGroup, and no log is begun.
	Exists bool
	// Claim describes this node in its claims, for example with its addresses.
	Claim []byte
	// Poll is the time between two looks for a new entry; 0 means DefaultPoll.
	Poll time.Duration
	// Failed is called with each error of the medium after which an operation is tried again, and with nil when one
	// succeeds after that, by several goroutines. It must be quick. nil: nothing is called.
	Failed func(error)

	clock clock // nil: systemClock
}

const (
	DefaultSilence = 2 * time.Second
	DefaultPoll    = 100 * time.Millisecond

	opening    = 30 * time.Second // the longest that Open may take
	firstRetry = 10 * time.Millisecond
	lastRetry  = time.Second
)

// Entry is an entry of the log.
type Entry struct {
	Kind        Kind
	Data, Scope []byte
	Writer      [16]byte // random number of the process that put it
	Position    Position // after the entry
}

// Log reads a shared log, and claims it. Follow and Claim are called by one goroutine; all other methods may be called
// concurrently.
type Log struct {
	medium   Medium
	o        Options
	writer   id
	settings []byte
	failing  atomic.Bool

	// These belong to the goroutine that calls Follow and Claim.
	seen instant // when the last entry was read
	left bool    // the last entry is a Leave

	mu      sync.Mutex
	at      Position
	leader  []byte    // the data of the last claim
	current time.Time // see Current
}

// Open opens the log of a group at the position of the last entry that this node has, which is zero for a new node. It
// proves that the medium does what a log needs. If the medium is empty, it begins a log, unless Options.Exists is set.
//
// The error wraps ErrUnfit, ErrOtherGroup, ErrVersion, ErrDamaged or ErrHole. An error of the medium is returned as it
// is: Open may be called again.
func Open(ctx context.Context, m Medium, at Position, o Options) (*Log, error) {
	o.Silence, o.Poll = cmp.Or(o.Silence, DefaultSilence), cmp.Or(o.Poll, DefaultPoll)
	if o.clock == nil {
		o.clock = systemClock()
	}
	l := &Log{medium: m, o: o, at: at}
	rand.Read(l.writer[:])
	ctx, cancel := context.WithTimeout(ctx, opening)
	defer cancel()
	if err := prove(ctx, m); err != nil {
		return nil, err
	}
	begin, err := l.begin(ctx)
	if err != nil {
		return nil, err
	}
	if at == (Position{}) {
		l.at = begin
	} else if at.Group != begin.Group {
		return nil, sentinel.Errorf(ErrOtherGroup, "the log belongs to group %x, and this node to group %x: "+
			"each group needs its own prefix or stream", begin.Group, at.Group)
	}
	if c := l.at.Claim; c != 0 {
		f, err := l.claim(ctx, c)
		if err != nil {
			return nil, err
		}
		l.leader = f.data
	}
	l.seen = o.clock()
	return l, nil
}

// begin reads the first entry, and puts it if the log has none. Its data are the silence in milliseconds as 64 bits,
// little-endian, and the settings.
func (l *Log) begin(ctx context.Context) (Position, error) {
	f, p, err := l.get(ctx, 0, 1)
	if errors.Is(err, ErrNone) {
		all, err := l.numbers(ctx)
		if err != nil {
			return Position{}, err
		}
		if len(all) == 0 && l.o.Exists {
			return Position{}, sentinel.Errorf(ErrOtherGroup, "the log is empty, and that of this node's group is not: it is at another URL, or was deleted. "+
				"Then restore it (an older copy is enough), or begin another group; docs/scale.md has the steps")
		}
		if len(all) > 0 {
			if f, p, err = l.get(ctx, 0, 1); err != nil {
				return Position{}, sentinel.Errorf(ErrHole, "entry 1 is missing, and entries %d to %d exist", all[0], all[len(all)-1])
			}
		} else {
			f = frame{kind: Begin, writer: l.writer, number: 1}
			rand.Read(f.group[:])
			f.data = append(binary.LittleEndian.AppendUint64(nil, uint64(l.o.Silence.Milliseconds())), l.o.Settings...)
			encoded := f.append(nil)
			if err := l.medium.Put(ctx, entryKey(1), encoded); err != nil && !errors.Is(err, ErrExists) {
				return Position{}, err
			}
			if f, p, err = l.get(ctx, 0, 1); err != nil {
				return Position{}, err
			}
		}
	} else if err != nil {
		return Position{}, fmt.Errorf("entry 1: %w", err)
	}
	if err := (Position{}).follow(&f); err != nil {
		return Position{}, fmt.Errorf("entry 1: %w", err)
	}
	if len(f.data) < 8 || binary.LittleEndian.Uint64(f.data) == 0 {
		return Position{}, sentinel.Errorf(ErrDamaged, "entry 1 has %d bytes of settings, or a silence of 0", len(f.data))
	}
	l.o.Silence, l.settings = time.Duration(binary.LittleEndian.Uint64(f.data))*time.Millisecond, f.data[8:]
	return p, nil
}

// Settings returns the settings of the group.
func (l *Log) Settings() []byte { return l.settings }

// Silence returns the time without an entry after which another member claims.
func (l *Log) Silence() time.Duration { return l.o.Silence }

// Position returns the position after the last entry that was read.
func (l *Log) Position() Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

// Leader returns the data of the last claim, or nil.
func (l *Log) Leader() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leader
}

// Current returns a time: all entries that were put before it have been read.
func (l *Log) Current() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current
}

// note calls Options.Failed.
func (l *Log) note(err error) {
	if l.failing.Swap(err != nil) || err != nil {
		if l.o.Failed != nil {
			l.o.Failed(err)
		}
	}
}

// rereads is the number of times that an entry is read before it is called damaged: the fault may be on the way.
const rereads = 3

// get reads the entry of a number, and returns the position after it. The caller has tried it in vain a number of times.
// The error wraps ErrNone, ErrDamaged or ErrVersion, or it is one of the medium.
func (l *Log) get(ctx context.Context, try int, number uint64) (f frame, p Position, err error) {
	for range rereads {
		ctx, cancel := context.WithTimeout(ctx, l.patience(try))
		encoded, failure := l.medium.Get(ctx, entryKey(number))
		cancel()
		if failure != nil {
			return f, p, failure
		}
		if f, err = parseFrame(encoded); err == nil {
			return f, f.position(encoded), nil
		}
	}
	return f, p, err
}

// numbers returns the numbers of all entries, in ascending order.
func (l *Log) numbers(ctx context.Context) (all []uint64, err error) {
	ctx, cancel := context.WithTimeout(ctx, l.patience(longest))
	defer cancel()
	keys, err := l.medium.List(ctx, numbersPrefix)
	for _, key := range keys {
		var n uint64
		if _, err := fmt.Sscanf(key, logPrefix+"%016x", &n); err == nil && entryKey(n) == key {
			all = append(all, n)
		}
	}
	return all, err
}

// longest is the number of attempts after which patience does not grow.
const longest = 4

// patience returns how long an attempt may take after a number of attempts. The first ones end while the lease lasts:
// to put the same bytes again does no harm. Later ones have time for a slow connection.
func (l *Log) patience(try int) time.Duration { return l.o.Silence / 4 << min(try, longest) }

// put puts a frame until it is known whether the log has it. failed is called after the second attempt whose result is unknown,
// and each further one: the first one ends soon, and its successor often succeeds. The error wraps ErrLost if another entry has
// the number, or ErrDamaged, or it is that of ctx.
func (l *Log) put(ctx context.Context, f *frame, encoded []byte, failed func(error)) error {
	key := entryKey(f.number)
	for try := 0; ; try++ {
		known, err := func() (bool, error) {
			ctx, cancel := context.WithTimeout(ctx, l.patience(try))
			defer cancel()
			err := l.medium.Put(ctx, key, encoded)
			if err == nil {
				return true, nil
			}
			there, readErr := l.medium.Get(ctx, key)
			if readErr != nil {
				return false, err
			}
			if bytes.Equal(there, encoded) {
				return true, nil
			}
			other, err := parseFrame(there)
			if err != nil {
				return try >= rereads, fmt.Errorf("entry %d: %w", f.number, err)
			}
			return true, sentinel.Errorf(ErrLost, "entry %d is of writer %x in epoch %d", f.number, other.writer, other.epoch)
		}()
		if known {
			l.note(nil)
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		l.note(err)
		if try > 0 {
			failed(err)
		}
		if err := again(ctx, try); err != nil {
			return err
		}
	}
}

// again waits before an operation is tried again. The error is that of ctx.
func again(ctx context.Context, try int) error {
	d := min(firstRetry<<min(try, 10), lastRetry)
	if !pause.For(ctx, d/2+jitter(d/2)) {
		return context.Cause(ctx)
	}
	return nil
}
