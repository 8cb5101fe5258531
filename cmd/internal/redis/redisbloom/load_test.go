package redisbloom_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/redis/redisbloom"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
	"github.com/umbel-filters/umbel/filter"
)

// chunk is what BF.LOADCHUNK takes besides a key.
type chunk struct{ iter, data string }

// dump returns the chunks of a filter.
func (p *place) dump(command, key string) (cs []chunk) {
	p.t.Helper()
	for iter := "0"; ; {
		reply := p.Do(command, key, iter)
		next, data, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(reply, "*2[:"), "]"), ", ")
		if !ok {
			p.t.Fatalf("%s %s %s: %.200s", command, key, iter, reply)
		}
		if next == "0" {
			return cs
		}
		iter = next
		cs = append(cs, chunk{iter, resptest.Bulk(p.t, data)})
	}
}

// copy loads the dump of a filter as another and returns how many chunks it has.
func (p *place) copy(from, to string) int {
	p.t.Helper()
	cs := p.dump("BF.SCANDUMP", from)
	for _, c := range cs {
		if got := p.Do("BF.LOADCHUNK", to, c.iter, c.data); got != "+OK" {
			p.t.Fatalf("BF.LOADCHUNK %s %s: %s", to, c.iter, got)
		}
	}
	return len(cs)
}

// A filter that isn't all there says of no key that it isn't, and takes none.
func TestHiddenUntilLoaded(t *testing.T) {
	p := start(t, 0, redisbloom.Options{})
	p.Expect("BF.RESERVE k 0.01 50", "+OK")
	p.each("BF.MADD", "k", items(0, 120))
	cs := p.dump("BF.SCANDUMP", "k")
	if len(cs) != 3 {
		t.Fatalf("%d chunks, want a header and two layers", len(cs))
	}
	load := func(c chunk) {
		t.Helper()
		if got := p.Do("BF.LOADCHUNK", "new", c.iter, c.data); got != "+OK" {
			t.Fatalf("BF.LOADCHUNK %s: %s", c.iter, got)
		}
	}
	half := chunk{"5", cs[1].data[:4]}
	for i, c := range []chunk{cs[0], cs[2], half, half} {
		load(c)
		p.Expect(
			"BF.CARD new", p.Line("BF.CARD k"),
			"BF.EXISTS new nothing", ":1",
			"BF.ADD new nothing", "-ERR bloom filter load in progress: send the chunks that are missing, or delete it",
		)
		if t.Failed() {
			t.Fatalf("after chunk %d", i)
		}
	}
	load(cs[1])
	p.Expect("BF.EXISTS new nothing", p.Line("BF.EXISTS k nothing"), "BF.DEBUG new", p.Line("BF.DEBUG k"))
	if n := p.each("BF.MEXISTS", "new", items(0, 120)); n != 120 {
		t.Errorf("%d items of 120 are there", n)
	}
	if again := p.dump("BF.SCANDUMP", "new"); fmt.Sprint(again) != fmt.Sprint(cs) {
		t.Error("the filter has another dump")
	}
	// A chunk for a filter that is there takes the place of its bytes.
	load(chunk{cs[1].iter, strings.Repeat("\xff", len(cs[1].data))})
	p.Expect("BF.EXISTS new nothing", ":1", "BF.ADD new nothing", ":0")
}

func TestLoadChunkRefuses(t *testing.T) {
	p := start(t, 1<<20, redisbloom.Options{})
	p.Expect("BF.RESERVE sd 0.1 4", "+OK", "BF.MADD sd a b c d e f", "*6[:1, :1, :1, :1, :1, :1]")
	cs := p.dump("BF.SCANDUMP", "sd")
	header := cs[0].data
	edit := func(at int, b string) string { return header[:at] + b + header[at+len(b):] }
	const bad = "-ERR received bad data"
	for name, c := range map[string]struct{ key, iter, data, want string }{
		"a chunk over the end of a layer":  {"sd", "10", cs[1].data + "x", "-ERR invalid chunk - Too big for current filter"},
		"a chunk over two layers":          {"sd", "17", cs[1].data + cs[2].data, "-ERR invalid chunk - Too big for current filter"},
		"a chunk behind all layers":        {"sd", "18", "x", "-ERR invalid offset - no link found"},
		"the end":                          {"sd", "0", "", bad},
		"far behind":                       {"sd", "9223372036854775807", "x", "-ERR invalid offset - no link found"},
		"far before":                       {"sd", "-9223372036854775808", "x", bad},
		"a number that is none":            {"sd", "9223372036854775808", "x", "-ERR Second argument must be numeric"},
		"a header for a filter":            {"sd", "1", header, bad},
		"a chunk first":                    {"new", cs[1].iter, cs[1].data, "-ERR not found"},
		"an empty header":                  {"new", "1", "", bad},
		"a header cut":                     {"new", "1", header[:len(header)-1], bad},
		"unknown options":                  {"new", "1", edit(12, "\x15"), bad},
		"another number of layers":         {"new", "1", edit(8, "\x03"), bad},
		"another number of items":          {"new", "1", edit(0, "\x07"), bad},
		"a second layer of other bits":     {"new", "1", edit(20+53+8, "\x80"), bad},
		"bytes and bits beyond all memory": {"new", "1", edit(20, "\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00\x80"), "-ERR Insufficient memory to create filter"},
		"bytes that overflow":              {"new", "1", edit(20, "\x00\x00\x00\x00\x00\x00\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00"), bad},
	} {
		t.Run(name, func(t *testing.T) {
			if got := p.Do("BF.LOADCHUNK", c.key, c.iter, c.data); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if got := p.Do("BF.CARD", "new"); got != ":0" {
				t.Errorf("there is a filter of %s", got)
			}
		})
	}
	p.Expect("BF.MEXISTS sd a b c d e f", "*6[:1, :1, :1, :1, :1, :1]")
}

// A header with the largest number of items makes a usable filter: after additions its state
// opens and its dump loads.
func TestLoadAtTheEndOfCounts(t *testing.T) {
	p := start(t, 0, redisbloom.Options{})
	p.Expect("BF.RESERVE k 0.01 20", "+OK")
	p.each("BF.MADD", "k", items(0, 5))
	cs := p.dump("BF.SCANDUMP", "k")
	for i, last := range []string{"\xff", "\xfe"} {
		name := fmt.Sprint("loaded", i)
		most := last + strings.Repeat("\xff", 7)
		header := most + cs[0].data[8:36] + most + cs[0].data[44:]
		for _, c := range []chunk{{"1", header}, cs[1]} {
			if got := p.Do("BF.LOADCHUNK", name, c.iter, c.data); got != "+OK" {
				t.Fatalf("BF.LOADCHUNK %s: %s", c.iter, got)
			}
		}
		p.each("BF.MADD", name, items(5, 300))
		p.Expect(
			"BF.CARD "+name, ":9223372036854775807",
			"BF.INFO "+name+" ITEMS", "*1[:9223372036854775807]",
			"BF.EXISTS "+name+" item299", ":1",
		)
		if n := p.each("BF.MEXISTS", name, items(0, 300)); n != 300 {
			t.Errorf("%d items of 300 are there", n)
		}
		var opened error
		if err := p.engine.Get([]byte(name)).View(func(f umbel.Filter) { _, opened = filter.All.Open(f.State().Clone()) }); err != nil {
			t.Fatal(err)
		}
		if opened != nil {
			t.Errorf("%s: its state doesn't open: %v", name, opened)
		}
		p.copy(name, name+" again")
		p.Expect("BF.DEBUG "+name, p.Do("BF.DEBUG", name+" again"))
	}
}

// Any chunks at any places leave a server that answers.
func TestRandomChunks(t *testing.T) {
	p := start(t, 64<<20, redisbloom.Options{})
	rng := rand.New(rand.NewPCG(7, 8))
	p.Expect("BF.RESERVE k 0.01 1000", "+OK", "BF.MADD k a b c", "*3[:1, :1, :1]")
	for range 500 {
		data := make([]byte, rng.IntN(2000))
		for i := range data {
			data[i] = byte(rng.Uint32())
		}
		iter := rng.Int64N(4000) - 100
		if rng.IntN(10) == 0 {
			iter = int64(rng.Uint64())
		}
		reply := p.Do("BF.LOADCHUNK", "k", fmt.Sprint(iter), string(data))
		if reply != "+OK" && !strings.HasPrefix(reply, "-ERR ") {
			t.Fatalf("%d bytes at %d: %s", len(data), iter, reply)
		}
		p.Do("BF.SCANDUMP", "k", fmt.Sprint(iter))
	}
	p.Expect("BF.INFO k CAPACITY", "*1[:1000]")
}

// A filter of several chunks of 16 MiB moves whole.
func TestLargeDump(t *testing.T) {
	if testing.Short() {
		t.Skip("moves 27 MB")
	}
	p := start(t, 0, redisbloom.Options{})
	p.Expect("BF.RESERVE k 0.01 20000000", "+OK")
	p.each("BF.MADD", "k", items(0, 10_000))
	if n := p.copy("k", "copy"); n != 3 {
		t.Errorf("%d chunks, want 3", n)
	}
	if n := p.each("BF.MEXISTS", "copy", items(0, 10_000)); n != 10_000 {
		t.Errorf("%d items of 10000 are there", n)
	}
}

// A load that an earlier process began goes on when all of it comes again.
func TestLoadAfterRestart(t *testing.T) {
	p := start(t, 0, redisbloom.Options{})
	p.Expect("BF.RESERVE k 0.01 50", "+OK")
	p.each("BF.MADD", "k", items(0, 120))
	cs := p.dump("BF.SCANDUMP", "k")
	p.Do("BF.LOADCHUNK", "new", cs[0].iter, cs[0].data)
	p.Do("BF.LOADCHUNK", "new", cs[1].iter, cs[1].data)
	*p.module = *redisbloom.New(p.engine, redisbloom.Options{}) // forgets what has come
	p.Do("BF.LOADCHUNK", "new", cs[2].iter, cs[2].data)
	p.Expect("BF.EXISTS new nothing", ":1")
	p.Do("BF.LOADCHUNK", "new", cs[1].iter, cs[1].data)
	p.Expect("BF.EXISTS new nothing", ":0")
}

func TestDumpAndRestore(t *testing.T) {
	p := start(t, 1<<20, redisbloom.Options{})
	p.Expect("BF.RESERVE k 0.01 50", "+OK")
	p.each("BF.MADD", "k", items(0, 120))
	payload, err := p.module.Dump(p.engine.Get([]byte("k")))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.module.Restore("k", payload, math.MaxUint64, false, 0); err == nil {
		t.Error("restored over another")
	}
	if _, _, err := p.module.Restore("new", payload, math.MaxUint64, false, 1<<50); err != nil {
		t.Fatal(err)
	}
	if f := p.engine.Get([]byte("new")); f == nil || f.Expires() != 1<<50 || p.module.Type(f) != "MBbloom--" {
		t.Errorf("restored as %v", f)
	}
	p.Expect("BF.DEBUG new", p.Line("BF.DEBUG k"))
	if n := p.each("BF.MEXISTS", "new", items(0, 120)); n != 120 {
		t.Errorf("%d items of 120 are there", n)
	}
	// What was restored grows like any other.
	p.each("BF.MADD", "new", items(0, 20_000))
	if _, _, err := p.module.Restore("new", payload, math.MaxUint64, true, 0); err != nil {
		t.Fatal(err)
	}
	p.Expect("BF.DEBUG new", p.Line("BF.DEBUG k"))
	for corrupt, want := range map[string]string{
		"":                              "DUMP payload version or checksum are wrong",
		string(payload[1:]):             "DUMP payload version or checksum are wrong",
		string(payload[:10]) + "wrong!": "DUMP payload version or checksum are wrong",
	} {
		if _, _, err := p.module.Restore("bad", []byte(corrupt), math.MaxUint64, false, 0); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", corrupt, err, want)
		}
	}
	if p.engine.Get([]byte("bad")) != nil {
		t.Error("a corrupt payload made a filter")
	}
}

// A filter that lost data contains every item: additions succeed and change nothing, and dumps and chunks
// are refused. So is the dump of a filter that is being loaded, because it would lack items.
func TestLostFilter(t *testing.T) {
	p := start(t, 0, redisbloom.Options{Cuckoo: true})
	p.Expect("BF.RESERVE k 0.01 50", "+OK", "BF.ADD k a", ":1", "CF.RESERVE c 50", "+OK", "CF.ADD c a", ":1")
	header := p.dump("BF.SCANDUMP", "k")[0]
	for _, name := range []string{"k", "c"} {
		p.engine.MarkLost(p.engine.Get([]byte(name)).ID())
	}
	const lost = "-ERR filter is incomplete: data of it was lost, so every query returns true; delete it, create it again and add its keys"
	p.Expect(
		"BF.ADD k b", ":0", "BF.MADD k b c", "*2[:0, :0]", "BF.INSERT k ITEMS b", "*1[:0]", "BF.MEXISTS k b x", "*2[:1, :1]",
		"BF.SCANDUMP k 0", lost, "BF.LOADCHUNK k 9 x", lost, "BF.RESERVE k 0.01 50", "-ERR item exists",
		"CF.ADD c b", ":1", "CF.ADDNX c b", ":0", "CF.EXISTS c x", ":1",
		"CF.DEL c b", lost, "CF.SCANDUMP c 0", lost, "CF.LOADCHUNK c 9 x", lost,
	)
	if got := p.Do("BF.LOADCHUNK", "new", header.iter, header.data); got != "+OK" {
		t.Fatal(got)
	}
	p.Expect("BF.SCANDUMP new 0", "-ERR bloom filter load in progress: send the chunks that are missing, or delete it")
}
