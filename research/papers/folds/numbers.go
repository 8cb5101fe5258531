package folds

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/umbel-filters/umbel/internal/number"
	"github.com/umbel-filters/umbel/research/papers/internal/chart"
	"github.com/umbel-filters/umbel/research/papers/internal/piece"
)

// printed3 contains the numbers of Table III, and starred those marked *.
var (
	printed3 = []uint64{
		2, 3, 4, 6, 8, 10, 12, 18, 20, 24, 30, 36, 48, 60,
		72, 84, 90, 96, 108, 120, 168, 180, 240, 360, 420, 480, 504, 540,
		600, 630, 660, 672, 720, 840, 1080, 1260, 1440, 1680, 7560, 9240, 10080, 12600,
		13860, 15120, 18480, 20160, 25200, 27720, 30240, 32760, 36960, 37800, 40320, 41580, 42840, 43680,
		45360, 50400, 55440, 65520, 75600, 83160, 98280, 110880, 131040, 138600, 151200, 163800, 166320, 196560,
	}
	starred = []uint64{2, 6, 12, 60, 120, 360, 55440}
)

// below is the limit up to which the text counts highly composite numbers.
const below = 831_600

// without returns the numbers of all that are not in some.
func without(all, some []uint64) []uint64 {
	return slices.DeleteFunc(slices.Clone(all), func(m uint64) bool { return slices.Contains(some, m) })
}

var table3 = piece.Piece{
	Name:  "000/table-3",
	Title: "Table III: largely composite numbers",
	Note: `
A largely composite number has at least as many divisors as every smaller number, and a highly
composite number has more. A superior highly composite number has the most divisors relative to
some power of itself. Points are the numbers of the table with their divisors, the missing
numbers, and the superior ones. The number 1 is not counted as missing.`,
	Make: func(_ context.Context, r *piece.Run) error {
		last := printed3[len(printed3)-1]
		largely := number.LargelyComposite(last)[1:]
		superior := number.SuperiorHighlyComposite(last)
		missing, unstarred := without(largely, printed3), without(superior, starred)
		r.Add(
			piece.Row{What: fmt.Sprintf("largely composite numbers from 2 to %d", last), Printed: fmt.Sprint(len(printed3)), Recomputed: float64(len(largely))},
			piece.Row{What: "printed numbers that are largely composite", Printed: fmt.Sprint(len(printed3)), Recomputed: float64(len(largely) - len(missing))},
			piece.Row{What: fmt.Sprintf("missing: %v", missing), Recomputed: float64(len(missing))},
			piece.Row{What: "superior highly composite ones, marked *", Printed: fmt.Sprint(len(starred)), Recomputed: float64(len(superior))},
			piece.Row{What: fmt.Sprintf("not marked with *: %v", unstarred), Recomputed: float64(len(unstarred))},
			piece.Row{What: "\"eleven highly composite numbers are < 831600\"", Printed: "11", Recomputed: float64(len(number.HighlyComposite(below - 1)))},
			piece.Row{What: "superior highly composite ones < 831600", Recomputed: float64(len(number.SuperiorHighlyComposite(below - 1)))},
			piece.Row{What: "largely composite ones < 831600", Recomputed: float64(len(number.LargelyComposite(below - 1)))},
		)
		points := func(name string, color int, ms []uint64) chart.Series {
			s := chart.Series{Name: name, Color: color, Measured: true}
			for _, m := range ms {
				s.Points = append(s.Points, chart.Point{X: float64(m), Y: float64(number.CountDivisors(m))})
			}
			return s
		}
		r.Draw(chart.Chart{
			Title: "Divisors of largely composite numbers", X: "m", Y: "d(m)", LogX: true, LogY: true, Left: true,
			Series: []chart.Series{points("in Table III", 0, printed3), points("missing there", 1, missing), points("superior", 2, superior)},
		})
		return nil
	},
}

// sieve executes Algorithm IV-B as printed and returns how many numbers of [x, x+z] it
// finds y-smooth. Its line 12 sets w to log p; if add is true, the line adds instead.
func sieve(x, z, y uint64, add bool) (found int) {
	w := make([]float64, z+1)
	for _, p := range number.Primes(y) {
		log := math.Log(float64(p))
		for i := range z + 1 {
			for power := p; power <= x+z; power *= p {
				if (x+i)%power != 0 {
					continue
				}
				for at := i; at <= z; at += power {
					if add {
						w[at] += log
					} else {
						w[at] = log
					}
				}
			}
		}
	}
	for _, sum := range w {
		if sum >= math.Log(float64(x))-1e-9 {
			found++
		}
	}
	return found
}

var smooth = piece.Piece{
	Name:  "000/smooth",
	Title: "Section IV-A and B: smooth numbers",
	Note: `
The paper states "smooth numbers are dense", with Ψ(x, y) ~ x ρ(u) of equation (11). That is a
limit for a fixed u = log x / log y; it does not hold for the few small primes that folds use.
In Algorithm IV-B, line 12 assigns where it should add. With only that line
corrected, the algorithm marks numbers repeatedly, once from each smaller multiple. umbel
divides out primes instead.`,
	Make: func(_ context.Context, r *piece.Run) error {
		for _, c := range []struct{ x, y uint64 }{{1e4, 7}, {1e5, 7}, {1e6, 7}, {1e6, 13}, {1e6, 100}, {1e6, 1000}, {1e7, 13}} {
			u := math.Log(float64(c.x)) / math.Log(float64(c.y))
			r.Add(
				piece.Row{What: fmt.Sprintf("%d-smooth numbers to %d", c.y, c.x), Recomputed: float64(psi(c.x, c.y))},
				piece.Row{What: "x ρ(u)", Recomputed: float64(c.x) * dickman(u)},
			)
		}
		for _, c := range []struct{ x, z, y uint64 }{{100, 50, 5}, {1000, 100, 7}, {10, 60, 3}} {
			all := sieveSmooth(c.x, c.x+c.z, c.y)
			r.Add(
				piece.Row{What: fmt.Sprintf("%d-smooth numbers in [%d, %d]: %v", c.y, c.x, c.x+c.z, all), Recomputed: float64(len(all))},
				piece.Row{What: "found by Algorithm IV-B as printed", Measured: piece.Counted(sieve(c.x, c.z, c.y, false), 1), Mark: piece.Wrong},
				piece.Row{What: "with line 12 corrected", Measured: piece.Counted(sieve(c.x, c.z, c.y, true), 1), Mark: piece.Wrong},
			)
		}
		return nil
	},
}
