package redisbloom_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/redisbloom"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
	"github.com/umbel-filters/umbel/filter/bloom"
)

func TestAddAndAsk(t *testing.T) {
	p := start(t, 0, redisbloom.Options{})
	p.Expect(
		"BF.MEXISTS a x y", "*2[:0, :0]",
		"BF.MADD a x y x", "*3[:1, :1, :0]",
		"BF.MEXISTS a x y z", "*3[:1, :1, :0]",
		"BF.RESERVE a 0.01 100", "-ERR item exists",
		"BF.CARD a", ":2",
	)
	if n := p.each("BF.MADD", "many", items(0, 10_000)); n < 9_800 {
		t.Errorf("%d items of 10000 were new", n)
	}
	if n := p.each("BF.MEXISTS", "many", items(0, 10_000)); n != 10_000 {
		t.Errorf("%d items of 10000 are there", n)
	}
}

// A hundred numbers in filters for four have the layers that they have in RedisBloom.
func TestExpansion(t *testing.T) {
	p := start(t, 0, redisbloom.Options{})
	for expansion, layers := range map[int]int{1: 23, 2: 5, 4: 4} {
		key := fmt.Sprint("e", expansion)
		p.Expect(fmt.Sprintf("BF.RESERVE %s 0.01 4 EXPANSION %d", key, expansion), "+OK")
		p.each("BF.MADD", key, numbers(100))
		p.Expect("BF.INFO "+key+" FILTERS", fmt.Sprintf("*1[:%d]", layers))
		if n := p.each("BF.MEXISTS", key, numbers(100)); n != 100 {
			t.Errorf("expansion %d: %d items are there", expansion, n)
		}
	}
}

// Layer by layer what RedisBloom makes of a hundred numbers in a filter for ten, and of 4000
// in one for a hundred: in the first a number is a false positive, in the second three.
func TestLayers(t *testing.T) {
	p := start(t, 0, redisbloom.Options{})
	for _, c := range []struct {
		reserve string
		numbers int
		layers  []string
	}{
		{"BF.RESERVE ten 0.01 10", 100, []string{
			"size:99",
			"bytes:16 bits:128 hashes:8 hashwidth:64 capacity:10 size:10 ratio:0.005",
			"bytes:32 bits:256 hashes:9 hashwidth:64 capacity:20 size:20 ratio:0.0025",
			"bytes:72 bits:576 hashes:10 hashwidth:64 capacity:40 size:40 ratio:0.00125",
			"bytes:160 bits:1280 hashes:11 hashwidth:64 capacity:80 size:29 ratio:0.000625",
		}},
		{"BF.RESERVE hundred 0.001 100", 4000, []string{
			"size:3997",
			"bytes:200 bits:1600 hashes:11 hashwidth:64 capacity:100 size:100 ratio:0.0005",
			"bytes:432 bits:3456 hashes:12 hashwidth:64 capacity:200 size:200 ratio:0.00025",
			"bytes:936 bits:7488 hashes:13 hashwidth:64 capacity:400 size:400 ratio:0.000125",
			"bytes:2016 bits:16128 hashes:14 hashwidth:64 capacity:800 size:800 ratio:6.25e-05",
			"bytes:4320 bits:34560 hashes:15 hashwidth:64 capacity:1600 size:1600 ratio:3.125e-05",
			"bytes:9216 bits:73728 hashes:16 hashwidth:64 capacity:3200 size:897 ratio:1.5625e-05",
		}},
	} {
		key := strings.Fields(c.reserve)[1]
		p.Expect(c.reserve, "+OK")
		p.each("BF.MADD", key, numbers(c.numbers))
		var lines []string
		for _, l := range c.layers {
			lines = append(lines, fmt.Sprintf("$%d:%q", len(l), l))
		}
		p.Expect("BF.DEBUG "+key, fmt.Sprintf("*%d[%s]", len(lines), strings.Join(lines, ", ")))
	}
}

// numbers returns the words of the numbers from 0 to n-1.
func numbers(n int) []string {
	var ws []string
	for i := range n {
		ws = append(ws, fmt.Sprint(i))
	}
	return ws
}

// Rates as reserved, over ten times as many questions, with three standard deviations.
func TestRates(t *testing.T) {
	p := start(t, 0, redisbloom.Options{})
	for _, rate := range []float64{0.1, 0.01, 0.001, 0.0001} {
		key := fmt.Sprint("r", rate)
		p.Expect(fmt.Sprintf("BF.RESERVE %s %g 1024", key, rate), "+OK")
		p.each("BF.MADD", key, items(0, 1024))
		const asked = 10 * 1024
		got := float64(p.each("BF.MEXISTS", key, items(1_000_000, 1_000_000+asked)))
		if want := asked * rate; got > want+3*math.Sqrt(want) {
			t.Errorf("rate %v: %v of %d items that aren't there are said to be", rate, got, asked)
		}
	}
}

// Random strings of all lengths are found, and the additions that said 0 were questions of
// items that weren't there answered wrongly.
func TestNoFalseNegatives(t *testing.T) {
	p := start(t, 0, redisbloom.Options{})
	rng := rand.New(rand.NewPCG(5, 6))
	var all []string
	for range 10_000 {
		b := make([]byte, rng.IntN(60)+1)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		all = append(all, string(b))
	}
	p.Expect("BF.RESERVE k 0.001 500 EXPANSION 4", "+OK")
	p.each("BF.MADD", "k", all)
	if n := p.each("BF.MEXISTS", "k", all); n != len(all) {
		t.Errorf("%d items of %d are there", n, len(all))
	}
}

func TestNonScaling(t *testing.T) {
	p := start(t, 0, redisbloom.Options{})
	p.Expect(
		"BF.RESERVE one 0.01 1000 NONSCALING", "+OK",
		"BF.RESERVE more 0.01 1000", "+OK",
	)
	if one, more := p.Line("BF.INFO one SIZE"), p.Line("BF.INFO more SIZE"); one >= more {
		t.Errorf("a filter that doesn't scale takes %s, another %s", one, more)
	}
	for _, rate := range []string{".99", ".95", ".9999999999999999"} {
		key := "r" + rate
		p.Expect("BF.RESERVE "+key+" "+rate+" 100 NONSCALING", "+OK", "BF.ADD "+key+" a", ":1", "BF.EXISTS "+key+" a", ":1")
	}
}

// In a pipeline to a filter that becomes full each call has its own answer, as one by one.
func TestPipelineIntoFullFilter(t *testing.T) {
	p := start(t, 0, redisbloom.Options{})
	p.Expect("BF.INSERT ns CAPACITY 3 NONSCALING ITEMS a", "*1[:1]")
	for _, item := range []string{"b", "a", "c", "d", "e", "b", "c", "f", "a"} {
		p.Send("BF.ADD", "ns", item)
	}
	for i, want := range []string{":1", ":0", ":1", "-ERR non scaling filter is full", "-ERR non scaling filter is full", ":0", ":0", "-ERR non scaling filter is full", ":0"} {
		if got := p.Reply(); got != want {
			t.Errorf("reply %d: %s, want %s", i, got, want)
		}
	}
	for _, line := range []string{"BF.MADD ns a d e", "BF.MADD ns b", "BF.MADD ns f a", "BF.MADD ns c a b"} {
		p.Send(strings.Fields(line)...)
	}
	for i, want := range []string{"*2[:0, -ERR non scaling filter is full]", "*1[:0]", "*1[-ERR non scaling filter is full]", "*3[:0, :0, :0]"} {
		if got := p.Reply(); got != want {
			t.Errorf("reply %d: %s, want %s", i, got, want)
		}
	}
}

func TestAtomic(t *testing.T) {
	p := start(t, 0, redisbloom.Options{Atomic: true})
	p.Expect(
		"BF.INSERT ns CAPACITY 3 NONSCALING ITEMS a b", "*2[:1, :1]",
		"BF.MADD ns a c d", "-ERR non scaling filter is full",
		"BF.CARD ns", ":2",
		"BF.MEXISTS ns c d", "*2[:0, :0]",
		"BF.MADD ns a c c b", "*4[:0, :1, :0, :0]",
		"BF.INSERT ns ITEMS a d", "-ERR non scaling filter is full",
		"BF.ADD ns d", "-ERR non scaling filter is full",
		"BF.MADD ns a b c", "*3[:0, :0, :0]",
		"BF.MADD grows 1 2 3", "*3[:1, :1, :1]",
	)
}

// BF.* adds to filters of other kinds and queries them; the commands that need RedisBloom's layout reply
// WRONGTYPE.
func TestOtherKinds(t *testing.T) {
	p := start(t, 0, redisbloom.Options{})
	if _, _, err := p.engine.Create("k", bloom.Name, umbel.Goal{Keys: 1000, FPRate: 0.001}, nil); err != nil {
		t.Fatal(err)
	}
	p.Expect(
		"BF.ADD k a", ":1",
		"BF.MADD k a b", "*2[:0, :1]",
		"BF.INSERT k CAPACITY 5 ITEMS c", "*1[:1]",
		"BF.MEXISTS k a b c d", "*4[:1, :1, :1, :0]",
		"BF.CARD k", ":3",
		"BF.RESERVE k 0.01 100", "-ERR item exists",
	)
	const wrong = "-WRONGTYPE Operation against a key holding the wrong kind of value"
	p.Expect("BF.INFO k", wrong, "BF.DEBUG k", wrong, "BF.SCANDUMP k 0", wrong, "BF.LOADCHUNK k 1 x", wrong)
}

// What doesn't fit into memory is refused, and leaves all as it was.
func TestMemory(t *testing.T) {
	p := start(t, 64<<10, redisbloom.Options{})
	const full = "-ERR Insufficient memory to create filter"
	p.Expect(
		"BF.RESERVE big 0.0001 1000000", full,
		"BF.INSERT big CAPACITY 1000000 ITEMS a", full,
		"BF.CARD big", ":0",
		"BF.RESERVE small 0.01 10000 EXPANSION 10", "+OK",
	)
	added, refused := 0, ""
	for _, item := range items(0, 12_000) {
		reply := p.Do("BF.ADD", "small", item)
		if reply != ":0" && reply != ":1" {
			refused = reply
			break
		}
		added++
	}
	if want := "-OOM command not allowed when used memory > 'maxmemory'."; refused != want || added < 10_000 {
		t.Errorf("item %d: %s, want %s", added, refused, want)
	}
	p.Expect(
		"BF.INFO small FILTERS", "*1[:1]",
		"BF.ADD small item0", ":0",
		"BF.INSERT sure CAPACITY 1000 VALIDATESCALETO 2000 ITEMS a", "*1[:1]",
		"BF.INSERT other CAPACITY 1000 VALIDATESCALETO 1000000 ITEMS a", "-ERR provided VALIDATESCALETO causes bloom object to exceed memory limit",
		"BF.EXISTS other a", ":0",
	)
	if n := p.each("BF.MEXISTS", "small", items(0, added)); n != added {
		t.Errorf("%d items of %d are there", n, added)
	}
}

// A filter with a seed hashes by it: its items are found, and it isn't RedisBloom's to dump.
func TestSeed(t *testing.T) {
	p := start(t, 0, redisbloom.Options{})
	seed := strings.Repeat("s", 32)
	p.Expect(
		"BF.INSERT k SEED "+seed+" CAPACITY 1000", "*0[]",
		"BF.MADD k a b", "*2[:1, :1]",
		"BF.MEXISTS k a b c", "*3[:1, :1, :0]",
		"BF.INFO k CAPACITY", "*1[:1000]",
	)
	const refused = "the filter hashes with siphash and RedisBloom with murmur64a: make filters with the setting default-hash redisbloom, or move this one with UM.EXPORT"
	p.Expect("BF.SCANDUMP k 0", "-ERR "+refused)
	if _, err := p.module.Dump(p.engine.Get([]byte("k"))); err == nil || err.Error() != refused {
		t.Errorf("DUMP: %v, want %s", err, refused)
	}
}

// Clients that add to one filter at once, and make it, lose nothing.
func TestManyClients(t *testing.T) {
	p := start(t, 0, redisbloom.Options{})
	var clients sync.WaitGroup
	for i := range 8 {
		c := resptest.Dial(t, p.addr)
		clients.Go(func() {
			for j := range 20 {
				for k := range 50 {
					c.Send("BF.ADD", fmt.Sprint("k", j), fmt.Sprint(i, j, k))
				}
				for range 50 {
					if reply := c.Reply(); reply != ":0" && reply != ":1" {
						t.Errorf("client %d: %s", i, reply)
					}
				}
			}
		})
	}
	clients.Wait()
	for j := range 20 {
		for i := range 8 {
			var all []string
			for k := range 50 {
				all = append(all, fmt.Sprint(i, j, k))
			}
			if n := p.each("BF.MEXISTS", fmt.Sprint("k", j), all); n != 50 {
				t.Fatalf("filter %d has %d items of 50 of client %d", j, n, i)
			}
		}
	}
}

// RedisBloom's size of a filter for 300 million items, which takes a GiB of zero pages.
func TestHuge(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a filter of 1.1 GB")
	}
	p := start(t, 0, redisbloom.Options{})
	p.Expect(
		"BF.RESERVE k 0.000001 300000000", "+OK",
		"BF.INFO k SIZE", "*1[:1132420232]",
		"BF.ADD k a", ":1",
		"BF.EXISTS k a", ":1",
		"BF.SCANDUMP k 1132420137", "*2[:0, $0:\"\"]",
	)
}

// A chain of as many layers as there are error rates, less some, is dumped and loaded whole.
func TestLongChain(t *testing.T) {
	p := start(t, 0, redisbloom.Options{})
	p.Expect("BF.RESERVE k 0.25 1 EXPANSION 1", "+OK")
	n := p.each("BF.MADD", "k", items(0, 900))
	p.Expect("BF.INFO k FILTERS", fmt.Sprintf("*1[:%d]", n))
	p.copy("k", "copy")
	p.Expect("BF.DEBUG copy", p.Line("BF.DEBUG k"))
	if n := p.each("BF.MEXISTS", "copy", items(0, 900)); n != 900 {
		t.Errorf("%d items of 900 are there", n)
	}
}

// When the error rates are used up, items that are there are still answered.
func TestEndOfChain(t *testing.T) {
	p := start(t, 0, redisbloom.Options{})
	p.Expect("BF.RESERVE k 1e-320 1 EXPANSION 1", "+OK")
	var reply string
	last := ""
	for _, last = range items(0, 1000) {
		if reply = p.Do("BF.ADD", "k", last); reply[0] == '-' {
			break
		}
	}
	if want := "-ERR problem inserting into filter"; reply != want {
		t.Errorf("%s, want %s", reply, want)
	}
	p.Expect("BF.MADD k item0 "+last+" item1", "*2[:0, -ERR problem inserting into filter]", "BF.ADD k item0", ":0")
}

// broken is a journal that can keep nothing any more.
type broken struct{ full bool }

func (b *broken) Ready() error {
	if b.full {
		return errors.New("no space left on device")
	}
	return nil
}

func (b *broken) ReadyToFree() error { return b.Ready() }
func (b *broken) Admit(uint64) error { return nil }

func (b *broken) Append(engine.Change) engine.Position { return 0 }
func (b *broken) Last() engine.Position                { return 0 }

func (b *broken) Begin(engine.Change) (engine.LongChange, error) {
	return nil, errors.New("no filter here is large")
}

// What can't be kept isn't done, and questions go on.
func TestReadOnly(t *testing.T) {
	p := start(t, 0, redisbloom.Options{Cuckoo: true})
	j := new(broken)
	p.engine.SetJournal(j)
	p.Expect("BF.MADD k a b", "*2[:1, :1]", "CF.ADD cf a", ":1")
	j.full = true
	for _, line := range []string{
		"BF.ADD k c", "BF.MADD k a c", "BF.INSERT k ITEMS c", "BF.INSERT new ITEMS c", "BF.RESERVE new 0.01 100",
		"BF.LOADCHUNK k 2 x", "CF.ADD cf b", "CF.INSERT cf ITEMS b", "CF.DEL cf a",
	} {
		if got := p.Line(line); !strings.HasPrefix(got, "-MISCONF ") || !strings.Contains(got, "no space left on device") {
			t.Errorf("%s: %s, want MISCONF", line, got)
		}
	}
	p.Expect("BF.MEXISTS k a b c", "*3[:1, :1, :0]", "BF.CARD k", ":2", "CF.EXISTS cf b", ":0", "CF.COUNT cf a", ":1", "BF.CARD new", ":0")
}
