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

// TestTemplateErrors checks that an error explains the template and omits the Go value.
func TestTemplateErrors(t *testing.T) {
	t.Parallel()
	for format, want := range map[string]string{
		"jsonpath={.items[0]}": "-o jsonpath={.items[0]}: index 0 is out of range: the list has 0 items",
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
