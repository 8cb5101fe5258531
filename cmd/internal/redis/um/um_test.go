package um

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// place is a server of the package's commands, and a client of it that speaks RESP3.
type place struct {
	*resptest.Client
	t      *testing.T
	engine *engine.Engine
}

func start(t *testing.T, maxMemory uint64, o Options) *place {
	t.Helper()
	e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return time.Now().UnixMilli() }, MaxMemory: maxMemory})
	p := &place{serve(t, resp.NewServer(resp.Options{Commands: Commands(e, o), Default: command.Everyone()})), t, e}
	p.Line("HELLO 3")
	return p
}

// serve runs a server until the test is over, and returns a client of it.
func serve(t *testing.T, s *resp.Server) *resptest.Client {
	t.Helper()
	return resptest.Dial(t, resptest.Serve(t, s))
}

// refused sends lines and looks for a part of an error.
func (p *place) refused(lines ...string) {
	p.t.Helper()
	for i := 0; i < len(lines); i += 2 {
		if got := p.Line(lines[i]); !strings.HasPrefix(got, "-") || !strings.Contains(got, lines[i+1]) {
			p.t.Errorf("%s: %.300s, want an error with %q", lines[i], got, lines[i+1])
		}
	}
}

// field returns one value of a reply that is a map.
func field(t *testing.T, reply, name string) string {
	t.Helper()
	found := regexp.MustCompile(fmt.Sprintf(`\$%d:"%s", ([^,\]]*(?:\[[^\]]*\])?)`, len(name), name)).FindStringSubmatch(reply)
	if found == nil {
		t.Fatalf("no %s in %.300s", name, reply)
	}
	return found[1]
}

func bulk(s string) string { return fmt.Sprintf("$%d:%q", len(s), s) }

// items returns words from..to-1.
func items(from, to int) (list []string) {
	for i := from; i < to; i++ {
		list = append(list, fmt.Sprint(i))
	}
	return list
}

func (p *place) fill(name string, from, to int) {
	p.t.Helper()
	if got := p.Do(append([]string{"UM.ADD", name}, items(from, to)...)...); !strings.HasPrefix(got, "*") {
		p.t.Fatal(got)
	}
}

// holds checks that a filter has items.
func (p *place) holds(name string, from, to int) {
	p.t.Helper()
	got := p.Do(append([]string{"UM.HAS", name}, items(from, to)...)...)
	if !strings.HasPrefix(got, "*") || strings.Contains(got, "#f") {
		p.t.Errorf("%s lost some of %d to %d: %.200s", name, from, to, got)
	}
}

func TestMakeAddHas(t *testing.T) {
	p := start(t, 0, Options{})
	p.Expect(
		"UM.MAKE f bloom KEYS 1k RATE 1%", "+OK",
		"UM.MAKE f bloom KEYS 1k RATE 1% NX", "_",
		"UM.ADD f a b a", "*3[#t, #t, #f]",
		"UM.HAS f a b c", "*3[#t, #t, #f]",
		"UM.HAS f a", "*1[#t]",
		"HELLO 2", p.Line("HELLO 2"),
		"UM.HAS f a c", "*2[:1, :0]",
		"HELLO 3", p.Line("HELLO 3"),
		"UM.MAKE g counting keys 1000", "+OK",
		"UM.ADD g x x", "*2[#t, #t]",
		"UM.COUNT g x y", "*2[:2, :0]",
		"UM.REMOVE g x y", "*2[#t, #f]",
		"UM.COUNT g x", "*1[:1]",
		"UM.CLEAR g", "+OK",
		"UM.HAS g x", "*1[#f]",
	)
	p.refused(
		"UM.MAKE f bloom KEYS 1k RATE 1%", "exists",
		"UM.MAKE x nokind KEYS 1", `kind "nokind"`,
		"UM.MAKE x bloom", "two of keys",
		"UM.MAKE x bloom KEYS", `"KEYS" needs a value`,
		"UM.MAKE x bloom KEYS many", `count "many"`,
		"UM.MAKE x bloom KEYS 1k RATE 2", `rate "2"`,
		"UM.MAKE x bloom KEYS 1k generations 4", `unknown word "generations"`,
		"UM.MAKE x bloom KEYS 1k HASH crc", `unknown hash "crc"`,
		"UM.MAKE x bloom KEYS 1k SEED xyz", "seed",
		"UM.MAKE x bloom KEYS 1k HASH md5 SEED 01", "seed",
		"UM.MAKE x bloom KEYS 1T RATE 1% BYTES 1", "omit one of these",
		"UM.ADD none a", `no such filter: "none"`,
		"UM.HAS none a", `no such filter: "none"`,
		"UM.COUNT none a", `no such filter: "none"`,
		"UM.REMOVE none a", `no such filter: "none"`,
		"UM.INFO none", `no such filter: "none"`,
		"UM.COUNT f a", "",
		"UM.REMOVE f a", "",
		"UM.ADD f", "wrong number of arguments",
	)
}

// A pipeline to one filter is one batch, and each call has its answer.
func TestPipeline(t *testing.T) {
	p := start(t, 0, Options{})
	p.Line("UM.MAKE f bloom KEYS 10k")
	for i := range 300 {
		p.Send("UM.ADD", "f", fmt.Sprint(i), fmt.Sprint(i/2))
	}
	p.Send("UM.ADD", "none", "x")
	p.Send("UM.HAS", "f", "1", "nothing", "2")
	for i := range 300 {
		if got := p.Reply(); i > 0 && !strings.HasPrefix(got, "*2[#t, #f]") {
			t.Errorf("call %d: %s", i, got)
		}
	}
	if got := p.Reply(); !strings.HasPrefix(got, "-ERR no such filter") {
		t.Error(got)
	}
	if got := p.Reply(); got != "*3[#t, #f, #t]" {
		t.Error(got)
	}
}

// A filter that is full takes some items and refuses others.
func TestFull(t *testing.T) {
	p := start(t, 0, Options{})
	p.Expect("UM.MAKE f redisbloom KEYS 10 RATE 1% nonscaling 1", "+OK")
	got := p.Do(append([]string{"UM.ADD", "f"}, items(0, 2000)...)...)
	if !strings.HasPrefix(got, "*2000[#t, ") || !strings.Contains(got, "-ERR ") || strings.Index(got, "-ERR") < strings.LastIndex(got, "#t") {
		t.Errorf("%.400s", got)
	}
	p.refused("UM.ADD f new new2", "full")
}

func TestRawDigests(t *testing.T) {
	p := start(t, 0, Options{})
	p.Line("UM.MAKE f blocked KEYS 1k")
	p.Line("UM.ADD f a b")
	var raw []byte
	for _, item := range []string{"a", "x", "b"} {
		d := umbel.Hasher{}.HashString(item)
		raw = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(raw, d.H1), d.H2)
	}
	if got := p.Do("UM.HASRAW", "f", string(raw)); got != bulk("\x05") {
		t.Error(got)
	}
	if got := p.Do("UM.ADDRAW", "f", string(raw)); got != ":1" {
		t.Error(got)
	}
	if got := p.Do("UM.HASRAW", "f", string(raw)); got != bulk("\x07") {
		t.Error(got)
	}
	p.Expect("UM.HAS f x", "*1[#t]")
	if got := p.Do("UM.ADDRAW", "f", "short"); !strings.HasPrefix(got, "-ERR digests have 5 bytes, want a multiple of 16") {
		t.Error(got)
	}
}

func TestInfo(t *testing.T) {
	p := start(t, 0, Options{})
	p.Line("UM.MAKE f bloom KEYS 1000 RATE 1%")
	p.fill("f", 0, 500)
	reply := p.Line("UM.INFO f")
	for name, want := range map[string]string{
		"kind": bulk("bloom"), "hash": bulk("xxh3"), "layers": ":1", "incomplete": bulk(""), "added": ":500", "planned-keys": ":1000", "overfull": ":0",
	} {
		if got := field(t, reply, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"keys", "keys-low", "keys-high", "rate", "planned-rate", "fill", "cells", "k", "bytes", "memory", "version"} {
		field(t, reply, name)
	}
	if !strings.HasPrefix(reply, "%21[") || !strings.Contains(reply, `"planned-rate", ,0.01, `) {
		t.Errorf("%.20s", reply)
	}
	p.fill("f", 500, 2500)
	if got := field(t, p.Line("UM.INFO f"), "overfull"); got != ":1" {
		t.Errorf("overfull is %s, want :1", got)
	}
}

func TestPlanAndKinds(t *testing.T) {
	p := start(t, 1<<20, Options{})
	reply := p.Line("UM.PLAN bloom KEYS 1k RATE 1%")
	if field(t, reply, "keys") != ":1000" || field(t, reply, "fits") != "#t" {
		t.Error(reply)
	}
	if reply := p.Line("UM.PLAN bloom KEYS 1G RATE 1%"); field(t, reply, "fits") != "#f" {
		t.Error(reply)
	}
	if reply := p.Line("UM.PLAN * KEYS 1k RATE 1%"); !strings.HasPrefix(reply, fmt.Sprintf("%%%d[", len(filter.All))) {
		t.Errorf("%.100s", reply)
	}
	if reply := p.Line("UM.KINDS"); !strings.HasPrefix(reply, fmt.Sprintf("%%%d[", len(filter.All))) {
		t.Errorf("%.100s", reply)
	}
	if reply := p.Line("UM.KINDS counting"); !strings.Contains(reply, bulk("remove")) {
		t.Error(reply)
	}
	p.refused("UM.MAKE f bloom KEYS 1G", "OOM ", "UM.PLAN bloom KEYS 1k NX", "NX", "UM.KINDS nokind", "kind", "UM.KINDS a b", "wrong number")
}

func TestFoldAndUnfold(t *testing.T) {
	p := start(t, 0, Options{})
	p.Line("UM.MAKE f bloom KEYS 100k RATE 1%")
	p.fill("f", 0, 1000)
	p.Expect("UM.FOLD f 2", ":2", "UM.FOLD f 1", ":1")
	if got := p.Line("UM.FOLD f RATE 1%"); got == ":1" || !strings.HasPrefix(got, ":") {
		t.Error(got)
	}
	if got := p.Line("UM.FOLD f BYTES 1kB"); !strings.HasPrefix(got, ":") {
		t.Error(got)
	}
	p.Expect("UM.UNFOLD f 2", "+OK")
	p.holds("f", 0, 1000)
	p.refused(
		"UM.FOLD f RATE 1e-9", "above",
		"UM.FOLD f BYTES 1", "",
		"UM.FOLD f x", "count",
		"UM.FOLD f 1000003", "",
		"UM.FOLD f 0", "",
		"UM.FOLD f WHAT 1", "usage: UM.FOLD",
		"UM.UNFOLD f 0", "",
		"UM.UNFOLD f 16E", "",
		"UM.FOLD none 2", "no such filter",
	)
}

func TestShapes(t *testing.T) {
	p := start(t, 0, Options{})
	p.Expect(
		"UM.MAKE w window KEYS 100 RATE 1% window 4", "+OK",
		"UM.ADD w a", "*1[#t]",
		"UM.ADVANCE w 1", "+OK",
		"UM.HAS w a", "*1[#t]",
		"UM.ADVANCE w 100", "+OK",
		"UM.HAS w a", "*1[#f]",
		"UM.MAKE r ribbon KEYS 1000 RATE 1%", "+OK",
	)
	p.fill("r", 0, 1000)
	p.Expect("UM.SEAL r", "+OK")
	p.holds("r", 0, 1000)
	p.Expect("UM.MAKE s scalable KEYS 100 RATE 1%", "+OK")
	p.fill("s", 0, 5000)
	before := field(t, p.Line("UM.INFO s"), "layers")
	p.Expect("UM.COMPACT s RATE 20%", "+OK")
	if after := field(t, p.Line("UM.INFO s"), "layers"); after == before {
		t.Errorf("%s layers after compacting as before", after)
	}
	p.holds("s", 0, 5000)
	p.refused(
		"UM.ADVANCE w 5", "",
		"UM.ADVANCE w x", "count",
		"UM.ADVANCE s 5", "",
		"UM.SEAL s", "",
		"UM.COMPACT w", "has no layers to join",
		"UM.COMPACT s RATE 1e-9", "compacting",
		"UM.COMPACT s RATE", "usage: UM.COMPACT",
		"UM.COMPACT s RATE x", "rate",
	)
}

func TestMergeIntersectOverlap(t *testing.T) {
	p := start(t, 0, Options{})
	for _, name := range []string{"a", "b"} {
		p.Do("UM.MAKE", name, "bloom", "KEYS", "10k", "RATE", "1%")
	}
	p.fill("a", 0, 2000)
	p.fill("b", 1000, 3000)
	p.Expect(
		"UM.MERGE all a b", "+OK",
		"UM.MERGE a2 a", "+OK",
		"UM.MERGE a2 b b a2", "+OK",
		"UM.INTERSECT both a b", "+OK",
		"UM.COPY a c", "+OK",
		"UM.COPY b c REPLACE", "+OK",
	)
	if p.Line("UM.ID all") != p.Line("UM.ID a2") || p.Line("UM.ID b") != p.Line("UM.ID c") {
		t.Error("what is merged and copied differs")
	}
	p.holds("all", 0, 3000)
	p.holds("both", 1000, 2000)
	if got := p.Do(append([]string{"UM.HAS", "both"}, items(0, 1000)...)...); strings.Count(got, "#t") > 200 {
		t.Error("the intersection has keys of one filter")
	}
	if reply := p.Line("UM.OVERLAP a b"); !strings.HasPrefix(reply, `%4[$4:"both", %3[$4:"keys", :`) {
		t.Error(reply)
	}
	p.Line("UM.MAKE other blocked KEYS 1k")
	p.Line("UM.MAKE secret bloom KEYS 10k HASH siphash")
	id := p.Line("UM.ID a")
	p.refused(
		"UM.MERGE a a", "same filter",
		"UM.MERGE a none", `no such filter: "none"`,
		"UM.MERGE a b other", "one filter is",
		"UM.MERGE a secret", "hashes with",
		"UM.MERGE new a other", "one filter is",
		"UM.INTERSECT both a b", "filter exists",
		"UM.INTERSECT new a other", "one filter is",
		"UM.INTERSECT new a none", `no such filter: "none"`,
		"UM.OVERLAP a other", "one filter is",
		"UM.COPY a b", "exists",
		"UM.COPY a a", "the same",
		"UM.COPY none x", `no such filter: "none"`,
		"UM.COPY a b WHAT", "usage: UM.COPY",
	)
	p.refused("UM.HAS new x", "no such filter") // nothing was left by what failed
	p.Expect("UM.ID a", id)
}

func TestExportImport(t *testing.T) {
	p := start(t, 0, Options{})
	for _, v := range filter.All {
		p.Do("UM.MAKE", "f", v.Name, "KEYS", "500", "RATE", "1%")
		p.fill("f", 0, 500)
		id := p.Line("UM.ID f")
		for _, how := range []string{"UM.EXPORT f", "UM.EXPORT f PACKED"} {
			container := resptest.Bulk(t, p.Line(how))
			if got := p.Do("UM.IMPORT", "g", container, "REPLACE"); got != "+OK" {
				t.Fatalf("%s: %s: %s", v.Name, how, got)
			}
			p.Expect("UM.ID g", id)
			if v.Name != "window" { // which forgets
				p.holds("g", 0, 500)
			}
			if _, err := wire.Parse([]byte(container), wire.Limits{}); err != nil {
				t.Error(err)
			}
		}
		for _, name := range []string{"f", "g"} {
			if _, _, err := p.engine.Delete([]byte(name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.Line("UM.MAKE f bloom KEYS 500")
	container := resptest.Bulk(t, p.Line("UM.EXPORT f"))
	p.refused(
		"UM.EXPORT none", "no such filter",
		"UM.EXPORT f WHAT", "usage: UM.EXPORT",
		"UM.IMPORT g garbage", "want a container",
		"UM.IMPORT f garbage", "filter exists",
		"UM.IMPORT g garbage WHAT", "usage: UM.IMPORT",
	)
	if got := p.Do("UM.IMPORT", "g", container[:len(container)-1]); !strings.HasPrefix(got, "-ERR ") {
		t.Error(got)
	}
}

// A container of a few bytes that stands for gigabytes isn't unpacked.
func TestImportLimits(t *testing.T) {
	big, err := filter.All[0].New(umbel.Goal{Keys: 10_000_000, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	container, err := wire.Packer{}.Append(nil, big.State())
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*place{
		"memory": start(t, 1<<20, Options{}),
	} {
		if got := p.Do("UM.IMPORT", "f", string(container)); !strings.Contains(got, "limit") {
			t.Errorf("%s: a container of %d bytes for %d: %s", name, len(container), big.State().Bytes(), got)
		}
	}
}

func TestDiffPatch(t *testing.T) {
	p := start(t, 0, Options{})
	p.Line("UM.MAKE a bloom KEYS 10k")
	p.fill("a", 0, 1000)
	p.Line("UM.COPY a b")
	before := resptest.Bulk(t, p.Line("UM.EXPORT a"))
	p.fill("a", 1000, 1100)
	delta := resptest.Bulk(t, p.Line("UM.DIFF a FROM b"))
	if other := resptest.Bulk(t, p.Do("UM.DIFF", "a", "BASE", before)); other != delta {
		t.Error("the delta from a filter and that from its container differ")
	}
	if got := p.Do("UM.PATCH", "b", delta); got != "+OK" {
		t.Fatal(got)
	}
	if p.Line("UM.ID a") != p.Line("UM.ID b") {
		t.Error("the patched filter is another")
	}
	if got := p.Do("UM.PATCH", "b", delta); !strings.Contains(got, "already applied") {
		t.Errorf("patched twice: %s", got)
	}
	if got := p.Do("UM.IMPORT", "c", delta); !strings.Contains(got, "use UM.PATCH") {
		t.Error(got)
	}
	p.refused(
		"UM.PATCH a garbage", "want a delta",
		"UM.PATCH none garbage", "no such filter",
		"UM.DIFF a FROM none", "no such filter",
		"UM.DIFF a BASE garbage", "want a container",
		"UM.DIFF a WHAT b", "usage: UM.DIFF",
	)
}

func TestHelp(t *testing.T) {
	p := start(t, 0, Options{})
	p.Expect("UM.HELP fold", p.Line("UM.HELP UM.FOLD"))
	p.refused("UM.HELP nothing", "unknown command")
	if got := p.Line("UM.HELP"); !strings.Contains(got, "+UM.MAKE key kind") {
		t.Errorf("%.200s", got)
	}
}

// All commands are on the page.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/node-commands.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range Commands(nil, Options{}) {
		if !strings.Contains(string(page), strings.ToUpper(name)) {
			t.Errorf("%s isn't in docs/node-commands.md", name)
		}
	}
}

// Untrusted input is refused or accepted, and the node continues.
func FuzzImport(f *testing.F) {
	small, err := filter.All[0].New(umbel.Goal{Keys: 10, FPRate: 0.1}, nil)
	if err != nil {
		f.Fatal(err)
	}
	before, err := wire.Append(nil, small.State().Clone())
	if err != nil {
		f.Fatal(err)
	}
	base := small.State().Clone()
	small.Add(umbel.Digest{H1: 1, H2: 2})
	message, err := delta.Append(nil, base, small.State())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(before, message)
	f.Add([]byte("\x89umbel\n\x01"), []byte{})
	e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return 0 }, MaxMemory: 1 << 20})
	u := &um{engine: e}
	f.Fuzz(func(t *testing.T, container, delta []byte) {
		hold := e.NewReservation()
		made, err := u.parse(limits(hold), container)
		hold.Release()
		if err != nil {
			return
		}
		defer e.Delete([]byte("f"))
		g, _, err := e.Put("f", made, engine.PutOptions{Replace: true})
		if err != nil {
			return
		}
		identify := func() (id wire.ID) {
			if err := g.View(func(f umbel.Filter) { id = hashtree.Identify(f.State()) }); err != nil {
				t.Fatal(err)
			}
			return id
		}
		was := identify()
		defer hold.Release()
		if _, err = g.Patch(delta, limits(hold)); err != nil && identify() != was {
			t.Error("a delta that was refused changed the filter")
		}
	})
}

// Of a filter that is still being loaded nothing is made; questions are answered with yes.
func TestHidden(t *testing.T) {
	p := start(t, 0, Options{})
	f, err := filter.All[0].New(umbel.Goal{Keys: 100, FPRate: 0.01}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.engine.Put("f", f, engine.PutOptions{Incomplete: true}); err != nil {
		t.Fatal(err)
	}
	p.Expect("UM.HAS f a b", "*2[#t, #t]")
	const loading = "incomplete"
	p.refused("UM.ID f", loading, "UM.EXPORT f", loading, "UM.MERGE g f", loading, "UM.COPY f g", loading,
		"UM.DIFF f FROM f", loading, "UM.OVERLAP f f", loading, "UM.FOLD f 2", loading, "UM.ADD f x", loading)
}

// A change that can't be kept is not made, and the client gets an error.
func TestReadOnly(t *testing.T) {
	p := start(t, 0, Options{})
	j := &journal{}
	p.engine.SetJournal(j)
	p.Line("UM.MAKE f bloom KEYS 100")
	p.Line("UM.ADD f a")
	j.full.Store(true)
	const full = "MISCONF "
	p.refused("UM.ADD f b", full, "UM.MAKE g bloom KEYS 100", full, "UM.CLEAR f", full, "UM.FOLD f 2", full, "UM.COPY f g", full)
	p.Expect("UM.HAS f a b", "*2[#t, #f]")
}

// journal keeps nothing, and says so when it is full.
type journal struct {
	full atomic.Bool
	last engine.Position
}

func (j *journal) Ready() error {
	if j.full.Load() {
		return errors.New("no space left on device")
	}
	return nil
}

func (j *journal) ReadyToFree() error { return j.Ready() }
func (j *journal) Admit(uint64) error { return nil }

func (j *journal) Append(engine.Change) engine.Position {
	j.last++
	return j.last
}

func (j *journal) Last() engine.Position { return j.last }

func (j *journal) Begin(engine.Change) (engine.LongChange, error) {
	return nil, errors.New("no filter here is large")
}

// Long commands are limited in a transaction: they keep other clients from its keys.
func TestLongCommandsInTransactions(t *testing.T) {
	p := start(t, 0, Options{})
	p.Line("UM.MAKE f bloom BYTES 800KiB RATE 1%")
	p.Line("UM.MAKE g bloom BYTES 800KiB RATE 1%")
	container := resptest.Bulk(t, p.Line("UM.EXPORT f PACKED"))
	p.Line("UM.MAKE h bloom BYTES 2MiB RATE 1%")
	large := resptest.Bulk(t, p.Line("UM.EXPORT h PACKED"))
	for _, c := range []struct {
		call    []string
		refused bool
	}{
		{[]string{"UM.ID", "f"}, false},
		{[]string{"UM.DIFF", "f", "FROM", "g"}, true},
		{[]string{"UM.MERGE", "f", "g"}, true},
		{[]string{"UM.UNFOLD", "f", "2"}, true},
		{[]string{"UM.IMPORT", "i", container, "REPLACE"}, false},
		{[]string{"UM.IMPORT", "j", large, "REPLACE"}, true},
	} {
		p.Expect("MULTI", "+OK")
		p.Do(c.call...)
		got := p.Line("EXEC")
		if refused := strings.HasPrefix(got, "*1[-ERR "); refused != c.refused {
			t.Errorf("%s: %.200s, want refused %v", c.call[0], got, c.refused)
		}
		if got := p.Do(c.call...); strings.HasPrefix(got, "-") {
			t.Errorf("%s without MULTI: %.200s", c.call[0], got)
		}
	}
}

// A command that needs further rights checks them.
func TestRights(t *testing.T) {
	p := start(t, 0, Options{})
	p.Line("UM.MAKE f bloom KEYS 100")
	container := resptest.Bulk(t, p.Line("UM.EXPORT f"))
	nobody := resp.NewServer(resp.Options{
		Commands: Commands(p.engine, Options{}),
		Default:  func(*resp.Conn) any { return &access.User{Name: "nobody"} },
	})
	c := serve(t, nobody)
	for _, need := range []struct {
		right access.Right
		name  string
		words []string
	}{
		{access.Add, "g", []string{"UM.MERGE", "g", "f"}},
		{access.Add, "g", []string{"UM.INTERSECT", "g", "f", "f"}},
		{access.Add, "g", []string{"UM.COPY", "f", "g"}},
		{access.Remove, "f", []string{"UM.IMPORT", "f", container, "REPLACE"}},
		{access.Read, "f", []string{"UM.DIFF", "f", "FROM", "f"}},
		{access.Remove, "f", []string{"UM.PATCH", "f", "delta"}},
	} {
		if got := c.Do(need.words...); got != "-"+command.NeedsRight(need.right, []byte(need.name)) {
			t.Errorf("%q: %s", need.words, got)
		}
	}
}

// Figures of BF.ADD's like: a batch of a pipeline, without the connection.
func BenchmarkHash(b *testing.B) {
	calls := make([][][]byte, 64)
	for i := range calls {
		calls[i] = [][]byte{[]byte("UM.ADD"), []byte("f"), fmt.Appendf(nil, "key-%d", i)}
	}
	b.ReportAllocs()
	for b.Loop() {
		free(hash(umbel.Hasher{}, calls))
	}
}

// A filter that lost data accepts additions, which change nothing, and refuses other changes.
func TestLostFilter(t *testing.T) {
	p := start(t, 0, Options{})
	p.Expect("UM.MAKE f bloom KEYS 100", "+OK")
	p.engine.MarkLost(p.engine.Get([]byte("f")).ID())
	p.Expect("UM.ADD f a b", "*2[#f, #f]", "UM.HAS f x", "*1[#t]")
	const lost = "create it again"
	info := p.Line("UM.INFO f")
	if field(t, info, "incomplete") != bulk("lost") || !strings.Contains(info, `"rate", ,1, `) {
		t.Error(info)
	}
	p.refused("UM.CLEAR f", lost, "UM.FOLD f 2", lost, "UM.EXPORT f", lost, "UM.COPY f g", lost)
}
