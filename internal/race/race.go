// Package race is for tests that the race detector makes slow without any use. Only tests import it.
package race

import "testing"

// Skip skips a test if the race detector is on. The reason says why the detector would find nothing more in it, and what
// takes long: the test varies sizes, damage or time, mostly in one goroutine, or uses much memory.
func Skip(t testing.TB, reason string) {
	t.Helper()
	if Enabled {
		t.Skip("with the race detector: " + reason)
	}
}
