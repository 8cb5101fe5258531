package memory

import "testing"

// What a machine has is between 16 MiB and 16 PiB, where it tells.
func TestAvailable(t *testing.T) {
	if n, ok := Available(); ok && (n < 1<<24 || n > 1<<54) {
		t.Errorf("%d bytes are available", n)
	}
}
