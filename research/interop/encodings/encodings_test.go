// Package encodings tests that a filter in a field survives the encodings that programs use for configuration and
// records, by the packages that they use.
package encodings

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"reflect"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/bloom"
	"go.yaml.in/yaml/v3"
)

// encodings are functions that encode, and decode into a pointer.
var encodings = map[string]struct {
	encode func(any) ([]byte, error)
	decode func([]byte, any) error
}{
	"JSON": {json.Marshal, json.Unmarshal},
	"XML":  {xml.Marshal, xml.Unmarshal},
	"YAML": {yaml.Marshal, yaml.Unmarshal},
	"TOML": {toml.Marshal, toml.Unmarshal},
	"gob": {func(v any) ([]byte, error) {
		var b bytes.Buffer
		err := gob.NewEncoder(&b).Encode(v)
		return b.Bytes(), err
	}, func(b []byte, v any) error { return gob.NewDecoder(bytes.NewReader(b)).Decode(v) }},
}

type pointer struct{ Filter *bloom.Filter }

type value struct{ Filter bloom.Filter }

// A field that is a pointer survives every encoding. A field that is a value survives it, or encoding it is an error: it
// is never an empty filter.
func TestFields(t *testing.T) {
	f, err := bloom.New(1000, 0.01)
	if err != nil {
		t.Fatal(err)
	}
	umbel.AddKeys(f, []string{"alice", "bob"})
	container, err := f.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var v value
	if err := v.Filter.UnmarshalBinary(container); err != nil {
		t.Fatal(err)
	}
	for name, e := range encodings {
		var p pointer
		b, err := e.encode(pointer{f})
		if err == nil {
			err = e.decode(b, &p)
		}
		if err != nil || !p.Filter.Equal(f) {
			t.Errorf("%s of a field that is a pointer: %v, %v", name, p.Filter, err)
		}
		for what, encode := range map[string]func() ([]byte, error){
			"by its address": func() ([]byte, error) { return e.encode(&v) },
			"by value":       func() ([]byte, error) { return e.encode(reflect.ValueOf(&v).Elem().Interface()) }, // a copy that go vet does not find
		} {
			b, err := encode()
			if err != nil {
				continue
			}
			var w value
			if err := e.decode(b, &w); err != nil || !w.Filter.Equal(f) {
				t.Errorf("%s of a field that is a value, in a struct that is passed %s: %.80q is %v, %v", name, what, b, &w.Filter, err)
			}
		}
	}
}

// A filter with a secret seed is refused by the encodings that are text.
func TestSecretSeeds(t *testing.T) {
	f, err := bloom.NewGoal(umbel.Goal{Keys: 10, FPRate: 0.01, Hasher: umbel.Hasher{Alg: umbel.SipHash, Seed: umbel.SeedFrom([16]byte{1})}})
	if err != nil {
		t.Fatal(err)
	}
	for name, e := range encodings {
		if b, err := e.encode(pointer{f}); (err == nil) != (name == "gob") {
			t.Errorf("%s of a filter with a secret seed: %.80q, %v", name, b, err)
		}
	}
	if _, err := json.Marshal(pointer{f}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("JSON of a filter with a secret seed: %v, want an error that wraps ErrUnsupported", err)
	}
}
