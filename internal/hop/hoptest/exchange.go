// Package hoptest tests proxies: what passes through one arrives as it was sent, except for a written list (exceptions.go).
//
// Law.Run sends random requests, over raw connections or HTTP/2, through a proxy to an origin that records what arrives, byte for byte, and
// sends a random answer. Some are malformed: those must be mended by rule or refused, and a fault of the client must not
// count as one of the origin.
package hoptest

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
)

// field is one line of a head or a trailer section.
type field struct{ name, value string }

// framing is how the end of a body is found.
type framing int

const (
	none    framing = iota // no body
	length                 // Content-Length
	chunked                // Transfer-Encoding
	closed                 // the end of the connection, for answers
)

// message is what a request and an answer have in common.
type message struct {
	fields    []field
	body      []byte
	framing   framing
	trailers  []field
	announced bool // the trailers, by the field Trailer
	fault     *fault
}

// exchange is a request and its answer, as they are sent.
type exchange struct {
	number  int
	method  string
	target  string // of the first line
	version string
	early   bool // the origin answers before it reads the body
	request message

	status  int
	reason  string
	interim []field // of an answer 103 before the final one; nil for none
	answer  message
}

// generator makes the exchanges of a law.
type generator struct {
	*rand.Rand
	http2 bool
}

// newExchange returns the exchange with a number. It depends on the number and the law only.
func newExchange(l *Law, number int) *exchange {
	http2 := l.HTTP2
	g := generator{rand.New(rand.NewPCG(l.Seed, uint64(number))), http2}
	e := &exchange{number: number, version: "HTTP/1.1"}
	e.method = g.pick("GET", "GET", "GET", "HEAD", "POST", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "m-search!")
	e.target = g.target(number)
	if l.Forward {
		e.target = l.Origin.URL.String() + strings.TrimPrefix(e.target, "http://client.example")
	}
	e.request = g.message(g.requestField)
	e.request.list(g, "x-hop", "X-Hop, keep-alive", "close, x-hop", "x-hop, Cache-Control, Set-Cookie")
	if g.chance(3) {
		e.request.body, e.request.framing = g.bytes(), framing(1+g.IntN(2))
	}
	if l.Files != "" {
		e.method, e.target = g.pick("GET", "GET", "HEAD"), g.file(l.Files, number)
		e.request.body, e.request.framing = nil, none
	}
	g.trail(&e.request)
	if !http2 && g.chance(15) {
		e.version = "HTTP/1.0" // in which a body has a length
		if strings.HasPrefix(e.method, "P") || e.request.framing == chunked {
			e.request.framing, e.request.trailers = length, nil
		}
	}
	e.early = e.request.framing != none && g.chance(8)

	e.status = 200 + g.IntN(400)
	if g.chance(2) {
		e.status = []int{200, 200, 200, 204, 206, 301, 304, 401, 404, 500, 600, 999}[g.IntN(12)]
	}
	if l.Files != "" {
		e.status = []int{200, 206, 416}[g.IntN(3)]
	}
	e.reason = g.pick("OK", "", "Reason with spaces", "Gr\xfc\xdfe")
	e.answer = g.message(g.answerField)
	e.answer.list(g, "x-hop", "X-Hop, keep-alive", "close, x-hop", "x-hop, Cache-Control, Set-Cookie")
	switch {
	case e.method == "HEAD" || e.status == 204 || e.status == 304:
		e.answer.framing = none
	default:
		e.answer.body, e.answer.framing = g.bytes(), framing(1+g.IntN(3))
	}
	g.trail(&e.answer)
	if e.version == "HTTP/1.1" && l.Files == "" && g.chance(8) {
		e.interim = []field{{"Link", "</a.css>; rel=preload"}, {"X-Early", g.value()}}
	}
	switch {
	case !http2 && g.chance(12):
		e.malform(&e.request, &requestFaults[g.IntN(len(requestFaults))])
	case l.Healthy == nil && g.chance(12):
		e.malform(&e.answer, &answerFaults[g.IntN(len(answerFaults))])
	}
	return e
}

// malform makes one message of the exchange malformed.
func (e *exchange) malform(m *message, f *fault) {
	e.early, e.version = false, "HTTP/1.1"
	m.fault, m.framing, m.trailers, m.announced = f, f.framing, nil, false
	switch {
	case m == &e.answer: // with a body, in which the fault may be
		e.method, e.status, e.interim = "PATCH", 200, nil
	case strings.HasPrefix(f.target, "*"):
		e.method = "PATCH"
	case strings.HasSuffix(f.target, "HTTP/1.0"):
		e.method = "POST"
	}
	if m.framing == none {
		m.body = nil
	}
}

// chance is true once in n times.
func (g generator) chance(n int) bool { return g.IntN(n) == 0 }

func (g generator) pick(words ...string) string { return words[g.IntN(len(words))] }

// target returns a target in which the number of the exchange is the first segment.
func (g generator) target(number int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "/%d/", number)
	for range g.IntN(10) {
		b.WriteString(g.pick("a", "B", "/", "//", "%2F", "%2f", "%41", "|", "\"", "<", "^", "`", "{", "\\", "[", ";", ":",
			"@", "&", "=", "+", ".", "..", "/../", "*", "\xc3\xbc", "\xff", "~"))
	}
	if g.chance(2) {
		b.WriteByte('?')
		for range g.IntN(8) {
			b.WriteString(g.pick("a=1", "b", ";", "&", "%", "%zz", "%2", "=", "?", "/", "+", "|", "\"", "<", "\xe4", "%00", "[", "]"))
		}
	}
	if !g.http2 && g.chance(10) {
		return "http://client.example" + b.String()
	}
	return b.String()
}

// file returns a target below a path, without what may be another file for some servers.
func (g generator) file(below string, number int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%d/x", below, number)
	for range g.IntN(10) {
		b.WriteString(g.pick("a", "B", "/c", "%41", "%25", "%253F", "%3F", "|", "{", "}", "<", "^", "`", ";", ":", "@", "&",
			"=", "+", "~", "[", "*", "%c3%bc", "\xc3\xbc", "."))
	}
	if g.chance(2) {
		b.WriteString("?" + g.pick("", "a=1", "a;b", "%zz", "?", "%"))
	}
	return b.String()
}

// value returns a field value: visible characters, obs-text, and spaces and tabs inside (RFC 9110, section 5.5).
func (g generator) value() string {
	b := make([]byte, g.IntN(20))
	for i := range b {
		switch g.IntN(8) {
		case 0:
			b[i] = byte(0x80 + g.IntN(0x80))
		case 1:
			b[i] = " \t,;=\""[g.IntN(6)]
		default:
			b[i] = byte(0x21 + g.IntN(0x5e))
		}
	}
	return strings.Trim(string(b), " \t")
}

// bytes returns a body.
func (g generator) bytes() []byte {
	n := g.IntN(3000)
	if g.chance(20) {
		n = g.IntN(200_000)
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = "<html>0123456789abcdef\r\n\x00\xff"[g.IntN(26)]
	}
	return b
}

// message returns the fields of a message.
func (g generator) message(next func() field) (m message) {
	for range g.IntN(8) {
		f := next()
		m.fields = append(m.fields, f)
		if g.chance(4) {
			again := "again" + g.value()
			if f.name == "Cookie" { // HTTP/2 divides them at semicolons
				again = "d=4"
			}
			m.fields = append(m.fields, field{f.name, again})
		}
	}
	return m
}

// list adds a field Connection with one of these values to some messages of HTTP/1, and fields that it lists.
func (m *message) list(g generator, values ...string) {
	if !g.http2 && g.chance(4) {
		m.fields = append(m.fields, field{"Connection", g.pick(values...)}, field{"X-Hop", "1"}, field{"Keep-Alive", "timeout=5"})
	}
}

// requestField returns a field of a request. Conditions and ranges are not among them, because caches answer them.
func (g generator) requestField() field {
	switch g.IntN(12) {
	case 0:
		return field{"Cookie", g.pick("a=1", "a=1; b=2", "c")}
	case 1:
		return field{"Authorization", g.pick("Basic eA==", "NTLM TlRM", "Negotiate YII=", "Bearer x", "")}
	case 2:
		return field{"Cache-Control", g.pick("no-store", "no-cache", "max-age=0", "max-stale", "x=\"y,z\"")}
	case 3:
		return field{"User-Agent", g.pick("test/1 (x)", "\xfc")}
	case 4:
		return field{"Accept", g.pick("*/*", "text/html;q=0.5, */*;q=0.1", "")}
	case 5:
		return field{"Accept-Encoding", g.pick("gzip", "identity", "br;q=1.0, gzip", "")}
	case 6:
		return field{g.pick("X-Forwarded-For", "X-Forwarded-Proto", "Forwarded", "X-Real-IP"), g.value()}
	case 7:
		return field{"Via", g.pick("1.1 other", "1.0 a, 1.1 b")}
	case 8:
		return field{"Content-Type", g.pick("text/plain", "", "x")}
	case 9:
		return field{"Referer", g.value()}
	}
	return field{g.pick("X-Random", "x-lower", "X_Under", "X!#$%&'*+.^`|~", "Date", "From", "Origin", "Priority"), g.value()}
}

// answerField returns a field of an answer.
func (g generator) answerField() field {
	switch g.IntN(12) {
	case 0:
		return field{"Set-Cookie", g.pick("a=1; Path=/", "b=2", "")}
	case 1:
		return field{"Cache-Control", g.pick("private", "no-store", "max-age=60", "public, max-age=1", "no-transform", "")}
	case 2:
		return field{"Vary", g.pick("*", "Accept", "Accept-Encoding, X-Random", "User-Agent")}
	case 3:
		return field{"Content-Type", g.pick("text/html", "", "x/y; z=\xfc")}
	case 4:
		return field{"ETag", g.pick(`"a"`, `W/"b"`, "bad")}
	case 5:
		return field{"Date", g.pick("Fri, 01 Jan 2021 00:00:00 GMT", "nonsense")}
	case 6:
		return field{"WWW-Authenticate", g.pick("Basic realm=\"x\"", "NTLM", "Negotiate YII=")}
	case 7:
		return field{"Location", g.value()}
	case 8:
		return field{"Via", g.pick("1.1 other", "1.0 a, 1.1 b")}
	case 9:
		return field{"Content-Encoding", g.pick("gzip", "x")}
	}
	return field{g.pick("X-Random", "x-lower", "X_Under", "Server", "Alt-Svc", "Last-Modified", "Expires", "X-Powered-By"), g.value()}
}

// trail adds trailers to some chunked messages. HTTP/2 clients of net/http have announced ones only.
func (g generator) trail(m *message) {
	if m.framing != chunked || !g.chance(2) {
		return
	}
	m.announced = g.http2 || g.chance(2)
	for _, name := range []string{"X-Checksum", "Server-Timing", "X-End"} {
		if g.chance(2) {
			m.trailers = append(m.trailers, field{name, g.value()})
		}
	}
}

// head writes the fields of a message and how its body is framed.
func (m *message) head(b *strings.Builder) {
	for _, f := range m.fields {
		fmt.Fprintf(b, "%s: %s\r\n", f.name, f.value)
	}
	if m.fault != nil {
		b.WriteString(m.fault.fields)
		if m.fault.ends {
			b.WriteString("Connection: close\r\n")
		}
	}
	if m.announced && len(m.trailers) > 0 {
		names := make([]string, len(m.trailers))
		for i, f := range m.trailers {
			names[i] = f.name
		}
		fmt.Fprintf(b, "Trailer: %s\r\n", strings.Join(names, ", "))
	}
	switch m.framing {
	case length:
		fmt.Fprintf(b, "Content-Length: %d\r\n", len(m.body))
	case chunked:
		b.WriteString("Transfer-Encoding: chunked\r\n")
	case closed:
		b.WriteString("Connection: close\r\n")
	}
	b.WriteString("\r\n")
}

// content writes the body of a message.
func (m *message) content(b *strings.Builder) {
	if m.fault != nil && m.fault.body != "" {
		b.WriteString(m.fault.body)
		return
	}
	if m.framing != chunked {
		b.Write(m.body)
		return
	}
	for rest, n := m.body, 1; len(rest) > 0; n = n*3 + 1 {
		part := rest[:min(n, len(rest))]
		fmt.Fprintf(b, "%x;ext=1\r\n%s\r\n", len(part), part)
		rest = rest[len(part):]
	}
	b.WriteString("0\r\n")
	for _, f := range m.trailers {
		fmt.Fprintf(b, "%s: %s\r\n", f.name, f.value)
	}
	b.WriteString("\r\n")
}

// sentRequest returns the bytes of the request.
func (e *exchange) sentRequest() string {
	var b strings.Builder
	if f := e.request.fault; f != nil && f.target != "" {
		fmt.Fprintf(&b, "%s %s\r\nHost: client.example\r\n", e.method, strings.ReplaceAll(f.target, "N", fmt.Sprint(e.number)))
	} else {
		fmt.Fprintf(&b, "%s %s %s\r\nHost: client.example\r\n", e.method, e.target, e.version)
	}
	e.request.head(&b)
	e.request.content(&b)
	return b.String()
}

// sentAnswer returns the bytes of the answer.
func (e *exchange) sentAnswer() string {
	var b strings.Builder
	if e.interim != nil {
		b.WriteString("HTTP/1.1 103 Early Hints\r\n")
		(&message{fields: e.interim}).head(&b)
	}
	line := fmt.Sprintf("HTTP/1.1 %d %s", e.status, e.reason)
	if f := e.answer.fault; f != nil && f.target != "" {
		line = f.target
	}
	b.WriteString(line + "\r\n")
	e.answer.head(&b)
	e.answer.content(&b)
	return b.String()
}

// values returns the values of each field, by canonical name, in their order.
func values(fields []field) http.Header {
	h := http.Header{}
	for _, f := range fields {
		h.Add(f.name, f.value)
	}
	return h
}
