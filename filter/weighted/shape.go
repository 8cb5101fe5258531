package weighted

import (
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/filter/internal/design"
	"github.com/umbel-filters/umbel/plan"
	"github.com/umbel-filters/umbel/probe"
)

const (
	// MaxK is the largest number of cells per key.
	MaxK = 256
	// MaxClasses is the largest number of classes.
	MaxClasses = 64
)

// wordGroup is the group of filters with a multiple of 2^6 cells, as in bloom.
const wordGroup = probe.WordLog

// billion is the unit in which a state has shares: one part in 10^9.
const billion = 1e9

// Class is a class of keys. The shares are what the plan expects, for forecasts and
// estimates; they move no cell. Where there are several classes, those of class 0
// are what the others leave of 1.
type Class struct {
	K       int     // cells set per key, 1 to MaxK
	Members float64 // share of the keys in the filter, 0 to 1
	Queries float64 // share of the questions about other keys, 0 to 1
}

// Shape is what is fixed of a filter when it is made.
type Shape struct {
	M       uint64  // cells (bits), at least 1, a multiple of 2^Group
	Classes []Class // 1 to MaxClasses
	Group   uint8   // log2 of the cells that stay together in a fold: 0 or 6
	Hasher  umbel.Hasher

	// At most one of these tells classes; where neither does, the program tells.
	Hot      []Hot
	Prefixes []Prefix
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have the
// shape.
func (s Shape) Check() error {
	err := s.check()
	if err == nil {
		_, _, err = s.tables()
	}
	return design.Wrap(err, umbel.ErrGoal)
}

// check is Check of all but the tables.
func (s Shape) check() error {
	switch {
	case s.M == 0 || s.M > 1<<56:
		return fmt.Errorf("weighted: %d cells, want 1 to 2^56", s.M)
	case len(s.Classes) < 1 || len(s.Classes) > MaxClasses:
		return fmt.Errorf("weighted: %d classes, want 1 to %d", len(s.Classes), MaxClasses)
	case s.Group != 0 && s.Group != wordGroup:
		return fmt.Errorf("weighted: groups of 2^%d cells, want 2^0 or 2^%d", s.Group, wordGroup)
	case s.M%(1<<s.Group) != 0:
		return fmt.Errorf("weighted: %d cells aren't whole groups of %d", s.M, 1<<s.Group)
	case len(s.Hot) > 0 && len(s.Prefixes) > 0:
		return fmt.Errorf("weighted: classes by %d digests and by %d prefixes, want one of them", len(s.Hot), len(s.Prefixes))
	}
	var members, queries float64
	for i, c := range s.Classes {
		if c.K < 1 || c.K > MaxK {
			return fmt.Errorf("weighted: class %d sets %d cells per key, want 1 to %d", i, c.K, MaxK)
		}
		if !(c.Members >= 0 && c.Members <= 1 && c.Queries >= 0 && c.Queries <= 1) {
			return fmt.Errorf("weighted: class %d has %v of the keys and %v of the questions, want shares from 0 to 1", i, c.Members, c.Queries)
		}
		if i > 0 {
			members += c.Members
			queries += c.Queries
		}
	}
	if most := 1 + MaxClasses/billion; members > most || queries > most {
		return fmt.Errorf("weighted: the classes from 1 on have %v of the keys and %v of the questions, want at most 1", members, queries)
	}
	return s.Hasher.Check()
}

// inBillionths returns the classes with shares as a state has them; those of class 0
// are the rest.
func inBillionths(classes []Class) []Class {
	rounded := slices.Clone(classes)
	members, queries := uint64(billion), uint64(billion)
	share := func(x float64, left *uint64) float64 {
		u := min(uint64(math.Round(x*billion)), *left)
		*left -= u
		return float64(u) / billion
	}
	for i := range rounded[1:] {
		c := &rounded[1+i]
		c.Members, c.Queries = share(c.Members, &members), share(c.Queries, &queries)
	}
	rounded[0].Members, rounded[0].Queries = float64(members)/billion, float64(queries)/billion
	return rounded
}

// Forecast tells what a filter of this shape is with n keys in it, of the classes'
// shares: K is the mean over these keys, FPRate over the questions about others. Bytes
// includes the table, of which 8 bytes for each digest in Hot.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	fc := umbel.Forecast{Keys: n, Cells: s.M, Bytes: (s.M+63)/64*8 + s.tableBytes(), K: s.meanK()}
	classes, ks := s.plan(float64(n))
	fc.FPRate, _ = plan.WeightedFPRate(s.M, classes, ks) // 0 without keys
	return fc
}

// plan returns what package plan is to know of the classes.
func (s Shape) plan(n float64) (classes []plan.Class, ks []int) {
	for _, c := range s.Classes {
		classes = append(classes, plan.Class{Members: c.Members * n, Queries: c.Queries})
		ks = append(ks, c.K)
	}
	return classes, ks
}

func (s Shape) meanK() (k float64) {
	for _, c := range s.Classes {
		k += c.Members * float64(c.K)
	}
	return k
}

func (s Shape) tableBytes() uint64 {
	n := uint64(len(s.Hot)) * 8
	for _, p := range s.Prefixes {
		n += uint64(2 + len(p.Prefix))
	}
	return (n + 7) / 8 * 8
}

// New returns an empty filter of that shape, whose shares are rounded to one part in
// 10^9. The error wraps umbel.ErrGoal if there can't be one.
func NewShape(s Shape) (*Filter, error) {
	f, err := newFilter(s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, umbel.ErrGoal)
	}
	return f, nil
}

func newFilter(s Shape) (*Filter, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	hot, prefixes, err := s.tables()
	if err != nil {
		return nil, err
	}
	a, err := cells.New(s.M, 1)
	if err != nil {
		return nil, fmt.Errorf("weighted: %w", err)
	}
	f := &Filter{shape: s, hot: hot, prefixes: prefixes}
	f.shape.Classes = inBillionths(s.Classes)
	f.shape.Hot, f.shape.Prefixes = nil, nil
	f.hold(a)
	return f, nil
}

// tables returns the tables that tell classes, of which one is empty at least.
func (s Shape) tables() (hot hotTable, prefixes prefixTable, err error) {
	if len(s.Hot) > 0 {
		words, err := hotWords(s.Hot, s.Classes)
		if err != nil {
			return hot, prefixes, err
		}
		hot, err = newHotTable(words, len(s.Classes))
		return hot, prefixes, err
	}
	if len(s.Prefixes) > 0 {
		prefixes, err = newPrefixTable(sortedPrefixes(s.Prefixes), len(s.Classes))
	}
	return hot, prefixes, err
}

// Shape returns the filter's shape: New makes an empty filter like it. Of a digest in
// Hot it has the bits that count, the upper 56 of H1.
func (f *Filter) Shape() Shape {
	s := f.shape
	s.Classes = slices.Clone(s.Classes)
	for _, w := range f.hot.words {
		s.Hot = append(s.Hot, Hot{umbel.Digest{H1: w >> classBits << classBits}, int(w & classMask)})
	}
	s.Prefixes = slices.Clone(f.prefixes.list)
	return s
}
