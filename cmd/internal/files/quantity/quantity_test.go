package quantity

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestParseRate(t *testing.T) {
	for s, want := range map[string]float64{
		"0.001": 0.001, "1e-6": 1e-6, "1E-6": 1e-6, ".5": 0.5, "0.1%": 0.001, "1 %": 0.01, "99.9%": 0.999,
		"1/1000": 0.001, "1 in 1000": 0.001, "1 in 1,000": 0.001, "3 in 10k": 3e-4, "1/1M": 1e-6, " 0.01 ": 0.01, "1e-30": 1e-30,
	} {
		if got, err := ParseRate(s); err != nil || float64(got) != want {
			t.Errorf("ParseRate(%q) = %v, %v, want %v", s, float64(got), err, want)
		}
	}
	const form = `want a number such as 0.001, 1e-3, 0.1%, 1/1000 or "1 in 1000"`
	for s, want := range map[string]string{
		"":                         `rate "": ` + form,
		"one":                      `rate "one": ` + form,
		"0,1%":                     `rate "0,1%": ` + form,
		"-0.1":                     `rate "-0.1": ` + form,
		"NaN":                      `rate "NaN": ` + form,
		"Inf":                      `rate "Inf": ` + form,
		"0x1p-3":                   `rate "0x1p-3": ` + form,
		"1/0":                      `rate "1/0": ` + form,
		"1 in ":                    `rate "1 in ": ` + form,
		"0":                        `rate "0" must lie between 0 and 1 (0% and 100%), both excluded`,
		"1":                        `rate "1" must lie between 0 and 1 (0% and 100%), both excluded`,
		"100%":                     `rate "100%" must lie between 0 and 1 (0% and 100%), both excluded`,
		"2":                        `rate "2" must lie between 0 and 1 (0% and 100%), both excluded`,
		"1e-999":                   `rate "1e-999" must lie between 0 and 1 (0% and 100%), both excluded`,
		strings.Repeat("1", 1<<10): `rate "` + strings.Repeat("1", 40) + `…": ` + form,
	} {
		if _, err := ParseRate(s); err == nil || err.Error() != want {
			t.Errorf("ParseRate(%.50q): %v, want %s", s, err, want)
		}
	}
}

func TestParseCount(t *testing.T) {
	for s, want := range map[string]uint64{
		"0": 0, "1000000": 1e6, "1e8": 1e8, "1.5e3": 1500, "10k": 1e4, "10K": 1e4, "10M": 1e7, "1.15M": 1150000, "2G": 2e9, "1T": 1e12,
		"1E": 1e18, "1,000,000": 1e6, "1_000": 1000, "18446744073709551615": math.MaxUint64, "9007199254740993": 9007199254740993, "9,007,199,254,740,993": 9007199254740993,
	} {
		if got, err := ParseCount(s); err != nil || uint64(got) != want {
			t.Errorf("ParseCount(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
	const form = "want a whole number such as 1000000, 1,000,000, 1e6 or 1M"
	for s, want := range map[string]string{
		"":                     `count "": ` + form,
		"k":                    `count "k": ` + form,
		"-1":                   `count "-1": ` + form,
		"1,00":                 `count "1,00": ` + form,
		",100":                 `count ",100": ` + form,
		"1000,000":             `count "1000,000": ` + form,
		"1 000":                `count "1 000": ` + form,
		"1Ki":                  `count "1Ki": ` + form,
		"1.5":                  `count "1.5" is not a whole number`,
		"1e-1":                 `count "1e-1" is not a whole number`,
		"18446744073709551616": `count "18446744073709551616" is more than 2^64-1`,
		"100E":                 `count "100E" is more than 2^64-1`,
		"1e5000":               `count "1e5000": ` + form,
	} {
		if _, err := ParseCount(s); err == nil || err.Error() != want {
			t.Errorf("ParseCount(%q): %v, want %s", s, err, want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]uint64{
		"0": 0, "4096": 4096, "4096B": 4096, "64KiB": 65536, "64 KiB": 65536, "1.5MB": 1500000, "1.5MiB": 1572864, "1e6B": 1e6, "1kB": 1000,
		"1.1KiB": 1126, "8bit": 1, "4096bit": 512, "1Mbit": 125000, "1Mibit": 131072, "64K": 65536, "64k": 65536, "1.5M": 1572864, "1G": 1 << 30, "3GiB": 3 << 30, "2EiB": 2 << 60, "1,024B": 1024,
		"18446744073709551615": math.MaxUint64,
	} {
		if got, err := ParseSize(s); err != nil || uint64(got) != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
	const form = "want a number of bytes such as 4096, 64KiB or 1.5MB, or of bits such as 4096bit"
	for s, want := range map[string]string{
		"":      `size "": ` + form,
		"B":     `size "B": ` + form,
		"64kb":  `size "64kb": write 64kB for bytes, or 64kbit for bits`,
		"1gb":   `size "1gb": write 1GB for bytes, or 1Gbit for bits`,
		"1gib":  `size "1gib": write 1GiB for bytes, or 1Gibit for bits`,
		"1KIb":  `size "1KIb": write 1KiB for bytes, or 1Kibit for bits`,
		"8b":    `size "8b": write 8B for bytes, or 8bit for bits`,
		"8Mib":  `size "8Mib": write 8MiB for bytes, or 8Mibit for bits`,
		"64Ki":  `size "64Ki": ` + form,
		"-1B":   `size "-1B": ` + form,
		"1iB":   `size "1iB": ` + form,
		"1XB":   `size "1XB": ` + form,
		"1 2B":  `size "1 2B": ` + form,
		"16EiB": `size "16EiB" is more than 2^64-1 bytes`,
		"1e30":  `size "1e30" is more than 2^64-1 bytes`,
	} {
		if _, err := ParseSize(s); err == nil || err.Error() != want {
			t.Errorf("ParseSize(%q): %v, want %s", s, err, want)
		}
	}
}

func TestStrings(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Rate(0).String(), ""},
		{Rate(0.01).String(), "1%, 1 in 100"},
		{Rate(0.0099).String(), "0.99%, 1 in 101"},
		{Rate(0.436).String(), "43.6%, 1 in 2.3"},
		{Rate(0.9).String(), "90%"},
		{Rate(1).String(), "100%"},
		{Rate(0).Percent(), "0%"},
		{Rate(0.0986).Percent(), "9.86%"},
		{Rate(1e-9).Percent(), "1e-09"},
		{Rate(0.00002).String(), "0.002%, 1 in 50,000"},
		{Rate(1e-30).String(), "1e-30"},
		{Count(0).String(), "0"},
		{Count(999).String(), "999"},
		{Count(1234567).String(), "1,234,567"},
		{Size(1023).String(), "1023 B"},
		{Size(1024).String(), "1.00 KiB"},
		{Size(125112).String(), "122 KiB"},
		{Size(1<<20 - 1).String(), "1.00 MiB"},
		{Size(math.MaxUint64).String(), "16.0 EiB"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"10s": 10 * time.Second, "1h30m": 90 * time.Minute, "500ms": time.Second / 2, "0": 0, "-1s": -time.Second,
		"1d": 24 * time.Hour, "1.5d": 36 * time.Hour, "7d12h": 180 * time.Hour, "106751d": 106751 * 24 * time.Hour,
	} {
		if got, err := ParseDuration(s); got != want || err != nil {
			t.Errorf("%q is %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "d", "-1d", "1d-1h", "1dd", "1h1d", "106752d", "1e300d", "5", "1w"} {
		if got, err := ParseDuration(s); err == nil {
			t.Errorf("%q is %v, want an error", s, got)
		}
	}
}

// What is written can be read again.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"1e-6", "0.1%", "1 in 1000", "1/3", "10M", "1,000,000", "64KiB", "1.5MB", "8b", "64K", "1Mbit", "1e309", "18446744073709551616", "1e", "١", "1h30m", "1.5d12h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if r, err := ParseRate(s); err == nil && !(r > 0 && r < 1) {
			t.Errorf("rate %q is %v", s, float64(r))
		}
		if c, err := ParseCount(s); err == nil {
			if again, err := ParseCount(c.String()); again != c || err != nil {
				t.Errorf("count %q is %v, read again %v, %v", s, c, again, err)
			}
		}
		if z, err := ParseSize(s); err == nil {
			if again, err := ParseSize(Count(z).String() + "B"); z < 1<<53 && (again != z || err != nil) {
				t.Errorf("size %q is %d, read again %d, %v", s, z, again, err)
			}
		}
		if d, err := ParseDuration(s); err == nil {
			if again, err := ParseDuration(d.String()); again != d || err != nil {
				t.Errorf("duration %q is %v, read again %v, %v", s, d, again, err)
			}
		}
	})
}

// What is printed of a size that was rounded up is enough, and not much more.
func TestRoundUp(t *testing.T) {
	for z := Size(1); z < 1<<60; z += z/7 + 1 {
		up := z.RoundUp()
		printed, err := ParseSize(strings.ReplaceAll(up.String(), " ", ""))
		if err != nil || printed != up || up < z || float64(up) > 1.01*float64(z)+1 {
			t.Errorf("%d is rounded up to %d, printed as %v, %v", z, up, up, err)
		}
	}
}

func TestOf(t *testing.T) {
	for want, got := range map[string]string{
		"1 key": Count(1).Of("key"), "0 keys": Count(0).Of("key"), "2,000 keys": Count(2000).Of("key"), "1 batch": Count(1).Of("batch"), "3 batches": Count(3).Of("batch"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
