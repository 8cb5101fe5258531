package share_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/share"
	"golang.org/x/mod/sumdb/note"
)

func TestKey(t *testing.T) {
	k, private, err := share.NewKey("example.org/words")
	if err != nil {
		t.Fatal(err)
	}
	again, err := share.ParseKey(private)
	if err != nil {
		t.Fatal(err)
	}
	public, err := share.PublicKey(private)
	if err != nil {
		t.Fatal(err)
	}
	subscriber, err := share.ParsePublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	for _, signer := range []note.Signer{k.Signer, again.Signer} {
		signed, err := note.Sign(&note.Note{Text: "text\n"}, signer)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []note.Verifier{k.Verifier, again.Verifier, subscriber} {
			if _, err := note.Open(signed, note.VerifierList(v)); err != nil || v.Name() != "example.org/words" {
				t.Errorf("%s: %v", v.Name(), err)
			}
		}
	}
	for _, name := range []string{"", "two words", "a+b", "line\n"} {
		if _, _, err := share.NewKey(name); err == nil {
			t.Errorf("a key with the name %q", name)
		}
	}
	for _, bad := range []string{"", "x", private, public[:len(public)-4], public + "AAAA"} {
		if _, err := share.ParsePublicKey(bad); !errors.Is(err, umbel.ErrGoal) || strings.Contains(err.Error(), "PRIVATE") {
			t.Errorf("%.20q is a public key: %v", bad, err)
		}
	}
	for _, bad := range []string{"", "x", public, private[:len(private)-4], private + "AAAA"} {
		if _, err := share.ParseKey(bad); err == nil {
			t.Errorf("%.20q is a private key", bad)
		}
		if _, err := share.PublicKey(bad); err == nil {
			t.Errorf("%.20q has a public half", bad)
		}
	}
	if _, err := share.NewPublisher(t.Context(), share.PublisherOptions{Store: new(share.Memory)}); err == nil {
		t.Error("a publisher without a key")
	}
	_, other := keys(t, "example.org/words")
	mixed := share.PublisherOptions{Store: new(share.Memory), Key: share.Key{Signer: k.Signer, Verifier: other}}
	if _, err := share.NewPublisher(t.Context(), mixed); !errors.Is(err, share.ErrSignature) {
		t.Errorf("halves of two keys: %v", err)
	}
}
