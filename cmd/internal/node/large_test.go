package node

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
)

// heldBytes is more than the journal's queue takes.
const heldBytes = 80 << 20

// largeOperations are operations on the filters "large" and "other large", in an order in which they
// work on one node.
var largeOperations = []struct {
	name  string
	short bool // its record is short, so it is not held by the journal but only its reply
	run   func(c *largeClient) error
}{
	{"upload", false, func(c *largeClient) error { return c.put("uploaded", c.container()) }},
	{"copy", false, func(c *largeClient) error { return c.ok("UM.COPY", "large", "copied") }},
	{"merge", false, func(c *largeClient) error { return c.ok("UM.MERGE", "large", "other large") }},
	{"patch", false, func(c *largeClient) error { return c.ok("UM.PATCH", "large", c.patch) }},
	{"fold", true, func(c *largeClient) error { return c.ok("UM.FOLD", "large", "2") }},
}

// largeClient runs operations on large filters.
type largeClient struct {
	n     *Node
	t     *testing.T
	patch string
}

// newLargeFilter returns a filter with a cell set in each word.
func newLargeFilter(t *testing.T, size, word uint64) umbel.Filter {
	t.Helper()
	v, err := filter.All.Find("bloom")
	if err != nil {
		t.Fatal(err)
	}
	f, err := v.New(umbel.Goal{Bytes: size, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := f.State()
	for i := range s.Arrays[0].Words {
		s.Arrays[0].Words[i] = word
	}
	s.Arrays[0].Words[len(s.Arrays[0].Words)-1] = 0 // the last word may be longer than the filter
	if f, err = filter.All.Open(s); err != nil {
		t.Fatal(err)
	}
	return f
}

func newLargeClient(t *testing.T, n *Node, size uint64) *largeClient {
	t.Helper()
	for name, word := range map[string]uint64{"large": 1, "other large": 2} {
		if _, _, err := n.engine.Put(name, newLargeFilter(t, size, word), engine.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	dial(t, n, nil).Want("BF.ADD other a", ":1")
	if err := n.store.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	return &largeClient{n: n, t: t}
}

// state returns a copy of the state of "large".
func (c *largeClient) state() umbel.State {
	h := c.n.engine.NewReservation()
	defer h.Release()
	s, err := c.n.engine.Get([]byte("large")).CopyState(h)
	if err != nil {
		c.t.Error(err)
	}
	return s
}

// makePatch makes a delta for the current state of "large".
func (c *largeClient) makePatch() {
	c.t.Helper()
	s := c.state()
	now := s.Clone()
	now.Arrays[0].Words[7] |= 1 << 40
	b, err := delta.Append(nil, s, now)
	if err != nil {
		c.t.Fatal(err)
	}
	c.patch = string(b)
}

func (c *largeClient) container() []byte {
	b, err := wire.Append(nil, c.state())
	if err != nil {
		c.t.Error(err)
	}
	return b
}

func (c *largeClient) put(name string, container []byte) error {
	r, err := http.NewRequest("PUT", "http://"+c.n.HTTP().String()+"/v1/filters/"+name, bytes.NewReader(container))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", api.MediaContainer)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	b, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusCreated {
		return fmt.Errorf("PUT: %d %s", answer.StatusCode, b)
	}
	return nil
}

// export reads a container over HTTP.
func (c *largeClient) export(name string) error {
	r, err := http.NewRequest("GET", "http://"+c.n.HTTP().String()+"/v1/filters/"+name, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", api.MediaContainer)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if n, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		return fmt.Errorf("GET: %d, %d bytes, %w", answer.StatusCode, n, err)
	}
	return nil
}

// ok calls a command over RESP whose words may have spaces, and returns an error unless it succeeds.
func (c *largeClient) ok(words ...string) error {
	if got := dial(c.t, c.n, nil).WithoutDeadline().Do(words...); got[0] == '-' {
		return fmt.Errorf("%s: %s", words[0], got)
	}
	return nil
}

// While a large filter is uploaded, copied, merged, patched and folded on a disk that hangs, all
// queries are answered: of other filters, of the same one, and in transactions; also while EXEC of
// another client waits for the disk.
func TestQueriesWhileALargeFilterIsHeld(t *testing.T) {
	c := testConfig(t)
	c.MaxMemory = Memory{Bytes: 2 << 30}
	n, l := startedFaulty(t, c)
	large := newLargeClient(t, n, heldBytes)
	for _, op := range largeOperations {
		if testing.Short() && op.name != "fold" {
			continue
		}
		if op.name == "patch" {
			large.makePatch()
		}
		before := n.engine.Get([]byte("large")).Bytes()
		release := make(chan struct{})
		l.setAppend(func() error { <-release; return nil })
		done := make(chan error, 1)
		go func() { done <- op.run(large) }()
		await.True(t, op.name+" is held", func() bool {
			select {
			case err := <-done:
				t.Fatalf("%s was not held: %v", op.name, err)
			default:
			}
			if op.short {
				return n.engine.Get([]byte("large")).Bytes() < before
			}
			return n.store.Status().Pending > 56<<20
		})
		queriesAnswered(t, n)
		var waiting []*resptest.Client
		for _, name := range []string{"other", "large"} {
			conn := dial(t, n, nil)
			conn.Want("MULTI", "+OK")
			conn.Want("BF.ADD "+name+" b", "+QUEUED")
			conn.Send("EXEC")
			waiting = append(waiting, conn)
		}
		queriesAnswered(t, n)
		if err := large.export("large"); err != nil {
			t.Errorf("%s: %v", op.name, err)
		}
		select {
		case err := <-done:
			t.Errorf("%s was not held: %v", op.name, err)
		default:
		}
		close(release)
		l.set(nil)
		if err := <-done; err != nil {
			t.Errorf("%s: %v", op.name, err)
		}
		for _, conn := range waiting {
			if got := conn.Reply(); got[0] != '*' {
				t.Errorf("%s: EXEC: %q", op.name, got)
			}
		}
	}
	if err := endsWithin(t.Context(), t, n, time.Minute); err != nil {
		t.Error(err)
	}
}

// queriesAnswered sends queries that must not wait for anything.
func queriesAnswered(t *testing.T, n *Node) {
	t.Helper()
	conn := dial(t, n, nil)
	conn.Want("PING", "+PONG")
	conn.Want("BF.EXISTS other a", ":1")
	conn.Want("BF.EXISTS large a", ":")
	conn.Want("UM.INFO large", "*")
	conn.Want("MULTI", "+OK")
	conn.Want("BF.EXISTS other a", "+QUEUED")
	conn.Want("BF.EXISTS large a", "+QUEUED")
	conn.Want("EXEC", "*2[:1")
	if status, body := get(t, n, "/v1/filters/other"); status != http.StatusOK {
		t.Errorf("GET: %d %s", status, body)
	}
}
