package foreignfile

import (
	"bytes"
	"io"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/wire"
)

// What is read from untrusted bytes is a filter within the limit of memory, of the form that its first bytes state. A file that is none
// of another program goes to the reader of containers as it is.
func FuzzRead(f *testing.F) {
	const most = 1 << 20
	f.Fuzz(func(t *testing.T, b []byte) {
		own := func(in io.Reader, l wire.Limits) (umbel.State, error) {
			if rest, err := io.ReadAll(in); err != nil || !bytes.Equal(rest, b) {
				t.Fatalf("the reader of containers gets %q, %v", rest, err)
			}
			return wire.Parse(b, l)
		}
		s, form, err := Read(bytes.NewReader(b), []string{"file"}, wire.Limits{Bytes: most}, own)
		if form != Of(b) {
			t.Fatalf("form %q, want %q", form, Of(b))
		}
		if err != nil {
			return
		}
		if s.Bytes() > most {
			t.Fatalf("%d bytes of memory, want at most %d", s.Bytes(), most)
		}
		if _, err := filter.All.Open(s); err != nil {
			t.Fatalf("%s: the filter that was read: %v", form, err)
		}
	})
}
