package await

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// recorder is a test whose failure is recorded.
type recorder struct {
	testing.TB
	failure string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) { r.failure = fmt.Sprintf(format, args...) }

// True ends soon after its condition becomes true, and otherwise fails after its limit.
func TestTrue(t *testing.T) {
	for after, want := range map[time.Duration]string{
		0: "", time.Second: "", limit - longestPause: "", 2 * limit: "after 3m0s it is not so that it is over",
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			r := &recorder{TB: t}
			True(r, "it is over", func() bool { return time.Since(begin) >= after })
			if r.failure != want {
				t.Errorf("after %v: failure %q, want %q", after, r.failure, want)
			}
			if took, least := time.Since(begin), min(after, limit); took < least || took > least+longestPause {
				t.Errorf("after %v: it took %v", after, took)
			}
		})
	}
}

// The condition is checked at least once, and once more at the end of the time.
func TestWithin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if n := 0; !Within(0, func() bool { n++; return true }) || n != 1 {
			t.Errorf("a condition that is true was checked %d times", n)
		}
		if n := 0; Within(0, func() bool { n++; return false }) || n != 1 {
			t.Errorf("a condition that is false was checked %d times", n)
		}
	})
}
