// Package dataplane forwards packets between nodes over UDP sockets.
package dataplane
