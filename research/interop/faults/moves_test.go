package faults

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/gomodule/redigo/redis"
	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

// TestKillDuringImport kills a node that takes a large filter. It must be all there or not
// at all, and there if it was acknowledged; what it was to replace must be as it was otherwise.
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
		s, _ := redis.String(c.Do("UM.ID", name)) // an error if there is none
		return s
	}
	news, old := id(c, "new"), id(c, "old")
	if news == "" || news == old {
		t.Fatalf("the filters are %q and %q", news, old)
	}
	do(t, c, "DEL", "new")
	ways := map[string]func(p *proc.Proc, c redis.Conn, name string) error{
		"UM.IMPORT": func(_ *proc.Proc, c redis.Conn, name string) error {
			_, err := c.Do("UM.IMPORT", name, container, "REPLACE")
			return err
		},
		"HTTP": func(p *proc.Proc, _ redis.Conn, name string) error { return put(t.Context(), p, name, container) },
	}
	acknowledged, there, rounds := 0, 0, few()
	for range rounds {
		for way, take := range ways {
			for _, name := range []string{"made", "old"} {
				do(t, c, "DEL", "made")
				if name == "old" {
					do(t, c, "DEL", "old")
					makeLarge(t, c, "old", "b")
				}
				ended := make(chan error)
				go func() { ended <- take(p, c, name) }()
				time.Sleep(rand.N(150 * time.Millisecond))
				p.Kill()
				err := <-ended
				p = start(t, dir)
				c = dial(t, p)
				got := id(c, name)
				switch {
				case err == nil && got != news:
					t.Errorf("%s of %s was acknowledged, and it is %q, want %q", way, name, got, news)
				case got == news:
					there++
				case name == "made" && got != "", name == "old" && got != old:
					t.Errorf("%s of %s: it is %q, neither what was nor what was to be", way, name, got)
				}
				if err == nil {
					acknowledged++
				}
			}
		}
	}
	t.Logf("%d kills: %d filters of %d MB acknowledged, %d there", 4*rounds, acknowledged, len(container)/1e6, there)
}

// makeLarge makes a filter of some megabytes that has keys.
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
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("HTTP: %s", answer.Status)
	}
	return nil
}

// TestKillDuringLoad kills a node that has some chunks of a filter. Until it has all, it must
// deny no key.
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
		answer, err := redis.Values(c.Do("BF.SCANDUMP", "whole", number))
		if err != nil {
			t.Fatal(err)
		}
		number = answer[0].(int64)
		if number == 0 {
			break
		}
		chunks = append(chunks, chunk{number, answer[1].([]byte)})
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
			t.Errorf("%d of %d chunks: the node has %d of %d keys", round+1, len(chunks), n, len(keys)-1)
		}
		// What came before the kill has to come again, but for the header.
		for _, k := range chunks[1:] {
			do(t, c, "BF.LOADCHUNK", "copy", k.number, k.bytes)
		}
		if n := hits(c, "copy", keys[1:]); n != len(keys)-1 {
			t.Errorf("%d of %d chunks, a kill and all: the node has %d of %d keys", round+1, len(chunks), n, len(keys)-1)
		}
		if n := hits(c, "copy", []any{"none", "of", "these", "keys"}); n == 4 {
			t.Errorf("%d of %d chunks, a kill and all: the filter takes all keys for its own", round+1, len(chunks))
		}
	}
}
