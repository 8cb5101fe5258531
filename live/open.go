package live

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/internal/wholefile"
	"github.com/umbel-filters/umbel/wire"
)

// ErrLocked is wrapped by the error of Open if the file is open already, in this or in another process.
var ErrLocked = errors.New("file in use")

// Options are the options of a filter. The zero Options are fine for kinds whose keys don't expire by time.
//
// Callbacks are called by the goroutine that saves, which may be the caller of Save or Close. They must not call these.
type Options struct {
	// Params are parameters of the kind for a new filter: see umbel.Kind.
	Params umbel.Params
	// Window is how long a key is present after it was added, for kind window. It is rounded up to whole generations.
	Window time.Duration
	// Every is the time after which changes are saved; the default is a minute. If it is negative, time causes no save.
	Every time.Duration
	// Changes is the number of changes after which the filter is saved, apart from changes during a save; 0 means that changes cause
	// no save. On a machine with many processors a save may begin up to half as many changes later.
	Changes uint64
	// OnOverfull is called once per Open, possibly during it, when a measurement finds the filter overfull. That is up to some
	// hundred keys, or one percent of the keys, after the filter became overfull; in kinds whose rate is only measured, up to
	// an eighth of the keys after.
	OnOverfull func(Status)
	// OnError is called when a save fails and the one before did not. Status has the error while it lasts.
	OnError func(error)
	// Log receives faults of saves when they begin, at most once a minute while they last, and when they are over; that the
	// filter is overfull; and that the file was made for another goal. The default discards them.
	Log *slog.Logger
}

// Open opens the filter in the file at path, or makes the filter and the file if there is none or if the file is empty. Close it.
// Goal and Params are those of kind.New. A new file has the permissions 0666 less the umask, or 0600 if the hasher has a
// secret seed. An existing file keeps its permissions, and a symbolic link stays one.
//
// What decides about answers must be as in the file: kind, hasher, Window, and those of Params that the kind keeps in its
// state. Otherwise the error wraps umbel.ErrMismatch. Keys, rate and bytes of the goal are for a new file only: if the file was
// made for others, it stays as it is and Log receives a message. To change it, make a new filter from all keys.
//
// The error wraps ErrLocked if the file is open already, umbel.ErrCorrupt or umbel.ErrLimit if it has no readable container,
// and umbel.ErrGoal if goal or options are contradictory. Open changes no file that it does not accept.
func Open(path string, kind umbel.Kind, goal umbel.Goal, o Options) (*Filter, error) {
	f, err := open(path, kind, goal, o)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return f, nil
}

func open(path string, kind umbel.Kind, goal umbel.Goal, o Options) (*Filter, error) {
	if o.Every == 0 {
		o.Every = time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	ps, tick, err := o.params(kind)
	if err != nil {
		return nil, err
	}
	forecast, err := kind.Plan(goal, ps)
	if err != nil {
		return nil, err
	}
	f := &Filter{path: path, kind: kind, o: o}
	if f.target, err = wholefile.Find(path, mode(goal.Hasher)); err != nil {
		return nil, err
	}
	if f.target.Path, err = filepath.Abs(f.target.Path); err != nil { // the process may change its directory
		return nil, err
	}
	if f.target.InPlace {
		return nil, errors.New("want a regular file, since it is replaced by each save")
	}
	if f.owner, err = wholefile.TryOwn(f.target.Path); err != nil {
		return nil, locked(err)
	}
	if err := f.load(goal, ps, tick, umbel.PlannedBy(goal, forecast)); err != nil {
		return nil, errors.Join(err, f.owner.Close())
	}
	f.stop, f.stopped = make(chan struct{}), make(chan struct{})
	f.close = sync.OnceValue(f.end)
	f.checkOverfull()
	f.plan()
	go f.run()
	return f, nil
}

// mode returns the permissions of a new file.
func mode(h umbel.Hasher) fs.FileMode {
	if h.Secret() {
		return 0o600
	}
	return 0o666
}

// locked returns err for users of this package.
func locked(err error) error {
	if errors.Is(err, wholefile.ErrLocked) {
		return fmt.Errorf("another filter or command uses it: use one process, or a file for each: %w", ErrLocked)
	}
	return err
}

// load sets the filter: that in the file, or a new one, which the file then has.
func (f *Filter) load(goal umbel.Goal, ps umbel.Params, tick time.Duration, planned umbel.Planned) error {
	s, at, err := f.read()
	if err != nil {
		return err
	}
	isNew := s == nil
	if isNew {
		if f.filter, err = f.kind.New(goal, ps); err != nil {
			return err
		}
		if t, ok := f.filter.(interface{ SetTick(ns uint64) }); ok && tick > 0 {
			t.SetTick(uint64(tick))
		}
	} else {
		if err := f.checkState(*s, goal, ps, tick); err != nil {
			return err
		}
		if f.filter, err = f.kind.Open(*s); err != nil {
			return err
		}
	}
	f.use(at)
	if isNew {
		_, err := f.save()
		if errors.Is(err, fs.ErrExist) {
			return locked(wholefile.ErrLocked) // another process made it meanwhile
		}
		return err
	}
	if _, _, err := f.measure(); err != nil {
		return err
	}
	if planned != f.planned && planned != (umbel.Planned{}) {
		f.o.Log.Warn("the file was made for another goal and stays as it is", "file", f.path,
			"keys", f.planned.Keys, "fpRate", f.planned.FPRate, "wantKeys", planned.Keys, "wantFPRate", planned.FPRate)
	}
	return nil
}

// read returns the state in the file and the time of the file, or nil if the file is missing or empty.
func (f *Filter) read() (*umbel.State, time.Time, error) {
	file, err := os.Open(f.target.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, time.Time{}, nil
	}
	if err != nil {
		return nil, time.Time{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return nil, time.Time{}, err
	}
	s, err := wire.Read(file, wire.Limits{})
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("%w; restore the file, or remove it to begin with an empty filter", err)
	}
	return &s, info.ModTime(), nil
}

// checkState returns an error unless s is the state of a filter that New could have made, of any size.
func (f *Filter) checkState(s umbel.State, goal umbel.Goal, ps umbel.Params, tick time.Duration) error {
	if err := (umbel.State{Kind: f.kind.Name, Hasher: goal.Hasher}).CheckMatch(s); err != nil {
		return fmt.Errorf("%w; open it as it was made, or with another path", err)
	}
	for _, p := range ps {
		if have, ok := s.Params.Get(p.Name); ok && p.Value.Float() != 0 && have != p.Value {
			return sentinel.Errorf(umbel.ErrMismatch, "parameter %s is %v in the file, want %v", p.Name, have, p.Value)
		}
	}
	return f.o.checkWindow(s, tick)
}

// use prepares the filter for use.
func (f *Filter) use(saved time.Time) {
	s := f.filter.State()
	f.hasher, f.planned = s.Hasher, s.Planned
	f.last.at = saved
	f.wake = make(chan struct{}, 1)
	f.atomic, _ = f.filter.(umbel.AtomicAdder)
	_, expires := f.filter.(umbel.Advancer)
	if lasts := s.Params.Uint(ticksName); expires && lasts > 0 {
		f.now, f.lasts = s.Params.Uint(nowName), lasts
		f.clock = &clock{tick: time.Duration(s.Tick), now: f.now}
	}
	interest, keys := least(f.planned), f.planned.Keys
	if f.o.Changes > 0 {
		interest = min(interest, f.o.Changes)
	}
	f.changes = newCounter(f.atomic != nil, keys, interest)
	f.sampled = f.changes.sampled()
	f.due.Store(math.MaxUint64)
}
