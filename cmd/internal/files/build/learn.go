package build

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"os"
	"slices"
	"sync"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/heavy"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/filter/build"
	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/internal/distinct"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// digestBytes is the memory of a digest.
const digestBytes = 16

// heavyCounters is the number of counters for keys of a log, about 16 MiB.
const heavyCounters = 1 << 17

// Learn makes a filter of kind weighted, or weighted-counting if that is the order's kind, from the keys in the files.
// Absent keys that are frequent in the log of queries get more cells. The order has no parameters but the width of
// counters. Its rate is the rate of
// queries distributed as in the log; its bytes include the table of keys. Files are read twice;
// the digests of a pipe are kept in at most an eighth of Memory.
func (o Order) Learn(files []*os.File, log *os.File) (Result, error) {
	for _, p := range o.Params {
		if p.Name != "width" {
			return Result{}, sentinel.Errorf(umbel.ErrGoal, "%s can't be combined with a log of queries, which determines the cells per key", p.Name)
		}
	}
	asked, err := o.queries(log)
	if err != nil {
		return Result{}, err
	}
	there, err := o.look(files, asked.Items())
	if err != nil {
		return Result{}, err
	}
	if o.Goal.Keys == 0 {
		o.Goal.Keys = there.counter.Plan()
	}
	if o.Goal.FPRate == 0 && o.Goal.Bytes == 0 {
		o.Goal.FPRate = spec.DefaultRate
	}
	shape, err := o.shape(asked, there.members)
	if err != nil {
		return Result{}, err
	}
	forecast := shape.Forecast(o.Goal.Keys)
	if p := o.Goal.FPRate; p != 0 && forecast.FPRate > p*(1+1e-9) {
		return Result{}, sentinel.Errorf(umbel.ErrGoal, "%v keys in %v have a rate of %s, want %s; leave out one of them",
			quantity.Count(o.Goal.Keys), quantity.Size(o.Goal.Bytes), quantity.Rate(forecast.FPRate).Percent(), quantity.Rate(p).Percent())
	}
	what := fmt.Sprintf("a %s filter for %v keys", o.Kind.Name, quantity.Count(o.Goal.Keys))
	if err := container.Fits(what, forecast.Bytes); err != nil {
		return Result{}, err
	}
	f, err := newWeighted(shape)
	if err != nil {
		return Result{}, err
	}
	read, err := there.addTo(f, o.Keys, files)
	f.(umbel.Planner).SetPlanned(umbel.PlannedBy(o.Goal, forecast))
	made := Result{Result: build.Result{Filter: f, Read: read}}
	made.Distinct, made.Estimated = there.counter.Count()
	made.Weights = gainOf(shape, forecast)
	return made, err
}

// newWeighted returns an empty filter of bits or of counters.
func newWeighted(s weighted.Shape) (umbel.Filter, error) {
	if s.Width != 0 {
		return weighted.NewCountingShape(s)
	}
	return weighted.NewShape(s)
}

// queries counts the keys of a log.
func (o Order) queries(log *os.File) (*heavy.Summary, error) {
	var mu sync.Mutex
	s := heavy.New(heavyCounters)
	o.Keys.Tick = nil // the progress bar is for the keys
	_, err := o.Keys.Run([]io.Reader{log}, func(ds []umbel.Digest) error {
		mu.Lock()
		defer mu.Unlock()
		for _, d := range ds {
			s.Add(d)
		}
		return nil
	})
	if err == nil && s.Total() == 0 {
		err = sentinel.Errorf(umbel.ErrGoal, "the log of queries is empty")
	}
	return s, err
}

// looked is the result of the first pass over the keys.
type looked struct {
	keys    uint64
	counter *distinct.Counter
	members map[umbel.Digest]bool // queried keys, and whether they are present
	held    [][]umbel.Digest      // all digests, for a pipe
	again   []int64               // offsets of files, nil for a pipe
}

// look reads the keys, and finds the items among them.
func (o Order) look(files []*os.File, items []heavy.Item) (looked, error) {
	l := looked{counter: distinct.NewCounter(o.Memory/8, false, nil), again: offsets(files), members: make(map[umbel.Digest]bool, len(items))}
	for _, item := range items {
		l.members[item.Digest] = false
	}
	pipe := l.again == nil
	if !pipe {
		o.Keys.Tick = nil // the progress bar is for the second pass
	}
	room := o.Memory / 8 / digestBytes
	var mu sync.Mutex
	var err error
	l.keys, err = o.Keys.Run(readers(files), func(ds []umbel.Digest) error {
		mu.Lock()
		defer mu.Unlock()
		if err := l.counter.Add(ds); err != nil {
			return err
		}
		for _, d := range ds {
			if _, asked := l.members[d]; asked {
				l.members[d] = true
			}
		}
		if !pipe {
			return nil
		}
		if uint64(len(ds)) > room {
			return sentinel.Errorf(umbel.ErrGoal,
				"the keys of the pipe need more than %v of memory, and must be complete before the classes are planned; give key "+
					"files instead of a pipe, or more --max-memory",
				quantity.Size(o.Memory))
		}
		room -= uint64(len(ds))
		l.held = append(l.held, slices.Clone(ds))
		return nil
	})
	return l, err
}

// addTo adds the keys in a second pass, from memory or from their files.
func (l looked) addTo(f umbel.Filter, job keys.Job, files []*os.File) (uint64, error) {
	if l.held != nil {
		for _, ds := range l.held {
			umbel.AddAll(f, nil, ds)
		}
		return l.keys, nil
	}
	if l.keys == 0 {
		return 0, nil
	}
	if err := rewind(files, l.again); err != nil {
		return 0, err
	}
	return Add(f, job, files)
}

// shape plans the filter. Queries for present keys are never false positives, so the table
// contains absent keys. One more of them takes 64 bits from the cells, 64/w of w bits, whose rate is
// exp(-(m/n) ln²2); it is worthwhile if it has more than (64/w) ln²2 / n of the other queries.
func (o Order) shape(asked *heavy.Summary, members map[umbel.Digest]bool) (weighted.Shape, error) {
	const entry = 64
	width, err := o.width()
	if err != nil {
		return weighted.Shape{}, err
	}
	cell := max(width, 1) // bits
	worth := entry / float64(cell) * math.Ln2 * math.Ln2 / float64(o.Goal.Keys)
	n := float64(o.Goal.Keys)
	items := asked.Items()
	left := float64(asked.Total())
	for _, item := range items {
		if members[item.Digest] {
			left -= float64(item.Count - item.Error)
		}
	}
	// A class contains keys with 2^(c-1) to 2^c-1 queries, most frequent first.
	type group struct {
		log  int
		plan weighted.Class
	}
	var groups []group
	var hot []weighted.Hot
	for _, item := range items {
		count := item.Count - item.Error
		if members[item.Digest] {
			continue
		}
		if rest := left - float64(count); count < 2 || float64(count) <= rest*worth {
			break
		}
		left -= float64(count)
		log := bits.Len64(count)
		if len(groups) == 0 || groups[len(groups)-1].log != log {
			groups = append(groups, group{log: log, plan: weighted.Class{Members: 0.5}})
		}
		// None of these keys is present. The estimate for later keys is half a member
		// (Krichevsky and Trofimov 1981), so k stays finite.
		groups[len(groups)-1].plan.Queries += float64(count)
		hot = append(hot, weighted.Hot{Digest: item.Digest, Class: len(groups)})
	}
	classes := []weighted.Class{{Members: n, Queries: max(left, 1)}}
	for _, g := range groups {
		classes = append(classes, g.plan)
	}
	g := o.Goal
	if table := uint64(len(hot)) * entry / 8; g.Bytes != 0 {
		if g.Bytes < table+uint64(cell) {
			return weighted.Shape{}, sentinel.Errorf(umbel.ErrGoal, "%d bytes are too few; the table of frequent keys needs %d", g.Bytes, table)
		}
		g.Bytes = (g.Bytes - table) / uint64(cell) // of a filter of bits with as many cells
		g.FPRate = 0                               // compared with the forecast
	}
	s, err := weighted.Plan(g, classes...)
	s.Hot, s.Width = hot, width
	return s, err
}

// width returns the bits of the counters that the order's kind has, or 0.
func (o Order) width() (uint, error) {
	s, _, err := o.Kind.Shape(umbel.Goal{Keys: 1, FPRate: 0.5}, o.Params)
	if err != nil {
		return 0, err
	}
	return s.(weighted.Shape).Width, nil
}
