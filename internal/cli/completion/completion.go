// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package completion implements kubectl etcd completion.
package completion

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// ShimName is the program in PATH that kubectl 1.26 and later runs to complete the command line
// of a plugin.
const ShimName = "kubectl_complete-etcd"

// shim passes the command line to the plugin.
const shim = "#!/bin/sh\nexec kubectl-etcd " + cobra.ShellCompRequestCmd + " \"$@\"\n"

var shells = []string{"bash", "zsh", "fish", "powershell"}

// NewCommand returns the command kubectl etcd completion.
func NewCommand(a *app.App) *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell|kubectl|install",
		Short: "Set up completion in the shell, including names of clusters",
		Long: ui.Paragraphs(`
			Set up the completion of "kubectl etcd ..." in the shell.

			If your shell already completes kubectl, use install. kubectl 1.26 and later completes a
			plugin with a program in PATH, here kubectl_complete-etcd. install writes this program to
			the directory of the plugin, and kubectl prints it. A link with that name to the plugin
			also works.

			If you run the program as kubectl-etcd, use the name of your shell. The command then
			prints a script for that shell.`),
		Example: ui.Examples(`
			# Set up the completion of this plugin in kubectl
			kubectl etcd completion install

			# Do the same manually
			kubectl etcd completion kubectl > ~/bin/kubectl_complete-etcd && chmod +x ~/bin/kubectl_complete-etcd

			# Set up the completion of kubectl-etcd in the current shell
			source <(kubectl etcd completion bash)`),
		ValidArgs: append(slices.Clone(shells), "kubectl", "install"),
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[0] {
			case "kubectl":
				_, err := io.WriteString(a.Out, shim)
				return err
			case "install":
				return install(a, folder)
			}
			return writeScript(cmd.Root(), a.Out, args[0])
		},
	}
	cmd.Flags().StringVar(&folder, "folder", "", "Directory for install. The default is the directory of the plugin")
	return cmd
}

func writeScript(root *cobra.Command, w io.Writer, shell string) error {
	switch shell {
	case "bash":
		return root.GenBashCompletionV2(w, true)
	case "zsh":
		return root.GenZshCompletion(w)
	case "fish":
		return root.GenFishCompletion(w, true)
	}
	return root.GenPowerShellCompletionWithDesc(w)
}

// install writes the shim to the directory in PATH that contains the plugin, or a link to it if
// krew installed it.
func install(a *app.App, folder string) error {
	if folder == "" {
		plugin, err := exec.LookPath("kubectl-etcd")
		if err != nil {
			return fmt.Errorf("find kubectl-etcd in PATH: %w; set the directory with --folder", err)
		}
		folder = filepath.Dir(plugin)
	}
	path, text := filepath.Join(folder, ShimName), []byte(shim)
	if runtime.GOOS == "windows" {
		path, text = path+".cmd", []byte("@kubectl-etcd "+cobra.ShellCompRequestCmd+" %*\r\n")
	}
	switch old, err := os.ReadFile(path); { //nolint:gosec // the user chooses the path
	case err == nil && bytes.Equal(old, text):
		a.Notef("%s already exists.", path)
		return nil
	case err == nil:
		return app.Refused("%s exists and is another program: remove it, or choose another directory with --folder", path)
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	if err := os.WriteFile(path, text, 0o755); err != nil { //nolint:gosec // a program for all users of the plugin
		return err
	}
	a.Notef("Wrote %s.", path)
	if !slices.Contains(filepath.SplitList(os.Getenv("PATH")), strings.TrimSuffix(folder, string(filepath.Separator))) {
		a.Warn("%s is not in PATH, so kubectl can't find the program there.", folder)
	}
	return nil
}
