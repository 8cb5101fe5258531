package metrics

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// survey measures filters in the background and collects the last result.
type survey struct {
	o    Options
	last atomic.Pointer[surveyResult]
	idle func(ctx context.Context, d time.Duration) error // waits; tests replace it
}

// idle waits for d. It returns the error of ctx if ctx is done first.
func idle(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// surveyResult is the result of one pass over all filters.
type surveyResult struct {
	layers, items, capacity uint64
	overfull                int
	largest                 []sample
}

// sample is one measured filter.
type sample struct {
	id              uint64
	name, kind      string
	bytes           uint64
	stats           umbel.Stats
	planned         umbel.Planned
	layers          int
	items, capacity uint64
}

// idleShare is the ratio of idle time to measuring time.
const idleShare = 19

// Survey measures all filters repeatedly until ctx is done. It uses at most 5 % of one core.
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

// walk measures each filter once. ok is false if ctx was done first. It has no reference to a filter
// while it is idle, which may be minutes: the memory of deleted filters is freed.
func (s *survey) walk(ctx context.Context) (f *surveyResult, ok bool) {
	f = new(surveyResult)
	var cursor uint64
	var spent time.Duration
	for {
		cursor = s.o.Engine.List(cursor, 128, func(e *engine.Filter) bool {
			begin := time.Now()
			f.add(e, s.o.Filters)
			spent += time.Since(begin)
			return spent < 10*time.Millisecond
		})
		if spent >= 10*time.Millisecond {
			if s.idle(ctx, idleShare*spent) != nil {
				return nil, false
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
func (f *surveyResult) add(e *engine.Filter, keep int) {
	stats, err := e.Measured()
	if err != nil { // it was deleted, or is faulty, which the engine reports
		return
	}
	s := sample{id: e.ID(), name: e.Name(), kind: e.Kind(), bytes: e.Bytes(), stats: stats, planned: e.Planned(), layers: 1}
	if s.kind == redisbloom.Name {
		err = e.View(func(filter umbel.Filter) {
			info := filter.(*redisbloom.Filter).Info()
			s.layers, s.items, s.capacity = info.Filters, info.Items, info.Capacity
		})
	} else {
		var shape umbel.State
		shape, err = e.Shape()
		s.layers = max(s.layers, len(shape.Parts))
		s.items = uint64(min(s.stats.Keys, float64(s.stats.Cells)))
	}
	if err != nil {
		return
	}
	f.layers += uint64(s.layers)
	f.items += s.items
	f.capacity += s.capacity
	if e.Overfull() {
		f.overfull++
	}
	if f.largest = append(f.largest, s); len(f.largest) > 2*keep {
		f.cut(keep)
	}
}

// cut keeps the largest filters.
func (f *surveyResult) cut(keep int) {
	slices.SortFunc(f.largest, func(a, b sample) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.name, b.name))
	})
	f.largest = f.largest[:min(len(f.largest), keep)]
}

var (
	layersTotal   = gauge("bloom_num_filters_across_objects", "Layers of all filters together.")
	itemsTotal    = gauge("bloom_num_items_across_objects", "Additions that changed a filter; an estimated number of keys for kinds that don't count additions.")
	capacityTotal = gauge("bloom_capacity_across_objects", "Capacity of the filters made by BF.*, in keys.")
	overfullTotal = gauge("umbel_overfull_filters", "Filters whose false-positive rate is more than twice the one that they were made for.")

	filterBytes   = ofFilter("umbel_filter_bytes", "Memory used by the filter.")
	filterFill    = ofFilter("umbel_filter_fill_ratio", "Nonzero cells divided by all cells.")
	filterRate    = ofFilter("umbel_filter_false_positive_ratio", "Estimated false-positive rate.")
	filterPlanned = ofFilter("umbel_filter_planned_false_positive_ratio", "False-positive rate that the filter was made for.")
	filterKeys    = ofFilter("umbel_filter_planned_keys", "Keys that the filter was made for.")
	filterLayers  = ofFilter("umbel_filter_layers", "Number of layers.")
	filterItems   = ofFilter("umbel_filter_items", "Additions that changed the filter; an estimated number of keys for kinds that don't count additions.")
	filterAdded   = ofFilter("umbel_filter_added_total", "Keys given to additions since the start.")
	filterQueried = ofFilter("umbel_filter_queried_total", "Keys queried since the start.")
	filterFound   = ofFilter("umbel_filter_found_total", "Queried keys that may be in the filter.")
)

func ofFilter(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, []string{"filter", "kind"}, nil)
}

func (s *survey) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		layersTotal, itemsTotal, capacityTotal, overfullTotal,
		filterBytes, filterFill, filterRate, filterPlanned, filterKeys, filterLayers, filterItems, filterAdded, filterQueried, filterFound,
	} {
		ch <- d
	}
}

// Collect exports the result of the last complete pass.
func (s *survey) Collect(ch chan<- prometheus.Metric) {
	f := s.last.Load()
	if f == nil {
		return
	}
	emit := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	const now, sum = prometheus.GaugeValue, prometheus.CounterValue
	emit(layersTotal, now, float64(f.layers))
	emit(itemsTotal, now, float64(f.items))
	emit(capacityTotal, now, float64(f.capacity))
	emit(overfullTotal, now, float64(f.overfull))
	seen := map[string]bool{}
	for _, one := range f.largest {
		name := label(one.name)
		if seen[name] { // names that differ only in bytes that are not UTF-8
			continue
		}
		seen[name] = true
		emit(filterBytes, now, float64(one.bytes), name, one.kind)
		emit(filterFill, now, one.stats.Fill, name, one.kind)
		emit(filterRate, now, one.stats.FPRate, name, one.kind)
		if one.planned != (umbel.Planned{}) {
			emit(filterPlanned, now, one.planned.FPRate, name, one.kind)
			emit(filterKeys, now, float64(one.planned.Keys), name, one.kind)
		}
		emit(filterLayers, now, float64(one.layers), name, one.kind)
		emit(filterItems, now, float64(one.items), name, one.kind)
		f := s.o.Engine.Get([]byte(one.name))
		if f == nil || f.ID() != one.id {
			continue
		}
		c := f.Counts()
		emit(filterAdded, sum, float64(c.Added), name, one.kind)
		emit(filterQueried, sum, float64(c.Queried), name, one.kind)
		emit(filterFound, sum, float64(c.Found), name, one.kind)
	}
}

// maxLabel is the length of the longest filter name in a label, in bytes.
const maxLabel = 128

// label returns a filter name, which may contain any bytes, as valid text.
func label(name string) string {
	if len(name) > maxLabel {
		name = name[:maxLabel]
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}
