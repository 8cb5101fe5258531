package redisbloom_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/redisbloom"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
)

// Commands in pipelines of 64 over loopback; client and server share the machine. Allocations
// are those of both, of which the client has none.
func BenchmarkPipeline(b *testing.B) {
	const pipeline = 64
	for _, command := range []string{"PING", "BF.ADD", "BF.EXISTS"} {
		b.Run(command, func(b *testing.B) {
			p := start(b, 0, redisbloom.Options{})
			p.expect("BF.RESERVE k 0.01 1000000", "+OK")
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
