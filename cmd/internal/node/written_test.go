package node

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/cmd/internal/publish"
	"github.com/umbel-filters/umbel/cmd/internal/testing/resptest"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/internal/race"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// The numbers of creations: the ends of ranges, one step beyond them, and some from which usable filters are made.
var (
	unusualCounts = []string{
		"0", "1", "1", "2", "3", "7", "10", "100", "1000", "5000", "65536", "1073741824", "1073741825", "9007199254740993",
		"9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "-1",
	}
	unusualRates = []string{
		"0", "2e-324", "5e-324", "6e-324", "1e-323", "1.5e-323", "2.2e-308", "1e-300", "1e-30", "1e-9", "1e-4", "0.01", "0.1", "0.25", "0.26", "0.5",
		"0.9999999999999999", "1", "-5e-324", "nan", "inf", "1e400",
	}
	unusualSizes      = []string{"0", "1", "7", "8", "9", "64", "65", "1000", "65536", "1048577", "9007199254740993", "18446744073709551615"}
	unusualExpansions = []string{"-1", "0", "1", "1", "2", "3", "255", "256", "32768", "32769", "4294967296"}
)

func pick(rng *rand.Rand, of []string) string { return of[rng.IntN(len(of))] }

// unusualCommand returns a command that makes the filter with the given name, or is refused.
func unusualCommand(rng *rand.Rand, name string) []string {
	var words []string
	option := func(one int, more ...string) {
		if rng.IntN(one) == 0 {
			words = append(words, more...)
		}
	}
	switch rng.IntN(6) {
	case 0:
		words = []string{"BF.RESERVE", name, pick(rng, unusualRates), pick(rng, unusualCounts)}
		option(2, "EXPANSION", pick(rng, unusualExpansions))
		option(4, "NONSCALING")
	case 1:
		words = []string{"BF.INSERT", name}
		option(2, "CAPACITY", pick(rng, unusualCounts))
		option(2, "ERROR", pick(rng, unusualRates))
		option(2, "EXPANSION", pick(rng, unusualExpansions))
		option(4, "NONSCALING")
		option(8, "SEED", strings.Repeat("s", 32))
		option(8, "VALIDATESCALETO", pick(rng, unusualCounts))
		words = append(words, "ITEMS", "a", "b")
	case 2:
		words = []string{"CF.RESERVE", name, pick(rng, unusualCounts)}
		option(2, "BUCKETSIZE", pick(rng, unusualExpansions))
		option(2, "MAXITERATIONS", pick(rng, unusualCounts))
		option(2, "EXPANSION", pick(rng, unusualExpansions))
	default:
		v := filter.All[rng.IntN(len(filter.All))]
		words = []string{"UM.MAKE", name, v.Name}
		option(2, "KEYS", pick(rng, unusualCounts))
		option(2, "RATE", pick(rng, unusualRates))
		option(2, "BYTES", pick(rng, unusualSizes))
		for _, doc := range v.Params {
			option(3, doc.Name, unusualValue(rng, doc))
		}
	}
	return words
}

// unusualValue returns a value of a parameter: an end of its range, one step beyond it, or any.
func unusualValue(rng *rand.Rand, doc umbel.ParamDoc) string {
	x := []float64{doc.Min, doc.Min, doc.Max, doc.Min - 1, doc.Max + 1, doc.Min + rng.Float64()*min(doc.Max-doc.Min, 100)}[rng.IntN(6)]
	if doc.Float {
		return pick(rng, []string{strconv.FormatFloat(x, 'g', -1, 64), pick(rng, unusualRates)})
	}
	return pick(rng, []string{strconv.FormatFloat(x, 'f', 0, 64), strconv.FormatFloat(x, 'f', 0, 64), pick(rng, unusualCounts)})
}

// asJSON returns the same filter as a command UM.MAKE as a request over HTTP, or "".
func asJSON(words []string) string {
	if words[0] != "UM.MAKE" {
		return ""
	}
	fields := []string{fmt.Sprintf("%q:%q", "kind", words[2])}
	var params []string
	for i := 3; i < len(words); i += 2 {
		switch value := words[i+1]; words[i] {
		case "KEYS":
			fields = append(fields, `"keys":`+value)
		case "RATE":
			fields = append(fields, `"fpRate":`+value)
		case "BYTES":
			fields = append(fields, `"bytes":`+value)
		default:
			params = append(params, fmt.Sprintf("%q:%s", words[i], value))
		}
	}
	return fmt.Sprintf(`{%s,"params":{%s}}`, strings.Join(fields, ","), strings.Join(params, ","))
}

// request sends a request to a node and returns the status and the body of the answer.
func request(t *testing.T, n *Node, method, path, media string, body io.Reader) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+n.HTTP().String()+path, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", media)
	r.Header.Set("Accept", cmp.Or(media, "*/*"))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(b)
}

// grownToTheEnd are commands that make filters which grow to their last state within some thousand keys: to the last
// possible error rate of RedisBloom, to the most layers, and to the most emulated cuckoo filters.
var grownToTheEnd = []string{
	"BF.RESERVE %s 6e-324 1 NONSCALING", "BF.RESERVE %s 1e-323 1", "BF.RESERVE %s 0.0001 1 EXPANSION 1", "BF.RESERVE %s 0.99 2 EXPANSION 1",
	"BF.INSERT %s ERROR 5e-324 NONSCALING CAPACITY 1 ITEMS x", "UM.MAKE %s redisbloom KEYS 1 RATE 1e-9 expansion 1",
	"UM.MAKE %s dynamic KEYS 1 RATE 1e-9", "UM.MAKE %s union KEYS 1 RATE 1e-9",
	"UM.MAKE %s dynamic KEYS 1 RATE 1e-9 width 4 max-bytes 8192", "UM.MAKE %s scalable KEYS 1 RATE 1e-9 max-bytes 4096",
	"CF.RESERVE %s 4 EXPANSION 1", "CF.RESERVE %s 1000 EXPANSION 0",
}

// makeToTheEnd makes these filters, fills them, and returns their names.
func makeToTheEnd(t *testing.T, n *Node, c *resptest.Client) (names []string) {
	t.Helper()
	for i, line := range grownToTheEnd {
		manyLayers := strings.HasSuffix(line, "dynamic KEYS 1 RATE 1e-9")
		if manyLayers && testing.Short() {
			continue // takes more than all others; TestMostStates of package filter has its last state
		}
		name := fmt.Sprint("last", i)
		line = fmt.Sprintf(line, name)
		if reply := c.Line(line); strings.Contains(reply, "-") {
			t.Errorf("%s: %s", line, reply)
			continue
		}
		names = append(names, name)
		most := 4000
		if manyLayers {
			most = 20_000
		}
		for from := 0; from < most; from += 500 {
			if strings.Contains(c.Do(words("UM.ADD "+name, from, from+500)...), "-") {
				break
			}
		}
		if debug := c.Line("BF.DEBUG " + name); strings.HasPrefix(line, "BF.") && !strings.Contains(debug, "hashes:1075") {
			t.Errorf("%s: the filter has not grown to the end: %s", line, debug)
		}
		err := n.engine.Get([]byte(name)).Inspect(func(f umbel.Filter) {
			if s := f.State().States(); manyLayers && s != umbel.MaxStates {
				t.Errorf("%s: %d states, want %d", line, s, umbel.MaxStates)
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
	return names
}

// makeUnusual makes some filters by unusual commands and by requests over HTTP, fills them, and returns their names.
func makeUnusual(t *testing.T, n *Node, c *resptest.Client, trials int) (names []string) {
	t.Helper()
	for seed := range trials {
		rng := rand.New(rand.NewPCG(uint64(seed), 0x6e6f6465))
		name := fmt.Sprint("unusual", seed)
		words := unusualCommand(rng, name)
		spec := asJSON(words)
		if spec != "" && rng.IntN(2) == 0 {
			status, body := request(t, n, http.MethodPut, api.FilterPath(name), api.MediaJSON, strings.NewReader(spec))
			if status >= 500 && status != http.StatusInsufficientStorage {
				t.Errorf("%s: %d %s", spec, status, body)
			}
		} else {
			c.Do(words...)
		}
		f := n.engine.Get([]byte(name))
		if spec != "" {
			status, body := request(t, n, http.MethodPost, "/v1/plan", api.MediaJSON, strings.NewReader(spec))
			if status >= 500 || f != nil && status != http.StatusOK || !json.Valid([]byte(body)) {
				t.Errorf("plan of %s: %d %s", spec, status, body)
			}
			c.Do(append([]string{"UM.PLAN"}, words[2:]...)...)
		}
		if f == nil {
			continue
		}
		if f.Bytes() > 1<<20 {
			c.Do("DEL", name)
			continue
		}
		names = append(names, name)
		fillUnusual(n, c, name, rng)
	}
	return names
}

// fillUnusual adds keys to a filter until it is full, large or has many, and changes it otherwise.
func fillUnusual(n *Node, c *resptest.Client, name string, rng *rand.Rand) {
	add, most := "UM.ADD", 500
	if strings.HasPrefix(c.Do("BF.CARD", name), ":") {
		add, most = "BF.MADD", 1500
	}
	for from := 0; from < most && n.engine.Get([]byte(name)).Bytes() < 1<<20; from += 100 {
		if strings.Contains(c.Do(words(add+" "+name, from, from+100)...), "-") {
			break
		}
	}
	for _, line := range []string{
		"UM.UNFOLD %s 2", "UM.FOLD %s 3", "UM.SEAL %s", "UM.COMPACT %s RATE 0.9999", "UM.ADVANCE %s 18446744073709551615", "UM.MERGE %s other",
		"UM.REMOVE %s 7", "CF.DEL %s 8",
	} {
		if rng.IntN(3) == 0 {
			c.Line(fmt.Sprintf(line, name))
		}
	}
}

// described is what a node answers about a filter.
func described(t *testing.T, n *Node, c *resptest.Client, name string) string {
	t.Helper()
	for _, line := range []string{"BF.INFO", "BF.DEBUG", "BF.CARD", "CF.INFO", "CF.DEBUG", "UM.INFO", "MEMORY USAGE", "TYPE"} {
		c.Line(line + " " + name)
	}
	if status, body := get(t, n, api.FilterPath(name)); status != http.StatusOK {
		t.Errorf("%s: %d %s", name, status, body)
	}
	return c.Do("UM.ID", name) + c.Do(words("UM.HAS "+name, 0, 40)...) + c.Do(words("UM.HAS "+name, 1_000_000, 1_000_060)...)
}

// TestReadsWhatItWrites: filters of all kinds, made with unusual numbers by commands and over HTTP and filled up to their
// last state, are the same after each way in which they leave a node and come back. UMBEL_TRIALS is the number
// of creations.
func TestReadsWhatItWrites(t *testing.T) {
	race.Skip(t, "one client varies filters, one after the other, and computes their rates")
	trials := 60
	if testing.Short() {
		trials = 15
	}
	if more, err := strconv.Atoi(os.Getenv("UMBEL_TRIALS")); err == nil {
		trials = more
	}
	config := testConfig(t)
	config.MaxMemory, config.Cuckoo = Memory{Bytes: 128 << 20}, true
	n := started(t, config)
	c := dial(t, n, nil)
	c.Want("UM.MAKE other bloom KEYS 100 RATE 1%", "+OK")
	names := append(makeToTheEnd(t, n, c), makeUnusual(t, n, c, trials)...)
	want := map[string]string{}
	for _, name := range names {
		want[name] = described(t, n, c, name)
		comesBack(t, n, c, name)
	}
	t.Logf("%d filters", len(names))
	same := func(n *Node, after string) {
		t.Helper()
		c := dial(t, n, nil)
		for _, name := range names {
			if got := described(t, n, c, name); got != want[name] {
				t.Errorf("%s after %s: %.300s, want %.300s; %s", name, after, got, want[name], c.Do("UM.INFO", name))
			}
		}
	}
	if status, body := get(t, n, "/metrics"); status != http.StatusOK {
		t.Errorf("metrics: %d %.200s", status, body)
	}

	var backup bytes.Buffer // it contains the log
	if err := n.store.Backup(t.Context(), &backup); err != nil {
		t.Fatal(err)
	}
	other := testConfig(t)
	other.MaxMemory, other.Cuckoo = config.MaxMemory, true
	if _, err := RestoreDir(t.Context(), other.Data, slog.New(slog.DiscardHandler), &backup); err != nil {
		t.Fatal(err)
	}
	same(started(t, other), "a restore from a backup")
	c.Want("SAVE", "+OK")
	stopped(t, n)
	verifiers := map[string]note.Verifier{}
	for _, name := range names {
		key, verifier := newKey(t, "example.org/"+name)
		verifiers[name] = verifier
		config.Publications = append(config.Publications, publish.Spec{Filter: name, Key: key, Period: time.Hour, Seed: true})
	}
	n = started(t, config)
	same(n, "a restart")
	c = dial(t, n, nil)
	for _, name := range names {
		c.Want("UM.PUBLISH "+name, ":1")
		s := subscribe(t, n, name, "", verifiers[name])
		if err := s.Update(t.Context()); err != nil {
			t.Errorf("%s: a subscriber: %v", name, err)
			continue
		}
		id := hashtree.Identify(s.View().Filter().State()).String()
		if want := resptest.Bulk(t, c.Do("UM.ID", name)); id != want {
			t.Errorf("%s: a subscriber has %s, want %s", name, id, want)
		}
	}
}

// comesBack fails unless copies of a filter that leave a node and come back have its ID.
func comesBack(t *testing.T, n *Node, c *resptest.Client, name string) {
	t.Helper()
	id := c.Do("UM.ID", name)
	arrived := func(by, reply string) {
		t.Helper()
		if reply != "+OK" {
			t.Errorf("%s: %s: %.200s", name, by, reply)
		} else if got := c.Do("UM.ID", "copy"); got != id {
			t.Errorf("%s: from %s: ID %s, want %s", name, by, got, id)
		}
		c.Do("DEL", "copy")
	}
	if f := n.engine.Get([]byte(name)); f.Kind() != redisbloom.Name || f.Hasher() == redisbloom.RedisHasher {
		arrived("DUMP", c.Do("RESTORE", "copy", "0", resptest.Bulk(t, c.Do("DUMP", name))))
	}
	arrived("UM.COPY", c.Do("UM.COPY", name, "copy"))
	for _, form := range [][]string{nil, {"PACKED"}} {
		b := resptest.Bulk(t, c.Do(append([]string{"UM.EXPORT", name}, form...)...))
		if _, err := wire.Parse([]byte(b), wire.Limits{}); err != nil {
			t.Errorf("%s: UM.EXPORT: %v", name, err)
		}
		arrived("UM.EXPORT", c.Do("UM.IMPORT", "copy", b))
	}
	status, b := request(t, n, http.MethodGet, api.FilterPath(name), api.MediaContainer, nil)
	if status == http.StatusOK {
		status, b = request(t, n, http.MethodPut, api.FilterPath("copy"), api.MediaContainer, strings.NewReader(b))
	}
	if status != http.StatusCreated {
		t.Errorf("%s: over HTTP: %d %.200s", name, status, b)
	} else {
		arrived("HTTP", "+OK")
	}
	for _, family := range []string{"BF", "CF"} {
		if strings.HasPrefix(c.Do(family+".SCANDUMP", name, "0"), "*") { // the others are of another family or hash
			arrived(family+".SCANDUMP", scanned(t, c, family, name))
		}
	}
}

// scanned loads the chunks of a filter into one with the name copy.
func scanned(t *testing.T, c *resptest.Client, family, name string) string {
	t.Helper()
	for iter := "0"; ; {
		next, data, _ := strings.Cut(strings.TrimPrefix(c.Do(family+".SCANDUMP", name, iter), "*2[:"), ", ")
		if next == "0" {
			return "+OK"
		}
		iter = next
		if reply := c.Do(family+".LOADCHUNK", "copy", iter, resptest.Bulk(t, strings.TrimSuffix(data, "]"))); reply != "+OK" {
			return fmt.Sprintf("chunk %s: %s", iter, reply)
		}
	}
}
