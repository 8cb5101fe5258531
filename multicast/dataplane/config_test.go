package dataplane_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/multicast/dataplane"
)

var goodConfigs = map[string]string{
	"shared socket": `{"name": "a", "listen": "127.0.0.1:9000", "neighbors": [
		{"name": "b", "address": "127.0.0.1:9001"}, {"address": "192.0.2.1:9000"}]}`,
	"IPv6":        `{"name": "a", "listen": "[::]:9000", "neighbors": [{"address": "[2001:db8::1]:9000"}]}`,
	"own sockets": `{"name": "a", "listen": "", "neighbors": [{"address": "10.0.0.1:9000", "local": "10.0.0.0:9000"}]}`,
	"mixed, each with its own": `{"name": "a", "host": "127.0.0.1:8000", "listen": "0.0.0.0:0", "neighbors": [
		{"address": "10.0.0.1:9000"}, {"address": "[2001:db8::1]:9000", "local": "[2001:db8::2]:9000"}]}`,
	"alone": `{"name": "a", "listen": "127.0.0.1:9000"}`,
}

func TestParseNodeConfig(t *testing.T) {
	for name, text := range goodConfigs {
		t.Run(name, func(t *testing.T) {
			s, err := dataplane.ParseNodeConfig([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			checkConfig(t, s)
		})
	}
}

// checkConfig checks that a site is equal after it is written and read.
func checkConfig(t *testing.T, s dataplane.NodeConfig) {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	again, err := dataplane.ParseNodeConfig(b)
	if err != nil {
		t.Fatalf("can't read %s: %v", b, err)
	}
	if !reflect.DeepEqual(s, again) {
		t.Errorf("read %+v, want %+v", again, s)
	}
}

func TestParseNodeConfigRefuses(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":            {``, "EOF"},
		"not JSON":           {`name: a`, "invalid character"},
		"unknown field":      {`{"name": "a", "listens": "127.0.0.1:9000"}`, "listens"},
		"more after it":      {`{"name": "a", "listen": "127.0.0.1:9000"} {}`, "byte 43"},
		"no name":            {`{"listen": "127.0.0.1:9000"}`, `node ""`},
		"no listen":          {`{"name": "a", "neighbors": [{"address": "127.0.0.1:9001"}]}`, "127.0.0.1:9000"},
		"alone, no listen":   {`{"name": "a"}`, "127.0.0.1:9000"},
		"host name":          {`{"name": "a", "listen": "localhost:9000"}`, "localhost"},
		"no address":         {`{"name": "a", "listen": "127.0.0.1:9000", "neighbors": [{"name": "b"}]}`, "neighbor 0 has no address"},
		"port 0":             {`{"name": "a", "listen": "127.0.0.1:9000", "neighbors": [{"address": "127.0.0.1:0"}]}`, "127.0.0.1:0"},
		"unspecified":        {`{"name": "a", "listen": "127.0.0.1:9000", "neighbors": [{"address": "0.0.0.0:9000"}]}`, "0.0.0.0:9000"},
		"families":           {`{"name": "a", "listen": "127.0.0.1:9000", "neighbors": [{"address": "[::1]:9000"}]}`, "IPv4"},
		"families, local":    {`{"name": "a", "listen": "127.0.0.1:9000", "neighbors": [{"address": "127.0.0.1:1", "local": "[::1]:9000"}]}`, "IPv4"},
		"neighbor twice":     {`{"name": "a", "listen": "127.0.0.1:9000", "neighbors": [{"address": "127.0.0.1:1"}, {"address": "127.0.0.1:1"}]}`, "0 and 1"},
		"twice, in disguise": {`{"name": "a", "listen": "127.0.0.1:9000", "neighbors": [{"address": "127.0.0.1:1"}, {"address": "[::ffff:127.0.0.1]:1"}]}`, "0 and 1"},
		"zone":               {`{"name": "a", "listen": "[fe80::1%eth0]:9000"}`, "zone"},
		"neighbor's zone":    {`{"name": "a", "listen": "[::]:9000", "neighbors": [{"address": "[fe80::1%eth0]:9000"}]}`, "zone"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dataplane.ParseNodeConfig([]byte(c.text))
			if !errors.Is(err, dataplane.ErrNodeConfig) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one wrapping ErrNodeConfig with %q", err, c.want)
			}
		})
	}
}

// FuzzParseNodeConfig parses untrusted descriptions. An accepted one is equal after it is
// written and read.
func FuzzParseNodeConfig(f *testing.F) {
	for _, text := range goodConfigs {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := dataplane.ParseNodeConfig(b)
		if err != nil {
			if !errors.Is(err, dataplane.ErrNodeConfig) {
				t.Errorf("error %v isn't ErrNodeConfig", err)
			}
			return
		}
		if !bytes.Contains(bytes.ToLower(b), []byte("name")) {
			t.Error("took a site that nothing names")
		}
		checkConfig(t, s)
	})
}
