package faults

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gomodule/redigo/redis"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

// TestDamage damages each file of a store in turn. Either nothing is lost, or the node must
// refuse to start and name a remedy. With --accept-loss it must start and report what is
// lost, and filters that it does not report must have no false negatives.
func TestDamage(t *testing.T) {
	for _, stage := range []struct {
		name  string
		saves int
	}{{"log", 0}, {"snapshot and whole log", 1}, {"snapshots and cut log", 4}} {
		t.Run(stage.name, func(t *testing.T) {
			t.Parallel()
			s := newStored(t, stage.saves)
			found, harmless := 0, 0
			for _, file := range s.files(t) {
				for _, d := range damages {
					times := 1
					if d.name == "flip" {
						times = *flips
					}
					for range times {
						if s.damaged(t, file, d) {
							found++
						} else {
							harmless++
						}
					}
				}
			}
			t.Logf("%d files, %d damages detected, %d harmless", len(s.files(t)), found, harmless)
			if found == 0 {
				t.Error("no damage was detected")
			}
		})
	}
}

// damages contains the kinds of damage to a file.
var damages = []damage{
	{"flip", func(path string) (string, error) {
		return edit(path, func(b []byte) ([]byte, string) {
			bit := rand.IntN(used(b) * 8)
			b[bit/8] ^= 1 << (bit % 8)
			return b, fmt.Sprintf("bit %d of", bit)
		})
	}},
	{"cut", func(path string) (string, error) {
		return edit(path, func(b []byte) ([]byte, string) {
			n := rand.IntN(used(b))
			return b[:n], fmt.Sprintf("all but %d bytes of", n)
		})
	}},
	{"zeros", func(path string) (string, error) {
		return edit(path, func(b []byte) ([]byte, string) {
			n := rand.IntN(used(b))
			clear(b[n:min(n+4096, len(b))])
			return b, fmt.Sprintf("the page from byte %d of", n)
		})
	}},
	{"remove", func(path string) (string, error) { return "the whole", os.Remove(path) }},
}

// used returns the size of a file without the zeros at its end, at least 1: files of the log are
// longer than their contents.
func used(b []byte) int { return max(len(bytes.TrimRight(b, "\x00")), 1) }

type damage struct {
	name string
	do   func(path string) (what string, err error)
}

func edit(path string, change func([]byte) ([]byte, string)) (string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	b, what := change(b)
	return what, os.WriteFile(path, b, 0o600)
}

// stored is the directory of a killed node, with keys that the node acknowledged.
type stored struct {
	dir   string
	saves int
	keys  []any
}

// storedFilters maps the filters of a stored directory to the commands that query them.
var storedFilters = map[string]string{"kept": "BF.MEXISTS", "late": "BF.MEXISTS", "counting": "UM.HAS", "renamed": "UM.HAS"}

func newStored(t *testing.T, saves int) *stored {
	t.Helper()
	s := &stored{dir: t.TempDir(), saves: saves}
	p := start(t, s.dir, "--snapshot-interval", "0", "--snapshot-bytes", "0")
	c := dial(t, p)
	do(t, c, "BF.RESERVE", "kept", "0.001", "100000")
	do(t, c, "UM.MAKE", "counting", "counting", "KEYS", "10000", "RATE", "0.001")
	do(t, c, "UM.MAKE", "first name", "blocked", "KEYS", "10000", "RATE", "0.001")
	for i := range 3000 {
		s.keys = append(s.keys, strconv.Itoa(i))
	}
	parts := saves + 1
	for i := range parts {
		part := s.keys[i*len(s.keys)/parts : (i+1)*len(s.keys)/parts]
		do(t, c, "BF.MADD", append([]any{"kept"}, part...)...)
		do(t, c, "UM.ADD", append([]any{"counting"}, part...)...)
		do(t, c, "UM.ADD", append([]any{"first name"}, part...)...)
		if i < saves {
			do(t, c, "SAVE")
		}
	}
	do(t, c, "RENAME", "first name", "renamed")
	do(t, c, "BF.MADD", append([]any{"late"}, s.keys...)...)
	p.Kill()
	return s
}

// files returns the files of the directory that are not empty.
func (s *stored) files(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > 0 {
			file, _ := filepath.Rel(s.dir, path)
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// damaged starts a node on a damaged copy and reports whether it refused to start.
func (s *stored) damaged(t *testing.T, file string, d damage) (refused bool) {
	t.Helper()
	dir := t.TempDir()
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	what, err := d.do(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	what = fmt.Sprintf("%s %s %s", d.name, what, file)
	p, err := tryStart(t, dir)
	if err == nil {
		defer p.Kill()
		s.check(t, p, what, "")
		return false
	}
	if says := err.Error(); !strings.Contains(says, "--accept-loss") && !strings.Contains(says, "restore") {
		t.Errorf("%s: the error names no remedy: %v", what, err)
	}
	if p, err = tryStart(t, dir, "--accept-loss"); err != nil {
		t.Errorf("%s: the node does not start with --accept-loss: %v", what, err)
		return true
	}
	defer p.Kill()
	says := startOutput(t, p)
	if !strings.Contains(says, "lost") {
		t.Errorf("%s: the node does not report what is lost:\n%s", what, says)
	}
	s.check(t, p, what, says)
	// An accepted loss does not have to be accepted again.
	do(t, dial(t, p), "SAVE")
	do(t, dial(t, p), "SAVE")
	p.Kill()
	if p, err = tryStart(t, dir); err != nil {
		t.Errorf("%s: the loss was accepted, but the next start failed: %v", what, err)
		return true
	}
	defer p.Kill()
	s.check(t, p, what, says)
	return true
}

// startOutput returns the output of a node until it logs that it is ready, which is shortly
// after it answers.
func startOutput(t *testing.T, p *proc.Proc) string {
	t.Helper()
	await.True(t, "the node logs that it is ready", func() bool { return strings.Contains(p.Output(), `"ready"`) })
	return p.Output()
}

// check queries all keys. Only filters that the node reported as lost may be absent.
func (s *stored) check(t *testing.T, p *proc.Proc, what, lost string) {
	t.Helper()
	c := dial(t, p)
	for name, command := range storedFilters {
		if exists, _ := redis.Int(c.Do("EXISTS", name)); exists == 0 {
			if !s.saysLost(lost, name) {
				t.Errorf("%s: filter %s is absent, but the node reported only:\n%s", what, name, lost)
			}
			continue
		}
		replies, err := redis.Ints(c.Do(command, append([]any{name}, s.keys...)...))
		if err != nil && !errors.Is(err, redis.ErrNil) {
			t.Errorf("%s: %s: %v", what, name, err)
			continue
		}
		for i, present := range replies {
			if present != 1 {
				t.Errorf("%s: false negative for key %v of %s", what, s.keys[i], name)
				break
			}
		}
	}
}

// saysLost reports whether the node reported a filter as lost: by its name, with all
// snapshots or, if it was made or renamed after the last snapshot, with batches of the log.
func (s *stored) saysLost(says, name string) bool {
	if strings.Contains(says, `\"`+name+`\"`) || strings.Contains(says, "the catalog of the snapshot") || strings.Contains(says, "the manifest") {
		return true
	}
	return (s.saves == 0 || name == "late" || name == "renamed") && strings.Contains(says, "batches")
}
