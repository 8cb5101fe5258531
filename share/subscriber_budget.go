package share

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Budget limits what a subscriber receives and keeps, and states the rate that suffices for it. It selects one of the
// fold classes that the publication offers, again with each head. A field that is zero sets no limit; with the
// zero Budget a subscriber follows the whole filter and requests nothing else. Each field is a flag of umbel replica and umbel fetch.
type Budget struct {
	// Rate is the false-positive rate that suffices (--fpr). The subscriber follows the coarsest class whose
	// rate is at most Rate, and the finest one that the limits permit if there is none. It changes to a
	// coarser class whose rate is at most 0.9 times Rate.
	Rate float64
	// Start is the number of bytes of the snapshot with which the subscriber begins to answer (--start-bytes). It
	// begins with the finest class whose snapshot is not longer, and with the coarsest one if all
	// are. With the next updates it changes to a finer class, if Rate and the other limits permit.
	Start uint64
	// BytesPerSecond limits the bytes that are received after the first version: heads, indexes and objects, on
	// average since then (--bytes-per-second). The limit is exceeded by a head at most, and by bytes that the source
	// damages. If the bytes that lead to the version of a head are not saved yet, Update returns an error that wraps
	// ErrBudget, and the next Update continues with the same head. So each head that was received leads to its
	// version, and the subscriber skips those that are published meanwhile: if the class takes more than the
	// limit, versions are late, and one whose head has expired by then is stale.
	//
	// The subscriber stays in its class while the heads and deltas of the class fit. Otherwise it changes to the finest
	// one that takes at most 0.8 times the limit, or to the coarsest: such a change needs no snapshot. It changes to a
	// finer one when the saved bytes pay for the change.
	BytesPerSecond uint64
	// Memory is the number of bytes of memory that the cells may take (--bytes). Unlike SubscriberOptions.Limits it
	// selects a class that fits.
	Memory uint64
}

const (
	// coarserShare is the share of Budget.Rate at which a coarser class suffices, and finerShare the share of
	// Budget.BytesPerSecond that a finer class may take. They prevent changes to and fro.
	coarserShare = 0.9
	finerShare   = 0.8
)

// choice is what is known when a subscriber chooses a class.
type choice struct {
	classes []Class
	bytes   uint64 // memory of the whole filter
	local   uint64 // the factor of the class that the subscriber has; 0 if it has no version
	behind  bool   // it has missed more versions than heads have deltas
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
				return 0, sentinel.Errorf(umbel.ErrLimit,
					"the coarsest class takes about %d bytes of memory, the budget is %d: raise it", c.bytes/c.classes[last].Fold, b.Memory)
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
	if c.local == 0 {
		return b.Start == 0 || class.Snapshot <= b.Start
	}
	if b.BytesPerSecond == 0 {
		return true
	}
	perSecond, known := c.pace.of(class.Fold)
	limit := float64(b.BytesPerSecond)
	if class.Fold < c.local {
		return known && perSecond <= finerShare*limit
	}
	if class.Fold > c.local || c.behind {
		limit *= finerShare // the rest is for the versions that were missed
	}
	return !known || perSecond <= limit
}

// suffices reports whether the rate of a class is low enough.
func (b Budget) suffices(c choice, class Class) bool {
	if class.Fold > c.local && c.local > 0 {
		return class.Rate <= coarserShare*b.Rate
	}
	return class.Rate <= b.Rate
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

// exceeded states which parts of a budget a class exceeds.
type exceeded struct{ rate, start, perSecond bool }

// exceededBy returns which parts of the budget a class exceeds that is followed at a number of bytes per second. A
// subscriber has a coarser class instead of waiting, so only the coarsest one exceeds BytesPerSecond.
func (b Budget) exceededBy(c Class, isFirst, isCoarsest bool, perSecond float64) exceeded {
	return exceeded{
		rate:      b.Rate > 0 && c.Rate > b.Rate,
		start:     isFirst && b.Start > 0 && c.Snapshot > b.Start,
		perSecond: isCoarsest && b.BytesPerSecond > 0 && perSecond > float64(b.BytesPerSecond),
	}
}
