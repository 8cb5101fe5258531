package share

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire/delta"
	"golang.org/x/mod/sumdb/note"
)

// trusting accepts every signature, so that fuzzing reaches the parser.
type trusting struct{}

func (trusting) Name() string                                   { return "n" }
func (trusting) KeyHash() uint32                                { return 1 }
func (trusting) Verify([]byte, []byte) bool                     { return true }
func (trusting) Sign([]byte) ([]byte, error)                    { return []byte("x"), nil }
func (trusting) Verifier(string, uint32) (note.Verifier, error) { return trusting{}, nil }

func smallHead() *Head {
	return &Head{
		Name: "n", Stream: Stream{Began: 1, Nonce: 2}, Version: 4, Time: time.UnixMilli(3).UTC(), Valid: time.Second,
		Kind: "bloom", Bytes: 8, Deltas: []Ref{{Bytes: 1}, {Bytes: 2}, {Bytes: 3}},
	}
}

func FuzzHead(f *testing.F) {
	golden, err := os.ReadFile("testdata/head.txt")
	if err != nil {
		f.Fatal(err)
	}
	small, err := smallHead().Sign(trusting{})
	if err != nil {
		f.Fatal(err)
	}
	class := smallHead()
	class.Fold, class.Classes = 4, []Class{{1, 9, 8, 0.5}, {4, 7, 0, 1}}
	folded, err := class.Sign(trusting{})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Add(small)
	f.Add(folded)
	f.Fuzz(func(t *testing.T, b []byte) {
		text, _, _ := strings.Cut(string(b), "\n\n")
		lines := strings.SplitN(text, "\n", 3)
		name := "n"
		if len(lines) > 1 {
			name = lines[1]
		}
		h, err := OpenHead(b, name, trusting{})
		if err != nil {
			if h != nil || !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrSignature) {
				t.Errorf("%v, %v", h, err)
			}
			return
		}
		// A head has one form.
		if again := h.text(); again != text+"\n" {
			t.Errorf("%q is also %q", text, again)
		}
		h.Expires()
		for _, b := range []Budget{{Rate: 0.5}, {Start: 8}, {Memory: 1 << 20}} {
			if len(h.Classes) == 0 {
				break
			}
			fold, err := b.choose(choice{classes: h.Classes, bytes: h.Bytes})
			if err == nil && !slices.ContainsFunc(h.Classes, func(c Class) bool { return c.Fold == fold }) {
				t.Errorf("%+v chooses the class %d", b, fold)
			}
		}
		o := order{skew: defaultSkew, last: h}
		if err := o.check(h, h.Time); err != nil {
			t.Errorf("the same head again: %v", err)
		}
	})
}

func FuzzLocal(f *testing.F) {
	f.Add("123 seoc8gkovge196nruj49irtp4g\n5 iqh9dkh4ua2scuveif1gv2hgi4\n\nhead")
	f.Add("0 seoc8gkovge196nruj49irtp4g\n\n")
	f.Add("\n\n")
	f.Fuzz(func(t *testing.T, b string) {
		objects, signed, err := parseLocal(b)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Error(err)
			}
			return
		}
		if len(objects) == 0 || !strings.HasSuffix(b, "\n\n"+signed) {
			t.Errorf("%d objects, %q", len(objects), signed)
		}
		for i, s := range objects {
			if s.snapshot != (i == 0) {
				t.Errorf("object %d: snapshot %v", i, s.snapshot)
			}
		}
	})
}

// FuzzNotes reads the notes of a publisher.
func FuzzNotes(f *testing.F) {
	h, _, record, _ := someNotes(f)
	f.Add(record)
	f.Add(record[:len(record)-1])
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := parseNotes(b, h.Stream)
		if err != nil {
			return
		}
		for _, c := range n.classes {
			next := n.version
			for _, p := range slices.Backward(c.parts) {
				if p.to != next || p.from >= p.to || p.from == 0 {
					t.Fatalf("a part from version %d to %d, before %d", p.from, p.to, next)
				}
				next = p.from
			}
		}
		if got := n.append(nil); !bytes.Equal(got, b) {
			t.Errorf("%x is encoded as %x", b, got)
		}
	})
}

// FuzzPart reads a part of the notes of a publisher, and continues its history with it.
func FuzzPart(f *testing.F) {
	h, state, _, part := someNotes(f)
	f.Add(part)
	f.Add(part[:len(part)-1])
	f.Fuzz(func(t *testing.T, b []byte) {
		revisions, err := parsePart(b, 1, 5, state)
		if err != nil {
			return
		}
		x := newHistory(state.Clone(), h.Version, revisions)
		var changes delta.Changes
		since := h.Version
		for _, r := range slices.Backward(x.revisions) {
			before, earlier := x.between(r.from, since)
			changes, since = delta.Merge(earlier, changes), r.from
			change, err := delta.Encoder{}.AppendKnown(nil, before, x.state, changes, x.ones)
			if err != nil {
				t.Errorf("the change from version %d: %v", r.from, err)
			}
			if err := x.visit(r.from, func(base umbel.State) error {
				got, err := delta.Decoder{}.ApplyChange(base, change)
				if err == nil && !got.Equal(state) {
					t.Errorf("the change from version %d leads to another state", r.from)
				}
				return err
			}); err != nil {
				t.Errorf("version %d: %v", r.from, err)
			}
		}
		if !x.state.Equal(state) {
			t.Error("another state after visits")
		}
	})
}
