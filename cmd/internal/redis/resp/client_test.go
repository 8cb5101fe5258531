package resp

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"regexp"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

func TestClientList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewServer(Options{})
		a := pipe(t, s)
		synctest.Wait()
		b := pipe(t, s)
		ask(t, a, "client setname first", "client setinfo lib-name lib(1)", "client setinfo LIB-VER 2", "hello 3")
		time.Sleep(90 * time.Second)
		ask(t, b, "multi", "ping")
		go a.Write(say("client list", "client info", "client list id 2"))
		const first = `id=1 addr=pipe laddr=pipe fd=-1 name=first age=90 idle=0 flags=N db=0 sub=0 psub=0 ssub=0 multi=-1 watch=0 qbuf=0 qbuf-free=\d+ argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=\d+ events=r cmd=client\|(list|info) user=default redir=-1 resp=3 lib-name=lib\(1\) lib-ver=2\n`
		const second = `id=2 addr=pipe laddr=pipe fd=-1 name= age=90 idle=0 flags=x db=0 .*multi=1 watch=0 .*cmd=multi user=default redir=-1 resp=2 lib-name= lib-ver=\n`
		r := bufio.NewReader(a)
		for _, want := range []string{first + second, first, second} {
			v, err := readReply(r)
			if err != nil || v.mark != '=' || !regexp.MustCompile("^"+want+"$").MatchString(v.text) {
				t.Errorf("got %s, %v, want a text like %s", v, err, want)
			}
		}
		check(t, ask(t, a, "client setinfo lib-name x y", "client setinfo foo x"),
			"-ERR wrong number of arguments for 'client|setinfo' command", "-ERR Unrecognized option 'foo'")
	})
}

func TestClientKill(t *testing.T) { overBoth(t, checkClientKill) }

func checkClientKill(t *testing.T, loops int) {
	_, dial := serve(t, Options{Loops: loops})
	killer := dial()
	defer killer.Close()
	for _, how := range []func(victim net.Conn, id string) string{
		func(v net.Conn, _ string) string { return "client kill " + v.LocalAddr().String() },
		func(v net.Conn, _ string) string { return "client kill addr " + v.LocalAddr().String() },
		func(_ net.Conn, id string) string { return "client kill id " + id },
		func(_ net.Conn, id string) string {
			return "client kill id " + id + " user default type normal maxage 0"
		},
		func(net.Conn, string) string { return "client kill user default skipme yes" },
	} {
		victim := dial()
		id := ask(t, victim, "client id")[0][1:]
		if got := ask(t, killer, how(victim, id))[0]; got != ":1" && got != "+OK" {
			t.Errorf("%s: %s", how(victim, id), got)
		}
		if _, err := victim.Read(make([]byte, 1)); err == nil {
			t.Errorf("%s: the victim lives", how(victim, id))
		}
		victim.Close()
	}
	check(t, ask(t, killer, "client kill id 1 skipme no"), ":1")
	if _, err := killer.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("who killed itself: %v, want %v", err, io.EOF)
	}
}

// TestCommandInfo: RedisBloom 8's own replies.
func TestCommandInfo(t *testing.T) { overBoth(t, checkCommandInfo) }

func checkCommandInfo(t *testing.T, loops int) {
	s := NewServer(Options{Loops: loops, Commands: Table{
		"bf.add":  {Name: "bf.add", Arity: 3, Flags: []string{"write", "denyoom", "module"}, Categories: []string{"@write", "@bloom"}, FirstKey: 1, LastKey: 1, Step: 1},
		"bf.card": {Name: "bf.card", Arity: 2, Flags: []string{"readonly", "module", "fast"}, Categories: []string{"@read", "@fast", "@bloom"}, FirstKey: 1, LastKey: 1, Step: 1},
	}})
	nc := connect(t, s)
	check(t, ask(t, nc, "command info bf.add bf.card"),
		`*[*["bf.add", :3, *[+write, +denyoom, +module], :1, :1, :1, *[+@write, +@bloom], *[], *[*["flags", *[+RW], "begin_search", *["type", "index", "spec", *["index", :1]], "find_keys", *["type", "range", "spec", *["lastkey", :0, "keystep", :1, "limit", :0]]]], *[]], `+
			`*["bf.card", :2, *[+readonly, +module, +fast], :1, :1, :1, *[+@read, +@fast, +@bloom], *[], *[*["flags", *[+RO], "begin_search", *["type", "index", "spec", *["index", :1]], "find_keys", *["type", "range", "spec", *["lastkey", :0, "keystep", :1, "limit", :0]]]], *[]]]`)
	check(t, ask(t, nc, "hello 3", "command info bf.add")[1:],
		`*[*["bf.add", :3, ~[+write, +denyoom, +module], :1, :1, :1, ~[+@write, +@bloom], ~[], ~[%["flags", ~[+RW], "begin_search", %["type", "index", "spec", %["index", :1]], "find_keys", %["type", "range", "spec", %["lastkey", :0, "keystep", :1, "limit", :0]]]], ~[]]]`)
	check(t, ask(t, nc, "command list filterby module bf", "command getkeysandflags bf.add k x"), `*["bf.add", "bf.card"]`, `*[*["k", ~[+RW]]]`)
	n := len(s.commands)
	r := bufio.NewReader(nc)
	go nc.Write(say("command", "command docs", "command list", "command count"))
	for _, want := range []int{n, 2 * n, n} {
		if v, err := readReply(r); err != nil || len(v.items) != want {
			t.Errorf("%d elements, %v, want %d", len(v.items), err, want)
		}
	}
	if v, err := readReply(r); err != nil || v.String() != ":"+strconv.Itoa(n) {
		t.Errorf("got %s, %v, want %d", v, err, n)
	}
}

func TestReplyTypes(t *testing.T) { overBoth(t, checkReplyTypes) }

func checkReplyTypes(t *testing.T, loops int) {
	s := NewServer(Options{Loops: loops, Commands: Table{"all": {Name: "all", Arity: 1, Run: func(c *Conn, _ [][]byte) {
		c.Array(13)
		c.Simple("s")
		c.Error("ERR a\r\nb")
		c.Int(-12)
		c.Bool(true)
		c.Bool(false)
		c.Bulk([]byte("\r\n"))
		c.BulkString("")
		c.Verbatim("v")
		c.Double(0.1)
		c.Null()
		c.nullArray()
		c.Map(1)
		c.Int(1)
		c.Int(10)
		c.Set(1)
		c.Int(2)
	}}}})
	nc := connect(t, s)
	check(t, ask(t, nc, "all"), `*[+s, -ERR a  b, :-12, :1, :0, "\r\n", "", "v", "0.1", null, null, *[:1, :10], *[:2]]`)
	check(t, ask(t, nc, "hello 3", "all")[1:], `*[+s, -ERR a  b, :-12, #t, #f, "\r\n", "", "v", ,0.1, null, null, %[:1, :10], ~[:2]]`)
}

// TestTLS: the handshake is over when Default is called for the user, and a silent client doesn't disturb it.
func TestTLS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a client"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert := tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAnyClientCert})
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(Options{
		Default: func(c *Conn) any { return c.TLS().PeerCertificates[0].Subject.CommonName },
		Commands: Table{"who": {Name: "who", Arity: 1, Run: func(c *Conn, _ [][]byte) {
			c.BulkString(c.User.(string))
		}}},
	})
	done := make(chan error)
	go func() { done <- s.Serve(l) }()
	nc, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for range 10 {
		check(t, ask(t, nc, "who"), `"a client"`)
		s.Clients((*Conn).wake)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
