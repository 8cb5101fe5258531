package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Hits per second of processor time, umbel-cache serve next to nginx, in one run on the same machine: UMBEL_CACHE_SPEED=1.
// The clients take the same time for both, so that requests per second would compare the clients.
func TestCacheSpeed(t *testing.T) {
	if os.Getenv("UMBEL_CACHE_SPEED") == "" {
		t.Skip("a measurement, not a test; UMBEL_CACHE_SPEED=1 runs it")
	}
	if !hasProgram("nginx") {
		t.Skip("nginx is missing (apt package nginx)")
	}
	sizes := map[string]int{"1 KiB": 1 << 10, "16 KiB": 16 << 10, "1 MiB": 1 << 20}
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size, _ := strconv.Atoi(strings.TrimPrefix(strings.Split(r.URL.Path, "-")[0], "/"))
		w.Header().Set("Cache-Control", "max-age=3600")
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Content-Length", strconv.Itoa(size))
		_, _ = w.Write(make([]byte, size))
	}))
	defer origin.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	umbel := filepath.Join(t.TempDir(), "umbel-cache")
	if err := os.Symlink(self, umbel); err != nil {
		t.Fatal(err)
	}
	caches := []*measuredCache{
		{name: "nginx", address: freeAddress(t), pids: children},
		{name: "umbel, memory", address: freeAddress(t), pids: only},
		{name: "umbel, disk", address: freeAddress(t), pids: only},
	}
	for _, c := range caches {
		switch c.name {
		case "nginx":
			c.process = nginxCache(t, c.address, origin.URL)
		case "umbel, memory":
			c.process = &process{t: t, program: umbel, arguments: []string{"serve", "-q", "--origin", origin.URL, "--listen", c.address}}
		default:
			c.process = &process{t: t, program: umbel, arguments: []string{"serve", "-q", "--origin", origin.URL, "--listen", c.address, "--disk", t.TempDir()}}
		}
		c.process.ready = func() bool { return answers("http://" + c.address + "/10-alive") }
		c.process.start()
		t.Cleanup(c.process.stop)
	}
	for _, name := range []string{"1 KiB", "16 KiB", "1 MiB"} {
		size := sizes[name]
		requests := max(4000, min(200_000, (1<<30)/(size/4+4<<10)))
		var base time.Duration
		for _, c := range caches {
			c.load(t, size, 500) // so that all are hits
			before := c.cpu(t)
			begun := time.Now()
			c.load(t, size, requests)
			took, cpu := time.Since(begun), c.cpu(t)-before
			if base == 0 {
				base = cpu
			}
			t.Logf("%-7s %-14s %6.1f us CPU per hit, %7.0f hits per second, %.2f x nginx per CPU", name, c.name,
				float64(cpu.Microseconds())/float64(requests), float64(requests)/took.Seconds(), base.Seconds()/cpu.Seconds())
		}
	}
}

// measuredCache is a cache whose processor time is measured.
type measuredCache struct {
	name, address string
	process       *process
	pids          func(pid int) ([]int, error)
}

func only(pid int) ([]int, error) { return []int{pid}, nil }

// children returns the workers of nginx.
func children(pid int) (pids []int, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for field := range bytes.FieldsSeq(b) {
		child, bad := strconv.Atoi(string(field))
		pids, err = append(pids, child), errors.Join(err, bad)
	}
	return pids, err
}

// cpu returns the user and system time of the processes, in steps of 10 ms.
func (c *measuredCache) cpu(t *testing.T) (sum time.Duration) {
	t.Helper()
	pids, err := c.pids(c.process.cmd.Process.Pid)
	if err != nil || len(pids) == 0 {
		t.Fatal(pids, err)
	}
	for _, pid := range pids {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		// The name, in brackets, may have spaces. utime and stime are 11 and 12 fields after the state.
		fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
		for _, field := range fields[11:13] {
			ticks, err := strconv.Atoi(string(field))
			if err != nil {
				t.Fatal(err)
			}
			sum += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return sum
}

// load sends requests for 16 URLs over 16 connections.
func (c *measuredCache) load(t *testing.T, size, requests int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var clients sync.WaitGroup
	failed := make(chan error, 16)
	for i := range 16 {
		clients.Go(func() { failed <- c.client(ctx, fmt.Sprintf("/%d-%d", size, i), size, requests/16) })
	}
	clients.Wait()
	for range 16 {
		if err := <-failed; err != nil {
			t.Fatal(c.name, err)
		}
	}
}

// client sends requests for a URL over one connection, and reads as little of the answers as it can.
func (c *measuredCache) client(ctx context.Context, path string, size, requests int) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", c.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	request := fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: cache.example\r\nUser-Agent: speed\r\nAccept: */*\r\n\r\n", path)
	in := bufio.NewReaderSize(conn, 64<<10)
	for range requests {
		if _, err := conn.Write(request); err != nil {
			return err
		}
		length := -1
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return err
			}
			if len(line) <= 2 {
				break
			}
			if name, value, _ := bytes.Cut(line, []byte(": ")); bytes.EqualFold(name, []byte("Content-Length")) {
				length, _ = strconv.Atoi(string(bytes.TrimSpace(value)))
			}
		}
		if length != size {
			return fmt.Errorf("a body of %d bytes, want %d", length, size)
		}
		if _, err := in.Discard(size); err != nil {
			return err
		}
	}
	return nil
}

// nginxCache returns an nginx with proxy_cache and one worker per processor, as Debian configures it.
func nginxCache(t *testing.T, address, origin string) *process {
	t.Helper()
	d := t.TempDir()
	config := filepath.Join(d, "nginx.conf")
	text := fmt.Sprintf(`daemon off; pid %[1]s/pid; error_log stderr crit; worker_processes auto; user root;
events { worker_connections 1000; }
http {
	access_log off; sendfile on; tcp_nopush on; keepalive_requests 100000000;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	proxy_cache_path %[1]s/cache levels=1:2 keys_zone=c:8m max_size=1000m inactive=600m use_temp_path=off;
	server {
		listen %[2]s;
		location / { proxy_pass %[3]s; proxy_cache c; proxy_http_version 1.1; proxy_set_header Connection ""; }
	}
}
`, d, address, origin)
	if err := os.WriteFile(config, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return &process{t: t, program: "nginx", arguments: []string{"-c", config, "-p", d, "-e", "stderr"}}
}

// stop ends a program that has children.
func (p *process) stop() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(os.Interrupt)
	<-p.ended
	p.cmd = nil
}
