package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/internal/hop"
)

// CheckListen returns an error if the flag of an address to listen at is neither empty nor HOST:PORT.
func CheckListen(cmd *cobra.Command, flag string) error {
	value := cmd.Flag(flag).Value.String()
	if value == "" {
		return nil
	}
	if _, err := strconv.ParseUint(value, 10, 16); err == nil {
		return UsageError(cmd, fmt.Errorf("--%s %s is a port alone; want 127.0.0.1:%[2]s for this machine, or :%[2]s for all networks", flag, value))
	}
	if _, _, err := net.SplitHostPort(value); err != nil {
		return UsageError(cmd, fmt.Errorf("--%s %.80q: want HOST:PORT, such as 127.0.0.1:8080", flag, value))
	}
	return nil
}

// Serving serves requests without bodies at l until the function that it returns is called: it then returns the error of a
// listener that has failed before. A listener that fails ends the context as well, because the verb has no use without it.
func Serving(ctx context.Context, server *http.Server, l net.Listener) (context.Context, func() error) {
	server.Handler = hop.Bodiless(server.Handler)
	ctx, end := context.WithCancel(ctx)
	failed := make(chan error, 1)
	go func() {
		failed <- server.Serve(l)
		end()
	}()
	return ctx, func() error {
		end()
		server.Close()
		if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("--listen: %w", err)
		}
		return nil
	}
}

// AddLogFormatFlag adds --log-format to a verb that serves.
func AddLogFormatFlag(cmd *cobra.Command) *string {
	format := cmd.Flags().String("log-format", "auto", "`FORMAT` of the log: text, json or auto")
	_ = cmd.RegisterFlagCompletionFunc("log-format", cobra.FixedCompletions([]string{"text", "json", "auto"}, cobra.ShellCompDirectiveNoFileComp))
	return format
}

// AddFollowLogFlag adds --log-format to a verb that prints sentences without it.
func AddFollowLogFlag(cmd *cobra.Command) *string {
	format := AddLogFormatFlag(cmd)
	f := cmd.Flags().Lookup("log-format")
	f.DefValue, f.Usage = "", "with --follow, `FORMAT` of a log of the messages: text, json, or auto for JSON unless on a terminal"
	return format
}

// CheckLogFormat returns an error for a --log-format that does not exist.
func CheckLogFormat(cmd *cobra.Command, format string) error {
	switch format {
	case "auto", "text", "json":
		return nil
	}
	return UsageError(cmd, fmt.Errorf("--log-format %.40q: want text, json or auto", format))
}
