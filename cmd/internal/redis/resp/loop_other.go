//go:build !linux

package resp

import "net"

// loops are no event loops: every connection has a goroutine.
type loops struct{}

func (*loops) take(_ *Server, nc net.Conn) net.Conn { return nc }
func (*loops) add(*Conn) bool                       { return false }
func (*loops) close()                               {}
