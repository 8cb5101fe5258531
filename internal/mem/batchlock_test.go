package mem

import "testing"

// A batch that runs at any moment of a single addition makes it repeat.
func TestBatchLockRan(t *testing.T) {
	word := new(uint64)
	l := BatchLockOf(word)
	if l != BatchLockOf(word) {
		t.Fatal("an array has two locks")
	}
	before := l.Before()
	if l.Ran(before) {
		t.Error("a batch ran, but none began")
	}
	l.Begin()
	if !l.Ran(before) {
		t.Error("no batch ran since before it began")
	}
	during := l.Before()
	if !l.Ran(during) {
		t.Error("no batch ran while one ran")
	}
	l.End()
	if !l.Ran(before) || !l.Ran(during) {
		t.Error("no batch ran after one ended")
	}
	if l.Ran(l.Before()) {
		t.Error("a batch ran after the last one")
	}
}
