package resp

import "crypto/tls"

// TLS returns what was agreed with a client that speaks TLS, nil for one that doesn't.
func (c *Conn) TLS() *tls.ConnectionState { panic("todo") }
