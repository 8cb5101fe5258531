package nats

import (
	"bytes"
	"testing"

	"github.com/umbel-filters/umbel/share"
)

// FuzzParts checks that only descriptions that the store writes are accepted.
func FuzzParts(f *testing.F) {
	f.Fuzz(func(t *testing.T, s string) {
		id, size, part, err := parseParts(s)
		if err != nil {
			return
		}
		if _, err := idBegan(id); err != nil || size < 0 || part < 1 || part > maxPart || formatParts(id, size, part) != s {
			t.Errorf("%q is %q, %d bytes in parts of %d, %v", s, id, size, part, err)
		}
	})
}

// FuzzSplitObject checks that a message is divided into a record and an object of the stated name.
func FuzzSplitObject(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte, header string) {
		record, name, object, ok := splitObject(data, header)
		if !ok {
			return
		}
		if !bytes.Equal(append(bytes.Clone(record), object...), data) {
			t.Errorf("%d and %d bytes of %d", len(record), len(object), len(data))
		}
		if (name != "" || len(object) > 0) && share.RefOf(object).Hash.String() != name {
			t.Errorf("an object with the name %q", name)
		}
	})
}
