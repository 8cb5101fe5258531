package web_test

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/freeport"
	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/sharetest"
	"github.com/umbel-filters/umbel/share/web"
)

// freePort returns a port of the loopback interface for a program.
func freePort(t testing.TB) string {
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
func start(t testing.TB, port, program string, arguments ...string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed", program)
	}
	var output bytes.Buffer
	c := exec.Command(path, arguments...)
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

// nginx starts nginx with the contents of its server block, and directives of the block above.
func nginx(t testing.TB, server string, http ...string) string {
	t.Helper()
	d, port := t.TempDir(), freePort(t)
	config := filepath.Join(d, "nginx.conf")
	text := fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log stderr;
events { worker_connections 1000; }
http {
	access_log off; sendfile on;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	gzip on; gzip_types *; gzip_min_length 1; gzip_proxied any;
	%[4]s
	server { listen 127.0.0.1:%[2]s; %[3]s }
}
`, d, port, server, strings.Join(http, "\n\t"))
	if err := os.WriteFile(config, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return start(t, port, "nginx", "-c", config, "-p", d, "-e", "stderr")
}

// varnish starts Varnish in front of an origin.
func varnish(t testing.TB, origin string) string {
	t.Helper()
	port := freePort(t)
	return start(t, port, "varnishd", "-F", "-j", "none", "-n", t.TempDir(), "-a", "127.0.0.1:"+port, "-b", origin[len("http://"):], "-s", "malloc,64m")
}

// plainServers are web servers of a directory that know nothing of publications.
var plainServers = map[string]func(t testing.TB, path string) string{
	"nginx": func(t testing.TB, path string) string { return nginx(t, "root "+path+";") },
	"python": func(t testing.TB, path string) string {
		port := freePort(t)
		return start(t, port, "python3", "-m", "http.server", "--bind", "127.0.0.1", "--directory", path, port)
	},
}

func TestPlainServers(t *testing.T) {
	for name, start := range plainServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			publication(t, func(t *testing.T) (share.Store, share.Source) {
				path := t.TempDir()
				return directory(t, path), client(t, start(t, path))
			})
		})
	}
}

// proxies forward requests to an origin.
var proxies = map[string]func(t testing.TB, origin string) string{
	"nginx": func(t testing.TB, origin string) string { return nginx(t, "location / { proxy_pass "+origin+"; }") },
	"nginx-cache": func(t testing.TB, origin string) string {
		return nginx(t, "location / { proxy_pass "+origin+"; proxy_cache all; proxy_cache_lock on; }", "proxy_cache_path "+t.TempDir()+" keys_zone=all:1m;")
	},
	"varnish": varnish,
}

func TestProxies(t *testing.T) {
	for name, proxy := range proxies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func(t *testing.T) (share.Store, share.Source) {
				s := new(share.Memory)
				return s, client(t, proxy(t, serve(t, web.NewHandler(s, web.HandlerOptions{}))))
			}
			if testing.Short() {
				sharetest.Publication(t, open)
				return
			}
			publication(t, open)
		})
	}
}

// A request that waits returns through a proxy when the head changes, and not before.
func TestWaitThroughProxies(t *testing.T) {
	for name, proxy := range proxies {
		t.Run(name, func(t *testing.T) {
			s := new(share.Memory)
			putHead(t, s, "one")
			base := proxy(t, serve(t, web.NewHandler(s, web.HandlerOptions{})))
			tag := share.RefOf([]byte("one")).Hash.String()
			begin := time.Now()
			time.AfterFunc(300*time.Millisecond, func() { putHead(t, s, "two") })
			status, b, _ := waitFor(t, base, tag, "25s")
			if took := time.Since(begin); status != http.StatusOK || string(b) != "two" || took < 300*time.Millisecond || took > 20*time.Second {
				t.Errorf("%d %q after %v", status, b, took)
			}
		})
	}
}
