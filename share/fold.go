package share

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel"
)

// MaxFolds is the maximum number of fold classes of a publication, apart from the whole filter.
const MaxFolds = 8

// Class is a fold class as a head announces it: the publication of the filter folded by a factor.
type Class struct {
	Fold     uint64  // the factor; 1 is the whole filter
	Snapshot uint64  // bytes of the last snapshot
	Delta    uint64  // bytes of the delta from the version before; 0 if there is none
	Rate     float64 // measured false-positive rate of this version, rounded up to a multiple of 1e-9
}

// rateUnit is the number of units of a rate in a head.
const rateUnit = 1e9

// classPrefix is the beginning of the names of the records of classes.
const classPrefix = HeadName + "-"

// ClassRecord returns the name of the record with the heads of the class of a factor: HeadName for the
// whole filter, otherwise head-FACTOR.
func ClassRecord(fold uint64) string {
	if fold <= 1 {
		return HeadName
	}
	return classPrefix + strconv.FormatUint(fold, 10)
}

// IsHead reports whether name is that of a record with heads: of the whole filter or of a class. A
// carrier for subscribers needs no other records.
func IsHead(name string) bool {
	if name == HeadName {
		return true
	}
	digits, ok := strings.CutPrefix(name, classPrefix)
	fold, err := strconv.ParseUint(digits, 10, 64)
	return ok && err == nil && fold > 1 && ClassRecord(fold) == name
}

// checkFolds returns an error unless the factors of the classes are valid.
func checkFolds(o *PublisherOptions) error {
	if len(o.Folds) > MaxFolds {
		return fmt.Errorf("share: %d fold classes, want at most %d: caches keep few classes best: %w", len(o.Folds), MaxFolds, umbel.ErrGoal)
	}
	if len(o.Folds) > 0 && len(o.Kinds) == 0 {
		return fmt.Errorf("share: a publisher with fold classes needs a list of kinds, for example filter.All: %w", umbel.ErrGoal)
	}
	finer := uint64(1)
	for _, r := range o.Folds {
		if r <= finer || r%finer != 0 {
			return fmt.Errorf("share: the fold class %d follows %d; want ascending factors, each a multiple of the one before: %w", r, finer, umbel.ErrGoal)
		}
		finer = r
	}
	return nil
}

// foldState returns a state folded by r, in memory of its own. The error wraps umbel.ErrMismatch if r does
// not fit, and errors.ErrUnsupported if the kind has no folds.
func foldState(kinds umbel.Kinds, s umbel.State, r uint64) (umbel.State, error) {
	f, err := kinds.Open(s)
	if err != nil {
		return umbel.State{}, err
	}
	folder, ok := f.(umbel.Folder)
	if !ok {
		return umbel.State{}, fmt.Errorf("filters of kind %s cannot be folded: %w", s.Kind, errors.ErrUnsupported)
	}
	if err := folder.Fold(r); err != nil {
		return umbel.State{}, err
	}
	return f.State(), nil
}

// describe returns the class as the heads of the version announce it.
func (d *draft) describe(kinds umbel.Kinds) (Class, error) {
	f, err := kinds.Open(d.state)
	if err != nil {
		return Class{}, err
	}
	c := Class{Fold: d.class.fold, Snapshot: d.next.snapshots[0].Bytes}
	c.Rate = math.Ceil(min(f.Stats().FPRate, 1)*rateUnit) / rateUnit
	if len(d.head.Deltas) > 0 {
		c.Delta = d.head.Deltas[0].Bytes
	}
	return c, nil
}

// classes reads the lines of a head about classes.
func (p *fields) classes(h *Head, lines []string) {
	if len(lines) > 0 && strings.HasPrefix(lines[0], "class ") {
		h.Fold, lines = p.number(p.line(lines[0], "class", 1)[0]), lines[1:]
		if h.Fold < 2 || len(lines) == 0 {
			p.fail("the class %d and %d classes", h.Fold, len(lines))
		}
	}
	if len(lines) == 1 || len(lines) > 1+MaxFolds {
		p.fail("%d classes, want none or 2 to %d", len(lines), 1+MaxFolds)
		return
	}
	listed := h.Fold == 1
	for _, l := range lines {
		f := p.line(l, "fold", 4)
		c := Class{p.number(f[0]), p.number(f[1]), p.number(f[2]), float64(p.limited(f[3], rateUnit)) / rateUnit}
		finer := uint64(0)
		if n := len(h.Classes); n > 0 {
			finer = h.Classes[n-1].Fold
		}
		if finer == 0 && c.Fold != 1 || finer > 0 && (c.Fold <= finer || c.Fold%finer != 0) {
			p.fail("the class %d after %d", c.Fold, finer)
		}
		listed = listed || c.Fold == h.Fold
		h.Classes = append(h.Classes, c)
	}
	if !listed {
		p.fail("the class %d, which is not one of its classes", h.Fold)
	}
}

// checkClass returns an error unless the head is of the class of a factor: a carrier may have put it into
// the record of another one.
func (h *Head) checkClass(fold uint64) error {
	if h.Fold != fold {
		return fmt.Errorf("share: the record %s has a head of class %d: %w", ClassRecord(fold), h.Fold, ErrCorrupt)
	}
	return nil
}
