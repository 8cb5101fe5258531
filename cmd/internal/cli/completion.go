package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

const completionHelp = `Print a script that makes a shell complete verbs, flags and their values of umbel when the tab key is pressed. The help
of each shell states where its scripts belong; packages install them.`

// completionScripts has the place of the script of each shell.
var completionScripts = map[string]struct{ help, example string }{
	"bash": {
		"Print the script for bash. It needs the package bash-completion. New shells read it from a directory of that package.",
		`  source <(umbel completion bash)               # for this shell
  umbel completion bash > /etc/bash_completion.d/umbel`,
	},
	"zsh": {
		"Print the script for zsh. New shells read it from a directory of $fpath, if ~/.zshrc has: autoload -U compinit; compinit",
		`  source <(umbel completion zsh)                # for this shell
  umbel completion zsh > "${fpath[1]}/_umbel"`,
	},
	"fish": {
		"Print the script for fish. New shells read it from their directory of completions.",
		`  umbel completion fish | source                # for this shell
  umbel completion fish > ~/.config/fish/completions/umbel.fish`,
	},
	"powershell": {
		"Print the script for PowerShell. New shells run it if it is part of the profile.",
		`  umbel completion powershell | Out-String | Invoke-Expression`,
	},
}

// describeCompletion gives the verb completion, which cobra makes, texts like those of other verbs.
func describeCompletion(root *cobra.Command) {
	all, _, err := root.Find([]string{"completion"})
	if err != nil || all == root {
		return
	}
	named := func(text string) string { return strings.ReplaceAll(text, "umbel", root.Name()) }
	all.Short, all.Long = "print a script for the completion of a shell", named(completionHelp)
	for _, shell := range all.Commands() {
		text := completionScripts[shell.Name()]
		shell.Short, shell.Long, shell.Example = "print the script for "+shell.Name(), text.help, named(text.example)
		if f := shell.Flags().Lookup("no-descriptions"); f != nil {
			f.Usage = "complete without descriptions"
		}
	}
}
