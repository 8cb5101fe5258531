package faults

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os/exec"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/umbel-filters/umbel/internal/freeport"
	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

// TestKillDuringImport kills a node during the import of a large filter. Afterwards the node must
// have the whole filter or none of it, and the whole if the import was acknowledged. In the
// other case, a filter that was to be replaced must be unchanged.
func TestKillDuringImport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	c := dial(t, p)
	makeLarge(t, c, "new", "a")
	makeLarge(t, c, "old", "b")
	container, err := redis.Bytes(c.Do("UM.EXPORT", "new"))
	if err != nil {
		t.Fatal(err)
	}
	id := func(c redis.Conn, name string) string {
		s, _ := redis.String(c.Do("UM.ID", name)) // an error if the filter is absent
		return s
	}
	newID, oldID := id(c, "new"), id(c, "old")
	if newID == "" || newID == oldID {
		t.Fatalf("the IDs are %q and %q", newID, oldID)
	}
	do(t, c, "DEL", "new")
	imports := map[string]func(p *proc.Proc, c redis.Conn, name string) error{
		"UM.IMPORT": func(_ *proc.Proc, c redis.Conn, name string) error {
			_, err := c.Do("UM.IMPORT", name, container, "REPLACE")
			return err
		},
		"HTTP": func(p *proc.Proc, _ redis.Conn, name string) error { return put(t.Context(), p, name, container) },
	}
	acknowledged, present, rounds := 0, 0, few()
	for range rounds {
		for method, load := range imports {
			for _, name := range []string{"made", "old"} {
				do(t, c, "DEL", "made")
				if name == "old" {
					do(t, c, "DEL", "old")
					makeLarge(t, c, "old", "b")
				}
				ended := make(chan error)
				go func() { ended <- load(p, c, name) }()
				time.Sleep(rand.N(150 * time.Millisecond))
				p.Kill()
				err := <-ended
				p = start(t, dir)
				c = dial(t, p)
				got := id(c, name)
				switch {
				case err == nil && got != newID:
					t.Errorf("%s of %s was acknowledged, but the ID is %q, want %q", method, name, got, newID)
				case got == newID:
					present++
				case name == "made" && got != "", name == "old" && got != oldID:
					t.Errorf("%s of %s: the ID is %q, neither the old nor the new one", method, name, got)
				}
				if err == nil {
					acknowledged++
				}
			}
		}
	}
	t.Logf("%d kills: %d filters of %d MB acknowledged, %d present", 4*rounds, acknowledged, len(container)/1e6, present)
}

// makeLarge makes a filter of 8 MiB with keys.
func makeLarge(t *testing.T, c redis.Conn, name, key string) {
	t.Helper()
	do(t, c, "UM.MAKE", name, "bloom", "BYTES", "8MiB", "RATE", "0.01")
	for i := range 20 {
		keys := []any{name}
		for j := range 5000 {
			keys = append(keys, fmt.Sprintf("%s.%d.%d", key, i, j))
		}
		do(t, c, "UM.ADD", keys...)
	}
}

// put sends a container over HTTP.
func put(ctx context.Context, p *proc.Proc, name string, container []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPut, "http://"+p.HTTP+"/v1/filters/"+name, bytes.NewReader(container))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/vnd.umbel.container")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	reply, err := client.Do(r)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if reply.StatusCode/100 != 2 {
		return fmt.Errorf("HTTP: %s", reply.Status)
	}
	return nil
}

// TestKillDuringLoad kills a node that has received some chunks of a filter. Until it has received
// all chunks, the filter must have no false negatives.
func TestKillDuringLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := start(t, dir)
	c := dial(t, p)
	do(t, c, "BF.RESERVE", "whole", "0.001", "100")
	keys := []any{"whole"}
	for i := range 20_000 {
		keys = append(keys, i)
	}
	do(t, c, "BF.MADD", keys...)
	type chunk struct {
		number int64
		bytes  []byte
	}
	var chunks []chunk
	for number := int64(0); ; {
		reply, err := redis.Values(c.Do("BF.SCANDUMP", "whole", number))
		if err != nil {
			t.Fatal(err)
		}
		number = reply[0].(int64)
		if number == 0 {
			break
		}
		chunks = append(chunks, chunk{number, reply[1].([]byte)})
	}
	for round := range len(chunks) {
		do(t, c, "DEL", "copy")
		for _, k := range chunks[:round+1] {
			do(t, c, "BF.LOADCHUNK", "copy", k.number, k.bytes)
		}
		if rand.IntN(2) == 0 {
			do(t, c, "SAVE")
		}
		p.Kill()
		p = start(t, dir)
		c = dial(t, p)
		if n := hits(c, "copy", keys[1:]); n != len(keys)-1 {
			t.Errorf("%d of %d chunks: %d of %d keys are present", round+1, len(chunks), n, len(keys)-1)
		}
		// Chunks from before the kill must be loaded again, except for the header.
		for _, k := range chunks[1:] {
			do(t, c, "BF.LOADCHUNK", "copy", k.number, k.bytes)
		}
		if n := hits(c, "copy", keys[1:]); n != len(keys)-1 {
			t.Errorf("%d of %d chunks, a kill and all chunks: %d of %d keys are present", round+1, len(chunks), n, len(keys)-1)
		}
		if n := hits(c, "copy", []any{"none", "of", "these", "keys"}); n == 4 {
			t.Errorf("%d of %d chunks, a kill and all chunks: every query is positive", round+1, len(chunks))
		}
	}
}

// TestKillDuringSave kills a node during a snapshot, while clients add keys.
func TestKillDuringSave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var kept acknowledged
	rounds := few()
	for round := range rounds {
		p := start(t, dir)
		c := dial(t, p)
		if round == 0 {
			makeFilters(t, c)
		}
		kept.check(t, c, round)
		kept.keep(addUntil(t, p, round, func() {
			time.Sleep(rand.N(50 * time.Millisecond))
			saved := make(chan struct{})
			go func() {
				defer close(saved)
				for {
					if _, err := c.Do("SAVE"); err != nil {
						return
					}
				}
			}()
			time.Sleep(rand.N(100 * time.Millisecond))
			p.Kill()
			<-saved
		}), 0)
	}
	kept.checkAll(t, dial(t, start(t, dir)), rounds)
	t.Logf("%d kills, %d acknowledged additions, all present", rounds, kept.n())
}

// TestKillAtStart kills a node repeatedly before it is ready, and shortly after.
func TestKillAtStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	flags := []string{"--snapshot-interval", "300ms", "--snapshot-bytes", "64KiB"}
	p := start(t, dir, flags...)
	makeFilters(t, dial(t, p))
	var kept acknowledged
	kept.keep(addUntilKilled(t, p, 0, 500*time.Millisecond), 0)
	for range 10 * few() {
		respAddr, httpAddr := freeAddr(t), freeAddr(t)
		cmd := exec.Command(umbel, append([]string{"serve", "--data", dir, "--resp", respAddr, "--http", httpAddr}, flags...)...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(rand.N(150 * time.Millisecond))
		cmd.Process.Kill()
		cmd.Wait()
	}
	kept.checkAll(t, dial(t, start(t, dir, flags...)), 1)
}

// few returns the number of rounds of tests that do not need many.
func few() int {
	if testing.Short() {
		return 1
	}
	return max(3, *kills/4)
}

func freeAddr(t *testing.T) string {
	t.Helper()
	addr, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	return addr
}
