package um

import (
	"errors"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/wire"
)

// Containers that come at the same time together take no more than there is: each is a few bytes
// and becomes many.
func TestImportsHoldMemory(t *testing.T) {
	f, err := filter.All[0].New(umbel.Goal{Keys: 1000, Bytes: 1 << 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	small, err := wire.Packer{}.Append(nil, f.State())
	if err != nil {
		t.Fatal(err)
	}
	if len(small) > 1<<10 {
		t.Fatalf("an empty filter has %d bytes", len(small))
	}
	e := engine.New(engine.Options{Kinds: filter.All, MaxMemory: 5 << 19}) // of two and a half
	u := &um{engine: e}
	hold := e.NewReservation()
	for range 2 {
		if _, err := u.parse(limits(hold), small); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := u.parse(limits(hold), small); !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("the third: %v, want %v", err, umbel.ErrLimit)
	}
}

// What commands take for themselves they give back, also where they fail.
func TestMemoryComesBack(t *testing.T) {
	p := start(t, 4<<20, Options{})
	for _, line := range []string{
		"UM.MAKE a bloom KEYS 1000 BYTES 1MiB", "UM.MAKE b bloom KEYS 1000 BYTES 1MiB", "UM.MAKE other blocked KEYS 1000 BYTES 64KiB",
		"UM.ADD a x y", "UM.ADD b y z", "UM.OVERLAP a b", "UM.OVERLAP a other", "UM.INTERSECT both a b", "UM.INTERSECT none a other",
		"UM.MERGE all a b", "UM.MERGE a b", "UM.MERGE a other", "UM.EXPORT a PACKED", "UM.DIFF a FROM b", "UM.DIFF a FROM other",
		"UM.FOLD a RATE 1%", "UM.FOLD other BYTES 1KiB", "UM.COPY b c", "UM.UNFOLD b 2", "UM.UNFOLD b 1000000", "UM.COMPACT b",
	} {
		p.Line(line)
	}
	container := resptest.Bulk(t, p.Line("UM.EXPORT b"))
	delta := resptest.Bulk(t, p.Line("UM.DIFF other FROM other"))
	p.Do("UM.IMPORT", "b2", container)
	p.Do("UM.IMPORT", "b2", container, "REPLACE")
	p.Do("UM.IMPORT", "b2", container[:100])
	p.Do("UM.PATCH", "b", delta)
	p.Do("UM.PATCH", "other", delta)
	if used, _ := p.engine.Memory(); used == 0 {
		t.Fatal("nothing was made")
	}
	if _, err := p.engine.Flush(); err != nil {
		t.Fatal(err)
	}
	if used, _ := p.engine.Memory(); used != 0 {
		t.Errorf("%d bytes are used without a filter", used)
	}
}

// What is too long for the client is refused, and doesn't cut it.
func TestLongReplies(t *testing.T) {
	e := engine.New(engine.Options{Kinds: filter.All})
	c := serve(t, resp.NewServer(resp.Options{Commands: Commands(e, Options{}), Default: command.Everyone(), Limits: resp.Limits{Output: 1 << 20}}))
	c.Line("UM.MAKE f bloom KEYS 1000 BYTES 2MiB")
	if got := c.Line("UM.EXPORT f"); !strings.HasPrefix(got, "-ERR") || !strings.Contains(got, "at most 1048512") {
		t.Errorf("UM.EXPORT f: %.100s", got)
	}
	if got := c.Line("UM.EXPORT f PACKED"); strings.HasPrefix(got, "-") {
		t.Errorf("UM.EXPORT f PACKED: %.100s", got)
	}
}
