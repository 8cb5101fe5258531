package advances

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/weighted"
	"github.com/umbel-filters/umbel/research/papers/internal/sample"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// universe is the number of all keys, and members the number of those in a filter.
const universe, members = 10_000, 1000

// mostCells is the largest number of cells per key of a weighted filter.
const mostCells = 256

// workload describes how members and queries are distributed over the keys.
type workload struct {
	name    string
	perKey  uint64                 // m/n
	queries func(rank int) float64 // by rank from 0, in any unit
	present func(rank int) float64 // x_e
}

func even(int) float64 { return members / float64(universe) }

// rising returns x_e from 0.02 to 0.18: the most frequent queries are for rare keys.
func rising(rank int) float64 { return 0.02 + 0.16*float64(rank)/(universe-1) }

func zipf(exponent float64) func(int) float64 {
	return func(rank int) float64 { return math.Pow(float64(rank+1), -exponent) }
}

// step assigns half of all queries to a hundredth of the keys.
func step(rank int) float64 {
	if rank < universe/100 {
		return 0.5 / (universe / 100)
	}
	return 0.5 / (universe - universe/100)
}

var workloads = []workload{
	{"even", 8, func(int) float64 { return 1 }, even},
	{"Zipf 0.8", 8, zipf(0.8), even},
	{"Zipf 1", 4, zipf(1), even},
	{"Zipf 1", 8, zipf(1), even},
	{"Zipf 1", 12, zipf(1), even},
	{"Zipf 1.2", 8, zipf(1.2), even},
	{"half for 1 %", 8, step, even},
	{"Zipf 1, x_e 0.02 to 0.18", 8, zipf(1), rising},
}

func (w workload) m() uint64 { return w.perKey * members }

// keys returns the keys, each as its own class. A query for a present key can't be a false
// positive, so r_e is proportional to 1-x_e.
func (w workload) keys() []weighted.Class {
	keys := make([]weighted.Class, universe)
	for i := range keys {
		x := w.present(i)
		keys[i] = weighted.Class{Members: x, Queries: w.queries(i) * (1 - x)}
	}
	return keys
}

// printed returns the report's E{P_FP} = 2^(-(m/n) ln 2) N ∏ r_e^(x_e/n), the rate of its
// k_e, which is lowest if all x_e are equal: see weighted.OptimalK.
func (w workload) printed() float64 {
	var total, log float64
	keys := w.keys()
	for _, k := range keys {
		total += k.Queries
	}
	for _, k := range keys {
		log += k.Members / members * math.Log2(k.Queries/total)
	}
	return universe * math.Exp2(log-float64(w.perKey)*math.Ln2)
}

// classes groups the keys into classes of half a bit of log2(r_e/x_e), the largest first,
// and returns the class of each key.
func (w workload) classes() (classes []weighted.Class, of []int) {
	keys := w.keys()
	at := func(k weighted.Class) int { return int(math.Round(2 * math.Log2(k.Queries/k.Members))) }
	sums := make(map[int]weighted.Class)
	for _, k := range keys {
		c := sums[at(k)]
		sums[at(k)] = weighted.Class{Members: c.Members + k.Members, Queries: c.Queries + k.Queries}
	}
	var order []int
	for half := range sums {
		order = append(order, half)
	}
	slices.SortFunc(order, func(a, b int) int {
		if d := sums[b].Members - sums[a].Members; d != 0 {
			return int(math.Copysign(1, d))
		}
		return a - b
	})
	for _, half := range order {
		classes = append(classes, sums[half])
	}
	for _, k := range keys {
		of = append(of, slices.Index(order, at(k)))
	}
	return classes, of
}

// shape returns the shape of umbel's filter with the best whole k for the classes.
func (w workload) shape() (weighted.Shape, error) {
	classes, _ := w.classes()
	ks, _, err := weighted.BestK(w.m(), classes, mostCells)
	if err != nil {
		return weighted.Shape{}, err
	}
	var all weighted.Class
	for _, c := range classes {
		all.Members += c.Members
		all.Queries += c.Queries
	}
	s := weighted.Shape{M: w.m()}
	for i, c := range classes {
		s.Classes = append(s.Classes, weighted.Class{K: ks[i], Members: c.Members / all.Members, Queries: c.Queries / all.Queries})
	}
	return s, s.Check()
}

const rate = "rate in 10^-9"

// simulation returns a simulation of filters of a shape for the classes, each with 1000
// keys drawn with probability x_e. It measures the weighted share of queries for absent
// keys that are false positives.
func (w workload) simulation(shape weighted.Shape) trial.Simulation {
	return trial.Simulation{
		Name: fmt.Sprintf("003 weighted %s m=%d", w.name, w.m()), Values: []string{rate},
		Worker: func() (trial.Trial, error) {
			f, err := weighted.NewShape(shape)
			if err != nil {
				return nil, err
			}
			classes, class := w.classes()
			var all float64 // mean weight of the queries for absent keys
			for _, c := range classes {
				all += c.Queries
			}
			ds := make([]umbel.Digest, universe)
			present := make([]bool, universe)
			return func(r *rand.ChaCha8, out []int64) error {
				f.Clear()
				sample.Digests(r, ds)
				w.draw(rand.New(r), present)
				for i, d := range ds {
					if present[i] {
						f.AddClass(d, class[i])
					}
				}
				var falsePositives float64
				for i, d := range ds {
					if !present[i] && f.HasClass(d, class[i]) {
						falsePositives += w.queries(i)
					}
				}
				out[0] = int64(math.Round(1e9 * falsePositives / all))
				return nil
			}, nil
		},
	}
}

// draw sets present[i] for as many keys as the sum of x_e, each with probability x_e. It
// walks along the cumulative sum of x_e in a random order and takes a key at each whole
// number.
func (w workload) draw(r *rand.Rand, present []bool) {
	sum := r.Float64()
	for _, i := range r.Perm(universe) {
		next := sum + w.present(i)
		present[i] = math.Floor(next) > math.Floor(sum)
		sum = next
	}
}
