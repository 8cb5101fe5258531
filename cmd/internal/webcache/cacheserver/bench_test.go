package cacheserver

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"
)

// BenchmarkHit measures a hit with its client, over one connection.
func BenchmarkHit(b *testing.B) {
	for _, store := range []string{"memory", "disk"} {
		for _, size := range []int{1 << 10, 16 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%s/bytes=%d", store, size), func(b *testing.B) {
				origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Cache-Control", "max-age=3600")
					w.Header().Set("Content-Length", strconv.Itoa(size))
					_, _ = w.Write(make([]byte, size))
				}))
				defer origin.Close()
				u, err := url.Parse(origin.URL)
				if err != nil {
					b.Fatal(err)
				}
				c := testConfig(u)
				if store == "disk" {
					c.Disk = b.TempDir()
				}
				s := start(b, c)
				conn, err := net.Dial("tcp", s.Addr().String())
				if err != nil {
					b.Fatal(err)
				}
				defer conn.Close()
				in := bufio.NewReaderSize(conn, 64<<10)
				fetch(b, conn, in, size)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					fetch(b, conn, in, size)
				}
			})
		}
	}
}

// fetch sends a request and reads the answer.
func fetch(b *testing.B, conn net.Conn, in *bufio.Reader, size int) {
	if _, err := conn.Write([]byte("GET /a HTTP/1.1\r\nHost: cache.example\r\n\r\n")); err != nil {
		b.Fatal(err)
	}
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			b.Fatal(err)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			break
		}
	}
	if _, err := in.Discard(size); err != nil {
		b.Fatal(err)
	}
}
