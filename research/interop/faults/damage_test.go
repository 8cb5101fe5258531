package faults

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

// TestDamage damages each file of a store in turn. The node must say what is wrong and how
// to go on, or have lost nothing; and when it is told to go on, it must say what is lost and
// deny no key of a filter that it doesn't say that of.
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
			t.Logf("%d files, %d damages found, %d harmless", len(s.files(t)), found, harmless)
			if found == 0 {
				t.Error("nothing was found: the test damages nothing that counts")
			}
		})
	}
}

// damages are what is done to a file.
var damages = []damage{
	{"flip", func(path string) (string, error) {
		return edit(path, func(b []byte) ([]byte, string) {
			bit := rand.IntN(len(b) * 8)
			b[bit/8] ^= 1 << (bit % 8)
			return b, fmt.Sprintf("bit %d of", bit)
		})
	}},
	{"cut", func(path string) (string, error) {
		return edit(path, func(b []byte) ([]byte, string) {
			n := rand.IntN(len(b))
			return b[:n], fmt.Sprintf("all but %d bytes of", n)
		})
	}},
	{"zeros", func(path string) (string, error) {
		return edit(path, func(b []byte) ([]byte, string) {
			n := rand.IntN(len(b))
			clear(b[n:min(n+4096, len(b))])
			return b, fmt.Sprintf("the page from byte %d of", n)
		})
	}},
	{"remove", func(path string) (string, error) { return "the whole", os.Remove(path) }},
}

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

// stored is a directory of a node that was killed, with keys that it acknowledged.
type stored struct {
	dir   string
	saves int
	keys  []any
}

// storedFilters are in it, and how they are asked.
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

// files are those of the directory that have bytes.
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

// damaged starts a node on a copy with a damage, and reports whether it refused to start.
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
		t.Errorf("%s: the node doesn't say how to go on: %v", what, err)
	}
	if p, err = tryStart(t, dir, "--accept-loss"); err != nil {
		t.Errorf("%s: the node doesn't start though losses are accepted: %v", what, err)
		return true
	}
	defer p.Kill()
	says := saidAtStart(p)
	if !strings.Contains(says, "lost") {
		t.Errorf("%s: the node doesn't say what is lost:\n%s", what, says)
	}
	s.check(t, p, what, says)
	// What was accepted once is settled: filters that lost something are known to have.
	do(t, dial(t, p), "SAVE")
	do(t, dial(t, p), "SAVE")
	p.Kill()
	if p, err = tryStart(t, dir); err != nil {
		t.Errorf("%s: the loss was accepted, and the next start says: %v", what, err)
		return true
	}
	defer p.Kill()
	s.check(t, p, what, says)
	return true
}

// saidAtStart returns what a node said until it was ready, which comes a moment after it is.
func saidAtStart(p *proc.Proc) string {
	for range 500 {
		if said := p.Output(); strings.Contains(said, `"ready"`) {
			return said
		}
		time.Sleep(10 * time.Millisecond)
	}
	return p.Output()
}

// check asks for all keys. Only filters may be gone that the node said are lost.
func (s *stored) check(t *testing.T, p *proc.Proc, what, lost string) {
	t.Helper()
	c := dial(t, p)
	for name, command := range storedFilters {
		if there, _ := redis.Int(c.Do("EXISTS", name)); there == 0 {
			if !s.saysLost(lost, name) {
				t.Errorf("%s: filter %s is gone, and the node says only:\n%s", what, name, lost)
			}
			continue
		}
		answers, err := redis.Ints(c.Do(command, append([]any{name}, s.keys...)...))
		if err != nil && !errors.Is(err, redis.ErrNil) {
			t.Errorf("%s: %s: %v", what, name, err)
			continue
		}
		for i, yes := range answers {
			if yes != 1 {
				t.Errorf("%s: key %v of %s is denied", what, s.keys[i], name)
				break
			}
		}
	}
}

// saysLost reports whether the node said that a filter is lost: by its name, with the
// snapshots, or, where it was made or named after the last, with batches of the log.
func (s *stored) saysLost(says, name string) bool {
	if strings.Contains(says, `\"`+name+`\"`) || strings.Contains(says, "all filters of the snapshot") || strings.Contains(says, "the manifest") {
		return true
	}
	return (s.saves == 0 || name == "late" || name == "renamed") && strings.Contains(says, "batches")
}
