package build

import (
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/distinct"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// A census counts exactly while a set has room for the different digests, however often they are repeated, and
// estimates otherwise: as if each digest had gone to the set at once.
func TestCensus(t *testing.T) {
	const room = 1 << 16
	most := int(distinct.Capacity(room))
	for _, distinctKeys := range []int{0, 1, most / 2, most - 1, most + 1, most + most/100, most + most/20, 3 * most} {
		for _, times := range []int{1, 5} {
			c := order(bloomVariant(t), umbel.Goal{}).newCensus(true)
			c.room = room
			ds := fixture.Digests(1, distinctKeys)
			for range times {
				for rest := ds; len(rest) > 0; {
					n := min(len(rest), 100)
					if err := c.add(rest[:n]); err != nil {
						t.Fatal(err)
					}
					rest = rest[n:]
				}
			}
			c.end(uint64(distinctKeys * times))
			n, estimated := c.distinct()
			if want := distinctKeys > most; estimated != want {
				t.Errorf("%d digests, %d times: estimated %v, want %v", distinctKeys, times, estimated, want)
			}
			if off := math.Abs(float64(n) - float64(distinctKeys)); off > margin*float64(n) || !estimated && off > 0 {
				t.Errorf("%d digests, %d times: counted %d", distinctKeys, times, n)
			}
		}
	}
}
