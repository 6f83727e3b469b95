// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"io"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/scripttest"
)

// TestPrintToBrokenPipe checks that a result without a reader is no error.
func TestPrintToBrokenPipe(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"table", "json", "name"} {
		cmd := &cobra.Command{}
		AddOutputFlags(cmd)
		if err := cmd.Flags().Set("output", format); err != nil {
			t.Fatal(err)
		}
		c := NewConsole(genericiooptions.IOStreams{Out: scripttest.BrokenPipe(t)})
		st := &v1alpha1.WebhookStatus{}
		if err := c.Print(cmd, st, func(w io.Writer, _ bool) error { _, err := io.WriteString(w, "line\n"); return err }); err != nil {
			t.Errorf("-o %s: %v", format, err)
		}
	}
}
