// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package completion

import (
	"bytes"
	"context"
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

// ShimName is the program that kubectl, from 1.26 on, looks for in PATH to
// complete a plugin's line.
const ShimName = "kubectl_complete-etcd"

// shim hands the line to the plugin itself.
const shim = "#!/bin/sh\nexec kubectl-etcd " + cobra.ShellCompRequestCmd + " \"$@\"\n"

var shells = []string{"bash", "zsh", "fish", "powershell"}

func NewCommand(a *app.App) *cobra.Command {
	var folder string
	cmd := &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell|kubectl|install",
		Short: "Complete command lines in the shell, with the names of live clusters",
		Long: ui.Paragraphs(`
			Complete "kubectl etcd ..." in a shell that already completes kubectl: kubectl, from 1.26
			on, asks a program called kubectl_complete-etcd in PATH. "completion install" writes it
			beside the plugin, "completion kubectl" prints it. A link of that name to the plugin does
			as well.

			The shells' names print a script for those who call the program as kubectl-etcd.`),
		Example: ui.Examples(`
			# Let kubectl complete this plugin
			kubectl etcd completion install

			# The same, by hand
			kubectl etcd completion kubectl > ~/bin/kubectl_complete-etcd && chmod +x ~/bin/kubectl_complete-etcd

			# For kubectl-etcd without kubectl, in this shell
			source <(kubectl etcd completion bash)`),
		ValidArgs: append(slices.Clone(shells), "kubectl", "install"),
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[0] {
			case "kubectl":
				_, err := io.WriteString(a.Out, shim)
				return err
			case "install":
				return install(cmd.Context(), a, folder)
			}
			return writeScript(cmd.Root(), a.Out, args[0])
		},
	}
	cmd.Flags().StringVar(&folder, "folder", "", "Where install writes, instead of beside the plugin")
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

// install writes the shim where kubectl finds it: beside the plugin as PATH
// has it, which is a link where krew installed it.
func install(_ context.Context, a *app.App, folder string) error {
	if folder == "" {
		plugin, err := exec.LookPath("kubectl-etcd")
		if err != nil {
			return fmt.Errorf("find kubectl-etcd in PATH: %w; say where to write with --folder", err)
		}
		folder = filepath.Dir(plugin)
	}
	path, text := filepath.Join(folder, ShimName), []byte(shim)
	if runtime.GOOS == "windows" {
		path, text = path+".cmd", []byte("@kubectl-etcd "+cobra.ShellCompRequestCmd+" %*\r\n")
	}
	switch old, err := os.ReadFile(path); { //nolint:gosec // the user says where
	case err == nil && bytes.Equal(old, text):
		fmt.Fprintf(a.ErrOut, "%s is there already.\n", path)
		return nil
	case err == nil:
		return app.Refused("%s is there and is something else: remove it or choose another place with --folder", path)
	case !errors.Is(err, os.ErrNotExist):
		return err
	}
	if err := os.WriteFile(path, text, 0o755); err != nil { //nolint:gosec // a program for all who run the plugin
		return err
	}
	fmt.Fprintf(a.ErrOut, "Wrote %s.\n", path)
	if !slices.Contains(filepath.SplitList(os.Getenv("PATH")), strings.TrimSuffix(folder, string(filepath.Separator))) {
		a.Warn("%s is not in PATH: kubectl doesn't find it there.", folder)
	}
	return nil
}
