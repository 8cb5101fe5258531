package compressed

import (
	"fmt"
	"math"
	"testing"
)

// near reports whether got differs from want by at most a relative error.
func near(got, want, within float64) bool { return math.Abs(got-want) <= within*math.Abs(want) }

// z/n, f and the exact f for n=10^4 of Tables I to V agree with another program.
func TestMitzenmacherTables(t *testing.T) {
	for _, c := range []struct {
		column
		z, f, exact float64
	}{
		{table1[0], 8, 0.02157714146, 0.02157887482},
		{table1[1], 7.92314328, 0.01772149357, 0.01772166881},
		{table1[2], 7.923125626, 0.01081070495, 0.01081071079},
		{table2[0], 16, 0.0004587107308, 0.0004587702855},
		{table2[1], 15.84628656, 0.0003140513345, 0.000314056477},
		{table2[2], 15.8289815, 0.000222401133, 0.0002224024729},
		{table3[0], 4, 0.1468915977, 0.1468985369},
		{table3[1], 3.96157164, 0.1331221002, 0.1331229848},
		{table4[0], 8, 0.02157714146, 0.02157887482},
		{table4[1], 7.581502863, 0.02154244162, 0.02154267617},
		{table4[2], 6.891110642, 0.02150453856, 0.02150456168},
		{table5[0], 16, 0.0004587107308, 0.0004587702855},
		{table5[1], 14.66633313, 0.0004544666722, 0.0004544701411},
		{table5[2], 13.81468588, 0.0004526590062, 0.0004526597276},
	} {
		t.Run(fmt.Sprintf("m/n=%g/k=%d", c.perKey, c.k), func(t *testing.T) {
			if got := c.bits(); !near(got, c.z, 1e-9) {
				t.Errorf("z/n: got %.10g, want %.10g", got, c.z)
			}
			if got := c.design().rate(); !near(got, c.f, 1e-9) {
				t.Errorf("f: got %.10g, want %.10g", got, c.f)
			}
			if got := c.design().exactRate(keys); !near(got, c.exact, 1e-7) {
				t.Errorf("exact f: got %.10g, want %.10g", got, c.exact)
			}
		})
	}
}

// Tables VI and VII, and deltas given the old bits, agree with another program.
func TestMitzenmacherDeltas(t *testing.T) {
	for _, c := range []struct {
		design
		c, xor, given float64
	}{
		{table6[0].design(), 0.05, 1.671288624, 1.6703086},
		{table6[1].design(), 0.05, 1.653224157, 1.5893525},
		{table6[2].design(), 0.05, 1.660692559, 1.4576954},
		{table6[3].design(), 0.05, 1.312439533, 1.2225691},
		{table7[0].design(), 0.01, 0.4624105639, 0.46221736},
		{table7[1].design(), 0.01, 0.4855813622, 0.46515364},
		{table7[2].design(), 0.01, 0.4500097291, 0.39858372},
		{table7[3].design(), 0.01, 0.3429771992, 0.32522651},
		{sparse[0].design, 0.05, 1.0091411, 0.83288499},
		{sparse[1].design, 0.05, 1.1681696, 0.91755471},
		{sparse[2].design, 0.05, 1.2808898, 0.97546128},
		{sparse[3].design, 0.01, 0.24736271, 0.212363},
	} {
		t.Run(fmt.Sprintf("m/n=%g/k=%g/c=%g", c.perKey, c.k, c.c), func(t *testing.T) {
			if got := c.deltaBits(c.c); !near(got, c.xor, 1e-7) {
				t.Errorf("exclusive or: got %.9g, want %.9g", got, c.xor)
			}
			if got := c.contextBits(c.c); !near(got, c.given, 1e-7) {
				t.Errorf("given the old bits: got %.9g, want %.9g", got, c.given)
			}
		})
	}
}

// Entropies of counters agree with another program.
func TestCounterBits(t *testing.T) {
	for _, c := range []struct {
		design
		perCounter float64
	}{
		{design{8, 5}, 1.5053383},
		{design{16, 11}, 1.5794272},
		{design{14, 2}, 0.61715658},
		{design{48, 3}, 0.34210483},
		{design{92, 1}, 0.086648735},
	} {
		if got := c.counterBits() / c.perKey; !near(got, c.perCounter, 1e-7) {
			t.Errorf("m/n=%g, k=%g: got %.9g bits per counter, want %.9g", c.perKey, c.k, got, c.perCounter)
		}
	}
}

// Points of Figures 1 and 2 agree with another program.
func TestMitzenmacherFigures(t *testing.T) {
	for _, c := range []struct{ z, k, perKey, compressed, standard float64 }{
		{8, 0.5, 12057.446, 0.0064395103, 0.24614414},
		{8, 1, 96.914657, 0.010265305, 0.1175031},
		{8, 2, 14.336565, 0.016954634, 0.048929094},
		{8, 2.5, 10.964554, 0.018769186, 0.037315826},
		{8, 8 * math.Ln2, 8, 0.021415847, 0.021415847},
		{8, 6, 8.0167377, 0.021396145, 0.021577141},
		{8, 12, 9.3789845, 0.020002547, 0.048325809},
		{16, 0.5, 790015500, 2.5157483e-05, 0.17540458},
		{16, 1, 24114.892, 4.1467293e-05, 0.060586937},
		{16, 2, 193.82931, 0.00010537649, 0.013806978},
		{16, 4, 28.67313, 0.00028745961, 0.0023940562},
		{16, 16 * math.Ln2, 16, 0.00045863851, 0.00045863851},
		{16, 16, 16.665848, 0.00044255996, 0.00064982834},
	} {
		t.Run(fmt.Sprintf("z=%g/k=%.4g", c.z, c.k), func(t *testing.T) {
			d := compressedTo(c.z, c.k)
			if !near(d.perKey, c.perKey, 2e-6) {
				t.Errorf("m/n: got %.8g, want %.8g", d.perKey, c.perKey)
			}
			if got := d.rate(); !near(got, c.compressed, 1e-6) {
				t.Errorf("compressed: got %.8g, want %.8g", got, c.compressed)
			}
			if got := (design{c.z, c.k}).rate(); !near(got, c.standard, 1e-7) {
				t.Errorf("standard: got %.8g, want %.8g", got, c.standard)
			}
		})
	}
}

// The mean and the standard deviation of the length of Laplace codes agree with 100 000
// trials of another program, within four standard deviations of each.
func TestLaplaceLengths(t *testing.T) {
	for _, c := range []struct {
		design
		mean, sd float64
	}{
		{design{14, 2}, 9905.048124, 11.383787},
		{design{48, 3}, 19787.488243, 14.400487},
		{design{7, 1}, 4953.038474, 8.008821},
		{design{12.6, 2}, 9477.956592, 11.074559},
	} {
		t.Run(fmt.Sprintf("m/n=%g/k=%g", c.perKey, c.k), func(t *testing.T) {
			const trials = 100_000
			if got := c.laplaceMean(keys) / 8; math.Abs(got-c.mean) > 4*c.sd/math.Sqrt(trials) {
				t.Errorf("mean: got %.3f, want %.3f", got, c.mean)
			}
			if got := c.laplaceSD(keys) / 8; math.Abs(got-c.sd) > 4*c.sd/math.Sqrt(2*trials) {
				t.Errorf("standard deviation: got %.3f, want %.3f", got, c.sd)
			}
		})
	}
}

// Printed numbers of the errata are wrong, and the corrected ones are right.
func TestErrata(t *testing.T) {
	off := func(printed, right, unit float64) bool { return math.Abs(printed-right) > unit/2*(1+1e-9) }
	for _, c := range []struct {
		what                 string
		printed, right, unit float64
		wrong                bool
	}{
		{"Table IV, f", 0.0216, table4[1].design().rate(), 1e-4, true},
		{"Table I, f", 0.0177, table1[1].design().rate(), 1e-4, false},
		{"Table VI, z/n, m/n=12", 1.6607, table6[1].design().deltaBits(0.05), 1e-4, true},
		{"Table VI, z/n, m/n=32", 1.6532, table6[2].design().deltaBits(0.05), 1e-4, true},
		{"the two exchanged", 1.6607, table6[2].design().deltaBits(0.05), 1e-4, false},
		{"exchanged back", 1.6532, table6[1].design().deltaBits(0.05), 1e-4, false},
		{"z/(cn) exchanged", 33.214, table6[2].design().deltaBits(0.05) / 0.05, 1e-3, false},
		{"Section IV", 2066.5, table6[2].design().deltaBits(0.05) * keys / 8, 0.1, true},
		{"Section IV, from the wrong column", 2066.5, 1.6532 * keys / 8, 0.1, false},
		{"Table VI, z/(cn), m/n=13", 26.248, table6[3].design().deltaBits(0.05) / 0.05, 1e-3, true},
		{"19 787 bytes", 19787, design{48, 3}.bits() * keys / 8, 1, true},
		{"9904 bytes", 9904, design{14, 2}.bits() * keys / 8, 1, false},
	} {
		if got := off(c.printed, c.right, c.unit); got != c.wrong {
			t.Errorf("%s: %g printed, %.7g recomputed: wrong is %t, want %t", c.what, c.printed, c.right, got, c.wrong)
		}
	}
}
