package foreignfile

import (
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// LoadChunk is the command by which Redis takes a chunk.
const LoadChunk = "BF.LOADCHUNK"

// loadDump loads a dump from r, which is the first of the named files, and from the others. A dump contains all bytes of
// the filter, so the size of the files limits the filter's memory, unless one is a pipe: at most most bytes.
func loadDump(r io.Reader, names []string, most uint64) (*redisbloom.Filter, error) {
	loader := redisbloom.Loader{MaxBytes: min(most, dumpBytes(names))}
	key := ""
	for i, name := range names {
		if i > 0 {
			file, err := os.Open(name)
			if err != nil {
				return nil, err
			}
			defer file.Close()
			r = file
		}
		if err := loadChunks(&loader, r, &key); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	f, err := loader.Filter()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", names[len(names)-1], err)
	}
	return f, nil
}

// dumpBytes returns the size of the files, at least 1, or the largest number if one is not regular.
func dumpBytes(names []string) uint64 {
	sum := int64(1)
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			return math.MaxUint64
		}
		sum += info.Size()
	}
	return uint64(max(sum-1, 1))
}

// LoadChunks loads the chunks in r.
func loadChunks(l *redisbloom.Loader, r io.Reader, key *string) error {
	in := resp.NewReader(r)
	for {
		words, err := in.Read()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = takeChunk(l, words, key)
		}
		if err != nil {
			return err
		}
	}
}

// takeChunk loads the chunk in a command, or in a server's reply. All commands must be for one
// name, key. The last reply of a dump has no chunk.
func takeChunk(l *redisbloom.Loader, words [][]byte, key *string) error {
	switch {
	case len(words) == 2:
		words = [][]byte{nil, nil, words[0], words[1]}
		if string(words[2]) == "0" && len(words[3]) == 0 {
			return nil
		}
	case len(words) != 4 || !strings.EqualFold(string(words[0]), LoadChunk):
		return fmt.Errorf("want %s KEY ITER DATA, or replies to BF.SCANDUMP with two elements: %w", LoadChunk, resp.ErrSyntax)
	case *key != "" && *key != string(words[1]):
		return fmt.Errorf("chunks of %.40q and of %.40q; load one filter at a time", *key, words[1])
	default:
		*key = string(words[1])
	}
	next, err := strconv.ParseInt(string(words[2]), 10, 64)
	if err != nil {
		return fmt.Errorf("iterator %.40q isn't a number: %w", words[2], resp.ErrSyntax)
	}
	return l.LoadChunk(next, words[3])
}
