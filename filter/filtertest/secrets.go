package filtertest

import (
	"bytes"
	"encoding"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"reflect"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
)

// secret is a seed that can be recognized in any form.
var secret = umbel.SeedFrom([16]byte([]byte("SECRTabcdefgXYZ!")))

// seedsAreSecret: neither a filter, nor its state, nor an error contains a seed.
func seedsAreSecret(t tb, v umbel.Kind) {
	h := umbel.Hasher{Alg: umbel.SipHash, Seed: secret}
	g := umbel.Goal{Keys: sizes[0], FPRate: 0.01, Hasher: h}
	f := mustNew(t, v, g, nil)
	addAll(f, digests(1, 10))
	var out strings.Builder
	show := func(v any) {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		b, _ := json.Marshal(v)
		out.Write(b)
		b, _ = xml.Marshal(v)
		out.Write(b)
		if text, ok := v.(encoding.TextMarshaler); ok {
			b, _ = text.MarshalText()
			out.Write(b)
		}
		slog.New(slog.NewJSONHandler(&out, nil)).Info("shown", "value", v)
		slog.New(slog.NewTextHandler(&out, nil)).Info("shown", "value", v)
	}
	show(f)
	show(reflect.Indirect(reflect.ValueOf(f)).Interface()) // a copy of the filter, not a pointer to it
	show(f.Hasher())
	if v.Shape != nil {
		if s, _, err := v.Shape(g, nil); err == nil {
			show(s)
		}
	}
	s := f.State()
	s.Arrays = nil // cells are random enough
	show(s)
	for _, err := range secretErrors(t, v, g, f) {
		show(err)
	}
	if form := fixture.FindSeed(out.String(), secret); form != "" {
		t.Errorf("a seed is printed, as %s, in %.2000s", form, out.String())
	}
}

// secretErrors returns errors that methods of f, a filter with the goal g, and functions of v
// return.
func secretErrors(t tb, v umbel.Kind, g umbel.Goal, f umbel.Filter) []error {
	var errs []error
	keep := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	others := []umbel.Hasher{{}, {Alg: umbel.SipHash}, {Alg: umbel.SipHash, Seed: fixture.Seed(1, 0)}, {Alg: umbel.MD5},
		{Alg: umbel.MD5, Seed: secret}, {Alg: 77, Seed: secret}}
	for _, h := range others {
		s := f.State().Clone()
		s.Hasher = h
		if m, ok := f.(umbel.Merger); ok {
			keep(m.Merge(s))
		}
		_, err := v.Open(s) // parts keep their hashers
		keep(err)
		for i := range s.Parts {
			s := f.State().Clone()
			s.Parts[i].Hasher = h
			_, err := v.Open(s)
			keep(err)
		}
		goal := g
		goal.Hasher = h
		_, err = v.New(goal, nil)
		keep(err)
		goal.FPRate = 2
		_, err = v.New(goal, nil)
		keep(err)
	}
	s := f.State().Clone()
	s.Params = nil
	_, err := v.Open(s)
	keep(err)
	s.Kind = "another"
	_, err = v.Open(s)
	keep(err)
	if fold, ok := f.(umbel.Folder); ok {
		keep(fold.Fold(1_000_003))
		keep(fold.Unfold(1 << 63))
	}
	if m, ok := f.(encoding.BinaryMarshaler); ok {
		b, err := m.MarshalBinary()
		keep(err)
		if u, ok := f.(encoding.BinaryUnmarshaler); ok {
			for i := range b {
				damaged := bytes.Clone(b)
				damaged[i] ^= 0x55
				keep(u.UnmarshalBinary(damaged))
			}
		}
	}
	return errs
}
