package web_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/share"
	"github.com/umbel-filters/umbel/share/sharetest"
	"github.com/umbel-filters/umbel/share/web"
	"golang.org/x/mod/sumdb/note"
)

// serverVariable makes the test binary the server of BenchmarkSubscribers, in a process of its own.
const serverVariable = "UMBEL_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverVariable) != "" {
		serveLoad()
		return
	}
	os.Exit(m.Run())
}

// serveLoad serves a publication on a free port and prints its URL. POST /publish publishes a version
// with 100 new keys, and GET /memory returns the memory of the process. It ends with its standard
// input.
func serveLoad() {
	t := new(testing.T)
	s := new(share.Memory)
	signer, err := note.NewSigner(os.Getenv(serverVariable))
	if err != nil {
		panic(err)
	}
	verifier, err := note.NewVerifier(os.Getenv(serverVariable + "_PUBLIC"))
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	p, err := share.NewPublisher(ctx, share.PublisherOptions{Store: s, Key: share.Key{Signer: signer, Verifier: verifier}})
	if err != nil {
		panic(err)
	}
	f := sharetest.Set(t, 5_000_000, 0, 100_000)
	next := uint64(1e9)
	mux := http.NewServeMux()
	mux.Handle("/", web.NewHandler(s, web.HandlerOptions{}))
	mux.HandleFunc("POST /publish", func(http.ResponseWriter, *http.Request) {
		for range 100 {
			f.Add(f.Hasher().HashUint64(next))
			next++
		}
		if _, err := p.Publish(ctx, f.State()); err != nil {
			panic(err)
		}
	})
	mux.HandleFunc("GET /memory", func(w http.ResponseWriter, _ *http.Request) {
		debug.FreeOSMemory()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		fmt.Fprint(w, m.Sys-m.HeapReleased)
	})
	server := httptest.NewServer(mux)
	fmt.Println(server.URL)
	io.Copy(io.Discard, os.Stdin)
}

// loadServer starts the server and returns its URL and the key of the publication.
func loadServer(b *testing.B) (string, note.Verifier) {
	private, public, err := note.GenerateKey(rand.Reader, "example.org/set")
	if err != nil {
		b.Fatal(err)
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		b.Fatal(err)
	}
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), serverVariable+"="+private, serverVariable+"_PUBLIC="+public)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		c.Wait()
	})
	var url string
	if _, err := fmt.Fscan(out, &url); err != nil {
		b.Fatal(err)
	}
	return url, verifier
}

func publishLoad(b *testing.B, base string) {
	b.Helper()
	if r, _ := reply(b, "POST", base+"/publish"); r.StatusCode != http.StatusOK {
		b.Fatal(r.Status)
	}
}

func memoryOf(b *testing.B, base string) int {
	b.Helper()
	_, text := reply(b, "GET", base+"/memory")
	n, err := strconv.Atoi(string(text))
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkSubscribers measures how many subscribers a handler serves per second with a head and a
// delta each, and its memory per subscriber that waits. The server is a process of its own. The
// subscribers verify the signature of each head and the hash of each delta, and keep no filter. Both
// processes share the machine.
func BenchmarkSubscribers(b *testing.B) {
	const subscribers = 2000
	base, verifier := loadServer(b)
	publishLoad(b, base)
	before := memoryOf(b, base)
	c, err := web.NewClient(base, web.ClientOptions{HTTP: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: subscribers}}})
	if err != nil {
		b.Fatal(err)
	}
	first, err := c.Record(b.Context(), share.HeadName)
	if err != nil {
		b.Fatal(err)
	}
	var done sync.WaitGroup
	arrived := make(chan error, subscribers)
	stop := make(chan struct{})
	for range subscribers {
		done.Go(func() {
			last := first
			for {
				head, err := c.WatchRecord(b.Context(), share.HeadName, last)
				if err == nil && !bytes.Equal(head, last) {
					last = head
					err = readDelta(b, c, head, verifier)
					arrived <- err
				}
				select {
				case <-stop:
					return
				default:
				}
				if err != nil {
					return
				}
			}
		})
	}
	round := func() {
		publishLoad(b, base)
		for range subscribers {
			if err := <-arrived; err != nil {
				b.Fatal(err)
			}
		}
	}
	round()
	time.Sleep(time.Second) // All wait again.
	idle := memoryOf(b, base) - before
	rounds := 0
	for b.Loop() {
		round()
		rounds++
	}
	b.ReportMetric(float64(rounds*subscribers)/b.Elapsed().Seconds(), "subscribers/s")
	b.ReportMetric(float64(idle)/subscribers, "bytes/idle")
	b.ReportMetric(0, "ns/op")
	close(stop)
	publishLoad(b, base) // Each sends at most one more result.
	done.Wait()
}

// readDelta reads and verifies the delta that a head names.
func readDelta(b *testing.B, source share.Source, signed []byte, key note.Verifier) error {
	h, err := share.OpenHead(signed, key.Name(), note.VerifierList(key))
	if err != nil {
		return err
	}
	body, err := source.Object(b.Context(), h.Deltas[0].Hash.String(), 0)
	if err != nil {
		return err
	}
	defer body.Close()
	data, err := io.ReadAll(body)
	if err == nil && share.RefOf(data) != h.Deltas[0] {
		err = share.ErrCorrupt
	}
	return err
}
