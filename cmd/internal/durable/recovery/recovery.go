// Package recovery fills an engine with the filters of the last snapshot and the changes in the log after
// it. If a copy cannot be read, it uses the previous one and more of the log.
//
// Unreadable data is an error. If the loss is accepted, the affected filters become incomplete: every
// query returns true until they are created again, because false might be wrong. Lost cells affect their
// filter; lost batches affect the filters that their scopes name, or all that they may have changed if a scope is
// lost too. The names of filters that were created in a lost batch without a scope are unknown, and those of all
// filters if no catalog can be read: engine.MissingNames.
package recovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/durable/snapfile"
	"github.com/umbel-filters/umbel/cmd/internal/durable/snapshot"
	"github.com/umbel-filters/umbel/cmd/internal/durable/wal"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/event"
	"github.com/umbel-filters/umbel/wire"
)

// ErrLost is wrapped by errors that report missing durable data. Their texts say what is lost.
var ErrLost = errors.New("durable data is lost")

// Remedy ends the errors that report missing or unreadable data.
const Remedy = "restore a backup, or start without the lost data (--accept-loss)"

// UnreadableRemedy ends the errors that report a file that the disk cannot read.
const UnreadableRemedy = "it may be undamaged: check the disk, " + Remedy

// Options configure a recovery.
type Options struct {
	// AcceptLoss makes Run continue if durable data is missing, or if the disk cannot read files: see the package
	// comment. The report lists what is lost.
	AcceptLoss bool
	// Lost is what the caller knows to be lost in addition: filters whose names are unknown. It needs
	// AcceptLoss.
	Lost string
	// Check makes Run read the previous snapshot too, which a start needs only if the last one is damaged.
	Check bool
	// Follow makes changes that have no end at the end of the log continue in the batches that Follower.Batch is given.
	Follow bool
	Log    *slog.Logger
}

// Report describes what a recovery found.
type Report struct {
	Filters  int
	Bytes    uint64    // memory of the filters
	Snapshot time.Time // time of the snapshot that was read; zero if none
	Batches  uint64    // replayed
	Changes  uint64
	Digests  uint64
	Took     time.Duration
	Torn     string   // what was discarded at the end of the log
	Lost     []string // with AcceptLoss: what is lost
	Damaged  []string // with Check: what is damaged and not needed now
	// Incomplete is the number of filters that lost data, at this start or an earlier one:
	// engine.Filter.Lost. IncompleteNames are names of them, at most maxNames.
	Incomplete      int
	IncompleteNames []string
	// Missing is not nil if names of filters may be missing, because of losses at this start or an earlier
	// one: engine.MissingNames.
	Missing *engine.MissingNames
}

// maxNames is the maximum number of names in a report.
const maxNames = 20

// count notes the filters that an engine has at the end of a recovery.
func (r *Report) count(e *engine.Engine) {
	r.Filters = e.Len()
	r.Bytes, _ = e.Memory()
	r.Incomplete, r.IncompleteNames = e.LostLen(), e.LostNames(maxNames)
	r.Missing = e.MissingNames()
}

// Result is the state of the disk after a recovery.
type Result struct {
	Set      snapshot.Set
	Position engine.Position // of the last change
	Batch    uint64          // number of the last batch
	// Damaged is true if data is lost or was read from a second copy. New snapshots make everything
	// whole again.
	Damaged bool
	Report  Report
	// Follower applies the batches that come next, with Options.Follow.
	Follower *Follower
}

// Run fills the engine, which must be empty. The error wraps ErrLost if durable data is missing, and
// snapfile.ErrUnreadable if the disk cannot read a file.
func Run(ctx context.Context, l *wal.Log, files *snapfile.Dir, e *engine.Engine, o Options) (Result, error) {
	begin := time.Now()
	r := newRestorer(l, files, e, o)
	p := newReplayer(e, r.losses)
	err := run(ctx, r, p)
	if errors.Is(err, snapfile.ErrUnreadable) && !o.AcceptLoss {
		err = fmt.Errorf("%w: %s", err, UnreadableRemedy)
	}
	result := Result{Set: r.set, Position: p.position, Batch: p.batch, Damaged: r.damaged || r.losses.any, Report: p.report}
	result.Report.Snapshot, result.Report.Lost = r.snapshot, r.losses.list
	result.Report.Took = time.Since(begin)
	result.Follower = &Follower{p}
	result.Report.count(e)
	return result, err
}

func run(ctx context.Context, r *restorer, p *Replayer) error {
	if lost := r.o.Lost; lost != "" {
		r.losses.missNames(0)
		if err := r.losses.add("%s", lost); err != nil {
			return err
		}
	}
	if err := r.findSnapshots(); err != nil {
		return err
	}
	if err := r.restore(ctx); err != nil {
		return err
	}
	p.begin(r)
	if err := p.replay(ctx, r.log, r.from); err != nil {
		return err
	}
	r.losses.addTo(r.engine)
	if used, limit := r.engine.Memory(); limit != 0 && used > limit {
		r.o.Log.Warn("memory limit exceeded after recovery; creating and growing filters is refused", event.MemoryExceeded, "bytes", used, "limit", limit)
	}
	r.set.NoteRecovered(p.position, p.changed)
	if r.o.Check {
		if err := r.checkPrevious(ctx, &p.report); err != nil {
			return err
		}
	}
	return r.countPieces(ctx)
}

// Limits are those of the states that are read. The engine's memory limit does not apply: it may have
// been lowered since.
func Limits() wire.Limits { return wire.Limits{Bytes: 1 << 44} }

// maxLost is the maximum number of losses in a report.
const maxLost = 1000

// losses collects what is lost.
type losses struct {
	o    Options
	mu   sync.Mutex
	any  bool
	list []string

	names   bool   // names of filters may be missing
	batches uint64 // number of lost batches, as far as it is known
}

// add adds a loss. It returns an error unless losses are accepted. It is safe for concurrent use.
func (l *losses) add(format string, args ...any) error {
	what := fmt.Errorf(format, args...)
	if !l.o.AcceptLoss {
		return fmt.Errorf("%w: %w: %s", ErrLost, what, Remedy)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.any = true
	if len(l.list) < maxLost {
		l.list = append(l.list, what.Error())
	}
	return nil
}

// missNames notes that filters may be lost whose names are unknown, with a number of batches. It is safe for
// concurrent use.
func (l *losses) missNames(batches uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.names = true
	l.batches += batches
}

// addTo notes in an engine that names may be missing.
func (l *losses) addTo(e *engine.Engine) {
	if l.names {
		e.AddMissingNames(engine.MissingNames{Since: time.Now().UnixMilli(), Batches: l.batches})
	}
}

// countPieces counts the bytes of pieces that the snapshots need.
func (r *restorer) countPieces(ctx context.Context) error {
	previous, err := r.set.Count(ctx, r.pieces)
	if previous && r.isDamage(err) {
		r.o.Log.Warn("previous snapshot unreadable", event.DamageRepaired, "error", err)
		r.set.DropPrevious()
		return nil
	}
	return err
}
