package interop

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/research/interop/internal/proc"
)

// TestRedisCLI runs commands with redis-cli.
func TestRedisCLI(t *testing.T) {
	cli := find(t, "redis-cli")
	host, port, _ := net.SplitHostPort(node)
	run := func(input string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), cli, append([]string{"-h", host, "-p", port}, args...)...)
		cmd.Stdin = strings.NewReader(input)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("redis-cli %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for _, c := range []struct {
		args  []string
		input string
		want  string
	}{
		{args: []string{"BF.ADD", "cli", "a"}, want: "1\n"},
		{args: []string{"BF.ADD", "cli", "a"}, want: "0\n"},
		{args: []string{"-3", "BF.EXISTS", "cli", "a"}, want: "(true)\n"},
		{args: []string{"--no-raw", "BF.MADD", "cli", "a", "b"}, want: "1) (integer) 0\n2) (integer) 1\n"},
		{args: []string{"-3", "--no-raw", "BF.INFO", "cli", "ITEMS"}, want: "1# Number of items inserted => (integer) 2\n"},
		{args: []string{"-x", "BF.ADD", "cli"}, input: "from standard input", want: "1\n"},
		{input: "BF.ADD cli c\nBF.CARD cli\nTYPE cli\n", want: "1\n4\nMBbloom--\n"},
		{input: "MULTI\nBF.ADD cli d\nEXEC\n", want: "OK\nQUEUED\n1\n"},
		{args: []string{"--scan", "--pattern", "cl?"}, want: "cli\n"},
		{args: []string{"DEL", "cli"}, want: "1\n"},
	} {
		if got := run(c.input, c.args...); got != c.want {
			t.Errorf("redis-cli %q with %q on standard input printed %q, want %q", c.args, c.input, got, c.want)
		}
	}
	var dump bytes.Buffer
	for range 1000 {
		dump.WriteString("*3\r\n$6\r\nBF.ADD\r\n$4\r\npipe\r\n$1\r\nx\r\n")
	}
	if got := run(dump.String(), "--pipe"); !strings.Contains(got, "errors: 0, replies: 1000") {
		t.Errorf("redis-cli --pipe printed %q", got)
	}
}

// TestRedisBenchmark tests that redis-benchmark finishes without errors.
func TestRedisBenchmark(t *testing.T) {
	benchmark := find(t, "redis-benchmark")
	host, port, _ := net.SplitHostPort(node)
	for _, args := range [][]string{
		{"-t", "ping"},
		{"-P", "16", "BF.ADD", "benchmark", "__rand_int__"},
		{"-P", "16", "-3", "BF.EXISTS", "benchmark", "__rand_int__"},
		{"-n", "100", "BF.MADD", "benchmark", "__rand_int__", "__rand_int__"},
	} {
		args = append([]string{"-h", host, "-p", port, "-n", "5000", "-c", "50", "-r", "1000", "--csv"}, args...)
		out, err := exec.CommandContext(t.Context(), benchmark, args...).Output()
		if err != nil {
			t.Fatalf("redis-benchmark %q: %v\n%s", args, err, out)
		}
		rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
		if err != nil || len(rows) < 2 || rows[0][1] != "rps" {
			t.Fatalf("redis-benchmark %q printed %q: %v", args, out, err)
		}
	}
}

// TestRedisPy runs the Python client of the package redis, with the first Python that has it: apt installs packages for
// the one in /usr/bin, and another may be first on PATH.
func TestRedisPy(t *testing.T) {
	host, port, _ := net.SplitHostPort(node)
	out, err := exec.CommandContext(t.Context(), python(t), "testdata/client.py", host, port).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// python returns the path of a Python with the package redis.
func python(t *testing.T) string {
	t.Helper()
	for _, python := range []string{find(t, "python3"), "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import redis").Run() == nil {
			return python
		}
	}
	t.Skip("python3 has no package redis: apt-get install python3-redis")
	return ""
}

// TestNodeClients runs the JavaScript clients node-redis and ioredis, installed with npm.
func TestNodeClients(t *testing.T) {
	program, dir := find(t, "node"), nodeClients(t)
	host, port, err := net.SplitHostPort(node)
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range []string{"node-redis-2", "node-redis-3", "ioredis"} {
		t.Run(client, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), program, "clients.js", client, host, port)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// nodeClients installs the JavaScript clients and returns the directory with their programs.
func nodeClients(t *testing.T) string {
	t.Helper()
	npm, dir := find(t, "npm"), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/node")); err != nil {
		t.Fatal(err)
	}
	install := exec.Command(npm, "ci", "--no-audit", "--no-fund")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	return dir
}

// TestGoRedisSuite runs the tests of go-redis with the labels bloom and cuckoo, from its
// module. The node also serves CF.*, because a test with the label bloom uses CF.SCANDUMP.
func TestGoRedisSuite(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the tests of go-redis")
	}
	cmd := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/redis/go-redis/v9")
	dir, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	p, err := proc.Node(t.Context(), umbel, t.TempDir(), "--cuckoo-emulation")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	endpoints, err := json.Marshal(map[string]any{"db": map[string]any{"endpoints": []string{"redis://" + p.Addr}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "endpoints.json")
	if err := os.WriteFile(path, endpoints, 0o600); err != nil {
		t.Fatal(err)
	}
	suite := exec.Command("go", "test", ".", "-count=1", "-run", "^TestGinkgoSuite$", "-ginkgo.label-filter=bloom || cuckoo", "-v")
	suite.Dir = strings.TrimSpace(string(dir))
	suite.Env = append(os.Environ(), "GOWORK=off", "RE_CLUSTER=true", "REDIS_VERSION=8.4", "REDIS_ENDPOINTS_CONFIG_PATH="+path)
	out, err := suite.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	ran := regexp.MustCompile(`Ran (\d+) of \d+ Specs`).FindSubmatch(out)
	if ran == nil || string(ran[1]) == "0" {
		t.Fatalf("no spec ran\n%s", out)
	}
	t.Logf("%s specs passed", ran[1])
}
