package siblings_test

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
	"github.com/umbel-filters/umbel/siblings"
)

// program is an HTTP cache: one that distributions have, or umbel-cache serve.
type program struct {
	name, command, apt string
	freshness          siblings.Freshness
	// config returns the command line of a cache that listens on port, has its files in directory d and sends misses to
	// upstream, a host and a port. It writes its configuration.
	config func(t *testing.T, d, port, upstream string) []string
}

var programs = []program{
	{"nginx", "nginx", "nginx", siblings.FreshnessAccel, nginx},
	{"varnish", "varnishd", "varnish", siblings.FreshnessAge, varnish},
	{"squid", "squid", "squid", siblings.FreshnessAge, squidCache},
	{"haproxy", "haproxy", "haproxy", siblings.FreshnessMaxAge, haproxy},
	{"apache", "apache2", "apache2", siblings.FreshnessAge, apache},
	{"umbel", "", "", siblings.FreshnessAge, umbelCache},
}

func umbelCache(_ *testing.T, _, port, upstream string) []string {
	return []string{"serve", "-q", "--listen", "127.0.0.1:" + port, "--origin", "http://" + upstream}
}

// path returns the path of the program, and skips the test if it is not installed. The program of this repository,
// which has no command, is built.
func (p program) path(t *testing.T) string {
	t.Helper()
	if p.command == "" {
		file, err := build()
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	path, err := exec.LookPath(p.command)
	if err != nil {
		t.Skipf("%s is not installed: apt-get install %s", p.command, p.apt)
	}
	return path
}

func nginx(t *testing.T, d, port, upstream string) []string {
	return []string{"-p", d, "-e", "stderr", "-c", write(t, d, "nginx.conf", fmt.Sprintf(`daemon off; master_process off; pid %[1]s/pid; error_log stderr;
events { worker_connections 1000; }
http {
	access_log off;
	client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi;
	uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
	proxy_cache_path %[1]s/cache keys_zone=all:10m;
	server {
		listen 127.0.0.1:%[2]s;
		location / { proxy_pass http://%[3]s; proxy_cache all; }
	}
}
`, d, port, upstream))}
}

func varnish(t *testing.T, d, port, upstream string) []string {
	return []string{"-F", "-j", "none", "-n", d, "-a", "127.0.0.1:" + port, "-b", upstream, "-s", "malloc,64m", "-p", "default_grace=0", "-p", "default_keep=0"}
}

func squidCache(t *testing.T, d, port, upstream string) []string {
	host, upstreamPort, _ := net.SplitHostPort(upstream)
	return []string{"-N", "-f", write(t, d, "squid.conf", fmt.Sprintf(`http_port 127.0.0.1:%[2]s accel vhost defaultsite=www.example.org
cache_peer %[3]s parent %[4]s 0 no-query no-digest no-netdb-exchange originserver
http_access allow all
never_direct allow all
cache_mem 64 MB
access_log none
cache_log %[1]s/cache.log
pid_filename none
coredump_dir %[1]s
netdb_filename none
pinger_enable off
visible_hostname squid
shutdown_lifetime 0 seconds
`, d, port, host, upstreamPort))}
}

func haproxy(t *testing.T, d, port, upstream string) []string {
	return []string{"-db", "-f", write(t, d, "haproxy.cfg", fmt.Sprintf(`defaults
	mode http
	timeout connect 5s
	timeout client 30s
	timeout server 30s
cache all
	total-max-size 64
	max-object-size 1000000
	max-age 3600
	process-vary on
frontend clients
	bind 127.0.0.1:%s
	default_backend sidecar
backend sidecar
	http-request cache-use all
	http-response cache-store all
	server sidecar %s
`, port, upstream))}
}

func apache(t *testing.T, d, port, upstream string) []string {
	const modules = "/usr/lib/apache2/modules/"
	if _, err := os.Stat(modules + "mod_cache_disk.so"); err != nil {
		t.Skip("apache2 has no modules in " + modules)
	}
	text := fmt.Sprintf(`ServerRoot %[1]s
ServerName www.example.org
Listen 127.0.0.1:%[2]s
PidFile %[1]s/pid
ErrorLog %[1]s/error.log
Mutex file:%[1]s
User www-data
`, d, port)
	for _, m := range []string{"mpm_event", "authz_core", "proxy", "proxy_http", "cache", "cache_disk"} {
		text += fmt.Sprintf("LoadModule %s_module %smod_%[1]s.so\n", m, modules)
	}
	text += fmt.Sprintf(`ProxyPass / http://%[2]s/
ProxyPreserveHost On
CacheRoot %[1]s
CacheEnable disk /
CacheIgnoreNoLastMod On
`, d, upstream)
	return []string{"-D", "FOREGROUND", "-f", write(t, d, "apache.conf", text)}
}

func write(t *testing.T, d, name, text string) string {
	t.Helper()
	file := filepath.Join(d, name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// start starts the cache. It ends with the test.
func (p program) start(t *testing.T, port, upstream string) {
	t.Helper()
	path := p.path(t)
	d, err := os.MkdirTemp("", "siblings-") // not below TempDir, which other users can't enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(d) })
	if err := os.Chmod(d, 0o777); err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	c := exec.Command(path, p.config(t, d, port, upstream)...)
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
	await.True(t, p.name+" listens", func() bool {
		select {
		case err := <-ended:
			ended <- err
			log, _ := os.ReadFile(filepath.Join(d, "cache.log"))
			t.Fatalf("%s: %v\n%s%s", p.name, err, output.Bytes(), log)
		default:
		}
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
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
