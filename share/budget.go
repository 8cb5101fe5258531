package share

import (
	"context"
	"fmt"
	"math"

	"github.com/umbel-filters/umbel"
)

// Budget is what a subscriber may spend, and the rate that suffices for it. It selects one of the fold
// classes that the publication offers. A field that is zero sets no limit; with the zero Budget a
// subscriber follows the whole filter and requests nothing else.
type Budget struct {
	// Rate is the false-positive rate that suffices. The subscriber follows the coarsest class whose
	// rate is at most Rate, and the finest one that the limits permit if there is none.
	Rate float64
	// Start is the number of bytes of the snapshot with which the subscriber begins to answer. It
	// begins with the finest class whose snapshot is not longer, and with the coarsest one if all
	// are; a class that suits Rate better follows with the next update.
	Start uint64
	// Memory is the number of bytes of memory that the cells may take. Unlike SubscriberOptions.Limits it
	// selects a class that fits.
	Memory uint64
}

// choose returns the factor of the class that a subscriber should follow, by the classes of a publication
// whose whole filter takes the given bytes of memory. begins says that the subscriber has no version yet.
// The error wraps umbel.ErrLimit if no class fits into the memory.
func (b Budget) choose(classes []Class, bytes uint64, begins bool) (fold uint64, err error) {
	finest := 0 // that the limits permit
	if b.Memory > 0 {
		for finest < len(classes) && bytes/classes[finest].Fold > b.Memory {
			finest++
		}
		if finest == len(classes) {
			coarsest := classes[finest-1]
			return 0, fmt.Errorf("share: the coarsest class takes about %d bytes of memory, the budget is %d: raise it: %w", bytes/coarsest.Fold, b.Memory, umbel.ErrLimit)
		}
	}
	if begins && b.Start > 0 {
		for finest < len(classes)-1 && classes[finest].Snapshot > b.Start {
			finest++
		}
	}
	for i := len(classes) - 1; i > finest; i-- {
		if b.Rate > 0 && classes[i].Rate <= b.Rate {
			return classes[i].Fold, nil
		}
	}
	return classes[finest].Fold, nil
}

// record returns the name of the record that is read next.
func (s *Subscriber) record() string { return ClassRecord(s.class) }

// classOf returns the head of the class that suits the budget, which may be h.
func (s *Subscriber) classOf(ctx context.Context, h *Head, signed []byte) (*Head, []byte, error) {
	if s.o.Budget == (Budget{}) || len(h.Classes) == 0 {
		return h, signed, nil
	}
	bytes := uint64(math.MaxUint64)
	if h.Bytes <= bytes/h.Fold {
		bytes = h.Bytes * h.Fold
	}
	fold, err := s.o.Budget.choose(h.Classes, bytes, s.held.head == nil)
	if err != nil || fold == h.Fold {
		return h, signed, err
	}
	signed, err = s.o.Source.Record(ctx, ClassRecord(fold))
	if err != nil {
		return nil, nil, fmt.Errorf("share: read the head of class %d: %w", fold, err)
	}
	h, err = s.openHead(signed, fold)
	return h, signed, err
}
