package inpacket

import (
	"errors"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// ErrTooLong means that Search found no filter that is short enough. More seeds may find
// one, and so may more forms.
var ErrTooLong = errors.New("no filter is short enough")

// DefaultSeeds is the default number of seeds that Search tries: those that fit in a
// header without a wide seed.
const DefaultSeeds = 256

// Task is the set of links that a filter must contain, and the set that it must not
// match.
type Task struct {
	// Tree are the links that a packet is sent over, by hop: Tree[i] are the links of the
	// routers that it reaches over i links, and Tree[0] those of the source's router.
	Tree [][]Codeword
	// Others are the links next to the tree, which the filter must not match: Others[i]
	// are those that routers query at hop i.
	Others [][]Codeword
}

// Options configure a search. The zero Options search for the shortest filter with little
// effort.
type Options struct {
	Forms []Form // forms to try, except Dense; default all but Folded

	// Seeds is the largest number of seeds to try, 1 to 65536; 0 means DefaultSeeds.
	// Seeds from 256 on make a header 8 bits longer, which counts as cost. The time is
	// about proportional to Seeds. For Staged a sixteenth as many seeds are tried,
	// because each stage has 16 seeds for one of the header.
	Seeds int

	// MaxFalseMatch, unless 0, is the largest Found.FalseMatch that is accepted, above 0
	// and at most 1. For Staged it applies to each stage.
	MaxFalseMatch float64

	// MaxBits, unless 0, is the largest Found.Bits that is accepted.
	MaxBits int
}

// Found is a filter without a false match among the links of the task. Its fields are for
// the fields of a [Header] with the same names.
type Found struct {
	Form   Form
	K      uint8
	Seed   uint16
	Bits   int
	Filter []byte

	// FalseMatch is the probability that the filter matches a link that wasn't in the
	// task, for example a new one. For Staged it is the mean over the stages.
	FalseMatch float64

	Trials uint64 // number of filters tried, of all forms
}

// Cost returns the number of bits that a header spends on the filter and the seed.
func (f Found) Cost() int { return f.Bits + seedBits(f.Seed) }

// seedBits returns the number of bits of a seed in a header.
func seedBits(seed uint16) int {
	if seed > 0xff {
		return 16
	}
	return 8
}

// Search returns the filter of the least cost that it finds among the forms. The filter
// contains every link of the tree and matches none of the others. Among forms of equal
// cost the lowest number wins, but Linear and Deep are searched together. The same task and options give the same filter on every
// machine. For forms with one filter for all hops, a link that is queried at two hops, or
// twice at one hop, counts once. Search is safe to call concurrently, also with the same
// task.
//
// Search never returns a filter that is more than three quarters full: see
// [Header.Overfull]. A tree without links gives a Single filter of one zero bit.
//
// For a large task, for which a seed takes long, Search tries fewer seeds: it ends a form
// after the work that Seeds seeds take with about 150 links in the tree and 400 others.
// It always finishes the current seed. It does not search for filters with sections if a
// seed would take more than about two seconds, which is the case above about 10,000 bits.
//
// It returns an error wrapping umbel.ErrGoal if an option is out of range, or if a link
// is both in the tree and among the others: at the same hop, or, except for Staged, at
// any two hops. The error wraps errors.ErrUnsupported if Forms contains Dense, and
// [ErrTooLong] if no form gave a filter.
func Search(t Task, o Options) (Found, error) {
	o, err := o.check()
	if err != nil {
		return Found{}, err
	}
	flat, err := t.check(o.Forms)
	if err != nil {
		return Found{}, err
	}
	if flat.tree == 0 {
		return Found{Form: Single, K: 1, Bits: 1, Filter: []byte{0}, Trials: 1}, nil
	}
	best := Found{Form: Dense}
	var trials uint64
	// Filters with sections are nearly always the shortest. If their length is known, the
	// searches for the other forms end early.
	for _, form := range []Form{Complement, Linear, Folded, Staged, Single} {
		if flat.torn && form != Staged {
			continue
		}
		q := search{Options: o, limit: o.MaxBits + 16}
		if best.Form != Dense {
			q.limit = best.Cost()
		}
		var found Found
		var ok bool
		switch {
		case form == Complement || form == Linear:
			found, ok = searchSections(flat, form, &q)
		case !slices.Contains(o.Forms, form):
		case form == Folded:
			found, ok = searchFolded(flat, &q)
		case form == Staged:
			found, ok = searchStaged(t, &q)
		case form == Single:
			found, ok = searchSingle(flat, &q)
		}
		trials += q.trials
		if ok {
			best = found
		}
	}
	best.Trials = trials
	if best.Form == Dense {
		return Found{Trials: trials}, fmt.Errorf("no filter of at most %d bits with a false-match rate of at most %g contains %d "+
			"links and excludes %d, after %d trials: %w",
			o.MaxBits, o.MaxFalseMatch, flat.tree, len(flat.codewords)-flat.tree, trials, ErrTooLong)
	}
	return best, nil
}

// check returns o with defaults instead of zeros.
func (o Options) check() (Options, error) {
	if len(o.Forms) == 0 {
		o.Forms = []Form{Single, Staged, Linear, Deep, Complement}
	}
	for _, f := range o.Forms {
		switch {
		case f == Dense:
			return o, sentinel.Errorf(errors.ErrUnsupported, "filters of stored codewords can't be searched")
		case f > Complement || f > Dense && f < Deep:
			return o, sentinel.Errorf(umbel.ErrGoal, "form %d, want 0 to %d, %d or %d", f, Linear, Deep, Complement)
		}
	}
	if o.Seeds == 0 {
		o.Seeds = DefaultSeeds
	}
	if o.Seeds < 1 || o.Seeds > 1<<16 {
		return o, sentinel.Errorf(umbel.ErrGoal, "%d seeds, want 1 to %d", o.Seeds, 1<<16)
	}
	if o.MaxFalseMatch == 0 {
		o.MaxFalseMatch = 1
	}
	if !(o.MaxFalseMatch > 0 && o.MaxFalseMatch <= 1) {
		return o, sentinel.Errorf(umbel.ErrGoal, "largest false-match rate %g, want above 0 and at most 1", o.MaxFalseMatch)
	}
	if o.MaxBits == 0 {
		o.MaxBits = MaxBits
	}
	if o.MaxBits < 1 || o.MaxBits > MaxBits {
		return o, sentinel.Errorf(umbel.ErrGoal, "at most %d bits, want 1 to %d", o.MaxBits, MaxBits)
	}
	return o, nil
}

// search is the search for a filter of one form.
type search struct {
	Options
	limit  int    // the largest cost that is accepted
	trials uint64 // number of filters tried
	work   int64  // steps of about a nanosecond
}

// workPerSeed is the average work that a seed may take.
const workPerSeed = 100_000

// more reports whether the search should try a seed: it has work left, and the seed fits
// in the limit.
func (q *search) more(seed int) bool {
	return seed < q.Seeds && (seed == 0 || q.hasWork()) && q.longest(seed) > 0
}

// hasWork reports whether the search has work left.
func (q *search) hasWork() bool { return q.work < int64(q.Seeds)*workPerSeed }

// longest returns the largest number of bits of a filter with a seed.
func (q *search) longest(seed int) int {
	return min(q.MaxBits, q.limit-seedBits(uint16(seed)))
}
