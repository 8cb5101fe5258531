package node

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/internal/event"
)

// watchdog reports to systemd that the node responds, twice per watchdog interval. systemd restarts a
// node that does not.
func (n *Node) watchdog() {
	usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if err != nil || usec <= 0 {
		return
	}
	interval := time.Duration(usec) * time.Microsecond / 2
	cursor := uint64(0)
	n.every(interval, func() {
		var name string
		cursor = n.engine.List(cursor, 1, func(f *engine.Filter) bool {
			name = f.Name()
			return false
		})
		ctx, cancel := context.WithTimeout(n.working, interval)
		defer cancel()
		if err := probe(ctx, n.resp, name); err != nil {
			n.log.Error("the node does not respond", event.Unresponsive, "error", err)
			return
		}
		notify("WATCHDOG=1")
	})
}

// probe returns an error unless the server replies to a PING and a query of a filter before ctx is
// done, and then the error of ctx. It takes the way of a client's commands, with all their locks.
func probe(ctx context.Context, s *resp.Server, name string) error {
	client, server := net.Pipe()
	defer client.Close()
	go s.ServeConn(server)
	defer context.AfterFunc(ctx, func() { client.Close() })()
	r := bufio.NewReader(client)
	for _, words := range [][][]byte{{[]byte("PING")}, {[]byte("UM.HAS"), []byte(name), []byte("watchdog")}} {
		if _, err := client.Write(resp.Append(nil, words...)); err != nil {
			return fmt.Errorf("%s: %w", words[0], cmp.Or(ctx.Err(), err))
		}
		// Any reply shows that the path works, also an error.
		if _, err := r.ReadString('\n'); err != nil {
			return fmt.Errorf("%s: %w", words[0], cmp.Or(ctx.Err(), err))
		}
	}
	return nil
}

// isProbe reports whether a connection is that of probe. Others have network addresses.
func isProbe(c *resp.Conn) bool { return c.Addr().Network() == "pipe" }

// prober is the user of probe.
var prober = access.Everyone()

// notify sends the state to systemd (sd_notify), if systemd set the socket.
func notify(state string) {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return
	}
	c, err := net.Dial("unixgram", strings.Replace(path, "@", "\x00", 1))
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = c.Write([]byte(state)) // best effort
}
