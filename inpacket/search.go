package inpacket

import (
	"errors"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
)

// ErrTooLong: no filter was found that is as short as it has to be. More seeds may
// find one; so may more forms.
var ErrTooLong = errors.New("no filter is short enough")

// DefaultSeeds is how many seeds Search tries unless told: as many as a header holds
// without a wide seed.
const DefaultSeeds = 256

// Task is what a filter is to tell apart.
type Task struct {
	// Tree are the links that a packet is to go out over, by hop: Tree[i] those of
	// routers that it reaches over i links, Tree[0] those of the source's router.
	Tree [][]Codeword
	// Others are the links next to them that the filter must not hold: Others[i]
	// those that are asked at hop i.
	Others [][]Codeword
}

// Options say how to search. The zero Options search for the shortest filter with
// little effort.
type Options struct {
	Forms []Form // which to try, Dense isn't one of them; none is Single, Staged and Linear

	// Seeds is how many seeds to try at most, 1 to 65536; 0 is DefaultSeeds. Seeds from
	// 256 on make a header 8 bits longer, which is counted against them. The time is
	// about proportional to it. Of Staged, whose stages have 16 seeds for each of the
	// header's, a sixteenth as many are tried.
	Seeds int

	// MaxStray, unless 0, is the largest Found.Stray that will do, above 0 and at most 1;
	// of Staged, for each stage.
	MaxStray float64

	// MaxBits, unless 0, is the largest Found.Bits that will do.
	MaxBits int
}

// Found is a filter without a false match, for a [Header]'s fields of the same names.
type Found struct {
	Form   Form
	K      uint8
	Seed   uint16
	Bits   int
	Filter []byte

	// Stray is the chance that the filter holds a link which wasn't in the task, for
	// example one that is new: of Staged, the mean over the stages.
	Stray float64

	Trials uint64 // how many filters were looked at, of all forms
}

// Cost returns how many bits a header spends on the filter: its own, and the seed's.
func (f Found) Cost() int { return f.Bits + seedBits(f.Seed) }

// seedBits is the number of bits of a seed in a header.
func seedBits(seed uint16) int {
	if seed > 0xff {
		return 16
	}
	return 8
}

// Search returns the filter of the least cost that it finds among the forms, with
// every link of the tree in it and none of the others; of forms that cost the same,
// the one of the lowest number. The same task and options give the same filter
// everywhere. A link asked at two hops, or twice at one, counts once where the form
// has one filter for all hops. Any number of goroutines may search, also the same
// task.
//
// A filter more than three quarters full is never returned: see [Header.Overfull]. A
// tree without links gives a Single filter of one bit that is zero.
//
// Of a large task, for which a seed takes long, fewer seeds are tried: Search stops
// a form once it has worked as long as Seeds seeds take with about 150 links in the
// tree and 400 others. A seed begun is always finished. Linear filters of more than
// 4096 links aren't searched for.
//
// The error wraps umbel.ErrGoal if an option is out of its range, or if a link is to
// be held and not to be held: at the same hop, or at two hops, which only the form
// Staged can do. It wraps errors.ErrUnsupported if Dense is asked for, and
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
	// Linear filters are nearly always the shortest. With their length known, the
	// others are given up early.
	for _, form := range []Form{Linear, Folded, Staged, Single} {
		if !slices.Contains(o.Forms, form) || flat.torn && form != Staged {
			continue
		}
		q := quest{Options: o, limit: o.MaxBits + 16}
		if best.Form != Dense {
			q.limit = best.Cost()
		}
		var found Found
		var ok bool
		switch form {
		case Linear:
			found, ok = searchLinear(flat, &q)
		case Folded:
			found, ok = searchFolded(flat, &q)
		case Staged:
			found, ok = searchStaged(t, &q)
		case Single:
			found, ok = searchSingle(flat, &q)
		}
		trials += q.trials
		if ok {
			best = found
		}
	}
	best.Trials = trials
	if best.Form == Dense {
		return Found{Trials: trials}, fmt.Errorf("inpacket: %d links to hold and %d not to, in %d bits with a stray chance of %g after %d trials: %w",
			flat.tree, len(flat.codewords)-flat.tree, o.MaxBits, o.MaxStray, trials, ErrTooLong)
	}
	return best, nil
}

// check returns o with its zeros replaced.
func (o Options) check() (Options, error) {
	if len(o.Forms) == 0 {
		o.Forms = []Form{Single, Staged, Linear}
	}
	for _, f := range o.Forms {
		switch {
		case f == Dense:
			return o, fmt.Errorf("inpacket: search filters of stored codewords: %w", errors.ErrUnsupported)
		case f > Dense:
			return o, fmt.Errorf("inpacket: search filters of form %d, want 0 to %d: %w", f, Linear, umbel.ErrGoal)
		}
	}
	if o.Seeds == 0 {
		o.Seeds = DefaultSeeds
	}
	if o.Seeds < 1 || o.Seeds > 1<<16 {
		return o, fmt.Errorf("inpacket: %d seeds, want 1 to %d: %w", o.Seeds, 1<<16, umbel.ErrGoal)
	}
	if o.MaxStray == 0 {
		o.MaxStray = 1
	}
	if !(o.MaxStray > 0 && o.MaxStray <= 1) {
		return o, fmt.Errorf("inpacket: stray chance of %g at most, want above 0 and at most 1: %w", o.MaxStray, umbel.ErrGoal)
	}
	if o.MaxBits == 0 {
		o.MaxBits = MaxBits
	}
	if o.MaxBits < 1 || o.MaxBits > MaxBits {
		return o, fmt.Errorf("inpacket: filters of %d bits at most, want 1 to %d: %w", o.MaxBits, MaxBits, umbel.ErrGoal)
	}
	return o, nil
}

// quest is a search for a filter of one form.
type quest struct {
	Options
	limit  int    // what a filter and its seed may cost
	trials uint64 // filters looked at
	work   int64  // steps, each about a nanosecond
}

// workPerSeed is how much work a seed may take on average.
const workPerSeed = 100_000

// more reports whether there is work left to do, and room in the limit, for a seed.
func (q *quest) more(seed int) bool {
	return seed < q.Seeds && (seed == 0 || q.work < int64(q.Seeds)*workPerSeed) && q.longest(seed) > 0
}

// longest returns how many bits a filter with a seed may have.
func (q *quest) longest(seed int) int {
	return min(q.MaxBits, q.limit-seedBits(uint16(seed)))
}
