package nixbloom_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/nixbloom"
)

// TestNixManual: the hash in the example of the manual of nix-hash, --to-base32.
func TestNixManual(t *testing.T) {
	const text, want = "nvd61k9nalji1zl9rrdfmsmvyyjqpzg4", "e4fd8ba5f7bbeaea5ace89fe10255536cd60dab6"
	h, err := nixbloom.ParseHash(text)
	if err != nil || hex.EncodeToString(h[:]) != want || h.String() != text {
		t.Fatalf("%x, %v, want %s", h, err, want)
	}
	if got, want := h.Digest(), (umbel.Digest{H1: 0xeaeabbf7a58bfde4, H2: 0x36552510fe89ce5a}); got != want {
		t.Errorf("digest %v, want %v", got, want)
	}
}

func TestParsePath(t *testing.T) {
	const hash = "nvd61k9nalji1zl9rrdfmsmvyyjqpzg4"
	want, _ := nixbloom.ParseHash(hash)
	for _, s := range []string{hash, hash + ".narinfo", hash + "-hello-2.12", "/nix/store/" + hash + "-hello", "/nix/store/" + hash} {
		if h, err := nixbloom.ParsePath(s); err != nil || h != want {
			t.Errorf("%s: %v, %v", s, h, err)
		}
	}
	for _, s := range []string{
		"", "/nix/store/", hash[1:], hash + "x", hash + "-", hash + ".nar", hash + ".narinfo2", "/store/" + hash + "-hello",
		strings.ToUpper(hash), "e" + hash[1:], "/nix/store/" + hash + "-hello/bin/hello", "/nix/store/../" + hash, hash[:31] + "\x00",
	} {
		if h, err := nixbloom.ParsePath(s); !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%q: %v, %v, want ErrCorrupt", s, h, err)
		}
	}
}

func FuzzPath(f *testing.F) {
	f.Fuzz(func(t *testing.T, s string) {
		h, err := nixbloom.ParsePath(s)
		if err != nil {
			if !errors.Is(err, umbel.ErrCorrupt) {
				t.Fatalf("%v, want ErrCorrupt", err)
			}
			return
		}
		if !strings.Contains(s, h.String()) {
			t.Fatalf("%q has hash %s", s, h)
		}
	})
}
