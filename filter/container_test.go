package filter_test

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/wire"
)

// A filter that reads a container of another kind says which kind that is, and what reads every kind.
func TestContainerOfOtherKind(t *testing.T) {
	for _, from := range filter.All {
		f, err := from.New(umbel.Goal{Keys: 100, FPRate: 0.01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		container, err := wire.Append(nil, f.State())
		if err != nil {
			t.Fatal(err)
		}
		for _, into := range filter.All {
			g, err := into.New(umbel.Goal{Keys: 50, FPRate: 0.1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			before := g.State().Clone()
			_, err1 := g.(io.ReaderFrom).ReadFrom(bytes.NewReader(container))
			err2 := g.(encoding.BinaryUnmarshaler).UnmarshalBinary(container)
			for _, err := range []error{err1, err2} {
				if from.Name == into.Name {
					if err != nil {
						t.Errorf("%s: %v", from.Name, err)
					}
					continue
				}
				want := fmt.Sprintf("%s: the container has a filter of kind %q; open filters of any kind with ", into.Name, from.Name)
				if !errors.Is(err, umbel.ErrKind) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "unknown") {
					t.Errorf("%s into %s: %v, want %q…", from.Name, into.Name, err, want)
				}
				if !g.State().Equal(before) {
					t.Errorf("%s into %s: the filter has changed", from.Name, into.Name)
				}
			}
		}
	}
}
