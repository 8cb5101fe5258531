package merkle

import "testing"

// A panic while leaves are read is one of the caller, who may recover it, on whichever goroutine it happens.
func TestPanicOfLeaves(t *testing.T) {
	for _, workers := range []int{1, 4} {
		func() {
			defer func() {
				if v := recover(); v != "leaf 1" {
					t.Errorf("%d workers: recovered %v, want leaf 1", workers, v)
				}
			}()
			parallel(NewHasher(), 100, workers, func(_ *Hasher, i uint64) {
				if i == 1 {
					panic("leaf 1")
				}
			})
			t.Errorf("%d workers: parallel returned", workers)
		}()
	}
}
