package node

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/redisbloom"
)

// hashers are what new filters hash keys with: those of BF.*, and others.
type hashers struct{ bloom, other umbel.Hasher }

// hashersOf returns those of the settings. Filters that strangers choose keys for have a secret
// seed: who knows it, or finds collisions of a hash without one, can fill them and find false
// positives at will.
func hashersOf(c Config) (hashers, error) {
	switch {
	case c.Hash == "xxh3":
		return hashers{}, nil
	case c.Hash == "redisbloom", c.Hash == "auto" && len(c.beyond()) == 0:
		return hashers{bloom: redisbloom.RedisHasher}, nil
	}
	seed, err := secretSeed(filepath.Join(c.Data, "hash-seed"))
	if err != nil {
		return hashers{}, fmt.Errorf("hash-seed: %w", err)
	}
	h := umbel.Hasher{Alg: umbel.SipHash, Seed: seed}
	return hashers{h, h}, nil
}

// secretSeed reads the seed in a file, which is made with a random one if there is none. Filters
// have theirs with them: a file that is lost changes the seed of filters to come.
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
	return umbel.SeedFrom(b), keepSecret(path, hex.EncodeToString(b[:])+"\n")
}

// keepSecret writes a file that nobody else reads, whole or not at all.
func keepSecret(path, text string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone by then, if all is well
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
