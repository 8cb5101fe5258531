package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel/internal/pause"
	"github.com/umbel-filters/umbel/share"
)

// Options configure a demonstration. All fields except Dir and Seed are required.
type Options struct {
	// Dir is the directory whose files are the set. If it is empty, a population is generated.
	Dir string
	// Keys is the number of keys of the population at the beginning.
	Keys int
	// Changes is the number of keys that are added to the population or removed from it per second.
	Changes float64
	// Every is the time between two versions. Versions of a directory take at least five times the
	// time of reading it.
	Every time.Duration
	// Cycle is the period in which one subscriber ends and returns.
	Cycle time.Duration
	// Seed determines the population and the losses.
	Seed uint64
}

const (
	slowBytes  = 2000          // per second, of the slow link
	slowStart  = 3 * slowBytes // bytes with which the subscriber behind it begins
	enoughRate = 0.05          // of false positives, of one subscriber
	lossShare  = 1. / 3        // of the lossy link
	killAfter  = 0.3           // of the cycle
	returnsAt  = 0.7           // of the cycle
	queryEvery = 200 * time.Millisecond
	walkShare  = 4               // the time between two readings of a directory is at least walkShare times as long as one
	walkNote   = 5 * time.Second // a longer time is worth a note
)

// Demo is a demonstration: a set, its publisher and five subscribers.
type Demo struct {
	o           Options
	from        changer
	set         set
	versions    versions
	p           *publisher
	subscribers []*subscriber
	mortal      *subscriber // the one that ends and returns
	temporary   string      // directory
	begin       time.Time
	wait        time.Duration // until the set is read again
	events      events
	last        atomic.Pointer[Report] // nil before the end
	changed     chan struct{}          // wakes the publisher; has room for one
	cells       atomic.Uint64
	skipped     atomic.Int64
}

// New reads the set and publishes its first version. Call Close in any case if there is no error.
func New(ctx context.Context, o Options) (_ *Demo, err error) {
	d := &Demo{o: o, changed: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			d.Close()
		}
	}()
	if d.temporary, err = os.MkdirTemp("", "umbel-demo-"); err != nil {
		return nil, err
	}
	if o.Dir == "" {
		d.from = newPopulation(o.Keys, o.Changes, o.Every, o.Seed)
	} else if d.from, err = newTree(o.Dir, filepath.Base(d.temporary)); err != nil {
		return nil, err
	}
	c, err := d.read(ctx)
	if err != nil {
		return nil, err
	}
	if d.p, err = newPublisher(ctx, &d.set, &d.versions); err != nil {
		return nil, err
	}
	first, err := d.p.next(c)
	if err != nil {
		return nil, err
	}
	d.cells.Store(d.p.filter.Shape().M)
	h, err := d.p.share.Publish(ctx, first.State)
	if err != nil {
		return nil, err
	}
	d.p.done(h)
	d.begin = time.Now()
	d.addSubscribers()
	return d, nil
}

func (d *Demo) addSubscribers() {
	for i, s := range []*subscriber{
		{name: "complete", about: "receives each version", link: newLink(0, 0, 0)},
		{name: "2 kB/s", about: "its connections deliver 2,000 bytes per second; it begins with a coarse fold", link: newLink(slowBytes, 0, 0),
			budget: share.Budget{Start: slowStart}},
		{name: "5 % is enough", about: "a rate of false positives of 5 % suffices: it follows a fold", link: newLink(0, 0, 0),
			budget: share.Budget{Rate: enoughRate}},
		{name: "loses a third", about: "a third of the segments are lost, and its connection ends at each", link: newLink(0, lossShare, d.o.Seed)},
		{name: "ends, returns", about: "ends and continues later from its cache directory", link: newLink(0, 0, 0)},
	} {
		s.p, s.note = d.p, d.note
		d.subscribers = append(d.subscribers, s)
		d.mortal = d.subscribers[i]
	}
	d.mortal.cache = filepath.Join(d.temporary, "cache")
}

// Run changes, publishes and queries the set until parent ends. It returns the report of its end.
func (d *Demo) Run(parent context.Context) (last Report, err error) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	defer func() {
		last = d.Report()
		last.Final = true
		d.last.Store(&last)
		for _, s := range d.subscribers {
			err = errors.Join(err, s.end())
		}
	}()
	for _, s := range d.subscribers {
		if err := s.start(ctx); err != nil {
			return last, err
		}
	}
	changes := make(chan change, 1)
	var work sync.WaitGroup
	for _, part := range []func() error{
		func() error { return d.watch(ctx, changes) },
		func() error { return d.publishAll(ctx, changes) },
		func() error { return d.query(ctx) },
		func() error { return d.killAndRestart(ctx) },
	} {
		work.Go(func() { cancel(part()) }) // the first that ends is the cause
	}
	work.Wait()
	if parent.Err() != nil {
		return last, nil
	}
	return last, context.Cause(ctx)
}

// read reads the set, and decides when it is read next.
func (d *Demo) read(ctx context.Context) (change, error) {
	began := time.Now()
	c, err := d.from.next(ctx)
	took := time.Since(began)
	d.skipped.Store(int64(d.from.skipped()))
	d.wait = d.o.Every - took
	if d.o.Dir != "" {
		d.wait = max(d.wait, walkShare*took)
	}
	return c, err
}

// watch sends the changes of the set until ctx ends. A set that cannot be read remains as it was.
func (d *Demo) watch(ctx context.Context, changes chan<- change) error {
	for {
		if d.wait > max(walkNote, d.o.Every) {
			d.note("reading the directory takes long; it is read again in %v", d.wait.Round(time.Second))
		}
		if !pause.For(ctx, d.wait) {
			return ctx.Err()
		}
		c, err := d.read(ctx)
		if err != nil && ctx.Err() == nil {
			d.note("%v; the set remains as it was", err)
			continue
		}
		select {
		case changes <- c:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case d.changed <- struct{}{}:
		default: // the change before was not taken yet
		}
	}
}

// publishAll publishes changes, and renews the head while there are none.
func (d *Demo) publishAll(ctx context.Context, changes <-chan change) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err := d.p.share.Run(ctx, share.Feed{
		Next: func(context.Context) (*share.Update, error) {
			select {
			case c := <-changes:
				return d.next(c)
			default:
				return nil, nil
			}
		},
		Wake: d.changed,
		Done: func(h *share.Head, err error) {
			if err != nil {
				stop(fmt.Errorf("publish: %w", err))
			} else {
				d.p.done(h)
			}
		},
	})
	return cmp.Or(context.Cause(ctx), err)
}

// next returns the filter after a change, nil if there is none.
func (d *Demo) next(c change) (*share.Update, error) {
	if len(c.added)+len(c.removed) == 0 {
		return nil, nil
	}
	u, err := d.p.next(c)
	if err == nil {
		d.cells.Store(d.p.filter.Shape().M)
	}
	return u, err
}

// query queries all subscribers in rounds.
func (d *Demo) query(ctx context.Context) error {
	q := querier{set: &d.set, versions: &d.versions, rand: rand.New(rand.NewPCG(d.o.Seed, 2))}
	for last := time.Now(); pause.For(ctx, min(queryEvery, d.o.Every)); last = time.Now() {
		if time.Since(last) > lateTimer {
			continue // the process was stopped: the ends of heads that passed meanwhile are noticed first
		}
		for _, s := range d.subscribers {
			q.query(s.current(), &s.answers)
		}
	}
	return ctx.Err()
}

// killAndRestart ends the mortal subscriber in each cycle, and starts it again.
func (d *Demo) killAndRestart(ctx context.Context) error {
	part := func(share float64) time.Duration { return time.Duration(share * float64(d.o.Cycle)) }
	for s := d.mortal; pause.For(ctx, part(killAfter)); pause.For(ctx, part(1-returnsAt)) {
		if err := s.end(); err != nil {
			return err
		}
		d.note("%s: ended; only its cache directory remains", s.name)
		if !pause.For(ctx, part(returnsAt-killAfter)) {
			break
		}
		if err := s.start(ctx); err != nil {
			return err
		}
		d.note("%s: started again with its cache", s.name)
	}
	return ctx.Err()
}

// Close ends the server and removes the temporary files. Call it after Run.
func (d *Demo) Close() error {
	var err error
	if d.p != nil {
		err = d.p.close()
	}
	if d.temporary != "" {
		err = errors.Join(err, os.RemoveAll(d.temporary))
	}
	return err
}
