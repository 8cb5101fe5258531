package memory

import "testing"

func TestField(t *testing.T) {
	const text = "MemTotal:       24 kB\nMemAvailable:   12 kB\nOdd:\nWord: x\n"
	if n, ok := field([]byte(text), "MemAvailable:"); n != 12 || !ok {
		t.Errorf("got %d, %v", n, ok)
	}
	for _, name := range []string{"Odd:", "Word:", "None:"} {
		if _, ok := field([]byte(text), name); ok {
			t.Errorf("%s has a number", name)
		}
	}
}
