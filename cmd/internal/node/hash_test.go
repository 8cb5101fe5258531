package node

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// Beyond this machine keys are hashed with a secret, which stays the same.
func TestHashersOf(t *testing.T) {
	c := DefaultConfig()
	c.Data = t.TempDir()
	if h, err := hashersOf(c); err != nil || h.bloom != redisbloom.RedisHasher || h.other != (umbel.Hasher{}) {
		t.Errorf("on loopback: %v, %v", h, err)
	}
	c.RESP = ":6380"
	first, err := hashersOf(c)
	if err != nil {
		t.Fatal(err)
	}
	if first.bloom.Alg != umbel.SipHash || first.bloom != first.other || first.bloom.Seed == (umbel.Seed{}) {
		t.Errorf("beyond: %v", first)
	}
	if second, err := hashersOf(c); err != nil || second != first {
		t.Errorf("the second time: %v, %v", second, err)
	}
	path := filepath.Join(c.Data, "hash-seed")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the secret's file: %v, %v", info, err)
	}
	c.Hash = "redisbloom"
	if h, err := hashersOf(c); err != nil || h.bloom != redisbloom.RedisHasher {
		t.Errorf("asked for: %v, %v", h, err)
	}
	c.Hash, c.RESP = "siphash", "127.0.0.1:0"
	if h, err := hashersOf(c); err != nil || h != first {
		t.Errorf("asked for on loopback: %v, %v", h, err)
	}
	if err := os.WriteFile(path, []byte("0123"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := hashersOf(c); err == nil {
		t.Error("half of a seed is taken")
	}
}

// A node that was restored from a backup has the seed of the node that was backed up.
func TestBackupHasSeed(t *testing.T) {
	c := testConfig(t)
	c.Hash = "siphash"
	n := started(t, c)
	dial(t, n, nil).Want("UM.MAKE f bloom KEYS 100", "+OK")
	var b bytes.Buffer
	if err := n.store.Backup(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	fresh := c
	fresh.Data = filepath.Join(t.TempDir(), "fresh")
	if _, err := RestoreDir(t.Context(), fresh.Data, slog.New(slog.DiscardHandler), &b); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(seedFile(fresh.Data)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of the seed: %v, %v", info, err)
	}
	was, err := hashersOf(c)
	if err != nil {
		t.Fatal(err)
	}
	if is, err := hashersOf(fresh); err != nil || is != was {
		t.Errorf("the restored node has another seed, %v", err)
	}
}
