// Package await waits, in tests and measurements, for what other goroutines and other processes do. True is for tests;
// Within is for what is no test, such as a command of a script. Only tests and measurements import it.
//
// In a bubble of testing/synctest both wait in the time of the bubble. Where the code under test offers a channel, or a
// call that returns when the condition is true, that is better.
package await

import (
	"testing"
	"time"
)

const (
	limit = 3 * time.Minute // some programs do their work once a minute
	// A condition may be a request, so that it is not checked all the time.
	firstPause, longestPause = time.Millisecond, 20 * time.Millisecond
)

// True waits until condition returns true. If it still returns false after three minutes, True ends the test with a
// message that contains what: the condition as a clause in the present tense, such as "the node is ready".
func True(t testing.TB, what string, condition func() bool) {
	t.Helper()
	if !Within(limit, condition) {
		t.Fatalf("after %v it is not so that %s", limit, what)
	}
}

// Within waits until condition returns true, or until d has passed. It returns the last result of condition, which it
// calls at least once.
func Within(d time.Duration, condition func() bool) bool {
	end := time.Now().Add(d)
	for pause := firstPause; !condition(); pause = min(2*pause, longestPause) {
		if !time.Now().Before(end) {
			return false
		}
		time.Sleep(pause)
	}
	return true
}
