package node

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// listeners are where clients come; nil where nobody does.
type listeners struct{ resp, http, metrics net.Listener }

// listen takes the addresses of the settings, all or none.
func listen(c Config) (l listeners, err error) {
	for _, one := range []struct {
		setting, address string
		to               *net.Listener
	}{{"resp", c.RESP, &l.resp}, {"http", c.HTTP, &l.http}, {"metrics", c.metricsAddress(), &l.metrics}} {
		if one.address == off {
			continue
		}
		if *one.to, err = net.Listen("tcp", one.address); err != nil {
			l.close()
			if errors.Is(err, syscall.EADDRINUSE) {
				return l, fmt.Errorf("%s is taken by another process: stop it, or choose another address with --%s", one.address, one.setting)
			}
			return l, fmt.Errorf("--%s: %w", one.setting, err)
		}
	}
	return l, nil
}

// close gives the addresses back.
func (l *listeners) close() {
	for _, one := range []*net.Listener{&l.resp, &l.http, &l.metrics} {
		if *one != nil {
			_ = (*one).Close() // closed before is as good
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

// text writes an address for a log.
func text(a net.Addr) string {
	if a == nil {
		return off
	}
	return a.String()
}
