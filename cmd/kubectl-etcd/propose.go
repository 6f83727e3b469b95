// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// propose shows a plan and returns whether to go on with it. It is false, without
// an error, when the user says no or only the plan was asked for. Without a
// terminal to ask on, and without -y, it refuses.
//
// With --dry-run=server it is true: what follows must then only try, see change.
func (e *env) propose(ctx context.Context, c *cluster, plan operate.Plan, ch change) (bool, error) {
	e.showPlan(c, plan)
	switch {
	case ch.dryRun == dryRunClient:
		fmt.Fprintln(e.ErrOut, "Nothing was changed (--dry-run=client).")
		return false, nil
	case ch.dryRun == dryRunServer, ch.yes:
		return true, nil
	}
	if _, ok := terminal(e.In); !ok {
		return false, refused("there is no terminal to ask on: read the plan above and run it again with -y")
	}
	yes, err := e.ask(ctx, "Go on?")
	if err == nil && !yes {
		fmt.Fprintln(e.ErrOut, "Nothing was changed.")
	}
	return yes, err
}

// showPlan prints a plan to stderr: where, what, on which grounds, how. The cluster
// is nil for what concerns none, or many.
func (e *env) showPlan(c *cluster, plan operate.Plan) {
	w := e.ErrOut
	fmt.Fprintln(w, e.paint(w, bold, plan.Title))
	name, server := e.where()
	e.entry("context", fmt.Sprintf("%s (%s)", name, server))
	if c != nil {
		e.entry("cluster", c.String())
	}
	e.entry("facts", plan.Facts...)
	var steps []string
	for i, step := range plan.Steps {
		steps = append(steps, fmt.Sprintf("%d. %s", i+1, step))
	}
	e.entry("steps", steps...)
	for _, warning := range plan.Warnings {
		e.warn("%s", warning)
	}
}

// entry prints lines under one label, on a terminal broken between words.
func (e *console) entry(label string, lines ...string) {
	const indent = 13
	for _, line := range lines {
		fmt.Fprintf(e.ErrOut, "  %-9s  %s\n", label, hanging(line, width(e.ErrOut), indent, indent))
		label = ""
	}
}

// where is the kubeconfig's context and the API server's address.
func (e *env) where() (name, server string) {
	if raw, err := e.flags.ToRawKubeConfigLoader().RawConfig(); err == nil {
		name = cmp.Or(*e.flags.Context, raw.CurrentContext)
	}
	if config, err := e.config(); err == nil {
		server = config.Host
	}
	return cmp.Or(name, "none"), server
}

// ask asks on the terminal; anything but yes is no.
func (e *console) ask(ctx context.Context, question string) (bool, error) {
	fmt.Fprintf(e.ErrOut, "%s [y/N] ", question)
	answers := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(e.In).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			line = ""
		}
		answers <- line
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(e.ErrOut)
		return false, fmt.Errorf("nothing was changed: %w", context.Cause(ctx))
	case answer := <-answers:
		answer = strings.ToLower(strings.TrimSpace(answer))
		return answer == "y" || answer == "yes", nil
	}
}

// warn prints a whole sentence that a human should know.
func (e *console) warn(format string, args ...any) {
	text := hanging(fmt.Sprintf(format, args...), width(e.ErrOut), len("Warning: "), 2)
	fmt.Fprintf(e.ErrOut, "%s %s\n", e.paint(e.ErrOut, yellow, "Warning:"), text)
}

// step prints what was just done, one line of a longer operation.
func (e *console) step(format string, args ...any) {
	fmt.Fprintf(e.ErrOut, "%s %s\n", e.paint(e.ErrOut, green, "✓"), hanging(fmt.Sprintf(format, args...), width(e.ErrOut), 2, 2))
}
