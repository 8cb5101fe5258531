package budget

import (
	"errors"
	"testing"
)

// What parts and files take counts in the whole.
func TestFiles(t *testing.T) {
	all := New(100)
	part, log := all.Part(50), all.Files()
	if err := errors.Join(log.Grow(60), part.Take(40)); err != nil {
		t.Fatal(err)
	}
	if err := log.Grow(1); !errors.Is(err, ErrDisk) {
		t.Errorf("a byte too many: %v", err)
	}
	if err := part.Take(1); !errors.Is(err, ErrFull) || part.Used() != 40 {
		t.Errorf("a byte too many in the part: %v, %d used", err, part.Used())
	}
	log.Set(110)
	if all.Used() != 150 || all.Left() != -50 {
		t.Errorf("%d used and %d left, want 150 and -50", all.Used(), all.Left())
	}
	log.Set(0)
	if err := part.Take(11); !errors.Is(err, ErrFull) {
		t.Errorf("more than the part: %v", err)
	}
	part.Give(40)
	if all.Used() != 0 {
		t.Errorf("%d bytes are taken, want 0", all.Used())
	}
	none := (*Budget)(nil).Files()
	none.Set(1 << 40)
	if err := none.Grow(1 << 40); err != nil {
		t.Errorf("without a limit: %v", err)
	}
}
