package httpcache

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/umbel-filters/umbel/internal/hop"
)

// NewTransport returns a transport to origins. It leaves bodies as they are, limits their headers to 256 KiB, and has
// no limit of connections. The dialer may be nil.
func NewTransport(dial func(ctx context.Context, network, address string) (net.Conn, error)) *http.Transport {
	if dial == nil {
		dial = (&net.Dialer{Timeout: 10 * time.Second}).DialContext
	}
	return hop.Prepare(&http.Transport{
		DialContext:            dial,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    64,
		MaxIdleConns:           1024,
		IdleConnTimeout:        time.Minute,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  time.Minute,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		ForceAttemptHTTP2:      true,
	})
}
