package um

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// Every goal is planned or refused, and a filter without room is not made.
func TestExtremeWishes(t *testing.T) {
	if testing.Short() {
		t.Skip("makes thousands of plans")
	}
	p := start(t, 64<<20, Options{})
	numbers := []string{"1", "2", "1000000007", "18446744073709551615", "9007199254740993", "1e18"}
	rates := []string{"1e-300", "5e-324", "0.9999999999999999", "0.5", "1%", "99.99%"}
	sizes := []string{"1", "7", "1EiB", "18446744073709551615", "16777216"}
	var wishes []string
	for _, n := range numbers {
		for _, r := range rates {
			wishes = append(wishes, fmt.Sprintf("KEYS %s RATE %s", n, r))
		}
		for _, b := range sizes {
			wishes = append(wishes, fmt.Sprintf("KEYS %s BYTES %s", n, b))
		}
		wishes = append(wishes, "KEYS "+n)
	}
	for _, b := range sizes {
		for _, r := range rates {
			wishes = append(wishes, fmt.Sprintf("BYTES %s RATE %s", b, r))
		}
	}
	for _, v := range p.engine.Kinds() {
		for _, w := range wishes {
			p.Line("UM.PLAN " + v.Name + " " + w)
			p.Line("UM.MAKE f " + v.Name + " " + w)
			if _, _, err := p.engine.Delete([]byte("f")); err != nil {
				t.Fatal(err)
			}
		}
		for _, d := range v.Params {
			for _, n := range []float64{d.Min, d.Max, math.MaxUint64, math.MaxInt64} {
				value := fmt.Sprintf("%.0f", n)
				if d.Float {
					value = fmt.Sprint(n)
				}
				for _, w := range []string{"KEYS 1000 RATE 1%", "KEYS 1 BYTES 8", "KEYS 1000000 RATE 1e-300"} {
					line := strings.Join([]string{"f", v.Name, w, d.Name, value}, " ")
					p.Line("UM.MAKE " + line)
					p.Line("UM.ADD f a b c")
					p.Line("UM.INFO f")
					if _, _, err := p.engine.Delete([]byte("f")); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	if used, _ := p.engine.Memory(); used != 0 {
		t.Errorf("%d bytes are used without a filter", used)
	}
}

// Factors, times and offsets at the ends of their ranges are taken or refused.
func TestExtremeFactors(t *testing.T) {
	p := start(t, 64<<20, Options{})
	for i, kind := range []string{"bloom", "counting", "window", "scalable", "folding", "blocked", "redisbloom"} {
		name := fmt.Sprint("f", i)
		p.Line("UM.MAKE " + name + " " + kind + " KEYS 1000 RATE 1%")
		for _, n := range []string{"0", "1", "2", "3", "1000000007", "4294967296", "9223372036854775808", "18446744073709551615", "-1", "x"} {
			for _, line := range []string{"UM.FOLD %s %s", "UM.UNFOLD %s %s", "UM.ADVANCE %s %s", "UM.FOLD %s RATE %s", "UM.FOLD %s BYTES %s", "UM.COMPACT %s RATE %s"} {
				p.Line(fmt.Sprintf(line, name, n))
			}
		}
	}
}
