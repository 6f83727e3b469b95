// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"io"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

// TestTemplateErrors says what a template lacks, and not what the object looks like in Go.
func TestTemplateErrors(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"jsonpath={.items[0]}": "-o jsonpath={.items[0]}: it asks for item 0, counted from 0, of a list that has 0",
	} {
		cmd := &cobra.Command{}
		AddOutputFlags(cmd)
		if err := cmd.Flags().Set("output", format); err != nil {
			t.Fatal(err)
		}
		c := NewConsole(genericiooptions.IOStreams{Out: io.Discard})
		if err := c.Print(cmd, &v1alpha1.EtcdClusterList{Items: []v1alpha1.EtcdCluster{}}, nil); err == nil || err.Error() != want {
			t.Errorf("-o %s:\n%v, want\n%s", format, err, want)
		}
	}
}
