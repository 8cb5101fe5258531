package resp

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func newParser(stranger bool) *parser {
	return &parser{maxArgs: 1 << 20, maxBulk: 512 << 20, maxQuery: 1 << 30, unauthenticated: stranger}
}

// feed gives a parser parts of a stream as reads do, and returns the commands and the error in the end.
func feed(p *parser, parts ...[]byte) (commands []string, err error) {
	for _, part := range parts {
		for len(part) > 0 {
			room := p.room()
			n := copy(room, part)
			part = part[n:]
			p.filled(n)
			if n == len(room) {
				p.grow()
			}
			for {
				words, err := p.next()
				if err != nil {
					return commands, err
				}
				if words == nil {
					break
				}
				commands = append(commands, fmt.Sprintf("%q", words))
			}
			p.release()
		}
	}
	return commands, nil
}

func command(words ...string) []byte {
	var all [][]byte
	for _, w := range words {
		all = append(all, []byte(w))
	}
	return Append(nil, all...)
}

// streams have in them all that a parser knows.
func streams() [][]byte {
	long := strings.Repeat("x", 300)
	return [][]byte{
		slices.Concat(command("PING"), []byte("*0\r\n\r\nPING a 'b c' \"\\x41\\n\"\r\n*-1\r\n"), command("BF.MADD", "k", "", long, "\r\n$1\r\n", long), []byte("echo "+long+"\n")),
		slices.Concat(command("ECHO", strings.Repeat("y", 1200)), []byte("*1\r\n:4\r\n"), command("PING")),
		[]byte("PING\r\n*2\r\n$4\r\nPING\r\n$x\r\n"),
		slices.Concat(command("BF.ADD", "k", "a"), command("BF.ADD", "k", ""), command("BF.ADD", "k", long), []byte("PING\r\n"), command("BF.ADD", "k", "b"),
			command("BF.ADD", "l", "b"), command("BF.ADD", "l", "b", "c"), command("PING"), command("PING"), command("BF.ADD"), command("BF.ADD", "k", "b"), []byte("*3\r\n$6\r\nBF.ADD\r\n$1\r\nk\r\n$x\r\n")),
		[]byte("PING\r\n*x\r\nPING\r\n"),
		[]byte("PING\r\nECHO \"a\r\nPING\r\n"),
		[]byte("*1\rX$4\rXPINGXX*11\r\n"),
	}
}

func TestSplitsDontMatter(t *testing.T) {
	for _, stranger := range []bool{false, true} {
		for _, s := range streams() {
			want, wantErr := feed(newParser(stranger), s)
			for i := range s {
				for j := i; j <= len(s); j += 1 + len(s)/8 {
					got, err := feed(newParser(stranger), s[:i], s[i:j], s[j:])
					if !slices.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
						t.Fatalf("%q split at %d and %d:\n got %s, %v\nwant %s, %v", s, i, j, got, err, want, wantErr)
					}
				}
			}
			got, err := feed(newParser(stranger), slices.Collect(slices.Chunk(s, 1))...)
			if !slices.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Errorf("%q byte by byte:\n got %s, %v\nwant %s, %v", s, got, err, want, wantErr)
			}
		}
	}
}

func TestParserReadsWhatAppendWrites(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var stream []byte
	var want []string
	for range 200 {
		words := make([][]byte, 1+rng.IntN(8))
		for i := range words {
			words[i] = make([]byte, rng.IntN(1<<rng.IntN(14)))
			for j := range words[i] {
				words[i][j] = byte(rng.Uint32())
			}
		}
		stream = Append(stream, words...)
		want = append(want, fmt.Sprintf("%q", words))
	}
	got, err := feed(newParser(false), stream)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%d commands, %v, want %d", len(got), err, len(want))
	}
}

func TestParserBounds(t *testing.T) {
	longest := strings.Repeat("1", maxInlineLine)
	for _, c := range []struct{ stream, want string }{
		{longest + "\n", "<nil>"},
		{longest + "1\n", "Protocol error: too big inline request"},
		{"*" + longest + "1", "Protocol error: too big mbulk count string"},
		{"*1\r\n1" + longest, "Protocol error: too big bulk count string"},
		{"*1\r\n$" + longest, "Protocol error: too big bulk count string"},
		{"*1\r\n$1" + longest[:maxInlineLine-2] + "\r\n", "Protocol error: invalid bulk length"},
		{"*1048577\r\n", "Protocol error: invalid multibulk length"},
		{"*1\r\n$536870913\r\n", "Protocol error: invalid bulk length"},
		{"*1\r\n$0\r\n\r", "<nil>"},
	} {
		for _, size := range []int{1 << 20, 1000, 7} {
			if _, err := feed(newParser(false), slices.Collect(slices.Chunk([]byte(c.stream), size))...); fmt.Sprint(err) != c.want {
				t.Errorf("%.20q... in parts of %d bytes: %v, want %s", c.stream, size, err, c.want)
			}
		}
	}
}

func TestQueryBound(t *testing.T) {
	p := newParser(false)
	p.maxQuery = 10_000
	big := command("ECHO", strings.Repeat("x", 9_900))
	if got, err := feed(p, big, big); len(got) != 2 || err != nil {
		t.Errorf("%d commands, %v, want 2", len(got), err)
	}
	if got, err := feed(p, command("ECHO", strings.Repeat("x", 10_100))); len(got) != 0 || err != errTooLarge {
		t.Errorf("%d commands, %v, want %v", len(got), err, errTooLarge)
	}
}

// TestAnnouncedLengths: who says that much will come gets no memory for it.
func TestAnnouncedLengths(t *testing.T) {
	for _, stream := range []string{"*1048576\r\n$536870912\r\nx", "*1\r\n$536870912\r\nx", "*1048576\r\n$1\r\nx\r\n"} {
		p := newParser(false)
		if _, err := feed(p, []byte(stream)); err != nil {
			t.Fatal(err)
		}
		if p.memory() > 4<<10 {
			t.Errorf("%q: %d bytes are held", stream, p.memory())
		}
	}
}

// TestMemoryGoes: a large command's memory ends with it.
func TestMemoryGoes(t *testing.T) {
	words := make([]string, 300_000)
	for i := range words {
		words[i] = "item" // 10 bytes
	}
	for _, stream := range [][]byte{command("ECHO", strings.Repeat("x", 1<<20)), command(words...)} {
		p := newParser(false)
		if got, err := feed(p, slices.Collect(slices.Chunk(stream, 5000))...); len(got) != 1 || err != nil {
			t.Fatalf("%d commands, %v, want 1", len(got), err)
		}
		p.room()
		if p.memory() > maxKeptBuffer {
			t.Errorf("%d bytes are held", p.memory())
		}
	}
}

func TestNothingIsScannedAgain(t *testing.T) {
	p := newParser(false)
	stream := command(slices.Repeat([]string{"item"}, 1000)...)
	last := 0
	for part := range slices.Chunk(stream, 13) {
		if _, err := feed(p, part); err != nil {
			t.Fatal(err)
		}
		if p.left > 0 && p.at < last {
			t.Fatalf("at %d, was at %d", p.at, last)
		}
		last = p.at
	}
}

// FuzzParser feeds a stream whole and in parts: the commands are the same, and memory follows what
// came, not what it says.
func FuzzParser(f *testing.F) {
	for _, s := range streams() {
		f.Add(s, uint16(3), false)
	}
	f.Add([]byte("*3\r\n$7\r\nBF.MADD\r\n$1\r\nk\r\n$536870912\r\nabc"), uint16(1), true)
	f.Add([]byte("*1048576\r\n$1\r\na\r\n$1\r\nb\r\n"), uint16(9), false)
	f.Fuzz(func(t *testing.T, stream []byte, size uint16, stranger bool) {
		whole, parts := newParser(stranger), newParser(stranger)
		want, wantErr := feed(whole, stream)
		got, err := feed(parts, slices.Collect(slices.Chunk(stream, 1+int(size)))...)
		if !slices.Equal(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("in parts of %d bytes:\n got %s, %v\nwant %s, %v", 1+size, got, err, want, wantErr)
		}
		for _, p := range []*parser{whole, parts} {
			// widen may take eight times what was read; words are at least six bytes and take 40.
			if p.memory() > 32*len(stream)+maxKeptBuffer {
				t.Errorf("%d bytes are held for %d", p.memory(), len(stream))
			}
		}
	})
}

func BenchmarkParser(b *testing.B) {
	for _, c := range []struct {
		name   string
		stream []byte
	}{
		{"ping", bytes.Repeat(command("PING"), 64)},
		{"bf.add", bytes.Repeat(command("BF.ADD", "filter", "key:000000012345"), 64)},
		{"bf.madd", command(slices.Repeat([]string{"key:000000012345"}, 1000)...)},
	} {
		b.Run(c.name, func(b *testing.B) {
			p := newParser(false)
			b.SetBytes(int64(len(c.stream)))
			b.ReportAllocs()
			for b.Loop() {
				for part := c.stream; len(part) > 0; {
					room := p.room()
					n := copy(room, part)
					part = part[n:]
					p.filled(n)
					if n == len(room) {
						p.grow()
					}
					for {
						words, err := p.next()
						if err != nil {
							b.Fatal(err)
						}
						if words == nil {
							break
						}
					}
					p.release()
				}
			}
		})
	}
}
