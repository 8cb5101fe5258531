package live_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/live"
)

// The process that is killed is this test binary with these variables.
const (
	killedPath  = "UMBEL_TEST_KILLED_PATH"
	killedKind  = "UMBEL_TEST_KILLED_KIND"
	killedFirst = "UMBEL_TEST_KILLED_FIRST"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(killedPath); path != "" {
		if err := addUntilKilled(path, os.Getenv(killedKind), os.Getenv(killedFirst)); err != nil {
			fmt.Println("failed:", err)
		}
		os.Exit(1)
	}
	if path := os.Getenv(fullPath); path != "" {
		if err := fillDisk(path); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const (
	adders    = 4
	perAdder  = 1000
	perKilled = adders * perAdder // keys that a process adds at most
)

// key returns a key of an adder.
func killedKey(first uint64, adder, i int) umbel.Digest {
	return digest(first + uint64(adder*perAdder+i))
}

// addUntilKilled adds keys until the process is killed, from several goroutines, while the filter saves itself. It prints for each
// adder how many of its keys are saved, when that is reported: by Save, or by Status.
func addUntilKilled(path, name, number string) error {
	kind, err := filter.All.Find(name)
	if err != nil {
		return err
	}
	var first uint64
	fmt.Sscan(number, &first)
	o := idle(kind)
	o.Every, o.Changes = 3*time.Millisecond, 100
	f, err := live.Open(path, kind, umbel.Goal{Keys: 60_000, FPRate: 1e-6}, o)
	if err != nil {
		return err
	}
	fmt.Println("open")
	var added [adders]atomic.Int64
	var all sync.WaitGroup
	for a := range adders {
		all.Go(func() {
			for i := range perAdder {
				f.Add(killedKey(first, a, i))
				added[a].Store(int64(i + 1))
				if i%10 == 0 {
					time.Sleep(time.Duration(rand.Int64N(int64(200 * time.Microsecond))))
				}
			}
		})
	}
	for {
		var before [adders]int64
		for a := range before {
			before[a] = added[a].Load()
		}
		if rand.IntN(2) == 0 { // it saves itself: everything is saved that was added before there was nothing to save
			for f.Status().Unsaved > 0 {
				if rand.IntN(4) == 0 {
					f.Has(killedKey(first, 0, 0))
				}
				time.Sleep(100 * time.Microsecond)
				if rand.IntN(200) == 0 {
					break
				}
			}
			if f.Status().Unsaved > 0 {
				continue
			}
		} else if err := f.Save(); err != nil {
			return err
		}
		fmt.Println("saved", before[0], before[1], before[2], before[3])
	}
}

// A process that adds keys is killed at random moments, and started again. The file is never damaged, and no key is lost of a save
// that was reported. What a save that was interrupted leaves is removed.
func TestKilled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are not locked there")
	}
	for _, name := range []string{"bloom", "counting", "scalable", "window"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, err := filter.All.Find(name)
			must(t, err)
			path := filepath.Join(t.TempDir(), "filter.umb")
			var saved []umbel.Digest
			for round := range trials(t, 4) {
				first := uint64(round) * perKilled
				if round%12 == 0 { // a filter has room for some rounds
					os.Remove(path)
					saved = nil
				}
				counts := runKilled(t, path, name, first)
				for a, n := range counts {
					for i := range n {
						saved = append(saved, killedKey(first, a, i))
					}
				}
				if _, err := os.Stat(path); os.IsNotExist(err) && len(saved) == 0 {
					continue // it was killed before it made the file
				}
				in := inFile(t, path)
				for i, d := range saved {
					if !in.Has(d) {
						t.Fatalf("round %d: key %d of %d that were saved is missing", round, i, len(saved))
					}
				}
				for i := range uint64(1000) {
					if in.Has(digest(1<<40 + i)) {
						t.Fatalf("round %d: the filter is full", round)
					}
				}
			}
			must(t, open(t, path, kind, umbel.Goal{Keys: 60_000, FPRate: 1e-6}, idle(kind)).Close())
			if left, err := os.ReadDir(filepath.Dir(path)); len(left) != 1 || err != nil {
				t.Errorf("left behind: %v, %v", left, err)
			}
			t.Logf("%d keys of the last file were reported as saved", len(saved))
		})
	}
}

// runKilled runs a process that adds keys until it kills it, and returns how many keys of each adder the process reported as saved.
func runKilled(t *testing.T, path, kind string, first uint64) (counts [adders]int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killedPath+"="+path, killedKind+"="+kind, fmt.Sprint(killedFirst, "=", first))
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	defer cmd.Wait()
	// The lines are counted instead of the time, since machines differ: it is killed while it opens the file, or some saves later.
	lines := rand.IntN(8)
	delay := time.Duration(rand.Int64N(int64(20 * time.Millisecond)))
	if lines == 0 {
		time.AfterFunc(delay, func() { cmd.Process.Kill() })
	}
	for in := bufio.NewReader(out); ; lines-- {
		line, err := in.ReadString('\n')
		if err != nil { // a line that is not complete may have half a number
			return counts
		}
		if strings.HasPrefix(line, "failed") {
			t.Error(line)
		}
		fmt.Sscanf(line, "saved %d %d %d %d", &counts[0], &counts[1], &counts[2], &counts[3])
		if lines == 1 {
			time.AfterFunc(delay, func() { cmd.Process.Kill() })
		}
	}
}
