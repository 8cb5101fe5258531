package redisbloom_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/redisbloom"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/filter"
	format "github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// Commands in pipelines of 64 over loopback; client and server share the machine. Allocations
// are those of both, of which the client has none.
func BenchmarkPipeline(b *testing.B) {
	const pipeline = 64
	for _, command := range []string{"PING", "BF.ADD", "BF.EXISTS"} {
		b.Run(command, func(b *testing.B) {
			p := start(b, 0, redisbloom.Options{})
			p.Expect("BF.RESERVE k 0.01 1000000", "+OK")
			conn, err := net.Dial("tcp", p.addr)
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close()
			replies := bufio.NewReader(conn)
			var batches [][]byte
			size := 0
			for i := range 1000 {
				var batch []byte
				for j := range pipeline {
					words := [][]byte{[]byte(command)}
					if command != "PING" {
						words = append(words, []byte("k"), fmt.Appendf(nil, "key:%09d", i*pipeline+j))
					}
					batch = resp.Append(batch, words...)
				}
				batches = append(batches, batch)
			}
			if size = pipeline * len(":1\r\n"); command == "PING" {
				size = pipeline * len("+PONG\r\n")
			}
			answers := make([]byte, size)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if n%pipeline > 0 {
					continue // a command is an operation
				}
				if _, err := conn.Write(batches[n/pipeline%len(batches)]); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(replies, answers); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// script is a connection that gives one text after the other, n in all, and takes all writes.
type script struct {
	net.Conn
	texts [][]byte
	n     int
	rest  []byte // of the last text
}

func (s *script) Read(b []byte) (int, error) {
	if len(s.rest) == 0 {
		if s.n == 0 {
			return 0, io.EOF
		}
		s.n--
		s.rest = s.texts[s.n%len(s.texts)]
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

func (s *script) Write(b []byte) (int, error)     { return len(b), nil }
func (s *script) SetReadDeadline(time.Time) error { return nil }
func (s *script) RemoteAddr() net.Addr            { return &net.TCPAddr{} }
func (s *script) LocalAddr() net.Addr             { return &net.TCPAddr{} }
func (s *script) Close() error                    { return nil }

// What commands cost between the read and the write, with keys that come for the second time. An
// operation is a command, or an item.
func BenchmarkCommand(b *testing.B) {
	const n = 1 << 20
	for _, bench := range []struct {
		command         string
		pipeline, items int
	}{
		{"PING", 64, 0}, {"BF.ADD", 64, 1}, {"BF.EXISTS", 64, 1},
		{"PING", 1, 0}, {"BF.ADD", 1, 1}, {"BF.EXISTS", 1, 1}, {"BF.MADD", 1, 100},
	} {
		b.Run(fmt.Sprintf("%s/P=%d", bench.command, bench.pipeline), func(b *testing.B) {
			e := engine.New(engine.Options{Kinds: filter.All, Now: func() int64 { return time.Now().UnixMilli() }})
			m := redisbloom.New(e, redisbloom.Options{Capacity: n, Hasher: format.RedisHasher})
			s := resp.NewServer(resp.Options{Commands: m.Commands(), Default: command.Everyone()})
			b.Cleanup(func() { _ = s.Shutdown(b.Context()) })
			s.ServeConn(&script{texts: [][]byte{resp.Append(nil, []byte("BF.ADD"), []byte("speed"), []byte("key"))}, n: 1})
			once := bench.pipeline * max(bench.items, 1)
			var texts [][]byte
			for key := 0; key < n; key += once {
				var text []byte
				for i := range bench.pipeline {
					words := [][]byte{[]byte(bench.command)}
					if bench.items > 0 {
						words = append(words, []byte("speed"))
					}
					for j := range bench.items {
						words = append(words, fmt.Appendf(nil, "%012d", key+i*bench.items+j))
					}
					text = resp.Append(text, words...)
				}
				texts = append(texts, text)
			}
			if bench.items > 0 {
				fill := bytes.ReplaceAll(bytes.Join(texts, nil), []byte("BF.EXISTS"), []byte("BF.ADD"))
				fill = bytes.ReplaceAll(fill, []byte("$9"), []byte("$6"))
				s.ServeConn(&script{texts: [][]byte{fill}, n: 1})
			}
			b.ReportAllocs()
			b.ResetTimer()
			s.ServeConn(&script{texts: texts, n: b.N / once})
		})
	}
}
