package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/share"
	"golang.org/x/mod/sumdb/note"
)

// publication is the name of the publications in the vectors.
const publication = "example.org/set"

// keyOf returns a key pair that depends on the name and the number only. Everybody can compute it.
func keyOf(name string, number byte) (note.Signer, string) {
	seed := sha256.Sum256(append([]byte("umbel vectors "), number))
	private := ed25519.NewKeyFromSeed(seed[:])
	public, err := note.NewEd25519VerifierKey(name, private.Public().(ed25519.PublicKey))
	if err != nil {
		panic(err)
	}
	hash := strings.Split(public, "+")[1]
	signer, err := note.NewSigner("PRIVATE+KEY+" + name + "+" + hash + "+" + base64.StdEncoding.EncodeToString(append([]byte{1}, private.Seed()...)))
	if err != nil {
		panic(err)
	}
	return signer, public
}

// began is when the streams of the vectors begin.
var began = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

var stream = share.Stream{Began: began.UnixMilli(), Nonce: 0x0123456789abcdef}
