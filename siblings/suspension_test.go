package siblings

import (
	"testing"
	"time"
)

func TestSuspension(t *testing.T) {
	var s suspension
	start := time.Unix(1_000_000, 0)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	admits := func(seconds float64, want bool) {
		t.Helper()
		if got := s.admits(at(seconds)); got != want {
			t.Errorf("after %v s: admits %v, want %v", seconds, got, want)
		}
	}
	admits(0, true)
	admits(0.1, true)
	s.failed(at(0), at(1), "first")
	s.failed(at(0.1), at(1.1), "began before") // does not double the time
	s.worked(at(0.2))                          // nor does an older success end it
	admits(1.9, false)
	admits(2, true) // the trial
	admits(2.1, false)
	s.abandoned(at(0.3)) // of a request that is not the trial
	admits(2.2, false)
	admits(12.1, true) // the body of the trial takes long
	s.failed(at(12.1), at(13), "second")
	admits(14.9, false) // two seconds
	admits(15, true)
	s.abandoned(at(15))
	admits(15.1, true)
	s.worked(at(2)) // the long trial ends well, but began before the last failure
	if reason, _ := s.state(); reason != "second" {
		t.Errorf("reason %q, want second", reason)
	}
	s.worked(at(15.1))
	if reason, _ := s.state(); reason != "" || s.last() != "second" {
		t.Errorf("reason %q, last %q, want none and second", reason, s.last())
	}
	admits(15.2, true)
	s.failed(at(15.2), at(16), "third") // a second again
	admits(17, true)
}
