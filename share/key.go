package share

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"golang.org/x/mod/sumdb/note"
)

// Key signs the heads of a publication. Its two halves have the name of the publication, and belong
// together. NewKey and ParseKey return Ed25519 keys; a program whose private key is elsewhere, for
// example in a security module, implements note.Signer.
type Key struct {
	Signer   note.Signer
	Verifier note.Verifier
}

// check returns an error wrapping ErrSignature unless the verifier accepts what the signer signs.
func (k Key) check() error {
	signed, err := note.Sign(&note.Note{Text: "test\n"}, k.Signer)
	if err == nil {
		_, err = note.Open(signed, note.VerifierList(k.Verifier))
	}
	if err != nil {
		return fmt.Errorf("the halves of the key of %s do not belong together: %w", k.Signer.Name(), ErrSignature)
	}
	return nil
}

// NewKey returns a new key, and its private half as the line of text that ParseKey reads. By convention
// a name is a path below a domain of the publisher, such as example.org/words. It must not be empty or
// contain spaces or plus signs: the error wraps umbel.ErrGoal.
func NewKey(name string) (k Key, private string, err error) {
	private, _, err = note.GenerateKey(rand.Reader, name)
	if err == nil {
		k, err = ParseKey(private)
	}
	if err != nil {
		return Key{}, "", sentinel.Errorf(umbel.ErrGoal, "%q cannot be the name of a key: want a name without spaces and plus signs", name)
	}
	return k, private, nil
}

// ParseKey returns the key with the given private half. The error wraps umbel.ErrGoal and does not
// contain it.
func ParseKey(private string) (Key, error) {
	signer, err := note.NewSigner(private)
	if err != nil {
		return Key{}, sentinel.Errorf(umbel.ErrGoal, "not a private key")
	}
	public, err := publicHalf(private)
	if err != nil {
		return Key{}, err
	}
	verifier, err := note.NewVerifier(public)
	return Key{signer, verifier}, err
}

// ParsePublicKey returns the key with the given public half, for SubscriberOptions.Verifier. The error wraps
// umbel.ErrGoal and does not contain the text, which may be a private key by mistake.
func ParsePublicKey(public string) (note.Verifier, error) {
	v, err := note.NewVerifier(public)
	if err != nil {
		return nil, sentinel.Errorf(umbel.ErrGoal, "not a public key; want a line NAME+HASH+KEY, as PublicKey returns it")
	}
	return v, nil
}

// PublicKey returns the public half of a private one: the line of text that subscribers need, and that ParsePublicKey
// reads. The error is that of ParseKey.
func PublicKey(private string) (string, error) {
	if _, err := ParseKey(private); err != nil {
		return "", err
	}
	return publicHalf(private)
}

// publicHalf returns the public half of a valid private one, PRIVATE+KEY+name+hash+data, where data
// is the algorithm and the seed.
func publicHalf(private string) (string, error) {
	fields := strings.SplitN(private, "+", 5)
	data, err := base64.StdEncoding.DecodeString(fields[len(fields)-1])
	if err != nil || len(data) != 1+ed25519.SeedSize {
		return "", sentinel.Errorf(umbel.ErrGoal, "not an Ed25519 key")
	}
	public := ed25519.NewKeyFromSeed(data[1:]).Public().(ed25519.PublicKey)
	return note.NewEd25519VerifierKey(fields[2], public)
}
