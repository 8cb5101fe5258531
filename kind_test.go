package umbel_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
)

func exactVariant(kind string) umbel.Kind {
	return umbel.Kind{
		Name: kind,
		Open: func(s umbel.State) (umbel.Filter, error) {
			if len(s.Arrays) != 0 {
				return nil, umbel.ErrCorrupt
			}
			return exact{}, nil
		},
	}
}

func TestVariantsFind(t *testing.T) {
	vs := umbel.Kinds{exactVariant("exact"), exactVariant("other")}
	for _, kind := range []string{"exact", "other"} {
		if v, err := vs.Find(kind); err != nil || v.Name != kind {
			t.Errorf("Find(%q) = %q, %v", kind, v.Name, err)
		}
	}
	for _, kind := range []string{"", "bloom", "Exact", strings.Repeat("x", 1000)} {
		v, err := vs.Find(kind)
		wantError(t, err, umbel.ErrKind, "want one of exact, other")
		if v.Name != "" || err != nil && len(err.Error()) > 200 {
			t.Errorf("variant %q beside an error of %d characters", v.Name, len(err.Error()))
		}
	}
}

func TestVariantsOpen(t *testing.T) {
	vs := umbel.Kinds{exactVariant("exact")}
	if f, err := vs.Open(umbel.State{Kind: "exact"}); err != nil || f == nil {
		t.Errorf("Open gives %v, %v", f, err)
	}
	for _, c := range []struct {
		s    umbel.State
		want error
	}{
		{umbel.State{Kind: "bloom"}, umbel.ErrKind},
		{umbel.State{}, umbel.ErrKind},
		{umbel.State{Kind: "exact", Arrays: sample().Arrays}, umbel.ErrCorrupt},
	} {
		f, err := vs.Open(c.s)
		if !errors.Is(err, c.want) || f != nil {
			t.Errorf("Open of kind %q gives %v, %v, want %v", c.s.Kind, f, err, c.want)
		}
	}
}
