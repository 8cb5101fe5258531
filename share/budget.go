package share

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/umbel-filters/umbel"
)

// Budget is what a subscriber may spend, and the rate that suffices for it. It selects one of the fold
// classes that the publication offers, again with each head. A field that is zero sets no limit; with the
// zero Budget a subscriber follows the whole filter and requests nothing else.
type Budget struct {
	// Rate is the false-positive rate that suffices. The subscriber follows the coarsest class whose
	// rate is at most Rate, and the finest one that the limits permit if there is none. It changes to a
	// coarser class if the rate of that is at most 0.9 times Rate.
	Rate float64
	// Start is the number of bytes of the snapshot with which the subscriber begins to answer. It
	// begins with the finest class whose snapshot is not longer, and with the coarsest one if all
	// are. With the next updates it changes to a finer class, if Rate and the other limits permit.
	Start uint64
	// BytesPerSecond limits what is received after the first version: heads, indexes and objects, on
	// average since then. The limit is exceeded by a head at most, and by what the source damages. If the
	// bytes that lead to the version of a head are not saved yet, Update returns an error that wraps
	// ErrBudget, and the next Update continues with the same head. So each head that was received leads to its
	// version, and the subscriber skips those that are published meanwhile: if the class takes more than the
	// limit, versions are late, and one whose head has expired by then is stale.
	//
	// The subscriber stays in its class while the heads and deltas of that fit. Otherwise it changes to the finest
	// one that takes at most 0.8 times the limit, or to the coarsest: that needs no snapshot. To a finer one
	// it changes when what was saved pays for the change.
	BytesPerSecond uint64
	// Memory is the number of bytes of memory that the cells may take. Unlike SubscriberOptions.Limits it
	// selects a class that fits.
	Memory uint64
	// Shrink folds the filter that answers further than its class, by the largest factor with which its rate
	// is at most Rate, and keeps the class packed for the next version. That takes less memory, and the
	// time of packing, unpacking and a few folds for each version. Without Rate it does nothing.
	Shrink bool
}

const (
	// coarserShare is the share of Budget.Rate at which a coarser class suffices, and finerShare that of
	// Budget.BytesPerSecond which a class may take to which the subscriber changes. They prevent changes to and fro.
	coarserShare = 0.9
	finerShare   = 0.8
)

// choice is what is known when a subscriber chooses a class.
type choice struct {
	classes []Class
	bytes   uint64 // memory of the whole filter
	held    uint64 // the factor of the class that the subscriber has; 0 if it has no version
	behind  bool   // and that has missed more versions than heads have deltas
	pace    *pace
}

// choose returns the factor of the class that a subscriber should follow. The error wraps umbel.ErrLimit if
// no class fits into the memory.
func (b Budget) choose(c choice) (fold uint64, err error) {
	last := len(c.classes) - 1
	finest := 0 // that the limits permit
	if b.Memory > 0 {
		for ; c.bytes/c.classes[finest].Fold > b.Memory; finest++ {
			if finest == last {
				return 0, fmt.Errorf("share: the coarsest class takes about %d bytes of memory, the budget is %d: raise it: %w", c.bytes/c.classes[last].Fold, b.Memory, umbel.ErrLimit)
			}
		}
	}
	for finest < last && !b.affords(c, c.classes[finest]) {
		finest++
	}
	for i := last; i > finest; i-- {
		if b.suffices(c, c.classes[i]) {
			return c.classes[i].Fold, nil
		}
	}
	return c.classes[finest].Fold, nil
}

// affords reports whether the bytes of a class are within the budget.
func (b Budget) affords(c choice, class Class) bool {
	if c.held == 0 {
		return b.Start == 0 || class.Snapshot <= b.Start
	}
	if b.BytesPerSecond == 0 {
		return true
	}
	perSecond, known := c.pace.of(class.Fold)
	limit := float64(b.BytesPerSecond)
	if class.Fold < c.held {
		return known && perSecond <= finerShare*limit
	}
	if class.Fold > c.held || c.behind {
		limit *= finerShare // what is left is for the versions that are missed
	}
	return !known || perSecond <= limit
}

// suffices reports whether the rate of a class is low enough.
func (b Budget) suffices(c choice, class Class) bool {
	if class.Fold > c.held && c.held > 0 {
		return class.Rate <= coarserShare*b.Rate
	}
	return class.Rate <= b.Rate
}

// record returns the name of the record that is read next.
func (s *Subscriber) record() string { return ClassRecord(s.class) }

// heldFold returns the factor of the class of the version, 0 if there is none.
func (s *Subscriber) heldFold() uint64 {
	if s.held.head == nil {
		return 0
	}
	return s.held.head.Fold
}

// classOf returns the factor of the class that suits the budget, of those that h announces and that are not
// missing. If that is a finer one than the subscriber has and the bytes are not saved yet, it is the one that
// the subscriber has.
func (s *Subscriber) classOf(h *Head, missing []uint64) (fold uint64, err error) {
	if s.o.Budget == (Budget{}) || len(h.Classes) == 0 {
		return h.Fold, nil
	}
	classes := slices.DeleteFunc(slices.Clone(h.Classes), func(c Class) bool { return slices.Contains(missing, c.Fold) })
	whole := uint64(math.MaxUint64)
	if h.Bytes <= whole/h.Fold {
		whole = h.Bytes * h.Fold
	}
	held := s.heldFold()
	fold, err = s.o.Budget.choose(choice{classes, whole, held, s.isBehind(h), &s.pace})
	if err != nil || fold >= held || !slices.ContainsFunc(classes, func(c Class) bool { return c.Fold == held }) {
		return fold, err
	}
	since := s.o.Now().Sub(s.refused)
	if since >= 0 && since < retryRefine || s.meter.allowance() < changeBytes(classes, held, fold) {
		return held, nil
	}
	return fold, nil
}

// isBehind reports whether a head has no delta from the version that the subscriber has.
func (s *Subscriber) isBehind(h *Head) bool {
	last := s.held.head
	return last != nil && last.Stream == h.Stream && h.Version > last.Version+MaxHeadDeltas
}

// changeBytes returns about how many bytes the change from a class to a finer one takes: the entropy that
// the fold lost, a head and an index.
func changeBytes(classes []Class, from, to uint64) float64 {
	n := float64(2 * maxHead)
	for _, c := range classes {
		switch c.Fold {
		case from:
			n -= float64(c.Snapshot)
		case to:
			n += float64(c.Snapshot)
		}
	}
	return max(n, 0)
}

// retryRefine is the time between two attempts to change to a finer class, after the first has failed.
const retryRefine = time.Minute

// headOf returns the signed head of the class that suits the budget, which may be h, and the factor. A class
// whose record is not there, as in an incomplete copy of a publication, is left out.
func (s *Subscriber) headOf(ctx context.Context, h *Head, signed []byte) ([]byte, uint64, error) {
	var missing []uint64
	for {
		fold, err := s.classOf(h, missing)
		if err == nil {
			s.warnUnmet(h, fold)
		}
		if err != nil || fold == h.Fold {
			return signed, fold, err
		}
		b, err := s.readRecord(ctx, ClassRecord(fold))
		if !errors.Is(err, ErrNotFound) {
			if err != nil {
				err = fmt.Errorf("share: read the head of class %d: %w", fold, err)
			}
			return b, fold, err
		}
		s.o.Log.Warn("a class that the publication announces is missing", "class", fold)
		missing = append(missing, fold)
	}
}

// unmet states which parts of a budget a class exceeds.
type unmet struct{ rate, start, perSecond bool }

// warnUnmet logs what of the budget the best class exceeds, once until it fits again.
func (s *Subscriber) warnUnmet(h *Head, fold uint64) {
	i := slices.IndexFunc(h.Classes, func(c Class) bool { return c.Fold == fold })
	if i < 0 {
		return
	}
	c, b, log := h.Classes[i], s.o.Budget, s.o.Log.With("class", fold)
	perSecond, _ := s.pace.of(fold)
	now := unmet{
		rate:      b.Rate > 0 && c.Rate > b.Rate,
		start:     s.heldFold() == 0 && b.Start > 0 && c.Snapshot > b.Start,
		perSecond: b.BytesPerSecond > 0 && perSecond > float64(b.BytesPerSecond) && i == len(h.Classes)-1,
	}
	if now.rate && !s.unmet.rate {
		log.Warn("no class within the limits has the rate that suffices", "rate", c.Rate, "wanted", b.Rate)
	}
	if now.start && !s.unmet.start {
		log.Warn("every first version is longer than the limit", "bytes", c.Snapshot, "limit", b.Start)
	}
	if now.perSecond && !s.unmet.perSecond {
		log.Warn("the coarsest class takes more bytes per second than the limit; versions are skipped or late", "bytes", uint64(perSecond), "limit", b.BytesPerSecond)
	}
	s.unmet = now
}
