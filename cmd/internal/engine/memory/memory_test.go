package memory

import "testing"

// The memory of a machine, if it is known, is between 16 MiB and 16 PiB, and more than is free.
func TestAvailable(t *testing.T) {
	n, ok := Available()
	if ok && (n < 1<<24 || n > 1<<54) {
		t.Errorf("%d bytes are available", n)
	}
	if all, told := Most(); told && (all < n || all > 1<<54) || ok && !told {
		t.Errorf("%d bytes at most, %d available", all, n)
	}
}
