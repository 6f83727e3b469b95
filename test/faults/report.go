// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/install"
)

// report returns what is needed to understand a failure: how to replay it, what happened so far,
// and the objects of this moment.
func (w *world) report(ctx context.Context, s Sequence) string {
	var out bytes.Buffer
	fmt.Fprintf(&out, "replay it with: SEED=%d KIND=%s make faults FAULTS=1\n\n%s\n\nWhat happened:\n%s\n\n%s\n", s.Seed, s.Kind, s, w.history, w.ledger)
	ns := w.cluster.Namespace
	for _, args := range [][]string{
		{"get", "nodes", "-o", "wide"},
		{"get", "pods", "-n", ns, "-o", "wide"},
		{"get", "events", "-n", ns, "--sort-by", ".lastTimestamp"},
		{"get", "statefulsets,poddisruptionbudgets,leases", "-n", ns, "-o", "yaml"},
		{"get", "etcdtopologypolicies", ns, "-o", "yaml"},
		{"get", "pods", "-n", install.Namespace, "-o", "wide"},
		{"logs", "-n", install.Namespace, "-l", "app.kubernetes.io/name=" + install.Name, "--prefix", "--tail", "200"},
	} {
		fmt.Fprintf(&out, "\n$ kubectl %q\n", args)
		ctx, cancel := context.WithTimeout(ctx, requestLimit)
		if err := clusters.Kubectl(ctx, w.bed, &out, args...); err != nil {
			fmt.Fprintln(&out, err)
		}
		cancel()
	}
	return out.String()
}
