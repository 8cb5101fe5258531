package scheme

import (
	"errors"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/multicast/inpacket"
)

func TestParseForms(t *testing.T) {
	got, err := ParseForms("linear,single")
	if want := []inpacket.Form{inpacket.Linear, inpacket.Single}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for _, bad := range []string{"", "dense", "single,", "Single", "form 5", "form 9"} {
		if fs, err := ParseForms(bad); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%q: %v, want an error", bad, fs)
		}
	}
	for _, f := range []inpacket.Form{inpacket.Single, inpacket.Staged, inpacket.Folded, inpacket.Linear, inpacket.Deep, inpacket.Complement} {
		if fs, err := ParseForms(FormName(f)); err != nil || len(fs) != 1 || fs[0] != f || !slices.Contains(FormNames(), FormName(f)) {
			t.Errorf("form %d: %v, %v", f, fs, err)
		}
	}
	if got, want := FormName(5), "form 5"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := FormName(9), "form 9"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
