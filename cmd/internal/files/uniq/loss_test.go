package uniq

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/filter/bloom"
)

// The estimate of the new lines that were taken for known ones is their number, from a rate below the planned one up to one of
// more than a half.
func TestLoss(t *testing.T) {
	const planned = 100_000
	for _, lines := range []int{planned / 2, planned, 2 * planned, 5 * planned} {
		var text strings.Builder
		for i := range lines {
			text.WriteString(strconv.Itoa(i))
			text.WriteByte('\n')
		}
		f, err := bloom.NewGoal(umbel.Goal{Keys: planned, FPRate: 0.01})
		if err != nil {
			t.Fatal(err)
		}
		loss := Loss{}
		stream := &Stream{Seen: NewFilter(f, nil), Format: keys.Lines, Write: func(b []byte) (int, error) { return len(b), nil }}
		stream.Tick = func(int64) error { loss.Look(f, stream); return nil }
		loss.Begin(f.Stats().FPRate)
		if err := stream.Run(t.Context(), strings.NewReader(text.String())); err != nil {
			t.Fatal(err)
		}
		loss.Measure(f.Stats().FPRate, stream)
		lost := float64(stream.Read - stream.New) // all lines are new
		permitted, over := loss.Permitted(0.01, stream)
		t.Logf("%d lines: %.0f lost, estimated %.1f, permitted %.0f", lines, lost, loss.expected, permitted)
		if math.Abs(loss.expected-lost) > 0.03*lost+5*math.Sqrt(lost+1) {
			t.Errorf("%d lines: estimated %.1f, want %.0f", lines, loss.expected, lost)
		}
		if over != (lines >= 2*planned) {
			t.Errorf("%d lines, of %d planned: more lost than permitted is %v", lines, planned, over)
		}
	}
}
