package interop

import (
	"bytes"
	"encoding/csv"
	"net"
	"os/exec"
	"strings"
	"testing"
)

// TestRedisCLI asks as one does at a prompt.
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
			t.Errorf("redis-cli %q with %q on standard input prints %q, want %q", c.args, c.input, got, c.want)
		}
	}
	var dump bytes.Buffer
	for range 1000 {
		dump.WriteString("*3\r\n$6\r\nBF.ADD\r\n$4\r\npipe\r\n$1\r\nx\r\n")
	}
	if got := run(dump.String(), "--pipe"); !strings.Contains(got, "errors: 0, replies: 1000") {
		t.Errorf("redis-cli --pipe prints %q", got)
	}
}

// TestRedisBenchmark sees that the measuring program finishes, and that what it added is there.
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
			t.Fatalf("redis-benchmark %q prints %q: %v", args, out, err)
		}
	}
}

// TestRedisPy runs Python's client, as Debian packages it.
func TestRedisPy(t *testing.T) {
	python := find(t, "python3")
	if err := exec.Command(python, "-c", "import redis").Run(); err != nil {
		t.Skip("python3 has no package redis")
	}
	host, port, _ := net.SplitHostPort(node)
	out, err := exec.CommandContext(t.Context(), python, "testdata/client.py", host, port).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
