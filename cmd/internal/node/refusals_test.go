package node

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
)

// Refused additions have a message when they begin, one per minute while they last, and one when they are over.
func TestRefusalsInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		e := newEngine(engine.Options{})
		f, _, err := e.Create("seen", "scalable", umbel.Goal{Keys: 100, FPRate: .01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		used, _ := e.Memory()
		e.SetMaxMemory(used)
		log, g := slog.New(slog.NewTextHandler(&b, nil)), newGrowth(e)
		// pass lets seconds pass, in each of which as many additions are refused.
		pass := func(seconds, additions int) (logged string) {
			t.Helper()
			b.Reset()
			for range seconds {
				for range additions {
					ds := make([]umbel.Digest, 1000)
					for i := range ds {
						ds[i] = f.Hasher().HashUint64(uint64(i))
					}
					if _, _, err := f.Add(nil, ds); err == nil {
						t.Fatal("an addition is not refused")
					}
				}
				g.look(log)
				time.Sleep(refusalsEvery)
			}
			return b.String()
		}
		const begins, ends = "event=growth-refused", "event=growth-recovered"
		if got := pass(60, 0); got != "" {
			t.Errorf("without refusals: %s", got)
		}
		got := pass(60, 3)
		if strings.Count(got, "\n") != 1 || !strings.Contains(got, "level=WARN") || !strings.Contains(got, ` reason=memory filter=seen error="memory limit reached: `) || !strings.Contains(got, begins) || !strings.Contains(got, " refused=3\n") {
			t.Errorf("a minute: %s", got)
		}
		began := time.Now().Add(-time.Minute).UTC()
		if s := g.status(); len(s) != 1 || s[0].Reason != "memory" || !s[0].Since.Equal(began) || s[0].Filter != "seen" || s[0].Refused != 180 ||
			s[0].Needed <= used || !strings.HasPrefix(s[0].Error, "memory limit reached: ") {
			t.Errorf("the status has %+v, want what is refused since %v", s, began)
		}
		if got := pass(60, 3); strings.Count(got, "\n") != 1 || !strings.Contains(got, begins) || !strings.Contains(got, " refused=183\n") {
			t.Errorf("the next minute: %s", got)
		}
		if got := pass(60, 0); strings.Count(got, "\n") != 1 || !strings.Contains(got, ends+" reason=memory refused=360 took=1m59s\n") {
			t.Errorf("the end: %s", got)
		}
		if s := g.status(); s != nil {
			t.Errorf("after the end, the status has %+v", s)
		}
		if got := pass(1, 1); strings.Count(got, "\n") != 1 || !strings.Contains(got, begins) || !strings.Contains(got, " refused=1\n") {
			t.Errorf("again: %s", got)
		}
	})
}
