// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package proxy implements kubectl etcd proxy.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/proxy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// options are the flags of proxy.
type options struct {
	one, passthrough bool
	address, socket  string
	port             int
	// command runs with the endpoints in its environment. It may be empty.
	command []string
}

// NewCommand returns the command kubectl etcd proxy.
func NewCommand(a *app.App) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "proxy TARGET [-- COMMAND [ARG...]]",
		Short: "Provide local endpoints for etcdctl and other clients",
		Long: ui.Paragraphs(`
			Provide local endpoints for etcdctl and other clients, until Ctrl-C. There is one endpoint
			for each member. With --one, there is one endpoint for all voters: its connections
			alternate between them and skip members that can't be reached. The command prints the
			environment variables for etcdctl to stdout.

			The proxy terminates TLS. It verifies the members' certificates and presents the client
			certificate that they require. So the local endpoint is not encrypted, and every user of
			this machine can use it. With --socket, only you can use it. With --tls-passthrough, the
			client uses TLS with the member and needs its own certificates.

			With COMMAND, the proxy runs it with these variables and returns its exit code.`),
		Example: ui.Examples(`
			# Provide endpoints until Ctrl-C
			kubectl etcd proxy etcd-main

			# Run one etcdctl command
			kubectl etcd proxy etcd-main -- etcdctl endpoint status -w table

			# Provide sockets that only you can use
			kubectl etcd proxy etcd-main --socket ~/.etcd-main`),
		Args: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				args = args[:dash]
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.command = args[1:]
			return run(cmd.Context(), a, args[0], o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.one, "one", false, "Provide one endpoint for all voters instead of one for each member")
	flags.BoolVar(&o.passthrough, "tls-passthrough", false, "Don't terminate TLS. The client needs its own certificates")
	flags.StringVar(&o.address, "address", "127.0.0.1", "Address to listen on")
	flags.IntVar(&o.port, "port", 0, "Port of the first endpoint. The other endpoints use the ports after it. 0 selects free ports")
	flags.StringVar(&o.socket, "socket", "", "Directory for Unix sockets, which replace ports. It is created if it does not exist")
	cmd.MarkFlagsMutuallyExclusive("socket", "address")
	cmd.MarkFlagsMutuallyExclusive("socket", "port")
	return cmd
}

func run(ctx context.Context, a *app.App, target string, o options) error {
	c, err := a.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	survey, err := c.Members.Survey(ctx)
	if err != nil {
		return err
	}
	p, err := proxy.Listen(ctx, proxy.Config{
		Owner: c.Owner, Members: c.Members, Clock: c.Reader.Leases.Clock, One: o.one, Passthrough: o.passthrough,
		Address: o.address, Port: o.port, Socket: o.socket, Warn: warnOnce(a),
	}, survey)
	if err != nil {
		return err
	}
	defer p.Close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	served := p.Serve(ctx)
	printUsage(a, p, len(o.command) > 0)
	if len(o.command) > 0 {
		err = runCommand(ctx, a, o.command, p.Variables())
	} else {
		for _, v := range p.Variables() {
			name, value, _ := strings.Cut(v, "=")
			fmt.Fprintf(a.Out, "export %s=%s\n", name, format.Quote(value))
		}
		<-ctx.Done()
	}
	stop()
	p.Close()
	served.Wait()
	return err
}

// runCommand runs a command with additional variables. After Ctrl-C, the command has ten seconds
// to exit.
func runCommand(ctx context.Context, a *app.App, command, variables []string) error {
	run := exec.CommandContext(ctx, command[0], command[1:]...) //nolint:gosec // the user's own command
	run.Stdin, run.Stdout, run.Stderr = a.In, a.Out, a.ErrOut
	run.Env = append(os.Environ(), variables...)
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = 10 * time.Second
	err := run.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.ExitCode() > 0 {
		return app.CommandError{Code: ended.ExitCode()}
	}
	return err
}
