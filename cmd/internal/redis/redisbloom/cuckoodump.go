package redisbloom

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/filter/counting"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
)

// A dump of CF.* begins with a header of little-endian 8-byte numbers: the mark; the parameters of the
// state (cuckooNames, then "full" and "max-bytes"); the number of parts; and for each part the number of
// counters, k, group and width. The counters follow, part by part. The format differs from RedisBloom's,
// which contains fingerprints.
const (
	cuckooMark   = 0x314643_6c65626d75 // "umbelCF1"
	cuckooHeader = 8 * 16
	cuckooChunk  = 16 << 20
)

// errForeign is the reply to a header that is not one of CF.SCANDUMP of a node, such as that of RedisBloom.
const errForeign = textError("Invalid header: only the chunks of CF.SCANDUMP of an umbel node can be loaded, not those of RedisBloom")

// rowNames are the parameters of dynamic.Counting.
var rowNames = []string{"full", "max-bytes"}

const (
	badPosition  = "Invalid position"
	badHeader    = "Couldn't create filter!"
	chunkRefused = "Couldn't load chunk!"
)

// describe returns the line of CF.DEBUG.
func (f *cuckoo) describe() string {
	return fmt.Sprintf("bktsize:%d buckets:%d items:%d deletes:%d filters:%d max_iterations:%d expansion:%d",
		f.bucket, f.buckets, f.items, f.deleted, f.filters, f.tries, f.expansion)
}

// header returns the header of the filter's dump.
func (f *cuckoo) header() []byte {
	b := binary.LittleEndian.AppendUint64(nil, cuckooMark)
	s := f.State()
	for _, p := range s.Params {
		b = binary.LittleEndian.AppendUint64(b, p.Value.Bits())
	}
	part := s.Parts[0]
	for _, n := range []uint64{uint64(len(s.Parts)), part.Arrays[0].Len, part.Params.Uint("k"), part.Params.Uint("group"), uint64(part.Arrays[0].Width)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return b
}

// cuckooFromHeader returns the filter of a header with all counters zero. It returns an error
// wrapping umbel.ErrLimit, before it allocates them, if they need more than maxBytes.
func cuckooFromHeader(b []byte, maxBytes uint64) (*cuckoo, error) {
	if len(b) != cuckooHeader || binary.LittleEndian.Uint64(b) != cuckooMark {
		return nil, errForeign
	}
	next := func() uint64 {
		b = b[8:]
		return binary.LittleEndian.Uint64(b)
	}
	s := umbel.State{Kind: CuckooName, Hasher: redisbloom.RedisHasher}
	for _, name := range slices.Concat(cuckooNames, rowNames) {
		s.Params = append(s.Params, umbel.Param{Name: name, Value: umbel.Uint(next())})
	}
	parts, counters, k, group, width := next(), next(), next(), next(), uint(min(next(), 255))
	words, err := cells.WordsFor(counters, width)
	if err != nil {
		return nil, sentinel.Wrap(umbel.ErrCorrupt, err)
	}
	const state = 1 << 10 // approximate overhead of a part
	if parts > maxBytes/(words*8+state) {
		return nil, sentinel.Errorf(umbel.ErrLimit, "%d parts of %d words are more than %d bytes", parts, words, maxBytes)
	}
	for range parts {
		a, err := cells.New(counters, width)
		if err != nil {
			return nil, sentinel.Wrap(umbel.ErrLimit, err)
		}
		s.Parts = append(s.Parts, umbel.State{
			Kind: counting.Name, Hasher: s.Hasher, Arrays: []cells.Array{a},
			Params: umbel.Params{{Name: "k", Value: umbel.Uint(k)}, {Name: "group", Value: umbel.Uint(group)}, {Name: "copied"}},
		})
	}
	return openCuckoo(s)
}

// cuckooScanDump implements CF.SCANDUMP.
func (m *Module) cuckooScanDump(c *resp.Conn, args [][]byte) {
	iter, ok := command.ParseInt(args[2])
	next, data := int64(0), []byte(nil)
	var err error
	f := m.engine.Get(args[1])
	problem := look(f, notFound, func(f *cuckoo) {
		if err = notPortable(f.State().Hasher); err == nil && ok {
			next, data = f.scanDump(iter)
		}
	})
	if problem == "" && (!ok || iter < 0) {
		problem, err = badPosition, nil
	}
	switch {
	case !replyNext(c, f, next, problem, err):
	case data == nil:
		c.Null()
	default:
		c.Bulk(data)
	}
}

// isEmpty reports whether the filter has no items. Counters that are not zero are those of items, whatever their number
// is after items were deleted that had not been added.
func (f *cuckoo) isEmpty() bool {
	return f.items == 0 && !slices.ContainsFunc(f.State().Parts, func(p umbel.State) bool {
		return slices.ContainsFunc(p.Arrays[0].Words, func(w uint64) bool { return w != 0 })
	})
}

// scanDump returns the header for iter 0, and nothing for an empty filter, as RedisBloom does; for iter 1+n it returns
// bytes from offset n of the parts, of one part only.
func (f *cuckoo) scanDump(iter int64) (next int64, data []byte) {
	switch {
	case iter == 0 && f.isEmpty():
		return 0, nil
	case iter == 0:
		return 1, f.header()
	}
	at := iter - 1
	for _, p := range f.State().Parts {
		words := p.Arrays[0].Words
		n := int64(len(words)) * 8
		if at >= 0 && at < n {
			end := min(at+cuckooChunk, n)
			data = plainBytes(words[at/8 : (end+7)/8])[at%8:][:end-at]
			return iter + end - at, data
		}
		at -= n
	}
	return 0, nil
}

// cuckooLoadChunk implements CF.LOADCHUNK: see loadChunk.
func (m *Module) cuckooLoadChunk(c *resp.Conn, args [][]byte) {
	name, data := args[1], args[3]
	iter, ok := command.ParseInt(args[2])
	f := m.engine.Get(name)
	if f == nil {
		pos, problem := m.cuckooLoadHeader(name, iter, data)
		replyOK(c, pos, problem)
		return
	}
	var parts []uint64
	if problem := look(f, notFound, func(f *cuckoo) { parts = layerBytes(f.State()) }); problem != "" {
		c.Error(problem)
		return
	}
	if !ok || iter < 1 {
		c.Error(badPosition)
		return
	}
	if iter == 1 { // a header
		c.Error(itemExists)
		return
	}
	m.writeChunk(c, f, parts, iter, data, chunkRefused)
}

func (m *Module) cuckooLoadHeader(name []byte, iter int64, header []byte) (engine.Position, string) {
	if iter != 1 {
		return 0, m.absent()
	}
	f, err := cuckooFromHeader(header, m.engine.FreeMemory(wire.DefaultBytes))
	return m.putHeader(name, f, err, badHeader)
}
