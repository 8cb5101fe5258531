//go:build unix

package mediumtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/group/sharedlog"
	"github.com/umbel-filters/umbel/internal/pause"
)

// memberURL is the environment variable with the URL of the medium of which a process of a test is a member.
const memberURL = "UMBEL_TEST_MEMBER"

// killSilence is the silence of the group of Kill.
const killSilence = time.Second

// Main is called by TestMain of a test that calls Kill. In a process that Kill has started it does not return.
func Main(open sharedlog.Opener) {
	text := os.Getenv(memberURL)
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	if err == nil {
		var m sharedlog.Medium
		if m, err = open(context.Background(), u); err == nil {
			err = live(m)
		}
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// live follows, claims and leads. It prints "lead" when it leads, and each of its batches when it is committed.
func live(m sharedlog.Medium) error {
	ctx, name := context.Background(), fmt.Sprintf("%d-%x", os.Getpid(), rand.Uint32())
	for {
		l, err := sharedlog.Open(ctx, m, sharedlog.Position{}, sharedlog.Options{Claim: []byte(name), Silence: killSilence})
		if err != nil {
			if errors.Is(err, sharedlog.ErrUnfit) {
				return err
			}
			time.Sleep(100 * time.Millisecond)
			continue
		}
		for {
			err := l.Follow(ctx, func(sharedlog.Entry) error { return nil })
			if !errors.Is(err, sharedlog.ErrSilent) {
				return err
			}
			d, err := l.Claim(ctx)
			if err == nil {
				name = lead(d, name)
				break
			}
		}
	}
}

// lead puts batches until another process leads. It returns a new name, since what the old one put may come later.
func lead(d *sharedlog.Leader, name string) string {
	defer d.Close()
	fmt.Println("lead")
	first := d.Committed().Index + 1
	var proposing sync.WaitGroup
	proposing.Go(func() {
		for i := 0; ; i++ {
			batch := fmt.Appendf(nil, "%s %d", name, i)
			if _, err := d.Propose(context.Background(), append(batch, make([]byte, 1000)...), nil); err != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	for next := uint64(0); d.Err() == nil; {
		last, err := d.Commit(context.Background())
		for ; err == nil && first+next <= last; next++ {
			fmt.Println(name, next)
		}
	}
	proposing.Wait()
	return fmt.Sprintf("%d-%x", os.Getpid(), rand.Uint32())
}

// process is a member in a process of its own.
type process struct {
	url     string
	command *exec.Cmd
	lines   sync.WaitGroup
}

// observed is what processes printed.
type observed struct {
	mu      sync.Mutex
	acked   []string
	leader  *process
	leads   int
	last    time.Time
	longest time.Duration // without an acknowledgement
}

// few reports whether too little has happened to show anything.
func (o *observed) few() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.acked) < 100 || o.leads < 2
}

func (p *process) start(t *testing.T, o *observed) {
	t.Helper()
	p.command = exec.Command(os.Args[0], "-test.run=^$")
	p.command.Env = append(os.Environ(), memberURL+"="+p.url)
	p.command.Stderr = os.Stderr
	out, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	p.lines.Go(func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			o.mu.Lock()
			if s.Text() == "lead" {
				o.leader = p
				o.leads++
			} else if strings.Count(s.Text(), " ") == 1 {
				o.acked = append(o.acked, s.Text())
				if !o.last.IsZero() {
					o.longest = max(o.longest, time.Since(o.last))
				}
				o.last = time.Now()
			}
			o.mu.Unlock()
		}
	})
}

func (p *process) kill() {
	p.command.Process.Kill()
	p.lines.Wait()
	p.command.Wait()
}

// Kill runs three processes on the medium of a URL for some time, and until two of them have led. It kills and stops
// them, mostly the one that leads, and calls more for faults of the medium itself, if it is not nil. Then it checks
// that all batches that a process has printed are in the log once, in the order of their process. The test calls Main
// in TestMain.
func Kill(t *testing.T, open sharedlog.Opener, rawURL string, d time.Duration, more func()) {
	u, err := url.Parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	m, err := open(t.Context(), u)
	if err != nil {
		t.Fatal(err)
	}
	o := new(observed)
	all := make([]*process, 3)
	for i := range all {
		all[i] = &process{url: rawURL}
		all[i].start(t, o)
		t.Cleanup(func() { all[i].kill() })
	}
	kills, stops := 0, 0
	for end := time.Now().Add(d); time.Now().Before(end) || o.few() && time.Since(end) < 3*time.Minute; {
		pause.For(t.Context(), 2*killSilence+rand.N(2*killSilence))
		o.mu.Lock()
		p := o.leader
		o.mu.Unlock()
		if p == nil || rand.IntN(4) == 0 {
			p = all[rand.IntN(len(all))]
		}
		if rand.IntN(3) == 0 {
			stops++
			p.command.Process.Signal(syscall.SIGSTOP)
			pause.For(t.Context(), rand.N(4*killSilence))
			p.command.Process.Signal(syscall.SIGCONT)
		} else {
			kills++
			p.kill()
			p.start(t, o)
		}
		if more != nil && rand.IntN(2) == 0 {
			more()
		}
	}
	for _, p := range all {
		p.kill()
	}
	l, err := sharedlog.Open(t.Context(), m, sharedlog.Position{}, sharedlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	place, last, batches := make(map[string]int), make(map[string]int), 0
	err = l.Follow(t.Context(), func(e sharedlog.Entry) error {
		if e.Kind != sharedlog.Batch {
			return nil
		}
		batches++
		text := string(e.Data[:len(e.Data)-1000])
		name, n := "", 0
		if _, err := fmt.Sscan(text, &name, &n); err != nil || n != last[name] {
			t.Errorf("batch %q comes after batch %d of its process", text, last[name]-1)
		}
		last[name]++
		place[text] = batches
		return nil
	})
	if !errors.Is(err, sharedlog.ErrSilent) {
		t.Fatal(err)
	}
	for _, text := range o.acked {
		if place[text] == 0 {
			t.Errorf("batch %q was acknowledged, and is lost", text)
		}
	}
	t.Logf("%d kills, %d stops, %d leaders: %d batches, %d acknowledged; the longest time without one was %v",
		kills, stops, o.leads, batches, len(o.acked), o.longest)
	if o.few() {
		t.Error("too little has happened to show anything")
	}
}
