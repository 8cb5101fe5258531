package squid

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/freeport"
)

// cache is a Squid that runs.
type cache struct {
	addr   string // its proxy, HOST:PORT
	dir    string // readable and writable for Squid's user
	client *http.Client
}

// settings are those of every Squid of these tests. Squid's periods are as short as it permits. Debian's Squid measures
// the time to the origin and goes there directly if it is below 400 ms, unless minimum_direct_rtt is 0.
const settings = `visible_hostname %[1]s
http_port %[2]s
icp_port 0
pid_filename %[3]s/squid.pid
coredump_dir %[3]s
cache_mem 32 MB
cache_dir ufs %[3]s/cache 100 16 256
access_log stdio:%[3]s/access.log squid
cache_log %[3]s/cache.log
cache_store_log stdio:%[3]s/store.log
http_access allow localhost
http_access deny all
shutdown_lifetime 1 seconds
pinger_enable off
minimum_direct_rtt 0
minimum_direct_hops 0
digest_generation on
digest_bits_per_entry 5
digest_rebuild_period 10 seconds
digest_rewrite_period 10 seconds
digest_rebuild_chunk_percentage 100
%[4]s
`

// start starts a Squid with further settings. It ends with the test.
func start(t *testing.T, name string, more ...string) *cache {
	t.Helper()
	return startAt(t, name, freeAddr(t), more...)
}

// freeAddr returns a free address of the loopback interface.
func freeAddr(t *testing.T) string {
	t.Helper()
	addr, err := freeport.Addr()
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// startAt is start with an address.
func startAt(t *testing.T, name, addr string, more ...string) *cache {
	t.Helper()
	program, err := exec.LookPath("squid")
	if err != nil {
		t.Skip("squid is not on PATH: apt-get install squid")
	}
	c := &cache{addr: addr, dir: sharedDir(t, name)}
	if os.Getuid() == 0 {
		more = append(more, "cache_effective_user proxy")
	}
	config := filepath.Join(c.dir, "squid.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, settings, name, addr, c.dir, strings.Join(more, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), program, "-N", "-f", config, "-z").CombinedOutput(); err != nil {
		t.Fatalf("squid -z: %v\n%s", err, out)
	}
	run(t, program, "-N", "-f", config)
	proxy := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: addr}), MaxIdleConnsPerHost: 16}
	c.client = &http.Client{Transport: proxy, Timeout: time.Minute}
	t.Cleanup(proxy.CloseIdleConnections)
	await.True(t, name+" listens", func() bool {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return c
}

// version returns how the Squid on PATH names itself, as in "Squid Cache: Version 5.7".
func version(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "squid", "-v").Output()
	if err != nil {
		t.Fatalf("squid -v: %v", err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

// sharedDir returns a temporary directory that Squid's user can use. That of t.TempDir is for the user of the test only.
func sharedDir(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "umbel-"+name+"-")
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// run runs a program until the test ends. Its output is printed if the test fails.
func run(t *testing.T, program string, args ...string) {
	t.Helper()
	var output bytes.Buffer
	c := exec.Command(program, args...)
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
		case <-time.After(15 * time.Second):
			c.Process.Kill()
			<-ended
		}
		if t.Failed() {
			t.Logf("%s printed:\n%s", program, output.String())
		}
	})
}

// log returns the lines of the access log that match.
func (c *cache) log(t *testing.T, pattern string) []string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(c.dir, "access.log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return regexp.MustCompile("(?m)^.*"+pattern+".*$").FindAllString(string(b), -1)
}
