package weighted

import (
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/arrays"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

const (
	// maxK is the largest number of cells per key.
	maxK = arrays.MaxK
	// maxClasses is the largest number of classes.
	maxClasses = 64
)

// billion is the unit of shares in a state: one part in 10^9.
const billion = 1e9

// Class is a class of keys. Bruck, Gao and Jiang 2006 give each key e of a universe a probability x_e of
// being in the set and a share r_e of the queries for absent keys. All keys of a class have the same
// r_e/x_e and therefore the same K; only the sums over the class matter.
//
// In a Shape the sums are shares. They are expectations, for forecasts and estimates; they
// affect no position. If there are several classes, class 0 has the shares that the
// others leave.
type Class struct {
	K       int     // cells set per key, 1 to 256
	Members float64 // the sum of x_e; in a Shape the share of the keys in the filter, 0 to 1
	Queries float64 // the sum of r_e; in a Shape the share of the queries for other keys, 0 to 1
}

// Shape contains the parameters that are fixed when a filter is made.
type Shape struct {
	M       uint64  // cells, at least 1, a multiple of 2^Group
	Classes []Class // 1 to maxClasses
	Width   uint    // bits of a counter of a Counting: 4, 8 or 16; 0 for a Filter
	Group   uint8   // log2 of the cells that stay together in a fold: 0 or 6; Plan chooses 6 for whole words, and only equal groups merge
	Hasher  umbel.Hasher

	// At most one of these contains the classes of keys. If neither does, the program
	// names the class of each key.
	Hot      []Hot
	Prefixes []Prefix
}

// Check returns an error that wraps umbel.ErrGoal unless a filter can have this shape.
func (s Shape) Check() error {
	err := s.check()
	if err == nil {
		_, _, err = s.tables()
	}
	return sentinel.Wrap(umbel.ErrGoal, err)
}

// check is Check without the tables.
func (s Shape) check() error {
	switch {
	case len(s.Classes) < 1 || len(s.Classes) > maxClasses:
		return fmt.Errorf("weighted: %d classes, want 1 to %d", len(s.Classes), maxClasses)
	case len(s.Hot) > 0 && len(s.Prefixes) > 0:
		return fmt.Errorf("weighted: %d digests and %d prefixes with classes, want one of the two", len(s.Hot), len(s.Prefixes))
	}
	if err := s.kind().Check(s.core()); err != nil {
		return err
	}
	if err := s.kind().CheckWidth(s.width()); err != nil {
		return err
	}
	var members, queries float64
	for i, c := range s.Classes {
		if c.K < 1 || c.K > maxK {
			return fmt.Errorf("weighted: k of class %d is %d, want 1 to %d", i, c.K, maxK)
		}
		if !(c.Members >= 0 && c.Members <= 1 && c.Queries >= 0 && c.Queries <= 1) {
			return fmt.Errorf("weighted: class %d has %v of the keys and %v of the queries, want shares from 0 to 1", i, c.Members, c.Queries)
		}
		if i > 0 {
			members += c.Members
			queries += c.Queries
		}
	}
	if most := 1 + maxClasses/billion; members > most || queries > most {
		return fmt.Errorf("weighted: the classes from 1 on have %v of the keys and %v of the queries, want at most 1", members, queries)
	}
	return nil
}

// kind returns the kind of array of the filters with this shape.
func (s Shape) kind() arrays.Kind {
	if s.Width != 0 {
		return countingKind
	}
	return kind
}

// width returns the bits of a cell.
func (s Shape) width() uint { return max(s.Width, 1) }

// core returns the shape of the array, with the k of class 0.
func (s Shape) core() arrays.Shape {
	return arrays.Shape{M: s.M, K: s.Classes[0].K, Group: s.Group, Hasher: s.Hasher}
}

// inBillionths returns the classes with shares rounded as in a state. Class 0 has the
// remaining shares.
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

// Forecast returns what a filter of this shape costs, and its rate, with n keys that have
// the classes' shares: K is the average over these keys, FPRate over the queries for
// other keys. Bytes includes the table, which takes 8 bytes per digest in Hot.
func (s Shape) Forecast(n uint64) umbel.Forecast {
	perWord := 64 / uint64(s.width())
	fc := umbel.Forecast{Keys: n, Cells: s.M, Bytes: (s.M+perWord-1)/perWord*8 + s.tableBytes(), K: meanK(s.Classes)}
	classes, ks := slices.Clone(s.Classes), make([]int, len(s.Classes))
	for i, c := range s.Classes {
		classes[i].Members, ks[i] = c.Members*float64(n), c.K
	}
	fc.FPRate, _ = fpRate(s.M, classes, ks) // 0 without keys
	return fc
}

// meanK returns the average k of the keys.
func meanK(classes []Class) (k float64) {
	for _, c := range classes {
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

// NewShape returns an empty filter of shape s, without a Width, whose shares it rounds to one part in 10^9. The error
// wraps umbel.ErrGoal if no filter can have that shape. It allocates the memory of the shape: for untrusted
// sizes, check [Shape.Forecast] first.
func NewShape(s Shape) (*Filter, error) {
	if s.Width != 0 {
		return nil, sentinel.Errorf(umbel.ErrGoal, "weighted: counters of %d bits, want bits: use NewCountingShape, or omit Width", s.Width)
	}
	return withProbes(s.make())
}

// make returns an empty array of shape s with its classes.
func (s Shape) make() (keyed, error) {
	if err := s.check(); err != nil {
		return keyed{}, sentinel.Wrap(umbel.ErrGoal, err)
	}
	hot, prefixes, err := s.tables()
	if err != nil {
		return keyed{}, sentinel.Wrap(umbel.ErrGoal, err)
	}
	a, err := s.kind().New(s.core(), s.width())
	if err != nil {
		return keyed{}, err
	}
	return newKeyed(a, s.Classes, hot, prefixes), nil
}

// tables returns the tables of classes, at least one of which is empty.
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
