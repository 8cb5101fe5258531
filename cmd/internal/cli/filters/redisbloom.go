package filters

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/engine/memory"
	"github.com/umbel-filters/umbel/cmd/internal/files/ability"
	"github.com/umbel-filters/umbel/cmd/internal/files/atomicfile"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

const redisbloomHelp = `Copy filters of kind redisbloom to and from a Redis server. A dump is a stream of BF.LOADCHUNK
commands in the Redis protocol, for redis-cli --pipe.`

const dumpHelp = `Write the filter in FILE as commands that create it on a Redis server under the name of --key.
The name must not exist there. With --json each chunk is an object with its iterator and its
data in base64.`

const dumpExample = `  umbel make --kind redisbloom -o users.umb users.txt
  umbel redisbloom dump users.umb --key users | redis-cli --pipe`

const loadHelp = `Make a filter from a dump in the files, or on standard input. A dump consists of BF.LOADCHUNK
commands, as written by umbel redisbloom dump, or of the replies to BF.SCANDUMP.`

const loadExample = `  umbel redisbloom load users.resp -o users.umb`

func RedisbloomCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "redisbloom",
		Short:   "copy filters to and from Redis",
		Long:    redisbloomHelp,
		Example: dumpExample + "\n" + loadExample,
		Args:    cli.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(dumpCommand(), loadCommand())
	return cmd
}

func dumpCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "dump FILE --key NAME",
		Short:   "write a filter as commands for Redis",
		Long:    dumpHelp,
		Example: dumpExample,
		Args:    cli.Arguments(1, 1),

		DisableFlagsInUseLine: true,
	}
	key := cmd.Flags().String("key", "", "`NAME` of the filter on the server")
	output := cli.AddOutputFlag(cmd, "`FILE` to write instead of standard output", cli.OutputFlag{Heads: []string{"*4\r\n", `{"key":`}})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *key == "" {
			return cli.UsageError(cmd, errors.New("give the name on the server: --key NAME"))
		}
		f, _, err := container.Open(args[0], filter.All)
		if err != nil {
			return err
		}
		c, err := require[ability.Chunker](args[0], f, "BF.LOADCHUNK")
		if err != nil {
			return err
		}
		chunks, err := c.Chunks()
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		write := func(w io.Writer) error { return dumpChunks(w, *key, chunks, cli.WantsJSON(cmd)) }
		if *output == "" {
			return write(cmd.OutOrStdout())
		}
		return atomicfile.Write(*output, write)
	}
	return cmd
}

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
			_, err = w.Write(resp.Append(nil, []byte(loadChunk), []byte(key), strconv.AppendInt(nil, next, 10), data))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// loadChunk is the command by which Redis takes a chunk.
const loadChunk = "BF.LOADCHUNK"

func loadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "load [DUMPFILE...] -o FILE",
		Short:   "make a filter from a dump",
		Long:    loadHelp,
		Example: loadExample,
		Args:    cli.Arguments(0, -1),

		DisableFlagsInUseLine: true,
	}
	output := cli.AddOutputFlag(cmd, "`FILE` to write", cli.OutputFlag{})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *output == "" {
			return cli.UsageError(cmd, cli.ErrNoOutput)
		}
		files, closeFiles, err := cli.OpenKeys(cmd, args)
		if err != nil {
			return err
		}
		defer closeFiles()
		f, err := loadDump(files)
		if err != nil {
			return err
		}
		if err := container.Write(*output, f.State()); err != nil {
			return err
		}
		return Summarize(*output, f).Print(cmd, fmt.Sprintf("%v items loaded", quantity.Count(f.Card())))
	}
	return cmd
}

// loadDump loads a dump. It contains all bytes of the filter, so the size of the files limits
// the filter's memory; if one is a pipe, the available memory does.
func loadDump(files []*os.File) (*redisbloom.Filter, error) {
	loader := redisbloom.Loader{MaxBytes: math.MaxInt64}
	if n := cli.TotalBytes(files); n >= 0 {
		loader.MaxBytes = uint64(max(n, 1))
	}
	if free, known := memory.Available(); known {
		loader.MaxBytes = min(loader.MaxBytes, free)
	}
	key := ""
	for _, file := range files {
		in := resp.NewReader(file)
		for {
			words, err := in.Read()
			if err == io.EOF {
				break
			}
			if err == nil {
				err = takeChunk(&loader, words, &key)
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file.Name(), err)
			}
		}
	}
	f, err := loader.Filter()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", files[len(files)-1].Name(), err)
	}
	return f, nil
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
	case len(words) != 4 || !strings.EqualFold(string(words[0]), loadChunk):
		return fmt.Errorf("want %s KEY ITER DATA, or replies to BF.SCANDUMP with two elements: %w", loadChunk, resp.ErrSyntax)
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
