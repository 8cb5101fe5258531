package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/service"
)

// CheckListen returns an error if the flag of an address to listen at is neither empty nor HOST:PORT.
func CheckListen(cmd *cobra.Command, flag string) error {
	value := cmd.Flag(flag).Value.String()
	if value == "" {
		return nil
	}
	if err := service.CheckAddress(value); err != nil {
		return UsageError(cmd, fmt.Errorf("--%s %w", flag, err))
	}
	return nil
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
