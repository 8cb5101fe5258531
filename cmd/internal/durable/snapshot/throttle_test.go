package snapshot

import (
	"testing"
)

// A snapshot rests less while the log is longer than planned, and not at all when it is twice as long.
func TestRestShare(t *testing.T) {
	for _, c := range []struct {
		length, planned uint64
		want            float64
	}{
		{0, 1000, 1}, {1000, 1000, 1}, {1500, 1000, .5}, {2000, 1000, 0}, {9000, 1000, 0}, {9000, 0, 1},
	} {
		if got := restShare(c.length, c.planned); got != c.want {
			t.Errorf("%d bytes, %d planned: %v, want %v", c.length, c.planned, got, c.want)
		}
	}
}
