package dir_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/dir"
	"github.com/umbel-filters/umbel/share/sharetest"
)

// killedDirectory is the environment variable with the directory of the process that is killed.
const killedDirectory = "UMBEL_TEST_KILLED"

func TestMain(m *testing.M) {
	if path := os.Getenv(killedDirectory); path != "" {
		write := writeForever
		if os.Getenv(killedKey) != "" {
			write = publishForever
		}
		fmt.Fprintln(os.Stderr, write(path))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// writeForever commits objects, puts records with their names, and prints a line after each.
func writeForever(path string) error {
	s, err := dir.Create(path)
	if err != nil {
		return err
	}
	for i := byte(0); ; i++ {
		name, err := put(s, bytes.Repeat([]byte{i}, 100_000+int(i)))
		if err != nil {
			return err
		}
		if err := s.PutRecord(context.Background(), share.HeadName, []byte(name)); err != nil {
			return err
		}
		fmt.Println(i)
	}
}

// A writer that is killed leaves whole objects, a record that refers to one of them, and a directory
// that another writer can use.
func TestKilled(t *testing.T) {
	path := t.TempDir()
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	for round := range rounds {
		runKilled(t, 3+round, killedDirectory+"="+path)
		wantWhole(t, path)
	}
}

// runKilled runs this program with additional environment variables, and kills it when it has printed a
// number as a line.
func runKilled(t *testing.T, number int, environment ...string) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), environment...)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != fmt.Sprint(number); {
	}
	c.Process.Kill()
	c.Wait()
}

// wantWhole fails unless all objects are whole, and the record is the name of one of them.
func wantWhole(t *testing.T, path string) {
	t.Helper()
	s, err := dir.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	head, err := s.Record(t.Context(), share.HeadName)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for name, err := range s.Objects(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		found = found || name == string(head)
		body, err := s.Object(t.Context(), name, 0)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(body)
		body.Close()
		if err != nil || share.RefOf(b).Hash.String() != name {
			t.Errorf("object %s has %d other bytes, %v", name, len(b), err)
		}
	}
	if !found {
		t.Errorf("the record refers to %s, which is absent", head)
	}
}

// On a full disk the last version remains, also for subscribers, and publishing continues when there
// is space again.
func TestFullDisk(t *testing.T) {
	path := smallDisk(t, 1<<20)
	store := create(t, path)
	p, verifier := sharetest.Publisher(t, store)
	const m, n = 1 << 20, 5000
	f := sharetest.Set(t, m, 0, n)
	sharetest.Publish(t, p, f)
	fill(t, path)
	g := sharetest.Set(t, m, n, 10*n)
	h, err := p.Publish(t.Context(), g.State())
	if !errors.Is(err, errNoSpace) || h != nil {
		t.Fatalf("Publish on a full disk: %v, %v", h, err)
	}
	for range 2 {
		if _, again := p.Publish(t.Context(), g.State()); again == nil || again.Error() != err.Error() {
			t.Errorf("the same fault has the text %v, and before %v", again, err)
		}
	}
	s := sharetest.Subscriber(t, dir.Open(path), verifier)
	if err := s.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	sharetest.Arrives(t, s, f)
	if err := os.Remove(path + "/fill"); err != nil {
		t.Fatal(err)
	}
	sharetest.Publish(t, p, g)
	if err := s.Update(t.Context()); err != nil {
		t.Fatal(err)
	}
	sharetest.Arrives(t, s, g)
}

// fill takes all space of a file system.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path + "/fill")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, errNoSpace) {
		t.Fatal(err)
	}
}

// A directory that may not be changed is an error at once, and can be read.
func TestReadOnly(t *testing.T) {
	path := smallDisk(t, 1<<20)
	store := create(t, path)
	name, err := put(store, []byte("data"))
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	makeReadOnly(t, path)
	if _, err := dir.Create(path); !errors.Is(err, errReadOnly) {
		t.Errorf("Create: %v", err)
	}
	body, err := dir.Open(path).Object(t.Context(), name, 0)
	if err != nil {
		t.Fatal(err)
	}
	body.Close()
}
