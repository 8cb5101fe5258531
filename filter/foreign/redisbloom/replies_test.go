package redisbloom_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// TestReplies: recorded commands have the same replies as those of RedisBloom, byte for byte.
func TestReplies(t *testing.T) {
	s := server{}
	commands := 0
	for command, want := range exchanges(t, "testdata/replies.txt") {
		commands++
		if got := s.reply(words(t, command)); got != want {
			t.Errorf("%s\n got %s\nwant %s", command, got, want)
		}
	}
	if commands < 66 {
		t.Errorf("%d commands were read, want 66", commands)
	}
}

// exchanges yields the commands in a file with their replies.
func exchanges(t *testing.T, name string) func(yield func(command, reply string) bool) {
	t.Helper()
	return func(yield func(command, reply string) bool) {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		command := ""
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			line := lines.Text()
			if reply, ok := strings.CutPrefix(line, "    => "); ok {
				if !yield(command, reply) {
					return
				}
			} else if line != "" && line[0] != '#' {
				command = line
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

// words splits a command; words in quotes are written as in Go.
func words(t *testing.T, command string) []string {
	t.Helper()
	ws := strings.Split(command, " ")
	for i, w := range ws {
		if strings.HasPrefix(w, `"`) {
			plain, err := strconv.Unquote(w)
			if err != nil {
				t.Fatalf("%s: %v", w, err)
			}
			ws[i] = plain
		}
	}
	return ws
}

// server implements the commands in the recording.
type server map[string]*redisbloom.Filter

func (s server) reply(ws []string) string {
	key, args := ws[1], ws[2:]
	f := s[key]
	if f == nil && (ws[0] == "BF.ADD" || ws[0] == "BF.MADD" || ws[0] == "BF.INSERT") {
		o := redisbloom.Options{ErrorRate: 0.01, Capacity: 100}
		if ws[0] == "BF.INSERT" {
			o = insertOptions(o, args)
		}
		var err error
		if f, err = redisbloom.Reserve(o); err != nil {
			return "-ERR " + err.Error()
		}
		s[key] = f
	}
	switch ws[0] {
	case "BF.RESERVE":
		return s.reserve(key, args)
	case "BF.ADD":
		return added(f, args)[0]
	case "BF.MADD":
		return array(added(f, args))
	case "BF.INSERT":
		return array(added(f, args[slices.Index(args, "ITEMS")+1:]))
	case "BF.EXISTS":
		return yes(f.HasString(args[0]))
	case "BF.MEXISTS":
		var answers []string
		for _, a := range args {
			answers = append(answers, yes(f.HasString(a)))
		}
		return array(answers)
	case "BF.CARD":
		return ":" + strconv.FormatUint(f.Card(), 10)
	case "BF.INFO":
		return info(f.Info())
	case "BF.DEBUG":
		var lines []string
		for _, l := range f.Debug() {
			lines = append(lines, bulk([]byte(l)))
		}
		return array(lines)
	case "BF.SCANDUMP":
		iter, _ := strconv.ParseInt(args[0], 10, 64)
		next, data, err := f.ScanDump(iter)
		if err != nil {
			return "-ERR " + err.Error()
		}
		return array([]string{fmt.Sprint(":", next), bulk(data)})
	case "BF.LOADCHUNK":
		iter, _ := strconv.ParseInt(args[0], 10, 64)
		return loadChunk(f, iter, args[1])
	}
	return "-ERR unknown command"
}

func (s server) reserve(key string, args []string) string {
	o := redisbloom.Options{NonScaling: slices.Contains(args, "NONSCALING")}
	o.ErrorRate, _ = strconv.ParseFloat(args[0], 64)
	o.Capacity, _ = strconv.ParseUint(args[1], 10, 64)
	if i := slices.Index(args, "EXPANSION"); i >= 0 {
		e, _ := strconv.ParseInt(args[i+1], 10, 64)
		o.Expansion = uint32(e)
		o.NonScaling = o.NonScaling || e == 0
	}
	f, err := redisbloom.Reserve(o)
	switch {
	case err == nil:
		s[key] = f
		return "+OK"
	case strings.Contains(err.Error(), "error rate"):
		return "-ERR error rate must be in the range (0.000000, 1.000000)"
	case strings.Contains(err.Error(), "capacity"):
		return "-ERR capacity must be in the range [1, 1073741824]"
	case strings.Contains(err.Error(), "expansion"):
		return "-ERR expansion must be in the range [0, 32768]"
	}
	return "-ERR " + err.Error()
}

func insertOptions(o redisbloom.Options, args []string) redisbloom.Options {
	for i, a := range args {
		switch a {
		case "ITEMS":
			return o
		case "NONSCALING":
			o.NonScaling = true
		case "CAPACITY":
			o.Capacity, _ = strconv.ParseUint(args[i+1], 10, 64)
		case "ERROR":
			o.ErrorRate, _ = strconv.ParseFloat(args[i+1], 64)
		case "EXPANSION":
			e, _ := strconv.ParseUint(args[i+1], 10, 32)
			o.Expansion = uint32(e)
			o.NonScaling = o.NonScaling || e == 0
		}
	}
	return o
}

// added returns the replies for items up to the first that is refused.
func added(f *redisbloom.Filter, items []string) []string {
	var rs []string
	for _, item := range items {
		changed, err := f.TryAdd(f.Hasher().HashString(item))
		if err != nil {
			if !errors.Is(err, umbel.ErrLimit) || !strings.Contains(err.Error(), "non scaling filter is full") {
				return append(rs, err.Error())
			}
			return append(rs, "-ERR non scaling filter is full")
		}
		rs = append(rs, yes(changed))
	}
	return rs
}

// loadChunk loads a chunk. The first one replaces a complete filter.
func loadChunk(f *redisbloom.Filter, iter int64, data string) string {
	var l redisbloom.Loader
	if f != nil {
		_, header, err := f.ScanDump(0)
		if err == nil {
			err = l.LoadChunk(1, header)
		}
		if err != nil {
			return "-ERR " + err.Error()
		}
	}
	err := l.LoadChunk(iter, []byte(data))
	for _, words := range []string{"received bad data", "invalid offset - no link found", "invalid chunk - Too big for current filter"} {
		if errors.Is(err, umbel.ErrCorrupt) && strings.HasSuffix(err.Error(), words) {
			return "-ERR " + words
		}
	}
	return "+OK"
}

func yes(b bool) string {
	if b {
		return ":1"
	}
	return ":0"
}

func array(rs []string) string { return fmt.Sprintf("*%d[%s]", len(rs), strings.Join(rs, ", ")) }

func bulk(b []byte) string { return fmt.Sprintf("$%d:%q", len(b), b) }

func info(i redisbloom.Info) string {
	expansion := fmt.Sprint(":", i.Expansion)
	if i.Expansion == 0 {
		expansion = "$-1"
	}
	return fmt.Sprintf("*10[+Capacity, :%d, +Size, :%d, +Number of filters, :%d, +Number of items inserted, :%d, +Expansion rate, %s]",
		i.Capacity, i.Size, i.Filters, i.Items, expansion)
}

// TestDumpOfNonScalingFilter: the DUMP of the empty filter of BF.RESERVE k6 0.01 100 NONSCALING
// begins with options, expansion and the design of the first layer, in the number formats of
// Redis. Its bits per key use ln 0.01 as the C library rounds it.
func TestDumpOfNonScalingFilter(t *testing.T) {
	f, err := redisbloom.Reserve(redisbloom.Options{ErrorRate: 0.01, Capacity: 100, NonScaling: true})
	if err != nil {
		t.Fatal(err)
	}
	_, b, err := f.ScanDump(0)
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	got := []any{le.Uint32(b[12:]), le.Uint32(b[16:]), le.Uint64(b[28:]), math.Float64frombits(le.Uint64(b[44:])), string(b[52:60]), le.Uint32(b[60:]), le.Uint64(b[64:]), b[72]}
	want := []any{uint32(13), uint32(2), uint64(960), 0.01, "\x88\x16\x8a\xc5\x8c+#@", uint32(7), uint64(100), byte(0)}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("field %d is %v, want %v", i, got[i], want[i])
		}
	}
}
