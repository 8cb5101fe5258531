package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/freeport"
)

// find returns the path of a program, and skips the test if it is not installed.
func find(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed (apt-get install %[1]s)", program)
	}
	return path
}

// nginx starts nginx as a cache.
func nginx(t *testing.T, origin string) string {
	d, port := t.TempDir(), freePort(t)
	config := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log stderr;
events { worker_connections 1000; }
http {
	access_log off;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	proxy_cache_path %[1]s/cache keys_zone=c:8m max_size=1000m inactive=600m;
	server {
		listen 127.0.0.1:%[2]s;
		location / { proxy_pass http://%[3]s; proxy_cache c; proxy_cache_revalidate on; proxy_http_version 1.1; }
	}
}
`, d, port, origin)
	file := filepath.Join(d, "nginx.conf")
	if err := os.WriteFile(file, []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	return start(t, port, "nginx", "-c", file, "-p", d, "-e", "stderr")
}

// squid starts Squid as a cache in memory. Squid changes its user, who can't write into the test's directory, so it has
// no files.
func squid(t *testing.T, origin string) string {
	port := freePort(t)
	_, originPort, err := net.SplitHostPort(origin)
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`http_port 127.0.0.1:%s accel defaultsite=localhost no-vhost
cache_peer 127.0.0.1 parent %s 0 no-query no-digest originserver default
http_access allow all
cache_mem 64 MB
pid_filename none
cache_log /dev/null
access_log none
netdb_filename none
pinger_enable off
shutdown_lifetime 0 seconds
`, port, originPort)
	file := filepath.Join(t.TempDir(), "squid.conf")
	if err := os.WriteFile(file, []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	return start(t, port, "squid", "-N", "-d", "1", "-f", file)
}

// umbel builds umbel-cache and starts it, in memory.
func umbel(t *testing.T, origin string) string {
	program, port := filepath.Join(t.TempDir(), "umbel-cache"), freePort(t)
	build := exec.Command("go", "build", "-o", program, "./umbel-cache")
	build.Dir = filepath.Join("..", "..", "cmd")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return start(t, port, program, "serve", "-q", "--listen", "127.0.0.1:"+port, "--origin", "http://"+origin)
}

// freePort returns a port of the loopback interface for a program.
func freePort(t *testing.T) string {
	t.Helper()
	addr, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// start starts a program that serves on a port and returns its URL. The program ends with the test.
func start(t *testing.T, port, program string, arguments ...string) string {
	t.Helper()
	var output bytes.Buffer
	c := exec.Command(find(t, program), arguments...)
	c.Stdout, c.Stderr = &output, &output
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() {
		c.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			c.Process.Kill()
			<-ended
		}
	})
	await.True(t, program+" listens", func() bool {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s: %v\n%s", program, err, output.Bytes())
		default:
		}
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return "http://127.0.0.1:" + port
}
