package sentinel_test

import (
	"errors"
	"io"
	"testing"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// An error wraps its class and its causes, and its text is that of the format alone.
func TestClassIsHidden(t *testing.T) {
	class, other := errors.New("class"), errors.New("other")
	err := sentinel.Errorf(class, "reading %d bytes: %w", 3, io.ErrUnexpectedEOF)
	outer := sentinel.Wrap(other, err)
	for _, is := range []error{class, io.ErrUnexpectedEOF, err, other} {
		if !errors.Is(outer, is) {
			t.Errorf("%v does not wrap %v", outer, is)
		}
	}
	if errors.Is(err, other) {
		t.Errorf("%v wraps %v, which was attached to another error", err, other)
	}
	const want = "reading 3 bytes: unexpected EOF"
	if outer.Error() != want || err.Error() != want {
		t.Errorf("the texts are %q and %q, want %q", err, outer, want)
	}
	if err := sentinel.Wrap(class, nil); err != nil {
		t.Errorf("Wrap of nil returns %v", err)
	}
}
