package node

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
)

// secretUsers are one who may all with filters, and one who may read the node's secrets.
const secretUsers = `
users:
  - name: default
    nopass: true
    rules: [{rights: [read, add, remove], names: ["*"]}]
  - name: boss
    passwords: ["%s"]
    rules: [{rights: [read, add, remove, admin], names: ["*"]}]
`

// The node's seed leaves it in no way that isn't an administrator's: who has it can choose keys
// that fill filters, or are found in them.
func TestSecretSeedStays(t *testing.T) {
	c := testConfig(t)
	c.Hash, c.Users = "siphash", filepath.Join(t.TempDir(), "users.yaml")
	hash, err := access.HashPassword("boss")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Users, fmt.Appendf(nil, secretUsers, hash), 0o600); err != nil {
		t.Fatal(err)
	}
	n := started(t, c)
	text, err := os.ReadFile(filepath.Join(c.Data, "hash-seed"))
	if err != nil {
		t.Fatal(err)
	}
	digits := strings.TrimSpace(string(text))
	seed, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	told := func(what, reply string) {
		t.Helper()
		quoted := fmt.Sprintf("%q", seed)
		if strings.Contains(reply, digits) || bytes.Contains([]byte(reply), seed) || strings.Contains(reply, quoted[1:len(quoted)-1]) {
			t.Errorf("%s tells the seed", what)
		}
	}

	client := resptest.Dial(t, n.RESP().String())
	for _, line := range []string{
		"UM.MAKE a bloom KEYS 1000", "UM.MAKE b bloom KEYS 1000", "UM.MAKE other bloom KEYS 1000 HASH siphash SEED 000102030405060708090a0b0c0d0e0f",
		"UM.MAKE plain bloom KEYS 1000 HASH xxh3", "BF.ADD bf x", "UM.ADD a x",
	} {
		if reply := client.Line(line); strings.HasPrefix(reply, "-") {
			t.Fatalf("%s: %s", line, reply)
		}
	}
	digest := strings.Repeat("d", 16)
	for _, line := range []string{
		"UM.EXPORT a", "UM.EXPORT a PACKED", "UM.DIFF a FROM b", "DUMP a",
		"UM.ADDRAW a " + digest, "UM.HASRAW a " + digest,
	} {
		reply := client.Line(line)
		if !strings.HasPrefix(reply, "-NOPERM") {
			t.Errorf("%s: %.100s, want NOPERM", line, reply)
		}
		told(line, reply)
	}
	for _, line := range []string{
		"UM.MERGE a other", "UM.MERGE a plain", "UM.MERGE new a other", "UM.INTERSECT new a other", "UM.OVERLAP a other", "UM.OVERLAP a plain", "UM.DIFF other FROM a",
		"UM.INFO a", "UM.ID a", "BF.INFO bf", "BF.DEBUG bf", "BF.SCANDUMP bf 0", "BF.SCANDUMP bf 1", "DUMP bf", "UM.KINDS", "INFO everything", "CONFIG GET *", "BF.INSERT bf SEED abcdefgh ITEMS x",
	} {
		told(line, client.Line(line))
	}
	if reply := client.Line("UM.EXPORT plain"); !strings.HasPrefix(reply, "$") {
		t.Errorf("what has no secret: %.100s", reply)
	}

	for _, path := range []string{"a", "bf"} {
		for _, accept := range []string{"application/json", "application/vnd.umbel.container"} {
			request, err := http.NewRequest(http.MethodGet, "http://"+n.HTTP().String()+"/v1/filters/"+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Accept", accept)
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			told("HTTP "+path+" "+accept, string(body))
		}
	}
	http.DefaultClient.CloseIdleConnections()

	if reply := client.Line("AUTH boss boss"); reply != "+OK" {
		t.Fatal(reply)
	}
	for _, line := range []string{"UM.EXPORT a", "UM.DIFF a FROM b", "DUMP a", "UM.HASRAW a " + digest} {
		if reply := client.Line(line); !strings.HasPrefix(reply, "$") {
			t.Errorf("%s of an administrator: %.100s", line, reply)
		}
	}
}
