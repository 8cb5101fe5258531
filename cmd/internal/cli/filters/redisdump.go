package filters

import (
	"io"
	"iter"
	"strconv"

	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/foreignfile"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
)

// dumpChunks writes one command, or one object, per chunk.
func dumpChunks(w io.Writer, key string, chunks iter.Seq2[int64, []byte], asJSON bool) error {
	for next, data := range chunks {
		var err error
		if asJSON {
			err = cli.JSONLine(w, struct {
				Key  string `json:"key"`
				Iter int64  `json:"iter"`
				Data []byte `json:"data"`
			}{key, next, data})
		} else {
			_, err = w.Write(resp.Append(nil, []byte(foreignfile.LoadChunk), []byte(key), strconv.AppendInt(nil, next, 10), data))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
