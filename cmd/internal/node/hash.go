package node

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// hashers are the hashers of new filters: those of BF.*, and of all others.
type hashers struct{ bloom, other umbel.Hasher }

// hashersOf returns the hashers that the settings select. If untrusted clients choose the keys,
// the seed is secret: a client that knows the seed, or finds collisions of a hash without one, can fill
// filters and produce false positives at will.
func hashersOf(c Config) (hashers, error) {
	switch {
	case c.Replica: // makes no filters
		return hashers{}, nil
	case c.Hash == "xxh3":
		return hashers{}, nil
	case c.Hash == "redisbloom", c.Hash == "auto" && len(c.exposed()) == 0:
		return hashers{bloom: redisbloom.RedisHasher}, nil
	}
	seed, err := secretSeed(seedFile(c.Data))
	if err != nil {
		return hashers{}, fmt.Errorf("hash-seed: %w", err)
	}
	h := umbel.Hasher{Alg: umbel.SipHash, Seed: seed}
	return hashers{h, h}, nil
}

// seedFile returns the path of the seed in a data directory.
func seedFile(data string) string { return filepath.Join(data, "hash-seed") }

// seedOf returns the contents of the seed's file, nil if there is none. A restored node needs it: its
// new filters merge with its old ones only if they have the same seed.
func seedOf(data string) []byte {
	b, err := os.ReadFile(seedFile(data))
	if err != nil {
		return nil
	}
	return b
}

// secretSeed reads the seed from a file, which it makes with a random seed if it is missing.
// Existing filters contain their seed; the loss of the file affects only new filters.
func secretSeed(path string) (umbel.Seed, error) {
	text, err := os.ReadFile(path)
	if err == nil {
		digits := strings.TrimSpace(string(text))
		if len(digits) != 32 {
			return umbel.Seed{}, fmt.Errorf("%s has %d digits, want 32; remove it for a new one", path, len(digits))
		}
		return umbel.ParseSeed(digits)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return umbel.Seed{}, err
	}
	var b [16]byte
	rand.Read(b[:])
	return umbel.SeedFrom(b), writeSeed(path, fmt.Appendf(nil, "%x\n", b))
}

// writeSeed writes the file of a seed, which only the owner can read.
func writeSeed(path string, text []byte) error {
	return atomicfile.WriteSecret(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}
