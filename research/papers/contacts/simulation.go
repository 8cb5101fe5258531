package contacts

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/umbel-filters/umbel/research/papers/internal/piece"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

// usual is the setting that the tables vary.
var usual = Setting{Peers: 200, Contacts: 600, Capacity: 1000, Wanted: 100, Seconds: 2, Bandwidth: 1000}

// What a trial measures for each scheme. A trial is a network, so values are integers in units
// that keep four digits.
const (
	found     = "found per 1000 contacts"
	perMB     = "found per megabyte"
	wasted    = "wasted requests per 1000 requests"
	bytesEach = "bytes per contact"
	perJoule  = "found per 1000 joules, " // and the name of the price
	positives = "false positives"
	predicted = "false positives by equation (1)"
)

func value(scheme, what string) string { return scheme + ": " + what }

// values returns the names of what a trial measures.
func values() (names []string) {
	for _, s := range schemes {
		for _, what := range []string{found, perMB, wasted, bytesEach, positives, predicted} {
			names = append(names, value(s.name, what))
		}
		for _, p := range prices {
			names = append(names, value(s.name, perJoule+p.Name))
		}
	}
	return names
}

// measured returns the values of one scheme, in the order of values.
func measured(t Tally, contacts int) []int64 {
	ratio := func(a, b, scale float64) int64 {
		if b == 0 {
			return 0
		}
		return int64(math.Round(scale * a / b))
	}
	n := float64(t.Found)
	out := []int64{
		ratio(n, float64(contacts), 1000), ratio(n, float64(t.Bytes), 1e6),
		ratio(float64(t.Wasted), float64(t.Requests), 1000), ratio(float64(t.Bytes), float64(contacts), 1),
		t.Positives, int64(math.Round(t.Predicted)),
	}
	for _, p := range prices {
		out = append(out, ratio(n, t.Joules(p), 1000))
	}
	return out
}

// simulation returns the simulation of a setting with all schemes. Each trial is a network in
// which all schemes meet the same peers in the same contacts.
func (s Setting) simulation() trial.Simulation {
	return trial.Simulation{
		Name: fmt.Sprintf("000 contacts n=%d w=%d %gs %gBps %gJ of %d", s.Capacity, s.Wanted, s.Seconds, s.Bandwidth, s.Energy, s.Radio), Values: values(),
		Worker: func() (trial.Trial, error) {
			return func(source *rand.ChaCha8, out []int64) error {
				r := rand.New(source)
				w, err := newWorld(s, r)
				if err != nil {
					return err
				}
				seed, at := r.Uint64(), 0
				for _, scheme := range schemes {
					t, err := w.run(scheme, seed, false)
					if err != nil {
						return fmt.Errorf("%s: %w", scheme.name, err)
					}
					at += copy(out[at:], measured(t, s.Contacts))
				}
				return nil
			}, nil
		},
	}
}

// networks returns the number of networks of a run: 20 by default.
func networks(r *piece.Run) int { return min(max(2, r.Trials/100), 100) }

// results contains the values of a simulation.
type results struct{ trial.Result }

func (s Setting) results(ctx context.Context, r *piece.Run) (results, error) {
	got, err := r.Simulate(ctx, s.simulation(), networks(r))
	return results{got}, err
}

// cell returns a value of a scheme with the half of its 95 % interval.
func (r results) cell(scheme, what string, scale float64, decimals int) string {
	m := piece.Scaled(r.Of(value(scheme, what)), scale)
	return piece.Fixed(m.Value, decimals) + " ± " + piece.Fixed(interval(r.Trials)*m.Error, decimals)
}

// interval returns the half of a 95 % interval in standard deviations of a mean of n values:
// the quantile 0.975 of Student's distribution with n-1 degrees of freedom, by the expansion of
// Cornish and Fisher (Abramowitz and Stegun 26.7.5), which is 3 % too low for n = 4.
func interval(n int) float64 {
	const z = 1.959964
	v := float64(n - 1)
	return z + (z*z*z+z)/(4*v) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*v*v) +
		(3*math.Pow(z, 7)+19*math.Pow(z, 5)+17*z*z*z-15*z)/(384*v*v*v)
}
