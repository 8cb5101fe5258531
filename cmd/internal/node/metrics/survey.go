package metrics

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/service/status"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// survey measures filters in the background and collects the last result.
type survey struct {
	o    Options
	last atomic.Pointer[surveyResult]
	idle func(ctx context.Context, d time.Duration) bool // waits; tests replace it
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
			if !s.idle(ctx, idleShare*spent) {
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

// metrics returns the result of the last complete pass.
func (s *survey) metrics() []status.Metric {
	f := s.last.Load()
	if f == nil {
		return nil
	}
	all := []status.Metric{
		status.Gauge("bloom_num_filters_across_objects", "Layers of all filters together.", f.layers),
		status.Gauge("bloom_num_items_across_objects",
			"Additions that changed a filter; an estimated number of keys for kinds that don't count additions.", f.items),
		status.Gauge("bloom_capacity_across_objects", "Capacity of the filters made by BF.*, in keys.", f.capacity),
		status.Gauge("umbel_overfull_filters", "Filters whose false-positive rate is more than twice the one that they were made for.", f.overfull),
	}
	seen := map[string]bool{}
	for _, one := range f.largest {
		name := label(one.name)
		if seen[name] { // names that differ only in bytes that are not UTF-8
			continue
		}
		seen[name] = true
		all = append(all,
			status.Gauge("umbel_filter_bytes", "Memory used by the filter.", one.bytes, "filter", name, "kind", one.kind),
			status.Gauge("umbel_filter_fill_ratio", "Nonzero cells divided by all cells.", one.stats.Fill, "filter", name, "kind", one.kind),
			status.Gauge("umbel_filter_false_positive_ratio", "Estimated false-positive rate.", one.stats.FPRate, "filter", name, "kind", one.kind),
			status.Gauge("umbel_filter_layers", "Number of layers.", one.layers, "filter", name, "kind", one.kind),
			status.Gauge("umbel_filter_items",
				"Additions that changed the filter; an estimated number of keys for kinds that don't count additions.", one.items, "filter", name, "kind", one.kind),
		)
		if one.planned != (umbel.Planned{}) {
			all = append(all,
				status.Gauge("umbel_filter_planned_false_positive_ratio",
					"False-positive rate that the filter was made for.", one.planned.FPRate, "filter", name, "kind", one.kind),
				status.Gauge("umbel_filter_planned_keys", "Keys that the filter was made for.", one.planned.Keys, "filter", name, "kind", one.kind),
			)
		}
		f := s.o.Engine.Get([]byte(one.name))
		if f == nil || f.ID() != one.id {
			continue
		}
		n := f.Counts()
		all = append(all,
			status.Counter("umbel_filter_added_total", "Keys given to additions since the start.", n.Added, "filter", name, "kind", one.kind),
			status.Counter("umbel_filter_queried_total", "Keys queried since the start.", n.Queried, "filter", name, "kind", one.kind),
			status.Counter("umbel_filter_found_total", "Queried keys that may be in the filter.", n.Found, "filter", name, "kind", one.kind),
		)
	}
	return all
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
