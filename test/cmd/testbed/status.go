// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

func newStatusCmd(o *testbed.Options) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show a testbed's machines and programs",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if output != "" && output != "json" {
				return fmt.Errorf("--output %s: it can be json, or left out", output)
			}
			return status(cmd.Context(), *o, output == "json", cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "json for all of it")
	return cmd
}

func status(ctx context.Context, o testbed.Options, asJSON bool, out io.Writer) error {
	t, err := testbed.Attach(ctx, o)
	if err != nil {
		return err
	}
	s, err := t.Status(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(s)
	}
	fmt.Fprintf(out, "testbed     %s\nsubnet      %s\nserver      %s\nkubeconfig  %s\nregistry    %s\nfiles       %s\n\n",
		s.Name, s.Subnet, s.Server, s.Kubeconfig, s.Registry, s.Dir)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "MACHINE\tZONE\tADDRESS\tSTATE\tKUBERNETES\tPROGRAMS")
	for _, m := range s.Machines {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", m.Name, dash(m.Zone), m.Address, state(m), dash(m.Kubernetes), processes(m))
	}
	if err := w.Flush(); err != nil || s.Complete {
		return err
	}
	return errors.New("this testbed is not complete: its up was interrupted; run up again, or down")
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func state(m testbed.MachineStatus) string {
	texts := []string{"on"}
	if !m.Running {
		texts[0] = "off"
	}
	if m.Paused {
		texts = append(texts, "paused")
	}
	if m.Cut {
		texts = append(texts, "cut")
	}
	return strings.Join(texts, ",")
}

func processes(m testbed.MachineStatus) string {
	var texts []string
	for _, p := range m.Processes {
		word := p.Name
		if !p.Running {
			word += "(off)"
		}
		if p.Restarts > 0 {
			word += fmt.Sprintf("(%d restarts)", p.Restarts)
		}
		texts = append(texts, word)
	}
	return dash(strings.Join(texts, " "))
}
