package metrics

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter/redisbloom"
)

// survey measures filters in the background and collects what was found last.
type survey struct {
	o    Options
	last atomic.Pointer[found]
}

// found is what a walk over all filters found.
type found struct {
	layers, items, capacity uint64
	largest                 []sample
}

// sample is a filter as it was when it was measured.
type sample struct {
	id              uint64
	name, kind      string
	bytes           uint64
	stats           umbel.Stats
	layers          int
	items, capacity uint64
}

// share is how much time the survey leaves alone for each that it takes.
const share = 19

// Survey measures all filters again and again until ctx is done, and takes a twentieth of one
// core's time at most.
func (m *Metrics) Survey(ctx context.Context) {
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		if f, ok := m.survey.walk(ctx); ok {
			m.survey.last.Store(f)
		}
		t.Reset(m.o.Every)
	}
}

// walk measures each filter once. ok is false if ctx was done before.
func (s *survey) walk(ctx context.Context) (f *found, ok bool) {
	f = new(found)
	var cursor uint64
	var spent time.Duration
	for {
		var batch []*engine.Filter
		cursor = s.o.Engine.List(cursor, 128, func(e *engine.Filter) bool {
			batch = append(batch, e)
			return true
		})
		for _, e := range batch {
			begin := time.Now()
			f.add(e, s.o.Filters)
			if spent += time.Since(begin); spent < 10*time.Millisecond {
				continue
			}
			select {
			case <-ctx.Done():
				return nil, false
			case <-time.After(share * spent):
			}
			spent = 0
		}
		if cursor == 0 {
			f.cut(s.o.Filters)
			return f, true
		}
	}
}

// add measures a filter.
func (f *found) add(e *engine.Filter, keep int) {
	s := sample{id: e.ID(), name: e.Name(), kind: e.Kind(), bytes: e.Bytes(), stats: e.Measured(), layers: 1}
	err := e.View(func(filter umbel.Filter) {
		if r, ok := filter.(*redisbloom.Filter); ok {
			info := r.Info()
			s.layers, s.items, s.capacity = info.Filters, info.Items, info.Capacity
			return
		}
		s.layers = max(s.layers, len(filter.State().Parts))
		s.items = uint64(min(s.stats.Keys, float64(s.stats.Cells)))
	})
	if err != nil {
		return
	}
	f.layers += uint64(s.layers)
	f.items += s.items
	f.capacity += s.capacity
	if f.largest = append(f.largest, s); len(f.largest) > 2*keep {
		f.cut(keep)
	}
}

// cut leaves the largest filters.
func (f *found) cut(keep int) {
	slices.SortFunc(f.largest, func(a, b sample) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.name, b.name))
	})
	f.largest = f.largest[:min(len(f.largest), keep)]
}

var (
	layersTotal   = gauge("bloom_num_filters_across_objects", "Layers of all filters.")
	itemsTotal    = gauge("bloom_num_items_across_objects", "Additions that changed a filter; an estimate of keys where a kind doesn't count them.")
	capacityTotal = gauge("bloom_capacity_across_objects", "Keys that filters made by BF.* are made for.")

	filterBytes  = ofFilter("umbel_filter_bytes", "Memory that the filter takes.")
	filterFill   = ofFilter("umbel_filter_fill_ratio", "Nonzero cells of all cells.")
	filterRate   = ofFilter("umbel_filter_fpr_estimated", "False-positive rate that follows from the fill.")
	filterLayers = ofFilter("umbel_filter_layers", "Layers.")
	filterItems  = ofFilter("umbel_filter_items", "Additions that changed the filter; an estimate of keys where the kind doesn't count them.")
	filterAdded  = ofFilter("umbel_filter_added_total", "Keys that were to be added since the start.")
	filterAsked  = ofFilter("umbel_filter_asked_total", "Keys that were asked for since the start.")
	filterYes    = ofFilter("umbel_filter_found_total", "Keys among those asked for that may be in the filter.")
)

func ofFilter(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, []string{"filter", "kind"}, nil)
}

func (s *survey) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		layersTotal, itemsTotal, capacityTotal,
		filterBytes, filterFill, filterRate, filterLayers, filterItems, filterAdded, filterAsked, filterYes,
	} {
		ch <- d
	}
}

// Collect tells what the last whole walk found: nothing before the first.
func (s *survey) Collect(ch chan<- prometheus.Metric) {
	f := s.last.Load()
	if f == nil {
		return
	}
	tell := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	const now, sum = prometheus.GaugeValue, prometheus.CounterValue
	tell(layersTotal, now, float64(f.layers))
	tell(itemsTotal, now, float64(f.items))
	tell(capacityTotal, now, float64(f.capacity))
	seen := map[string]bool{}
	for _, one := range f.largest {
		name := label(one.name)
		if seen[name] { // names that differ in bytes alone that aren't text
			continue
		}
		seen[name] = true
		tell(filterBytes, now, float64(one.bytes), name, one.kind)
		tell(filterFill, now, one.stats.Fill, name, one.kind)
		tell(filterRate, now, one.stats.FPRate, name, one.kind)
		tell(filterLayers, now, float64(one.layers), name, one.kind)
		tell(filterItems, now, float64(one.items), name, one.kind)
		f := s.o.Engine.Get([]byte(one.name))
		if f == nil || f.ID() != one.id {
			continue
		}
		c := f.Counts()
		tell(filterAdded, sum, float64(c.Added), name, one.kind)
		tell(filterAsked, sum, float64(c.Queried), name, one.kind)
		tell(filterYes, sum, float64(c.Found), name, one.kind)
	}
}
