package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/durable/store"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/group/member"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/internal/event"
)

// groupFlags are the settings of the members of a group.
func (c *Config) groupFlags(fs *pflag.FlagSet) {
	fs.StringVar(&c.Log, "log", "", "`URL` of the log of a group of nodes, which all its members give; see docs/scale.md")
	quantity.DurationVar(fs, &c.MaxAge, "max-age", 0, "`DURATION` for which a member of a group answers queries after it has seen the end of the log; 0: any time")
}

// validateGroup is Validate for the settings of groupFlags.
func (c Config) validateGroup() error {
	switch {
	case c.MaxAge < 0:
		return fmt.Errorf("max-age can't be negative")
	case c.Log == "" && c.MaxAge != 0:
		return fmt.Errorf("max-age is for members of a group; set log to the URL of its log")
	case c.Log != "" && c.Durability == "none":
		return fmt.Errorf("durability none keeps no log, and a group needs one; want always or everysec")
	}
	return nil
}

// address returns where clients reach a member.
func (n *Node) address() (a member.Address) {
	host, _, _ := net.SplitHostPort(n.config.Advertise) // "" without
	at := func(l net.Listener) string {
		if l == nil {
			return ""
		}
		own, port, _ := net.SplitHostPort(l.Addr().String())
		if ip := net.ParseIP(own); host == "" && ip != nil && !ip.IsUnspecified() {
			return net.JoinHostPort(own, port)
		}
		name, _ := os.Hostname()
		return net.JoinHostPort(cmp.Or(host, name), port)
	}
	a.RESP = cmp.Or(n.config.Advertise, at(n.listeners.resp))
	if n.place != nil {
		a.RESP = n.place.View().Self // the text in the map
	}
	if a.HTTP = at(n.listeners.http); a.HTTP != "" && n.tls != nil {
		a.HTTP = "https://" + a.HTTP
	} else if a.HTTP != "" {
		a.HTTP = "http://" + a.HTTP
	}
	return a
}

// join makes the node a member of its group.
func (n *Node) join(ctx context.Context, on onDisk) error {
	c := n.config
	medium, err := c.Logs.Open(ctx, c.Log)
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	if _, err := secretSeed(seedFile(c.Data)); err != nil { // that of a new group
		return fmt.Errorf("hash-seed: %w", err)
	}
	n.member, err = member.Join(ctx, member.Options{
		Medium: medium, Data: c.Data, Own: on.log, Files: on.snapshots, Settings: seedOf(c.Data), Address: n.address(), MaxAge: c.MaxAge,
		Growth: uint64(c.SnapshotBytes), Led: n.led, Leader: n.placeLeader, Log: n.log.With("part", "group"),
	})
	if err != nil {
		return fmt.Errorf("log %s: %w", c.Log, err)
	}
	n.engine.SetFresh(n.member.Fresh)
	if seed := n.member.Settings(); seed != nil {
		return writeSeed(seedFile(c.Data), seed)
	}
	return nil
}

// runMember runs the member until the node stops, or has to start again.
func (n *Node) runMember(s *store.Store) {
	n.tasks.Go(func() { n.member.Keep(n.working) })
	n.tasks.Go(func() {
		if err := n.member.Run(n.working, s); err != nil {
			n.again <- err
		}
	})
}

// led begins what only a leader does: it publishes.
func (n *Node) led() {
	if err := n.publications.Apply(n.limits.Load().Publications); err != nil {
		n.log.Error("this node leads and publishes nothing", event.GroupProblem, "error", err)
	}
}

// Again yields why the node has to start again: it led its group and leads no longer, or it is too far behind.
func (n *Node) Again() <-chan error { return n.again }

// abandon makes Shutdown give up what no log has, because the node starts again for a reason of Again. A leader that leaves gives up nothing.
func (n *Node) abandon(why error) { n.abandoned.Store(!errors.Is(why, errLeaves)) }

// isDamage reports whether an error means that data of this node are lost, and that the group has them.
func (n *Node) isDamage(err error) bool {
	return n.member != nil && n.member.Settings() != nil && (errors.Is(err, store.ErrLost) || errors.Is(err, umbel.ErrCorrupt))
}

// takeOver makes this member lead its group.
func (n *Node) takeOver() error { return n.member.TakeOver() }

// leave makes a leader follow.
func (n *Node) leave() error {
	if !n.member.Leads() {
		return errors.New("this node does not lead its group")
	}
	select {
	case n.again <- errLeaves:
	default: // it starts again already
	}
	return nil
}

// errLeaves is why a node starts again that its operator made leave.
var errLeaves = fmt.Errorf("%w: an administrator made it leave", member.ErrAgain)

// leaveTime is the time before a node that left starts again, so that another member leads.
const leaveTime = 2 * time.Second

// groupStatus returns the state of a member, nil without a group.
func (n *Node) groupStatus() *api.Group {
	if n.member == nil {
		return nil
	}
	s := n.member.Status()
	g := &api.Group{
		Role: s.Role, Leader: s.Leader.RESP, LeaderHTTP: s.Leader.HTTP, Epoch: s.At.Epoch, Entry: s.At.Number, Batch: s.At.Index,
		Position: uint64(n.engine.Position()), AgeSeconds: s.Age.Seconds(), SilenceSeconds: s.Silence.Seconds(), Problem: s.Problem,
	}
	if s.Snapshot != nil {
		at := s.Snapshot.Taken.UTC().Truncate(time.Millisecond)
		g.LastSnapshot = &at
		if s.Snapshot.Err != nil {
			g.SnapshotFailed = s.Snapshot.Err.Error()
		}
	}
	return g
}

// reachWait is how long a request waits for a position at most.
const reachWait = 5 * time.Second

// reach waits until this member has the changes up to a position.
func (n *Node) reach(ctx context.Context, pos engine.Position) error {
	ctx, stop := context.WithTimeout(ctx, reachWait)
	defer stop()
	for tick := time.NewTicker(5 * time.Millisecond); ; {
		if n.engine.Position() >= pos {
			tick.Stop()
			return nil
		}
		select {
		case <-ctx.Done():
			tick.Stop()
			return fmt.Errorf("this node has changes up to position %d, and the request wants %d", n.engine.Position(), pos)
		case <-tick.C:
		}
	}
}

// positioned returns a handler that waits for the position in the header api.HeaderPosition, and adds the position of the last change, and
// the age of the answer, to responses. Without a group it returns h.
func (n *Node) positioned(h http.Handler) http.Handler {
	if n.member == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if text := r.Header.Get(api.HeaderPosition); text != "" {
			pos, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				http.Error(w, fmt.Sprintf("%s: %q, want a number", api.HeaderPosition, text), http.StatusBadRequest)
				return
			}
			if err := n.reach(r.Context(), engine.Position(pos)); err != nil {
				w.Header().Set("Retry-After", "1")
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
		}
		h.ServeHTTP(&positionWriter{ResponseWriter: w, node: n}, r)
	})
}

// positionWriter adds headers to a response.
type positionWriter struct {
	http.ResponseWriter
	node *Node
	done bool
}

func (p *positionWriter) WriteHeader(code int) {
	if !p.done {
		p.done = true
		p.Header().Set(api.HeaderPosition, strconv.FormatUint(uint64(p.node.engine.Position()), 10))
		if age, known := p.node.member.Age(); known {
			p.Header().Set(api.HeaderAge, strconv.FormatFloat(age.Seconds(), 'f', 3, 64))
		}
	}
	p.ResponseWriter.WriteHeader(code)
}

func (p *positionWriter) Write(b []byte) (int, error) {
	if !p.done {
		p.WriteHeader(http.StatusOK)
	}
	return p.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController find the underlying writer.
func (p *positionWriter) Unwrap() http.ResponseWriter { return p.ResponseWriter }
