package number_test

import (
	"slices"
	"testing"

	"github.com/umbel-filters/umbel/internal/number"
)

var (
	highly = []uint64{
		1, 2, 4, 6, 12, 24, 36, 48, 60, 120, 180, 240, 360, 720, 840, 1260, 1680, 2520, 5040, 7560, 10080, 15120,
		20160, 25200, 27720, 45360, 50400, 55440, 83160, 110880, 166320, 221760, 277200, 332640, 498960, 554400,
		665280, 720720,
	}
	superior = []uint64{2, 6, 12, 60, 120, 360, 2520, 5040, 55440, 720720}
	largely  = []uint64{
		1, 2, 3, 4, 6, 8, 10, 12, 18, 20, 24, 30, 36, 48, 60, 72, 84, 90, 96, 108, 120, 168, 180, 240, 336, 360,
		420, 480, 504, 540, 600, 630, 660, 672, 720, 840, 1080, 1260, 1440, 1680, 2160, 2520, 3360, 3780, 3960,
		4200, 4320, 4620, 4680, 5040, 7560, 9240, 10080, 12600, 13860, 15120, 18480, 20160, 25200, 27720, 30240,
		32760, 36960, 37800, 40320, 41580, 42840, 43680, 45360, 50400, 55440, 65520, 75600, 83160, 98280, 110880,
		131040, 138600, 151200, 163800, 166320, 196560, 221760, 262080, 277200, 327600, 332640, 360360, 393120,
		415800, 443520, 471240, 480480, 491400, 498960, 554400, 655200, 665280, 720720, 831600,
	}
)

func TestComposite(t *testing.T) {
	const limit = 831600
	for name, c := range map[string]struct {
		of   func(limit uint64) []uint64
		want []uint64
	}{
		"highly":   {number.HighlyComposite, highly},
		"superior": {number.SuperiorHighlyComposite, superior},
		"largely":  {number.LargelyComposite, largely},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.of(limit); !slices.Equal(got, c.want) {
				t.Errorf("got %d, want %d", got, c.want)
			}
			for i, m := range c.want {
				if got := c.of(m); !slices.Equal(got, c.want[:i+1]) {
					t.Errorf("up to %d: got %d", m, got)
				}
				if got := c.of(m - 1); !slices.Equal(got, c.want[:i]) {
					t.Errorf("up to %d: got %d", m-1, got)
				}
			}
		})
	}
}

// TestCompositeByCounting compares the lists with the definitions, number by number.
func TestCompositeByCounting(t *testing.T) {
	const limit = 1 << 21
	divisors := make([]int, limit+1)
	for d := 1; d <= limit; d++ {
		for m := d; m <= limit; m += d {
			divisors[m]++
		}
	}
	var highly, largely []uint64
	most := 0
	for m := 1; m <= limit; m++ {
		if divisors[m] > most {
			highly = append(highly, uint64(m))
		}
		if divisors[m] >= most {
			largely = append(largely, uint64(m))
			most = divisors[m]
		}
	}
	if got := number.HighlyComposite(limit); !slices.Equal(got, highly) {
		t.Errorf("highly composite: got %d, want %d", got, highly)
	}
	if got := number.LargelyComposite(limit); !slices.Equal(got, largely) {
		t.Errorf("largely composite: got %d, want %d", got, largely)
	}
}

// TestCompositeFar: the number of highly composite numbers up to 2^63 is that of Flammenkamp's
// list (OEIS A002182, A002201). For largely composite numbers none is published.
func TestCompositeFar(t *testing.T) {
	all := number.HighlyComposite(1 << 63)
	if got, last := len(all), all[len(all)-1]; got != 167 || last != 9200527969062830400 || number.CountDivisors(last) != 161280 {
		t.Errorf("%d highly composite numbers, the last %d", got, last)
	}
	weak := number.LargelyComposite(1 << 63)
	for _, m := range all {
		if !slices.Contains(weak, m) {
			t.Errorf("%d is highly and not largely composite", m)
		}
	}
	for _, m := range number.SuperiorHighlyComposite(1 << 63) {
		if !slices.Contains(all, m) {
			t.Errorf("%d is superior highly and not highly composite", m)
		}
	}
}

// Sailhan and Stehr 2012, Table III: largely composite numbers, the superior highly
// composite ones with a star. All 70 entries are right; 11 numbers up to the last
// are missing, and two stars. The text finds eleven highly composite numbers below
// 831,600, those with a star; there are 38, and 10 superior ones.
func TestSailhanTable3(t *testing.T) {
	printed := [][2]uint64{ // and their numbers of divisors, which the table leaves out
		{2, 2}, {3, 2}, {4, 3}, {6, 4}, {8, 4}, {10, 4}, {12, 6}, {18, 6}, {20, 6}, {24, 8}, {30, 8}, {36, 9},
		{48, 10}, {60, 12}, {72, 12}, {84, 12}, {90, 12}, {96, 12}, {108, 12}, {120, 16}, {168, 16}, {180, 18},
		{240, 20}, {360, 24}, {420, 24}, {480, 24}, {504, 24}, {540, 24}, {600, 24}, {630, 24}, {660, 24}, {672, 24},
		{720, 30}, {840, 32}, {1080, 32}, {1260, 36}, {1440, 36}, {1680, 40}, {7560, 64}, {9240, 64}, {10080, 72},
		{12600, 72}, {13860, 72}, {15120, 80}, {18480, 80}, {20160, 84}, {25200, 90}, {27720, 96}, {30240, 96},
		{32760, 96}, {36960, 96}, {37800, 96}, {40320, 96}, {41580, 96}, {42840, 96}, {43680, 96}, {45360, 100},
		{50400, 108}, {55440, 120}, {65520, 120}, {75600, 120}, {83160, 128}, {98280, 128}, {110880, 144},
		{131040, 144}, {138600, 144}, {151200, 144}, {163800, 144}, {166320, 160}, {196560, 160},
	}
	stars := []uint64{2, 6, 12, 60, 120, 360, 55440}
	if len(printed) != 70 {
		t.Fatalf("%d entries, want 70", len(printed))
	}
	right := number.LargelyComposite(196560)
	missing := slices.Clone(right[1:]) // the table begins at 2
	for _, e := range printed {
		if got := number.CountDivisors(e[0]); got != e[1] {
			t.Errorf("%d has %d divisors, want %d", e[0], got, e[1])
		}
		i := slices.Index(missing, e[0])
		if i < 0 {
			t.Errorf("%d isn't largely composite", e[0])
			continue
		}
		missing = slices.Delete(missing, i, i+1)
	}
	if want := []uint64{336, 2160, 2520, 3360, 3780, 3960, 4200, 4320, 4620, 4680, 5040}; !slices.Equal(missing, want) {
		t.Errorf("missing are %d, want %d", missing, want)
	}
	starless := slices.DeleteFunc(number.SuperiorHighlyComposite(196560), func(m uint64) bool { return slices.Contains(stars, m) })
	if want := []uint64{2520, 5040}; !slices.Equal(starless, want) {
		t.Errorf("without a star are %d, want %d", starless, want)
	}
	if h, s := len(number.HighlyComposite(831599)), len(number.SuperiorHighlyComposite(831599)); h != 38 || s != 10 {
		t.Errorf("%d highly composite numbers and %d superior ones, want 38 and 10", h, s)
	}
}

func BenchmarkLargelyComposite(b *testing.B) {
	for name, limit := range map[string]uint64{"m=10^7": 1e7, "m=2^63": 1 << 63} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				number.LargelyComposite(limit)
			}
		})
	}
}
