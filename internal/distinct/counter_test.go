package distinct

import (
	"errors"
	"math"
	"testing"

	"github.com/umbel-filters/umbel"

	"github.com/umbel-filters/umbel/internal/fixture"
)

// A Counter counts exactly while a set has room for the different digests, however often they are repeated, and
// estimates otherwise: as if each digest had gone to the set at once.
func TestCounter(t *testing.T) {
	const room = 1 << 16
	most := int(Capacity(room))
	for _, distinctKeys := range []int{0, 1, most / 2, most - 1, most + 1, most + most/100, most + most/20, 3 * most} {
		for _, times := range []int{1, 5} {
			c := NewCounter(room, false, nil)
			ds := fixture.Digests(1, distinctKeys)
			for range times {
				for rest := ds; len(rest) > 0; {
					n := min(len(rest), 100)
					if err := c.Add(rest[:n]); err != nil {
						t.Fatal(err)
					}
					rest = rest[n:]
				}
			}
			n, estimated := c.Count()
			if want := distinctKeys > most; estimated != want {
				t.Errorf("%d digests, %d times: estimated %v, want %v", distinctKeys, times, estimated, want)
			}
			if off := math.Abs(float64(n) - float64(distinctKeys)); off > Margin*float64(n) || !estimated && off > 0 {
				t.Errorf("%d digests, %d times: counted %d", distinctKeys, times, n)
			}
		}
	}
}

// Without room the stored digests and all further ones go to the function that full returns, with their repetitions if these
// are stored.
func TestFull(t *testing.T) {
	const room = 1 << 16
	for _, repeats := range []bool{false, true} {
		var c *Counter
		var got []umbel.Digest
		add := func(ds []umbel.Digest) error {
			got = append(got, ds...)
			return nil
		}
		calls := 0
		c = NewCounter(room, repeats, func() (func([]umbel.Digest) error, error) {
			calls++
			stored, err := c.Pour(add)
			if !stored {
				t.Error("Pour in full has nothing stored")
			}
			return add, err
		})
		ds := fixture.Digests(1, 3*int(Capacity(room)))
		for _, d := range ds {
			if err := c.Add([]umbel.Digest{d, d}); err != nil {
				t.Fatal(err)
			}
		}
		if calls != 1 || c.Read() != uint64(2*len(ds)) {
			t.Fatalf("full was called %d times, %d digests read, want 1 and %d", calls, c.Read(), 2*len(ds))
		}
		times := make(map[umbel.Digest]int)
		for _, d := range got {
			times[d]++
		}
		for i, d := range ds {
			if n := times[d]; n < 1 || n > 2 || repeats && n != 2 {
				t.Fatalf("repetitions %v: digest %d was passed on %d times", repeats, i, n)
			}
		}
	}
	failed := errors.New("failed")
	c := NewCounter(room, false, func() (func([]umbel.Digest) error, error) { return nil, failed })
	if err := c.Add(fixture.Digests(1, 2*int(Capacity(room)))); !errors.Is(err, failed) {
		t.Errorf("Add: %v, want the error of full", err)
	}
}
