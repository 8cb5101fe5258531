package filtertest

import (
	"encoding"
	"encoding/json"
	"encoding/xml"
	"errors"
	"reflect"

	"github.com/umbel-filters/umbel"
)

// texter is a filter that can be encoded as a text.
type texter interface {
	umbel.Filter
	encoding.TextMarshaler
	encoding.TextUnmarshaler
}

// textRecord is a struct with a field for a filter, which is a pointer or, by value, a copy.
type textRecord struct{ F any }

// textRoundTrip: a filter is the same after it was encoded and decoded as JSON or XML, alone and in a field. Where the
// encoder has no address of the filter, that is an error, or works as well: keys are never lost. Damaged texts, and the text of a filter
// with a secret seed, are errors.
func textRoundTrip(t tb, v umbel.Kind) {
	f := as[texter](t, newFilter(t, v, sizes[0]))
	addAll(f, digests(1, int(sizes[0])))
	want := written(t, v, f)
	for name, code := range map[string]struct {
		marshal   func(any) ([]byte, error)
		unmarshal func([]byte, any) error
	}{"JSON": {json.Marshal, json.Unmarshal}, "XML": {xml.Marshal, xml.Unmarshal}} {
		value := reflect.Indirect(reflect.ValueOf(f)).Interface()
		for what, c := range map[string]struct {
			encode any
			decode func(umbel.Filter) any
			must   bool
		}{
			"a filter":             {f, func(g umbel.Filter) any { return g }, true},
			"a field":              {textRecord{f}, func(g umbel.Filter) any { return &textRecord{g} }, true},
			"a filter by value":    {value, func(g umbel.Filter) any { return g }, false},
			"a field with a value": {textRecord{value}, func(g umbel.Filter) any { return &textRecord{g} }, false},
		} {
			b, err := code.marshal(c.encode)
			if err != nil {
				if c.must || !errors.Is(err, errors.ErrUnsupported) {
					t.Errorf("%s of %s: %v", name, what, err)
				}
				continue
			}
			g := newFilter(t, v, sizes[1])
			if err := code.unmarshal(b, c.decode(g)); err != nil {
				t.Errorf("%s of %s, %.100q: %v", name, what, b, err)
				continue
			}
			wantState(t, g, want, "from the "+name+" of "+what)
		}
	}
	text, err := f.MarshalText()
	if err != nil {
		t.Fatalf("MarshalText: %v", err)
	}
	g := as[texter](t, newFilter(t, v, sizes[1]))
	before := g.State().Clone()
	for what, damaged := range map[string][]byte{"empty": nil, "truncated": text[:len(text)-len(text)%4-4], "not of base64": append([]byte("!"), text...)} {
		wantOnly(t, g.UnmarshalText(damaged), "UnmarshalText of a text that is "+what, umbel.ErrCorrupt)
		wantState(t, g, before, "after UnmarshalText of a text that is "+what)
	}
	secret := as[texter](t, mustNew(t, v, umbel.Goal{Keys: sizes[0], FPRate: 0.01, Hasher: umbel.Hasher{Alg: umbel.SipHash, Seed: secret}}, nil))
	if text, err := secret.MarshalText(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("the text of a filter with a secret seed is %.40q, %v, want an error that wraps ErrUnsupported", text, err)
	}
}
