package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	pq "github.com/parquet-go/parquet-go"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	multicastverbs "github.com/umbel-filters/umbel/cmd/internal/multicast/verbs"
	nixverbs "github.com/umbel-filters/umbel/cmd/internal/nix/verbs"
	"github.com/umbel-filters/umbel/cmd/internal/report/messagetest"
	cacheverbs "github.com/umbel-filters/umbel/cmd/internal/webcache/verbs"
	"github.com/umbel-filters/umbel/filter/bloom"
	"github.com/umbel-filters/umbel/internal/await"
	"github.com/umbel-filters/umbel/internal/freeport"
)

var update = flag.Bool("update", false, "write the output that the scripts compare with")

// roots return the commands of all programs of the module. One test binary runs the scripts of all.
func roots() []*cobra.Command {
	return []*cobra.Command{rootCommand(), cli.Root(cacheverbs.Program()), cli.Root(nixverbs.Program()), cli.Root(multicastverbs.Program())}
}

func TestMain(m *testing.M) {
	programs := map[string]func(){}
	for _, root := range roots() {
		programs[root.Name()] = func() { mainAt(root) }
	}
	testscript.Main(m, programs)
}

// mainAt is main of a program with the time in the variable NOW, in seconds since 1970, if a script sets it.
func mainAt(root *cobra.Command) {
	streams := cli.Standard()
	if now, err := strconv.ParseInt(os.Getenv("NOW"), 10, 64); err == nil {
		streams.Now = func() time.Time { return time.Unix(now, 0) }
	}
	os.Exit(cli.Run(root, os.Args[1:], streams))
}

// scripts returns the files of conversations with the programs.
func scripts(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob("../umbel*/testdata/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d scripts: %v", len(names), err)
	}
	return names
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Files:         scripts(t),
		UpdateScripts: *update,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "keys": writeKeys, "questions": writeQuestions, "parquet": writeParquet, "composed": writeComposed, "flip": flip, "cut": cut, "gzip": compress, "ports": ports, "free": free, "ready": ready, "until": until, "resp": respond, "certificate": certificate, "files": serveFiles, "get": getUntil,
		},
	})
}

// classWords matches the texts of sentinels and of packages, which no text of an error has.
var classWords = regexp.MustCompile(`: (corrupt|mismatch|limit exceeded|invalid goal|unknown kind|unsupported operation|out of range)($|;|:)|(^|: )(cells|wire|delta|plan|entropy|inpacket|multicast|topology|share|siblings|store|wal|parquetfile): `)

// exits runs a command that must end with the exit code given first.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Check(err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	_, message, ok := strings.Cut("\n"+ts.ReadFile("stderr"), "\n"+filepath.Base(args[1])+": ") // after notes and the log of a node
	message = strings.TrimSuffix(message, "\n")
	if fault := messagetest.Fault(message); ok && fault != "" {
		ts.Fatalf("%s: %s", fault, message)
	}
	if ok && classWords.MatchString(message) {
		ts.Fatalf("the message has a word for programs: %s", message)
	}
}

// writeKeys writes a file of n keys, one a line, from the number first on.
func writeKeys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: keys first n file")
	}
	first, err := strconv.Atoi(args[0])
	ts.Check(err)
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "key %d\n", first+i)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), b.Bytes(), 0o666))
}

// writeQuestions writes a file of questions for n keys from the number first on, by
// Zipf's law: for the key of rank r there are n/r.
func writeQuestions(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: questions first n file")
	}
	first, err := strconv.Atoi(args[0])
	ts.Check(err)
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	var b bytes.Buffer
	for i := range n {
		for range n / (i + 1) {
			fmt.Fprintf(&b, "key %d\n", first+i)
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), b.Bytes(), 0o666))
}

// visitor is a row of the Parquet file that the scripts query.
type visitor struct {
	Email string `parquet:"email"`
	ID    int64  `parquet:"id"`
	Note  string `parquet:"note"`
}

// writeParquet writes a Parquet file of two row groups, of 1000 rows each, with
// filters for two of its three columns: parquet FILE. With "damaged" the header of the first filter has another length; with
// "names" the file has two columns of the path "a.b" and one of JSON.
func writeParquet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: parquet file [damaged | names]")
	}
	var b bytes.Buffer
	if len(args) == 2 && args[1] == "names" {
		text := pq.SplitBlockFilter
		w := pq.NewWriter(&b, pq.NewSchema("names", pq.Group{"a.b": pq.String(), "a": pq.Group{"b": pq.String()}, "doc": pq.JSON()}),
			pq.BloomFilters(text(64, "a.b"), text(64, "a", "b"), text(64, "doc")))
		value := func(s string, column int) pq.Value { return pq.ByteArrayValue([]byte(s)).Level(0, 0, column) }
		_, err := w.WriteRows([]pq.Row{{value("inner", 0), value("dotted", 1), value("{}", 2)}})
		ts.Check(err)
		ts.Check(w.Close())
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600))
		return
	}
	w := pq.NewGenericWriter[visitor](&b, pq.BloomFilters(
		pq.SplitBlockFilter(10, "email"), pq.SplitBlockFilter(64, "id"),
	))
	for group := range 2 {
		for i := range 1000 {
			n := 1000*group + i
			_, err := w.Write([]visitor{{Email: fmt.Sprintf("user%d@example.org", n), ID: int64(n), Note: "none"}})
			ts.Check(err)
		}
		ts.Check(w.Flush())
	}
	ts.Check(w.Close())
	if len(args) == 2 {
		header := []byte{0x15, 0x80, 0x14, 0x1c} // 1280 bytes
		i := bytes.Index(b.Bytes(), header)
		if i < 0 {
			ts.Fatalf("no filter of 1280 bytes")
		}
		copy(b.Bytes()[i:], []byte{0x15, 0x80, 0x28, 0x1c}) // 2560
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o600))
}

// writeComposed writes a filter of an unknown kind: a bloom filter, and
// next to it two arrays of counters with another bloom filter below them.
func writeComposed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: composed file")
	}
	part := func(keys ...string) umbel.State {
		f, err := bloom.NewShape(bloom.Shape{M: 40, K: 3})
		ts.Check(err)
		for _, key := range keys {
			f.AddString(key)
		}
		return f.State()
	}
	counters, err := cells.New(20, 8)
	ts.Check(err)
	more := counters.Clone()
	counters.Put(3, 2)
	pair := umbel.State{Kind: "example/pair", Arrays: []cells.Array{counters, more}, Parts: []umbel.State{part("dave")}}
	all := umbel.State{Kind: "example/all", Parts: []umbel.State{part("alice", "bob"), pair}}
	ts.Check(container.Write(ts.MkAbs(args[0]), all))
}

// flip changes one bit in the middle of a file.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	edit(ts, args, func(b []byte) []byte {
		b[len(b)/2] ^= 1
		return b
	})
}

// cut takes the last byte off a file.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	edit(ts, args, func(b []byte) []byte { return b[:len(b)-1] })
}

// compress compresses a file.
func compress(ts *testscript.TestScript, neg bool, args []string) {
	edit(ts, args, func(b []byte) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, err := z.Write(b)
		ts.Check(errors.Join(err, z.Close()))
		return out.Bytes()
	})
}

func edit(ts *testscript.TestScript, args []string, change func([]byte) []byte) {
	if len(args) != 2 {
		ts.Fatalf("usage: flip|cut|gzip file copy")
	}
	b, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), change(b), 0o666))
}

// ports writes a file of n nodes named by their numbers, each with a port of this
// machine that is free.
func ports(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: ports n file")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	var b bytes.Buffer
	for i := range n {
		addr, err := freeport.Addr()
		ts.Check(err)
		fmt.Fprintf(&b, "%d %s\n", i, addr)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o666))
}

// free sets variables to addresses of this machine that are free.
func free(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: free variable...")
	}
	for _, name := range args {
		addr, err := freeport.Addr()
		ts.Check(err)
		ts.Setenv(name, addr)
	}
}

// until repeats a command until it succeeds.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: until command [args...]")
	}
	var err error
	if !await.Within(time.Minute, func() bool { err = ts.Exec(args[0], args[1:]...); return err == nil }) {
		ts.Fatalf("%v: %v", args, err)
	}
}

// serveFiles serves a directory over HTTP until the script ends, and sets a variable to the address.
func serveFiles(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: files variable directory")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	server := &http.Server{Handler: http.FileServer(http.Dir(ts.MkAbs(args[1]))), ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(l)
	ts.Defer(func() { server.Close() })
	ts.Setenv(args[0], l.Addr().String())
}

// getUntil repeats a request until the reply has a status and contains a text.
func getUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: get status url [text]")
	}
	client := http.Client{Timeout: 10 * time.Second, Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	got := ""
	if !await.Within(time.Minute, func() bool {
		reply, err := client.Get(args[1])
		if err != nil {
			got = err.Error()
			return false
		}
		body, err := io.ReadAll(reply.Body)
		reply.Body.Close()
		ts.Check(err)
		got = fmt.Sprintf("%s: %.500s", reply.Status, body)
		return strconv.Itoa(reply.StatusCode) == args[0] && (len(args) == 2 || strings.Contains(string(body), args[2]))
	}) {
		ts.Fatalf("%s: %s, want status %s", args[1], got, args[0])
	}
}

// respond sends a command to a node as a Redis client does, and compares the beginning of the reply.
func respond(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: resp address command reply")
	}
	c, err := net.Dial("tcp", args[0])
	ts.Check(err)
	defer c.Close()
	ts.Check(c.SetDeadline(time.Now().Add(time.Minute)))
	_, err = fmt.Fprintf(c, "%s\r\n", args[1])
	ts.Check(err)
	reply, err := bufio.NewReader(c).ReadString('\n')
	ts.Check(err)
	if !strings.HasPrefix(reply, args[2]) {
		ts.Fatalf("%s: %q, want %q", args[1], reply, args[2])
	}
}

// ready waits until a node at an address takes changes. Files of a certificate and its key are
// for one that wants to see them.
func ready(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 && len(args) != 3 {
		ts.Fatalf("usage: ready url [certificate keyfile]")
	}
	config := &tls.Config{InsecureSkipVerify: true}
	if len(args) == 3 {
		pair, err := tls.LoadX509KeyPair(ts.MkAbs(args[1]), ts.MkAbs(args[2]))
		ts.Check(err)
		config.Certificates = []tls.Certificate{pair}
	}
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: config}}
	defer client.CloseIdleConnections()
	if !await.Within(time.Minute, func() bool {
		answer, err := client.Get(args[0] + "/readyz")
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	}) {
		ts.Fatalf("the node at %s isn't ready", args[0])
	}
}

// certificate writes a certificate for 127.0.0.1, which is its own authority, and its key.
func certificate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: certificate file keyfile")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	of := x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		Subject:     pkix.Name{CommonName: "test"}, // curl refuses issuers without a name
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, &of, &of, key.Public(), key)
	ts.Check(err)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o666))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600))
}
