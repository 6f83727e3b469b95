// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"io"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// Search is where clusters were searched, and what the list leaves out.
type Search struct {
	// Namespace is empty for all namespaces.
	Namespace string
	// Selector is the value of -l.
	Selector string
	// Unlisted is the number of workloads that may run etcd, and that are not in the list.
	Unlisted int
}

// List returns the text of a list of clusters.
func List(c *ui.Console, found *v1alpha1.EtcdClusterList, s Search, now time.Time) Text {
	return func(w io.Writer, wide bool) error {
		switch {
		case len(found.Items) > 0:
			if err := listTable(found, s.Namespace == "", now).Write(c, w, wide); err != nil {
				return err
			}
			if s.Unlisted > 0 {
				c.Notef("%s", unlistedText(s.Unlisted))
			}
		case len(found.Unseen) == 0: // the command prints the reason otherwise
			text := "No etcd clusters found" + ui.ScopeText(s.Namespace, s.Selector) + "."
			if s.Unlisted > 0 {
				text += " " + unlistedText(s.Unlisted)
			}
			c.Notef("%s", text)
		}
		return writeHinted(c, w, found.Hinted, len(found.Items) > 0)
	}
}

// unlistedText returns the sentence about workloads that may run etcd and are not listed.
func unlistedText(n int) string {
	if n == 1 {
		return "1 workload may run etcd: --all shows it."
	}
	return fmt.Sprintf("%d workloads may run etcd: --all shows them.", n)
}
