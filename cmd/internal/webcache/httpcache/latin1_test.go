package httpcache

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"reflect"
	"testing"
)

// A record has the bytes of keys and fields, in UTF-8 or not.
func TestRecordKeepsBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		b := make([]byte, 1+random.IntN(20))
		for i := range b {
			b[i] = byte(random.IntN(256))
		}
		return string(b)
	}
	for range 1000 {
		s := newStored("http://a/"+text(), http.Header{"Accept": {text()}}, false, 200, http.Header{"X-A": {text(), ""}, "X-B": {text()}, "Vary": {"Accept"}}, policy{etag: text()})
		file, err := appendTrailer(nil, s, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, _, _, err := readTrailer(bytes.NewReader(file), int64(len(file)))
		if err != nil {
			t.Fatal(err)
		}
		if got.key != s.key || got.policy.etag != s.policy.etag || !reflect.DeepEqual(got.header, s.header) || !reflect.DeepEqual(got.selected, s.selected) {
			t.Fatalf("%q %q, want %q %q", got.key, got.header, s.key, s.header)
		}
	}
}
