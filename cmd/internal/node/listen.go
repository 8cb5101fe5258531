package node

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"

	"github.com/umbel-filters/umbel/cmd/internal/service"
)

// listeners are the open listeners; nil if not served.
type listeners struct{ resp, http, unix, metrics net.Listener }

// listen opens the addresses of the settings, all or none.
func listen(c Config) (l listeners, err error) {
	for _, one := range []struct {
		setting, address string
		to               *net.Listener
	}{{"resp", c.RESP, &l.resp}, {"http", c.HTTP, &l.http}, {"metrics", c.metricsAddress(), &l.metrics}} {
		if one.address == off {
			continue
		}
		if *one.to, err = service.Listen(one.setting, one.address); err != nil {
			l.close()
			return l, err
		}
	}
	if c.Unix != "" {
		if l.unix, err = listenUnix(c.Unix); err != nil {
			l.close()
			return l, fmt.Errorf("--unix: %w", err)
		}
	}
	return l, nil
}

// listenUnix listens on a Unix socket. A socket that nobody listens on is replaced: a process that was killed
// leaves one.
func listenUnix(path string) (net.Listener, error) {
	l, err := net.Listen("unix", path)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return l, err
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != fs.ModeSocket {
		return nil, fmt.Errorf("%s is not a socket; choose another path", path)
	}
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return nil, fmt.Errorf("%s is in use by another process; stop it, or choose another path", path)
	}
	if err := os.Remove(path); err != nil {
		return nil, err
	}
	return net.Listen("unix", path)
}

// close closes all listeners.
func (l *listeners) close() {
	for _, one := range []*net.Listener{&l.resp, &l.http, &l.unix, &l.metrics} {
		if *one != nil {
			_ = (*one).Close() // may be closed already
			*one = nil
		}
	}
}

func address(l net.Listener) net.Addr {
	if l == nil {
		return nil
	}
	return l.Addr()
}

// text formats an address for the log.
func text(a net.Addr) string {
	if a == nil {
		return off
	}
	return a.String()
}

// metricsAt returns where metrics are served: an address, "http" for the listener of HTTP, or "off".
func (n *Node) metricsAt() string {
	if a := n.Metrics(); a != nil || n.HTTP() == nil {
		return text(a)
	}
	return n.config.Metrics
}
